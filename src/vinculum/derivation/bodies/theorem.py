"""The kinetic energy of a tree of revolute bodies in closed form (Dolgii, Sesekin, Chupin, Theorem 1, corrected).

    T = ½ (α_0 - 2 Σ α_b φ̇_b + Σ α_bc φ̇_b φ̇_c)

    α_bc = Σ_a { m_a [ (C_ab, C_ac) + ([C_ac, B_ab e], d_aa) + ([C_ab, B_ac e], d_aa) ] + (J_a B_ab e, B_ac e) }
    α_b  = Σ_a { m_a [ ([u_a, B_ab e], d_aa) + (u_a, C_ab) - ([C_ab, w_a], d_aa) ] - (J_a w_a, B_ab e) }
    α_0  = Σ_a { m_a |u_a|² - 2 m_a ([u_a, w_a], d_aa) + (J_a w_a, w_a) }

with e = (0, 0, 1), the sums over the bodies a that the arcs b and c carry, d_aa = C_aO_a, d_bb+ = O_b+O_b, and

    A_b^b+ = A(φ_b+) A_bb+,  B_ab their product along the path,  C_ac = Σ_b B_ab [B_bc e, d_bb+],
    u_a = B_a0 (V_1 + [Ω_0, O_1O_r]) - Σ_b B_ab [B_b0 Ω_0, d_bb+],   w_a = B_a0 Ω_0.

The scalars may be of any kind: SymPy expressions, graph nodes, elements of a polynomial ring. For a `BodyTree`,
`closed_form_kinetic_energy` gives the coefficients as SymPy expressions, for reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.body import Body
from vinculum.errors import ModelError
from vinculum.expressions import as_expression
from vinculum.graph import from_sympy, intermediates
from vinculum.graph.vectors import (
    IDENTITY,
    NULL,
    Matrix,
    Vector,
    cross,
    dot,
    matrix_times,
    minus,
    plus,
    scaled,
    times,
    transposed,
)
from vinculum.names import listed
from vinculum.notebook_repr import formula, html_formula
from vinculum.text_printer import labelled_rows, plain, vlatex

E: Vector = (0, 0, 1)


@dataclass(frozen=True, eq=False)
class Arc:
    """A hinge and its body: the data of the theorem."""

    parent: int  # index of the parent body, -1 the ground
    A: Matrix  # A_pa, from the parent's frame to the hinge's frame at φ = 0
    r: Vector  # O_pO_a in the parent's frame
    rho: Vector  # O_aC_a in the body's frame
    m: Any
    J: Matrix  # inertia about O_a in the body's frame
    c: Any  # cos φ
    s: Any  # sin φ


@dataclass(frozen=True, eq=False)
class Tree:
    """Arcs, each after its parent, and the motion of the base in inertial axes."""

    arcs: Sequence[Arc]
    V1: Vector = NULL
    Omega0: Vector = NULL
    R0: Matrix = IDENTITY  # the axes of the base as columns

    @cached_property
    def paths(self) -> list[list[int]]:
        """I_a: the arcs from the ground to body a, a included."""
        found: list[list[int]] = []
        for a, arc in enumerate(self.arcs):
            found.append([*(found[arc.parent] if arc.parent >= 0 else []), a])
        return found

    def step(self, a: int) -> Matrix:
        """A(φ_a) A_pa, from the parent's frame to F_a."""
        arc = self.arcs[a]
        return matrix_times(((arc.c, arc.s, 0), (-arc.s, arc.c, 0), (0, 0, 1)), arc.A)

    @cached_property
    def B(self) -> list[dict[int, Matrix]]:
        """B_ab for b on the path to a, and under -1 the matrix B_a0 from inertial axes to F_a."""
        found: list[dict[int, Matrix]] = []
        for a, arc in enumerate(self.arcs):
            step = self.step(a)
            before = found[arc.parent] if arc.parent >= 0 else {-1: transposed(self.R0)}
            found.append({b: matrix_times(step, X) for b, X in before.items()} | {a: IDENTITY})
        return found

    def d(self, b: int, a: int) -> Vector:
        """d_bb+ = O_b+O_b in F_b, where b+ follows b on the path to a."""
        path = self.paths[a]
        return scaled(-1, self.arcs[path[path.index(b) + 1]].r)

    def direction(self, a: int, b: int) -> Vector:
        """B_ab e: the axis of hinge b in F_a."""
        return times(self.B[a][b], E)

    def C(self, a: int, c: int) -> Vector:
        """C_ac, summed over b from c to the parent of a."""
        path = self.paths[a]
        total = NULL
        for b in path[path.index(c) : -1]:
            total = plus(total, times(self.B[a][b], cross(times(self.B[b][c], E), self.d(b, a))))
        return total

    def w(self, a: int) -> Vector:
        """B_a0 Ω_0."""
        return times(self.B[a][-1], self.Omega0)

    def u(self, a: int) -> Vector:
        """The velocity of O_a that comes from the ground."""
        path = self.paths[a]
        root = times(self.R0, self.arcs[path[0]].r)
        total = times(self.B[a][-1], plus(self.V1, cross(self.Omega0, root)))
        for b in path[:-1]:
            total = minus(total, times(self.B[a][b], cross(self.w(b), self.d(b, a))))
        return total


