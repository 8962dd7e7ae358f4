"""The renderer of findings for model files: a call to type in Python becomes the keys to write in the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from vinculum.errors import Call, Formula, VinculumError, Word
from vinculum.names import name_of

_SECTIONS = {
    "derive": "form",
    "simulate": "simulation",
    "equilibrium": "equilibrium",
    "steady": "equilibrium",
    "stabilize": "control",
    "observe": "observer",
    "close_loop": "closed_loop",
    "Digital": "digital",
    "study": "study",
    "region_of_attraction": "attraction",
    "attraction_estimate": "attraction",
    "stability_region": "stability_map",
    "computed_torque": "simulation.computed_torque",
    "task_path": "simulation.task_path",
}  # the tables that hold the arguments of functions; those of constructors are at the location of the finding
_KEYS = {("derive", "form"): "name"}  # arguments with another name in a file
_TABLES = {
    "Holonomic": 'holonomic = "..."',
    "Nonholonomic": 'nonholonomic = "..."',
    "Servo": 'servo = "..."',
    "Body": "[tree.bodies.<name>]",
    "bodies.Loop": "[[tree.loops]]",
    "bodies.rotation_rpy": 'rotation = { roll = "90 deg" }',
}  # the file's spelling of a constructor without arguments, or with other arguments than in Python


def in_file_words(error: VinculumError) -> str:
    """The message of an error with what to write in a model file."""
    return error.written(file_call)


def file_call(asked: Call) -> str:
    """A call as the equivalent keys of a model file.

    >>> from vinculum.errors import call
    >>> file_call(call("derive", form="hamel", redundant="least_squares"))
    'name = "hamel" and redundant = "least_squares" in [form]'
    >>> file_call(call("simulate", guess={Word("x"): 0.2}))
    'guess = { x = 0.2 } in [simulation]'
    >>> file_call(call("System", parameters={Word("m"): Word("number")}))
    'm = number in [parameters]'
    >>> file_call(call("Nonholonomic"))
    'nonholonomic = "..."'
    """
    options = dict(asked.options)
    if asked.name in _TABLES and (not options or asked.name == "bodies.rotation_rpy"):
        return _TABLES[asked.name]
    parameters = options.pop("parameters", None)
    if parameters is not None:
        return f"{_pairs(parameters)} in [parameters]"
    section = _SECTIONS.get(asked.name)
    if not options:
        return f"[{section or asked.name}]"
    keys = {_KEYS.get((asked.name, key), key): value for key, value in options.items()}
    return _pairs(keys, " and ") + (f" in [{section}]" if section else "")


def _pairs(entries: Mapping[Any, Any], joined: str = ", ") -> str:
    return joined.join(f"{_key(key)} = {_value(value)}" for key, value in entries.items())


def _key(key: Any) -> str:
    """A key, in quotes unless it is a bare word: ``x``, ``"dot(x)"``."""
    text = key if isinstance(key, str) else name_of(key)
    return text if text.replace("_", "").replace("-", "").isalnum() else json.dumps(text, ensure_ascii=False)


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], str]], ...] = (
    (Word, str),
    ((Formula, str), lambda text: json.dumps(str(text), ensure_ascii=False)),
    (bool, lambda flag: "true" if flag else "false"),
    (Mapping, lambda table: f"{{ {_pairs(table)} }}"),
    ((list, tuple), lambda entries: f"[{', '.join(map(_value, entries))}]"),
    (float, lambda number: f"{number:g}"),
    (sp.Basic, lambda symbol: f'"{name_of(symbol)}"'),
)


def _value(value: Any) -> str:
    if value is ...:
        return "..."
    return next((write(value) for kind, write in _WRITERS if isinstance(value, kind)), str(value))
