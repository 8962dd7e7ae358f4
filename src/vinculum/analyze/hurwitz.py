"""Stability as a function of parameters: symbolic characteristic polynomial, Routh-Hurwitz conditions, and regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.equilibrium import Equilibrium, equilibrium
from vinculum.analyze.first_approximation import first_approximation
from vinculum.analyze.linearize import linearize
from vinculum.analyze.root_bounds import BoundedRoots, bounded_roots
from vinculum.analyze.steady_search import Search
from vinculum.derivation import EquationsOfMotion
from vinculum.derivation.equations import is_number
from vinculum.derivation.forms.routh import cyclic_coordinates
from vinculum.derivation.mechanics.partition import Partition, best_partition
from vinculum.describe.quantities import dimensions_of
from vinculum.ensembles.spread import spread
from vinculum.errors import ModelError, VinculumError
from vinculum.expressions import as_expression, by_symbol
from vinculum.graph import Node, constant, from_sympy, substitute, symbol, to_sympy
from vinculum.graph.exact import vanishes
from vinculum.hooks import call
from vinculum.names import name_of, suggestion
from vinculum.notebook_repr import html
from vinculum.simulation.progress import Shown
from vinculum.units.given import column_in_si, numbers_in_si

ROOT = sp.Symbol("lambda")


def symbolic_matrices(
    equations: EquationsOfMotion, at: Mapping[sp.Expr, sp.Expr | float], parameters: Sequence[sp.Symbol]
) -> dict[str, sp.Matrix]:
    """The matrices of the first approximation by name (A, G, D, C1 to C4, CB, PB, P, B, V_u, damping and K).

    The chosen parameters are kept as symbols.

    ``at`` gives every coordinate and input at the equilibrium, as numbers or expressions of the parameters. It must be
    an equilibrium for all their values; this is checked. Meant for small systems.
    """
    found = {name: _matrix(part) for name, part in _symbolic_nodes(equations, at, parameters).items()}
    _refuse_wrong_point(found.pop("residual"), parameters)
    B = found["B"]
    curvature = found["CB"] - found["PB"] - found["P"]
    W = found["C1"]
    if len(B):
        W = W + found["C2"] * B + B.T * found["C3"] + B.T * found["C4"] * B
    return found | {"K": W + curvature}


def characteristic_polynomial(
    equations: EquationsOfMotion, at: Mapping[sp.Expr, sp.Expr | float], parameters: Sequence[sp.Symbol]
) -> sp.Poly:
    """det[A λ² + (G - D) λ + K] as a polynomial in λ with the chosen parameters kept as symbols.

    ``at`` is as in `symbolic_matrices`. Factors λ that are there for all values of the parameters are left out: the
    structural zero roots of ignorable coordinates and conserved momenta.
    """
    found = symbolic_matrices(equations, at, parameters)
    pencil = found["A"] * ROOT**2 + found["damping"] * ROOT + found["K"]
    coefficients = sp.Poly(sp.expand(pencil.det(method="berkowitz")), ROOT).all_coeffs()
    while len(coefficients) > 1 and vanishes(from_sympy(coefficients[-1])):
        coefficients.pop()
    return sp.Poly(coefficients, ROOT)


def hurwitz_conditions(polynomial: sp.Poly) -> list[sp.Expr]:
    """Expressions that are all positive if and only if every root has a negative real part.

    For a₀ λⁿ + a₁ λⁿ⁻¹ + ... these are the leading minors Δ₁, ..., Δₙ₋₁ of Hurwitz's matrix H_ij = a_{2j-i} and aₙ, all
    for a₀ > 0. If the assumptions of the symbols leave the sign of a₀ open, the odd minors and aₙ are multiplied by a₀,
    which is right for both signs.
    """
    a = polynomial.all_coeffs()
    n = len(a) - 1
    if a[0].is_negative:
        a = [-c for c in a]
    H = sp.Matrix(n, n, lambda i, j: a[2 * j - i + 1] if 0 <= 2 * j - i + 1 <= n else 0)
    minors = [H[:k, :k].det(method="berkowitz") for k in range(1, n)]
    if a[0].is_positive:
        conditions = [a[0], *minors, a[n]] if n else [a[0]]
    else:
        conditions = [*(a[0] * minor if k % 2 else minor for k, minor in enumerate(minors, start=1)), a[0] * a[n]]
    return [sp.factor(condition) for condition in conditions]


@dataclass(frozen=True, eq=False)
class Region:
    """The largest real part of the roots over two parameters, and its side of the imaginary axis, if that is certain.

    ``rightmost`` is NaN and ``sides`` is "none" where there is no equilibrium.
    """

    parameters: tuple[sp.Symbol, sp.Symbol]
    first: np.ndarray  # (a)
    second: np.ndarray  # (b)
    rightmost: np.ndarray  # (a, b)
    sides: np.ndarray  # (a, b): "stable", "unstable", "undecided" (roots on the axis within their errors), "none"

    @property
    def stable(self) -> np.ndarray:
        """Where all roots have negative real parts for certain, (a, b)."""
        return self.sides == "stable"

    @property
    def unstable(self) -> np.ndarray:
        """Where a root has a positive real part for certain, (a, b)."""
        return self.sides == "unstable"

    @property
    def undecided(self) -> np.ndarray:
        """Where the rightmost roots are on the imaginary axis within their errors, (a, b)."""
        return self.sides == "undecided"

    def plot(self) -> Any:
        """A Plotly map of the largest real part, with a bold line at the stability boundary."""
        return call("plot of a region", self)

    _repr_html_ = html


def stability_region(
    equations: EquationsOfMotion,
    given: Mapping[sp.Expr, float],
    over: Mapping[sp.Symbol, Sequence[float]],
    *,
    near: Mapping[sp.Expr, float] | Equilibrium | None = None,
    processes: int | None = None,
    client: Any = None,
    progress: Shown = None,
) -> Region:
    """The roots over a grid of two parameters; the equilibrium is solved for at each point.

    ``near`` are starting values of the searches, or the equilibrium at one point. ``processes`` computes on several
    cores (in a script, below ``if __name__ == "__main__":``), a `dask.distributed` ``client`` on its workers; the
    numbers are the same. ``progress`` is as in `study`.
    """
    if not isinstance(over, Mapping):
        raise VinculumError(f"over must be {{p: values, q: values}}; got {over!r}.")
    if len(over) != 2:
        raise VinculumError(f"A region needs two parameters, got {len(over)}: over={{p: values, q: values}}.")
    known = dimensions_of(equations)
    over = by_symbol(over, {name_of(p): p for p in equations.parameters}, "over")
    over = {key: column_in_si(key, values, known, "Invalid parameters over=") for key, values in over.items()}
    (p, first), (q, second) = ((key, _axis(equations, key, values)) for key, values in over.items())
    cells = [(float(a), float(b)) for a in first for b in second]
    parts = [cells[k : k + _CELLS] for k in range(0, len(cells), _CELLS)]
    given = numbers_in_si(given, known, "Invalid given values")
    near = numbers_in_si(_start(equations, given, near or {}), known, "Invalid values near=")
    work = partial(_cells, equations, given, near, (p, q))
    found = [
        cell for part in spread(work, parts, processes=processes, client=client, progress=progress) for cell in part
    ]
    shape = (len(first), len(second))
    rightmost = np.array([root for root, _ in found]).reshape(shape)
    return Region((p, q), first, second, rightmost, np.array([side for _, side in found], dtype="<U9").reshape(shape))


def _axis(equations: EquationsOfMotion, key: Any, values: Any) -> np.ndarray:
    """The values of one parameter; raises for anything but a list of finite numbers."""
    if key not in equations.parameters:
        near = suggestion(name_of(key), map(name_of, equations.parameters))
        raise ModelError("Invalid parameters over=", [f"{name_of(key)} is not a parameter.{near}"])
    row = (isinstance(values, Sequence) or hasattr(values, "__array__")) and getattr(values, "ndim", 1) == 1
    if not row or not len(values) or not all(map(is_number, values)):
        said = (
            f"the values of {name_of(key)} are {repr(values)[:60]}. Give a list of finite numbers, such as [1, 2, 3]."
        )
        raise ModelError("Invalid parameters over=", [said])
    return np.asarray(values, dtype=float)


def _start(
    equations: EquationsOfMotion, given: Mapping[sp.Expr, float], near: Mapping[sp.Expr, float]
) -> Mapping[sp.Expr, float]:
    """Where the searches start: of an equilibrium the unknowns; other names that are not unknowns are refused once."""
    search = Search(equations, dict(given), {}, ())
    if isinstance(near, Equilibrium):
        return {x.value: near[x.value] for x in search.unknowns if x.value in near}
    search.start(dict.fromkeys(near, 0.0))
    return near


_CELLS = 16  # of a map, computed together


def _cells(
    equations: EquationsOfMotion,
    given: Mapping[sp.Expr, float],
    near: Mapping[sp.Expr, float],
    keys: tuple[sp.Symbol, sp.Symbol],
    cells: Sequence[tuple[float, float]],
) -> list[tuple[float, str]]:
    """The largest real part and its side for some pairs of values."""
    return [_cell(equations, given, near, dict(zip(keys, cell, strict=True))) for cell in cells]


def _cell(
    equations: EquationsOfMotion,
    given: Mapping[sp.Expr, float],
    near: Mapping[sp.Expr, float],
    parameters: Mapping[sp.Symbol, float],
) -> tuple[float, str]:
    try:
        rest = equilibrium(equations, given, near=near or None, parameters=parameters, starts=0)
        bounded = bounded_roots(linearize(equations, rest).system_matrix)
    except VinculumError:
        return np.nan, "none"
    return float(bounded.roots.real.max(initial=-np.inf)), _side(bounded)


def _side(bounded: BoundedRoots) -> str:
    return "unstable" if bounded.right.any() else "stable" if bounded.left.all() else "undecided"


def best_or_own(equations: EquationsOfMotion, at: Mapping[sp.Expr, Any]) -> Partition:
    """The partition of the form, or the best one at the equilibrium with the numerical values of the parameters."""
    if equations.partition is not None:
        return equations.partition
    return best_partition(equations.mechanics, _numbers(equations, at))


def _numbers(equations: EquationsOfMotion, at: Mapping[sp.Expr, sp.Expr | float]) -> dict[Node, float]:
    system = equations.system
    rest = dict.fromkeys(system.velocities, 0.0) | dict.fromkeys(cyclic_coordinates(system), 0.0)
    point = {key: float(as_expression(value).subs(dict(system.parameters))) for key, value in at.items()}
    complete = {system.time: 0.0} | dict(system.parameters) | rest | point
    missing = [name_of(key) for key in (*system.coordinates, *system.inputs) if key not in complete]
    if missing:
        raise ModelError("Invalid point at=", [f"No value for {', '.join(missing)}."])
    return {symbol(key): value for key, value in complete.items()}


_NAMES = ("A", "G", "D", "C1", "C2", "C3", "C4", "CB", "PB", "P", "B", "V_u", "damping")


def _symbolic_nodes(
    equations: EquationsOfMotion, at: Mapping[sp.Expr, sp.Expr | float], parameters: Sequence[sp.Symbol]
) -> dict[str, np.ndarray]:
    """The matrices and the residual of the equilibrium equations at the point, as nodes of the parameters."""
    values = _numbers(equations, at)
    nodes = first_approximation(equations.mechanics, best_or_own(equations, at), [values])
    kept = {symbol(p) for p in parameters}
    numbers = {key: constant(value) for key, value in values.items() if key not in kept}
    point = numbers | {symbol(key): from_sympy(as_expression(value)) for key, value in at.items()}

    def at_point(array: np.ndarray) -> np.ndarray:
        flat = substitute(substitute(list(array.ravel()), point), numbers)
        result = np.empty(array.shape, dtype=object)
        result.ravel()[:] = flat
        return result

    parts = {name: getattr(nodes, name) for name in _NAMES} | {"residual": nodes.residual[:, None]}
    return {name: at_point(part) for name, part in parts.items()}


def _matrix(nodes: np.ndarray) -> sp.Matrix:
    return sp.Matrix(*nodes.shape, [sp.nsimplify(to_sympy(node), rational=False) for node in nodes.ravel()])


def _refuse_wrong_point(residual: sp.Matrix, parameters: Sequence[sp.Symbol]) -> None:
    """The residual of the equilibrium equations must vanish for all values of the parameters; three are tried."""
    random = np.random.default_rng(2)
    for _ in range(3):
        trial = dict(zip(parameters, random.uniform(0.5, 1.5, len(parameters)), strict=True))
        left = [abs(complex(entry.subs(trial))) for entry in residual]
        if max(left, default=0.0) > 1e-9:
            raise VinculumError(
                "The point is not an equilibrium for all values of the parameters (largest residual "
                f"{max(left):.3g}). Give the coordinates and inputs in at={{...}} as expressions of the parameters."
            )
