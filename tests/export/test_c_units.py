"""Trees of bodies, feedback laws and linear models in C."""

from __future__ import annotations

import ctypes
import re
import subprocess

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from compilers import accepted, compiled, library, run
from examples import ball_and_beam, puma560
from vinculum.control.digital_law import digital_law
from vinculum.export.c_code import REAL
from vinculum.graph.functions import FUNCTIONS


def array(*numbers):
    return (ctypes.c_double * max(len(numbers), 1))(*numbers)


def called(code, function, results, *arguments):
    """The results of a function; numbers are passed by value, lists as arrays."""
    out = array(*[0.0] * results)
    given = [array(*a) if isinstance(a, (list, np.ndarray)) else ctypes.c_double(a) for a in arguments]
    getattr(code, function)(*given, out)
    return np.array(list(out)[:results])


@pytest.mark.parametrize("real", ["double", "float"])
def test_a_tree_has_the_dynamics_and_jacobians_of_python(tmp_path, real):
    tree = puma560.tree()
    files = vn.export_c(tree, tmp_path / "puma", check=3, real=real)
    run(compiled(files, tmp_path / "puma", "-O1"))
    accepted(files, "clang")
    if real == "float":
        return
    code, own = library(files, tmp_path), vn.bodies.dynamics(tree)
    random = np.random.default_rng(3)
    n, body = len(tree.coordinates), tree.order[-1]
    q, v, a = random.normal(size=(3, n))
    tau = called(code, "puma_inverse", n, 0.0, q, v, a, [])
    assert tau == pytest.approx(own.inverse(q, v, a), rel=1e-12, abs=1e-12)
    assert called(code, "puma_forward", n, 0.0, q, v, tau, []) == pytest.approx(a, abs=1e-11)
    M = called(code, "puma_mass_matrix", n * n, 0.0, q, []).reshape(n, n)
    h = called(code, "puma_bias", n, 0.0, q, v, [])
    assert pytest.approx(tau, abs=1e-12) == M @ a + h - (own.bias(q, v) - own.inverse(q, v, np.zeros(n)))
    J = called(code, f"puma_{body}_jacobian", 3 * n, 0.0, q, []).reshape(3, n)
    assert called(code, f"puma_{body}_velocity", 3, 0.0, q, v, []) == pytest.approx(J @ v, abs=1e-13)
    assert pytest.approx(own.jacobian(body, q), abs=1e-13) == J


def test_points_of_bodies_are_chosen_by_name(tmp_path):
    tree = puma560.tree()
    files = vn.export_c(tree, tmp_path / "puma", points={"tool tip": (tree.order[-1], (0, 0, 0.1))})
    assert "puma_tool_tip_jacobian" in files[0].read_text()
    with pytest.raises(vn.ModelError, match="gripper is not a body"):
        vn.export_c(tree, tmp_path / "other", points={"tip": ("gripper", (0, 0, 0))})


@pytest.fixture(scope="module")
def designed():
    _, _, linear, law = ball_and_beam.stabilized(0)
    return linear, law, vn.observe(linear, [ball_and_beam.r, ball_and_beam.theta])


