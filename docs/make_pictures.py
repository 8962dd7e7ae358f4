"""The pictures of the pages: ``python -m docs.make_pictures`` writes them to docs/images/.

The code of docs/worked_example.md draws the picture of the README; the ``picture`` functions of the examples draw the
others.
"""

import importlib
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLORS = 64  # enough for line drawings, at a third of the size


def main() -> None:
    """Draw everything."""
    IMAGES.mkdir(exist_ok=True)
    engine(IMAGES / "engine.png")
    for name in examples():
        importlib.import_module(f"examples.{name}").picture(IMAGES / f"{name}.png")
    for path in sorted(IMAGES.glob("*.png")):
        shrink(path)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


def examples() -> list[str]:
    """The names of the mechanisms in examples/."""
    return sorted(path.stem for path in (ROOT / "examples").glob("[a-z]*.py") if path.stem != "demo")


def code_blocks(page: Path) -> list[str]:
    """The Python blocks of a Markdown page, in order."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def engine(path: Path) -> None:
    """The slider-crank of the worked example in a few positions, and the force in its rod over the crank angle."""
    from matplotlib.figure import Figure

    run: dict = {}
    exec("\n".join(code_blocks(ROOT / "docs" / "worked_example.md")), run)
    motion, theta, x = run["motion"], run["theta"], run["x"]
    angle, place = motion[theta], motion[x]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    plane, force = figure.subplots(1, 2, width_ratios=(1.4, 1))
    crank = run["engine"].parameters[run["a"]]
    for shown, shade in ((20, 1.0), (75, 0.5), (130, 0.3), (180, 0.15)):
        i = int(np.searchsorted(np.degrees(angle), shown))
        pin = crank * np.exp(1j * angle[i])
        plane.plot([0, pin.real, place[i]], [0, pin.imag, 0], "o-", color="tab:blue", alpha=shade, lw=4, ms=7)
        plane.plot(place[i], 0, "s", color="black", alpha=shade, ms=20)
    circle = crank * np.exp(1j * np.linspace(0, 2 * np.pi, 100))
    plane.plot(circle.real, circle.imag, color="lightgray", lw=1)
    plane.axhline(0, color="lightgray", lw=1, zorder=0)
    plane.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="Crank, rod and piston", xlim=(-0.07, 0.22))
    turn = angle < 2 * np.pi
    force.plot(np.degrees(angle[turn]), run["rod_force"][turn], color="tab:red")
    unloaded = np.interp([e.time for e in motion.events if e.name == "rod unloaded"], motion.t, angle)
    unloaded = np.degrees(unloaded[unloaded < 2 * np.pi])
    force.plot(unloaded, 0 * unloaded, "o", color="black", ms=7, label="rod unloaded")
    force.axhline(0, color="gray", lw=0.8)
    force.set(xlabel="crank angle [degrees]", xlim=(0, 360), xticks=range(0, 361, 90), title="Force in the rod [N]")
    force.text(180, 60, "pushes", ha="center", color="tab:red")
    force.text(180, -100, "pulls", ha="center", color="tab:red")
    force.legend(loc="lower center")
    force.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


def shrink(path: Path) -> None:
    """Store a picture with a palette."""
    from PIL import Image

    with Image.open(path) as picture:
        smaller = picture.convert("RGB").quantize(COLORS)
    smaller.save(path, optimize=True)


if __name__ == "__main__":
    main()
