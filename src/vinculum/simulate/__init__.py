"""From equations to a motion: consistent start, stabilization, integrators, events, trajectory."""

from vinculum.simulate.decay import Decay, decay
from vinculum.simulate.events import Event, Happened, reaction
from vinculum.simulate.gain_interval import GainInterval, gain_interval
from vinculum.simulate.outcome import Outcome
from vinculum.simulate.run import simulate
from vinculum.simulate.stabilization import Baumgarte, Guaranteed, Projection, Sampled, Unstabilized
from vinculum.simulate.start import consistent
from vinculum.simulate.storage import read
from vinculum.simulate.trajectory import Trajectory

__all__ = [
    "Baumgarte", "Decay", "Event", "GainInterval", "Guaranteed", "Happened", "Outcome", "Projection", "Sampled",
    "Trajectory", "Unstabilized", "consistent", "decay", "gain_interval", "reaction", "read", "simulate",
]  # fmt: skip
