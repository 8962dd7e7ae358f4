"""What a form of the equations of motion is, and the table of all forms.

A form is a frozen dataclass: its name, one sentence, its options as fields, and the methods that derive and print its
equations. `register` enters it in `FORMS`, which Python, model files, the JSON schema, the command line, the report and
the documentation read. docs/extending.md shows a complete form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import sympy as sp

from vinculum.derivation.equations import EquationsOfMotion
from vinculum.derivation.integrable import with_definitions
from vinculum.derivation.mechanics.explicit import Explicit
from vinculum.derivation.mechanics.integrable_mechanics import choose_elimination, reference_state
from vinculum.derivation.mechanics.lagrange import Mechanics, mechanics
from vinculum.derivation.mechanics.partition import Partition, best_partition
from vinculum.derivation.mechanics.sample_states import Samples, generic_states
from vinculum.derivation.mechanics.servo_index_reduction import named_first, reduce_index
from vinculum.derivation.mechanics.singular import refuse_redundant
from vinculum.derivation.printing import Line
from vinculum.derivation.variables import Variables, approach
from vinculum.describe import AffineSystem, Servo, System
from vinculum.describe.quantities import dimensions_of
from vinculum.errors import DomainError, Finding, VinculumError, call
from vinculum.names import suggestion
from vinculum.notebook_repr import html
from vinculum.options import Described, option, refuse_unknown
from vinculum.units.dimensions import RATE
from vinculum.units.given import number_in_si, numbers_in_si

Record = TypeVar("Record")


def dependent_option() -> Any:
    """``dependent`` of the forms that divide the coordinates."""
    return option("coordinates", "Coordinates to eliminate, one for each constraint; left out, the best conditioned.")


def redundant_option() -> Any:
    """``redundant`` of the forms that can handle dependent constraints."""
    return option(
        "choice", "What to do with dependent constraints.", default="refuse", allowed=("refuse", "least_squares")
    )


def rates_option() -> Any:
    """``rates`` of the forms in which a motion may start off the constraints."""
    return option("rates", "Constraints that a motion approaches, and how fast: one rate, or one for each constraint.")


@dataclass(frozen=True)
class Form(Described, ABC, Generic[Record]):
    """A form of the equations of motion with its options. `derive` gives a record of equations."""

    name: ClassVar[str]  # as in derive(system, "shulgin")
    summary: ClassVar[str]  # one sentence: what the equations are

    def __post_init__(self) -> None:
        """Refuse values that an option cannot have; keep coordinates as a tuple."""
        super().__post_init__()
        for name, choice in self.options().items():
            value = getattr(self, name)
            if choice.kind == "coordinates" and value is not None:
                object.__setattr__(self, name, tuple(value))

    @classmethod
    def title(cls) -> str:
        """The form in messages."""
        return f"The form {cls.name!r}"

    @classmethod
    def new_states(cls, coordinates: Sequence[sp.Expr]) -> tuple[sp.Expr, ...]:
        """States that the form itself may add, by the names that a model file uses. Most forms add none."""
        return ()

    @abstractmethod
    def derive(self, system: Any) -> Record:
        """The equations of a system in this form."""

    _repr_html_ = html


@dataclass(frozen=True, kw_only=True)
class MechanicalForm(Form[EquationsOfMotion]):
    """A form of M q̈ + h = Q + Jᵀλ, J q̈ + γ + c = 0: what it integrates, its elimination, its printed lines."""

    at: Mapping[sp.Expr, float] | None = option(
        "state", "A state at which ranks and pivots are chosen; a random consistent one when left out."
    )

    @abstractmethod
    def variables(self, mechanics: Mechanics, samples: Samples) -> Variables:
        """What is integrated; `variables.full_state` for all coordinates and velocities."""

    @abstractmethod
    def eliminate(self, mechanics: Mechanics, variables: Variables, samples: Samples) -> Explicit:
        """Rates, accelerations and reactions as explicit expressions, with pivots chosen on the samples."""

    @abstractmethod
    def lines(self, equations: EquationsOfMotion) -> list[Line]:
        """The equations to print, each (left, right)."""

    def divide(self, mechanics: Mechanics, partition: Partition) -> Variables:
        """The variables for a given partition, of the forms that divide the coordinates."""
        raise VinculumError(f"The form {self.name!r} does not divide the coordinates.")

    def best_partition(self, mechanics: Mechanics, samples: Samples) -> Partition:
        """The dependent coordinates that are best conditioned at the first sample."""
        return best_partition(mechanics, samples[0])

    @property
    def allows_dependent(self) -> bool:
        """Whether dependent constraints are met in the sense of least squares."""
        return getattr(self, "redundant", "refuse") == "least_squares"

    def refuse(self, mechanics: Mechanics) -> None:
        """Raise for a system that the form cannot treat and name a form that can. Most forms need ideal constraints."""
        refuse_servo_constraints(mechanics, self.name)

    def derive(self, system: System) -> EquationsOfMotion:
        """Terms of Lagrange's equations, sample states, variables, then the elimination at the reference state."""
        if isinstance(system, AffineSystem):
            raise VinculumError(
                Finding(f"An affine system has no form {self.name!r}.", ["Use ", call("derive", form="program"), "."])
            )
        if self.at is not None:
            return replace(self, at=completed(system, self.at))._derive(system)
        return self._derive(system)

    def _derive(self, system: System) -> EquationsOfMotion:
        terms = mechanics(system)
        samples = generic_states(terms)
        rates = number_in_si(getattr(self, "rates", None), RATE, "rates", "Invalid rates")
        terms = approach(reduce_index(terms, named_first(samples, self.at)), rates)
        self.refuse(terms)
        equations = EquationsOfMotion(self, terms, self.variables(terms, samples))
        equations = replace(
            equations, samples=tuple(with_definitions(equations.definitions, values) for values in samples)
        )
        if system.constraints:
            refuse_redundant(equations, reference_state(equations))
        return replace(equations, elimination=first_elimination(equations))


