"""An equilibrium, its stability and its feedback, as tables and as data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vinculum.analyze import Border, Equilibrium, ModeShape, Verdict
    from vinculum.control import Compensator, Estimator, FeedbackLaw
    from vinculum.control.margins import Margin
    from vinculum.model.examine import Equations, Settling

LAW = "u = u0 + K (x - x0)"  # K with its own sign: no minus in front
COMPENSATOR = "z' = A z + B (y - y0), u = u0 + K (x - x0) + C z + D (y - y0)"
OBSERVER = "estimate' = F estimate + H (u - u0) + L (y - y0 - C estimate)"
REDUCED_OBSERVER = "z' = (T - L C) (F estimate + H (u - u0)), T estimate = z + L (y - y0)"

# -- tables ----------------------------------------------------------------------------------------------------


def show_rest(title: str, rest: Equilibrium, equations: Equations) -> None:
    """Its values, nonzero velocities, reactions, and the inputs that hold servo constraints.

    Of a steady motion, also the coordinates that run.
    """
    from vinculum.cli.terminal import table
    from vinculum.names import listed, name_of

    labels = {name: f"reaction of {name}" for name in rest.reactions}
    labels |= {name: name_of(u) for name, u in equations.holding.items() if u not in rest}
    reactions = {labels[name]: rest.clean(value) for name, value in rest.reactions.items()}
    table(title, {**rest.shown, **reactions, **({"ignorable": listed(rest.ignorable)} if rest.ignorable else {})})


def show_verdict(title: str, verdict: Verdict) -> None:
    """The verdict, the theorem, the reason with what was checked, what drifts, and what would decide."""
    from vinculum.cli.terminal import table
    from vinculum.names import listed

    further = {
        "drifting": listed(verdict.drifting),
        "would decide": verdict.advice,
        "structural zeros": ", ".join(f"{count} ({reason})" for reason, count in verdict.zeros.items()),
    }
    rows = {"verdict": verdict.kind, "theorem": verdict.theorem, "because": verdict.explanation}
    table(title, rows | {label: words for label, words in further.items() if words})


def show_roots(verdict: Verdict) -> None:
    """Every root with its damping ratio and its mode; nothing at a corner, where there are none."""
    from vinculum.analyze.stability import damping_ratios
    from vinculum.cli.terminal import grid

    shown = verdict.shown_roots
    if not len(shown):
        return
    rows = zip(shown, damping_ratios(shown), map(verdict.mode_of, shown), strict=True)
    grid(
        "roots",
        ("root", "damping ratio", "mode"),
        [(complex(root), float(ratio), mode.label) for root, ratio, mode in rows],
    )


def show_borders(borders: Sequence[Border]) -> None:
    """Where the motion becomes or ceases to be stable, and by which mode; nothing if it was not asked."""
    from vinculum.cli.terminal import grid
    from vinculum.names import name_of

    rows = [
        (
            name_of(b.over),
            b.value,
            "becomes stable" if b.gained else "ceases to be",
            float(b.root.imag),
            b.mode.label,
        )
        for b in borders
    ]
    if rows:
        grid("borders of stability", ("over", "value", "the motion", "frequency [rad/s]", "mode"), rows)


def show_gains(law: FeedbackLaw, estimator: Estimator | None) -> None:
    """A row for each state: its gain to each input and, with an observer, from each output."""
    from vinculum.cli.terminal import grid
    from vinculum.names import name_of

    states = [name_of(state) for state in law.linear.states]
    columns = ("state", *map(name_of, law.linear.inputs))
    grid(f"gains of the feedback, {LAW}", columns, [(s, *map(float, law.gain[:, i])) for i, s in enumerate(states)])
    if law.compensator is not None:
        own = law.compensator
        names = [*map(name_of, own.states), *(f"{name_of(y)} (output)" for y in own.outputs)]
        rows = [(name, *map(float, column)) for name, column in zip(names, _columns(own), strict=True)]
        grid(f"gains of the controller, {COMPENSATOR}", columns, rows)
    if estimator is not None:
        rows = [(name_of(s), *map(float, estimator.gain[i])) for i, s in enumerate(estimator.estimated_states)]
        law_words = OBSERVER if estimator.order == "full" else REDUCED_OBSERVER
        grid(f"gains of the observer, {law_words}", ("state", *map(name_of, estimator.outputs)), rows)


def show_margins(
    found: Mapping[Any, Margin], title: str = "margins of the loop at each input", observed: bool = False
) -> None:
    """Gain, phase and delay margins at every input, and a sentence about small ones."""
    from vinculum.cli.terminal import grid, say
    from vinculum.control.margins import small_margins
    from vinculum.names import name_of

    head = ("input", "gain from", "gain to", "phase [deg]", "delay", "smallest |1 + L|")
    rows = [
        (name_of(u), m.gain_reduction, m.gain, math.degrees(m.phase), m.delay, m.distance) for u, m in found.items()
    ]
    grid(title, head, rows)
    for words in small_margins(found, observed):
        say(words)


def _columns(own: Compensator) -> Any:
    """A column for each state and each output of the controller."""
    import numpy as np

    return np.hstack([own.C, own.D]).T


# -- data ------------------------------------------------------------------------------------------------------


def rest_data(rest: Equilibrium) -> dict[str, Any]:
    """All values by name, the reactions, and the residual of the equations."""
    from vinculum.names import name_of

    values = {name_of(key): float(value) for key, value in rest.items()}
    data = {"kind": rest.kind, "values": values, "reactions": dict(rest.reactions), "residual": rest.residual}
    if not rest.steady:
        return data
    return data | {"constant": [*map(name_of, rest.constant)], "ignorable": [*map(name_of, rest.ignorable)]}


def borders_data(borders: Sequence[Border]) -> list[dict[str, Any]]:
    """Values at which the stability changes, and the modes that change it."""
    from vinculum.names import name_of

    return [
        {
            "over": name_of(b.over),
            "value": b.value,
            "stable_above": b.gained,
            "frequency": float(b.root.imag),
            "name": b.mode.name,
            "mode": shape_data(b.mode),
        }
        for b in borders
    ]


def shape_data(mode: ModeShape) -> dict[str, list[float]]:
    """The proportions of the coordinates in a mode, [real, imaginary]."""
    from vinculum.names import name_of

    return {name_of(x): [float(z.real), float(z.imag)] for x, z in mode.shape.items()}


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """The verdict and its evidence."""
    from vinculum.names import name_of

    return {
        "kind": verdict.kind,
        "stable": bool(verdict),
        "theorem": verdict.theorem,
        "explanation": verdict.explanation,
        "roots": [complex(root) for root in verdict.roots],
        "modes": [{"name": m.name, "root": m.root, "motion": m.motion, "shape": shape_data(m)} for m in verdict.modes],
        "structural_zero_roots": verdict.critical,
        "structural_zeros": dict(verdict.zeros),
        "drifting": [*map(name_of, verdict.drifting)],
        "would_decide": verdict.advice,
    }


def law_data(law: FeedbackLaw) -> dict[str, Any]:
    """The gains of the feedback, (inputs, states)."""
    from vinculum.names import name_of

    linear = law.linear
    names = {"states": [*map(name_of, linear.states)], "inputs": [*map(name_of, linear.inputs)]}
    data = {"law": LAW, **names, "gain": law.gain}
    return data if law.compensator is None else data | {"controller": compensator_data(law.compensator)}


def compensator_data(own: Compensator) -> dict[str, Any]:
    """The controller's own states: z' = A z + B (y - y0), with C z + D (y - y0) added to the inputs."""
    from vinculum.names import name_of

    names = {"states": [*map(name_of, own.states)], "outputs": [*map(name_of, own.outputs)]}
    return {"law": COMPENSATOR, **names, "A": own.A, "B": own.B, "C": own.C, "D": own.D}


def margin_data(found: Mapping[Any, Margin]) -> dict[str, Any]:
    """Margins by input; None where there is no limit."""
    from vinculum.names import name_of

    def finite(x: float) -> float | None:
        return x if math.isfinite(x) else None

    return {
        name_of(u): {
            "gain_from": m.gain_reduction,
            "gain_to": finite(m.gain),
            "phase": finite(m.phase),
            "delay": finite(m.delay),
            "smallest_distance_from_minus_one": m.distance,
            "doubts": m.doubts,
        }
        for u, m in found.items()
    }


def observer_data(estimator: Estimator) -> dict[str, Any]:
    """The gains of the observer, (states, outputs)."""
    from vinculum.names import name_of

    law = OBSERVER if estimator.order == "full" else REDUCED_OBSERVER
    names = {"outputs": [*map(name_of, estimator.outputs)], "estimated": [*map(name_of, estimator.estimated_states)]}
    return {"law": law, "order": estimator.order, **names, "gain": estimator.gain}


def arrival_data(arrival: Settling) -> dict[str, Any]:
    """Whether the closed loop converged to the equilibrium, and how long each input was at its limit."""
    limits = {u: {"limit": limit, "time_at_limit": arrival.limited[u]} for u, limit in arrival.limits.items()}
    return {
        "came_to_the_equilibrium": arrival.settled,
        "distance_at_the_start": arrival.start,
        "distance_at_the_end": arrival.end,
        "lasted": arrival.lasted,
        "limits": limits,
    }
