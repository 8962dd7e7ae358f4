"""Taylor series on a tape are those of heyoka, and the cost of loops grows with their number."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from benchmarks.loops import four_bars, start
from vinculum.compile.tape import tape
from vinculum.derivation.mechanics.lagrange import mechanics
from vinculum.derivation.mechanics.sample_states import generic_states
from vinculum.graph import symbol

x, y = dynamicsymbols("x y")
p = sp.Symbol("p")
SMALL = sp.Rational(1, 2) + sp.sin(x) / 5 + y / 20  # between -1 and 1
FUNCTIONS = [
    sp.sqrt(1 + x**2), sp.exp(-(x**2)), sp.log(2 + y**2), sp.tan(SMALL), sp.asin(SMALL), sp.acos(SMALL), sp.atan(3 * x),
    sp.sinh(y), sp.cosh(x / 2), sp.tanh(x + y), sp.asinh(x), sp.acosh(2 + x**2), sp.atanh(SMALL),
    sp.atan2(SMALL, 2 + x), (2 + sp.cos(x)) ** sp.Rational(5, 3), (2 + sp.cos(x)) ** (p * y),
    p / (2 + sp.sin(x)), x * y / p,
]  # fmt: skip


def test_all_functions_have_the_series_of_heyoka():
    """Both take the same steps, and their motions differ by rounding."""
    t = dynamicsymbols._t
    forces = {x: -2 * x + sp.Add(*FUNCTIONS[::2]) / 20 + sp.cos(3 * t) / 5, y: -3 * y + sp.Add(*FUNCTIONS[1::2]) / 20}
    equations = vn.derive(vn.System([x, y], (x.diff() ** 2 + y.diff() ** 2) / 2, forces=forces, parameters={p: 1.3}))
    begin = {x: 0.4, y: -0.3, x.diff(): 0.1, y.diff(): 0.2}
    on_tape, compiled = (vn.simulate(equations, begin, (0, 4), method=vn.Taylor(compact=c)) for c in (None, True))
    assert on_tape.steps == compiled.steps
    for key in (x, y, x.diff(), y.diff()):
        np.testing.assert_allclose(on_tape[key], compiled[key], rtol=0, atol=1e-13)
    back = vn.simulate(equations, on_tape, (4, 0))
    assert back[x][-1] == pytest.approx(0.4, abs=1e-12)


def test_a_tolerance_lengthens_the_steps():
    equations = vn.derive(vn.System([x], x.diff() ** 2 / 2, -sp.cos(x)))
    fine, coarse = (vn.simulate(equations, {x: 1.0}, (0, 20), tolerance=tol) for tol in (None, 1e-8))
    assert coarse.steps != fine.steps
    assert np.abs(coarse[x] - fine[x]).max() < 1e-6


def size_of_tape(loops: int) -> tuple[int, int]:
    equations = vn.derive(four_bars(loops))
    rates = equations.mechanics.without_corrections(equations.explicit().rates)
    made = tape(symbol(equations.time), [symbol(key) for key in equations.states], [], rates)
    return made.rows, len(made.code)


def test_tapes_of_loops_grow_linearly():
    """Twice the loops, twice the operations: the elimination fills in nothing."""
    (few, short), (many, long) = size_of_tape(12), size_of_tape(24)
    assert many < 2.1 * few
    assert long < 2.1 * short


def calls(run) -> int:
    """Calls of Python functions while something runs."""
    count = 0

    def see(frame, event, _):
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_deriving_loops_grows_linearly():
    few, many = (four_bars(loops) for loops in (30, 60))
    assert all(system.nodes.kinetic is not None for system in (few, many))  # converted from SymPy once
    vn.derive(four_bars(25))  # imports
    assert calls(lambda: vn.derive(many)) < 2.5 * calls(lambda: vn.derive(few))


def test_many_loops_get_their_sample_states():
    """From random values, Newton's method alone finds none for more than a hundred loops."""
    assert len(generic_states(mechanics(four_bars(120)))) == 2


def test_forty_loops_cross_a_singular_position():
    motion = vn.simulate(vn.derive(four_bars(40)), start(40), (0, 1))
    assert motion.outcome.kind == "finished"
    assert [event.name for event in motion.events] == ["singular position of x1, x2, x3 and 37 more"]
    assert motion.energy_error < 1e-8
    assert max(motion.largest_residuals.values()) < 1e-9
