"""Every public record survives pickle, deepcopy and the way to another process, and is the same afterwards.

The classes are found, not listed: a new public class fails here until it has a maker.
"""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
import xarray as xr
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
import vinculum.model.examine

INTERFACES = (vn.simulation.Method, vn.simulation.Stabilization)  # nobody makes one
LIBRARY = Path(vn.__file__).parent / "model" / "library"
x, y, s, e = dynamicsymbols("x y s e")
k, c, u, p, t = sp.symbols("k c u p t")


def public_classes() -> dict[str, type]:
    parts = [vn, *(getattr(vn, name) for name in vn._PARTS), vn.simulation, vn.model, vinculum.model.examine]
    found = {name: getattr(part, name) for part in parts for name in part.__all__}
    return {name: value for name, value in found.items() if inspect.isclass(value) and value not in INTERFACES}


@cache
def spring():
    return vn.System(
        coordinates=[x],
        kinetic_energy=x.diff() ** 2 / 2,
        potential_energy=k * x**2 / 2,
        forces={x: u},
        dissipation=c * x.diff() ** 2 / 2,
        parameters={k: 1.0, c: 0.2},
        inputs=[u],
    )


@cache
def pendulum():
    rod = vn.Holonomic((x**2 + y**2 - 1) / 2, name="rod")
    return vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, 9.81 * y, constraints=[rod])


@cache
def program_law():
    system = vn.AffineSystem([s], [0], [u], [[1]], {"line": s}, name="point")
    return vn.derive(system, form="program", rates=2.0)


@cache
def swing():
    return vn.derive(spring())


@cache
def linear():
    return vn.linearize(swing(), at=vn.equilibrium(swing(), {u: 0}))


@cache
def motion():
    event = vn.Event(x, name="middle")
    return vn.simulate(vn.derive(pendulum()), {x: 0.6, y: -0.8}, times=(0, 1), events=[event])


@cache
def affine():
    return vn.AffineSystem([s], [-s], [u], [[1]], {"level": s - 1})


@cache
def program():
    return vn.derive(affine(), "program", rates=2.0)


@cache
def servo():
    held = vn.Servo(x - sp.sin(t), through=[u], name="held")
    return vn.System([x], x.diff() ** 2 / 2, 0, forces={x: u}, inputs=[u], constraints=[held])


@cache
def tree():
    inertia = {"mass": 1.0, "center_of_mass": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    first = vn.Body("first", None, joint="revolute", axis=(0, 0, 1), **inertia)
    second = vn.Body("second", "first", joint="revolute", axis=(0, 0, 1), origin=(1, 0, 0), **inertia)
    return vn.BodyTree([first, second], gravity=(0, -9.81, 0))


@cache
def model():
    return vn.load(LIBRARY / "cartesian_pendulum.toml")


@cache
def results():
    return vn.examine(vn.load(LIBRARY / "ball_and_beam.toml"))


def file_error():
    with pytest.raises(vn.model.ModelFileError) as refused:
        vn.model.loads("nonsense = 1")
    return refused.value


def attraction():
    closed = vn.close_loop(swing(), vn.stabilize(linear()))
    return vn.feedback.region_of_attraction(closed, vn.equilibrium(swing(), {u: 0}), {x: [0.1]}, time=1.0)


def attraction_estimate():
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, x**2 / 2, {x: -x.diff()}))
    return vn.feedback.attraction_estimate(equations, vn.equilibrium(equations, {x: 0}), directions=10)


