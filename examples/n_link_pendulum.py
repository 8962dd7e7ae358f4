"""A chain of n point masses on n massless rods, in Cartesian coordinates: 2n coordinates, n constraints.

    (x_k - x_{k-1})² + (y_k - y_{k-1})² = l²,   k = 1 ... n

Its small oscillations are known exactly: ω² = (g/l) Λ with Λ a root of the Laguerre polynomial L_n, and in that mode
the mass number k swings with the amplitude L_{n-k}(Λ). The first mode is started with a very small amplitude and timed.
"""

import numpy as np
from scipy.special import eval_laguerre, roots_laguerre
from sympy import symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

LINKS = 5
x = dynamicsymbols(f"x1:{LINKS + 1}")  # positions of the masses, from the top down [m]
y = dynamicsymbols(f"y1:{LINKS + 1}")
m, g, l = symbols("m g l")
MASS, GRAVITY, LENGTH = 0.2, 9.81, 0.3  # of each link [kg], [m/s²], [m]


def system():
    rods = []
    for k in range(LINKS):
        across = x[k] - x[k - 1] if k else x[k]
        down = y[k] - y[k - 1] if k else y[k]
        rods.append(vn.Holonomic((across**2 + down**2 - l**2) / 2, name=f"rod {k + 1}"))
    return vn.System(
        coordinates=[*x, *y],
        kinetic_energy=sum(m * (a.diff() ** 2 + b.diff() ** 2) / 2 for a, b in zip(x, y, strict=True)),
        potential_energy=sum(m * g * b for b in y),
        constraints=rods,
        parameters={m: MASS, g: GRAVITY, l: LENGTH},
        name=f"pendulum of {LINKS} links",
    )


def run():
    """The motion after a release from the horizontal, and {quantity: (found, exact)}."""
    equations = vn.derive(system())
    numbers = np.arange(1, LINKS + 1)
    stretched = dict(zip(x, numbers * LENGTH, strict=True)) | dict.fromkeys(y, 0.0)
    motion = vn.simulate(equations, initial=stretched, times=(0, 6))

    root = roots_laguerre(LINKS)[0][0]
    mode = dict(zip(x, 1e-6 * eval_laguerre(LINKS - numbers, root), strict=True))
    hanging = dict(zip(y, -numbers * LENGTH, strict=True))
    swing = vn.simulate(equations, mode | hanging, (0, 6), fixed=x, events=[vn.Event(x[-1], name="passage")])
    passages = [event.time for event in swing.events]
    period = 2 * (passages[-1] - passages[0]) / (len(passages) - 1)
    return motion, {"period of the first mode [s]": (period, 2 * np.pi / np.sqrt(root * GRAVITY / LENGTH))}


def picture(path):
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    clock = ScalarMappable(cmap="viridis_r")
    clock.set_clim(0, 1)  # the first second
    first = motion.t <= 1.0
    axes.plot(motion[x[-1]][first], motion[y[-1]][first], color="tab:red", lw=1, label="path of the last mass")
    for shot in np.flatnonzero(first)[::12]:
        chain = [[0, *(motion[q][shot] for q in axis)] for axis in (x, y)]
        axes.plot(*chain, "o-", color=clock.to_rgba(motion.t[shot]), ms=4, lw=1.5)
    axes.plot(0, 0, "s", color="black", ms=8)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title=f"{LINKS} links released from the horizontal")
    axes.legend(loc="upper left", frameon=False)
    figure.colorbar(clock, ax=axes, label="t [s]")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
