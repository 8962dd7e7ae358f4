"""Sliders of a report in Chromium: the motion follows them, says what it is worth, and returns to the original."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import browser
import vinculum as vn
from report.mechanisms import MODELS
from vinculum.model.examine import examine
from vinculum.model.model import Model
from vinculum.present.report import write_report
from vinculum.present.report.charts import Charts
from vinculum.present.report.live import live_motions
from vinculum.present.report.scenes import animations

ANSWERED = """(serial) => window.vinculum.dials.serial > serial
  && ["final", "refused"].includes(document.getElementById("dials").dataset.answered)"""
COLUMNS = "(run) => Object.fromEntries(Object.entries(window.vinculum.runs[run].columns).map(([k, v]) => [k, [...v]]))"
TIMES = "(run) => [...window.vinculum.runs[run].times]"


@pytest.fixture(scope="module")
def pendulum(running, tmp_path_factory):
    """The report of the example with the fewest numbers, opened: (page, what it did)."""
    path = tmp_path_factory.mktemp("dials") / "pendulum.html"
    write_report(vn.load(MODELS / "cartesian_pendulum.toml"), path)
    with browser.opened(running, path) as (page, seen):
        yield page, seen
        assert seen.clean, seen


TYPED = """(values) => {
  for (const [name, value] of Object.entries(values)) {
    const field = document.querySelector(`.dial[data-setting$=' ${name}'] input[type=number]`);
    field.value = value;
    field.dispatchEvent(new Event("input"));
  }
}"""


def turn(page, **values: float) -> str:
    """Type numbers into fields at once, by the end of the setting's name; returns the words of the answer."""
    serial = page.evaluate("window.vinculum.dials.serial")
    page.evaluate(TYPED, {name: str(value) for name, value in values.items()})
    page.wait_for_function(ANSWERED, arg=serial)
    return page.inner_text("#computed")


def reset(page) -> None:
    page.evaluate("document.getElementById('reset').click()")
    page.wait_for_function("() => !document.documentElement.hasAttribute('data-changed')")


def test_the_motion_follows_its_numbers(pendulum):
    page, _ = pendulum
    words = turn(page, l=0.9, g=5.0, x=0.5)
    t, found = np.array(page.evaluate(TIMES, "motion")), page.evaluate(COLUMNS, "motion")
    model = vn.load(MODELS / "cartesian_pendulum.toml")
    names = {str(p): p for p in model.system.parameters}
    x, y = model.system.coordinates
    parameters = {names["l"]: 0.9, names["g"]: 5.0}
    motion = vn.simulate(model.system, {x: 0.5, x.diff(): 0.0}, t, parameters=parameters, guess={y: 1.0})
    accuracy = float(page.get_attribute("#dials", "data-accuracy"))
    for key, name in ((x, "x"), (y, "y")):
        assert np.max(np.abs(np.array(found[name]) - motion[key])) <= max(accuracy, 1e-9)
    assert accuracy < 1e-4
    assert "largest residual" in words
    assert "energy error" in words
    assert "bottom at t =" in words
    mark = page.evaluate("getComputedStyle(document.querySelector('.strip'), '::before').content")
    assert mark == '"For the original numbers"'
    reset(page)


def test_a_slider_multiplies_and_a_reset_gives_the_original_motion(pendulum):
    page, _ = pendulum
    before = page.evaluate(COLUMNS, "motion")
    serial = page.evaluate("window.vinculum.dials.serial")
    page.locator(".dial[data-setting='parameter l'] input[type=range]").evaluate(
        "(range) => { range.value = 0.5; range.dispatchEvent(new Event('input')); }"
    )
    page.wait_for_function(ANSWERED, arg=serial)
    length = float(page.input_value(".dial[data-setting='parameter l'] input[type=number]"))
    assert length == pytest.approx(2 * page.evaluate("window.vinculum.description.live.settings['parameter l'].value"))
    assert page.evaluate(COLUMNS, "motion") != before
    reset(page)
    assert page.evaluate(COLUMNS, "motion") == before
    assert page.is_disabled("#reset")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"m": 0}, "singular at the start"),
        ({"x": 5}, "cannot be put on the constraints: rod"),
        ({"l": ""}, "l is not a number"),
    ],
)
def test_numbers_without_a_motion_are_refused_in_words(pendulum, values, words):
    page, seen = pendulum
    assert words in turn(page, **values)
    assert page.evaluate("document.getElementById('mechanism').classList.contains('stale')")
    reset(page)
    assert not page.evaluate("document.getElementById('mechanism').classList.contains('stale')")
    assert seen.clean, seen


def test_a_new_number_replaces_a_computation_under_way(pendulum):
    page, _ = pendulum
    serial = page.evaluate("window.vinculum.dials.serial")
    page.evaluate("""async () => {
      for (let k = 1; k <= 30; k += 1) {
        window.vinculum.dials.set("parameter g", 9 + k / 100);
        await new Promise(requestAnimationFrame);
      }
    }""")
    page.wait_for_function(ANSWERED, arg=serial)
    last = page.evaluate(COLUMNS, "motion")
    reset(page)
    turn(page, g=9.3)
    assert page.evaluate(COLUMNS, "motion") == last
    reset(page)


FIRST_WORDS = """async () => {
  const host = document.getElementById("dials"), residuals = vinculum.runs["motion residuals"] = {};
  vinculum.dials.set("parameter g", 4);
  while (!host.dataset.answered) await new Promise(requestAnimationFrame);
  const words = document.getElementById("computed").textContent, same = vinculum.runs["motion residuals"] === residuals;
  while (host.dataset.answered !== "final") await new Promise(requestAnimationFrame);
  return { words, same, then: vinculum.runs["motion residuals"] !== residuals };
}"""


def test_a_preview_says_that_it_is_one(pendulum):
    """Residuals and energy error, in words and in charts, are those of the accurate motion alone."""
    page, _ = pendulum
    found = page.evaluate(FIRST_WORDS)
    assert found["words"].startswith("Preview with tolerance 1 × 10⁻⁵")
    assert not any(words in found["words"] for words in ("accurate to", "largest residual", "energy error "))
    assert found["same"]
    assert found["then"]
    assert "accurate to" in page.inner_text("#computed")
    reset(page)


def test_the_policy_allows_no_evaluation_of_text(pendulum):
    page, _ = pendulum
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert "unsafe-eval" not in policy
    assert "worker-src blob:" in policy


def friction() -> Model:
    x = dynamicsymbols("x")
    system = vn.System([x], x.diff() ** 2 / 2, 0, forces={x: -sp.sign(x.diff())}, name="block")
    return Model(system, simulation={"initial": {x: 0.0, x.diff(): 1.0}, "times": (0.0, 2.0)})


def test_a_motion_with_jumps_has_words_instead_of_sliders(running, tmp_path):
    path = tmp_path / "block.html"
    write_report(friction(), path)
    with browser.opened(running, path) as (page, seen):
        assert page.query_selector("#dials") is None
        assert "no sliders, because its forces jump" in page.inner_text("#mechanism")
        assert seen.clean, seen


def test_large_equations_have_words_instead_of_sliders(monkeypatch):
    monkeypatch.setattr("vinculum.present.report.live.MOST", 1000)
    results, charts = examine(vn.load(MODELS / "four_bar.toml")), Charts()
    live = live_motions(results, charts, animations(results, charts))
    assert "1 kB are allowed" in live.refused["motion"]
    assert not live.settings