MAKERS = {
    "System": pendulum,
    "Holonomic": lambda: pendulum().constraints[0],
    "Nonholonomic": lambda: vn.Nonholonomic(x.diff() - y, name="rolling"),
    "Servo": lambda: servo().constraints[0],
    "AffineSystem": affine,
    "Body": lambda: tree().bodies[0],
    "BodyTree": tree,
    "Helical": lambda: vn.bodies.Helical(0.1),
    "Model": model,
    "Uniform": lambda: vn.vary.uniform(0, 1),
    "Normal": lambda: vn.vary.normal(0, 1),
    "Variation": lambda: vn.vary.table({x: [0.1, 0.2]}),
    "Measure": lambda: vn.measure.maximum(x),
    "EquationsOfMotion": lambda: motion().problem.equations,
    "Multipliers": vn.Multipliers,
    "Lyapunov": vn.Lyapunov,
    "LurieSuslov": vn.LurieSuslov,
    "Shulgin": lambda: vn.Shulgin(dependent=[y]),
    "Routh": lambda: vn.Routh(cyclic=[y]),
    "Voronets": lambda: vn.Voronets(dependent=[y]),
    "Chaplygin": lambda: vn.Chaplygin(dependent=[y]),
    "Hamel": lambda: vn.Hamel(characteristics={e: x.diff()}),
    "Maggi": lambda: vn.Maggi(characteristics={e: x.diff()}),
    "Program": lambda: vn.Program(rates=2.0),
    "Taylor": lambda: vn.Taylor(tolerance=1e-9),
    "BDF": vn.BDF,
    "RungeKutta": lambda: vn.RungeKutta("rk4", step=0.1),
    "Adams": lambda: vn.Adams("ab4", step=0.1),
    "Automatic": vn.simulation.Automatic,
    "Baumgarte": lambda: vn.Baumgarte(10.0),
    "Sampled": lambda: vn.Sampled(10.0),
    "Projection": vn.Projection,
    "Unstabilized": vn.Unstabilized,
    "Guaranteed": lambda: vn.Guaranteed(1e-6),
    "Event": lambda: vn.Event(x - 1, name="one"),
    "Trajectory": motion,
    "About": lambda: vn.errors.About("constraint", "rod"),
    "Call": lambda: vn.errors.call("derive", redundant="least_squares"),
    "Finding": lambda: vn.errors.Finding("no", ["Use ", vn.errors.call("derive", form="hamel"), "."]),
    "VinculumError": lambda: vn.VinculumError("no"),
    "ModelError": lambda: vn.ModelError("no", ["because"]),
    "DomainError": lambda: vn.errors.DomainError("no"),
    "FileError": lambda: vn.errors.FileError("no"),
    "ConstraintError": lambda: vn.errors.ConstraintError("no"),
    "SingularError": lambda: vn.errors.SingularError("no"),
    "ModelFileError": file_error,
    "Problem": lambda: file_error().problems[0],
    "Loop": lambda: vn.bodies.Loop("first", "second"),
    "Rolling": lambda: vn.bodies.Rolling("first", radius=0.1, axis=(0, 1, 0)),
    "Sliding": lambda: vn.bodies.Sliding("first", across=(1, 0, 0)),
    "Dynamics": lambda: vn.bodies.dynamics(tree()),
    "KineticEnergy": lambda: vn.bodies.closed_form_kinetic_energy(tree()),
    "DCMotor": lambda: vn.motors.DCMotor(torque_constant=0.1, resistance=2.0, inductance=0.01),
    "Realizability": lambda: vn.servo.realizability(servo()),
    "InternalDynamics": lambda: vn.servo.internal_dynamics(swing(), at={x: 0, x.diff(): 0, u: 0}),
    "ProgramEquations": program,
    "Binomial": lambda: vn.program.Binomial(2.0),
    "LinearPerturbation": lambda: vn.program.LinearPerturbation([[-2.0]]),
    "Perturbation": lambda: vn.program.Perturbation({"level": -2 * vn.program.residual("level")}),
    "QuasiVelocities": lambda: vn.quasi.quasi_velocities(spring(), {e: 2 * x.diff()}),
    "Equilibrium": lambda: vn.equilibrium(swing(), {u: 0}),
    "LinearModel": linear,
    "Verdict": lambda: vn.stability(linear()),
    "Mode": lambda: vn.linear.controllability(linear())[0],
    "ModeShape": lambda: linear().modes[0],
    "Region": lambda: vn.hurwitz.stability_region(swing(), {u: 0}, {k: [1.0, 2.0], c: [0.1, 0.2]}),
    "FeedbackLaw": lambda: vn.stabilize(linear()),
    "DigitalLaw": lambda: vn.feedback.digital_law(vn.stabilize(linear()), 0.01),
    "Digital": lambda: vn.Digital(vn.stabilize(linear()), 0.01, delay=0.002),
    "Estimator": lambda: vn.observe(linear(), [x]),
    "Attraction": attraction,
    "AttractionEstimate": attraction_estimate,
    "Tolerance": lambda: vn.feedback.parameter_tolerance(vn.stabilize(linear()), {k: [1.0, 2.0]}),
    "Compensator": lambda: vn.stabilize(linear(), integral=[x]).compensator,
    "FrequencyResponse": lambda: vn.linear.response(linear(), [0.5, 1.0, 2.0]),
    "Border": lambda: vn.hurwitz.stability_borders(swing(), {u: 0}, c, (-0.3, 0.5), moving=())[0],
    "Continuation": lambda: vn.hurwitz.continuation(swing(), {u: 0}, c, (-0.3, 0.5), moving=()),
    "Margin": lambda: next(iter(vn.linear.margins(vn.stabilize(linear())).values())),
    "Decay": lambda: vn.simulation.decay_bound(
        vn.simulate(program(), {s: 1.5}, (0, 1), method="euler", step=0.01, stabilization=vn.Baumgarte(2.0))
    ),
    "PlantRun": lambda: vn.simulation.run_on_plant(program_law(), {s: 0.1}, (0, 0.5)),
    "GainInterval": lambda: vn.simulation.gain_interval("euler", 0.01, 1e-3, curvature=1.0),
    "Happened": lambda: motion().events[0],
    "Outcome": lambda: motion().outcome,
    "Cause": lambda: motion().outcome.cause,
    "Results": results,
    "Point": lambda: results().points[0],
    "RegionOfAttraction": lambda: vn.examine(vn.load(LIBRARY / "start.toml")).attraction,
    "Settling": lambda: results().points[0].settling,
    "DigitalRun": lambda: vn.examine(vn.load(LIBRARY / "segway.toml")).points[0].digital,
}


