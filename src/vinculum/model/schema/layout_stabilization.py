"""The key ``stabilization``: all stabilizations and their options, including those registered at run time."""

from __future__ import annotations

from collections.abc import Mapping

from vinculum.model.schema.layout_form import option_keys
from vinculum.model.schema.schema_types import Either, Shape, Table, Text
from vinculum.simulation.stabilization.stabilization import STABILIZATIONS, names_with_options, names_without_options


class StabilizationTable(Table):
    """A stabilization with options; its keys are computed on access, which includes new stabilizations."""

    def __init__(self) -> None:
        object.__setattr__(self, "about", "")
        object.__setattr__(self, "required", ("kind",))

    @property
    def keys(self) -> Mapping[str, Shape]:
        """The kind, then the options of all stabilizations."""
        kind = Text("Kind of stabilization.", names_with_options())
        return {"kind": kind, **option_keys("Kinds", STABILIZATIONS, names_with_options())}


STABILIZATION = Either(
    "How the constraints are stabilized during a run.", (Text(choices=names_without_options), StabilizationTable())
)
