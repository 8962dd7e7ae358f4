"""Every public parameter that takes a number with a dimension takes it with a unit, and refuses another dimension.

The parameters are found by introspection. Each is in one of the tables below: the numbers that were tried, or the
reason why there is nothing to try. A new parameter that is in none of them fails.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

PARTS = ("bodies", "motors", "servo", "program", "quasi", "linear", "hurwitz", "feedback", "vary", "measure")
NUMERIC = ("float", "Scalar", "Numbers", "Any", "Weights")

theta = dynamicsymbols("theta")
m, l, g, u = sp.symbols("m l g u")
T = dynamicsymbols._t


def swing():
    return vn.System(
        coordinates={theta: "rad"},
        kinetic_energy=m * l**2 * theta.diff() ** 2 / 2,
        potential_energy=m * g * l * sp.cos(theta),
        forces={theta: u},
        inputs={u: "N*m"},
        parameters={m: "300 g", l: "40 cm", g: "9.81 m/s^2"},
    )


EQUATIONS = vn.derive(swing())
REST = vn.equilibrium(EQUATIONS, {u: 0}, near={theta: 0})
LINEAR = vn.linearize(EQUATIONS, at=REST)
LAW = vn.stabilize(LINEAR)
LOOP = vn.close_loop(EQUATIONS, LAW)
STATES = [theta, theta.diff()]
ARM = vn.BodyTree([vn.Body("arm", mass=1, inertia=0.1, center_of_mass=(0.5, 0, 0), axis=(0, 1, 0), torque=u)])
SLIDE = vn.BodyTree([vn.Body("cart", mass=1, joint="prismatic", axis=(1, 0, 0), torque=u)])
(ANGLE,) = ARM.coordinates


def led() -> vn.System:
    """A bead on a rod at an angle that a torque holds."""
    angle = vn.Servo(theta - 0.1 * sp.sin(T), name="angle", through=[u])
    return replace(swing(), constraints=[angle])


def rod(form: str, **options: Any) -> Any:
    """A pendulum in Cartesian coordinates, whose rod is approached."""
    x, y = dynamicsymbols("x y")
    system = vn.System({x: "m", y: "m"}, m * (x.diff() ** 2 + y.diff() ** 2) / 2, m * g * y,
                       constraints=[vn.Holonomic(x**2 + y**2 - l**2, name="rod")],
                       parameters={m: "300 g", l: "40 cm", g: "9.81 m/s^2"})  # fmt: skip
    start = {x: 0.3, y: -0.3, x.diff(): 0.1, y.diff(): 0.2}
    return vn.derive(system, getattr(vn, form)(**options)).accelerations(start)


def spun(angle: Any, make: Callable[..., Any]) -> str:
    """Something in the quasi-velocity cos(theta) dot(theta), at an angle."""
    speed = dynamicsymbols("e1")
    return str(make(swing(), {speed: sp.cos(theta) * theta.diff()}, at={theta: angle}))


def fitted(**given: Any) -> Any:
    """The length of a falling pendulum from its angle."""
    times = np.linspace(0, 0.5, 6)
    motion = vn.simulate(EQUATIONS, {theta: 0.2}, times, inputs={u: 0})
    given = {"unknown": {l: 0.45}, "initial": {theta: 0.2}} | given
    return vn.fit(EQUATIONS, {"time": times, "theta": motion[theta]}, inputs={u: sp.S.Zero}, **given).values


def best(**given: Any) -> Any:
    """The length with which a pendulum falls least."""
    given = {"initial": {theta: 0.2}, "times": (0, 0.5), "over": {l: (0.3, 0.5)}} | given
    return vn.optimize(EQUATIONS, minimize=vn.measure.final(theta**2), inputs={u: sp.S.Zero}, **given).values


def body(**given: Any) -> Any:
    return vn.Body("arm", **({"mass": 1, "inertia": 0.1} | given))


def kept(field: str, make: Callable[..., Any]) -> Callable[[Any], Any]:
    """A record whose field has the number."""
    return lambda value: getattr(make(**{field: value}), field)


def tree(**given: Any) -> Any:
    return vn.BodyTree([body()], **given)


def motor(**given: Any) -> Any:
    return vn.motors.DCMotor(**({"torque_constant": 0.1, "resistance": 1.0, "inductance": 0.01} | given))


def digital(**given: Any) -> Any:
    return vn.Digital(LAW, **({"period": 0.01} | given))


def along(value: Any) -> Any:
    """A law as a number: its expression at one state."""
    from vinculum.graph import evaluate, from_sympy, symbol

    state = {symbol(ANGLE): 0.3, symbol(ANGLE.diff()): 0.1, symbol(T): 0.2}
    return evaluate([from_sympy(law) for law in value.values()], state)


def moved(value: Any) -> Any:
    """The servo constraint of a path, at zero coordinates."""
    return [float(c.expression.subs(dict.fromkeys(SLIDE.coordinates, 0))) for c in value]


# (owner, parameter): what is made with the number, the number with a unit, the same in SI, a unit that does not fit
TRIED: dict[tuple[str, str], tuple[Callable[[Any], Any], Any, Any, Any]] = {
    ("Body", "origin"): (kept("origin", body), ("10 cm", 0, "2 mm"), (0.1, 0, 0.002), ("1 kg", 0, 0)),
    ("Body", "mass"): (kept("mass", body), "300 g", 0.3, "3 m"),
    ("Body", "center_of_mass"): (kept("center_of_mass", body), (0, "3 cm", 0), (0, 0.03, 0), (0, "1 s", 0)),
    ("Body", "inertia"): (kept("inertia", body), "20 g*m^2", 0.02, "2 kg*m"),
    ("Body", "damping"): (kept("damping", body), "2 mN*m*s", 0.002, "2 N*s/m"),
    ("Body", "stiffness"): (kept("stiffness", body), "5 cN*m", 0.05, "5 N/m"),
    ("Body", "rest"): (kept("rest", body), "90 deg", np.pi / 2, "2 cm"),
    ("Body", "friction"): (kept("friction", body), ("1 mN*m", "2 mN*m"), (1e-3, 2e-3), "1 N"),
    ("Body", "rotor_inertia"): (kept("rotor_inertia", body), "5 kg*cm^2", 5e-4, "5 g"),
    ("Body", "gear_ratio"): (kept("gear_ratio", body), "50 %", 0.5, "2 m"),
    ("BodyTree", "gravity"): (kept("gravity", tree), (0, 0, "-981 cm/s^2"), (0, 0, -9.81), (0, 0, "1 m/s")),
    ("BodyTree", "base_position"): (kept("base_position", tree), ("2 ft", 0, 0), (0.6096, 0, 0), ("1 s", 0, 0)),
    ("BodyTree", "base_velocity"): (kept("base_velocity", tree), ("36 km/h", 0, 0), (10.0, 0, 0), ("1 m", 0, 0)),
    ("BodyTree", "base_angular_velocity"): (
        kept("base_angular_velocity", tree),
        (0, 0, "60 rpm"),
        (0, 0, 2 * np.pi),
        (0, 0, "1 Hz"),
    ),
    ("from_urdf", "gravity"): (
        lambda x: vn.from_urdf(URDF, gravity=x).bodies.gravity,
        (0, 0, "-1 m/s^2"),
        (0, 0, -1),
        (0, 0, "1 m"),
    ),
    ("Helical", "pitch"): (lambda x: vn.bodies.Helical(x).pitch, "5 mm", 0.005, "5 s"),
    ("Loop", "point"): (lambda x: vn.bodies.Loop("a", "b", point=x).point, ("1 cm", 0, 0), (0.01, 0, 0), ("1 g", 0, 0)),
    ("Loop", "other_point"): (
        lambda x: vn.bodies.Loop("a", "b", other_point=x).other_point,
        ("1 cm", 0, 0),
        (0.01, 0, 0),
        ("1 g", 0, 0),
    ),
    ("Rolling", "radius"): (lambda x: vn.bodies.Rolling("a", x).radius, "30 cm", 0.3, "30 s"),
    ("Rolling", "center"): (
        lambda x: vn.bodies.Rolling("a", 1, center=x).center,
        ("1 mm", 0, 0),
        (1e-3, 0, 0),
        ("1 g", 0, 0),
    ),
    ("Rolling", "height"): (lambda x: vn.bodies.Rolling("a", 1, height=x).height, "1 km", 1000.0, "1 s"),
    ("Sliding", "point"): (
        lambda x: vn.bodies.Sliding("a", (0, 1, 0), x).point,
        ("1 mm", 0, 0),
        (1e-3, 0, 0),
        ("1 g", 0, 0),
    ),
    ("denavit_hartenberg", "links"): (
        lambda x: vn.bodies.denavit_hartenberg([{"d": x, "mass": 1}])[0].center_of_mass,
        "2 cm",
        0.02,
        "2 kg",
    ),
    ("rotation_rpy", "roll"): (lambda x: vn.bodies.rotation_rpy(roll=x), "90 deg", np.pi / 2, "1 m"),
    ("rotation_rpy", "pitch"): (lambda x: vn.bodies.rotation_rpy(pitch=x), "90 deg", np.pi / 2, "1 m"),
    ("rotation_rpy", "yaw"): (lambda x: vn.bodies.rotation_rpy(yaw=x), "90 deg", np.pi / 2, "1 m"),
    ("servo_path", "path"): (
        lambda x: moved(vn.bodies.servo_path(SLIDE, "cart", (x, None, None))),
        "2 cm",
        0.02,
        "2 kg",
    ),
    ("servo_path", "point"): (
        lambda x: moved(vn.bodies.servo_path(SLIDE, "cart", (0, None, None), x)),
        ("2 cm", 0, 0),
        (0.02, 0, 0),
        ("1 s", 0, 0),
    ),
    ("computed_torque", "frequency"): (
        lambda x: along(vn.bodies.computed_torque(ARM, {ANGLE: 0}, frequency=x)),
        "1 turn/s",
        2 * np.pi,
        "1 Hz",
    ),
    ("computed_torque", "at"): (
        lambda x: along(vn.bodies.computed_torque(ARM, {ANGLE: 0}, at={ANGLE: x})),
        "30 deg",
        np.pi / 6,
        "3 m",
    ),
    ("task_path", "frequency"): (
        lambda x: along(vn.bodies.task_path(ARM, "arm", joints={ANGLE: 0}, frequency=x)),
        "1 turn/s",
        2 * np.pi,
        "1 Hz",
    ),
    ("task_path", "at"): (
        lambda x: along(vn.bodies.task_path(ARM, "arm", joints={ANGLE: 0}, at={ANGLE: x})),
        "30 deg",
        np.pi / 6,
        "3 m",
    ),
    ("task_path", "path"): (
        lambda x: list(vn.bodies.task_path(SLIDE, "cart", (x, None, None))),
        "2 cm",
        0.02,
        "2 kg",
    ),
    ("task_path", "point"): (
        lambda x: list(vn.bodies.task_path(SLIDE, "cart", (0, None, None), x)),
        ("2 cm", 0, 0),
        (0.02, 0, 0),
        ("1 s", 0, 0),
    ),
    ("DCMotor", "torque_constant"): (kept("torque_constant", motor), "50 mN*m/A", 0.05, "50 mN*m"),
    ("DCMotor", "resistance"): (kept("resistance", motor), "3 kohm", 3000.0, "3 V"),
    ("DCMotor", "inductance"): (kept("inductance", motor), "0.8 mH", 8e-4, "3 s"),
    ("DCMotor", "back_emf"): (kept("back_emf", motor), "50 mV*s", 0.05, "50 mV"),
    ("Digital", "period"): (kept("period", digital), "5 ms", 0.005, "5 m"),
    ("Digital", "delay"): (kept("delay", digital), "200 us", 2e-4, "5 m"),
    ("Digital", "before"): (kept("before", digital), {u: "1 mN*m"}, {u: 1e-3}, {u: "1 V"}),
    ("Digital", "limits"): (kept("limits", digital), {u: "10 cN*m"}, {u: 0.1}, {u: "1 V"}),
    ("Digital", "rates"): (kept("rates", digital), {u: "10 cN*m/s"}, {u: 0.1}, {u: "1 N*m"}),
    ("Digital", "resolution"): (kept("resolution", digital), {theta: "1 deg"}, {theta: np.pi / 180}, {theta: "1 m"}),
    ("Digital", "noise"): (kept("noise", digital), {theta: "1 deg"}, {theta: np.pi / 180}, {theta: "1 m"}),
    ("Digital", "disturbances"): (kept("disturbances", digital), {u: "1 mN*m"}, {u: 1e-3}, {u: "1 m"}),
    ("digital", "period"): (lambda x: vn.feedback.digital(LINEAR, x).period, "5 ms", 0.005, "5 m"),
    ("digital", "delay"): (lambda x: vn.feedback.digital(LINEAR, 0.01, delay=x).D, "5 ms", 0.005, "5 m"),
    ("digital_law", "period"): (lambda x: vn.feedback.digital_law(LAW, x).period, "5 ms", 0.005, "5 m"),
    ("digital_law", "limits"): (
        lambda x: vn.feedback.digital_law(LAW, 0.01, limits=x).limits,
        {u: "10 cN*m"},
        {u: 0.1},
        {u: "1 V"},
    ),
    ("digital_margins", "delay"): (
        lambda x: vn.feedback.digital_margins(LINEAR, vn.feedback.digital_law(LAW, 0.01), x)[u].delay,
        "1 ms",
        1e-3,
        "1 m",
    ),
    ("pid", "filter"): (lambda x: vn.feedback.pid(LINEAR, theta, u, 9, 3, 2, filter=x).roots, "20 ms", 0.02, "1 m"),
    ("close_loop", "limits"): (
        lambda x: str(vn.close_loop(EQUATIONS, LAW, limits=x).laws),
        {u: "10 cN*m"},
        {u: 0.1},
        {u: "1 V"},
    ),
    ("region_of_attraction", "over"): (
        lambda x: vn.feedback.region_of_attraction(LOOP, REST, {theta: [x, 0.2]}, 1).starts[0][theta],
        "6 deg",
        np.pi / 30,
        "6 cm",
    ),
    ("region_of_attraction", "time"): (
        lambda x: vn.feedback.region_of_attraction(LOOP, REST, {theta: [0.1]}, x).converged,
        "500 ms",
        0.5,
        "6 cm",
    ),
    ("parameter_tolerance", "over"): (
        lambda x: vn.feedback.parameter_tolerance(LAW, {m: [x, 0.3]}).parameters[0][m],
        "250 g",
        0.25,
        "3 m",
    ),
    ("stability_region", "over"): (
        lambda x: vn.hurwitz.stability_region(EQUATIONS, {u: 0}, {m: [x, 0.3], l: [0.2]}).first,
        "250 g",
        0.25,
        "3 m",
    ),
    ("stability_borders", "between"): (
        lambda x: len(vn.hurwitz.stability_borders(LOOP, {}, m, (x, 0.3), points=2)),
        "250 g",
        0.25,
        "3 m",
    ),
    ("stability_borders", "given"): (
        lambda x: len(vn.hurwitz.stability_borders(EQUATIONS, {theta: x}, m, (0.2, 0.3), points=2)),
        "0 deg",
        0.0,
        "3 m",
    ),
    ("stability_borders", "near"): (
        lambda x: len(vn.hurwitz.stability_borders(EQUATIONS, {u: 0}, m, (0.2, 0.3), points=2, near={theta: x})),
        "1 deg",
        np.pi / 180,
        "3 m",
    ),
    ("continuation", "between"): (
        lambda x: vn.hurwitz.continuation(LOOP, {}, m, (x, 0.3), points=2).values[0],
        "250 g",
        0.25,
        "3 m",
    ),
    ("continuation", "given"): (
        lambda x: vn.hurwitz.continuation(EQUATIONS, {theta: x}, m, (0.2, 0.3), points=2).motion[u][0],
        "30 deg",
        np.pi / 6,
        "3 m",
    ),
    ("continuation", "near"): (
        lambda x: vn.hurwitz.continuation(EQUATIONS, {u: 0}, m, (0.2, 0.3), points=2, near={theta: x}).rightmost,
        "179 deg",
        np.pi * 179 / 180,
        "3 m",
    ),
    ("stability_region", "given"): (
        lambda x: vn.hurwitz.stability_region(EQUATIONS, {theta: x}, {m: [0.2], l: [0.2]}).rightmost,
        "30 deg",
        np.pi / 6,
        "3 m",
    ),
    ("stability_region", "near"): (
        lambda x: vn.hurwitz.stability_region(EQUATIONS, {u: 0}, {m: [0.2], l: [0.2]}, near={theta: x}).rightmost,
        "179 deg",
        np.pi * 179 / 180,
        "3 m",
    ),
    ("stability", "at"): (
        lambda x: vn.stability(EQUATIONS, at={theta: x, u: 0}).kind,
        "180 deg",
        np.pi,
        "3 m",
    ),
    ("internal_dynamics", "at"): (
        lambda x: vn.servo.internal_dynamics(EQUATIONS, at={theta: x, u: 0}).rates,
        "180 deg",
        np.pi,
        "3 m",
    ),
    ("stabilize_free_motion", "at"): (
        lambda x: str(vn.feedback.stabilize_free_motion(EQUATIONS, {theta: x, theta.diff(): 0, u: 0}, STATES)),
        "180 deg",
        np.pi,
        "3 m",
    ),
    ("response", "frequencies"): (
        lambda x: vn.linear.response(LINEAR, x).frequencies,
        ["1 rad/s", "1 turn/s"],
        [1.0, 2 * np.pi],
        ["1 Hz", "2 Hz"],
    ),
    ("loop_response", "frequencies"): (
        lambda x: vn.linear.loop_response(LAW, u, x).frequencies,
        ["1 rad/s", "1 turn/s"],
        [1.0, 2 * np.pi],
        ["1 m", "2 m"],
    ),
    ("realizability", "at"): (
        lambda x: str(vn.servo.realizability(led(), {theta: x}).determinant),
        "3 deg",
        0.05,
        "3 m",
    ),
    ("quasi_velocities", "at"): (
        lambda x: spun(x, vn.quasi.quasi_velocities),
        "3 deg",
        np.pi / 60,
        "3 m",
    ),
    ("release", "at"): (lambda x: spun(x, vn.quasi.release), "3 deg", np.pi / 60, "3 m"),
    ("release_matrices", "at"): (lambda x: spun(x, vn.quasi.release_matrices), "3 deg", np.pi / 60, "3 m"),
    **{
        (form, "rates"): (lambda x, form=form: rod(form, rates={"rod": x}), "3 1/s", 3.0, "3 m")
        for form in ("Multipliers", "Lyapunov", "LurieSuslov")
    },
    ("fit", "unknown"): (lambda x: fitted(unknown={l: x}), "45 cm", 0.45, "45 g"),
    ("fit", "initial"): (lambda x: fitted(initial={theta: x}), "0.2 rad", 0.2, "45 g"),
    ("fit", "bounds"): (lambda x: fitted(bounds={l: x}), ("30 cm", "50 cm"), (0.3, 0.5), ("30 g", "50 g")),
    ("fit", "parameters"): (lambda x: fitted(parameters={m: x}), "200 g", 0.2, "45 cm"),
    ("fit", "guess"): (lambda x: fitted(guess={theta.diff(): x}), "0 rad/s", 0.0, "45 cm"),
    ("optimize", "initial"): (lambda x: best(initial={theta: x}), "0.2 rad", 0.2, "45 g"),
    ("optimize", "times"): (lambda x: best(times=x), ("0 s", "500 ms"), (0.0, 0.5), ("0 m", "5 m")),
    ("optimize", "over"): (lambda x: best(over={l: x}), ("30 cm", "50 cm"), (0.3, 0.5), ("30 g", "50 g")),
    ("optimize", "parameters"): (lambda x: best(parameters={m: x}), "200 g", 0.2, "45 cm"),
    ("optimize", "guess"): (lambda x: best(guess={theta.diff(): x}), "0 rad/s", 0.0, "45 cm"),
    ("Baumgarte", "rate"): (lambda x: vn.Baumgarte(x).rate, "3 1/s", 3.0, "3 m"),
    ("Baumgarte", "alpha"): (lambda x: vn.Baumgarte(alpha=x).alpha, {"rod": "3 1/s"}, {"rod": 3.0}, {"rod": "3 m"}),
    ("Baumgarte", "beta"): (lambda x: vn.Baumgarte(beta=x).beta, "3 1/s", 3.0, "3 m"),
    ("Sampled", "rate"): (lambda x: vn.Sampled(x).rate, "3 1/s", 3.0, "3 m"),
    ("linearize", "at"): (
        lambda x: vn.linearize(EQUATIONS, at={theta: x, u: 0}).system_matrix,
        "180 deg",
        np.pi,
        "3 m",
    ),
    ("steady", "given"): (lambda x: vn.steady(EQUATIONS, {theta: x})[u], "30 deg", np.pi / 6, "3 m"),
    ("steady", "near"): (lambda x: vn.steady(EQUATIONS, {u: 0}, near={theta: x})[u], "3 deg", np.pi / 60, "3 m"),
    ("steady", "parameters"): (lambda x: vn.steady(EQUATIONS, {theta: 0.1}, parameters={m: x})[u], "30 g", 0.03, "3 m"),
    ("consistent_state", "initial"): (
        lambda x: vn.consistent_state(EQUATIONS, {theta: x})[theta],
        "3 deg",
        np.pi / 60,
        "3 m",
    ),
    ("consistent_state", "guess"): (
        lambda x: vn.consistent_state(EQUATIONS, {}, guess={theta: x})[theta],
        "3 deg",
        np.pi / 60,
        "3 m",
    ),
    ("consistent_state", "parameters"): (
        lambda x: vn.consistent_state(EQUATIONS, {}, parameters={m: x})[theta],
        "3 g",
        0.003,
        "3 m",
    ),
    ("consistent_state", "time"): (
        lambda x: vn.consistent_state(EQUATIONS, {}, time=x)[theta],
        "3 min",
        180.0,
        "3 m",
    ),
    ("RungeKutta", "step"): (lambda x: vn.RungeKutta("rk4", step=x).step, "2 ms", 0.002, "3 m"),
    ("Adams", "step"): (lambda x: vn.Adams("ab4", step=x).step, "2 ms", 0.002, "3 m"),
    **{
        (form, "at"): (
            lambda x, form=form: vn.derive(swing(), form=getattr(vn, form)(at={theta: x})).form.at[theta],
            "30 deg",
            np.pi / 6,
            "3 m",
        )
        for form in ("Multipliers", "Lyapunov", "LurieSuslov", "Voronets", "Chaplygin", "Shulgin")
    },
    ("signal", "times"): (
        lambda x: float(vn.signal(x, [0, 2]).subs(T, 0.01)),
        ["0 ms", "20 ms"],
        [0, 0.02],
        ["0 m", "20 m"],
    ),
    ("signal", "values"): (
        lambda x: float(vn.signal([0, 1], x).subs(T, 0.5)),
        ["0 kN", "2 kN"],
        [0, 2000],
        ["0 kNN", "2 kNN"],
    ),
    ("spline", "points"): (
        lambda x: float(vn.spline(theta, x, [0, 1], degree=1).subs(theta, 0.01)),
        ["0 cm", "2 cm"],
        [0, 0.02],
        ["0 q", 1],
    ),
    ("spline", "values"): (
        lambda x: float(vn.spline(theta, [0, 1], x, degree=1).subs(theta, 0.5)),
        ["0 cm", "2 cm"],
        [0, 0.02],
        ["0 q", 1],
    ),
    ("random_signal", "times"): (
        lambda x: float(vn.random_signal(lambda w: 0 * w + 1, x, 50, seed=1).subs(T, 0.5)),
        ("0 s", "1000 ms"),
        (0, 1),
        ("0 m", "1 m"),
    ),
    ("random_signal", "highest"): (
        lambda x: float(vn.random_signal(lambda w: 0 * w + 1, (0, 1), x, seed=1).subs(T, 0.5)),
        "10 turn/s",
        20 * np.pi,
        "10 Hz",
    ),
}

URDF = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""

# numbers for symbols, tried in test_units_in_python.py
BY_SYMBOL = {
    "System": {"coordinates", "inputs", "parameters"}, "AffineSystem": {"states", "inputs", "parameters"},
    "simulate": {"initial", "times", "step", "parameters", "guess"}, "study": {"initial", "times", "over"},
    "equilibrium": {"given", "near", "parameters"}, "BodyTree": {"parameters"}, "load": {"parameters"},
}  # fmt: skip


RETURNED = (
    *("Trajectory", "Realizability", "Equilibrium", "Mode", "ModeShape", "Margin", "Border", "DigitalLaw"),
    *("Attraction", "AttractionEstimate", "Continuation", "Tolerance", "Dynamics", "Uniform", "Normal", "Measure"),
)
# where a number has no dimension of its own, or the unit is that of something else, with the reason
NOTHING_TO_TRY = {
    "not a number": {
        "Body": {"axis", "angle", "rotation", "torque"}, "BodyTree": {"base_rotation", "loops", "contacts"},
        "System": {"bodies"}, "from_urdf": {"loops", "contacts"}, "derive": {"options"}, "Digital": {"memory"},
        "export_c": {"what", "options"}, "export_fmu": {"what", "options"}, "write_report": {"progress"},
        "study": {"equations", "client", "options"}, "fit": {"equations", "measured"},
        "optimize": {"equations", "stabilization"}, "simulate": {"progress"}, "stability_region": {"client"},
        "region_of_attraction": {"options"}, "servo_path": {"orientation"}, "task_path": {"orientation"},
        "Loop": {"axis", "other_axis"}, "Rolling": {"axis", "normal"}, "Sliding": {"across"},
        "Model": {
            "derivation", "simulation", "equilibrium", "control", "observer", "closed_loop", "digital", "study",
            "attraction", "stability_map",
        },
        "RungeKutta": {"A", "b"}, "Adams": {"predictor", "corrector"},
    },
    "a pure number": {
        "simulate": {"tolerance"}, "Taylor": {"tolerance"}, "BDF": {"tolerance"}, "Adams": {"largest"},
        "fit": {"tolerance"}, "optimize": {"tolerance"}, "computed_torque": {"damping"}, "task_path": {"damping"},
        "region_of_attraction": {"within"}, "DCMotor": {"gear"},
    },
    "a function of time or a matrix in the units of the user's symbols": {
        "computed_torque": {"desired"}, "servo_path": {"joints"}, "task_path": {"joints"}, "model": {"A", "B", "C"},
        "LinearPerturbation": {"matrix"}, "inverse_problem": {"erugin", "tangent"},
        "symbolic_matrices": {"at"}, "characteristic_polynomial": {"at"},
    },
    "weights and gains: ratios of several units": {
        "stabilize": {"state_weights", "input_weights", "integral_weights"},
        "observe": {"state_noise", "output_noise"}, "pid": {"kp", "ki", "kd"}, "Program": {"weights"},
        "digital": {"state_weights", "input_weights", "state_noise", "output_noise"},
        "stabilize_free_motion": {"state_weights", "input_weights"}, "attraction_estimate": {"weights"},
    },
    "a record that a function returns": dict.fromkeys(RETURNED),
    "read by the same function as in the forms above": {
        "Hamel": {"at", "rates"}, "Maggi": {"at", "rates"}, "Routh": {"at"}, "Voronets": {"rates"},
        "Chaplygin": {"rates"},
    },
    "read by the function of other durations; tests/export writes the file": {"export_fmu": {"step", "stop"}},
    "a bound for constraints, each with a dimension of its own": {"Guaranteed": {"epsilon", "trajectory"}},
    "standard deviations by column of a measurement, in the units of the recording": {"fit": {"deviations"}},
    "values of a quantity that is named elsewhere: give them in SI": {
        "uniform": {"low", "high"}, "normal": {"mean", "deviation"}, "table": {"rows"},
        "settling_time": {"band", "target"},
    },
    "states of an affine system: only those with units in a file have dimensions": {"Program": {"at"}},
}  # fmt: skip


def public() -> dict[tuple[str, str], str]:
    """(owner, parameter) of every public callable whose annotation allows a number."""
    found, seen = {}, set()
    for place in (vn, *(getattr(vn, part) for part in PARTS)):
        for owner in place.__all__:
            thing = getattr(place, owner)
            error = isinstance(thing, type) and issubclass(thing, Exception)
            if isinstance(thing, types.ModuleType) or not callable(thing) or error or id(thing) in seen:
                continue
            seen.add(id(thing))
            for parameter in inspect.signature(thing).parameters.values():
                if any(word in str(parameter.annotation) for word in NUMERIC):
                    found[owner, parameter.name] = str(parameter.annotation)
    return found


def test_every_public_number_is_tried_or_has_a_reason():
    known = set(TRIED) | {(owner, name) for owner, names in BY_SYMBOL.items() for name in names}
    records = set()
    for table in NOTHING_TO_TRY.values():
        for owner, names in table.items():
            if names is None:
                records.add(owner)
            else:
                known |= {(owner, name) for name in names}
    missing = {pair for pair in public() if pair not in known and pair[0] not in records}
    assert not missing
    assert {pair for pair in known if pair[0] not in records} <= set(public()) | {("load", "parameters")}


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal, numbers to rounding."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    one, other = np.array(a), np.array(b)
    if one.dtype.kind not in "bifc" or other.dtype.kind not in "bifc":
        return bool(np.all(a == b))
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("owner", "name"), list(TRIED))
def test_number_with_a_unit_is_the_number_in_si(owner, name):
    make, written, plain, wrong = TRIED[owner, name]
    assert same(make(written), make(plain))
    with pytest.raises(vn.VinculumError):
        make(wrong)