def test_a_law_with_observer_is_a_controller(tmp_path, designed):
    linear, law, estimator = designed
    u = linear.inputs[0]
    limit = 2 * abs(float(linear.at[u])) + 0.3
    files = vn.export_c(law, tmp_path / "board", period=0.01, estimator=estimator, limits={u: limit}, check=3)
    run(compiled(files, tmp_path / "board", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    accepted(files, "clang")
    code, digital = library(files, tmp_path), digital_law(law, 0.01, estimator, {u: limit})
    controller, w = array(*[1.0] * len(digital.states)), np.zeros(len(digital.states))
    code.board_init(controller)
    random, saturated = np.random.default_rng(5), 0
    for _ in range(200):
        y = digital.y0 + 0.02 * random.normal(size=len(digital.y0))
        wanted, w = digital(w, y)
        assert _step(code, controller, y, len(wanted)) == pytest.approx(wanted, rel=1e-11, abs=1e-12)
        saturated += bool(abs(wanted[0]) == limit)
    assert 0 < saturated < 200


def _step(code, controller, y, inputs):
    u = array(*[0.0] * inputs)
    code.board_step(controller, array(*y), u)
    return np.array(list(u))


def test_a_fast_digital_law_is_the_continuous_one(designed):
    """With T → 0 the digital observer and law tend to the continuous ones, to first order in T."""
    linear, law, estimator = designed
    F, H, own = linear.system_matrix, linear.input_matrix, estimator.realization
    C = np.array([linear.measured[y] for y in estimator.outputs])
    errors = []
    for period in (1e-3, 5e-4):
        digital = digital_law(law, period, estimator)
        Phi, gamma = (
            scipy.linalg.expm(period * F),
            np.linalg.solve(F, (scipy.linalg.expm(period * F) - np.eye(len(F)))) @ H,
        )
        x, w = np.full(len(F), 1e-3), np.zeros(len(own.A))
        for _ in range(round(1.0 / period)):
            u, w = digital(w, digital.y0 + C @ x)
            x = Phi @ x + gamma @ (u - digital.u0)
        whole = np.block([[F + H @ law.gain @ own.R @ C, H @ law.gain @ own.P],
                          [own.L @ C + own.B @ law.gain @ own.R @ C, own.A + own.B @ law.gain @ own.P]])  # fmt: skip
        exact = scipy.linalg.expm(whole) @ np.append(np.full(len(F), 1e-3), np.zeros(len(own.A)))
        errors.append(np.abs(x - exact[: len(F)]).max())
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)


def test_a_linear_model_steps_exactly(tmp_path, designed):
    linear, *_ = designed
    files = vn.export_c(linear, tmp_path / "plant", period=0.02, outputs=[ball_and_beam.alpha], check=3)
    run(compiled(files, tmp_path / "plant"))
    code, n = library(files, tmp_path), len(linear.states)
    x, u = np.linspace(-1, 1, n), [0.3]
    fine = scipy.linalg.expm(0.02 * np.block([[linear.system_matrix, linear.input_matrix], [np.zeros((1, n + 1))]]))
    assert called(code, "plant_step", n, x, u) == pytest.approx((fine @ np.append(x, u))[:n], abs=1e-12)
    wanted = linear.measured[ball_and_beam.alpha] @ x
    assert called(code, "plant_outputs", 1, x, u) == pytest.approx([wanted], abs=1e-14)


def test_laws_that_are_formulas_are_functions(tmp_path):
    tree = puma560.tree(driven=True)
    laws = vn.bodies.computed_torque(tree, dict.fromkeys(tree.coordinates, sp.sin(sp.Symbol("t"))))
    files = vn.export_c(laws, tmp_path / "torque", check=2)
    run(compiled(files, tmp_path / "torque", "-O1"))
    x = dynamicsymbols("x")
    k, u = sp.symbols("k u")
    files = vn.export_c({u: -k * sp.Abs(x) + sp.sign(x.diff())}, tmp_path / "own", parameters={k: 3.0}, check=4)
    run(compiled(files, tmp_path / "own"))
    code = library(files, tmp_path)
    assert called(code, "own_control", 1, 0.0, [-2.0, 0.5], [3.0]) == pytest.approx([-5.0])  # x, x_dot


def test_a_controller_needs_its_period(tmp_path, designed):
    _, law, estimator = designed
    with pytest.raises(vn.VinculumError, match=r"period=0\.01"):
        vn.export_c(law, tmp_path / "board")
    with pytest.raises(vn.ModelError, match="period is -1"):
        vn.export_c(law, tmp_path / "board", period=-1)
    with pytest.raises(vn.VinculumError, match="no option estimatr"):
        vn.export_c(law, tmp_path / "board", period=0.1, estimatr=estimator)


@pytest.mark.parametrize("what", ["equations", "tree", "law", "linear"])
@pytest.mark.parametrize("real", ["double", "float"])
def test_the_code_has_no_memory_of_its_own(what, real, tmp_path, designed):
    """No variables outside functions, no allocation, no recursion: only functions of the mathematics are missing."""
    linear, law, estimator = designed
    made = {
        "equations": lambda: (ball_and_beam.stabilized(0)[0], {}),
        "tree": lambda: (puma560.tree(), {}),
        "law": lambda: (law, {"period": 0.01, "estimator": estimator}),
        "linear": lambda: (linear, {"period": 0.01}),
    }
    given, options = made[what]()
    files = vn.export_c(given, tmp_path / "code", real=real, **options)
    for name in ("gcc", "clang"):
        compiled(files, tmp_path / f"{name}.o", "-c", "-Os", "-Wno-unused-command-line-argument", name=name)
        table = subprocess.run(["nm", str(tmp_path / f"{name}.o")], capture_output=True, text=True, check=True).stdout
        kinds = [line.split()[-2:] for line in table.splitlines()]
        assert not [symbol for kind, symbol in kinds if kind in "BbDdCGgSs"]  # variables that can change
        missing = {symbol for kind, symbol in kinds if kind == "U"} - {"_GLOBAL_OFFSET_TABLE_"}
        assert missing <= {f"{f}{REAL[real]}" for f in (*FUNCTIONS, "atan2", "pow", "sincos", "fabs")} | COPYING
    calls = _calls(files[1].read_text())
    order: list[str] = []
    while len(order) < len(calls):
        ready = [f for f, called_ in calls.items() if f not in order and called_ <= set(order)]
        assert ready, "a function calls itself, through others perhaps"
        order += ready


COPYING = {"memcpy", "memset", "memmove"}  # which compilers make of loops and initial values


def _calls(text):
    """Every function of a source with those of the same source that it names."""
    bodies = dict(re.findall(r"^(?:static )?(?:void|int|double|float) (\w+)\([^;{]*?\)\n\{(.*?)^\}", text, re.M | re.S))
    return {name: {f for f in bodies if re.search(rf"\b{f}\b", body)} for name, body in bodies.items()}
