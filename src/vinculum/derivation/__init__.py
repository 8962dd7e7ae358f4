"""From a description to equations of motion: each classical form has a file in `forms`."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, overload

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.forms import FORMS, Form, build_form, form_names, register
from vinculum.derivation.forms.chaplygin import Chaplygin
from vinculum.derivation.forms.hamel import Hamel
from vinculum.derivation.forms.lurie_suslov import LurieSuslov
from vinculum.derivation.forms.lyapunov import Lyapunov
from vinculum.derivation.forms.maggi import Maggi
from vinculum.derivation.forms.multipliers import Multipliers
from vinculum.derivation.forms.program import Program
from vinculum.derivation.forms.routh import Routh
from vinculum.derivation.forms.shulgin import Shulgin
from vinculum.derivation.forms.voronets import Voronets
from vinculum.derivation.program.program_equations import ProgramEquations
from vinculum.describe import AffineSystem, System
from vinculum.describe.bodies.tree import BodyTree
from vinculum.errors import VinculumError

__all__ = [
    "Chaplygin",
    "EquationsOfMotion",
    "FORMS",
    "Form",
    "Hamel",
    "LurieSuslov",
    "Lyapunov",
    "Maggi",
    "Multipliers",
    "Program",
    "ProgramEquations",
    "Routh",
    "Shulgin",
    "Voronets",
    "derive",
    "form_names",
    "register",
]

Record = TypeVar("Record")


@overload
def derive(system: System | AffineSystem | BodyTree, form: Form[Record]) -> Record: ...


@overload
def derive(system: System | AffineSystem | BodyTree, form: Literal["program"], **options: Any) -> ProgramEquations: ...


@overload
def derive(system: System | BodyTree, form: str = "multipliers", **options: Any) -> EquationsOfMotion: ...


def derive(system: System | AffineSystem | BodyTree, form: Form | str = "multipliers", **options: Any) -> Any:
    """The equations of motion of a system, or of a tree of bodies, in the chosen form.

    ``form`` is an object, `Shulgin(dependent=[alpha])`, or a name followed by options:
    ``derive(system, "shulgin", dependent=[alpha])``. An option that a form does not have is refused.

    - `Multipliers`: M q̈ + h = Q + Jᵀλ with J q̈ + γ = 0, reactions λ as outputs. The default.
    - `Lyapunov`: the multipliers eliminated, λ(q, q̇) as an expression.
    - `LurieSuslov`: the reactions projected out, all velocities kept.
    - `Shulgin`: redundant coordinates (r, s) with velocities ṙ alone, ṡ = B(q) ṙ.
    - `Routh`: Shulgin's equations with cyclic coordinates replaced by their momenta.
    - `Voronets`, `Chaplygin`: dependent velocities eliminated, also with nonholonomic constraints.
    - `Hamel`, `Maggi`: quasi-velocities, the ``characteristics`` {e1: expression of q, q̇ and t} of the user's choice.
    - `Program`: of an `AffineSystem` (or a `System`, whose reactions become its inputs): the inputs that hold the
      constraints and make their perturbations decay.

    ``dependent`` names the dependent coordinates s. By default Vinculum chooses the best-conditioned ones at ``at`` (or
    at a random consistent state), and Shulgin's forms change the choice during a simulation before it becomes
    singular. ``cyclic`` names the coordinates to replace by momenta; by default, all cyclic ones.

    Constraints in ``rates`` {name: κ} are approached, (d/dt + κ)ʳ η = 0, and a motion need not start on them.

    Rarely needed: ``at`` is a state {symbol: value} at which ranks and pivots are chosen (default: a random consistent
    one); omitted values are zero, and program constraints are examined near it, at any time unless it contains t.
    ``redundant="least_squares"`` accepts dependent constraints, which are otherwise refused.

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
    if isinstance(system, BodyTree):
        system = system.system()
    if not isinstance(system, System | AffineSystem):
        of_model = " Write derive(model.system, **model.derivation)." if hasattr(system, "derivation") else ""
        found = f"derive needs a System, an AffineSystem or a BodyTree; got {type(system).__name__}."
        raise VinculumError(found + of_model)
    if isinstance(form, Form):
        if options:
            given = ", ".join(f"{name}=..." for name in options)
            raise VinculumError(f"Options belong to the form object: {type(form).__name__}({given}).")
        return form.derive(system)
    return build_form(form, options).derive(system)