def completed(system: System, at: Mapping[sp.Expr, float]) -> dict[sp.Expr, float]:
    """The state ``at``, zero where the user gave no value; velocities may also follow from states of the form."""
    at = numbers_in_si(at, dimensions_of(system), "Invalid state at=")
    own = {*system.coordinates, *system.velocities, *system.inputs, *system.parameters, system.time}
    velocities = system.velocities if set(at) <= own else ()
    return dict.fromkeys((*system.coordinates, *velocities, *system.free_inputs), 0.0) | dict(at)


def first_elimination(equations: EquationsOfMotion) -> Explicit | None:
    """The elimination at the reference state, or at the first sample where all expressions have a value."""
    for values in (reference_state(equations),) if equations.form.at is not None else equations.samples:
        try:
            return choose_elimination(equations, values)
        except DomainError:
            continue
    return None


def refuse_servo_constraints(mechanics: Mechanics, form: str) -> None:
    """Forms that divide by J M⁻¹ Jᵀ or project along it are for ideal constraints."""
    servos = [c.name for c in mechanics.system.constraints if isinstance(c, Servo)]
    if servos:
        raise VinculumError(
            Finding(
                f"The form {form!r} is for ideal constraints, but {', '.join(servos)} is held by a servo.",
                ["Use ", call("derive", form="multipliers"), " or ", call("derive", form="hamel"), "."],
            )
        )


# -- the table of all forms --------------------------------------------------------------------------------------------

FORMS: dict[str, type[Form]] = {}


def register(form: type[Form]) -> type[Form]:
    """A decorator that enters a form in `FORMS` under its name, for Python, model files and the command line."""
    missing = [name for name in ("name", "summary") if not isinstance(getattr(form, name, None), str)]
    if missing:
        raise VinculumError(f"The form {form.__name__} needs the class attribute {' and '.join(missing)}.")
    other = FORMS.get(form.name, form)
    if (other.__module__, other.__qualname__) != (
        form.__module__,
        form.__qualname__,
    ):  # not the same class defined again
        raise VinculumError(f"The form {form.name!r} already exists ({other.__name__}). Choose another name for yours.")
    FORMS[form.name] = form
    return form


def form_names() -> tuple[str, ...]:
    """The names of all forms, including those registered at run time."""
    return tuple(sorted(FORMS))


def find_form(name: str) -> type[Form]:
    """The class of a form by its name."""
    if name not in FORMS:
        known = ", ".join(map(repr, form_names()))
        raise VinculumError(f"There is no form {name!r}.{suggestion(str(name), FORMS)} The forms are {known}.")
    return FORMS[name]


def build_form(name: str, choices: Mapping[str, Any]) -> Form:
    """The form with the given options; unknown options are refused."""
    form = find_form(name)
    refuse_options(form, choices)
    return form(**choices)


def refuse_options(form: type[Form], given: Sequence[str] | Mapping[str, Any]) -> None:
    """Raise for unknown options, and list the options that the form has."""
    refuse_unknown(form.title(), given, form.options())
