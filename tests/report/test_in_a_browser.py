"""Reports in Chromium: they play, turn dark, fit a telephone and a sheet of paper, and ask nobody for anything."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import browser
import vinculum as vn
from report import looking
from report.looking import clock, contrast, drawn, go_to, luminance
from report.mechanisms import ATTACK, PAGES

PHONE = {"width": 390, "height": 844, "is_mobile": True, "has_touch": True}
DARK = {"color_scheme": "dark"}


@pytest.mark.parametrize("name", PAGES)
def test_loads_alone_and_without_errors(opened, name):
    _, seen = opened(name)
    assert str(seen) == "no console errors, nothing fetched"


def test_an_error_and_a_request_would_be_seen(running, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://127.0.0.1:9/x.png'><script>window.vinculumReady = true; missing()</script>")
    with browser.opened(running, bad) as (page, seen):
        page.wait_for_load_state()
        assert any("missing" in error for error in seen.errors)
        assert seen.fetched == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("name", ["beam", "arm", "wheel"])
def test_plays_and_pauses(opened, name):
    page, seen = opened(name)
    go_to(page, 0)
    page.click("#play")
    assert page.evaluate(looking.PAUSED) == "Pause", "what the button said while it played"
    stopped = page.evaluate("vinculum.time")
    page.wait_for_timeout(400)
    assert page.evaluate("vinculum.time") == stopped > 0
    assert page.inner_text("#play") == "Play"
    assert seen.clean, seen


def test_plays_to_the_end_and_begins_anew(opened):
    page, _ = opened("wheel")
    page.uncheck("#loop")
    go_to(page, 0.98)
    page.click("#play")
    browser.wait_until(page, "document.getElementById('play').textContent === 'Play'")
    assert clock(page) == pytest.approx(2.0, abs=0.01)
    page.click("#play")
    browser.wait_until(page, "vinculum.playing && vinculum.time < 1.9")
    page.check("#loop")
    page.evaluate("vinculum.at(1.98)")
    browser.wait_until(page, "vinculum.playing && vinculum.time < 1.5")
    page.click("#play")


def test_slider_shows_the_mechanism_where_it_is(opened, written):
    motion = written("beam").results.point.closed_motion
    alpha = next(q for q in motion.problem.equations.system.coordinates if q.name == "alpha")
    page, _ = opened("beam")
    for share in (0, 0.033, 0.21, 1):
        t = go_to(page, share)
        angle = np.interp(t, motion.t, motion[alpha])
        end = 0.4 * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(drawn(page, "beam"), [[0, 0], end], atol=2e-4)
        assert clock(page) == pytest.approx(t, abs=0.006)


def test_positions_between_the_rows_are_those_of_the_motion(opened, written):
    """The cubic through the rows of the table, as drawn at any instant, against a spline through all samples."""
    motion = written("wheel").results.motion
    x, z = (next(q for q in motion.problem.equations.states if vn.names.name_of(q) == name) for name in "xz")
    truth = CubicSpline(motion.t, np.stack([motion[x], motion[z]], axis=1))
    page, _ = opened("wheel")
    assert page.evaluate("vinculum.runs.motion.times.length") < len(motion.t)
    times = np.random.default_rng(0).uniform(0, 2, 50)
    ask = "times => times.map(t => ['x', 'y'].map(k => vinculum.cubic(vinculum.runs.motion, `drawn axle ${k}`, t)))"
    found = np.array(page.evaluate(ask, times.tolist()))
    assert np.abs(found - truth(times)).max() < 5e-4 * np.ptp(motion[x])


def test_hover_and_drag_on_a_curve_move_the_mechanism(opened):
    page, seen = opened("beam")
    go_to(page, 0)
    plot = page.locator(".group.chosen .chart .plot").nth(1)
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    before = drawn(page, "lever")
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"])
    hovered = page.evaluate("vinculum.time")
    assert hovered > 0
    assert abs(drawn(page, "lever") - before).max() > 1e-3
    page.click("#play")
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    assert page.evaluate("vinculum.time") > hovered
    assert not page.evaluate("vinculum.playing"), "a press stops the motion"
    assert seen.clean, seen


def test_one_cursor_through_all_curves(opened):
    page, _ = opened("beam")
    go_to(page, 0.05)
    places = page.evaluate(
        """[...document.querySelectorAll(".group.chosen .chart .cursor")].map(line => line.getAttribute("transform"))"""
    )
    assert len(places) > 4
    assert len(set(places)) == 1


def test_keys(opened):
    page, _ = opened("wheel")
    go_to(page, 0)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("vinculum.time") == pytest.approx(0.02)
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("vinculum.time") == pytest.approx(0.22)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("vinculum.time") == pytest.approx(0.2)
    page.keyboard.press("End")
    assert page.evaluate("vinculum.time") == 2.0
    page.keyboard.press("Home")
    assert page.evaluate("vinculum.time") == 0.0
    page.keyboard.press("Space")
    assert page.evaluate("vinculum.playing")
    page.keyboard.press("Space")
    assert not page.evaluate("vinculum.playing")


def test_a_new_table_is_drawn(opened):
    """Another motion with the same keys, at other times: charts and drawing follow."""
    page, seen = opened("wheel")
    go_to(page, 0.5)
    first = ".group.chosen .chart path"
    before, place = page.get_attribute(first, "d"), drawn(page, "pendulum")
    page.evaluate(
        """() => {
        const old = vinculum.runs.motion, thin = (values) => values.filter((_, i) => i % 2 === 0).map((x) => 2 * x);
        window.kept = old;
        vinculum.show({ times: thin(old.times), columns: Object.fromEntries(
            Object.entries(old.columns).map(([key, values]) => [key, thin(values)])) });
    }"""
    )
    assert page.get_attribute(first, "d") != before
    assert abs(drawn(page, "pendulum") - place).max() > 0.01
    page.evaluate("vinculum.show(window.kept)")
    assert page.get_attribute(first, "d") == before
    assert seen.clean, seen


def test_the_mechanism_stays_in_view(opened):
    for options in ({}, PHONE):
        page, _ = opened("beam", **options)
        last = page.locator(".group.chosen .chart").last
        last.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        box = page.locator("#stage").bounding_box()
        assert box["y"] >= -1
        assert box["y"] + box["height"] <= page.viewport_size["height"] + 1
        page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")


def test_no_motion_without_being_asked(opened):
    page, _ = opened("wheel", reduced_motion="reduce")
    assert not page.evaluate("vinculum.playing")
    assert not page.is_checked("#loop")


def test_another_motion_is_chosen(opened):
    page, seen = opened("beam")
    names = page.locator("#which option").all_inner_texts()
    pairs = [f"{how}, equilibrium {i}" for i in (1, 2) for how in ("With feedback", "Without feedback")]
    assert names[:-1] == [*pairs, "Requested motion"]
    assert names[-1].startswith("Worst of many runs: ")
    go_to(page, 0)
    before = drawn(page, "lever")
    page.select_option("#which", label="With feedback, equilibrium 2")
    assert abs(drawn(page, "lever") - before).max() > 0.01
    assert page.is_visible("#response-2")
    assert not page.is_visible("#response-1")
    page.select_option("#which", index=0)
    np.testing.assert_array_equal(drawn(page, "lever"), before)
    assert seen.clean, seen


@pytest.mark.parametrize(("name", "bar"), [("beam", "beam"), ("wheel", "pendulum")])
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "telephone"])
def test_proportions_in_the_plane(opened, name, bar, options):
    """Lengths in pixels are lengths of the mechanism times one number, in every direction."""
    page, _ = opened(name, **options)
    scales = []
    for share in (0.0, 0.1, 0.3, 0.6):
        go_to(page, share)
        long = np.linalg.norm(np.diff(drawn(page, bar), axis=0))
        scales.append(np.linalg.norm(np.diff([page.evaluate(looking.PLACED, [bar, k]) for k in (0, 1)], axis=0)) / long)
    np.testing.assert_allclose(scales, scales[0], rtol=1e-6)
    assert scales[0] > 100


def test_a_turned_arm_keeps_its_shape(opened):
    """The pointer turns the picture, and nothing else."""
    page, _ = opened("arm")
    page.locator("#stage").scroll_into_view_if_needed()
    arm = page.evaluate("vinculum.description.scene.shapes.find(s => s.points.length === 2).name")
    before = page.evaluate("JSON.stringify(vinculum.stage.seen.places)"), page.evaluate(looking.PLACED, [arm, 1])
    box = page.locator("#stage").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 120, steps=3)
    page.mouse.up()
    after = page.evaluate("JSON.stringify(vinculum.stage.seen.places)"), page.evaluate(looking.PLACED, [arm, 1])
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.parametrize("name", ["beam", "arm"])
def test_the_stage_is_not_blank(opened, name):
    page, _ = opened(name)
    assert page.evaluate(looking.INK, "#stage canvas") > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes(opened, scheme):
    page, seen = opened("beam", **(DARK if scheme == "dark" else {}))
    background = "getComputedStyle(document.body).backgroundColor"
    font = "getComputedStyle(document.querySelector('.chart text')).fill"
    assert (luminance(page.evaluate(background)) < 0.2) == (scheme == "dark")
    assert (luminance(page.evaluate(font)) > 0.2) == (scheme == "dark")
    for selector in ("main p", ".note", "nav a", "th", ".badge.bad", ".badge.good", "cite"):
        assert contrast(page, selector) >= 4.5, selector
    before = page.evaluate(font)
    page.click("#theme")
    assert page.evaluate(font) != before
    assert (luminance(page.evaluate(background)) < 0.2) == (scheme == "light")
    page.click("#theme")
    assert page.evaluate(font) == before
    assert seen.clean, seen


@pytest.mark.parametrize("name", PAGES)
def test_fits_a_telephone(opened, name):
    page, _ = opened(name, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(looking.TOO_WIDE) == []
    small = page.evaluate(looking.CONTROLS)
    assert min(small) >= 32, "fingers need room"


@pytest.mark.parametrize("name", ["beam", "arm"])
def test_prints_whole_and_light(opened, name, tmp_path):
    page, seen = opened(name, **DARK)
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.is_visible(".controls")
    assert not page.is_visible("nav")
    assert page.is_visible("#stage canvas")
    assert page.evaluate("[...document.querySelectorAll('.chart')].every(c => c.getBoundingClientRect().height > 50)")
    browser.wait_until(page, "document.documentElement.dataset.theme === 'light'")
    page.emulate_media(media="screen", color_scheme="dark")
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert seen.clean, seen


def test_everything_is_drawn_without_scrolling(opened):
    page, _ = opened("beam")
    charts = page.evaluate("[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('path[d^=M]').length)")
    assert len(charts) > 10
    assert min(charts) >= 1


@pytest.mark.parametrize("name", ["beam", "arm", "wheel"])
def test_every_formula_is_set(opened, written, name):
    printed = written(name).results.equations.printed(simplify=True)
    page, _ = opened(name)
    rows = page.locator("#equations .row").count()
    assert rows == len(printed.definitions) + len(printed.equations)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.evaluate("document.querySelectorAll('.group').forEach(g => g.classList.add('chosen'))")
    page.evaluate("document.querySelectorAll('#dials [hidden]').forEach(row => { row.hidden = false; })")
    assert page.evaluate(looking.EMPTY_FORMULAS) == []
    assert page.locator("math").count() > rows
    assert page.locator("#equations code").count() == 0, "text without a formula is shown as text"


def test_the_promised_bound_is_drawn_and_kept(opened, written):
    motion = written("promised").results.motion
    assert motion.promised
    page, _ = opened("promised")
    chart = f"#{page.locator('#constraints .chart').first.get_attribute('id')}"
    curves = page.evaluate(looking.CURVES, chart)
    bounds = page.evaluate(
        "chart => Object.fromEntries([...document.querySelectorAll(chart + ' .bound')]"
        ".map(l => [l.dataset.name, Number(l.getAttribute('y1'))]))", chart,
    )  # fmt: skip
    for constraint, level in motion.promised:
        heights = [y for _, y in curves[f"{constraint}, {level}"]]
        assert min(heights) >= bounds[f"promised: {constraint}, {level}"] - 0.1, "larger is higher up"
    assert "stayed within its guaranteed bound" in page.inner_text("#constraints")


def test_roots_stand_where_they_are(opened, written):
    point = written("beam").results.point
    page, _ = opened("beam")
    figure = page.locator("#stability svg").first
    assert all(f"{name} feedback" in figure.text_content() for name in ("without", "with"))
    titles = page.evaluate(
        "[...document.querySelector('#stability svg').querySelectorAll('circle title')].map(t => t.textContent)"
    )
    parsed = [complex(text.replace("i", "j")) for text in titles]
    np.testing.assert_allclose(parsed, point.closed_verdict.roots, rtol=1e-5)
    assert point.verdict.theorem in page.inner_text("#stability")


def test_a_hostile_model_is_only_text(opened, written):
    page, seen = opened("hostile")
    page.wait_for_timeout(200)
    assert page.title() == ATTACK
    assert page.inner_text("h1") == ATTACK
    assert page.locator("main script, main img").count() == 0
    assert page.locator(".parameters td", has_text=ATTACK).count() == 2
    assert seen.clean, seen
    content = written("hostile").path.read_text()
    assert ATTACK not in content
    assert escape(ATTACK) in content


def test_scripts_that_are_not_ours_do_not_run(running, written, tmp_path):
    """Were an attack to get through, the page's own policy would stop it."""
    broken = tmp_path / "broken.html"
    broken.write_text(written("hostile").path.read_text().replace("<main>", f"<main>{ATTACK}", 1))
    with browser.opened(running, broken) as (page, seen):
        assert page.title() == ATTACK
        assert any("Content Security Policy" in error for error in seen.errors)


def test_refused_steps_are_told(opened, written):
    assert "feedback at equilibrium 1" in written("hostile").results.refusals
    page, _ = opened("hostile")
    assert "The system has no inputs" in page.inner_text("#refused")


def test_units_and_meanings_stand_beside_parameters(opened):
    page, _ = opened("beam")
    assert page.locator(".parameters tbody tr").count() == 12
    assert "kg" in page.inner_text(".parameters")


def test_names_are_words(opened):
    """Names of several letters are words, not products of letters."""
    page, _ = opened("beam")
    words = page.evaluate("[...document.querySelectorAll('math mtext')].map(e => e.textContent)")
    assert "place" in words
    assert "charge" not in words, "a current is i_u"
    assert "c" not in words
