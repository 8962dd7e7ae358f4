"""The panel with the numbers that may change: a slider and a field for each, and what the new motion is worth."""

from __future__ import annotations

from collections.abc import Sequence

from vinculum.model.model import Model
from vinculum.names import name_of
from vinculum.present.html import Html, empty, joined, paragraph, tag, text
from vinculum.present.mathml import inline
from vinculum.present.report.formulas import unit_of
from vinculum.present.report.live import Live, Setting
from vinculum.present.report.scenes import Animation

_TITLES = {"parameter": "Parameters", "start": "Start", "gain": "Gains", "rate": "Rates of the constraints"}


def panel(live: Live, model: Model, shown: Sequence[Animation]) -> Html:
    """Sliders by kind, a reset, and the state of the computation; only words where nothing can be computed."""
    refused = _refusals(live, shown)
    if not live.settings:
        return refused
    groups = [_group(live, model, kind) for kind in _TITLES]
    reset = tag("button", "Reset", id="reset", type="button", disabled="")
    head = tag("div", tag("h3", "Change the numbers"), reset, class_="head")
    state = tag("p", _FIRST, id="computed", role="status")
    return tag("div", head, state, *groups, refused, class_="dials", id="dials")


_FIRST = "The motion is computed again in this page, without a network. Double-click a name to reset its value."


def _refusals(live: Live, shown: Sequence[Animation]) -> Html:
    """Why a motion has no sliders."""
    names = {one.run: one.name for one in shown}
    return joined(
        paragraph(f"{names[run]}: no sliders, because {why}.", class_="note refused", data_runs=run)
        for run, why in live.refused.items()
    )


def _group(live: Live, model: Model, kind: str) -> Html:
    rows = [_row(name, setting, model, i) for i, (name, setting) in enumerate(live.settings.items())
            if setting.kind == kind]  # fmt: skip
    if not rows:
        return text("")
    runs = dict.fromkeys(run for s in live.settings.values() if s.kind == kind for run in s.runs)
    title = tag("h4", _TITLES[kind])
    return tag("div", title, *rows, class_="kind-of-dial", data_runs=" ".join(runs))


def _breakable(name: str) -> Html:
    """A long name that may be divided after its underscores."""
    parts = name.split("_")
    return joined(piece for i, part in enumerate(parts) for piece in ([part] if i == 0 else ["_", empty("wbr"), part]))


def _row(name: str, setting: Setting, model: Model, number: int) -> Html:
    own = name_of(setting.key)
    meaning = model.meanings.get(setting.key, "")
    identifier = f"dial-{number}"
    title = joined([inline(setting.key), tag("small", f" {meaning}") if meaning else ""])
    return tag(
        "div",
        tag("label", title if setting.kind in ("parameter", "start") else _breakable(own), for_=identifier),
        empty("input", type="range", min="-1", max="1", step="0.005", value="0", aria_label=f"{own}, slider"),
        empty("input", type="number", step="any", id=identifier, value=f"{setting.value:.6g}"),
        tag("span", unit_of(model, setting.key), class_="unit"),
        class_="dial",
        data_setting=name,
        data_runs=" ".join(setting.runs),
    )
