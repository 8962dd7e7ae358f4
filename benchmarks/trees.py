"""Motions of trees of bodies in Vinculum, Pinocchio, MuJoCo and Exudyn, all with the classical Runge-Kutta method.

    python -m benchmarks.trees             n = 10 ... 1000
    python -m benchmarks.trees --quick     n = 10, 30, 100

A random tree (`chains.branching`), revolute joints about random axes, q = 0.3 and q̇ = 0.5 everywhere, 1000 steps of
0.1 ms. Times are those of whole repeated calls. Pinocchio has the accelerations (`aba`) but no method, so RK4 around it
is NumPy; Exudyn's `KinematicTree` and MuJoCo bring their own RK4. Drake, where it is installed (`pip install drake`),
has RK3 with a fixed step. Errors are the largest ones of a joint angle at the
end, against Taylor's method. Pinocchio's tables have n³ entries (1.8 GB at n = 300), so it ends at n = 200; Exudyn
factorizes a dense mass matrix and ends at n = 100.
"""

import argparse
from functools import partial
from importlib.util import find_spec
from time import process_time

import numpy as np

import vinculum as vn

from .chains import branching
from .loops_peers import exudyn_settings
from .measure import grown, least, markdown_table

STEP, STEPS = 1e-4, 1000
ANGLE, SPEED = 0.3, 0.5
GRAVITY = (0.0, 0.0, -9.81)
SIZES = (10, 30, 100, 200, 500, 1000)
UP_TO = {"Pinocchio": 200, "Exudyn": 100}


def vinculum_run(tree):
    """Ours, and the time to derive."""
    began = process_time()
    equations = vn.derive(tree.system())
    derived = process_time() - began
    start = dict.fromkeys(tree.coordinates, ANGLE) | dict.fromkeys(tree.velocities, SPEED)
    run = partial(vn.simulate, equations, start, (0, STEP * STEPS))
    exact = final(run(), tree)
    return lambda: final(run(method="rk4", step=STEP), tree), exact, derived


def final(motion, tree):
    """The angles at the end, in the order of the tree."""
    return np.array([motion[name][-1] for name in tree.order])


def pinocchio_run(tree):
    """RK4 in NumPy around `aba`."""
    import pinocchio as pin

    from .bodies import pinocchio_model

    model = pinocchio_model(tree)
    data, tau = model.createData(), np.zeros(model.nv)
    q, v = np.full(model.nv, ANGLE), np.full(model.nv, SPEED)
    return lambda: runge_kutta(lambda q, v: pin.aba(model, data, q, v, tau), q, v, STEP, STEPS)


def runge_kutta(accelerations, q, v, h, count):
    """q at the end by RK4."""
    for _ in range(count):
        a1 = accelerations(q, v).copy()
        v2 = v + h / 2 * a1
        a2 = accelerations(q + h / 2 * v, v2).copy()
        v3 = v + h / 2 * a2
        a3 = accelerations(q + h / 2 * v2, v3).copy()
        v4 = v + h * a3
        a4 = accelerations(q + h * v3, v4).copy()
        q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q


def mujoco_run(tree):
    """MuJoCo's RK4."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(_mjcf(tree))
    data = mujoco.MjData(model)
    places = [model.joint(name).qposadr[0] for name in tree.order]

    def run():
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = ANGLE, SPEED
        mujoco.mj_step(model, data, nstep=STEPS)
        return data.qpos[places].copy()

    return run


def _mjcf(tree):
    """The tree as nested bodies."""
    children = {name: [] for name in (None, *tree.order)}
    for name in tree.order:
        children[tree.body(name).parent].append(name)

    def written(name):
        body, J = tree.body(name), np.array(tree.body(name).inertia_matrix, dtype=float)
        z, y = body.turned[:, 0], body.turned[:, 1]
        inertia = _text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        place = f'pos="{_text(body.origin)}" xyaxes="{_text([*z, *y])}"'
        mass = f'<inertial pos="{_text(body.center_of_mass)}" mass="{float(body.mass)!r}" fullinertia="{inertia}"/>'
        inner = "".join(map(written, children[name]))
        return f'<body {place}><joint name="{name}" type="hinge" axis="0 0 1"/>{mass}{inner}</body>'

    roots = "".join(map(written, children[None]))
    return f"""<mujoco><compiler angle="radian"/><option timestep="{STEP}" integrator="RK4" gravity="{_text(GRAVITY)}"/>
