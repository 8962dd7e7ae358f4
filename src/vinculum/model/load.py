"""Load model files."""

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
from vinculum.model.schema.layout import MECHANISMS, MODEL
from vinculum.model.sections.analysis_sections import Symbols, read_equilibrium, read_weights
from vinculum.model.sections.declarations import (
    declare_coordinates,
    declare_inputs,
    read_definitions,
    read_parameters,
    read_splines,
)
from vinculum.model.sections.digital_section import read_digital
from vinculum.model.sections.drawing_section import read_drawing, read_for_display
from vinculum.model.sections.form_section import read_form
from vinculum.model.sections.mechanism_sections import declare_states, read_affine, read_constraints, read_system
from vinculum.model.sections.motors_and_release import add_motors, add_program, declare_motors, release_constraints
from vinculum.model.sections.regions_section import read_attraction, read_stability_map
from vinculum.model.sections.signals_section import read_signals
from vinculum.model.sections.simulation_sections import check_runs, read_motion
from vinculum.model.sections.study_section import read_study
from vinculum.model.sections.tree_section import declare_joints, read_tree
from vinculum.model.text.document import Document, parse_document, read_document
from vinculum.model.text.location import Path
from vinculum.model.text.problems import ModelFileError, TooMany


def load(path: str | FilePath, parameters: Mapping[str, Any] | None = None) -> Model:
    """The model in a file. ``parameters`` {name: value} replace those of the file.

    A file is data: its expressions are read with a whitelist, and it runs no code. A `ModelFileError` reports all its
    problems at once.
    """
    source = FilePath(path)
    return _read_model(read_document(source), source, parameters or {})


def loads(
    text: str, parameters: Mapping[str, Any] | None = None, file: str = "model", folder: str | FilePath = "."
) -> Model:
    """The model in a text; files that it names are read from ``folder``.

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
    return _read_model(parse_document(text, file, FilePath(folder)), None, parameters or {})


def _read_model(document: Document, source: FilePath | None, changes: Mapping[str, Any]) -> Model:
    reading = Reading(document, document.data)
    model = None
    try:
        reading.data = _drop_malformed(reading, document.data)
        model = _read_sections(reading, source, changes)
    except TooMany:
        pass
    if reading.problems or model is None:
        raise ModelFileError(document.file, sorted(reading.problems.found, key=lambda p: (p.line, p.column)))
    return model


def _drop_malformed(reading: Reading, data: dict[str, Any]) -> dict[str, Any]:
    """The data without values of the wrong type; these are reported."""
    wrong: list[Path] = []
    for path, message in MODEL.complaints(data, ()):
        reading.problem(path, message)
        wrong.append(path)
    found = [key for key in MECHANISMS if key in data]
    if len(found) != 1:
        stated = "none of them was found" if not found else f"{' and '.join(found)} were found"
        reading.problem((), f"a model has one of [system], [tree] or [affine]; {stated}.")
    return MODEL.pruned(data, (), set(wrong) - {()}) or {}


def _read_sections(reading: Reading, source: FilePath | None, changes: Mapping[str, Any]) -> Model | None:
    """Read the sections in the order in which they depend on each other."""
    data = reading.data
    read_parameters(reading, data.get("parameters", {}), changes)
    read_splines(reading)
    read_signals(reading)
    kinds = [kind for kind in MECHANISMS if kind in data]
    if len(kinds) != 1:
        return None
    name = data.get("name") or FilePath(reading.document.file).stem
    coordinates, inputs = _declare(reading, kinds[0])
    if reading.units:
        reading.scope = with_time(reading.scope)
    motors = declare_motors(reading, inputs)
    read_definitions(reading, data.get("definitions", {}))
    system, tree = _read_mechanism(reading, kinds[0], name, coordinates, inputs, motors)
    if system is None or (motors and reading.problems):
        known = Symbols.declared(reading, coordinates, inputs, motors)
    else:
        known = Symbols.of(system, tree)
    questions = _read_questions(reading, known, tree)
    check_runs(reading, system, questions)
    meanings = _read_meanings(reading)
    if system is None or reading.problems:
        return None
    return Model(
        system,
        tree,
        **questions,
        description=data.get("description", "").strip(),
        source=source,
        units=dict(reading.units),
        meanings=meanings,
        **read_for_display(reading, motors),
    )


def _read_questions(reading: Reading, known: Symbols, tree: BodyTree | None) -> dict[str, Any]:
    """What to compute about the mechanism, by fields of `Model`."""
    return {
        "derivation": read_form(reading, known),
        "simulation": read_motion(reading, "simulation", known),
        "equilibrium": read_equilibrium(reading, known),
        "control": read_weights(reading, "control", known),
        "observer": read_weights(reading, "observer", known),
        "closed_loop": read_motion(reading, "closed_loop", known),
        "attraction": read_attraction(reading, known),
        "stability_map": read_stability_map(reading, known),
        "digital": read_digital(reading, known),
        "study": read_study(reading, known),
        "drawing": read_drawing(reading, tree, known.constraints),
    }


def _read_meanings(reading: Reading) -> dict[sp.Expr, str]:
    """Descriptions of the symbols."""
    known = [value.expression for value in reading.scope.values.values()]
    raw = reading.data.get("meanings", {})
    found = {reading.key(("meanings", name), name, known, "name of this file"): text for name, text in raw.items()}
    return {symbol: text for symbol, text in found.items() if symbol is not None}


def _declare(reading: Reading, kind: str) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The coordinates (or states) and the inputs of the mechanism."""
    raw = reading.data[kind]
    if kind == "affine":
        return declare_states(reading)
    if kind == "tree":
        return declare_joints(reading)
    coordinates = declare_coordinates(reading, ("system", "coordinates"), raw["coordinates"])
    return coordinates, declare_inputs(reading, ("system", "inputs"), raw.get("inputs", []))


def _read_mechanism(
    reading: Reading,
    kind: str,
    name: str,
    coordinates: list[sp.Expr],
    inputs: list[sp.Expr],
    motors: dict[sp.Expr, Path],
) -> tuple[System | AffineSystem | None, BodyTree | None]:
    """The mechanism with its motors, released constraints and program; None if it has problems."""
    if kind == "affine":
        for section in ("motors", "release"):
            if section in reading.data:
                reading.problem((section,), f"an affine system has no {section}. Include their effect in the rates.")
        return read_affine(reading, coordinates, inputs, name), None
    constraints, program = read_constraints(reading, inputs)
    if kind == "tree":
        system = read_tree(reading, coordinates, constraints, name)
    else:
        system = read_system(reading, coordinates, inputs, constraints, name)
    if system is None:
        return None, None
    driven = release_constraints(reading, add_motors(reading, system, motors))
    named = driven if driven.name == name else replace(driven, name=name)  # not "... with motors"
    return add_program(reading, named, program), system.bodies
