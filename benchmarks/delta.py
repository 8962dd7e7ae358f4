"""The Delta robot: from energies to gains, and one evaluation of its right side beside Pinocchio.

Pinocchio gets the same robot as a tree with closed loops: three arms on revolute joints (the rotors of the motors as
armature), a forearm with two revolute joints on each (a rod without axial inertia), a platform on a translation joint,
and three point constraints where forearms meet the platform: 12 joint velocities, 9 constraints. Its
``constraintDynamics`` is called with data allocated once and the proximal iteration switched off (mu = 0, one step),
in a plain loop over prepared arrays, which is the way it is called from Python; what such a call costs by itself is
measured with the cheapest call of the same kind (``crba`` of a one-joint model) and can be subtracted.
Both sides must give the same accelerations.
"""

import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

import vinculum as vn
from examples import delta_robot
from examples.delta_robot import DATA, X, Y, Z, platform, theta, u
from vinculum.compile.function import Function
from vinculum.graph.node import symbol

from .measure import Timing, duration, measure

STATE = dict(zip((*theta, *platform), (0.409743738, -0.31871036, 0.137842462, -0.2, 0.15, -0.85), strict=True))
SPEEDS = dict(zip((q.diff() for q in theta), (0.5, -0.3, 0.2), strict=True))
TORQUES = (-10.0, -20.0, 5.0)
ARMS = [0, 3, 6]  # the joints of the arms among those of the tree


def to_gains() -> list[dict]:
    """Every step from energies to voltage gains, in seconds."""
    rows, clock = [], perf_counter()

    def step(name: str) -> None:
        nonlocal clock
        rows.append({"step": name, "seconds": perf_counter() - clock})
        clock = perf_counter()

    robot = vn.motors.motorize(delta_robot.system(), dict.fromkeys(u, delta_robot.MOTOR))
    step("energies and constraints in SymPy")
    equations = vn.derive(robot, form="shulgin", dependent=platform)
    step("equations of motion")
    rest = vn.equilibrium(equations, {X: 0, Y: 0, Z: -0.9}, near=dict.fromkeys(theta, 0.1))
    step("equilibrium, from 41 starts")
    linear = vn.linearize(equations, at=rest)
    step("first approximation")
    vn.stability(linear)
    step("verdict on stability")
    vn.stabilize(linear, **delta_robot.VOLTAGE_WEIGHTS)
    step("gains")
    rows.append({"step": "all", "seconds": sum(row["seconds"] for row in rows)})
    return rows


def start() -> dict:
    """A consistent state in motion."""
    equations = vn.derive(delta_robot.system(), form="shulgin", dependent=platform)
    place = {q: STATE[q] for q in platform}
    return vn.consistent_state(equations, place | SPEEDS, guess={q: STATE[q] for q in theta})


def right_side(state: dict, rows: int = 10_000) -> tuple[Callable, np.ndarray]:
    """Shulgin's right side as a compiled batch, and the accelerations at the state."""
    equations = vn.derive(delta_robot.system(), form="shulgin", dependent=platform)
    inputs = dict(zip(u, TORQUES, strict=True))
    explicit = equations.explicit(equations.values({k: state[k] for k in equations.states} | inputs))
    rates = equations.mechanics.without_corrections(explicit.rates)
    variables = [symbol(key) for key in (*equations.states, *u)]
    time, parameters = symbol(equations.system.time), equations.system.nodes.parameters
    function = Function(time, variables, parameters, rates)
    x = np.array([*(state[key] for key in equations.states), *TORQUES])
    numbers = np.array(list(equations.system.parameters.values()))
    batch, times = np.tile(x, (rows, 1)), np.zeros(rows)
    return lambda: function.rows(times, batch, numbers), function(0.0, x, numbers)[-3:]


def pinocchio_model():
    """The robot as a tree, its loop constraints, and the joints in the order arm 1, forearm 1, arm 2, ..., platform."""
    import pinocchio as pin

    r0, r3, l1, l2, I_A, S_A, I_g, m_f, J_f, m_p, g = DATA
    model, arm_mass = pin.Model(), 4.0
    model.gravity = pin.Motion(np.array([0, 0, -g, 0, 0, 0]))
    arm = pin.Inertia(arm_mass, np.array([S_A / arm_mass, 0, 0]), np.diag([0, I_A - S_A**2 / arm_mass, 0]))
    rod = pin.Inertia(m_f, np.array([l2 / 2, 0, 0]), np.diag([0, J_f, J_f]))
    here, ends = pin.SE3.Identity(), []
    for i in range(3):
        turn = pin.utils.rotate("z", 2 * np.pi * i / 3)
        joint = model.addJoint(0, pin.JointModelRY(), pin.SE3(turn, turn @ [r0, 0, 0]), f"arm{i}")
        model.appendBodyToJoint(joint, arm, here)
        swing = model.addJoint(joint, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([l1, 0, 0])), f"swing{i}")
        lean = model.addJoint(swing, pin.JointModelRZ(), here, f"lean{i}")
        model.appendBodyToJoint(lean, rod, here)
        ends.append((lean, turn))
    plate = model.addJoint(0, pin.JointModelTranslation(), here, "platform")
    model.appendBodyToJoint(plate, pin.Inertia(m_p, np.zeros(3), np.zeros((3, 3))), here)
    model.armature = np.array([I_g, 0, 0] * 3 + [0, 0, 0])
    loops = pin.StdVec_RigidConstraintModel()
    for lean, turn in ends:
        tip, pin_of_plate = pin.SE3(np.eye(3), np.array([l2, 0, 0])), pin.SE3(np.eye(3), turn @ [r3, 0, 0])
        loops.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, lean, tip, plate, pin_of_plate, pin.LOCAL)
        )
    return model, loops


