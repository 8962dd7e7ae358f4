"""A planar 3-RRR parallel robot as loops on a tree of bodies.

Three legs of two bars stand on a circle and carry a triangular platform. The platform hangs on the end of leg 1;
its corners 2 and 3 are closed onto the ends of the other legs. Seven coordinates less four loop conditions leave
three degrees of freedom. Three things are checked: the energy of the free motion in a vertical plane, that the loops
stay closed, and that the accelerations are the same with multipliers and with the multipliers eliminated (Lyapunov).
"""

import numpy as np

import vinculum as vn

BASE, PLATFORM, PROXIMAL, DISTAL = 0.5, 0.15, 0.35, 0.4  # radii and lengths [m]
CORNERS = [2 * np.pi * k / 3 + np.pi / 2 for k in range(3)]


def bar(name, parent, origin, length, **options):
    """A uniform bar of 2 kg/m along x that turns about z."""
    m = 2.0 * length
    inertia = (0, m * length**2 / 12, m * length**2 / 12)
    return vn.Body(name, parent, origin=origin, mass=m, center_of_mass=(length / 2, 0, 0), inertia=inertia, **options)


def corner(k):
    """Corner k of the platform from corner 1, in the platform's frame."""
    place = PLATFORM * np.exp(1j * np.array(CORNERS))
    return (float((place[k] - place[0]).real), float((place[k] - place[0]).imag), 0)


def tree():
    bodies = []
    for k, angle in enumerate(CORNERS, start=1):
        foot = (BASE * np.cos(angle), BASE * np.sin(angle), 0)
        bodies += [bar(f"upper{k}", None, foot, PROXIMAL), bar(f"lower{k}", f"upper{k}", (PROXIMAL, 0, 0), DISTAL)]
    center = PLATFORM * np.exp(1j * CORNERS[0])
    plate = dict(mass=1.0, center_of_mass=(-center.real, -center.imag, 0), inertia=(0.005, 0.005, 0.01))
    bodies.append(vn.Body("platform", "lower1", origin=(DISTAL, 0, 0), **plate))
    loops = [vn.bodies.Loop("platform", f"lower{k}", point=corner(k - 1), other_point=(DISTAL, 0, 0)) for k in (2, 3)]
    return vn.BodyTree(bodies, gravity=(0, -9.81, 0), loops=loops, name="3-RRR")


def system():
    return tree().system()


def start(robot):
    """A first guess with the platform in the middle; the loops are closed by the start of the simulation."""
    guess = {}
    for k, angle in enumerate(CORNERS, start=1):
        foot, end = BASE * np.exp(1j * angle), PLATFORM * np.exp(1j * angle)
        reach = end - foot
        bend = np.arccos((PROXIMAL**2 + abs(reach) ** 2 - DISTAL**2) / (2 * PROXIMAL * abs(reach)))
        upper = np.angle(reach) + bend
        elbow = foot + PROXIMAL * np.exp(1j * upper)
        lower = np.angle(end - elbow) - upper
        names = robot.body(f"upper{k}").coordinates[0], robot.body(f"lower{k}").coordinates[0]
        guess |= dict(zip(names, (float(upper), float(lower)), strict=True))
        if k == 1:
            guess[robot.body("platform").coordinates[0]] = -float(np.angle(end - elbow))
    return guess


def run():
    """The motion, and {quantity: (found, exact)}."""
    model = system()
    equations, other = vn.derive(model), vn.derive(model, form="lyapunov")
    motion = vn.simulate(equations, initial=start(model.bodies), fixed=[], times=(0, 0.5))
    state = {key: float(motion[key][-1]) for key in equations.states}
    one, two = (np.array(list(e.accelerations(state).values())) for e in (equations, other))
    return motion, {
        "energy error": (motion.energy_error, 0.0),
        "largest residual of the loops": (max(motion.largest_residuals.values()), 0.0),
        "difference of two forms, relative": (float(np.abs(one - two).max() / np.abs(one).max()), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    robot = tree()
    motion, _ = run()
    q = np.column_stack([motion[x] for x in robot.coordinates])
    arm = vn.bodies.dynamics(robot)
    axes = (figure := Figure(figsize=(6, 6), layout="constrained")).subplots()
    for row in q[:: len(q) // 6]:
        for k in (1, 2, 3):
            bars = [arm.position(f"upper{k}", row), arm.position(f"lower{k}", row)]
            bars.append(arm.position(f"lower{k}", row, (DISTAL, 0, 0)))
            axes.plot(*np.array(bars)[:, :2].T, "o-", color="tab:blue", alpha=0.5)
        plate = np.array([arm.position("platform", row, corner(k % 3)) for k in range(4)])
        axes.plot(*plate[:, :2].T, color="tab:red", alpha=0.7)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="3-RRR robot falling")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
