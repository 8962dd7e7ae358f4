"""Laws at samples on the screen and as data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vinculum.cli.terminal import Wrong

if TYPE_CHECKING:
    from vinculum.model.examine import DigitalRun
    from vinculum.model.model import Model


def refuse_without(model: Model, path: Path, motion: str) -> None:
    """Raise an error if the file has no law at samples for a motion."""
    if model.digital_motion != motion:
        words = "the closed loop" if motion == "closed_loop" else "the motion"
        raise Wrong(
            f'{path} has no [digital] for {words}. Add [digital] with period = "10 ms" and motion = "{motion}".'
        )


def show_digital(run: DigitalRun) -> None:
    """The processor, the motion under its law, and the margins of the sampled loop."""
    from vinculum.cli.equilibrium_output import show_margins
    from vinculum.cli.motion import rows_of
    from vinculum.cli.terminal import table

    said = {f"warning{f' {i}' if i > 1 else ''}": words for i, words in enumerate(run.warnings, start=1)}
    arrival = {} if run.settling is None else run.settling.rows
    moved = {key: value for key, value in rows_of(run.motion).items() if not key.startswith("held_")}
    table("law at samples", run.rows | said | moved | arrival)
    if run.margins:
        show_margins(run.margins, "margins of the sampled loop at each input", run.observed)
    elif run.without_margins:
        table("margins of the sampled loop", {"none": run.without_margins})


def digital_data(name: str, run: DigitalRun) -> dict[str, Any]:
    """The law at samples as data."""
    from vinculum.cli.equilibrium_output import arrival_data, margin_data
    from vinculum.cli.motion import motion_data

    own = run.controller
    data: dict[str, Any] = {"period": own.period, "delay": own.delay, "warnings": list(run.warnings)}
    data["motion"] = motion_data(name, run.motion)
    if run.settling is not None:
        data |= {"arrival": arrival_data(run.settling), "margins": margin_data(run.margins)}
    return data
