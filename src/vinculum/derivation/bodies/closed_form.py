"""Theorem 1 for a `BodyTree`: the coefficients as SymPy expressions, for reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.derivation.bodies.theorem import Arc, Tree, coefficients, direction_cosines, gravity_forces
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.body import Body
from vinculum.errors import ModelError
from vinculum.graph.vectors import IDENTITY, Matrix, matrix_times, times, transposed
from vinculum.names import listed
from vinculum.notebook_repr import formula
from vinculum.text_printer import labelled_rows, plain, vlatex


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
        """The coefficients, line by line, trigonometry simplified."""
        names = [vlatex(q) for q in self.coordinates]
        rows = [rf"\alpha_0 &= {vlatex(_tidy(self.alpha_0))}"]
        rows += [rf"\alpha_{{{b}}} &= {vlatex(_tidy(x))}" for b, x in zip(names, self.alpha, strict=True)]
        for i, b in enumerate(names):
            rows += [
                rf"\alpha_{{{b},{c}}} &= {vlatex(_tidy(self.alpha_bc[i, j]))}" for j, c in enumerate(names) if j >= i
            ]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def __repr__(self) -> str:
        rows = {"coordinates": listed(self.coordinates), "alpha_0": plain(self.alpha_0)}
        return labelled_rows("KineticEnergy", rows)

    _repr_latex_ = formula


def _tidy(expression: sp.Expr) -> sp.Expr:
    return sp.factor_terms(sp.trigsimp(sp.expand(expression)))


def closed_form_kinetic_energy(tree: BodyTree) -> KineticEnergy:
    """The corrected Theorem 1 for a tree of revolute joints. Meant for small trees: it grows as n³."""
    others = [f"{b.name!r} is {b.joint}" for b in tree.bodies if b.joint != "revolute"]
    if others:
        raise ModelError("Theorem 1 is about revolute joints", [*others, "use tree.system().kinetic_energy."])
    data = theorem_data(tree)
    found = coefficients(data)
    gravity = gravity_forces(data, tuple(sp.sympify(x) for x in tree.gravity))
    return KineticEnergy(
        coordinates=tuple(tree.body(name).coordinates[0] for name in tree.order),
        alpha_0=sp.sympify(found.alpha_0),
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
        frames[name] = direction_cosines(_exact_axis(body))
        parent = list(tree.order).index(body.parent) if body.parent is not None else -1
        arcs.append(_arc(body, parent, frames[body.parent], frames[name]))
    base = tree.base
    rows = tuple(tuple(base.rotation.row(i)) for i in range(3))
    return Tree(arcs, tuple(base.velocity), tuple(base.angular_velocity), rows)


def _exact_axis(body: Body) -> tuple[Any, ...]:
    axis = sp.Matrix([sp.sympify(x) for x in body.axis])
    return tuple(axis / sp.sqrt(axis.dot(axis)))


def _arc(body: Body, parent: int, before: Matrix, K: Matrix) -> Arc:
    """The hinge of a body; ``before`` and K lead from the user's frames of parent and body to those of the theorem."""
    C = IDENTITY if body.rotation is None else tuple(tuple(map(sp.sympify, row)) for row in np.array(body.rotation))
    m, q = sp.sympify(body.mass), body.coordinates[0]
    center = times(K, tuple(map(sp.sympify, body.center_of_mass)))
    square = sum(x * x for x in center)
    about_center = matrix_times(matrix_times(K, body.inertia_matrix), transposed(K))
    J = [
        [about_center[i][j] + m * ((square if i == j else 0) - center[i] * center[j]) for j in range(3)]
        for i in range(3)
    ]
    rotor = sp.sympify(body.each("gear_ratio")[0]) ** 2 * sp.sympify(body.each("rotor_inertia")[0])
    if rotor != 0:
        raise ModelError("Theorem 1 has no rotors", [f"{body.name!r} has rotor_inertia; leave it out here."])
    return Arc(
        parent=parent,
        A=matrix_times(matrix_times(K, transposed(C)), transposed(before)),
        r=times(before, tuple(map(sp.sympify, body.origin))),
        rho=center, m=m, J=J, c=sp.cos(q), s=sp.sin(q),
    )  # fmt: skip
