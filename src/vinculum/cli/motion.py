"""``vinculum derive | simulate``: the equations of motion, and the motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vinculum.cli.options import AT_SAMPLES, FORCE, FORM, JSON, MODEL, OUTPUT, SET
from vinculum.cli.terminal import DONE, INTERRUPTED, NO, say

if TYPE_CHECKING:
    import numpy as np

    from vinculum.model.examine import DigitalRun, Equations
    from vinculum.model.model import Model
    from vinculum.simulation import Outcome, Trajectory

EQUATION_KINDS = (".tex", ".md", ".txt")


@MODEL
@FORM
@OUTPUT
@FORCE
@SET
@JSON
def derive(
    model: Path, form: str | None, output: Path | None, force: bool, settings: tuple[str, ...], json: bool
) -> int:
    """Derive the equations of motion.

    Uses the form in the file, or another one with --form. An unknown name prints the list of all forms.

    \b
    Examples:
      vinculum derive model.toml
      vinculum derive model.toml --form shulgin -o equations.tex
    """
    from vinculum.cli.options import opened
    from vinculum.cli.terminal import as_json, free_place, table, written
    from vinculum.model.examine import equations_of
    from vinculum.names import listed

    free_place(output, force, EQUATION_KINDS)
    asked = opened(model, settings, form)
    equations = equations_of(asked)
    if output is not None:
        written(output, document(equations, output.suffix.lower()))
    if json:
        say(as_json(equations_data(equations)))
        return DONE
    rows = {"form": equations.form.name, "states": listed(equations.states), "dimension": equations.dimension}
    added = {"added states": listed(equations.added_states)} if equations.added_states else {}
    table(asked.name, rows | added)
    if output is None:
        say()
        say(equations.text())
    return DONE


def equations_data(equations: Equations) -> dict[str, Any]:
    """The equations as data."""
    from vinculum.names import name_of

    return {
        "name": equations.name,
        "form": equations.form.name,
        "states": [name_of(key) for key in equations.states],
        "added_states": [name_of(key) for key in equations.added_states],
        "inputs": [name_of(key) for key in equations.system.inputs],
        "constraints": list(equations.constraint_names),
        "dimension": equations.dimension,
        "parameters": {name_of(key): value for key, value in equations.parameters.items()},
        "equations": equations.text().split("\n"),
        "latex": equations.latex(),
    }


def document(equations: Equations, kind: str) -> str:
    """The equations as a file: LaTeX, Markdown or plain text."""
    if kind == ".tex":
        return f"% {equations.name}, form {equations.form.name}\n\\[\n{equations.latex()}\n\\]\n"
    if kind == ".md":
        return f"# {equations.name}\n\nForm: {equations.form.name}\n\n```math\n{equations.latex()}\n```\n"
    return f"{equations.name}, form {equations.form.name}\n\n{equations.text()}\n"


MOTION_KINDS = (".nc", ".csv")
END = click.option("--end", metavar="TIME", type=float, help="End time, instead of the one in the file.")
METHOD = click.option("--method", metavar="METHOD", help="Integration method, instead of the one in the file.")
STEP = click.option("--step", metavar="TIME", type=float, help="Step of a fixed-step method.")


@MODEL
@OUTPUT
@FORCE
@FORM
@SET
@END
@METHOD
@STEP
@AT_SAMPLES
@JSON
def simulate(
    model: Path,
    output: Path | None,
    force: bool,
    form: str | None,
    settings: tuple[str, ...],
    end: float | None,
    method: str | None,
    step: float | None,
    at_samples: bool,
    json: bool,
) -> int:
    """Simulate the motion.

    If the file has [digital], it is simulated once more with the laws on a processor. Ctrl-C ends the run and keeps the
    motion computed so far. Exit code 1 means that a run ended early.

    \b
    Examples:
      vinculum simulate model.toml -o motion.nc
      vinculum simulate model.toml --set m=0.3 --end 20 --json
    """
    from vinculum.cli.digital_output import digital_data, refuse_without, show_digital
    from vinculum.cli.options import opened, refuse_unasked
    from vinculum.cli.terminal import as_json, free_place, table
    from vinculum.model.examine import equations_of

    free_place(output, force, MOTION_KINDS)
    asked = opened(model, settings, form)
    refuse_unasked(asked, model, "simulation")
    if at_samples:
        refuse_without(asked, model, "simulation")
    asked = _changed(asked, {"end": end, "method": method, "step": step})
    equations = equations_of(asked)
    motion = moved(asked, equations)
    sampled = sampled_motion(asked, equations) if asked.digital_motion == "simulation" else None
    if output is not None:
        stored(sampled.motion if at_samples and sampled is not None else motion, output)
    if json:
        further = {} if sampled is None else {"digital": digital_data(asked.name, sampled)}
        say(as_json(motion_data(asked.name, motion) | further))
    else:
        table(asked.name, rows_of(motion))
        if sampled is not None:
            show_digital(sampled)
    runs = [motion, *([] if sampled is None else [sampled.motion])]
    if any(run.outcome.kind == "interrupted" for run in runs):
        return INTERRUPTED
    return DONE if all(run.outcome for run in runs) else NO


def moved(model: Model, equations: Equations) -> Trajectory:
    """The motion, with a progress bar."""
    from vinculum.cli.terminal import bar
    from vinculum.model.examine import motion_of

    with bar(f"simulating {model.name}") as report:
        return motion_of(model, equations, report)


def sampled_motion(model: Model, equations: Equations) -> DigitalRun:
    """The motion with its laws at samples, with a progress bar."""
    from vinculum.cli.terminal import bar
    from vinculum.model.examine import digital_motion_of

    with bar(f"simulating {model.name} with its laws at samples") as report:
        return digital_motion_of(model, equations, report)


def _changed(model: Model, changes: dict[str, Any]) -> Model:
    """The model with another end, method or step of its motion."""
    from dataclasses import replace

    how = dict(model.simulation or {})
    if changes["end"] is not None and "times" in how:
        how["times"] = (float(how["times"][0]), changes["end"])
    how |= {key: changes[key] for key in ("method", "step") if changes[key] is not None}
    return replace(model, simulation=how or None)


def stored(motion: Trajectory, path: Path) -> None:
    """Save everything as NetCDF, or a table of the samples as text."""
    from vinculum.cli.terminal import tell_where

    motion.save(path, overwrite=True)  # --force was checked before
    tell_where(path)


def rows_of(motion: Trajectory) -> dict[str, Any]:
    """The outcome of the run, and the values at its end."""
    from vinculum.simulation.trajectory.trajectory import summary_rows

    last = {f"{name} at the end": float(values[-1]) for name, values in motion.own_columns.items()}
    inputs = {f"input {name}": _course(values) for name, values in motion.inputs.items()}
    return {**summary_rows(motion), **inputs, **last}


def _course(values: np.ndarray) -> str:
    """The range of the samples and the last value."""
    return f"{values.min():.6g} to {values.max():.6g}, at the end {values[-1]:.6g}"


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """How a run ended: kind, time, the cause with what it is about and its numbers, and the sentence."""
    return {
        "kind": outcome.kind,
        "time": outcome.time,
        "cause": outcome.cause.name,
        "about": [{"kind": part.kind, "name": part.name} for part in outcome.about],
        "numbers": dict(outcome.numbers),
        "reason": outcome.reason,
    }


def motion_data(name: str, motion: Trajectory) -> dict[str, Any]:
    """The outcome of the run as data."""
    return {
        "name": name,
        "outcome": outcome_data(motion.outcome),
        "method": motion.method,
        "stabilization": motion.stabilization,
        "steps": motion.steps,
        "samples": len(motion.t),
        "energy_error": motion.energy_error,
        "beyond": [{"name": b.name, "used": b.used, "points": b.points} for b in motion.beyond],
        "largest_residuals": [
            {"constraint": key[0], "level": key[1], "residual": value, "promised": motion.promised.get(key)}
            for key, value in motion.largest_residuals.items()
        ],
        "events": [{"name": event.name, "time": event.time, "rising": event.rising} for event in motion.events],
        "careful": [str(words) for words in motion.beyond],
        "event_times": motion.event_times,
        "inputs": {
            name: {"smallest": float(values.min()), "largest": float(values.max()), "final": float(values[-1])}
            for name, values in motion.inputs.items()
        },
        "final": {key: float(values[-1]) for key, values in motion.own_columns.items()},
        "seconds": dict(motion.seconds),
    }
