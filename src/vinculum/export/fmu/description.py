"""modelDescription.xml of FMI 2.0 and 3.0, and the build description of sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree as xml

from vinculum.export.fmu.variables import Layout, Variable

_SI = {"kilogram": "kg", "meter": "m", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd",
       "radian": "rad"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Described:
    """What a model description says apart from its variables."""

    name: str
    identifier: str
    guid: str
    layout: Layout
    events: int
    step: float
    stop: float | None
    sources: Sequence[str]


def description_2(model: Described) -> str:
    """FMI 2.0."""
    root = xml.Element("fmiModelDescription", fmiVersion="2.0", modelName=model.name, guid=model.guid,
                       generationTool="Vinculum", variableNamingConvention="flat",
                       numberOfEventIndicators=str(model.events))  # fmt: skip
    common = {"modelIdentifier": model.identifier, "canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true",
              "providesDirectionalDerivative": "true"}  # fmt: skip
    for kind, own in (("ModelExchange", {}), ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"})):
        part = xml.SubElement(root, kind, common | own)
        files = xml.SubElement(part, "SourceFiles")
        for source in model.sources:
            xml.SubElement(files, "File", name=source)
    _add_units(root, model.layout.variables)
    _add_experiment(root, model)
    variables = xml.SubElement(root, "ModelVariables")
    for v in model.layout.variables:
        scalar = xml.SubElement(variables, "ScalarVariable", _attributes(v))
        real = xml.SubElement(scalar, "Real", _real(v))
        if v.derivative_of is not None:
            real.set("derivative", str(v.derivative_of + 1))
    structure = xml.SubElement(root, "ModelStructure")
    for kind, chosen in _unknowns(model.layout).items():
        if chosen:
            part = xml.SubElement(structure, kind)
            for v in chosen:
                xml.SubElement(part, "Unknown", index=str(v.reference + 1))
    return _text(root)


def description_3(model: Described) -> str:
    """FMI 3.0."""
    root = xml.Element("fmiModelDescription", fmiVersion="3.0", modelName=model.name, instantiationToken=model.guid,
                       generationTool="Vinculum", variableNamingConvention="flat")  # fmt: skip
    common = {"modelIdentifier": model.identifier, "canGetAndSetFMUState": "true", "canSerializeFMUState": "true",
              "providesDirectionalDerivatives": "true"}  # fmt: skip
    xml.SubElement(root, "ModelExchange", common)
    xml.SubElement(root, "CoSimulation", common | {"canHandleVariableCommunicationStepSize": "true"})
    _add_units(root, model.layout.variables)
    _add_experiment(root, model)
    variables = xml.SubElement(root, "ModelVariables")
    for v in model.layout.variables:
        made = xml.SubElement(variables, "Float64", _attributes(v) | _real(v))
        if v.derivative_of is not None:
            made.set("derivative", str(v.derivative_of))
    structure = xml.SubElement(root, "ModelStructure")
    names = {"Outputs": "Output", "Derivatives": "ContinuousStateDerivative", "InitialUnknowns": "InitialUnknown"}
    for kind, chosen in _unknowns(model.layout).items():
        for v in chosen:
            xml.SubElement(structure, names[kind], valueReference=str(v.reference))
    for k in range(model.events):
        xml.SubElement(structure, "EventIndicator", valueReference=str(model.layout.first["G"] + k))
    return _text(root)


def build_description(model: Described) -> str:
    """How the sources of an FMU 3.0 are compiled."""
    root = xml.Element("fmiBuildDescription", fmiVersion="3.0")
    build = xml.SubElement(root, "BuildConfiguration", modelIdentifier=model.identifier)
    files = xml.SubElement(build, "SourceFileSet", language="C99")
    for source in model.sources:
        xml.SubElement(files, "SourceFile", name=source)
    return _text(root)


def _attributes(v: Variable) -> dict[str, str]:
    found = {"name": v.name, "valueReference": str(v.reference), "causality": v.causality, "variability": v.variability}
    if v.initial is not None:
        found["initial"] = v.initial
    if v.about:
        found["description"] = v.about
    return found


def _real(v: Variable) -> dict[str, str]:
    found = {} if v.start is None else {"start": repr(float(v.start))}
    return found | ({"unit": v.unit} if v.unit else {})


def _unknowns(layout: Layout) -> dict[str, list[Variable]]:
    """Outputs, rates in the order of the states, and all that is computed at the start."""
    outputs = [v for v in layout.variables if v.causality == "output"]
    rates = [v for v in layout.variables if v.derivative_of is not None]
    states = set(layout.states.values())
    concerned = {v.reference for v in (*outputs, *rates)} | states
    initial = [v for v in layout.variables if v.reference in concerned and v.initial in ("approx", "calculated")]
    return {"Outputs": outputs, "Derivatives": rates, "InitialUnknowns": initial}


def _add_experiment(root: xml.Element, model: Described) -> None:
    stop = {} if model.stop is None else {"stopTime": repr(float(model.stop))}
    xml.SubElement(root, "DefaultExperiment", {"startTime": "0.0", **stop, "stepSize": repr(float(model.step))})


# -- units -------------------------------------------------------------------------------------------------------


def _add_units(root: xml.Element, variables: Iterable[Variable]) -> None:
    units = sorted({v.unit for v in variables if v.unit})
    if units:
        part = xml.SubElement(root, "UnitDefinitions")
        for unit in units:
            made, base = xml.SubElement(part, "Unit", name=unit), _base(unit)
            if base is not None:
                xml.SubElement(made, "BaseUnit", base)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(on_redefinition="ignore")


def _base(unit: str) -> dict[str, str] | None:
    """A unit in powers of SI units, the radian one of them; None if it is not known."""
    import pint

    try:
        size = _registry().Quantity(1.0, unit.replace("^", "**")).to_base_units()
    except (pint.errors.PintError, AttributeError, ValueError, TypeError):
        return None
    powers = {_SI.get(str(base), ""): float(power) for base, power in size.unit_items()}
    if "" in powers or any(power != round(power) for power in powers.values()):
        return None
    factor = {} if size.magnitude == 1.0 else {"factor": repr(float(size.magnitude))}
    return {key: str(round(power)) for key, power in powers.items()} | factor


def _text(root: xml.Element) -> str:
    xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
