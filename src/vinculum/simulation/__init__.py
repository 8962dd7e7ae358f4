"""From equations to a motion: consistent start, stabilization, integrators, events, trajectory."""

from vinculum.simulation.integrators import BDF, METHODS, Adams, Automatic, Method, RungeKutta, Taylor, register
from vinculum.simulation.plant import PlantRun, run_on_plant
from vinculum.simulation.problem.events import Event, Happened, reaction
from vinculum.simulation.problem.start import consistent_state
from vinculum.simulation.run import simulate
from vinculum.simulation.stabilization.decay import Decay, decay_bound
from vinculum.simulation.stabilization.gain_interval import GainInterval, gain_interval
from vinculum.simulation.stabilization.stabilization import (
    STABILIZATIONS,
    Baumgarte,
    Guaranteed,
    Projection,
    Sampled,
    Stabilization,
    Unstabilized,
)
from vinculum.simulation.stabilization.stabilization import register as register_stabilization
from vinculum.simulation.trajectory.outcome import Cause, Outcome
from vinculum.simulation.trajectory.storage import read_trajectory
from vinculum.simulation.trajectory.trajectory import Trajectory

__all__ = [
    "BDF",
    "METHODS",
    "STABILIZATIONS",
    "Adams",
    "Automatic",
    "Baumgarte",
    "Cause",
    "Decay",
    "Event",
    "GainInterval",
    "Guaranteed",
    "Happened",
    "Method",
    "Outcome",
    "PlantRun",
    "Projection",
    "RungeKutta",
    "Sampled",
    "Stabilization",
    "Taylor",
    "Trajectory",
    "Unstabilized",
    "consistent_state",
    "decay_bound",
    "gain_interval",
    "reaction",
    "read_trajectory",
    "register",
    "register_stabilization",
    "run_on_plant",
    "simulate",
]
