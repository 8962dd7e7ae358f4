"""The chain of four-bars in Pinocchio, MuJoCo, Exudyn and Drake."""

import numpy as np


def pinocchio_run(loops, seconds, step=1e-3):
    """A function that runs RK4 in NumPy around Pinocchio's `constraintDynamics`, and returns the final crank angles.

    A loop is closed by a point contact in three directions, one of which is redundant in the plane: proximal
    iterations regularize it, and Baumgarte's terms hold the loop.
    """
    import pinocchio as pin

    from .trees import runge_kutta

    model, contacts = _pinocchio_model(pin, loops, 1 / step)
    data = model.createData()
    datas = pin.StdVec_RigidConstraintData()
    datas.extend([contact.createData() for contact in contacts])
    pin.initConstraintDynamics(model, data, contacts, datas)
    proximal, tau = pin.ProximalSettings(1e-12, 1e-10, 10), np.zeros(model.nv)
    cranks = [model.joints[model.getJointId(f"phi{i}")].idx_v for i in range(loops + 1)]
    q, v = np.full(model.nv, -np.pi / 2), np.full(model.nv, 1.0)  # of couplers, relative to their cranks
    q[cranks], v[cranks] = np.pi / 2, -1.0

    def accelerations(q, v):
        return pin.constraintDynamics(model, data, q, v, tau, contacts, datas, proximal)

    return lambda: runge_kutta(accelerations, q, v, step, round(seconds / step))[cranks]


def _pinocchio_model(pin, loops, rate):
    """Cranks turn about -y, so that their angles count from the horizontal; couplers hang on cranks."""
    model, contacts = pin.Model(), pin.StdVec_RigidConstraintModel()
    rod = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([1e-6, 1 / 12, 1 / 12]))
    end, ids = pin.SE3(np.eye(3), np.array([1.0, 0, 0])), {}

    def add(name, parent, place):
        axis = pin.JointModelRevoluteUnaligned(0.0, -1.0, 0.0)
        ids[name] = model.addJoint(parent, axis, pin.SE3(np.eye(3), np.array(place, dtype=float)), name)
        model.appendBodyToJoint(ids[name], rod, pin.SE3.Identity())

    for i in range(loops + 1):
        add(f"phi{i}", 0, (i, 0, 0))
        if i < loops:
            add(f"psi{i + 1}", ids[f"phi{i}"], (1, 0, 0))
    for i in range(1, loops + 1):
        contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, ids[f"psi{i}"], end, ids[f"phi{i}"], end)
        contact.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(rate**2, 2 * rate))
        contacts.append(contact)
    return model, contacts


def mujoco_run(loops, seconds, step=1e-3):
    """A function that resets and runs MuJoCo (RK4), and returns the angles of the cranks at the end.

    Loops are closed by stiff equality constraints, which MuJoCo regularizes.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(_mjcf(loops, step))
    data = mujoco.MjData(model)
    cranks = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"phi{i}") for i in range(loops + 1)]
    places, speeds = model.jnt_qposadr[cranks], model.jnt_dofadr[cranks]
    couplers = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"psi{i}") for i in range(1, loops + 1)]
    leaning, swinging = model.jnt_qposadr[couplers], model.jnt_dofadr[couplers]

    def run():
        mujoco.mj_resetData(model, data)
        data.qpos[places], data.qvel[speeds] = np.pi / 2, -1.0
        data.qpos[leaning], data.qvel[swinging] = -np.pi / 2, 1.0  # relative to their cranks
        mujoco.mj_step(model, data, nstep=round(seconds / step))
        return data.qpos[places].copy()

    return run


def _mjcf(loops, step):
    """Cranks turn about -y, so that their angles count from the horizontal; couplers hang on cranks."""
    rod = '<inertial pos="0.5 0 0" mass="1" diaginertia="1e-6 0.08333333333333333 0.08333333333333333"/>'
    bodies = []
    for i in range(loops + 1):
        hinge = '<joint name="{}" type="hinge" axis="0 -1 0"/>'
        coupler = ""
        if i < loops:
            coupler = f'<body name="b{i + 1}" pos="1 0 0">{hinge.format(f"psi{i + 1}")}{rod}</body>'
        bodies.append(f'<body name="a{i}" pos="{i} 0 0">{hinge.format(f"phi{i}")}{rod}{coupler}</body>')
    closed = [
        f'<connect body1="b{i}" body2="a{i}" anchor="1 0 0" solref="{2 * step} 1" solimp="0.9999 0.9999 0.001"/>'
        for i in range(1, loops + 1)
    ]
    return f"""<mujoco><compiler angle="radian"/>