<worldbody>{roots}</worldbody></mujoco>"""


def _text(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def exudyn_run(tree):
    """Exudyn's RK44 on a `KinematicTree` in minimal coordinates."""
    import exudyn as exu
    from exudyn import itemInterface as item

    n, place = len(tree.order), {name: i for i, name in enumerate(tree.order)}
    bodies = [tree.body(name) for name in tree.order]
    centers = [np.array(body.center_of_mass, dtype=float) for body in bodies]

    container = exu.SystemContainer()  # owns the system
    system = container.AddSystem()
    node = system.AddNode(item.NodeGenericODE2(
        numberOfODE2Coordinates=n, referenceCoordinates=[0.0] * n, initialCoordinates=[ANGLE] * n,
        initialCoordinates_t=[SPEED] * n))  # fmt: skip
    system.AddObject(item.ObjectKinematicTree(
        nodeNumber=node, jointTypes=[exu.JointType.RevoluteZ] * n, gravity=list(GRAVITY),
        linkParents=[place.get(body.parent, -1) for body in bodies],
        jointTransformations=exu.Matrix3DList([body.turned for body in bodies]),
        jointOffsets=exu.Vector3DList([np.array(body.origin, dtype=float) for body in bodies]),
        linkInertiasCOM=exu.Matrix3DList([np.array(body.inertia_matrix, dtype=float) for body in bodies]),
        linkCOMs=exu.Vector3DList(centers), linkMasses=[float(body.mass) for body in bodies]))  # fmt: skip
    system.Assemble()
    settings = exudyn_settings(exu, STEP, STEPS)

    def run(container=container):
        system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
        return np.array(system.GetNodeOutput(node, exu.OutputVariableType.Coordinates))

    return run


def drake_run(tree):
    """Drake's RK3 with a fixed step on a continuous `MultibodyPlant`; it has no RK4."""
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    plant = MultibodyPlant(0.0)
    places = _drake_bodies(plant, tree)
    plant.mutable_gravity_field().set_gravity_vector(np.array(GRAVITY))
    plant.Finalize()
    simulator = Simulator(plant)
    ResetIntegratorFromFlags(simulator, "runge_kutta3", STEP)
    simulator.get_mutable_integrator().set_fixed_step_mode(True)
    context = simulator.get_mutable_context()

    def run():
        context.SetTime(0.0)
        plant.SetPositions(context, np.full(plant.num_positions(), ANGLE))
        plant.SetVelocities(context, np.full(plant.num_velocities(), SPEED))
        simulator.Initialize()
        simulator.AdvanceTo(STEP * STEPS)
        return plant.GetPositions(context)[[joint.position_start() for joint in places]]

    return run


def _drake_bodies(plant, tree):
    """The bodies and their joints."""
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia

    bodies, joints = {None: plant.world_body()}, []
    for name in tree.order:
        body, J = tree.body(name), np.array(tree.body(name).inertia_matrix, dtype=float)
        inertia = RotationalInertia(*(float(J[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
        center = np.array(body.center_of_mass, dtype=float)
        spatial = SpatialInertia.MakeFromCentralInertia(float(body.mass), center, inertia)
        bodies[name] = plant.AddRigidBody(name, spatial)
        place = RigidTransform(RotationMatrix(body.turned), np.array(body.origin, dtype=float))
        frame = plant.AddFrame(FixedOffsetFrame(f"{name} joint", bodies[body.parent].body_frame(), place))
        joints.append(plant.AddJoint(RevoluteJoint(name, frame, bodies[name].body_frame(), [0.0, 0.0, 1.0])))
    return joints


PEERS = {"Pinocchio": pinocchio_run, "MuJoCo": mujoco_run, "Exudyn": exudyn_run}
if find_spec("pydrake"):
    PEERS["Drake"] = drake_run


def growth(sizes):
    """Deriving, the first run and a repeated run of n bodies, compared with the other engines; times of the CPU."""
    rows = []
    for n in sizes:
        tree = branching(n)
        ours, exact, derived = vinculum_run(tree)
        first = least(ours, 1)[0]
        engines = {"Vinculum": ours} | {name: make(tree) for name, make in PEERS.items() if n <= UP_TO.get(name, n)}
        found = {name: least(engine) for name, engine in engines.items()}
        row = {"bodies": n, "derive [s]": derived, "first run [s]": first}
        row |= {f"{name} [ms]": 1e3 * found[name][0] if name in found else "-" for name in ("Vinculum", *PEERS)}
        row |= {f"error, {name}": np.abs(q - exact).max() for name, (_, q) in found.items()}
        rows.append(row | {f"error, {name}": "-" for name in PEERS if name not in found})
        print(rows[-1], flush=True)
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="fewer sizes")
    rows = growth(SIZES[:3] if arguments.parse_args().quick else SIZES)
    print(markdown_table(rows))
    print(grown(rows, "bodies", ["derive [s]", "first run [s]", *(f"{name} [ms]" for name in ("Vinculum", *PEERS))]))


if __name__ == "__main__":
    main()
