"""Motions in a browser: the functions have the numbers of the graph, and the motions are those of `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import browser
import vinculum as vn
from export import live
from export.live import Case
from vinculum.export.live_motion import refusal

FLOOR = 1e-9  # relative to the size of a column: the rounding of both roads
OTHERS = ("cartesian_pendulum", "four_bar", "rolling_disc", "start", "ball_and_beam closed", "slider_crank",
          "segway closed", "n_link_pendulum", "snakeboard", "watt_governor", "resonant_circuit",
          "aircraft_on_a_path")  # fmt: skip


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    found = [*(case for name in live.NAMES for case in live.cases(name)), live.fall(), live.fall(stopped=True)]
    return {case.name: case for case in found}


@pytest.fixture(scope="module")
def page(running, cases, tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "live.html"
    path.write_text(live.written(list(cases.values())), encoding="utf-8")
    with browser.opened(running, path) as (page, seen):
        yield page
        assert str(seen) == "no console errors, nothing fetched"


def test_every_function_has_the_numbers_of_the_graph(page, cases):
    samples = [sample for case in cases.values() for sample in live.samples(case)]
    errors = page.evaluate("(cases) => errors(cases)", samples)
    bad = {f"{s[0]}: {s[1]}": error for s, error in zip(samples, errors, strict=True) if not error <= 1}
    assert len({sample[0] for sample in samples}) == len(cases) > 37
    assert not bad


def test_no_function_is_too_long_for_the_compiler_of_a_browser(cases):
    longest = {name: max(map(len, case.live.source.split("\nfunction "))) for name, case in cases.items()}
    assert max(longest.values()) < 60_000, longest
    assert any("_part1(" in case.live.source for case in cases.values())


def apart(case: Case, found: dict, wanted: dict[str, np.ndarray]) -> float:
    """The largest distance of two motions, relative to the size of each column."""
    scales = dict(zip(case.live.columns, case.live.scales, strict=True))
    return max(
        float(np.max(np.abs(np.array(found["columns"][key]) - y)) / max(np.max(np.abs(y)), scales[key]))
        for key, y in wanted.items()
    )


def wanted(case: Case, motion: vn.Trajectory) -> dict[str, np.ndarray]:
    rows = motion.rows(lambda problem: list(live.columns(problem.nodes).values()))
    return dict(zip(case.live.columns, rows.T, strict=True))


def test_every_motion_is_that_of_simulate_within_the_accuracy_shown(page, cases):
    for case in cases.values():
        found = page.evaluate("([model, request]) => ran(model, request)", [case.name, case.request])
        assert found.get("ended", found.get("refused")) == "", case.name
        assert apart(case, found, wanted(case, case.motion)) <= max(found["accuracy"], FLOOR), case.name
        assert found["accuracy"] < 1e-3, case.name


def changed(case: Case, random: np.random.Generator) -> tuple[dict, dict, dict]:
    """Other parameters and start values: for a page, and for `simulate` as parameters and initial values."""
    request = case.request
    own = case.live.nodes.integrable.parameters
    factors = [1 + 0.04 * random.uniform(-1, 1) if node in own else 1.0 for node in case.live.settings]
    request["p"] = [value * factor for value, factor in zip(request["p"], factors, strict=True)]
    for i, node in enumerate(case.live.start_symbols):
        if node in case.live.independent and node.value in case.live.given:
            request["s"][i] *= 1 + 0.02 * random.uniform(-1, 1)
    start = dict(zip([node.value for node in case.live.start_symbols], request["s"], strict=True))
    chosen = {node.value for node in case.live.independent}
    parameters = {n.value: v for n, v in zip(case.live.settings, request["p"], strict=True) if n in own}
    return request, parameters, {key: value for key, value in start.items() if key in chosen} | {None: start}


def test_motions_from_other_numbers_are_those_of_simulate(page, cases, random):
    for name in OTHERS:
        case = cases[name]
        request, parameters, initial = changed(case, random)
        guess = {key: value for key, value in initial.pop(None).items() if key not in initial}
        found = page.evaluate("([model, request]) => ran(model, request)", [name, request])
        assert found.get("ended", found.get("refused")) == "", name
        how = {"parameters": parameters, "guess": guess or None, "inputs": case.question.get("inputs")}
        motion = vn.simulate(case.equations, initial, case.motion.t, **how)
        assert apart(case, found, wanted(case, motion)) <= max(found["accuracy"], FLOOR), name
        assert apart(case, found, wanted(case, case.motion)) > 1e-4, f"{name}: nothing changed"


def ran(page, case: Case, **changes) -> dict:
    """A run of a case with other parameters or start values, by name."""
    request, known = case.request, [str(node.value) for node in case.live.settings]
    starts = [str(node.value) for node in case.live.start_symbols]
    for name, value in changes.items():
        where, names = ("p", known) if name in known else ("s", starts)
        request[where][names.index(name if name in names else f"{name}(t)")] = value
    return page.evaluate("([model, request]) => ran(model, request)", [case.name, request])


def test_numbers_that_have_no_motion_are_refused_in_words(page, cases):
    pendulum, crank = cases["cartesian_pendulum"], cases["four_bar"]
    assert "singular at the start" in ran(page, pendulum, m=0.0)["refused"]
    assert "cannot be put on the constraints: rod = " in ran(page, pendulum, x=5.0)["refused"]
    assert "cannot be put on the constraints" in ran(page, crank, a=100.0)["refused"]
    assert "not finite" in ran(page, pendulum, x=float("nan"))["refused"]
    assert "not finite" in ran(page, pendulum, g=float("inf"))["refused"]


def test_a_motion_that_cannot_go_on_ends_with_the_time(page, cases):
    """A fall into a center, r'' = -k/r^2 from rest at r = 1, ends at t = pi/sqrt(8 k)."""
    found = ran(page, cases["fall"], k=4.0)
    end = np.pi / np.sqrt(32)
    assert f"singular at t = {end:.3f}" in found["ended"]
    assert found["times"][-1] == pytest.approx(end, abs=0.01)
    assert len(found["columns"]["r(t)"]) == len(found["times"]) < len(cases["fall"].motion.t)


def test_a_terminal_event_ends_the_run_at_its_zero(page, cases):
    """From rest at r = 1, r = 1/2 at t = (pi/4 + 1/2)/sqrt(2 k)."""
    found = ran(page, cases["stopped fall"], k=4.0)
    end = (np.pi / 4 + 0.5) / np.sqrt(8)
    assert found["events"] == [{"name": "half", "time": pytest.approx(end, abs=1e-9)}]
    assert found["times"][-1] == pytest.approx(end, abs=1e-9)
    assert found["columns"]["r(t)"][-1] == pytest.approx(0.5, abs=1e-9)


def test_a_stiff_motion_is_found_and_computed_implicitly(page, cases):
    """A gain of the current a thousand times larger: an explicit method would need millions of steps."""
    case, name = cases["ball_and_beam closed"], "K_e_u_charge_u_dot"
    gain = next(value for node, value in case.live.settings.items() if str(node.value) == name)
    found = ran(page, case, **{name: 1000 * gain})
    assert found["ended"] == ""
    assert found["stiff"]
    assert found["steps"] < 20_000


def test_what_a_page_cannot_compute_is_refused():
    x = dynamicsymbols("x")
    block = vn.System([x], x.diff() ** 2 / 2, 0, forces={x: -sp.sign(x.diff())}, name="block with dry friction")
    limited = vn.System([x], x.diff() ** 2 / 2, 0, forces={x: sp.Max(-1, sp.Min(1, -5 * x))}, name="limited")
    runs = [vn.simulate(system, {x: 1.0, x.diff(): 1.0}, (0, 2)) for system in (block, limited)]
    assert "forces jump" in refusal(runs[0])
    assert refusal(runs[1]) == ""
