"""``vinculum export``: code and files for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.options import FORCE, FORM, MODEL, OUTPUT, SET
from vinculum.cli.terminal import DONE, Wrong

if TYPE_CHECKING:
    from vinculum.model.model import Model

ENDINGS = {"c": (".c", ".h"), "fmu": (".fmu",), "python": (".py",), "javascript": (".js",), "modelica": (".mo",),
           "mat": (".mat",)}  # fmt: skip
PARTS = ("equations", "loop", "controller", "linear", "tree", "motion")
FIT = {
    "fmu": ("equations", "loop"),
    "modelica": ("equations", "loop"),
    "mat": ("linear", "motion"),
}  # others: all but motion
TO = click.option("--to", metavar="KIND", required=True, help=f"What to write: {', '.join(ENDINGS)}.")
WHAT = click.option("--what", metavar="PART", default="equations", help=f"Part of the model: {', '.join(PARTS)}.")
PERIOD = click.option("--period", metavar="TIME", type=float, help="Sample period of a controller.")
SINGLE = click.option("--float", "single", is_flag=True, help="Numbers are float instead of double.")
VERSION = click.option("--fmi", metavar="VERSION", default="2.0", help="Version of FMI: 2.0 or 3.0.")
STEP = click.option("--step", metavar="TIME", default=1e-3, help="Largest step of an FMU in co-simulation.")
FOLD = click.option("--fold", is_flag=True, help="Write the values of parameters into the code.")
CHECK = click.option("--check", is_flag=True, help="Also write a test program with numbers from Python.")


@MODEL
@TO
@WHAT
@OUTPUT
@FORCE
@FORM
@SET
@PERIOD
@SINGLE
@FOLD
@CHECK
@VERSION
@STEP
def export(
    model: Path,
    to: str,
    what: str,
    output: Path | None,
    force: bool,
    form: str | None,
    settings: tuple[str, ...],
    period: float | None,
    single: bool,
    fold: bool,
    check: bool,
    fmi: str,
    step: float,
) -> int:
    """Write code or a file for other tools.

    The parts are: equations; loop (with feedback); controller (the feedback law and observer alone, with --period
    or the period of [digital]);
    linear; tree (dynamics and kinematics of a tree of bodies); motion (the simulation, for --to mat).

    \b
    Examples:
      vinculum export model.toml --to c
      vinculum export model.toml --to c --what controller --period 0.01
      vinculum export model.toml --to fmu --what loop --fmi 3.0
    """
    from vinculum.cli.options import opened
    from vinculum.cli.terminal import tell_where

    _refuse(to, what)
    place = output or Path(model.stem).with_suffix(ENDINGS[to][0])
    if place.suffix not in ENDINGS[to]:
        raise Wrong(f"{place.name} cannot be written: the file must end in {' or '.join(ENDINGS[to])}.")
    asked = opened(model, settings, form)
    chosen, options = part(asked, model, what, period)
    if what in ("equations", "loop"):
        options["units"] = asked.units
    if to == "c":
        real = "float" if single else "double"
        files = _write_c(chosen, place, force, {"real": real, "fold": fold, "check": 5 if check else 0, **options})
    elif to == "fmu":
        files = _write_one("export_fmu", chosen, place, force, {
            **options, "version": fmi, "step": step, "meanings": asked.meanings, "stop": _end(asked)})  # fmt: skip
    elif to == "modelica":
        files = _write_one("export_modelica", chosen, place, force, {
            **options, "fold": fold, "meanings": asked.meanings})  # fmt: skip
    elif to in ("python", "javascript"):
        files = _write_one(f"export_{to}", chosen, place, force, {**options, "fold": fold})
    else:
        files = _write_one("export_mat", chosen, place, force, {})
    for path in files:
        tell_where(path)
    return DONE


def _refuse(to: str, what: str) -> None:
    from vinculum.names import suggestion

    for given, known, name in ((to, tuple(ENDINGS), "--to"), (what, PARTS, "--what")):
        if given not in known:
            raise Wrong(f"{name} {given} is not known.{suggestion(given, known)} Use {', '.join(known)}.")
    fitting = FIT.get(to, tuple(part for part in PARTS if part != "motion"))
    if what not in fitting:
        raise Wrong(f"--to {to} cannot hold the part {what}. Use --what {' or --what '.join(fitting)}.")


def part(model: Model, path: Path, what: str, period: float | None) -> tuple[Any, dict[str, Any]]:
    """What is exported, and the options that follow from the model."""
    from vinculum.cli.options import refuse_unasked
    from vinculum.model.examine import (
        equations_of,
        estimator_of,
        law_of,
        linear_of,
        loop_of,
        motion_of,
        rest_of,
        sampled_law,
    )

    if what == "tree":
        if model.tree is None:
            raise Wrong(f"{path} has no [tree]. Use --what equations.")
        return model.tree, {}
    asked = (model.digital or {}) if what == "controller" and model.digital_motion == "closed_loop" else {}
    period = asked.get("period") if period is None else period
    if what == "controller" and period is None:
        raise Wrong("A controller needs its sample period. Add --period 0.01, in seconds, or [digital] with period.")
    equations = equations_of(model)
    if what == "motion":
        refuse_unasked(model, path, "simulation")
        return motion_of(model, equations), {}
    if what == "equations":
        return equations, _start(model, "simulation")
    refuse_unasked(model, path, "equilibrium", *([] if what == "linear" else ["control"]))
    linear = linear_of(model, equations, rest_of(model, equations))
    if what == "linear":
        return linear, {} if period is None else {"period": period}
    law = law_of(model, linear)
    estimator = None if model.observer is None else estimator_of(model, linear)
    if what == "loop":
        return loop_of(model, equations, law, estimator), _start(model, "closed_loop")
    limits = asked.get("limits") or (model.closed_loop or {}).get("limits")
    if asked.get("design") == "sampled":
        return replace(sampled_law(model, linear, period), limits=dict(limits or {})), {}
    options = {"period": period, "estimator": estimator, "limits": limits}
    return law, options | ({"anti_windup": asked["anti_windup"]} if "anti_windup" in asked else {})


def _start(model: Model, section: str) -> dict[str, Any]:
    """The start and the events of the motion in the model; inputs stay inputs."""
    asked = dict(getattr(model, section) or {})
    common = dict(model.simulation or {})
    keys = ("initial", "guess", "fixed", "events")
    found = {key: asked.get(key, common.get(key)) for key in keys}
    return {key: value for key, value in found.items() if value}


def _write_c(what: Any, place: Path, force: bool, options: dict[str, Any]) -> tuple[Path, ...]:
    from vinculum.cli.terminal import free_place
    from vinculum.export import export_c
    from vinculum.export.export_c import c_files

    for path in c_files(place, options["check"] > 0):
        free_place(path, force, (".c", ".h"))
    return export_c(what, place, overwrite=force, **options)


def _write_one(function: str, what: Any, place: Path, force: bool, options: dict[str, Any]) -> tuple[Path, ...]:
    import vinculum.export
    from vinculum.cli.terminal import free_place

    free_place(place, force, (place.suffix,))
    return (getattr(vinculum.export, function)(what, place, overwrite=force, **options),)


def _end(model: Model) -> float | None:
    """The end of the motion in the model."""
    times = (model.simulation or {}).get("times")
    return None if times is None else float(times[-1])
