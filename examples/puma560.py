"""The PUMA 560 (parameters of Corke and Armstrong-Hélouvry 1994): free fall, a path by computed torque, a moving base.

The arm falls for a second from its nominal pose without friction, and its energy must stay constant. Then computed
torque drives the same arm along a path of all six joints,  τ = M(q)(q̈_d + k_d ė + k_p e) + h(q, q̇),  while its base
sways: h contains the motion of the base, so the arm tracks the path as if the floor were still. (Links 1 and 3 have
published inertias that no rigid body has; hence ``identified=True``.)
"""

import numpy as np
from sympy import cos, pi, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

q = dynamicsymbols("q1:7")
u = symbols("u1:7")  # joint torques [N m]
COLUMNS = ("d", "a", "alpha", "mass", "center_of_mass", "inertia", "rotor_inertia", "gear_ratio")
LINKS = [dict(zip(COLUMNS, row, strict=True)) for row in [
    (0.672, 0.0, pi / 2, 0.0, (0, 0, 0), (0, 0.35, 0), 2e-4, -62.6111),
    (0.0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 2e-4, 107.815),
    (0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125), 2e-4, -53.7063),
    (0.4318, 0.0, pi / 2, 0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018), 3.3e-5, 76.0364),
    (0.0, 0.0, -pi / 2, 0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003), 3.3e-5, 71.923),
    (0.0, 0.0, 0, 0.09, (0, 0, 0.032), (0.00015, 0.00015, 4e-5), 3.3e-5, 76.686),
]]  # fmt: skip
VISCOUS = (0.00148, 0.000817, 0.00138, 7.12e-05, 8.26e-05, 3.67e-05)  # at the motor [N m s]
COULOMB = [(0.395, 0.435), (0.126, 0.071), (0.132, 0.105), (0.0112, 0.0169), (0.00926, 0.0145), (0.00396, 0.0105)]
NOMINAL = dict(zip(q, (0, np.pi / 4, np.pi, 0, np.pi / 4, 0), strict=True))


def tree(friction=False, driven=False, **base):
    rows = []
    for i, link in enumerate(LINKS):
        G = abs(link["gear_ratio"])
        losses = dict(damping=VISCOUS[i] * G**2, friction=tuple(c * G for c in COULOMB[i])) if friction else {}
        rows.append(link | losses | dict(name=f"link{i + 1}", angle=q[i], identified=True))
        rows[-1]["torque"] = u[i] if driven else None
    return vn.BodyTree(vn.bodies.denavit_hartenberg(rows), name="PUMA 560", **base)


def system():
    return tree().system()


def path():
    """q_d(t): every joint swings about the nominal pose, at rest at t = 0."""
    return [NOMINAL[x] + (1 - cos((2 + i / 2) * t)) / 5 for i, x in enumerate(q)]


def swaying():
    """The arm on a base that sways and yaws."""
    return tree(driven=True, base_velocity=(sin(3 * t), 0, cos(2 * t) / 2), base_angular_velocity=(0, 0, sin(t)))


def run():
    """The free fall, and {quantity: (found, exact)}."""
    fall = vn.simulate(vn.derive(system()), initial=NOMINAL, times=(0, 1))
    arm = swaying()
    laws = vn.bodies.computed_torque(arm, dict(zip(q, path(), strict=True)), frequency=20.0)
    driven = vn.simulate(vn.derive(arm.system()), initial=NOMINAL, times=np.linspace(0, 2, 101), inputs=laws)
    desired = np.array([[float(x.subs(t, s)) for x in path()] for s in driven.t])
    error = np.abs(np.column_stack([driven[x] for x in q]) - desired).max()
    return fall, {
        "relative energy error of the fall": (fall.energy_error, 0.0),
        "elbow after one second [rad]": (fall[q[2]][-1], 5.25027137),
        "greatest error along the path [rad]": (error, 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    fall, _ = run()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for x in q[:3]:
        axes.plot(fall.t, fall[x], label=str(x.func))
    axes.set(xlabel="t [s]", ylabel="joint angle [rad]", title="PUMA 560 falling from its nominal pose")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
