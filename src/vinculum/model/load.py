"""The front door of model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import sympy as sp

from vinculum.describe.affine import AffineSystem
from vinculum.describe.bodies import BodyTree
from vinculum.describe.system import System
from vinculum.model.expressions.scope import with_time
from vinculum.model.model import Model
from vinculum.model.reading import Reading
from vinculum.model.schema.layout import MODEL
from vinculum.model.sections import affine_section, tree_section
from vinculum.model.sections import declarations as declared
from vinculum.model.sections.analysis_sections import Symbols, read_form, read_motion
from vinculum.model.sections.constraints import read_constraints
from vinculum.model.sections.drawing_section import read_drawing
from vinculum.model.sections.feedback_section import read_equilibrium, read_weights
from vinculum.model.sections.motors_and_release import declare_motors, released, with_motors, with_program
from vinculum.model.sections.parameters import read_definitions, read_parameters
from vinculum.model.sections.run_checks import refuse_unusable
from vinculum.model.sections.shown_sections import shown_sections
from vinculum.model.sections.splines_section import read_splines
from vinculum.model.sections.system_section import read_system
from vinculum.model.text.document import Document, parse_document, read_document
from vinculum.model.text.location import Path
from vinculum.model.text.problems import ModelFileError, TooMany

MECHANISMS = ("system", "tree", "affine")


def load(path: str | FilePath, parameters: Mapping[str, Any] | None = None) -> Model:
    """The model in a file. ``parameters`` {name: value} replace those of the file.

    A file is data: its expressions are read by a whitelist, it runs no code and reads no file it does not name.
    Everything that is wrong with it is reported at once in a `ModelFileError`.
    """
    source = FilePath(path)
    return _model(read_document(source), source, parameters or {})


def loads(
    text: str, parameters: Mapping[str, Any] | None = None, file: str = "model", folder: str | FilePath = "."
) -> Model:
    """The model in a text; a URDF file it names is looked for in ``folder``.

    >>> model = loads('''
    ... name = "pendulum"
    ... parameters = {m = "1 kg", l = "50 cm", g = "9.81 m/s^2"}
    ... [system]
    ... coordinates = {theta = "rad"}
    ... kinetic_energy = "m*l^2*dot(theta)^2/2"
    ... potential_energy = "-m*g*l*cos(theta)"
    ... ''')
    >>> model.system.kinetic_energy
    l**2*m*Derivative(theta(t), t)**2/2
    """
    return _model(parse_document(text, file, FilePath(folder)), None, parameters or {})


def _model(document: Document, source: FilePath | None, changes: Mapping[str, Any]) -> Model:
    reading = Reading(document, document.data)
    model = None
    try:
        reading.data = _shaped(reading, document.data)
        model = _read(reading, source, changes)
    except TooMany:
        pass
    if reading.problems or model is None:
        raise ModelFileError(document.file, sorted(reading.problems.found, key=lambda p: (p.line, p.column)))
    return model


def _shaped(reading: Reading, data: dict[str, Any]) -> dict[str, Any]:
    """The data without what has the wrong shape, which is reported."""
    wrong: list[Path] = []
    for path, message in MODEL.complaints(data, ()):
        reading.problem(path, message)
        wrong.append(path)
    found = [key for key in MECHANISMS if key in data]
    if len(found) != 1:
        stated = "none of them was found" if not found else f"{' and '.join(found)} were found"
        reading.problem((), f"a model has one of [system], [tree] or [affine]; {stated}.")
    return MODEL.pruned(data, (), set(wrong) - {()}) or {}


def _read(reading: Reading, source: FilePath | None, changes: Mapping[str, Any]) -> Model | None:
    """Section by section, in the order in which they depend on each other."""
    data = reading.data
    read_parameters(reading, data.get("parameters", {}), changes)
    read_splines(reading)
    kinds = [kind for kind in MECHANISMS if kind in data]
    if len(kinds) != 1:
        return None
    name = data.get("name") or (source.stem if source is not None else "model")
    coordinates, inputs = _declared(reading, kinds[0])
    if reading.units:
        reading.scope = with_time(reading.scope)
    motors = declare_motors(reading, inputs)
    read_definitions(reading, data.get("definitions", {}))
    system, tree = _mechanism(reading, kinds[0], name, coordinates, inputs, motors)
    if system is None or (motors and reading.problems):
        known = Symbols.declared(reading, coordinates, inputs, motors)
    else:
        known = Symbols.of(system, tree)
    answers: dict[str, Any] = {
        "derivation": read_form(reading, known),
        "simulation": read_motion(reading, "simulation", known),
        "equilibrium": read_equilibrium(reading, known),
        "control": read_weights(reading, "control", known),
        "observer": read_weights(reading, "observer", known),
        "closed_loop": read_motion(reading, "closed_loop", known),
        "drawing": read_drawing(reading, tree),
    }
    refuse_unusable(reading, system, answers)
    said: dict[str, Any] = {"units": dict(reading.units), "meanings": _meanings(reading)}
    if system is None or reading.problems:
        return None
    words = data.get("description", "").strip()
    said |= shown_sections(reading, motors)
    return Model(system, tree, **answers, description=words, source=source, **said)


def _meanings(reading: Reading) -> dict[sp.Expr, str]:
    """What the symbols are, in words."""
    known = [value.expression for value in reading.scope.values.values()]
    raw = reading.data.get("meanings", {})
    found = {reading.key(("meanings", name), name, known, "name of this file"): text for name, text in raw.items()}
    return {symbol: text for symbol, text in found.items() if symbol is not None}


def _declared(reading: Reading, kind: str) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The coordinates (or states) and the inputs of the mechanism."""
    raw = reading.data[kind]
    if kind == "affine":
        return affine_section.declare_states(reading)
    if kind == "tree":
        return tree_section.declare_joints(reading)
    q = declared.coordinates(reading, ("system", "coordinates"), raw["coordinates"])
    return q, declared.inputs(reading, ("system", "inputs"), raw.get("inputs", []))


def _mechanism(
    reading: Reading,
    kind: str,
    name: str,
    coordinates: list[sp.Expr],
    inputs: list[sp.Expr],
    motors: dict[sp.Expr, Path],
) -> tuple[System | AffineSystem | None, BodyTree | None]:
    """The mechanism with its motors, released constraints and program; None when something is wrong with it."""
    if kind == "affine":
        for section in ("motors", "release"):
            if section in reading.data:
                reading.problem((section,), f"an affine system has no {section}. State its rates with them.")
        return affine_section.read_affine(reading, coordinates, inputs, name), None
    constraints, program = read_constraints(reading, inputs)
    if kind == "tree":
        system = tree_section.read_tree(reading, coordinates, constraints, name)
    else:
        system = read_system(reading, coordinates, inputs, constraints, name)
    if system is None:
        return None, None
    driven = released(reading, with_motors(reading, system, motors))
    named = driven if driven.name == name else replace(driven, name=name)  # not "... with motors"
    return with_program(reading, named, program), system.bodies
