"""A ball rolls on a turning table. Its center goes round in circles, and not once per turn of the table:

    ẋ - r ω_y = -Ω y,   ẏ + r ω_x = Ω x    (rolling: the ball's lowest point moves with the table)
    v̇ = ν k × v,   ν = Ω I / (I + m r²)

which for a homogeneous ball is 2/7 of the table's rate, whatever its size, mass and speed. The ball's orientation is a unit
quaternion e, so no position is singular: ω = 2 (e₀ ė - ė₀ e + e × ė) and |ω|² = 4 |ė|².
"""

import numpy as np
from sympy import Matrix, symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, y = dynamicsymbols("x y")  # place of the center above the table [m]
e = dynamicsymbols("e0:4")  # orientation of the ball
m, I, r, Omega = symbols("m I r Omega")
MASS, RADIUS = 0.1, 0.02  # [kg], [m]
INERTIA = 2 / 5 * MASS * RADIUS**2  # a homogeneous ball [kg m²]
TABLE = 7.0  # the table's rate Ω [rad/s]


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


def run():
    """The motion, and {quantity: (found, exact)}."""
    upright = dict(zip(e, (1.0, 0.0, 0.0, 0.0), strict=True))
    thrown = {x: 0.15, y: 0.0, x.diff(): 0.1, y.diff(): 0.2}  # [m], [m/s]
    motion = vn.simulate(vn.derive(system()), initial=upright | thrown, times=(0, 10))
    direction = np.unwrap(np.arctan2(motion[y.diff()], motion[x.diff()]))
    rate = TABLE * INERTIA / (INERTIA + MASS * RADIUS**2)
    across, along = circle(motion)
    return motion, {
        "rate of the center over rate of the table": ((direction[-1] - direction[0]) / 10 / TABLE, 2 / 7),
        "radius of the circle at the end [m]": (np.hypot(across, along)[-1], np.hypot(0.1, 0.2) / rate),
    }


def circle(motion):
    """Place of the center, seen from the middle of the circle it must describe."""
    rate = 2 / 7 * TABLE
    middle = (0.15 - 0.2 / rate, 0.1 / rate)  # p + k × v / ν at the start
    return motion[x] - middle[0], motion[y] - middle[1]


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    room, table = figure.subplots(1, 2, sharex=True, sharey=True)
    seen = (motion[x] + 1j * motion[y]) * np.exp(-1j * TABLE * motion.t)  # on the turning table
    for axes, path_x, path_y in [(room, motion[x], motion[y]), (table, seen.real, seen.imag)]:
        rim = np.exp(2j * np.pi * np.linspace(0, 1, 200)) * 0.27
        axes.fill(rim.real, rim.imag, color="0.93")
        axes.plot(path_x, path_y, color="tab:blue", lw=1.5)
        axes.plot(path_x[0], path_y[0], "o", color="tab:red", ms=9)
        axes.plot(0, 0, "k+", ms=10)
        axes.set(aspect="equal", xlabel="x [m]")
    room.set(ylabel="y [m]", title="In the room: a circle")
    table.set(title="On the table: a rosette")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    motion, numbers = run()
    print(motion)
    for quantity, (found, exact) in numbers.items():
        print(f"{quantity}: {found:.14g}, exact {exact:.14g}")