@dataclass(frozen=True, eq=False)
class Coefficients:
    """α_0, α_b, α_bc of T = ½ (α_0 - 2 Σ α_b φ̇_b + Σ α_bc φ̇_b φ̇_c)."""

    alpha_0: Any
    alpha: list[Any]  # (n)
    alpha_bc: np.ndarray  # (n, n), symmetric

    def energy(self, rates: Sequence[Any], half: Any) -> Any:
        """T, with ½ as a scalar of the kind in use."""
        linear = dot(self.alpha, rates)
        quadratic = dot([dot(row, rates) for row in self.alpha_bc], rates)
        return half * (self.alpha_0 - 2 * linear + quadratic)


def coefficients(tree: Tree) -> Coefficients:
    """The coefficients of Theorem 1."""
    n = len(tree.arcs)
    alpha_0: Any = 0
    alpha: list[Any] = [0] * n
    alpha_bc = np.full((n, n), 0, dtype=object)
    for a, arc in enumerate(tree.arcs):
        d, u, w = scaled(-1, arc.rho), tree.u(a), tree.w(a)
        alpha_0 = alpha_0 + arc.m * dot(u, u) - 2 * arc.m * dot(cross(u, w), d) + dot(times(arc.J, w), w)
        axes = {b: tree.direction(a, b) for b in tree.paths[a]}
        arms = {b: tree.C(a, b) for b in tree.paths[a]}
        for b, e in axes.items():
            drawn = dot(cross(u, e), d) + dot(u, arms[b]) - dot(cross(arms[b], w), d)
            alpha[b] = alpha[b] + arc.m * drawn - dot(times(arc.J, w), e)
            for c in axes:
                mixed = dot(cross(arms[c], e), d) + dot(cross(arms[b], axes[c]), d)
                inertia = dot(times(arc.J, e), axes[c])
                alpha_bc[b, c] = alpha_bc[b, c] + arc.m * (dot(arms[b], arms[c]) + mixed) + inertia
    return Coefficients(alpha_0, alpha, alpha_bc)


def gravity_forces(tree: Tree, g: Vector) -> list[Any]:
    """Q_b = -α_b with V_1 replaced by g and a base that does not turn: the gravity rule."""
    falling = Tree(tree.arcs, g, NULL, tree.R0)
    return [-x for x in coefficients(falling).alpha]


def direction_cosines(e: Sequence[Any], cos_alpha: Any = 1, sin_alpha: Any = 0, *, below: bool | None = None) -> Matrix:
    """A with third row e, A e = (0, 0, 1), orthogonal with determinant one (Lemma 1). ``e`` has unit length.

    The matrix leads from a frame in which the next axis is e to one whose third axis it is; the angle α about that axis
    is free. The paper's chart divides by 1 + e_3 and has no limit at e_3 = -1: near antiparallel axes a second chart,
    turned half way round about the first axis, is used instead. ``below`` says whether e_3 < 0 where e has symbols.

    >>> from fractions import Fraction
    >>> A = direction_cosines((Fraction(2, 3), Fraction(1, 3), Fraction(2, 3)))
    >>> [str(x) for x in A[2]]
    ['2/3', '1/3', '2/3']
    """
    x, y, z = e
    if float(z) < 0 if below is None else below:
        turned = direction_cosines((x, -y, -z), cos_alpha, sin_alpha, below=False)
        return tuple((row[0], -row[1], -row[2]) for row in turned)
    first = ((1 - x * x / (1 + z), -x * y / (1 + z), -x), (-x * y / (1 + z), 1 - y * y / (1 + z), -y), (x, y, z))
    if cos_alpha == 1 and sin_alpha == 0:
        return first
    return matrix_times(((cos_alpha, sin_alpha, 0), (-sin_alpha, cos_alpha, 0), (0, 0, 1)), first)


