"""The top of the page (results, animation of the mechanism) and its end (errors, times, versions)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vinculum.describe import AffineSystem
from vinculum.model.examine import Point, Results
from vinculum.present.html import (
    Html,
    Section,
    counted,
    duration,
    empty,
    joined,
    listing,
    number,
    paragraph,
    section,
    sentence,
    table,
    tag,
    text,
)
from vinculum.present.mathml import prose
from vinculum.present.report.charts import key_of
from vinculum.present.report.scenes import Animation, legend


def heading(results: Results) -> Html:
    """The name, the description, and the results in a few sentences."""
    model = results.model
    words = [paragraph(prose(part)) for part in model.description.split("\n\n") if part.strip()]
    summary = paragraph(*(joined([s, " "]) for s in sentences(results)), class_="summary")
    return tag("header", tag("h1", model.name), *words, summary, class_="title")


def sentences(results: Results) -> list[Html]:
    """The results in whole sentences."""
    told = [text(_system(results)), *_motion(results), *_rest(results)]
    if results.refusals:
        told.append(text(f"{counted(len(results.refusals), 'step').capitalize()} could not be done; see below."))
    return told


def _system(results: Results) -> str:
    system = results.model.system
    if isinstance(system, AffineSystem):
        what = [counted(len(system.states), "state"), counted(len(system.inputs), "unknown input")]
    else:
        what = [counted(len(system.coordinates), "coordinate"), counted(len(system.inputs), "input")]
    what.append(counted(len(system.constraints), "constraint"))
    form = "" if results.equations is None else f", in the form “{results.equations.form.name}”"
    return sentence(f"{listing(what)}{form}")


def _motion(results: Results) -> list[Html]:
    motion = results.main_motion
    if motion is None:
        return []
    words = [text("The motion was simulated from t = "), number(motion.t[0]), text(" to "), number(motion.t[-1])]
    largest = max(motion.largest_residuals.values(), default=None)
    if largest is not None:
        words += [text("; no constraint was violated by more than "), number(largest, 2)]
    early = [] if motion.outcome else [text(f" {sentence(str(motion.outcome))}")]
    return [joined([*words, ".", *early]), *(text(sentence(f"Warning: {beyond}")) for beyond in motion.beyond)]


def _rest(results: Results) -> list[Html]:
    points = results.points
    if not points:
        return []
    kinds = [point.verdict.kind for point in points if point.verdict is not None]
    found = counted(len(points), "equilibrium", "equilibria")
    tally = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    told = [text(sentence(f"{found} found{': ' + tally if tally else ''}"))]
    closed = [p for p in points if p.closed_verdict is not None]
    return told + ([text(_feedback(closed))] if closed else [])


def _feedback(closed: Sequence[Point]) -> str:
    good = sum(p.closed_verdict is not None and p.closed_verdict.kind == "asymptotically stable" for p in closed)
    lost = sum(p.settling is not None and not p.settling for p in closed)
    failed = f", but {lost} of {counted(len(closed), 'motion')} of the closed loop did not converge to its equilibrium"
    if good == len(closed):
        words = f"Feedback makes {'it' if good == 1 else 'each of them'} asymptotically stable"
    else:
        words = f"Feedback stabilizes {good} of {len(closed)}"
    return sentence(words + (failed if lost else ""))


def bench(
    shown: Sequence[Animation], scene: dict[str, Any] | None, problem: str, groups: Sequence[Html], dials: Html
) -> Section:
    """The mechanism next to the charts of its motion: one time for both."""
    if not shown:
        return section("mechanism", "The mechanism", paragraph(problem, class_="notice"))
    picture = tag("div", id="stage", class_="stage", tabindex="0", role="img", aria_label="The mechanism in motion")
    top = picture if scene is not None else paragraph(problem, class_="notice")
    player = tag(
        "div",
        top,
        _controls(shown, bool(scene and scene["arrows"])),
        "" if scene is None else _legend(scene),
        class_="player",
    )
    kind = "bench" if scene is not None else "bench still"
    side = tag("div", player, dials, class_="side")
    body = tag("div", side, tag("div", *groups, class_="groups"), class_=kind)
    return section("mechanism", "Mechanism and motion", body)


def nothing(results: Results) -> str:
    """Why no motion is shown: a page may be written before the motion is computed."""
    model, refused = results.model, {**results.refused}
    first = model.simulation is not None and "motion" not in results.seconds and "equations" not in refused
    looped = model.closed_loop is not None and model.control is not None
    second = looped and not results.points and not {"equations", "equilibria"} & set(refused)
    return "The motion is still being computed." if first or second else _NOTHING


_NOTHING = "Nothing was simulated, so there is nothing to show."
_SPEEDS = {"¼ ×": 0.25, "½ ×": 0.5, "1 ×": 1, "2 ×": 2, "4 ×": 4}


def _controls(shown: Sequence[Animation], arrows: bool = False) -> Html:
    choices = [tag("option", one.name, value=i) for i, one in enumerate(shown)]
    speeds = [tag("option", words, value=x, selected="" if x == 1 else None) for words, x in _SPEEDS.items()]
    which = tag("label", "Motion", tag("select", *choices, id="which"), class_="choice which")
    forces = tag("label", empty("input", id="arrows", type="checkbox"), "arrows", class_="choice")
    return tag(
        "div",
        tag("button", "Play", id="play", type="button", aria_pressed="false", title="space"),
        empty("input", id="time", type="range", min="0", max="1", step="any", value="0", aria_label="time"),
        tag("output", "t = 0", id="clock", for_="time"),
        tag("label", tag("select", *speeds, id="speed", aria_label="speed"), class_="choice"),
        tag("label", empty("input", id="loop", type="checkbox"), "loop", class_="choice"),
        tag("label", empty("input", id="follow", type="checkbox", checked=""), "follow", class_="choice", hidden=""),
        forces if arrows else "",
        which if len(shown) > 1 else "",
        class_="controls",
    )


def _legend(scene: dict[str, Any]) -> Html:
    space = "in space; drag to rotate" if scene["dimension"] == 3 else "in the plane"
    paths = scene["traces"]
    named_paths = f"{', '.join(paths[:4])}{' and others' if len(paths) > 4 else ''}"
    lines = "Thin line: the path" if len(paths) == 1 else "Thin lines: paths"
    traced = f" {lines} of {named_paths}." if paths else ""
    keys = [key_of(f"var({color})", name) for name, color in legend(scene)]
    return joined([tag("div", *keys, class_="keys"), paragraph(f"Drawn to scale {space}.{traced}", class_="note")])


def refusals(results: Results) -> Html:
    """Every step that failed, with the reason."""
    if not results.refusals:
        return text("")
    boxes = [
        tag("div", tag("h3", f"Not done: {step}"), tag("p", reason, class_="reason"), class_="notice")
        for step, reason in results.refusals.items()
    ]
    return tag("div", *boxes, id="refused")


def colophon(results: Results, seconds: Mapping[str, float]) -> Section:
    """Times of every step and versions of the software."""
    times = {**results.seconds, **seconds}
    rows = [[step, duration(value)] for step, value in times.items()]
    rows.append([tag("b", "all"), tag("b", duration(sum(times.values())))])
    with_what = table(["computed with", "version"], [[name, number] for name, number in results.versions.items()])
    both = tag("div", tag("div", table(["step", "time"], rows, [1])), tag("div", with_what), class_="beside")
    source = results.model.source
    origin = "" if source is None else tag("p", "Model file: ", tag("code", source.name), class_="note")
    return section("about", "How this was computed", joined([origin, both]))
