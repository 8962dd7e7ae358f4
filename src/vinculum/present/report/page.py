"""A report as one HTML file: sections in order, motions as tables of numbers, style and script inside."""

from __future__ import annotations

import base64
import json
import secrets
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from vinculum.deprecations import renamed
from vinculum.errors import VinculumError
from vinculum.json_data import json_data
from vinculum.model.examine import Results, examine
from vinculum.model.examine.examination import versions
from vinculum.model.model import Model
from vinculum.present.html import Html, Section, duration, joined, size, tag, text
from vinculum.present.report import attraction, formulas, motion, overview, regions, stability, study
from vinculum.present.report.charts import Charts
from vinculum.present.report.dials import panel
from vinculum.present.report.live import live_motions, without_sliders
from vinculum.present.report.response import response
from vinculum.present.report.scenes import Animation, animations, stage
from vinculum.present.report.strip import strip
from vinculum.writing import refuse_place, write_file

MOST = 1_500_000  # bytes of a page with sliders


@dataclass(frozen=True)
class Written:
    """The path of a report, its size and its computing time."""

    path: Path
    bytes: int
    seconds: float  # in total, from the model to the file
    results: Results
    findings = renamed("findings", "results")

    def __str__(self) -> str:
        return f"{self.path} ({size(self.bytes)}, {duration(self.seconds)})"


def write_report(
    of: Model | Results,
    path: str | Path,
    progress: Callable[[str, float], None] | None = None,
    *,
    overwrite: bool = False,
) -> Written:
    """Examine a model (or use existing results) and write the page to a file.

    A file that exists is replaced only with ``overwrite=True``; otherwise it is refused before anything is computed.
    """
    began = clock.perf_counter()
    refuse_place(path, overwrite)
    results = of if isinstance(of, Results) else examine(of, progress)
    report = progress or (lambda step, share: None)
    report("page", 0.0)
    content = page(results).encode()
    write_file(path, content, overwrite=overwrite)
    report("page", 1.0)
    return Written(Path(path), len(content), clock.perf_counter() - began, results)


def page(results: Results) -> str:
    """The page as text; without sliders where they would make a large page even larger."""
    found = _page(results, sliders=True)
    return found if len(found.encode()) <= MOST else _page(results, sliders=False)


def _page(results: Results, sliders: bool) -> str:
    charts, began = Charts(), clock.perf_counter()
    shown = [*animations(results, charts), *study.worst_animation(results, charts)]
    scene, problem = _stage(results, charts, shown)
    groups = [_group(results, group, charts) for group in dict.fromkeys(one.group for one in shown)]
    live = live_motions(results, charts, shown) if sliders else without_sliders(shown, MOST)
    dials = panel(live, results.model, shown)
    sections = [overview.bench(shown, scene, problem or overview.nothing(results), groups, dials), *_sections(results)]
    described = {"films": [asdict(one) for one in shown], "scene": scene, "time": "s" if results.model.units else ""}
    described["live"] = live.data
    sections.append(overview.colophon(results, {"page": clock.perf_counter() - began}))
    top = tag("div", overview.heading(results), strip(results), class_="top")
    heading = joined([top, overview.refusals(results)])
    worker = live.code(_resource("script/worker.js")) if live.settings else ""
    return assembled(results.model.name, heading, sections, charts, described, worker=worker)


def assembled(
    title: str,
    heading: Html,
    sections: Sequence[Section],
    charts: Charts | None = None,
    described: Mapping[str, Any] | None = None,
    style: str = "",
    worker: str = "",
) -> str:
    """One file from its parts; ``style`` is added to the common style, ``worker`` is code that computes motions."""
    charts = charts or Charts()
    nonce = secrets.token_urlsafe(16)  # only the scripts of this page may run, whatever the texts of a model contain
    return Template(_resource("page.html")).substitute(
        title=text(title),
        nonce=nonce,
        style=_resource("style.css") + style,
        font=base64.b64encode(_file("mathematics.woff2").read_bytes()).decode(),
        heading=heading,
        contents=joined(part.link for part in sections),
        sections=joined(part.html for part in sections),
        description=_data(
            {"films": [], "scene": None, "time": "", "live": None, **(described or {}), "charts": charts.charts}
        ),
        runs=_data(charts.runs),
        worker=worker,
        script="\n".join(_resource(f"script/{name}.js") for name in SCRIPTS),
        version=text(versions()["vinculum"]),
        date=clock.strftime("%Y-%m-%d"),
    )


SCRIPTS = (
    "table",
    "charts",
    "plane",
    "space",
    "arrows",
    "stage",
    "player",
    "page",
    "dials",
)  # in this order, in one element


def _sections(results: Results) -> list[Section]:
    found = [
        stability.equilibria(results),
        stability.stability(results),
        regions.continuation(results),
        stability.feedback(results),
        attraction.attraction(results),
        regions.stability_map(results),
        study.study(results),
        formulas.formulas(results),
        formulas.description(results),
    ]
    return [part for part in found if part is not None]


def _group(results: Results, group: str, charts: Charts) -> Html:
    """The charts of one motion; energy, constraints and reactions belong to the main one."""
    charts.group = group
    if group == study.WORST:
        return tag("div", study.worst_charts(results, charts), class_="group", data_group=group)
    kind, _, number = group.partition("-")
    parts = [response(results, int(number), charts)] if kind == "closed" else [motion.movement(results, group, charts)]
    parts += [motion.inputs(results, group, charts)] if kind == "motion" else []
    if charts.tables[group].motion is results.main_motion:
        parts += [part(group, charts) for part in (motion.residuals, motion.energy, motion.reactions)]
    return tag("div", *parts, class_="group", data_group=group)


def _stage(results: Results, charts: Charts, shown: Sequence[Animation]) -> tuple[dict[str, Any] | None, str]:
    """The drawing, or the reason there is nothing to draw."""
    try:
        return stage(results, charts, shown), ""
    except VinculumError as error:
        return None, str(error)


def _data(content: Any) -> str:
    """JSON that is safe inside a script element; numbers that are not finite become null."""
    return json.dumps(json_data(content), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _file(name: str) -> Traversable:
    return files("vinculum.present.report").joinpath(name)


def _resource(name: str) -> str:
    return _file(name).read_text(encoding="utf-8")
