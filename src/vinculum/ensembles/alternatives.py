"""Studies of several equations or input laws: one study for each, side by side along a dimension of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vinculum.ensembles.threads import MISSING, nothing
from vinculum.errors import VinculumError
from vinculum.names import name_of, variable_name
from vinculum.simulation.progress import Shown, progress_bar

if TYPE_CHECKING:
    import xarray as xr

    from vinculum.ensembles.plan import Study

DIMENSION = "equations"
Planner = Callable[..., "Study"]


def alternatives_of(equations: Any, over: Any) -> tuple[str, dict[str, dict[str, Any]]] | None:
    """The first dimension of names, and for every name the arguments that it changes; None if there is none."""
    if isinstance(equations, Mapping):
        return DIMENSION, {_text(name): {"equations": one} for name, one in equations.items()}
    named = [key for key in over if isinstance(over[key], Mapping)] if isinstance(over, Mapping) else []
    if not named:
        return None
    others = {key: values for key, values in over.items() if key is not named[0]}
    laws = over[named[0]].items()
    return variable_name(named[0]), {_text(name): {"over": others, "law": (named[0], law)} for name, law in laws}


def _text(name: Any) -> str:
    if not isinstance(name, str) or not name or "/" in name or name.startswith("."):
        raise VinculumError(f"{name!r} names equations or a law; give a short text such as 'feedback'.")
    return name


def run_alternatives(
    study: Callable[..., xr.Dataset],
    plan: Planner,
    found: tuple[str, dict[str, dict[str, Any]]],
    arguments: Mapping[str, Any],
    store: str | Path | None,
    progress: Shown,
    where: Mapping[str, Any],
) -> xr.Dataset:
    """One study after the other, each in its own folder of the store; after Ctrl-C the others are empty."""
    import xarray as xr

    dimension, alternatives = found
    if not alternatives:
        raise VinculumError(f"There is nothing to compare along {dimension}. Give at least one name.")
    arguments = _with_same_times(plan, arguments, alternatives)
    parts, stopped = [], False
    with progress_bar(progress, f"{len(alternatives)} studies") as report:
        for number, (name, changes) in enumerate(alternatives.items()):
            asked = _changed(arguments, changes)
            if stopped:
                empty = plan(**asked)
                parts.append(empty.dataset(nothing(empty, empty.runs)))
                continue
            folder = None if store is None else Path(store) / name
            share = _share(report, number, len(alternatives))
            parts.append(study(**asked, store=folder, progress=share, **where))
            stopped = bool((parts[-1].outcome == MISSING).any())
    return xr.concat(parts, xr.DataArray(list(alternatives), dims=dimension, name=dimension), join="outer")


def _with_same_times(
    plan: Planner, arguments: Mapping[str, Any], alternatives: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Where motions are kept and only their ends are given, the instants of the study that needs most of them."""
    if arguments.get("keep") != "motion":
        return arguments
    grids = [plan(**_changed(arguments, changes)).ensemble.grid for changes in alternatives.values()]
    return dict(arguments) | {"times": max(grids, key=len)}


def _share(report: Callable[[float], None], number: int, count: int) -> Callable[[float], None]:
    return lambda done: report((number + done) / count)


def _changed(arguments: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of one alternative."""
    changed = dict(arguments) | {key: value for key, value in changes.items() if key != "law"}
    if "law" in changes:
        u, law = changes["law"]
        inputs = dict(changed.get("inputs") or {})
        if u in inputs:
            raise VinculumError(f"{name_of(u)} is both in inputs and in over. Leave it out of inputs.")
        changed["inputs"] = inputs | {u: law}
    return changed
