"""``vinculum report``: everything about a model on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vinculum.cli.codes import DONE, INTERRUPTED, NO, REFUSED, tell
from vinculum.cli.options import Force, Form, ModelFile, Output, Set

if TYPE_CHECKING:
    from vinculum.model.examine import Findings

KINDS = (".html",)
_ASIDE = {"motion without feedback"}  # shown for comparison; nobody asked for it


def report(
    model: ModelFile, output: Output = None, force: Force = False, form: Form = None, settings: Set = None
) -> int:
    """Write a page with all that the file asks for.

    Drawing, equations, motion, stability and controller on one HTML page that needs no network.
    The page is written beside the model file, with the ending .html, unless -o says otherwise. What failed is said
    here too, with the exit code of the command that asks for it alone. Ctrl-C ends the run that goes on.

    \b
    Example:
      vinculum report model.toml -o report.html
    """
    from vinculum.cli.models import opened
    from vinculum.cli.output import free_place, tell_where
    from vinculum.cli.progress import steps

    path = output or model.with_suffix(".html")
    free_place(path, force, KINDS)
    asked = opened(model, settings, form)
    from vinculum.present.report import write_report

    with steps() as progress:
        written = write_report(asked, path, progress)
    tell_where(written)
    for failure in written.findings.failures:
        tell(failure)
    return _code(written.findings)


def _code(findings: Findings) -> int:
    """What the single commands would say: of the motion, the equilibria, and the feedback of the first of these."""
    if findings.interrupted:
        return INTERRUPTED
    point = findings.point
    refused = {*findings.refused, *(() if point is None else point.refused)} - _ASIDE
    if refused:
        return REFUSED
    early = findings.motion is not None and not findings.motion.outcome
    return NO if early or (point is not None and point.failures) else DONE
