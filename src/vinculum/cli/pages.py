"""``vinculum report | demo``: write everything about a model on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vinculum.cli.options import FORCE, FORM, MODEL, OUTPUT, SET
from vinculum.cli.terminal import DONE, INTERRUPTED, NO, REFUSED, tell

if TYPE_CHECKING:
    from vinculum.model.examine import Results

KINDS = (".html",)
_ASIDE = {"motion without feedback"}  # shown for comparison, not requested


@MODEL
@OUTPUT
@FORCE
@FORM
@SET
def report(model: Path, output: Path | None, force: bool, form: str | None, settings: tuple[str, ...]) -> int:
    """Write one page with every result the file requests.

    The page is self-contained HTML with drawing, equations, motion, stability and controller. It is named after the
    model file, with the ending .html; -o chooses another name. Steps that failed are also reported here, with the
    exit code of the corresponding command. Ctrl-C ends the current run.

    \b
    Example:
      vinculum report model.toml -o report.html
    """
    from vinculum.cli.options import opened
    from vinculum.cli.terminal import free_place, steps, tell_where

    path = output or model.with_suffix(".html")
    free_place(path, force, KINDS)
    asked = opened(model, settings, form)
    from vinculum.present.report import write_report

    with steps() as progress:
        written = write_report(asked, path, progress, overwrite=True)  # --force was checked before
    tell_where(written)
    for failure in written.results.failures:
        tell(failure)
    return _code(written.results)


def _code(results: Results) -> int:
    """The exit code that the commands simulate, equilibrium, stability and stabilize would give."""
    if results.interrupted:
        return INTERRUPTED
    point = results.point
    refused = {*results.refused, *(() if point is None else point.refused)} - _ASIDE
    if refused:
        return REFUSED
    early = results.motion is not None and not results.motion.outcome
    return NO if early or (point is not None and point.failures) else DONE


@OUTPUT
@FORCE
def demo(output: Path | None, force: bool) -> int:
    """Write the report of the ball and beam.

    An unstable mechanism with a motor: equations, motion, stability, feedback, animation.

    \b
    Example:
      vinculum demo -o demo.html
    """
    from vinculum.cli.files import folder
    from vinculum.cli.terminal import free_place, steps

    path = output or Path("ball_and_beam.html")
    free_place(path, force, KINDS)
    from vinculum.model import load
    from vinculum.present.report import write_report

    tell("Computing the ball and beam: equations, motion, stability, feedback, animation (half a minute).")
    with steps() as progress:
        written = write_report(load(folder() / "ball_and_beam.toml"), path, progress, overwrite=True)
    tell(f"Written to {written}. Open it in a browser.")
    return DONE
