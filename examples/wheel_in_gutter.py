"""A wheel with a pendulum on its axle rolls in a gutter z = p(x), over a hump between two hollows.

The mass of the wheel is in its rim. The angle α points from the axle (x, z) to the contact point, at
x_a = x + r cos α, z_a = z + r sin α; θ is the rotation of the wheel and φ the angle of the pendulum:

    z_a - p(x_a) = 0,   p'(x_a) sin α + cos α = 0,   -ẋ sin α + ż cos α + r θ̇ = 0.

The problem is that of Pesterev, Matrosov and Morozov, with the brackets restored in their formula of the gutter. The
constraint pulls as well as pushes; a real gutter only pushes. The event "lift-off" marks where the reaction changes
sign. The reference values come from an integration with 256-bit numbers.
"""

import numpy as np
from sympy import Dummy, cos, sin, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, z, theta, phi, alpha = dynamicsymbols("x z theta phi alpha")
M, m, r, l, g = symbols("M m r l g")
RIM, BOB, RADIUS, LENGTH, GRAVITY = 1.0, 0.5, 7 / 40, 7 / 50, 9.81  # [kg], [kg], [m], [m], [m/s²]
X_END, PHI_END = -0.669711984644959507, -5.66446543825066656  # at t = 2 s, to 18 digits


def gutter(s):
    return (100 * s**4 + 13 * s**3 - 50 * s**2 - 13 * s - 50) / 100


def residuals(profile=gutter):
    """The wheel touches the profile p, with a common tangent, and rolls."""
    s = Dummy("s")
    x_a, z_a = x + r * cos(alpha), z + r * sin(alpha)
    return {
        "contact": z_a - profile(s).subs(s, x_a),
        "tangency": profile(s).diff(s).subs(s, x_a) * sin(alpha) + cos(alpha),
        "rolling": -x.diff() * sin(alpha) + z.diff() * cos(alpha) + r * theta.diff(),
    }


def system(profile=gutter):
    zero = residuals(profile)
    rim = M * (x.diff() ** 2 + z.diff() ** 2 + r**2 * theta.diff() ** 2) / 2
    swing = l * phi.diff()
    bob = m * ((x.diff() + swing * cos(phi)) ** 2 + (z.diff() + swing * sin(phi)) ** 2) / 2
    return vn.System(
        coordinates=[x, z, theta, phi, alpha],
        kinetic_energy=rim + bob,
        potential_energy=M * g * z + m * g * (z - l * cos(phi)),
        constraints=[
            vn.Holonomic(zero["contact"], name="contact"),
            vn.Holonomic(zero["tangency"], name="tangency"),
            vn.Nonholonomic(zero["rolling"], name="rolling"),
        ],
        parameters={M: RIM, m: BOB, r: RADIUS, l: LENGTH, g: GRAVITY},
        name="wheel in a gutter",
    )


KNOWN = {x: 0.5056844986664722, theta: 0.0, phi: 3.4, x.diff(): 1.05, phi.diff(): -11.5}  # contact at x_a = 0.5
GUESS = {z: -0.4, alpha: -1.6}  # solved on the constraints, as are the other velocities


def run():
    """The motion, and {quantity: (found, exact)}."""
    motion = vn.simulate(
        vn.derive(system()),
        initial=KNOWN | GUESS,
        fixed=KNOWN,
        times=(0, 2),
        events=[vn.Event(vn.reaction("contact"), name="lift-off", direction="falling")],
    )
    return motion, {
        "place at t = 2 s [m]": (motion[x][-1], X_END),
        "pendulum angle at t = 2 s [rad]": (motion[phi][-1], PHI_END),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(8, 6), layout="constrained")
    plane, force = figure.subplots(2, 1, height_ratios=(2.2, 1))
    draw(plane, motion)
    force.plot(motion.t, motion.reactions["contact"], color="tab:blue")
    force.axhspan(-20, 0, color="tab:red", alpha=0.1, lw=0)
    force.text(1.98, -15, "a real wheel has left the gutter", color="tab:red", ha="right")
    force.set(xlabel="t [s]", ylabel="reaction λ [N]", xlim=(0, 2), ylim=(-20, None))
    figure.savefig(path, dpi=150)


def draw(axes, motion):
    """The wheel at a few instants, and the path of the pendulum's bob."""
    place = np.linspace(-0.95, 0.95, 200)
    axes.fill_between(place, gutter(place), -1.05, color="0.85")
    axes.plot(place, gutter(place), color="black", lw=1.5)
    axle = motion[x] + 1j * motion[z]
    bob = axle - 1j * LENGTH * np.exp(1j * motion[phi])
    axes.plot(bob.real, bob.imag, color="tab:orange", lw=1, label="path of the bob")
    for i in (0, 370, 470, 620, 1000):
        rim = axle[i] + RADIUS * np.exp(1j * (np.linspace(0, 2 * np.pi, 100) + motion[theta][i]))
        axes.plot(rim.real, rim.imag, "o-", color="tab:blue", lw=2, markevery=[0])  # the dot turns with the wheel
        axes.plot([axle[i].real, bob[i].real], [axle[i].imag, bob[i].imag], color="tab:orange", lw=2)
        axes.plot(bob[i].real, bob[i].imag, "o", color="tab:orange", ms=9)
    axes.set(aspect="equal", title="Wheel with pendulum in a gutter", xlabel="x [m]", ylabel="z [m]")
    axes.set(xlim=(-0.95, 0.95), ylim=(-0.75, 0.05))
    axes.legend(loc="upper center")


if __name__ == "__main__":
    from _show import show

    show(run)
