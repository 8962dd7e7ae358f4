"""A report as one HTML file: sections in order, figures as data, style, script and Plotly inside."""

from __future__ import annotations

import base64
import json
import secrets
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Any

from vinculum.deprecations import renamed
from vinculum.errors import VinculumError
from vinculum.json_data import json_data
from vinculum.model.examine import Results, examine
from vinculum.model.examine.examine import versions
from vinculum.model.model import Model
from vinculum.present.html import Html, Section, duration, joined, size, text
from vinculum.present.report import formulas, motion, overview, stability, study
from vinculum.present.report.animations import Animation, animations
from vinculum.present.report.charts import Figures
from vinculum.writing import write_file


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
    of: Model | Results, path: str | Path, progress: Callable[[str, float], None] | None = None
) -> Written:
    """Examine a model (or use existing results) and write the page to a file."""
    began = clock.perf_counter()
    results = of if isinstance(of, Results) else examine(of, progress)
    report = progress or (lambda step, share: None)
    report("page", 0.0)
    content = page(results).encode()
    write_file(path, content)
    report("page", 1.0)
    return Written(Path(path), len(content), clock.perf_counter() - began, results)


def page(results: Results) -> str:
    """The page as text."""
    figures, began = Figures(), clock.perf_counter()
    shown, problem = _animations(results)
    sections = [part for part in _sections(results, figures, shown, problem) if part is not None]
    sections.append(overview.colophon(results, {"page": clock.perf_counter() - began}))
    return assembled(results.model.name, overview.heading(results), sections, figures, shown)


def assembled(
    title: str,
    heading: Html,
    sections: Sequence[Section],
    figures: Figures,
    shown: Sequence[Animation] = (),
    style: str = "",
) -> str:
    """One file from its parts; ``style`` is added to the common style."""
    nonce = secrets.token_urlsafe(16)  # only the scripts of this page may run, whatever the texts of a model contain
    return Template(_resource("page.html")).substitute(
        title=text(title),
        nonce=nonce,
        style=_resource("style.css") + style,
        font=base64.b64encode(_file("mathematics.woff2").read_bytes()).decode(),
        heading=heading,
        contents=joined(part.link for part in sections),
        sections=joined(part.html for part in sections),
        figures=_data(figures.data),
        films=_data([animation.data for animation in shown]),
        plotly=_plotly(),
        script=_resource("page.js"),
        version=text(versions()["vinculum"]),
        date=clock.strftime("%Y-%m-%d"),
    )


def _sections(results: Results, figures: Figures, shown: list[Animation], problem: str) -> list[Section | None]:
    return [
        overview.mechanism(shown, problem),
        formulas.formulas(results),
        formulas.description(results, figures),
        motion.movement(results, figures),
        motion.inputs(results, figures),
        motion.residuals(results, figures),
        motion.energy(results, figures),
        motion.reactions(results, figures),
        stability.equilibria(results),
        stability.stability(results, figures),
        stability.feedback(results, figures),
        study.study(results),
        overview.refusals(results),
    ]


def _animations(results: Results) -> tuple[list[Animation], str]:
    """The motions to show, or the reason there is nothing to draw."""
    try:
        return [*animations(results), *study.worst_animations(results)], ""
    except VinculumError as error:
        return [], str(error)


def _data(content: Any) -> str:
    """JSON that is safe inside a script element; numbers that are not finite become null."""
    return json.dumps(json_data(content), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _file(name: str) -> Traversable:
    return files("vinculum.present.report").joinpath(name)


def _resource(name: str) -> str:
    return _file(name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()
