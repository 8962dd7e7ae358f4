"""Pictures of a motion for papers, without a browser: curves over time, and the mechanism in several positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy as sp

from vinculum.errors import VinculumError
from vinculum.options import refuse_unknown
from vinculum.present import mechanism_pictures
from vinculum.present.paper import COLUMN, LINES, STYLE, rendered, symbol_text, unit_text
from vinculum.present.plots import coordinates
from vinculum.present.thinning import thinned
from vinculum.writing import refuse_place, write_file

if TYPE_CHECKING:
    from vinculum.simulation.trajectory.trajectory import Trajectory

PICTURES, ANIMATIONS = (".png", ".svg", ".pdf"), (".gif", ".mp4")
_PANEL, _TALLEST = 1.15, 8.5  # inches: the height of a panel, and of a page
_MOST_PANELS = 6
_OPTIONS = ("drawing", "size", "dots", "speed", "arrows")


def save_picture(
    motion: Trajectory, path: str | Path, keys: Sequence[sp.Expr | str], *, overwrite: bool = False, **options: Any
) -> None:
    """Write curves, a mechanism in several positions, or an animation, by the ending of the file's name."""
    refuse_unknown("motion.save", options, _OPTIONS)
    kind = Path(path).suffix.lower()
    drawing, size, dots = options.get("drawing"), options.get("size"), options.get("dots")
    _refuse_size(size, dots)
    refuse_place(path, overwrite)
    if kind in ANIMATIONS:
        _refuse_keys(keys, kind)
        content = mechanism_pictures.animated(
            motion,
            drawing,
            kind[1:],
            size or mechanism_pictures.SIZE,
            dots or mechanism_pictures.DOTS,
            options.get("speed"),
            bool(options.get("arrows")),
        )
    else:
        content = _picture(motion, keys, drawing, size, kind[1:], dots or 300, bool(options.get("arrows")))
    write_file(path, content, overwrite=overwrite)


def _picture(
    motion: Trajectory, keys: Sequence[sp.Expr | str], drawing: Any, size: Any, kind: str, dots: int, arrows: bool
) -> bytes:
    from matplotlib import rc_context

    with rc_context(STYLE):
        drawn = partial(mechanism_pictures.positions, motion, drawing, size, arrows)
        figure = curves(motion, keys, size) if drawing is None else drawn()
        return rendered(figure, kind, dots)


def curves(motion: Trajectory, keys: Sequence[sp.Expr | str] = (), size: tuple[float, float] | None = None) -> Any:
    """Quantities over time (default: the coordinates): those of one unit share a panel, all panels share the time."""
    from matplotlib.figure import Figure

    panels = _panels(motion, list(keys) or coordinates(motion))
    tall = min(0.35 + _PANEL * len(panels), _TALLEST)
    figure = Figure(figsize=size or (COLUMN, max(tall, 2.0)), layout="constrained")
    axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for own, (unit, members) in zip(axes, panels, strict=True):
        _curves(own, motion, unit, members)
    axes[-1].set_xlabel("$t$ (s)" if _units(motion) else "$t$")
    axes[-1].set_xlim(*sorted((motion.t[0], motion.t[-1])))
    figure.align_ylabels()
    return figure


def _panels(motion: Trajectory, keys: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Quantities by unit; one without a unit has its own panel."""
    panels: list[tuple[str, list[Any]]] = []
    for key in keys:
        unit = unit_text(key, _units(motion))
        same = next((members for known, members in panels if unit and known == unit), None)
        if same is None:
            panels.append((unit, [key]))
        else:
            same.append(key)
    return panels if len(panels) <= _MOST_PANELS else _merged(panels)


def _merged(panels: Sequence[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """Few enough panels for a page: quantities without a unit share them, in their order."""
    alone = [members[0] for unit, members in panels if not unit]
    known = [panel for panel in panels if panel[0]]
    share = -(-len(alone) // max(_MOST_PANELS - len(known), 1)) or 1
    return known + [("", alone[k : k + share]) for k in range(0, len(alone), share)]


def _curves(axes: Any, motion: Trajectory, unit: str, keys: Sequence[Any]) -> None:
    for k, key in enumerate(keys):
        color, dash = LINES[k % len(LINES)]
        axes.plot(*thinned(motion.t, motion[key]), color=color, linestyle=dash, label=symbol_text(key))
    several, label = len(keys) > 1, f"({unit})" if unit else ""
    axes.set_ylabel(label if several else f"{symbol_text(keys[0])} {label}".strip())
    if several:
        axes.legend(ncols=min(len(keys), 4), loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, handlelength=2)


def _units(motion: Trajectory) -> dict[sp.Expr, str]:
    """The SI units of the system's symbols that have one."""
    system = None if motion.problem is None else getattr(motion.problem.equations, "system", None)
    return dict(getattr(system, "units", {}))


def _refuse_size(size: Any, dots: Any) -> None:
    """Raise for a size that no picture can have."""
    usable = size is None or (
        isinstance(size, (tuple, list)) and len(size) == 2 and all(isinstance(x, (int, float)) and x > 0 for x in size)
    )
    if not usable or max(size or (1,)) > 100:
        raise VinculumError(f"size must be (width, height) in inches, at most 100; got {size!r}. Use size=(3.4, 2.4).")
    if dots is not None and (isinstance(dots, bool) or not isinstance(dots, int) or not 10 <= dots <= 2400):
        raise VinculumError(f"dots must be a number of dots per inch from 10 to 2400; got {dots!r}. Use dots=300.")


def _refuse_keys(keys: Sequence[Any], kind: str) -> None:
    if keys:
        raise VinculumError(
            f"A {kind} file shows the mechanism, not curves. Write motion.save('name{kind}', drawing=...), or choose "
            "a name that ends in .png, .svg or .pdf."
        )
