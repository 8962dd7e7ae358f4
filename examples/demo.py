"""The demonstration of `make demo`: two mechanisms described, derived, simulated and checked; then a report.

    python examples/demo.py [picture.png]

A four-bar linkage is a closed loop (two holonomic constraints); the wheel in a gutter rolls as well, and is run for
200 seconds, as in the paper it comes from. The report is about a ball on a beam, which no voltage of its motor holds
without feedback: both equilibria, their stability, a controller for each.
"""

import os
import sys
import time
import webbrowser
from pathlib import Path

import four_bar
import wheel_in_gutter
from rich.console import Console
from rich.table import Table

import vinculum as vn

BEAM = Path(vn.__file__).parent / "model" / "library" / "ball_and_beam.toml"
NEXT = """What to look at next
  vinculum report model.toml   the same page about a model of yours (vinculum new writes one to start from)
  examples/wheel_in_gutter.py  the wheel in full: energies, lift-off, picture
  examples/rolling_disc.py     nonholonomic constraints in space, exact motions
  examples/four_bar.py         then try motion[gamma] and motion.reactions
  make test                    every example is run, and its numbers checked
  make bench                   side by side with other tools"""


def measured(module, **how):
    """A mechanism from its description to its motion, with the seconds each stage took."""
    began = time.perf_counter()
    system = module.system()
    described = time.perf_counter()
    equations = vn.derive(system)
    derived = time.perf_counter()
    motion = vn.simulate(equations, **how)
    stages = {"describe": described - began, "derive": derived - described} | dict(motion.seconds)
    return equations, motion, stages


def largest(motion, level):
    return max(value for (_, found), value in motion.largest_residuals.items() if found == level)


def column(equations, motion, stages):
    """What the table says about one mechanism, from top to bottom."""
    system = equations.system
    return {
        "coordinates, constraints": f"{len(system.coordinates)}, {len(system.constraints)}",
        "operations per evaluation": f"{equations.operations().total()}",
        "simulated": f"{motion.t[-1]:g} s in {motion.steps} steps",
        "outcome": motion.outcome.kind,
        "largest residual, position": f"{largest(motion, 'position'):.1e}",
        "largest residual, velocity": f"{largest(motion, 'velocity'):.1e}",
        "largest energy error": f"{motion.energy_error:.1e} J of {abs(motion.energy).max():.3g} J",
        "describe": f"{stages['describe']:.3f} s",
        "derive": f"{stages['derive']:.3f} s",
        "make the start consistent": f"{stages['start']:.3f} s",
        "compile": f"{stages['compile']:.3f} s",
        "simulate": f"{stages['run']:.3f} s",
    }


def table(columns):
    shown = Table(title="From energies and constraints to a checked motion")
    shown.add_column("")
    for name in columns:
        shown.add_column(name, justify="right")
    rows = list(next(iter(columns.values())))
    for row in rows:
        shown.add_row(row, *(cells[row] for cells in columns.values()), end_section=row in (rows[3], rows[6]))
    return shown


def picture(path):
    """Both mechanisms side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.9), layout="constrained")
    panels = figure.subplots(1, 2, width_ratios=(1, 1.7))
    for axes, module in zip(panels, (four_bar, wheel_in_gutter), strict=True):
        module.draw(axes, module.run()[0])
    figure.savefig(path, dpi=150)


def report(path):
    """The page about the ball and beam, written and shown."""
    print(f"\nA report of {BEAM.name}: equations, motion, equilibria, stability, feedback (half a minute)")
    written = vn.write_report(vn.load(BEAM), path.with_suffix(".html"), overwrite=True)
    for i, point in enumerate(written.results.points, start=1):
        closed = f"with feedback {point.closed_verdict.kind}"
        print(f"  equilibrium {i}: without feedback {point.verdict.kind}, {closed}")
    print(f"Report: {written}")
    if not (screen() and webbrowser.open(written.path.resolve().as_uri())):
        print("Open the report in any browser; it needs no network.")


def screen():
    """Whether a browser could be seen."""
    return sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")


def main(path="demo.png"):
    linkage = measured(four_bar, initial=four_bar.START, fixed=[four_bar.alpha], times=(0, 0.5))
    start = wheel_in_gutter.KNOWN | wheel_in_gutter.GUESS
    wheel = measured(wheel_in_gutter, initial=start, fixed=wheel_in_gutter.KNOWN, times=(0, 200))
    Console().print(table({"four-bar linkage": column(*linkage), "wheel in a gutter": column(*wheel)}))
    _, numbers = wheel_in_gutter.run()
    for quantity, (found, exact) in numbers.items():
        print(f"The wheel's {quantity}: {found:.12f}, reference {exact:.12f}")
    picture(path)
    print(f"\nPicture of both: {Path(path).resolve()}")
    report(Path(path).resolve())
    print(f"\n{NEXT}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
