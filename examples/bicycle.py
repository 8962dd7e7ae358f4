"""The bicycle of Whipple (1899), not linearized: four bodies, two wheels that roll, hands off the handlebar.

Numbers and published results: Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982. The axes
are theirs: x ahead, y to the right, z down. With the lean φ and the steer δ their linear equations at the speed v are

    M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0,    q = (φ, δ),

and the bicycle rides upright by itself between the speeds at which the weave and the capsize mode change their sign.
"""

import numpy as np
from sympy import Matrix, cos, rot_ccw_axis1, rot_ccw_axis2, rot_ccw_axis3, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y, psi = dynamicsymbols("x y psi")  # rear contact [m] and heading [rad]
phi, theta, delta = dynamicsymbols("phi theta delta")  # lean, pitch and steer [rad]
chi_r, chi_f, epsilon = dynamicsymbols("chi_r chi_f epsilon")  # wheels, and the contact on the front rim [rad]
w, c, tilt, g, r_r, r_f = symbols("w c tilt g r_r r_f")  # wheelbase, trail, tilt of the steering axis, wheel radii
NUMBERS = {w: 1.02, c: 0.08, tilt: np.pi / 10, g: 9.81, r_r: 0.3, r_f: 0.35}
DOWN, RIGHT = Matrix([0, 0, 1]), Matrix([0, 1, 0])

lean = rot_ccw_axis1(phi)  # to the axes of heading, those of the leaning rear wheel, the frame and the front
frame = lean * rot_ccw_axis2(theta)
front = frame * rot_ccw_axis2(tilt) * rot_ccw_axis3(delta) * rot_ccw_axis2(-tilt)
rear_center = -r_r * lean * DOWN
head = rear_center + frame * Matrix([w + c, 0, r_r])  # where the steering axis would meet the ground
front_center = head + front * Matrix([-c, 0, -r_f])
contact = front_center + r_f * front * Matrix([sin(epsilon), 0, cos(epsilon)])


def velocity(place):
    """Velocity of a point, in the axes of heading."""
    ahead, right = x.diff() * cos(psi) + y.diff() * sin(psi), -x.diff() * sin(psi) + y.diff() * cos(psi)
    return Matrix([ahead, right, 0]) + place.diff(t) + psi.diff() * DOWN.cross(place)


def turning(axes, rolling=0):
    """Angular velocity in the body's own axes; a wheel that rolls ahead turns against the y axis."""
    skew = axes.T * axes.diff(t)
    return Matrix([skew[2, 1], skew[0, 2], skew[1, 0]]) + psi.diff() * axes.T * DOWN - rolling * RIGHT


def bodies():
    """Mass, tensor of inertia, place of the center, angular velocity."""
    trunk = Matrix([[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]])
    bar = Matrix([[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]])
    return [
        (2, Matrix.diag(0.0603, 0.12, 0.0603), rear_center, turning(lean, chi_r.diff())),
        (85, trunk, rear_center + frame * Matrix([0.3, 0, r_r - 0.9]), turning(frame)),
        (4, bar, head + front * Matrix([0.9 - w - c, 0, -0.7]), turning(front)),
        (3, Matrix.diag(0.1405, 0.28, 0.1405), front_center, turning(front, chi_f.diff())),
    ]


def system():
    slip = velocity(front_center) + front * turning(front, chi_f.diff()).cross(front.T * (contact - front_center))
    rear = velocity(Matrix([0, 0, 0]))
    return vn.System(
        coordinates=[x, y, psi, phi, theta, delta, chi_r, chi_f, epsilon],
        kinetic_energy=sum((m * velocity(s).dot(velocity(s)) + o.dot(J * o)) / 2 for m, J, s, o in bodies()),
        potential_energy=-g * sum(m * s[2] for m, _, s, _ in bodies()),
        constraints=[
            vn.Holonomic(contact[2], name="front wheel on the floor"),
            vn.Holonomic(contact.diff(epsilon)[2], name="lowest point"),
            vn.Nonholonomic(rear[0] - r_r * chi_r.diff(), name="rear wheel ahead"),
            vn.Nonholonomic(rear[1], name="rear wheel aside"),
            vn.Nonholonomic(slip[0], name="front wheel ahead"),
            vn.Nonholonomic(slip[1], name="front wheel aside"),
        ],
        parameters=NUMBERS,
        name="bicycle",
    )