def pinocchio_state(state: dict) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the tree at the same state: directions of the forearms, and their rates along the constraints."""
    r0, r3, l1, l2 = DATA[:4]
    q = []
    for i, angle in enumerate(theta):
        f, a = 2 * np.pi * i / 3, state[angle]
        turn = np.array([[np.cos(f), -np.sin(f), 0], [np.sin(f), np.cos(f), 0], [0, 0, 1]])
        tilt = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        elbow = turn @ [r0 + l1 * np.cos(a), 0, -l1 * np.sin(a)]
        leg = np.array([state[p] for p in platform]) + turn @ [r3, 0, 0] - elbow
        x, y, z = (turn @ tilt).T @ leg / l2
        q += [a, np.arctan2(-z, x), np.arcsin(y)]
    return np.array([*q, *(state[p] for p in platform)]), np.array([state[p.diff()] for p in (*theta, *platform)])


def pinocchio_motion(model, loops, datas, data, state: dict) -> tuple[np.ndarray, np.ndarray]:
    """q and v of the tree at the state, v along the constraints."""
    import pinocchio as pin

    q, speeds = pinocchio_state(state)
    still = np.zeros(model.nv)
    pin.constraintDynamics(model, data, q, still, still, loops, datas)  # places the constraints, for their Jacobian
    J = pin.getConstraintsJacobian(model, data, loops, datas)
    others = [i for i in range(model.nv) if i not in ARMS]
    v = np.zeros(model.nv)
    v[ARMS] = speeds[:3]
    v[others] = np.linalg.lstsq(J[:, others], -J[:, ARMS] @ speeds[:3], rcond=None)[0]
    return q, v


def pinocchio_ready(state: dict) -> tuple:
    """The model with its constraints, their data, and q and v at the state."""
    import pinocchio as pin

    model, loops = pinocchio_model()
    data, datas = model.createData(), pin.StdVec_RigidConstraintData()
    datas.extend(loop.createData() for loop in loops)
    pin.initConstraintDynamics(model, data, loops, datas)
    return model, loops, data, datas, *pinocchio_motion(model, loops, datas, data, state)


def pinocchio_batch(state: dict, rows: int = 1000) -> tuple[Callable, np.ndarray]:
    """A loop of constrained forward dynamics, and the accelerations of the arms at the state."""
    import pinocchio as pin

    model, loops, data, datas, q, v = pinocchio_ready(state)
    tau = np.zeros(model.nv)
    tau[ARMS] = TORQUES
    settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def call() -> np.ndarray:
        return pin.constraintDynamics(model, data, q, v, tau, loops, datas, settings)

    def loop() -> None:
        for _ in range(rows):
            call()

    return loop, call()[ARMS]


def call_overhead(rows: int = 1000) -> Callable:
    """The cheapest call of the same kind."""
    import pinocchio as pin

    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "one")
    data, q = model.createData(), np.zeros(1)

    def loop() -> None:
        for _ in range(rows):
            pin.crba(model, data, q)

    return loop


def evaluations() -> list[dict]:
    """One evaluation of the right side, ours in a compiled batch, Pinocchio's in a loop."""
    state = start()
    batch, found = right_side(state)
    rows = [_row("Vinculum, Shulgin's right side, compiled batch", measure(batch, 5), 10_000)]
    try:
        loop, theirs = pinocchio_batch(state)
    except ImportError:
        print("Pinocchio is not installed (pip install pin): the comparison is left out.", file=sys.stderr)
        return rows
    np.testing.assert_allclose(theirs, found, rtol=1e-7)
    rows.append(_row("Pinocchio, constraintDynamics, loop in Python", measure(loop, 5), 1000))
    rows.append(_row("cheapest call of Pinocchio from Python", measure(call_overhead(), 5), 1000))
    for row in rows:
        row["times ours"] = row["best, s"] / rows[0]["best, s"]
    return rows


def _row(name: str, run: Timing, calls: int) -> dict:
    return {"evaluation": name, "one": duration(run.best / calls), "best, s": run.best / calls}
