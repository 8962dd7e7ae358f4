"""No verdict is wrong on systems whose stability is known, and few are left undecided."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from laws.verdicts.cases import judged
from laws.verdicts.corners import dry_friction
from laws.verdicts.kinds import KINDS, make

OUTCOMES = ("right", "weaker", "undecided", "refused", "wrong")
UNDECIDED_SHARE = 0.1  # of all systems


def law(seeds: range) -> None:
    """Judge the systems of all kinds, print the table, and demand that none is wrong and few are left open."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    for kind in KINDS:
        for seed in seeds:
            case = make(kind, seed)
            outcome, answer = judged(case)
            table[kind][outcome] += 1
            if outcome == "wrong":
                wrong.append(f"{kind} {seed}, {case.what}: {answer}; true: {case.truth}")
    _show(table)
    assert not wrong, "\n".join(wrong)
    total: Counter[str] = sum(table.values(), Counter())
    assert total["undecided"] + total["refused"] <= UNDECIDED_SHARE * total.total()


def _show(table: dict[str, Counter[str]]) -> None:
    print(f"\n{'kind':14}" + "".join(f"{name:>11}" for name in OUTCOMES))
    for kind, found in table.items():
        print(f"{kind:14}" + "".join(f"{found[name]:11}" for name in OUTCOMES))


def test_no_verdict_is_wrong():
    law(range(13))


@pytest.mark.slow
def test_no_verdict_is_wrong_on_a_thousand_systems():
    law(range(100, 190))


@pytest.mark.parametrize("case", dry_friction(), ids=lambda case: case.what)
def test_rests_under_dry_friction(case):
    """Every rest that friction or a minimum holds is found stable; the others are left open."""
    found = vn.stability(vn.derive(case.system), case.point)
    assert found.kind == (case.truth if case.truth == "stable" else "undecided")


# -- reachability ------------------------------------------------------------------------------------------------------

FORMS = ("multipliers", "lyapunov", "shulgin")


def pair(seed: int, symmetric: bool) -> tuple[vn.System, int]:
    """Two oscillators pushed alike: the difference is out of reach if they are equal; with the number of lost modes.

    Each coordinate has its own unit of length, all have other units of time and mass.
    """
    random = np.random.default_rng(seed)
    q, u = [dynamicsymbols(f"q{i}") for i in (1, 2)], sp.Symbol("u")
    stiffness = [1.3, 1.3 if symmetric else 1.9]
    lengths = [sp.Float(2.0 ** random.choice([-30, -10, 0, 10])) for _ in q]
    time, energy = (sp.Float(2.0 ** random.choice([-30, 0, 30])) for _ in range(2))
    X = [length * e for length, e in zip(lengths, q, strict=True)]
    T = energy * sum((e.diff() / time) ** 2 for e in X) / 2
    V = energy * (sum(k * e**2 for k, e in zip(stiffness, X, strict=True)) + 0.4 * (X[0] - X[1]) ** 2) / 2
    forces = {e: energy * length * u for e, length in zip(q, lengths, strict=True)}
    return vn.System(q, T, V, forces=forces, inputs=[u]), 2 if symmetric else 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_symmetric_pair_loses_the_difference_in_any_units(seed, symmetric):
    system, lost = pair(seed, symmetric)
    u, q = system.inputs[0], system.coordinates
    linear = vn.linearize(vn.derive(system, FORMS[seed % 3]), {**dict.fromkeys(q, 0.0), u: 0.0})
    assert sum(mode.lost for mode in vn.linear.controllability(linear)) == lost
    assert vn.linear.minimum_actuators(linear) == 1


@pytest.mark.parametrize("seed", range(6))
def test_what_is_upstream_of_the_input_is_out_of_reach(seed):
    """ẋ = A x + B u in blocks [[A₁, C], [0, A₂]], B = (b, 0): the modes of A₂ are lost, in mixed coordinates too."""
    random = np.random.default_rng(seed)
    up, down = 1 + seed % 2, 2
    n = up + down
    A = np.round(random.normal(size=(n, n)), 2)
    A[down:, :down] = 0.0
    x, u = [dynamicsymbols(f"x{i}") for i in range(n)], sp.Symbol("u")
    scales = 2.0 ** random.choice([-20, 0, 20], size=n)
    F = sp.Matrix([sum(A[i, j] * scales[i] / scales[j] * x[j] for j in range(n)) for i in range(n)])
    B = sp.Matrix([scales[i] if i < down else 0 for i in range(n)])
    system = vn.AffineSystem(x, F, [u], B)
    linear = vn.linearize(system, {**dict.fromkeys(x, 0.0), u: 0.0})
    modes = vn.linear.controllability(linear)
    assert sum(mode.lost for mode in modes) == up
    upstream = np.linalg.eigvals(A[down:, down:])
    assert all(np.abs(upstream - mode.root).min() < 1e-9 * (1 + abs(mode.root)) for mode in modes if mode.lost)
