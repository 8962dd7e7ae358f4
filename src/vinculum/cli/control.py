"""``vinculum equilibrium | stability | stabilize``: find equilibria, decide their stability, and stabilize them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.options import AT_SAMPLES, FORCE, FORM, JSON, MODEL, OUTPUT, SET
from vinculum.cli.terminal import DONE, INTERRUPTED, NO, say

if TYPE_CHECKING:
    from vinculum.analyze import Equilibrium, Verdict
    from vinculum.control import Estimator, FeedbackLaw
    from vinculum.model.examine import DigitalRun, Equations, Settling
    from vinculum.model.model import Model
    from vinculum.simulation import Trajectory

KINDS = (".json",)
MOST = 12  # equilibria displayed
STRICT = click.option("--strict", is_flag=True, help="Exit with 1 unless the equilibrium or steady motion is stable.")


@MODEL
@FORM
@OUTPUT
@FORCE
@SET
@JSON
def equilibrium(
    model: Path, form: str | None, output: Path | None, force: bool, settings: tuple[str, ...], json: bool
) -> int:
    """Find equilibria or steady motions.

    Lists the inputs that hold them and the reactions of the constraints.

    \b
    Example:
      vinculum equilibrium model.toml --set m=0.3
    """
    from vinculum.cli.equilibrium_output import rest_data, show_rest
    from vinculum.cli.terminal import free_place
    from vinculum.model.examine import rests_of

    free_place(output, force, KINDS)
    asked, equations, rest = _at_rest(model, settings, form, "equilibrium")
    found = rests_of(rest)
    _given_out({"name": asked.name, "equilibria": [rest_data(one) for one in found]}, json, output)
    if not json:
        for i, one in enumerate(found[:MOST], start=1):
            show_rest(f"{asked.name}, {one.kind} {i} of {len(found)}", one, equations)
        if len(found) > MOST:
            say(f"--json lists {len(found) - MOST} more.")
    return DONE


@MODEL
@STRICT
@FORM
@OUTPUT
@FORCE
@SET
@JSON
def stability(
    model: Path, strict: bool, form: str | None, output: Path | None, force: bool, settings: tuple[str, ...], json: bool
) -> int:
    """Decide the stability of the equilibrium or steady motion.

    Prints the verdict, the theorem behind it with what was checked, the structural zeros by reason, and the roots.

    \b
    Example:
      vinculum stability model.toml --strict
    """
    from vinculum.cli.equilibrium_output import (
        borders_data,
        rest_data,
        show_borders,
        show_rest,
        show_roots,
        show_verdict,
        verdict_data,
    )
    from vinculum.cli.region_output import region_data, show_regions
    from vinculum.cli.terminal import free_place
    from vinculum.model.examine import borders_of, verdict_at

    free_place(output, force, KINDS)
    asked, equations, rest = _at_rest(model, settings, form, "equilibrium")
    verdict = verdict_at(asked, equations, rest)
    borders = borders_of(asked, equations, rest)
    data = {"name": asked.name, "equilibrium": rest_data(rest), "stability": verdict_data(verdict)}
    data |= {} if asked.control is not None else region_data(asked, equations, rest)  # else of the loop: stabilize
    _given_out(data | ({"borders": borders_data(borders)} if borders else {}), json, output)
    if not json:
        show_rest(f"{asked.name}, {rest.kind}", rest, equations)
        show_verdict("stability", verdict)
        show_roots(verdict)
        show_borders(borders)
        show_regions(data)
    return DONE if verdict or not strict else NO


@MODEL
@FORM
@OUTPUT
@FORCE
@SET
@AT_SAMPLES
@JSON
def stabilize(
    model: Path,
    form: str | None,
    output: Path | None,
    force: bool,
    settings: tuple[str, ...],
    at_samples: bool,
    json: bool,
) -> int:
    """Design a stabilizing feedback.

    Includes an observer if the file has [observer], simulates the closed loop if it has [closed_loop], and again with
    the law on its processor if it has [digital]; computes [attraction] and [stability_map]. With -o, a name ending in
    .json saves the gains; .nc or .csv saves the motion of the closed loop, with --digital the one on the processor.
    Exit code 1 means that the loop is not stable, that a run ended early, or that one did not converge to the
    equilibrium.

    \b
    Examples:
      vinculum stabilize model.toml -o gains.json
      vinculum stabilize model.toml -o closed_loop.nc
      vinculum stabilize model.toml --digital -o board.nc
    """
    from vinculum.cli.digital_output import digital_data, refuse_without, show_digital
    from vinculum.cli.equilibrium_output import show_gains, show_margins, show_rest, show_verdict
    from vinculum.cli.motion import MOTION_KINDS, rows_of, stored
    from vinculum.cli.region_output import region_data, show_regions
    from vinculum.cli.terminal import free_place, table
    from vinculum.control.margins import margins
    from vinculum.model.examine import settling_of

    free_place(output, force, (*KINDS, *MOTION_KINDS))
    wants_motion = output is not None and output.suffix.lower() in MOTION_KINDS
    asked, equations, rest = _at_rest(
        model, settings, form, "equilibrium", "control", *(["closed_loop"] if wants_motion else [])
    )
    if at_samples:
        refuse_without(asked, model, "closed_loop")
    law, estimator, verdict = _designed(asked, equations, rest)
    motion = _closed(asked, equations, rest, law, estimator)
    arrival = None if motion is None else settling_of(asked, motion, law)
    sampled = _sampled(asked, equations, rest, law, estimator)
    data = _design_data(asked, rest, law, estimator, verdict, motion, arrival)
    data |= {} if sampled is None else {"digital": digital_data(asked.name, sampled)}
    data |= region_data(asked, equations, rest)
    _given_out(data, json, None if wants_motion else output)
    kept = sampled.motion if at_samples and sampled is not None else motion
    if kept is not None and output is not None and wants_motion:
        stored(kept, output)
    if not json:
        show_rest(f"{asked.name}, {rest.kind}", rest, equations)
        show_gains(law, estimator)
        show_verdict("closed loop", verdict)
        if verdict:
            show_margins(margins(law, estimator), observed=estimator is not None)
        if motion is not None and arrival is not None:
            table("motion of the closed loop", rows_of(motion) | arrival.rows)
        if sampled is not None:
            show_digital(sampled)
        show_regions(data)
    runs = (motion, None if sampled is None else sampled.motion)
    if any(run is not None and run.outcome.kind == "interrupted" for run in runs):
        return INTERRUPTED
    reached = motion is None or (motion.outcome and arrival)
    return DONE if verdict and reached and (sampled is None or not sampled.failures) else NO


# -- steps -----------------------------------------------------------------------------------------------------


def _at_rest(
    path: Path, settings: Sequence[str], form: str | None, *sections: str
) -> tuple[Model, Equations, Equilibrium]:
    """The model, its equations and its equilibrium; an error if the file lacks one of the sections."""
    from vinculum.cli.options import opened, refuse_unasked
    from vinculum.model.examine import equations_of, rest_of

    model = opened(path, settings, form)
    refuse_unasked(model, path, *sections)
    equations = equations_of(model)
    return model, equations, rest_of(model, equations)


def _designed(model: Model, equations: Equations, rest: Equilibrium) -> tuple[FeedbackLaw, Estimator | None, Verdict]:
    """Law, observer if there is one, and the verdict on the closed loop."""
    from vinculum.control import closed_model
    from vinculum.model.examine import estimator_of, law_of, linear_of, verdict_of

    linear = linear_of(model, equations, rest)
    law = law_of(model, linear)
    estimator = estimator_of(model, linear) if model.observer is not None else None
    return law, estimator, verdict_of(closed_model(law, estimator))


def _closed(
    model: Model, equations: Equations, rest: Equilibrium, law: FeedbackLaw, estimator: Estimator | None
) -> Trajectory | None:
    """The motion of the closed loop, if the file requests one."""
    from vinculum.cli.terminal import bar
    from vinculum.model.examine import closed_motion_of, loop_of

    if model.closed_loop is None:
        return None
    loop = loop_of(model, equations, law, estimator)
    with bar("simulating the closed loop") as report:
        return closed_motion_of(model, loop, law, rest, report)


def _sampled(
    model: Model, equations: Equations, rest: Equilibrium, law: FeedbackLaw, estimator: Estimator | None
) -> DigitalRun | None:
    """The closed loop with its feedback at samples, if the file requests it."""
    from vinculum.cli.terminal import bar
    from vinculum.model.examine import digital_loop_of

    if model.digital_motion != "closed_loop":
        return None
    with bar("simulating the digital loop") as report:
        return digital_loop_of(model, equations, law, estimator, rest, report)


def _design_data(
    model: Model,
    rest: Equilibrium,
    law: FeedbackLaw,
    estimator: Estimator | None,
    verdict: Verdict,
    motion: Trajectory | None,
    arrival: Settling | None,
) -> dict[str, Any]:
    """The complete design as data."""
    from vinculum.cli.equilibrium_output import (
        arrival_data,
        law_data,
        margin_data,
        observer_data,
        rest_data,
        verdict_data,
    )
    from vinculum.cli.motion import motion_data
    from vinculum.control.margins import margins

    data = {"name": model.name, "equilibrium": rest_data(rest), **law_data(law), "closed_loop": verdict_data(verdict)}
    if verdict:
        data["margins"] = margin_data(margins(law, estimator))
    if estimator is not None:
        data["observer"] = observer_data(estimator)
    if motion is None or arrival is None:
        return data
    return data | {"motion": motion_data(model.name, motion), "arrival": arrival_data(arrival)}


def _given_out(data: dict[str, Any], json: bool, output: Path | None) -> None:
    """Write the data to a file and to the screen, as requested."""
    from vinculum.cli.terminal import as_json, written

    if output is not None:
        written(output, as_json(data) + "\n")
    if json:
        say(as_json(data))
