"""The verdict on stability and the theorem behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vinculum.analyze.linear_model import LinearModel
from vinculum.graph import ZERO, jacobian
from vinculum.notebook_repr import html
from vinculum.text_printer import number, numbers

ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotically stable", "stable", "unstable", "undecided"


@dataclass(frozen=True)
class Verdict:
    """The kind of stability, the theorem, the reason, and the perturbations it covers."""

    kind: str
    theorem: str
    explanation: str
    roots: np.ndarray
    damping_ratios: np.ndarray  # -Re/|λ| of each root
    critical: int  # structural zero roots

    def __bool__(self) -> bool:
        return self.kind in (ASYMPTOTIC, STABLE)

    def __str__(self) -> str:
        return f"{self.kind}: {self.explanation} ({self.theorem})"

    _repr_html_ = html


def stability(linear: LinearModel) -> Verdict:
    """Decide by the reduced characteristic equation; structural zero roots are counted separately."""
    roots = linear.roots
    size = max(float(np.abs(roots).max(initial=0.0)), 1e-300)
    rounding = 1e-9 * size
    right, left = roots.real > rounding, roots.real < -rounding
    if right.any():
        parts = _unstable(linear, roots[right])
    elif left.all():
        parts = _hurwitz(linear)
    else:
        parts = _on_the_axis(linear, roots[~left])
    return Verdict(*parts, roots=roots, damping_ratios=damping_ratios(roots), critical=linear.critical)


def damping_ratios(roots: np.ndarray) -> np.ndarray:
    """-Re λ / |λ| of each root, zero for a zero root."""
    return 0.0 - roots.real / np.where(np.abs(roots) > 0, np.abs(roots), 1.0)


def _unstable(linear: LinearModel, roots: np.ndarray) -> tuple[str, str, str]:
    return (
        UNSTABLE,
        "Lyapunov's theorem on instability by the first approximation",
        f"the root {number(roots[0])} has a positive real part",
    )


def _hurwitz(linear: LinearModel) -> tuple[str, str, str]:
    if not linear.critical:
        return ASYMPTOTIC, "Lyapunov's theorem on the first approximation", "all roots have negative real parts"
    return (
        ASYMPTOTIC,
        "Krasinskiy's theorem on the critical case of zero roots from constraints and integrals",
        f"all roots except {_zeros(linear.critical)} have negative real parts: perturbations that respect the "
        "constraints (and integrals) decay; for others the motion is stable, not asymptotically, and converges to a "
        "shifted equilibrium",
    )


def _on_the_axis(linear: LinearModel, roots: np.ndarray) -> tuple[str, str, str]:
    if _conservative(linear) and np.linalg.eigvalsh((linear.stiffness + linear.stiffness.T) / 2).min() > 0:
        return (
            STABLE,
            "Lagrange-Dirichlet theorem (reduced potential with a strict minimum)",
            "only potential and gyroscopic forces act, and the reduced potential has a minimum on the constraints",
        )
    shown = numbers(roots)
    return (
        UNDECIDED,
        "critical case",
        f"{'the root' if len(roots) == 1 else 'the roots'} {shown} {'lies' if len(roots) == 1 else 'lie'} on the "
        "imaginary axis, so higher-order terms decide",
    )


def _zeros(count: int) -> str:
    return "1 structural zero" if count == 1 else f"{count} structural zeros"


def _conservative(linear: LinearModel) -> bool:
    """Whether, by structure, no non-potential force depends on the state and there are no states beyond (x, ẋ)."""
    mechanics = linear.equations.mechanics
    plain = len(linear.states) == 2 * len(linear.stiffness) and not linear.closed
    variables = (*mechanics.system.nodes.q, *mechanics.system.nodes.v)
    return plain and all(entry is ZERO for entry in jacobian(list(mechanics.applied), variables).ravel())
