"""From a description to equations of motion: one file per classical form, chosen by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, overload

import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms.program import program
from vinculum.derivation.forms.registry import FORMS, Choices
from vinculum.derivation.mechanics.approach import approaching
from vinculum.derivation.mechanics.lagrange import mechanics
from vinculum.derivation.mechanics.redundancy import refuse_dependent
from vinculum.derivation.mechanics.sample_states import numbers
from vinculum.derivation.program.perturbation import Prescription, Rates
from vinculum.derivation.program.program_equations import ProgramEquations
from vinculum.derivation.quasi.chart_inverse import Inverse
from vinculum.derivation.quasi.quasi import QuasiChoices, by_voronets, in_quasi_velocities
from vinculum.derivation.servo.servo_index_reduction import realized, refuse_servo
from vinculum.describe import AffineSystem, System
from vinculum.errors import VinculumError
from vinculum.names import suggestion

__all__ = ["FORMS", "EquationsOfMotion", "ProgramEquations", "derive", "form_names"]

QUASI_FORMS = {
    "hamel": in_quasi_velocities,
    "maggi": in_quasi_velocities,
    "voronets": by_voronets,
    "chaplygin": by_voronets,
}


def form_names() -> tuple[str, ...]:
    """All forms, those that were added included."""
    return (*FORMS, *QUASI_FORMS, "program")


@overload
def derive(  # type: ignore[overload-overlap]  # one name of a form is a special case of all strings
    system: AffineSystem | System,
    form: Literal["program"],
    *,
    at: Mapping[sp.Expr, float] | None = None,
    rates: Rates | Prescription | None = None,
    free: Mapping[sp.Expr, sp.Expr] | None = None,
    weights: Mapping[sp.Expr, float] | None = None,
) -> ProgramEquations: ...


@overload
def derive(
    system: System,
    form: str = "multipliers",
    *,
    dependent: Sequence[sp.Expr] | None = None,
    cyclic: Sequence[sp.Expr] | None = None,
    at: Mapping[sp.Expr, float] | None = None,
    redundant: str = "refuse",
    characteristics: Mapping[sp.Expr, sp.Expr] | None = None,
    kind: str = "voronets-hamel",
    inverse: Inverse = None,
    release: Mapping[str, sp.Expr] | None = None,
    rates: Mapping[str, float] | float | None = None,
) -> EquationsOfMotion: ...


def derive(
    system: System | AffineSystem,
    form: str = "multipliers",
    *,
    dependent: Sequence[sp.Expr] | None = None,
    cyclic: Sequence[sp.Expr] | None = None,
    at: Mapping[sp.Expr, float] | None = None,
    redundant: str = "refuse",
    characteristics: Mapping[sp.Expr, sp.Expr] | None = None,
    kind: str = "voronets-hamel",
    inverse: Inverse = None,
    release: Mapping[str, sp.Expr] | None = None,
    rates: Rates | Prescription | None = None,
    free: Mapping[sp.Expr, sp.Expr] | None = None,
    weights: Mapping[sp.Expr, float] | None = None,
) -> EquationsOfMotion | ProgramEquations:
    """The equations of motion of a system in the form asked for.

    - ``"multipliers"``: M q̈ + h = Q + Jᵀλ with J q̈ + γ = 0, reactions λ as outputs.
    - ``"lyapunov"``: the multipliers eliminated, λ(q, q̇) as an expression.
    - ``"lurie-suslov"``: the reactions projected out, all velocities kept.
    - ``"shulgin"``: redundant coordinates (r, s) with velocities ṙ alone, ṡ = B(q) ṙ.
    - ``"routh"``: as Shulgin's, cyclic coordinates replaced by their momenta.
    - ``"program"``: of an `AffineSystem` (or a `System`, whose reactions become its inputs): the inputs that hold the
      constraints and make their perturbations decay with ``rates``: one rate, one for each constraint, or a
      `Binomial`, `LinearPerturbation`, `Perturbation`. Where inputs outnumber constraints, ``free`` {input: expression}
      is approached as nearly as the constraints allow, in the norm given by ``weights`` {input: number}.
    - ``"voronets"``, ``"chaplygin"``: dependent velocities eliminated, also with nonholonomic constraints.
    - ``"hamel"``: quasi-velocities, the ``characteristics`` {e1: expression of q, q̇ and t} of the user's choice.
      ``kind`` is "voronets-hamel" (8), "chaplygin" (7) or "maggi", which is a form of its own too. A closed ``inverse``
      {q̇: expression of e} may be given, or "newton" asked for; ``release`` {constraint: ξ} names release parameters.

    ``dependent`` names the coordinates s of the forms that divide them; left out, the best-conditioned choice is made
    at ``at`` (or at a generic state), and Shulgin's forms change it during a simulation before it becomes singular.
    ``cyclic`` names the coordinates whose momenta are used; left out, all that are cyclic.

    Constraints in ``rates`` {name: κ} are approached, (d/dt + κ)ʳ η = 0, and a motion need not start on them.

    Rarely needed: ``at`` is a state {symbol: value} at which pivots and ranks are looked at (default: a generic
    one); ``redundant="least_squares"`` goes on with dependent constraints, which are refused otherwise.

    >>> import sympy as sp
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> from vinculum import Holonomic, System, derive
    >>> x, y = dynamicsymbols("x y")
    >>> m, g, l = sp.symbols("m g l")
    >>> pendulum = System([x, y], m * (x.diff()**2 + y.diff()**2) / 2, m * g * y,
    ...     constraints=[Holonomic((x**2 + y**2 - l**2) / 2, name="rod")], parameters={m: 1, g: 10, l: 1})
    >>> equations = derive(pendulum, "lyapunov")
    >>> state = {x: 0.6, y: -0.8, x.diff(): 0.8, y.diff(): 0.6}
    >>> {str(a): round(value, 12) for a, value in equations.accelerations(state).items()}
    {'Derivative(x(t), (t, 2))': -5.4, 'Derivative(y(t), (t, 2))': -2.8}
    """
    if form == "program":
        Choices(dependent, cyclic, redundant).refuse(form, "dependent", "cyclic", "redundant")
        return program(system, rates, free, weights, at)
    if isinstance(system, AffineSystem):
        raise VinculumError(f"An affine system has no form {form!r}. Use derive(system, form='program', rates=...).")
    if free or weights:
        raise VinculumError(f"free and weights belong to form='program'; {form!r} has no use for them.")
    if form not in form_names():
        known = ", ".join(map(repr, form_names()))
        raise VinculumError(f"There is no form {form!r}.{suggestion(form, form_names())} The forms are {known}.")
    if redundant not in ("refuse", "least_squares"):
        raise VinculumError(f"redundant={redundant!r} is not known; use 'refuse' or 'least_squares'.")
    if rates is not None and not isinstance(rates, (Mapping, int, float)):
        raise VinculumError(f"The form {form!r} takes rates={{constraint: number}} or one number; got {rates!r}.")
    terms = approaching(realized(mechanics(system), at), rates)
    if form in QUASI_FORMS:
        chosen = QuasiChoices(characteristics, dependent, inverse, kind, release, at)
        return QUASI_FORMS[form](terms, chosen, form)
    refuse_servo(terms, form)
    equations = FORMS[form](terms, Choices(dependent, cyclic, redundant, at))
    if system.constraints and redundant == "refuse":
        refuse_redundant(equations)
    return equations


def refuse_redundant(equations: EquationsOfMotion) -> None:
    """Look at the rank of the constraints at the reference state."""
    values = equations.reference()
    system = equations.system
    J, q = numbers(equations.mechanics.J, values), numbers(system.nodes.q, values)
    refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q)
