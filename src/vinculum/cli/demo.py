"""``vinculum demo``: from a model file to a report in one command."""

from __future__ import annotations

from pathlib import Path

from vinculum.cli.codes import DONE, tell
from vinculum.cli.options import Force, Output


def demo(output: Output = None, force: Force = False) -> int:
    """Write the report of the ball and beam.

    An unstable mechanism with a motor: derived, simulated, judged, stabilized, drawn.

    \b
    Example:
      vinculum demo -o demo.html
    """
    from vinculum.cli.new import folder
    from vinculum.cli.output import free_place
    from vinculum.cli.pages import KINDS
    from vinculum.cli.progress import steps

    path = output or Path("ball_and_beam.html")
    free_place(path, force, KINDS)
    from vinculum.model import load
    from vinculum.present.report import write_report

    tell("The ball and beam: derived, simulated, judged, stabilized, drawn (half a minute).")
    with steps() as progress:
        written = write_report(load(folder() / "ball_and_beam.toml"), path, progress)
    tell(f"Written to {written}. Open it in a browser.")
    return DONE
