"""Region of attraction and stability map of a model in the output of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vinculum.analyze import Equilibrium
    from vinculum.model.examine.motion_steps import Equations
    from vinculum.model.model import Model


def region_data(model: Model, equations: Equations, rest: Equilibrium) -> dict[str, Any]:
    """What [attraction] and [stability_map] ask for: counts, ranges, and Lyapunov's set; a refusal as its reason."""
    from vinculum.cli.terminal import bar
    from vinculum.errors import VinculumError
    from vinculum.model.examine.region_steps import attraction_of, map_of

    asked = {"attraction": (_attraction, attraction_of), "stability_map": (_map, map_of)}
    found: dict[str, Any] = {}
    for name, (described, compute) in asked.items():
        if getattr(model, name) is None:
            continue
        try:
            with bar(name.replace("_", " ")) as report:
                found[name] = described(compute(model, equations, rest, report))
        except VinculumError as error:
            found[name] = {"refused": str(error)}
    return found


def _attraction(region: Any) -> dict[str, Any]:
    from vinculum.names import name_of

    sampled, estimate = region.sampled, region.estimate
    inside = [start for start, good in zip(sampled.starts, sampled.converged, strict=True) if good]
    data: dict[str, Any] = {"starts": len(sampled.starts), "converged": len(inside)}
    data["over"] = {name_of(key): _range([start[key] for start in sampled.starts]) for key in sampled.starts[0]}
    data["converged_over"] = {
        name_of(key): _range([start[key] for start in inside]) for key in sampled.starts[0] if inside
    }
    data["lyapunov_set"] = region.without_estimate if estimate is None else _reach(estimate)
    return data


def _reach(estimate: Any) -> dict[str, float] | str:
    """How far the set of Lyapunov's form reaches from the equilibrium in every state."""
    from vinculum.names import name_of

    if estimate.level == float("inf"):
        return "Lyapunov's form decays in all directions at all distances that were tried"
    return {name_of(key): float(reach) for key, reach in estimate.reach.items()}


def _map(region: Any) -> dict[str, Any]:
    from vinculum.names import name_of

    counts = {side: int((region.sides == side).sum()) for side in ("stable", "unstable", "undecided", "none")}
    first, second = (name_of(parameter) for parameter in region.parameters)
    stable = region.stable
    ranges = {first: _range(region.first[stable.any(axis=1)]), second: _range(region.second[stable.any(axis=0)])}
    return {
        "pairs": int(region.sides.size),
        **{side: count for side, count in counts.items() if count},
        "over": {first: _range(region.first), second: _range(region.second)},
        "stable_over": ranges if stable.any() else {},
    }


def _range(values: Any) -> list[float]:
    return [float(min(values)), float(max(values))]


def show_regions(data: dict[str, Any]) -> None:
    """The regions in labeled rows."""
    from vinculum.cli.terminal import table

    titles = {"attraction": "region of attraction", "stability_map": "stability over two parameters"}
    for name, title in titles.items():
        if name in data:
            table(title, {key.replace("_", " "): _words(value) for key, value in data[name].items()})


def _words(value: Any) -> Any:
    """Ranges and reaches by name."""
    if not isinstance(value, dict):
        return value
    shown = {key: f"{v[0]:.6g} to {v[1]:.6g}" if isinstance(v, list) else f"±{v:.6g}" for key, v in value.items()}
    return ", ".join(f"{key} {reach}" for key, reach in shown.items()) or "none"
