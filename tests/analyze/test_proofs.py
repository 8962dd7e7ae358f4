"""Proofs behind verdicts: signs of power, exact critical roots, constant shifts, families that only cross."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.analyze.exactly_critical import characteristic_polynomial, exactly_critical, orlando
from vinculum.analyze.power import Signs, positive_semidefinite
from vinculum.analyze.shifts import shifts
from vinculum.graph import Converter, jacobian, symbol

x, y, phi = dynamicsymbols("x y phi")
u, v = x.diff(), y.diff()
c, k, r = sp.symbols("c k r")
VALUES = {symbol(s): 0.0 for s in (x, y, u, v)} | {symbol(c): 0.3, symbol(k): 2.0, symbol(r): 7 / 3}
PARAMETERS = [symbol(s) for s in (c, k, r)]


def node(expression):
    return Converter()(sp.sympify(expression))


@pytest.mark.parametrize(
    ("power", "proved"),
    [
        (-c * (u - v) ** 2, True),
        (-c * u**2 + 2 * c * u * v - c * v**2, True),  # semidefinite exactly
        (-c * u**2 + 2.0000001 * c * u * v - c * v**2, False),
        (-(u**2) - v**2 - 2 * (1 + x**2) * u * v, False),  # positive in a thin cone
        (-(x**2) * u**2, True),
        (-x * u**2, False),
        (-(2 + x) * u**2, True),  # near x = 0
        (-sp.tanh(5 * u) * u, True),
        (-sp.tanh(u - v) * u + sp.tanh(u - v) * v, True),
        (-sp.tanh(u - v) * u - sp.tanh(u - v) * v, False),
        (-(u**4) - v**6, True),
        (u**4 - u**2 * v**2, False),
    ],
)
def test_power_that_is_never_positive(power, proved):
    assert Signs(VALUES, PARAMETERS).never_positive(node(power), [symbol(u), symbol(v)]) == proved


def test_semidefinite_matrices():
    half = Fraction(1, 2)
    assert positive_semidefinite([[Fraction(1), half], [half, Fraction(1, 4)]])
    assert not positive_semidefinite([[Fraction(1), half], [half, Fraction(24, 100)]])
    assert not positive_semidefinite([[Fraction(0), half], [half, Fraction(1)]])


def test_polynomials_in_fractions():
    """(λ² + 1)(λ² + 3λ + 1) has a pair λ, -λ; with another last coefficient it has none."""
    assert characteristic_polynomial([[Fraction(1), Fraction(2)], [Fraction(3), Fraction(4)]]) == [1, -5, -2]
    assert orlando([Fraction(a) for a in (1, 3, 2, 3, 1)]) == 0
    assert orlando([Fraction(a) for a in (1, 3, 2, 3, 2)]) != 0


@pytest.mark.parametrize(("third", "exact"), [(0.5, True), (0.3, False)])
def test_a_root_that_vanishes_exactly(third, exact):
    """a + b - c with 0.25 + 0.25 - 0.5 is zero; with 0.1 + 0.2 - 0.3 it is 5.5e-17."""
    a, b = (0.25, 0.25) if exact else (0.1, 0.2)
    A, B, C = sp.symbols("A B C")
    rate = node((A + B - C) * x + x**3)
    values = {symbol(A): a, symbol(B): b, symbol(C): third, symbol(x): 0.0}
    assert exactly_critical([rate], [symbol(x)], values, pair=False) == exact


def test_shifts_along_a_gear_ratio():
    """V = k (r x - y)²/2 stays the same along (1, r), also where r is a decimal number in the formula."""
    for ratio in (r, sp.Float(7 / 3), sp.sqrt(2).n()):
        force = k * (ratio * x - y)
        rows = [node(-ratio * force), node(0.7 * force)]
        X = shifts(rows, [symbol(x), symbol(y)], VALUES, PARAMETERS)
        assert X.shape == (2, 1)
        assert X[1, 0] / X[0, 0] == pytest.approx(float(ratio.subs(r, 7 / 3)), rel=1e-14)
    assert shifts([node(x - y**2)], [symbol(x), symbol(y)], VALUES, PARAMETERS).shape == (2, 0)
    assert jacobian(rows, [symbol(x)]).shape == (2, 1)


def verdict(system, drop=()):
    states = system.coordinates if isinstance(system, vn.System) else system.states
    equations = vn.derive(system) if isinstance(system, vn.System) else system
    return vn.stability(vn.linearize(equations, dict.fromkeys(states, 0.0), drop=drop))


def test_drift_of_second_order():
    """A conserved spin pushes a damped mass with the square of its speed."""
    T = (u**2 + phi.diff() ** 2) / 2
    found = verdict(vn.System([x, phi], T, forces={x: -u + phi.diff() ** 2}), drop=[phi])
    assert (found.kind, found.drifting) == ("unstable", (x,))
    held = vn.System([x, phi], T, forces={x: -u - x + phi.diff() ** 2})
    assert verdict(held, drop=[phi]).kind == "stable"


def test_lines_of_equilibria_that_cross_are_no_family():
    assert verdict(vn.AffineSystem([x, y], [x * y, x * y])).kind == "undecided"
    assert verdict(vn.AffineSystem([x, y], [x * y, -y])).kind == "stable"


def test_positions_that_an_integral_holds():
    """A damped free mass beside an undamped spring, a charge in a magnetic field; a free mass drifts."""
    T = (u**2 + v**2) / 2
    assert verdict(vn.System([x, y], T, y**2, dissipation=u**2)).kind == "stable"
    assert verdict(vn.System([x, y], T, forces={x: v, y: -u})).kind == "stable"
    assert verdict(vn.System([x, y], T, y**2)).kind == "unstable"


def test_a_valley_of_rests():
    """Along the valley y = x² nothing restores; damping stops the motion."""
    T, V = (u**2 + v**2) / 2, (y - x**2) ** 2
    assert "Rubin" in verdict(vn.System([x, y], T, V)).theorem
    assert verdict(vn.System([x, y], T, V, dissipation=T)).kind == "stable"
    assert verdict(vn.System([x, y], T, V + x**4)).kind == "stable"


def test_positive_power_in_a_thin_cone():
    forces = {x: -u - (1 + x**2) * v, y: -v - (1 + x**2) * u}
    found = verdict(vn.System([x, y], (u**2 + v**2) / 2, (x**2 + y**2) / 2, forces=forces))
    assert found.kind == "unstable"
    assert np.abs(found.roots.real).max() > 0.1
