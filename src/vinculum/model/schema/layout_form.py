"""Keys of [form]: the options of all forms, including those registered at run time."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.derivation import FORMS, form_names
from vinculum.derivation.forms.form import Option
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Shape, Table, Text

STATE = MapOf(entry=Number())
PERTURBATION = Table(
    "How deviations of program constraints decay, instead of rates.",
    {
        "matrix": ListOf("A row for each constraint, a column for each residual.", ListOf(entry=Formula())),
        "functions": MapOf("An expression of residual(constraint, level) for each constraint.", Formula()),
    },
)


class FormTable(Table):
    """The table [form]; its keys are computed on access, which includes new forms."""

    def __init__(self) -> None:
        object.__setattr__(self, "about", "The form of the equations of motion.")
        object.__setattr__(self, "required", ())

    @property
    def keys(self) -> Mapping[str, Shape]:
        """The name of the form, then the options of all forms."""
        options: dict[str, list[tuple[str, Option]]] = {}
        for form in form_names():
            for key, option in FORMS[form].options().items():
                options.setdefault(key, []).append((form, option))
        found: dict[str, Shape] = {"name": Text("The form; multipliers by default.", form_names())}
        found |= {key: option_shape(offered) for key, offered in options.items()}
        return found | {"perturbation": PERTURBATION}


def option_shape(offered: list[tuple[str, Option]]) -> Shape:
    """The shape of a key from the option of every form that has it."""
    about = " ".join(dict.fromkeys(option.about for _, option in offered))
    forms = ", ".join(form for form, _ in offered)
    about += "" if len(offered) == len(FORMS) else f" Forms: {forms}."
    allowed = tuple(dict.fromkeys(word for _, option in offered for word in option.allowed))
    return shape_of(offered[0][1].kind, about, allowed)


def shape_of(kind: str, about: str, allowed: tuple[str, ...]) -> Shape:
    """The shape in a file of an option of a kind."""
    if kind in ("rates", "prescription"):
        return Either(about, (Number(), STATE, ListOf(entry=Number())))
    if kind == "inverse":
        return Either(about, (Text(choices=("newton",)), MapOf(entry=Formula())))
    if kind == "state":
        return MapOf(f"{about} Omitted values are zero, except for an affine system.", Number())
    shapes: dict[str, Shape] = {
        "choice": Text(about, allowed),
        "flag": Flag(about),
        "number": Number(about),
        "coordinates": ListOf(about, Name()),
        "characteristics": MapOf(about, Formula()),
        "release": MapOf(about, Name()),
        "input laws": MapOf(about, Formula()),
        "input weights": MapOf(about, Number()),
    }
    return shapes[kind]


FORM = FormTable()
