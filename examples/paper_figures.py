"""The figures of both papers on reactions and program constraints, drawn by one command.

    python examples/paper_figures.py [folder]

Pesterev, Matrosov, Morozov: 2 (x and z), 3 (path of the bob), 4 (φ), 5 (residuals and energy). Mukharlyamov,
Kirgizbaev: 1 (y = v₀ t e^{-kt}), 2 (deviations for k = 50, 300, 2050), and the admissible interval of k over the step.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import sympy as sp

import vinculum as vn

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))
from examples.program_on_an_ellipse import START, y
from examples.program_on_an_ellipse import program as ellipse
from examples.wheel_with_reactions import l, phi, program, start, x, z


@cache
def wheel_run(duration=200.0, step=1e-5):
    """The run of the paper: second-order Adams method, rate 1500."""
    equations = program(1500.0)
    return vn.simulate(equations, start(equations), (0, duration), "ab2", step=step)


def figure_of(draw, size=(7, 4)):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    return figure


def wheel_figures(motion):
    """{name: figure} of paper 003."""

    def places(axes):
        axes.plot(motion.t, motion[x], lw=0.7, label="x")
        axes.plot(motion.t, motion[z], lw=0.7, label="z")
        axes.set(xlabel="t")
        axes.legend()

    def bob(axes):
        axes.plot(motion[x + l * sp.sin(phi)], motion[z - l * sp.cos(phi)], lw=0.4)
        axes.set(xlabel="x", ylabel="z", aspect="equal")

    def angle(axes):
        axes.plot(motion.t, motion[phi], lw=0.7)
        axes.set(xlabel="t", ylabel="φ")

    def errors(axes):
        for name, label in (("contact", "f₁"), ("rolling", "f₂"), ("tangency", "f₃")):
            axes.plot(motion.t, motion.residuals[name, "position"], lw=0.6, label=label)
        axes.plot(motion.t, motion.energy - motion.energy[0], lw=0.6, label="energy error")
        axes.set(xlabel="t", yscale="symlog")
        axes.set_yscale("symlog", linthresh=1e-11)
        axes.legend()

    drawn = {"003_figure_2": places, "003_figure_3": bob, "003_figure_4": angle, "003_figure_5": errors}
    return {name: figure_of(draw) for name, draw in drawn.items()}


def program_figures():
    """{name: figure} of paper 004."""

    def forgotten(axes):
        t = np.linspace(0, 6, 301)
        for v0, k in ((1, 0.4), (2, 0.4), (3, 1.0), (4, 2.0)):
            axes.plot(t, v0 * t * np.exp(-k * t), label=f"v₀ = {v0}, k = {k}")
        axes.set(xlabel="t", ylabel="y = v₀ t e^{-kt}")
        axes.legend()

    def deviations(axes):
        for k in (50.0, 300.0, 2050.0):
            motion = vn.simulate(ellipse(k), START, (0, 20), "euler", step=1e-3)
            axes.plot(motion.t, np.abs(motion[y]) + 1e-12, label=f"k = {k:g}")
        axes.set(xlabel="t", ylabel="|y|", yscale="log", ylim=(1e-6, 10))
        axes.legend()

    def intervals(axes):
        steps = np.geomspace(1e-4, 1e-2, 41)
        for epsilon in (1e-3, 1e-4, 4e-5):
            found = [vn.simulation.gain_interval("euler", step, epsilon, curvature=16) for step in steps]
            band = np.array([(t, i.low, i.high) for t, i in zip(steps, found, strict=True) if i]).T
            axes.fill_between(band[0], band[1], band[2], alpha=0.3, label=f"ε = {epsilon:g}")
        axes.set(xlabel="step τ", ylabel="k", xscale="log", yscale="log", title="Euler's method keeps |y| ≤ ε")
        axes.legend()

    drawn = {"004_figure_1": forgotten, "004_figure_2": deviations, "004_interval_of_k": intervals}
    return {name: figure_of(draw) for name, draw in drawn.items()}


def draw_all(folder, duration=200.0, step=1e-5):
    """Write every figure as PNG; returns the paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    figures = wheel_figures(wheel_run(duration, step)) | program_figures()
    paths = [Path(folder) / f"{name}.png" for name in figures]
    for path, figure in zip(paths, figures.values(), strict=True):
        figure.savefig(path, dpi=130)
    return paths


def run():
    """A short run of the wheel, and {quantity: (found, exact)}."""
    equations = program(1500.0)
    motion = vn.simulate(equations, start(equations), (0, 2))
    return motion, {"x at t = 2": (motion[x][-1], -0.669711984644959507)}


def picture(path):
    motion, _ = run()
    wheel_figures(motion)["003_figure_3"].savefig(path, dpi=130)


if __name__ == "__main__":
    for written in draw_all(sys.argv[1] if len(sys.argv) > 1 else "figures"):
        print(written)
    motion = wheel_run()
    print(f"wheel, [0, 200], step 1e-5: {motion.seconds['run']:.2f} s, energy {motion.energy_error:.1e} (paper 2e-8)")
    for (name, level), value in motion.largest_residuals.items():
        print(f"  {name}, {level}: {value:.1e} (paper, residuals: 5e-10)")