M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])  # published, of (φ, δ)
C1 = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837  # published speeds at which a mode changes its sign [m/s]
SPEED, LEAN = 5.0, 0.1  # [m/s], [rad]
STRAIGHT = {phi: 0.0, delta: 0.0}
MODES = {"capsize": -0.3, "weave": -0.8 + 4.5j, "caster": -14.1}  # names, by numbers near the roots at 5 m/s


def published_roots(speed):
    """The roots of the published linear equations, rightmost first: capsize, weave (two), caster."""
    damping, stiffness = speed * C1, 9.81 * K0 + speed**2 * K2
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, stiffness), -np.linalg.solve(M, damping)]])
    return sorted(np.linalg.eigvals(A), key=lambda root: -root.real)


def circle(equations):
    """Riding in a circle with a given lean, hands off: steer and speed are found."""
    near = {delta: 0.03, psi.diff(): 0.16, x.diff(): 6.0, chi_r.diff(): 20.0, chi_f.diff(): 17.0}
    return vn.steady(equations, {phi: LEAN}, near=near, starts=0)


def run():
    """Riding by itself after a push to the side, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    ride = vn.steady(equations, STRAIGHT | {chi_r.diff(): SPEED / 0.3}, starts=0)
    linear = vn.linearize(equations, at=ride).named(MODES)
    capsize, weave, caster = (mode.root for mode in linear.modes)
    exact = published_roots(SPEED)
    wheel = (2.0 / 0.3, 8.0 / 0.3)
    first, last = vn.hurwitz.stability_borders(equations, STRAIGHT, chi_r.diff(), wheel, points=7, named=linear)
    turn, model = circle(equations), equations.system
    circling = vn.simulate(equations, {q: turn[q] for q in (*model.coordinates, *model.velocities)}, times=(0, 2))
    start = dict.fromkeys((x, y, psi, phi, theta, delta, chi_r, chi_f, epsilon, delta.diff()), 0.0)
    motion = vn.simulate(equations, start | {phi.diff(): 0.3, chi_r.diff(): SPEED / 0.3}, times=(0, 4))
    return motion, {
        f"becomes stable by its {first.mode.name} mode at the speed [m/s]": (0.3 * first.value, WEAVE),
        f"ceases to be stable by its {last.mode.name} mode at the speed [m/s]": (0.3 * last.value, CAPSIZE),
        "capsize [1/s]": (capsize.real, exact[0].real),
        "weave, real part [1/s]": (weave.real, exact[1].real),
        "weave, frequency [rad/s]": (abs(weave.imag), abs(exact[1].imag)),
        "caster [1/s]": (caster.real, exact[3].real),
        "lean after two seconds in the circle [rad]": (circling[phi][-1], LEAN),
    }


def picture(path):
    from matplotlib.figure import Figure

    speeds = np.linspace(0.0, 10.0, 400)
    found = np.array([published_roots(speed) for speed in speeds])
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(speeds, found.real, ".", ms=2, color="tab:blue")
    axes.plot(speeds, np.abs(found.imag), ".", ms=2, color="lightgray")
    axes.axvspan(WEAVE, CAPSIZE, color="tab:green", alpha=0.2, label="stable by itself")
    axes.axhline(0, color="black", lw=0.8)
    axes.set(
        xlabel="speed [m/s]",
        ylabel="roots [1/s]",
        ylim=(-10, 10),
        title="The benchmark bicycle, hands off (published equations)",
    )
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
