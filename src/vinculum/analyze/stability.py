"""The verdict on stability, the theorem behind it, and the hypotheses that were checked.

Order of the tests (theorems and conditions in the documentation, page "What a verdict means"):
roots off the imaginary axis (Lyapunov), families of steady motions (Lyapunov-Malkin), the energy (Lagrange-Dirichlet,
Routh-Salvadori), one odd state, one critical root (Lyapunov's coefficients). A root counts as off the axis only if its
distance exceeds the bound of its error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp

from vinculum.analyze.critical import critical_case, degenerate_potential, natural
from vinculum.analyze.decision import ASYMPTOTIC, CRITICAL, STABLE, UNDECIDED, UNSTABLE, WOULD_DECIDE, Decision
from vinculum.analyze.descriptor import Analyzed
from vinculum.analyze.energy import EnergyTest, energy_test
from vinculum.analyze.equilibrium import Equilibrium
from vinculum.analyze.integrals import by_integrals
from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.linearize import Point, linearize
from vinculum.analyze.mode_shapes import ModeShape
from vinculum.analyze.nonsmooth import nonsmooth
from vinculum.analyze.parity import odd_state
from vinculum.analyze.root_bounds import BoundedRoots
from vinculum.analyze.structure import Structure, involved
from vinculum.describe import Holonomic
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import ModelError
from vinculum.names import listed, name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import number, numbers
from vinculum.units.given import numbers_in_si


@dataclass(frozen=True)
class Verdict:
    """The kind of stability, the theorem, the reason, and the perturbations it covers."""

    kind: str
    theorem: str
    explanation: str
    roots: np.ndarray
    damping_ratios: np.ndarray  # -Re/|λ| of each root
    critical: int  # structural zero roots
    drifting: tuple[sp.Expr, ...] = ()  # coordinates that drift; the verdict without them is in ``explanation``
    zeros: Mapping[str, int] = field(default_factory=dict)  # structural zero roots by reason
    bounds: np.ndarray = field(default_factory=lambda: np.zeros(0))  # of the errors of the roots
    modes: tuple[ModeShape, ...] = ()  # the motions of the roots in the user's coordinates

    @property
    def shown_roots(self) -> np.ndarray:
        """The roots for display: real parts that are rounding errors as zero."""
        return BoundedRoots(self.roots, self.bounds).shown

    @property
    def advice(self) -> str:
        """What would decide an undecided case; empty for the others."""
        return WOULD_DECIDE.get(self.theorem, "") if self.kind == UNDECIDED else ""

    def mode_of(self, root: complex) -> ModeShape:
        """The mode of a root or of its conjugate."""
        return min(self.modes, key=lambda mode: min(abs(mode.root - root), abs(mode.root - np.conj(root))))

    def __bool__(self) -> bool:
        return self.kind in (ASYMPTOTIC, STABLE)

    def __str__(self) -> str:
        return f"{self.kind}: {self.explanation} ({self.theorem})"

    _repr_html_ = html


def stability(of: LinearModel | Analyzed, at: Mapping[sp.Expr, float] | None = None) -> Verdict:
    """Decide the stability of an equilibrium or steady motion, for perturbations of the states of its linear model.

    Pass the linear model, or equations with the point ``at``: this also decides where force laws have corners, such as
    rests under dry friction, at which there is no linear model.
    """
    if isinstance(of, LinearModel):
        return _verdict(of)
    if at is None:
        raise ModelError("No point was given", ["Pass stability(equations, at=equilibrium), or a linear model."])
    if not isinstance(at, Equilibrium):
        at = numbers_in_si(at, dimensions_of(of), "Invalid point")
    decision = nonsmooth(of, at)
    if decision is None:
        return _verdict(linearize(of, at))
    none = np.zeros(0, dtype=complex)
    return Verdict(decision.kind, decision.theorem, decision.explanation, none, none.real, 0)


def _verdict(linear: LinearModel) -> Verdict:
    found = linear.structure
    decision = _without_drift(linear, found)
    drifting: tuple[sp.Expr, ...] = ()
    if found.drift.shape[1] and decision.kind != UNSTABLE:
        drifting = involved(linear.states, found.drift)
        decision = _drift(decision, drifting)
    return Verdict(
        decision.kind,
        decision.theorem,
        decision.explanation,
        roots=linear.roots,
        damping_ratios=damping_ratios(linear.roots),
        critical=linear.critical,
        drifting=drifting,
        zeros=linear.zeros,
        bounds=linear.bounded_roots.bounds,
        modes=linear.modes,
    )


def damping_ratios(roots: np.ndarray) -> np.ndarray:
    """-Re λ / |λ| of each root, zero for a zero root."""
    return 0.0 - roots.real / np.where(np.abs(roots) > 0, np.abs(roots), 1.0)


def _without_drift(linear: LinearModel, found: Structure) -> Decision:
    roots = found.roots
    if roots.right.any():
        return _unstable(linear)
    if roots.left.all() and not found.unexplained:
        return _hurwitz(linear, found)
    if linear.equations is None or linear.closed:
        return _on_the_axis(roots.shown[roots.on_axis])
    where = linear.point
    energy = energy_test(linear, where, found.symmetry)
    if energy.stable and energy.conserved:
        return _by_energy(linear, found, energy)
    by_coefficients = critical_case(linear, where, found)
    if energy.stable:
        if by_coefficients is not None and by_coefficients.kind == ASYMPTOTIC:
            return by_coefficients
        return _by_energy(linear, found, energy)
    return (
        _by_parity(linear, where, found)
        or by_coefficients
        or (degenerate_potential(linear, where, energy.conserved) if energy.degenerate else None)
        or _along_rests(linear, where, found, energy)
        or _by_integrals(linear, where, energy)
        or _undecided(found, energy)
    )


def _unstable(linear: LinearModel) -> Decision:
    return Decision(
        UNSTABLE,
        "Lyapunov's theorem on instability by the first approximation",
        f"the root {number(linear.roots[0])} has a positive real part ({linear.modes[0]})",
    )


def _hurwitz(linear: LinearModel, found: Structure) -> Decision:
    k = found.family.shape[1]
    if k:
        names = listed(involved(linear.states, found.family))
        return Decision(
            STABLE,
            "the Lyapunov-Malkin theorem",
            f"all roots except {_zeros(linear.critical)} have negative real parts: every motion nearby tends to a "
            f"neighboring {linear.at.kind}, not back to this one; it may differ in {names}",
        )
    if not linear.critical:
        return Decision(
            ASYMPTOTIC, "Lyapunov's theorem on the first approximation", "all roots have negative real parts"
        )
    return Decision(
        ASYMPTOTIC,
        "Krasinskiy's theorem on the critical case of zero roots from constraints and integrals",
        f"all roots except {_zeros(linear.critical)} have negative real parts: perturbations that respect the "
        "constraints decay; for others the motion is stable, not asymptotically, and converges to a "
        "shifted equilibrium",
    )


def _by_energy(linear: LinearModel, found: Structure, energy: EnergyTest) -> Decision:
    if found.symmetry.shape[1] and not found.drift.shape[1] and not energy.holds:
        names = listed(involved(linear.states, found.symmetry))
        return Decision(
            UNDECIDED,
            "the Lagrange-Dirichlet theorem",
            f"the energy shows stability in all states but {names}, which may wander; to leave them out, use "
            f"drop=[{names}]",
        )
    kept = "is conserved" if energy.conserved else "never increases"
    if energy.momenta:
        momenta = "a momentum is" if energy.momenta == 1 else f"{energy.momenta} momenta are"
        return Decision(
            STABLE,
            "the Routh-Salvadori theorem on energy and conserved momenta",
            f"the energy {kept}, {momenta} conserved, and the second variation of the energy at fixed momenta is "
            "positive definite",
        )
    return Decision(
        STABLE,
        "the Lagrange-Dirichlet theorem",
        f"the energy {kept}, and the reduced potential has a strict minimum on the constraints",
    )


def _along_rests(linear: LinearModel, where: Point, found: Structure, energy: EnergyTest) -> Decision | None:
    """A natural system whose rests form a manifold, with a minimum across it: it runs along (Rubin, Ungar 1957)."""
    family = found.family[:, found.symmetry.shape[1] :]
    if not family.shape[1] or found.unexplained or not energy.conserved or energy.flat != family.shape[1]:
        return None
    mechanics = where.form.mechanics
    if mechanics is None or not all(isinstance(c, Holonomic) for c in mechanics.system.constraints):
        return None
    if not natural(linear, where):
        return None
    return Decision(
        UNSTABLE,
        "the theorem of Rubin and Ungar on motion along a valley of the potential",
        f"the equilibria form a family in {listed(involved(linear.states, family))}, and the potential has a minimum "
        "across it: a small push along the family moves the system along it without a restoring force",
    )


def _by_parity(linear: LinearModel, where: Point, found: Structure) -> Decision | None:
    pair = found.roots.roots
    if len(pair) != 2 or len(linear.states) < 2 or np.abs(pair.imag).min() <= found.roots.bounds.max():
        return None
    odd = odd_state(linear, where)
    if odd is None:
        return None
    return Decision(
        STABLE,
        "reversibility with one odd state",
        f"reversing {name_of(odd)} reverses the motion, and the roots {numbers(found.roots.shown)} are imaginary: "
        "every motion nearby is periodic or steady",
    )


def _on_the_axis(roots: np.ndarray) -> Decision:
    one = len(roots) == 1
    where = f"{'lies' if one else 'lie'} on the imaginary axis within {'its' if one else 'their'} error"
    explanation = f"{'the root' if one else 'the roots'} {numbers(roots)} {where}, so higher-order terms decide"
    return Decision(UNDECIDED, CRITICAL, explanation)


def _by_integrals(linear: LinearModel, where: Point, energy: EnergyTest) -> Decision | None:
    decision = by_integrals(linear, where)
    return decision and replace(decision, explanation=decision.explanation + _warning(energy))


def _undecided(found: Structure, energy: EnergyTest) -> Decision:
    roots = found.roots.shown[found.roots.on_axis]
    first = _on_the_axis(roots).explanation if len(roots) else "there are zero roots that no family explains"
    return Decision(UNDECIDED, CRITICAL, f"{first}; {energy.reason}{_warning(energy)}")


def _warning(energy: EnergyTest) -> str:
    """What damping would do to a motion that gyroscopic forces hold."""
    if not (energy.conserved and energy.negative):
        return ""
    return "; gyroscopic forces hold it, and complete dissipation would make it unstable (Kelvin-Chetaev)"


def _drift(decision: Decision, drifting: tuple[sp.Expr, ...]) -> Decision:
    """The verdict on all states where positions drift."""
    return Decision(
        UNSTABLE,
        "drift along a symmetry with a conserved momentum",
        f"a small push changes the conserved momentum, and a drift of {listed(drifting)} grows with time; apart from "
        f"that drift the motion is {decision.kind} by {decision.theorem}: {decision.explanation}",
    )


def _zeros(count: int) -> str:
    return "1 structural zero" if count == 1 else f"{count} structural zeros"
