"""What could not be done, how long the rest took, and with what it was computed."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.model.examine import Findings
from vinculum.present.report.html import Section, joined, section, table, tag
from vinculum.present.report.words import duration


def refusals(findings: Findings) -> Section | None:
    """Every step that was refused, with the reason in words."""
    if not findings.refusals:
        return None
    boxes = [
        tag("div", tag("h3", f"Not done: {step}"), tag("p", reason, class_="reason"), class_="notice")
        for step, reason in findings.refusals.items()
    ]
    return section("refused", "What could not be done", *boxes)


def colophon(findings: Findings, seconds: Mapping[str, float]) -> Section:
    """Times of every step and versions of what computed them."""
    times = {**findings.seconds, **seconds}
    rows = [[step, duration(value)] for step, value in times.items()]
    rows.append([tag("b", "all"), tag("b", duration(sum(times.values())))])
    with_what = table(["computed with", "version"], [[name, number] for name, number in findings.versions.items()])
    both = tag("div", tag("div", table(["step", "time"], rows, [1])), tag("div", with_what), class_="beside")
    source = findings.model.source
    origin = "" if source is None else tag("p", "Model file: ", tag("code", source.name), class_="note")
    return section("about", "How this was computed", joined([origin, both]))
