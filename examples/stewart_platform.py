"""A Stewart platform: six sliding legs between base and platform, as loops on a tree of bodies.

The platform moves freely (its rotation is a unit quaternion, which has no singularity); each leg stands on the base
with a universal joint, slides, and its end is closed onto the platform. 6·3 + 7 coordinates, one norm and eighteen
loop conditions leave six degrees of freedom. In the middle position, by symmetry, six equal forces along the legs
carry the weight, 6 F cos(lean) = (m_platform + 6 m_rod) g. The example checks this force, and the energy of a fall
with a push to the side.
"""

import numpy as np
from sympy import symbols

import vinculum as vn

RADIUS, TOP, HEIGHT = 0.6, 0.3, 0.8  # base and platform circles, height of the middle position [m]
MASS, ROD = 10.0, 0.5  # platform and moving rods [kg]
forces = symbols("f1:7")  # along the legs [N]
FEET = np.array([RADIUS * np.array([np.cos(a), np.sin(a), 0]) for a in np.radians([-10, 10, 110, 130, 230, 250])])
HEADS = np.array([TOP * np.array([np.cos(a), np.sin(a), 0]) for a in np.radians([-50, 50, 70, 170, 190, 290])])
LEGS = HEADS + np.array([0, 0, HEIGHT]) - FEET
LENGTH = float(np.linalg.norm(LEGS[0]))


def leg(k):
    """Two bodies: a massless cylinder on a universal joint, turned along the leg, and the rod that slides in it."""
    z = LEGS[k] / LENGTH
    x = np.cross((0, 0, 1.0), z)
    x /= np.linalg.norm(x)
    frame = np.column_stack([x, np.cross(z, x), z])
    thin = dict(mass=ROD, inertia=(0.01, 0.01, 0.001))
    cylinder = vn.Body(
        f"cylinder{k + 1}", None, joint="universal", axis=((1, 0, 0), (0, 1, 0)), origin=tuple(FEET[k]), rotation=frame,
        **thin,
    )  # fmt: skip
    rod = vn.Body(
        f"rod{k + 1}", f"cylinder{k + 1}", joint="prismatic", axis=(0, 0, 1), origin=(0, 0, LENGTH), torque=forces[k],
        **thin,
    )  # fmt: skip
    return [cylinder, rod]


def tree():
    platform = vn.Body("platform", None, joint="free", origin=(0, 0, HEIGHT), mass=MASS, inertia=(0.3, 0.3, 0.5))
    bodies = [platform, *(body for k in range(6) for body in leg(k))]
    loops = [vn.bodies.Loop(f"rod{k + 1}", "platform", other_point=tuple(HEADS[k])) for k in range(6)]
    return vn.BodyTree(bodies, loops=loops, name="Stewart platform")


def system():
    return tree().system()


def holding_force():
    """Virtual work of lifting by dz, each leg longer by dz·cos(lean): 6 F cos(lean) = (m_platform + 6 m_rod) g."""
    return (MASS + 6 * ROD) * 9.81 / (6 * LEGS[0][2] / LENGTH)


def run():
    """The motion, and {quantity: (found, exact)}."""
    model = system()
    platform = model.bodies.body("platform").coordinates
    pushed = {platform[3]: 1.0, platform[0].diff(): 0.5, platform[1].diff(): 0.3}
    equations = vn.derive(model, at=_rest(model))
    held = equations.accelerations(_rest(model) | dict.fromkeys(forces, holding_force()))
    motion = vn.simulate(equations, initial=pushed, times=(0, 0.3), inputs=dict.fromkeys(forces, 0))
    return motion, {
        "largest acceleration when held": (max(map(abs, held.values())), 0.0),
        "energy error of the fall": (motion.energy_error, 0.0),
        "largest residual of the loops": (max(motion.largest_residuals.values()), 0.0),
    }


def _rest(model):
    state = dict.fromkeys((*model.coordinates, *model.velocities, *forces), 0.0)
    return state | {model.bodies.body("platform").coordinates[3]: 1.0}


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    axes = (figure := Figure(figsize=(7, 4), layout="constrained")).subplots()
    for k in range(6):
        axes.plot(motion.t, LENGTH + motion[tree().body(f"rod{k + 1}").coordinates[0]], label=f"leg {k + 1}")
    axes.set(xlabel="t [s]", ylabel="length [m]", title="Legs of a falling Stewart platform")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
