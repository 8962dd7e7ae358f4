"""What shows the errata of the graph and of Lemma 1."""

from __future__ import annotations

import numpy as np

import vinculum as vn
from papers.graph.exact import SHAPES
from papers.graph.literal import lemma_1, matrix_of, rodrigues
from papers.record import Evidence, evidence
from vinculum.derivation.bodies.theorem import direction_cosines

PARENTS = SHAPES["tree of four"]  # of the arcs 0 to 3; arc a carries body a
AXES = [(0.36, 0.48, 0.8), (-0.6, 0.64, -0.48), (2 / 3, -1 / 3, 2 / 3)]
ANGLES = (0.0, 0.7, -2.1)


def on_path(arc: int, body: int) -> bool:
    while body >= 0:
        if body == arc:
            return True
        body = PARENTS[body]
    return False


def inverse_incidence() -> Evidence:
    """S by its definition, inverted, against both readings of (S⁻¹)_{ia}."""
    n = len(PARENTS)
    S = np.eye(n)
    for a, parent in enumerate(PARENTS):
        if parent >= 0:
            S[parent, a] = -1
    right = np.array([[float(on_path(a, i)) for i in range(n)] for a in range(n)])  # row = arc, column = body
    truth = np.linalg.inv(S)
    errors = [float(np.abs(found - truth).max()) for found in (right.T, right)]
    return evidence("S⁻¹ of the tree of four against the inverse of S", errors, exact=True)


def premise_of_lemma_1() -> Evidence:
    """Consecutive hinges a, b of a path and the body i between them: i⁻(a) = i⁺(b), or i⁺(a) = i⁻(b)."""
    pairs = [(parent, b) for b, parent in enumerate(PARENTS) if parent >= 0]
    enters = dict(enumerate(PARENTS))  # i⁻
    leaves = {a: a for a in enters}  # i⁺
    failing = [sum(enters[a] != leaves[b] for a, b in pairs), sum(leaves[a] != enters[b] for a, b in pairs)]
    return evidence("neighboring hinges of the tree of four that the premise does not fit", failing, exact=True)


def second_parameter() -> Evidence:
    """The matrix of λ with λ_2 of l. 57: its third row must be e."""
    wrong, right = [], []
    for e in AXES:
        for angle in ANGLES:
            errors = [np.abs(matrix_of(rodrigues(e, angle, printed))[2] - e).max() for printed in (True, False)]
            wrong.append(errors[0])
            right.append(errors[1])
    return Evidence("third row of the direction cosines against e, nine cases", max(wrong), max(right))


def second_axis() -> Evidence:
    """The vector of l. 71: the axis of a hinge, e_b, or the second unit vector, which is orthogonal to it."""
    errors = []
    for e in AXES:
        found = matrix_of(rodrigues(e, 0.7, False))[1]
        errors.append([abs(found @ e - 1), abs(found @ e)])
    wrong, right = np.array(errors).T
    return Evidence("product of the vector with e_b: one for e_b itself, zero for i_2b", wrong.min(), right.max())


def third_axis() -> Evidence:
    """O_a x_3 along e_n or e_a: the third row of the frames of a path of three hinges."""
    last = np.array(AXES[-1])
    errors = [[np.abs(lemma_1(e, 0.3)[2] - axis).max() for axis in (last, np.array(e))] for e in AXES[:-1]]
    wrong, right = np.array(errors).T
    return Evidence("third axis of the frame of hinge a against e_n and against e_a", wrong.min(), right.max())


def antiparallel() -> Evidence:
    """Loss of orthogonality at the angle π - 1e-6, and with the second chart."""
    e = near_antiparallel(1e-6)
    A = np.array(direction_cosines(e), dtype=float)
    return Evidence(
        "|A Aᵀ - 1| for axes at the angle π - 10⁻⁶: the chart of the paper, and the second chart",
        loss(lemma_1(e, 0.0)),
        loss(A),
        accepted=1e-14,
    )


def near_antiparallel(angle: float) -> tuple[float, ...]:
    sine, cosine = np.sin(np.pi - angle), np.cos(np.pi - angle)
    return float(0.6 * sine), float(0.8 * sine), float(cosine)


def loss(A: np.ndarray) -> float:
    return float(np.abs(A @ A.T - np.eye(3)).max())


def matrix_of_lemma_1() -> tuple[str, float]:
    worst = 0.0
    for e in AXES:
        for angle in ANGLES:
            A = lemma_1(e, angle)
            worst = max(
                worst, loss(A), abs(np.linalg.det(A) - 1), np.abs(A - matrix_of(rodrigues(e, angle, False))).max()
            )
    return "orthogonal, determinant 1, equal to the matrix of the closed λ; nine cases", float(worst)


def freedom_of_a_hinge() -> Evidence:
    """A cylindrical joint has two freedoms; a hinge of the paper has one angle."""
    joints = ("cylindrical", "revolute")
    counts = [len(vn.Body("link", None, joint=kind, mass=1.0, inertia=1.0).coordinates) for kind in joints]
    return evidence("coordinates of one hinge besides its angle", [count - 1 for count in counts], exact=True)
