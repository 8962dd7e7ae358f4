"""An equilibrium, its stability and its feedback, as tables and as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vinculum.analyze import Equilibrium, Verdict
    from vinculum.control import Estimator, FeedbackLaw
    from vinculum.model.examine import Equations, Settling

LAW = "u = u0 + K (x - x0)"  # K with its own sign: no minus in front
OBSERVER = "estimate' = F estimate + H (u - u0) + L (y - y0 - C estimate)"

# -- tables ----------------------------------------------------------------------------------------------------


def show_rest(title: str, rest: Equilibrium, equations: Equations) -> None:
    """Its values, nonzero velocities, reactions, and the inputs that hold servo constraints."""
    from vinculum.cli.terminal import table
    from vinculum.names import name_of

    labels = {name: f"reaction of {name}" for name in rest.reactions}
    labels |= {name: name_of(u) for name, u in equations.holding.items() if u not in rest}
    table(title, {**rest.shown, **{labels[name]: rest.clean(value) for name, value in rest.reactions.items()}})


def show_verdict(title: str, verdict: Verdict) -> None:
    """The verdict, the theorem and the reason."""
    from vinculum.cli.terminal import table

    table(title, {"verdict": verdict.kind, "theorem": verdict.theorem, "because": verdict.explanation})


def show_roots(verdict: Verdict) -> None:
    """Every root with its damping ratio."""
    from vinculum.cli.terminal import grid

    rows = zip(verdict.roots, verdict.damping_ratios, strict=True)
    grid("roots", ("root", "damping ratio"), [(complex(root), float(ratio)) for root, ratio in rows])


def show_gains(law: FeedbackLaw, estimator: Estimator | None) -> None:
    """A row for each state: its gain to each input and, with an observer, from each output."""
    from vinculum.cli.terminal import grid
    from vinculum.names import name_of

    states = [name_of(state) for state in law.linear.states]
    columns = ("state", *map(name_of, law.linear.inputs))
    grid(f"gains of the feedback, {LAW}", columns, [(s, *map(float, law.gain[:, i])) for i, s in enumerate(states)])
    if estimator is not None:
        rows = [(name_of(s), *map(float, estimator.gain[i])) for i, s in enumerate(estimator.estimated_states)]
        grid(f"gains of the observer, {OBSERVER}", ("state", *map(name_of, estimator.outputs)), rows)


# -- data ------------------------------------------------------------------------------------------------------


def rest_data(rest: Equilibrium) -> dict[str, Any]:
    """All values by name, the reactions, and the residual of the equations."""
    from vinculum.names import name_of

    values = {name_of(key): float(value) for key, value in rest.items()}
    return {"values": values, "reactions": dict(rest.reactions), "residual": rest.residual}


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """The verdict and its evidence."""
    return {
        "kind": verdict.kind,
        "stable": bool(verdict),
        "theorem": verdict.theorem,
        "explanation": verdict.explanation,
        "roots": [complex(root) for root in verdict.roots],
        "structural_zero_roots": verdict.critical,
    }


def law_data(law: FeedbackLaw) -> dict[str, Any]:
    """The gains of the feedback, (inputs, states)."""
    from vinculum.names import name_of

    linear = law.linear
    names = {"states": [*map(name_of, linear.states)], "inputs": [*map(name_of, linear.inputs)]}
    return {"law": LAW, **names, "gain": law.gain}


def observer_data(estimator: Estimator) -> dict[str, Any]:
    """The gains of the observer, (states, outputs)."""
    from vinculum.names import name_of

    return {"law": OBSERVER, "outputs": [*map(name_of, estimator.outputs)], "gain": estimator.gain}


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
