"""A first result does nothing that it does not need: counts, without any timing."""

from __future__ import annotations

import latex2mathml.converter
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.analyze import shifts
from vinculum.compile import jets, machine
from vinculum.graph import exact, from_sympy, symbol
from vinculum.present import mathml


@pytest.fixture
def unrolled(monkeypatch):
    """For every module of machine code, whether its loops were unrolled."""
    found, optimize = [], machine._optimize

    def seen(module, target, unroll):
        found.append(unroll)
        optimize(module, target, unroll)

    monkeypatch.setattr(machine, "_optimize", seen)
    return found


def test_the_first_run_of_a_small_model_compiles_little(unrolled):
    """Unrolling the loop over rows takes longer than all of the rest, and so it does in the program of tapes."""
    x = dynamicsymbols("first_run")
    jets.program.cache_clear()
    motion = vn.simulate(vn.derive(vn.System([x], x.diff() ** 2 / 2, 1 - sp.cos(x))), {x: 0.5}, (0, 1))
    assert motion.energy_error < 1e-14
    assert 2 <= len(unrolled) <= 4
    assert not any(unrolled)


def test_shifts_are_found_with_one_jacobian(monkeypatch):
    """A force between two bodies does not change when both are displaced."""
    calls, jacobian = [], shifts.jacobian
    monkeypatch.setattr(shifts, "jacobian", lambda *args: calls.append(args) or jacobian(*args))
    a, b, k = sp.symbols("a b k")
    row, nodes = from_sympy(0.3 * k * sp.sin(a - b)), [symbol(a), symbol(b)]
    found = shifts.shifts([row], nodes, {**dict.fromkeys(nodes, 0.2), symbol(k): 2.5}, [symbol(k)])
    assert np.array_equal(found, [[1], [1]])
    assert len(calls) == 1


def test_dependence_is_tested_on_the_nodes_that_a_variable_reaches(monkeypatch):
    visited, changed = [], exact._Point.changed

    def seen(self, x, nodes, outputs):
        visited.append(len(nodes))
        return changed(self, x, nodes, outputs)

    monkeypatch.setattr(exact._Point, "changed", seen)
    pairs = list(zip(sp.symbols("x:20"), sp.symbols("y:20"), strict=True))
    found = exact.independent([from_sympy(x * y) for x, y in pairs], [symbol(x) for x, _ in pairs])
    assert all(found[symbol(x)] == [x is not other for other, _ in pairs] for x, _ in pairs)
    assert set(visited) == {2}  # x and x y


def test_a_block_of_equations_converts_its_equal_sign_once(monkeypatch):
    calls, convert = [], latex2mathml.converter.convert
    counting = lambda latex, **options: calls.append(latex) or convert(latex, **options)  # noqa: E731
    monkeypatch.setattr(latex2mathml.converter, "convert", counting)
    mathml.equations([(f"a_{{{i}}}", f"b_{{{i}}} + 1") for i in range(10)])
    assert len(calls) == 2 * 10 + 1
