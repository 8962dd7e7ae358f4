"""A ball rolls on a turning table. Its center moves in circles, more slowly than the table turns:

    ẋ - r ω_y = -Ω y,   ẏ + r ω_x = Ω x    (rolling: the ball's lowest point moves with the table)
    v̇ = ν k × v,   ν = Ω I / (I + m r²)

For a homogeneous ball ν is 2/7 of the table's rate, for any size, mass and speed. The ball's orientation is
a unit quaternion e, so no position is singular: ω = 2 (e₀ ė - ė₀ e + e × ė) and |ω|² = 4 |ė|².
"""

import numpy as np
from sympy import Matrix, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")  # place of the center above the table [m]
e = dynamicsymbols("e0:4")  # orientation of the ball
m, I, r, Omega = symbols("m I r Omega")
MASS, RADIUS = 1.5, 0.1  # [kg], [m]
INERTIA = 2 / 5 * MASS * RADIUS**2  # a homogeneous ball [kg m²]
TABLE = 3.5  # the table's rate Ω [rad/s]


def system():
    vector = Matrix(e[1:])
    omega = 2 * (e[0] * vector.diff() - e[0].diff() * vector + vector.cross(vector.diff()))
    spinning = 4 * sum(component.diff() ** 2 for component in e)
    return vn.System(
        coordinates=[x, y, *e],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2 + I * spinning / 2,
        constraints=[
            vn.Holonomic(sum(component**2 for component in e) - 1, name="unit quaternion"),
            vn.Nonholonomic(x.diff() - r * omega[1] + Omega * y, name="rolling x"),
            vn.Nonholonomic(y.diff() + r * omega[0] - Omega * x, name="rolling y"),
        ],
        parameters={m: MASS, I: INERTIA, r: RADIUS, Omega: TABLE},
        name="ball on a turntable",
    )


START = {x: 0.5, y: 0.0, x.diff(): 0.2, y.diff(): 0.5}  # [m], [m/s]
RATE = TABLE * INERTIA / (INERTIA + MASS * RADIUS**2)  # ν [rad/s]
MIDDLE = (START[x] - START[y.diff()] / RATE, START[y] + START[x.diff()] / RATE)  # of the circle: p + k × v / ν


def run():
    """The motion while the ball goes round twice, and {quantity: (found, exact)}."""
    unturned = dict(zip(e, (1.0, 0.0, 0.0, 0.0), strict=True))
    motion = vn.simulate(vn.derive(system()), initial=START | unturned, times=(0, 4 * np.pi / RATE))
    direction = np.unwrap(np.arctan2(motion[y.diff()], motion[x.diff()]))
    distance = np.hypot(motion[x] - MIDDLE[0], motion[y] - MIDDLE[1])
    return motion, {
        "rate of the ball over rate of the table": (np.ptp(direction) / motion.t[-1] / TABLE, 2 / 7),
        "radius of the circle at the end [m]": (distance[-1], np.hypot(0.2, 0.5) / RATE),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    room = motion[x] + 1j * motion[y]
    table = room * np.exp(-1j * TABLE * motion.t)
    rim = 0.8 * np.exp(2j * np.pi * np.linspace(0, 1, 200))
    titles = ["In the room: a circle, twice", "On the table: a rosette, in seven turns"]
    for axes, trace, title in zip(panels, (room, table), titles, strict=True):
        axes.fill(rim.real, rim.imag, color="0.93")
        axes.plot(trace.real, trace.imag, color="tab:blue", lw=1.5)
        axes.plot(trace.real[0], trace.imag[0], "o", color="tab:red", ms=9, label="start")
        axes.plot(0, 0, "k+", ms=10, label="axis of the table")
        axes.set(aspect="equal", xlabel="x [m]", title=title)
    panels[0].set_ylabel("y [m]")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
