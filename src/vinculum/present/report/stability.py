"""Equilibria, their stability, and the feedback that stabilizes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.analyze import ModeShape, Verdict
from vinculum.analyze.stability import damping_ratios
from vinculum.control import Estimator, FeedbackLaw
from vinculum.model.examine import Point, Results
from vinculum.names import name_of
from vinculum.present.html import (
    Html,
    Section,
    counted,
    joined,
    number,
    pairs,
    paragraph,
    powers,
    root,
    section,
    sentence,
    table,
    tag,
    text,
)
from vinculum.present.mathml import formula, inline
from vinculum.present.report.charts import compressed, figure, root_map
from vinculum.present.report.digital import processor
from vinculum.present.report.formulas import quantity
from vinculum.present.report.loop import loop


def equilibria(results: Results) -> Section | None:
    """All equilibria side by side: coordinates, inputs, reactions, verdict."""
    points = results.points
    if not points:
        return None
    moving = [key for key in points[0].rest if any(p.rest.clean(p.rest[key]) for p in points)]
    fixed = [key for key in points[0].rest if key not in points[0].rest.ignorable]
    keys = [key for key in fixed if not isinstance(key, sp.Derivative) or key in moving]
    head = ["", *(f"{p.rest.kind} {i}" for i, p in enumerate(points, start=1))]
    rows = [[quantity(results.model, key), *(number(p.rest.clean(p.rest[key]), 8) for p in points)] for key in keys]
    known = {} if results.equations is None else results.equations.holding
    holding = {name: u for name, u in known.items() if u not in points[0].rest}
    for name in points[0].rest.reactions:
        label = quantity(results.model, holding[name]) if name in holding else text(f"reaction of {name}")
        rows.append([label, *(number(p.rest.clean(p.rest.reactions[name]), 8) for p in points)])
    rows.append([text("residual"), *(number(p.rest.residual, 2) for p in points)])
    rows.append([text("verdict"), *(badge(p.verdict) for p in points)])
    title = "Steady motions" if points[0].rest.steady else "Equilibria"
    return section("equilibria", title, _running(points[0]), table(head, rows, range(1, len(head))))


def _running(point: Point) -> Html:
    """Which coordinates run uniformly in a steady motion."""
    rest = point.rest
    if not rest.steady:
        return text("")
    words = "In a steady motion these quantities are constant: "
    others = (" The motion does not depend on ", _list(rest.ignorable)) if rest.ignorable else ()
    return paragraph(words, _list(rest.constant), *others)


def badge(verdict: Verdict | None) -> Html:
    """One or two words in a matching color."""
    if verdict is None:
        return text("not decided")
    kind = "bad" if verdict.kind == "unstable" else "good" if verdict else "open"
    return tag("span", f"{verdict.kind} (drift)" if verdict.drifting else verdict.kind, class_=f"badge {kind}")


def stability(results: Results) -> Section | None:
    """For every equilibrium, the verdict and the roots, with and without feedback."""
    parts = [_studied(p, title, rate_unit(results)) for title, p in _titled(results) if p.verdict is not None]
    return section("stability", "Stability", *parts) if parts else None


def rate_unit(results: Results) -> str:
    """The unit of roots, if the model has units."""
    return "1/s" if results.model.units else ""


def _titled(results: Results) -> list[tuple[Html, Point]]:
    """Every equilibrium with its heading, which is empty if there is only one."""
    several = len(results.points) > 1
    return [
        (tag("h3", f"{point.rest.kind.capitalize()} {i}") if several else text(""), point)
        for i, point in enumerate(results.points, start=1)
    ]


def _studied(point: Point, title: Html, unit: str) -> Html:
    assert point.verdict is not None
    parts = [title, told(point.verdict), _structure(point.verdict)]
    verdicts = [("without feedback", point.verdict)]
    if point.closed_verdict is not None:
        parts.append(told(point.closed_verdict, "With feedback: "))
        verdicts.append(("with feedback", point.closed_verdict))
    sets = [(words, verdict.shown_roots) for words, verdict in verdicts]
    if not any(len(roots) for _, roots in sets):
        return joined(parts)
    chart = figure(root_map(sets, point.verdict.critical, unit), words="roots in the complex plane")
    if compressed(np.concatenate([roots for _, roots in sets])):
        chart = joined(
            [chart, paragraph("Both axes are compressed to show slow and fast roots together.", class_="note")]
        )
    return joined([*parts, tag("div", tag("div", chart), tag("div", *(_roots(*v) for v in verdicts)), class_="beside")])


def told(verdict: Verdict, before: str = "") -> Html:
    """The verdict, the reason, the theorem, and what would decide an undecided case."""
    why = tag("span", sentence(verdict.explanation))
    further = (" ", verdict.advice) if verdict.advice else ()
    cited = tag("cite", sentence(verdict.theorem))
    return paragraph(before, badge(verdict), " ", why, " ", cited, *further, class_="verdict")


def _structure(verdict: Verdict) -> Html:
    """Structural zeros by reason, and what drifts."""
    zeros = [f"{counted(count, 'zero root')} ({reason})" for reason, count in verdict.zeros.items()]
    parts: list[str | Html] = [f"By structure: {', '.join(zeros)}."] if zeros else []
    if verdict.drifting:
        parts += [" Drifting: ", _list(verdict.drifting)]
    return paragraph(*parts, class_="note") if parts else text("")


def _roots(name: str, verdict: Verdict) -> Html:
    upper = np.array(pairs(verdict.shown_roots), dtype=complex)
    rows = [
        [root(r), number(ratio, 3), number(abs(r), 4), _mode(verdict.mode_of(r))]
        for r, ratio in zip(upper, damping_ratios(upper), strict=True)
    ]
    return joined([tag("h4", f"Roots {name}"), table(["root", "damping", "frequency", "mode"], rows, [0, 1, 2])])


_MOST_OF_A_MODE = 3  # coordinates of a mode in a table, those with the largest shares


def _mode(mode: ModeShape) -> Html:
    """The coordinates that move most; all of them under the pointer."""
    entries = mode.proportions.split(", ")
    if len(entries) <= _MOST_OF_A_MODE:
        return powers(mode.label)
    named = f"{mode.name}: " if mode.name else ""
    shown = powers(f"{named}{', '.join(entries[:_MOST_OF_A_MODE])}, …")
    return tag("span", shown, title=mode.label)


def feedback(results: Results) -> Section | None:
    """Gains, observer, margins and the law at samples, for every equilibrium."""
    parts = [_controlled(p, title, bool(rate_unit(results))) for title, p in _titled(results) if p.law is not None]
    words = (
        "Each input is its equilibrium value plus the gains times the deviation of the state from the equilibrium, ",
        formula("u = u_0 + K (x - x_0)"),
        f"; {_choice(results)} The closed loop is the full nonlinear system.",
    )
    return section("feedback", "Feedback", paragraph(*words), *parts) if parts else None


_CHOICES = {
    "poles": "the gains give the closed loop the poles of the model.",
    "gain": "the gains are those of the model.",
    "pid": "a PID controller with the gains of the model acts on one output.",
}


def _choice(results: Results) -> str:
    """How the gains were chosen."""
    kind = next((kind for kind in _CHOICES if kind in (results.model.control or {})), None)
    return "the gains minimize the quadratic cost with the weights of the model." if kind is None else _CHOICES[kind]


def _controlled(point: Point, title: Html, seconds: bool) -> Html:
    assert point.law is not None
    parts = [title, gains(point.law)]
    if point.estimator is not None:
        parts.append(observer(point.estimator))
    parts.append(loop(point, seconds))
    return joined([*parts, *([] if point.digital is None else [processor(point.digital)])])


def gains(law: FeedbackLaw) -> Html:
    """A row for each input, a column for each state."""
    states = law.linear.states
    head = ["input", "at rest", *(inline(s) for s in states)]
    rows = [
        [inline(u), number(law.linear.at[u], 6), *(number(k, 6) for k in _without_rounding(row))]
        for u, row in zip(law.linear.inputs, law.gain, strict=True)
    ]
    return joined([table(head, rows, range(1, len(head)), class_="gains"), _own_states(law)])


def _without_rounding(gains: np.ndarray) -> np.ndarray:
    """Gains of one input, those that are rounding errors next to the largest one as zero."""
    return np.where(np.abs(gains) <= _ROUNDING * np.abs(gains).max(initial=0.0), 0.0, gains)


_ROUNDING = 1e-14


def _own_states(law: FeedbackLaw) -> Html:
    """The gains of integrals, filters and outputs of the controller."""
    own = law.compensator
    if own is None:
        return text("")
    head = ["input", *(name_of(z) for z in own.states), *(joined(["output ", inline(y)]) for y in own.outputs)]
    rows = [
        [inline(u), *(number(k, 6) for k in (*c, *d))] for u, c, d in zip(law.linear.inputs, own.C, own.D, strict=True)
    ]
    return joined([tag("h4", "States and outputs of the controller"), table(head, rows, range(1, len(head)))])


def observer(estimator: Estimator) -> Html:
    """The measured outputs and the gains of the observer."""
    head = ["state", *(joined(["gain of ", inline(y)]) for y in estimator.outputs)]
    rows = [
        [inline(s), *(number(g, 6) for g in row)]
        for s, row in zip(estimator.estimated_states, estimator.gain, strict=True)
    ]
    slowest = paragraph(
        "Measured: ",
        _list(estimator.outputs),
        " The slowest root of the estimation error is ",
        root(complex(estimator.roots[0])),
        ".",
    )
    return joined([tag("h4", "Observer"), slowest, table(head, rows, range(1, len(head)))])


def _list(keys: Sequence[sp.Expr]) -> Html:
    """Symbols and a period; each stays on the line of the sign after it."""
    signs = [*[","] * (len(keys) - 1), "."]
    pieces = (tag("span", inline(key), sign, class_="closed") for key, sign in zip(keys, signs, strict=True))
    return joined(part for i, piece in enumerate(pieces) for part in ((" " if i else ""), piece))
