"""Reports in Chromium: they play, turn dark, fit a telephone and a sheet of paper, and ask nobody for anything."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest

import browser
from report import looking
from report.looking import clock, contrast, drawn, luminance, move_slider
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
    move_slider(page, 0)
    begin = clock(page)
    page.click("#play")
    assert page.evaluate(looking.PAUSED) == "Pause", "what the button said while it played"
    stopped = clock(page)
    page.wait_for_timeout(400)
    assert clock(page) == stopped > begin
    assert page.inner_text("#play") == "Play"
    assert seen.clean, seen


def test_plays_to_the_end_and_begins_anew(opened):
    page, _ = opened("wheel")
    last = int(page.get_attribute("#time", "max"))
    move_slider(page, last - 2)
    page.click("#play")
    page.wait_for_function("document.getElementById('play').textContent === 'Play'")
    assert clock(page) == pytest.approx(2.0, abs=0.01)
    page.click("#play")
    page.wait_for_function(f"Number(document.getElementById('stage').dataset.frame) < {last}")
    page.click("#play")


def test_slider_shows_the_mechanism_where_it_is(opened, written):
    motion = written("beam").results.point.closed_motion
    alpha = next(q for q in motion.problem.equations.system.coordinates if q.name == "alpha")
    page, _ = opened("beam")
    times = page.evaluate("JSON.parse(document.getElementById('films').textContent)[0].t")
    for frame in (0, 40, len(times) - 1):
        move_slider(page, frame)
        angle = np.interp(times[frame], motion.t, motion[alpha])
        end = 0.4 * np.array([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(drawn(page, "beam"), [[0, 0], end], atol=1e-6)
        assert clock(page) == pytest.approx(times[frame], abs=0.006)


def test_another_motion_is_chosen(opened):
    page, seen = opened("beam")
    names = page.locator("#which option").all_inner_texts()
    pairs = [f"{how}, equilibrium {i}" for i in (1, 2) for how in ("With feedback", "Without feedback")]
    assert names == [*pairs, "Requested motion"]
    move_slider(page, 0)
    before = drawn(page, "lever")
    page.select_option("#which", label="With feedback, equilibrium 2")
    changed = "old => document.getElementById('stage').data.find(t => t.name === 'lever').x[0] !== old"
    page.wait_for_function(changed, arg=before[0, 0])
    assert abs(drawn(page, "lever") - before).max() > 0.01
    page.select_option("#which", index=0)
    page.wait_for_function(changed.replace("!==", "==="), arg=before[0, 0])
    assert seen.clean, seen


@pytest.mark.parametrize("name", ["beam", "wheel"])
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "telephone"])
def test_proportions_in_the_plane(opened, name, options):
    page, _ = opened(name, **options)
    x, y = page.evaluate(looking.PLANE)
    assert x == pytest.approx(y, rel=0.01)


def test_proportions_in_space(opened):
    page, _ = opened("arm")
    scales = page.evaluate(looking.SPACE)
    assert max(scales) == pytest.approx(min(scales), rel=0.01)


def test_circles_are_round(opened):
    page, _ = opened("beam")
    box = page.evaluate(looking.WHEEL)
    assert box[0] == pytest.approx(box[1], rel=0.01)
    assert box[0] > 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_themes(opened, scheme):
    page, seen = opened("beam", **(DARK if scheme == "dark" else {}))
    looking.figure(page, ".plot")
    background = "getComputedStyle(document.body).backgroundColor"
    font = "document.querySelector('.plot')._fullLayout.font.color"
    muted = "getComputedStyle(document.documentElement).getPropertyValue('--muted').trim()"
    assert (luminance(page.evaluate(background)) < 0.2) == (scheme == "dark")
    assert page.evaluate(font) == page.evaluate(muted)
    for selector in ("main p", ".note", "nav a", "th", ".badge.bad", ".badge.good", "cite"):
        assert contrast(page, selector) >= 4.5, selector
    before = page.evaluate(font)
    page.click("#theme")
    page.wait_for_function(f"{font} !== '{before}'")
    assert (luminance(page.evaluate(background)) < 0.2) == (scheme == "light")
    page.click("#theme")
    page.wait_for_function(f"{font} === '{before}'")
    assert seen.clean, seen


@pytest.mark.parametrize("name", PAGES)
def test_fits_a_telephone(opened, name):
    page, _ = opened(name, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(looking.TOO_WIDE) == []
    small = page.evaluate(looking.CONTROLS)
    assert min(small) >= 32, "fingers need room"


@pytest.mark.parametrize("name", ["beam", "arm"])
def test_prints_with_a_still_picture(opened, name, tmp_path):
    page, seen = opened(name)
    page.wait_for_function("document.getElementById('still').naturalWidth > 0")
    page.emulate_media(media="print")
    assert not page.is_visible(".controls")
    assert not page.is_visible("nav")
    assert page.is_visible("#still")
    size = page.evaluate("(image => [image.naturalWidth, image.naturalHeight])(document.getElementById('still'))")
    assert min(size) > 300
    page.emulate_media(media="screen")
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert seen.clean, seen


def test_still_picture_is_not_blank(opened):
    page, _ = opened("arm")
    page.wait_for_function("document.getElementById('still').naturalWidth > 0")
    colors = page.evaluate(looking.STILL_COLORS)
    assert colors > 20


@pytest.mark.parametrize("name", ["beam", "arm", "wheel"])
def test_every_formula_is_set(opened, written, name):
    printed = written(name).results.equations.printed()
    page, _ = opened(name)
    rows = page.locator("#equations .row").count()
    assert rows == len(printed.definitions) + len(printed.equations)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(looking.EMPTY_FORMULAS) == []
    assert page.locator("math").count() > rows
    assert page.locator("#equations code").count() == 0, "text without a formula is shown as text"


def test_the_promised_bound_is_drawn_and_kept(opened, written):
    motion = written("promised").results.motion
    assert motion.promised
    page, _ = opened("promised")
    lines = page.evaluate(looking.LINES, looking.figure(page, "#constraints .plot"))
    for (constraint, level), bound in motion.promised.items():
        assert lines[f"promised: {constraint}, {level}"] == pytest.approx([bound, bound], rel=1e-6)
        assert max(lines[f"{constraint}, {level}"]) <= bound
    assert "stayed within its guaranteed bound" in page.inner_text("#constraints")


def test_roots_stand_where_they_are(opened, written):
    point = written("beam").results.point
    page, _ = opened("beam")
    looking.figure(page, "#stability .plot")
    shown = page.evaluate("""document.querySelector("#stability .plot")._fullData.map(t => [t.name, t.text])""")
    assert [name for name, _ in shown] == ["without feedback", "with feedback", "structural zeros (1)"]
    parsed = [complex(text.replace("i", "j")) for text in shown[1][1]]
    np.testing.assert_allclose(parsed, point.closed_verdict.roots, rtol=1e-5)
    assert point.verdict.theorem in page.inner_text("#stability")


def test_a_hostile_model_is_only_text(opened, written):
    page, seen = opened("hostile")
    page.wait_for_timeout(200)
    assert page.title() == ATTACK
    assert page.inner_text("h1") == ATTACK
    assert page.locator("main script, main img:not(#still)").count() == 0
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
    assert "charge" in words
    assert "c" not in words