<option timestep="{step}" integrator="RK4" gravity="0 0 -9.81" tolerance="1e-12" iterations="100"/>
<worldbody>{"".join(bodies)}</worldbody><equality>{"".join(closed)}</equality></mujoco>"""


def exudyn_run(loops, seconds, step=1e-3):
    """A function that runs the chain in Exudyn (generalized alpha, sparse solver), with the same result.

    The solver starts from the initial values that `Assemble` stores, so a repeated run builds nothing.
    """
    import exudyn as exu
    from exudyn import itemInterface as item

    container = exu.SystemContainer()  # owns the system
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    cranks = [_rod(system, item, (i, 0.5), np.pi / 2, (0.5, 0.0), -1.0) for i in range(loops + 1)]
    couplers = [_rod(system, item, (i + 0.5, 1.0), 0.0, (1.0, 0.0), 0.0) for i in range(loops)]
    for i, (_, body) in enumerate(cranks):
        _pin(system, item, ground, (i, 0, 0), body, (-0.5, 0, 0))
    for i, (_, body) in enumerate(couplers):
        _pin(system, item, cranks[i][1], (0.5, 0, 0), body, (-0.5, 0, 0))
        _pin(system, item, cranks[i + 1][1], (0.5, 0, 0), body, (0.5, 0, 0))
    system.Assemble()
    settings = exudyn_settings(exu, step, round(seconds / step))
    settings.linearSolverType = exu.LinearSolverType.EigenSparse

    def run(container=container):
        system.SolveDynamic(settings)
        turned = [system.GetNodeOutput(node, exu.OutputVariableType.Rotation) for node, _ in cranks]
        return np.array([float(np.ravel(angle)[-1]) for angle in turned])

    return run


def exudyn_settings(exu, step, count):
    """Steps without output."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = count, count * step
    settings.timeIntegration.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    return settings


def _rod(system, item, place, angle, velocity, turning):
    """A rod of 1 m and 1 kg with its center at a place: node and body."""
    node = system.AddNode(
        item.NodeRigidBody2D(referenceCoordinates=[*place, angle], initialVelocities=[*velocity, turning])
    )
    body = system.AddObject(item.ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
    center = system.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    system.AddLoad(item.LoadMassProportional(markerNumber=center, loadVector=[0, -9.81, 0]))
    return node, body


def _pin(system, item, first, there, second, here):
    """A revolute joint between points of two bodies."""
    markers = [
        system.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=list(point)))
        for body, point in ((first, there), (second, here))
    ]
    system.AddObject(item.ObjectJointRevolute2D(markerNumbers=markers))


def drake_run(loops, seconds, step=1e-3):
    """A function that runs Drake's discrete `MultibodyPlant` (SAP solver), with the same result.

    Loops are closed by ball constraints, which only the discrete plant has. It is of first order in the step.
    """
    from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
    from pydrake.systems.analysis import Simulator

    plant = MultibodyPlant(step)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    cranks, couplers = _drake_rods(plant, loops)
    plant.mutable_gravity_field().set_gravity_vector(np.array([0.0, 0.0, -9.81]))
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()

    def run():
        context.SetTime(0.0)
        for joints, angle, speed in ((cranks, np.pi / 2, -1.0), (couplers, -np.pi / 2, 1.0)):  # relative to the cranks
            for joint in joints:
                joint.set_angle(context, angle)
                joint.set_angular_rate(context, speed)
        simulator.Initialize()
        simulator.AdvanceTo(seconds)
        return np.array([joint.get_angle(context) for joint in cranks])

    return run


def _drake_rods(plant, loops):
    """The joints of the cranks and of the couplers, which hang on cranks; all turn about -y."""
    from pydrake.math import RigidTransform
    from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia

    center, thin = np.array([0.5, 0.0, 0.0]), RotationalInertia(1e-6, 1 / 12, 1 / 12)
    rod = SpatialInertia.MakeFromCentralInertia(1.0, center, thin)
    rods = {}

    def joint(name, parent, place):
        rods[name] = plant.AddRigidBody(name, rod)
        frame = plant.AddFrame(FixedOffsetFrame(f"{name} pivot", parent.body_frame(), RigidTransform(place)))
        return plant.AddJoint(RevoluteJoint(f"{name} joint", frame, rods[name].body_frame(), [0.0, -1.0, 0.0]))

    cranks = [joint(f"phi{i}", plant.world_body(), [float(i), 0.0, 0.0]) for i in range(loops + 1)]
    couplers = [joint(f"psi{i + 1}", rods[f"phi{i}"], [1.0, 0.0, 0.0]) for i in range(loops)]
    for i in range(1, loops + 1):
        plant.AddBallConstraint(rods[f"psi{i}"], [1.0, 0.0, 0.0], rods[f"phi{i}"], [1.0, 0.0, 0.0])
    return cranks, couplers
