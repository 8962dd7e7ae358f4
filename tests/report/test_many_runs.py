"""Many runs on the page: every run is drawn once, in pictures that need no script and no style of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import vinculum as vn
from files import swing
from vinculum.model import loads
from vinculum.present.report import study
from vinculum.present.report.charts import Charts
from vinculum.present.report.page import page

OWN = {'"swing"': '"swing <b>"', "c = 0.1": "c = 0.4", "[0, 3]": "[0, 8]"}
SWING = (
    reduce(lambda text, own: text.replace(*own), OWN.items(), swing.SWING)
    + """\
[drawing]
points.pivot = [0, 0]
points.bob = ["l*sin(theta)", "-l*cos(theta)"]
segments = [["pivot", "bob"]]
[study]
samples = 40
over = { theta = { uniform = [0.1, 2.5] }, c = { uniform = [0.05, 0.8] } }
measure.settling = { settling_time = "theta", band = 0.1 }
measure.top = { maximum = "dot(theta)" }
"""
)
GRID = SWING.replace("samples = 40\n", "").replace("{ uniform = [0.1, 2.5] }", "[0.5, 1, 1.5]").replace(
    "{ uniform = [0.05, 0.8] }", "[0.1, 0.5]"
)  # fmt: skip


@pytest.fixture(scope="module")
def results():
    return vn.examine(loads(SWING))


def part(found) -> str:
    return str(study.study(found).html)


def test_every_run_is_drawn_once(results):
    never = int(np.isnan(results.runs.data.settling).sum())
    assert 0 < never < 40, "some settle and some do not"
    drawn = part(results)
    assert drawn.count("<circle") == (40 - never) + 40
    assert drawn.count('stroke="var(--bad)" stroke-width="1.6"') == never
    assert "A cross is a run without a value" in drawn
    for shape in ("broad", "narrow"):  # of a screen and of a telephone
        (picture,) = re.findall(rf'<svg(?:(?!<svg).)*class="{shape}".*?</svg>', drawn, re.DOTALL)
        lines = picture.count('stroke-width="0.8"')
        assert lines == 40, "one line for every run in the parallel coordinates"


def test_histograms_count_the_runs(results):
    heights = [int(n) for n in re.findall(r"<rect[^>]*><title>(\d+)</title>", part(results))]
    never = int(np.isnan(results.runs.data.settling).sum())
    assert sum(heights) == (40 - never) + 40


def test_pictures_need_no_script_and_no_style(results):
    assert not re.search(r"<script|style=|onclick|javascript:|href=\"http", part(results))
    assert "#" not in "".join(re.findall(r'(?:fill|stroke)="([^"]*)"', part(results))), "colors are those of the page"


def test_the_worst_runs_are_those_that_never_settle(results):
    runs = results.runs
    numbers = runs.worst(40)
    values = runs.column("settling")[numbers]
    never = int(np.isnan(values).sum())
    assert np.isnan(values[:never]).all()
    assert (np.diff(values[never:]) <= 0).all()
    charts = Charts()
    shown = study.worst_animation(results, charts)[0]
    assert charts.tables["worst"].motion["theta"][0] == runs.column("initial_theta")[numbers[0]]
    assert shown.name == f"Worst of many runs: {runs.described(numbers[0])}"
    whole = page(results)
    assert "Worst of many runs" in whole
    assert 'id="study"' in whole


def test_a_grid_is_drawn_in_cells():
    found = vn.examine(loads(GRID))
    drawn = part(found)
    cells = re.findall(
        r'<rect x="[^"]*" y="[^"]*" width="[^"]*" height="[^"]{2,}" fill="(?:color-mix|var\(--bad-back)', drawn
    )
    assert len(cells) == 2 * 6
    np.testing.assert_array_equal(found.runs.largest_over("top"), found.runs.data.top.values)


def test_one_quantity_is_an_axis():
    one = GRID.replace(", c = [0.1, 0.5]", "")
    assert "Over initial_theta" in part(vn.examine(loads(one)))


def test_nothing_to_show(results):
    assert study.study(replace(results, runs=None)) is None
    assert study.worst_animation(replace(results, runs=None), Charts()) == []


def test_a_refused_study_is_told():
    found = vn.examine(loads(SWING.replace("theta = { uniform = [0.1, 2.5] }", '"dot(theta)" = [0]')))
    assert found.runs is not None
    broken = vn.examine(replace(loads(SWING), study={"over": {}}))
    assert "Nothing to vary" in broken.refusals["study"]