@dataclass(frozen=True, eq=False, repr=False)
class KineticEnergy:
    """T = ½ (α_0 - 2 Σ α_b φ̇_b + Σ α_bc φ̇_b φ̇_c) and the generalized forces of gravity, in SymPy."""

    coordinates: tuple[sp.Expr, ...]  # φ in the order of the tree's numbering
    alpha_0: sp.Expr
    alpha: sp.Matrix  # (n, 1)
    alpha_bc: sp.Matrix  # (n, n)
    gravity: sp.Matrix  # (n, 1) Q_b

    @property
    def expression(self) -> sp.Expr:
        """T."""
        rates = sp.Matrix([q.diff(q.args[0]) for q in self.coordinates])
        return (self.alpha_0 - 2 * self.alpha.dot(rates) + (rates.T * self.alpha_bc * rates)[0]) / 2

    def latex(self) -> str:
        """The coefficients, line by line: trigonometry simplified, or with named intermediates where they are large."""
        names = [vlatex(q) for q in self.coordinates]
        entries = {r"\alpha_0": self.alpha_0}
        entries |= {rf"\alpha_{{{b}}}": x for b, x in zip(names, self.alpha, strict=True)}
        for i, b in enumerate(names):
            entries |= {rf"\alpha_{{{b},{c}}}": self.alpha_bc[i, i + j] for j, c in enumerate(names[i:])}
        if all(_expanded_terms(x) <= _EXPANDED_UP_TO for x in entries.values()):
            lines = {name: _tidy(x) for name, x in entries.items()}
        else:
            taken = {str(x) for value in entries.values() for x in as_expression(value).free_symbols}
            named, found = intermediates([from_sympy(x) for x in entries.values()], taken)
            lines = {vlatex(z): x for z, x in named} | dict(zip(entries, found, strict=True))
        rows = [f"{name} &= {vlatex(x)}" for name, x in lines.items()]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def __repr__(self) -> str:
        rows = {"coordinates": listed(self.coordinates), "alpha_0": plain(self.alpha_0)}
        return labelled_rows("KineticEnergy", rows)

    _repr_latex_ = formula
    _repr_html_ = html_formula


_EXPANDED_UP_TO = 3000  # terms of the largest coefficient that is printed without named intermediates
_SIMPLIFIED_UP_TO = 40  # operations; SymPy's trigonometric rules take minutes for larger expressions


Monomials = dict[tuple[int, ...], Any]  # exponents of the generators: coefficient


def _tidy(expression: sp.Expr) -> sp.Expr:
    """A polynomial in sines and cosines with the fewest terms that sin² + cos² = 1 gives, angle by angle."""
    found = sp.expand(expression)
    if not found.atoms(sp.sin, sp.cos):
        return sp.factor_terms(found)
    polynomial = sp.Poly(found)
    terms, gens = dict(polynomial.terms()), list(polynomial.gens)
    places = {x: i for i, x in enumerate(gens)}
    pairs = [
        (i, places[sp.cos(*s.args)]) for s, i in places.items() if isinstance(s, sp.sin) and sp.cos(*s.args) in places
    ]
    before = None
    while before is None or len(terms) < before:  # one angle may uncover another
        before = len(terms)
        for i, j in pairs:
            terms = min((terms, _without_squares(terms, i, j), _without_squares(terms, j, i)), key=len)
    short = sp.Add(*(c * sp.Mul(*map(sp.Pow, gens, powers)) for powers, c in terms.items()))
    return sp.factor_terms(sp.trigsimp(short) if sp.count_ops(short) <= _SIMPLIFIED_UP_TO else short)


