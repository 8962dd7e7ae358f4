"""From a description to equations of motion: one file per classical form, chosen by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, overload

import sympy as sp

from vinculum.derive.equations import EquationsOfMotion
from vinculum.derive.forms import FORMS, Choices
from vinculum.derive.mechanics import mechanics
from vinculum.derive.perturbation import Prescription, Rates
from vinculum.derive.program import program
from vinculum.derive.program_equations import ProgramEquations
from vinculum.derive.redundancy import refuse_dependent
from vinculum.derive.reference import numbers
from vinculum.describe import AffineSystem, System
from vinculum.errors import VinculumError
from vinculum.names import suggestion

__all__ = ["FORMS", "EquationsOfMotion", "ProgramEquations", "derive"]


@overload  # one name of a form is a special case of all strings
def derive(  # type: ignore[overload-overlap]
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
) -> EquationsOfMotion: ...


def derive(
    system: System | AffineSystem,
    form: str = "multipliers",
    *,
    dependent: Sequence[sp.Expr] | None = None,
    cyclic: Sequence[sp.Expr] | None = None,
    at: Mapping[sp.Expr, float] | None = None,
    redundant: str = "refuse",
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

    ``dependent`` names the coordinates s of the last three; left out, the best-conditioned choice is made at ``at``
    (or at a generic state) and changed during a simulation before it becomes singular. ``cyclic`` names the
    coordinates whose momenta are used; left out, all that are cyclic.

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
    if rates is not None or free or weights:
        raise VinculumError(f"rates, free and weights belong to form='program'; {form!r} has no use for them.")
    if form not in FORMS:
        known = ", ".join(repr(name) for name in (*FORMS, "program"))
        raise VinculumError(f"There is no form {form!r}.{suggestion(form, FORMS)} The forms are {known}.")
    if redundant not in ("refuse", "least_squares"):
        raise VinculumError(f"redundant={redundant!r} is not known; use 'refuse' or 'least_squares'.")
    equations = FORMS[form](mechanics(system), Choices(dependent, cyclic, redundant, at))
    if system.constraints and redundant == "refuse":
        refuse_redundant(equations)
    return equations


def refuse_redundant(equations: EquationsOfMotion) -> None:
    """Look at the rank of the constraints at the reference state."""
    values = equations.reference()
    system = equations.system
    J, q = numbers(equations.mechanics.J, values), numbers(system.nodes.q, values)
    refuse_dependent(J, [c.name for c in system.constraints], system.coordinates, q)