def same(a: Any, b: Any, seen: set | None = None) -> bool:
    """Whether two values are equal in all their parts."""
    seen = set() if seen is None else seen
    if (id(a), id(b)) in seen or a is b:
        return True
    seen.add((id(a), id(b)))
    if isinstance(a, sp.Basic):  # a function of time has its own class, which SymPy makes again when its cache is full
        return bool(a == b) or repr(a) == repr(b)
    if type(a) is not type(b):
        return False
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name), seen) for f in fields(a))
    if isinstance(a, xr.Dataset):
        return a.identical(b)
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and all(same(v, w, seen) for v, w in zip(a.ravel(), b.ravel(), strict=True))
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key], seen) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(v, w, seen) for v, w in zip(a, b, strict=True))
    if isinstance(a, BaseException):
        return str(a) == str(b)
    return bool(a == b) or a != a or repr(a) == repr(b)


@pytest.fixture(scope="module")
def process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


def test_every_public_class_has_a_maker():
    assert set(public_classes()) == set(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_pickle_and_deepcopy(name):
    record = MAKERS[name]()
    assert type(record) is public_classes()[name]
    for twin in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert same(record, twin)
        assert repr(twin) == repr(record)


@pytest.mark.parametrize("name", MAKERS)
def test_the_way_to_another_process_and_back(name, process):
    record = MAKERS[name]()
    assert process.apply(repr, (record,)) == repr(record)
    assert same(process.apply(copy.deepcopy, (record,)), record)


def test_equations_compute_the_same_after_pickling():
    equations = motion().problem.equations
    state = {x: 0.6, y: -0.8, x.diff(): 0.4, y.diff(): 0.3}
    assert pickle.loads(pickle.dumps(equations)).accelerations(state) == equations.accelerations(state)