def _without_squares(terms: Monomials, gone: int, kept: int) -> Monomials:
    """The polynomial with x² replaced by 1 - y² for the generators x and y at these places."""
    found: Monomials = {}
    for powers, c in terms.items():
        pairs, odd = divmod(powers[gone], 2)
        for i in range(pairs + 1):
            changed = list(powers)
            changed[gone], changed[kept] = odd, powers[kept] + 2 * i
            found[tuple(changed)] = found.get(tuple(changed), 0) + c * comb(pairs, i) * (-1) ** i
    return {powers: c for powers, c in found.items() if c != 0}


def _expanded_terms(expression: sp.Expr) -> float:
    """An upper bound of the number of terms after expansion."""
    sizes: dict[sp.Expr, float] = {}
    for x in sp.postorder_traversal(as_expression(expression)):
        parts = [sizes.get(arg, 1.0) for arg in x.args]
        whole = x.is_Pow and x.exp.is_Integer and x.exp > 0
        sizes[x] = sum(parts) if x.is_Add else prod(parts) if x.is_Mul else parts[0] ** int(x.exp) if whole else 1.0
    return sizes[as_expression(expression)]


def closed_form_kinetic_energy(tree: BodyTree) -> KineticEnergy:
    """The corrected Theorem 1 for a tree of revolute joints. For small trees: it grows as n³."""
    others = [f"{b.name!r} is {b.joint}" for b in tree.bodies if b.joint != "revolute"]
    if others:
        raise ModelError("Theorem 1 needs revolute joints", [*others, "use tree.system().kinetic_energy."])
    data = theorem_data(tree)
    found = coefficients(data)
    gravity = gravity_forces(data, tuple(as_expression(x) for x in tree.gravity))
    return KineticEnergy(
        coordinates=tuple(tree.body(name).coordinates[0] for name in tree.order),
        alpha_0=as_expression(found.alpha_0),
        alpha=sp.Matrix(found.alpha),
        alpha_bc=sp.Matrix(found.alpha_bc.tolist()),
        gravity=sp.Matrix(gravity),
    )


def theorem_data(tree: BodyTree) -> Tree:
    """Frames of Lemma 1 and the constants in them."""
    frames: dict[str | None, Matrix] = {None: IDENTITY}
    arcs = []
    for name in tree.order:
        body = tree.body(name)
        axis = _exact_axis(body)
        frames[name] = direction_cosines(axis, below=float(axis[2].subs(dict(tree.parameters))) < 0)
        parent = tree.order.index(body.parent) if body.parent is not None else -1
        arcs.append(_arc(body, parent, frames[body.parent], frames[name]))
    base = tree.base
    rows = tuple(tuple(base.rotation.row(i)) for i in range(3))
    return Tree(arcs, tuple(base.velocity), tuple(base.angular_velocity), rows)


def _exact_axis(body: Body) -> tuple[Any, ...]:
    axis = sp.Matrix([as_expression(x) for x in body.axis])
    return tuple(axis / sp.sqrt(sp.trigsimp(axis.dot(axis))))


def _arc(body: Body, parent: int, before: Matrix, K: Matrix) -> Arc:
    """The hinge of a body; ``before`` and K lead from the user's frames of parent and body to those of the theorem."""
    C = IDENTITY if body.rotation is None else tuple(tuple(map(as_expression, row)) for row in np.array(body.rotation))
    m, q = as_expression(body.mass), body.coordinates[0]
    center = times(K, tuple(map(as_expression, body.center_of_mass)))
    square = sum(x * x for x in center)
    about_center = matrix_times(matrix_times(K, body.inertia_matrix), transposed(K))
    J = [
        [about_center[i][j] + m * ((square if i == j else 0) - center[i] * center[j]) for j in range(3)]
        for i in range(3)
    ]
    rotor = as_expression(body.each("gear_ratio")[0]) ** 2 * as_expression(body.each("rotor_inertia")[0])
    if rotor != 0:
        raise ModelError("Theorem 1 does not include rotors", [f"{body.name!r} has rotor_inertia; leave it out here."])
    return Arc(
        parent=parent,
        A=matrix_times(matrix_times(K, transposed(C)), transposed(before)),
        r=times(before, tuple(map(as_expression, body.origin))),
        rho=center, m=m, J=J, c=sp.cos(q), s=sp.sin(q),
    )  # fmt: skip
