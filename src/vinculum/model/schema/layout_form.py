"""Keys of [form]: the options of all forms, including those registered at run time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vinculum.derivation import FORMS, form_names
from vinculum.model.schema.schema_types import Either, Flag, Formula, ListOf, MapOf, Name, Number, Shape, Table, Text
from vinculum.options import Described, Option

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
        name = Text("The form; multipliers by default.", form_names())
        return {"name": name, **option_keys("Forms", FORMS, form_names()), "perturbation": PERTURBATION}


def option_keys(owners: str, registry: Mapping[str, type[Described]], names: Iterable[str]) -> dict[str, Shape]:
    """A key for each option of the named forms or stabilizations."""
    options: dict[str, list[tuple[str, Option]]] = {}
    for name in names:
        for key, option in registry[name].options().items():
            options.setdefault(key, []).append((name, option))
    return {key: option_shape(offered, owners, len(registry)) for key, offered in options.items()}


def option_shape(offered: list[tuple[str, Option]], owners: str, count: int) -> Shape:
    """The shape of a key from the options of that name; ``count`` is the number of all forms or stabilizations."""
    about = " ".join(dict.fromkeys(option.about for _, option in offered))
    names = ", ".join(name for name, _ in offered)
    about += "" if len(offered) == count else f" {owners}: {names}."
    allowed = tuple(dict.fromkeys(word for _, option in offered for word in option.allowed))
    return shape_of(offered[0][1].kind, about, allowed)


def shape_of(kind: str, about: str, allowed: tuple[str, ...]) -> Shape:
    """The shape in a file of an option of a kind."""
    if kind == "gains":
        return Either(about, (Number(), STATE))
    if kind in ("rates", "prescription"):
        return Either(about, (Number(), STATE, ListOf(entry=Number())))
    if kind == "inverse":
        return Either(about, (Text(choices=("newton",)), MapOf(entry=Formula())))
    if kind == "state":
        return MapOf(f"{about} Omitted values are zero.", Number())
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
