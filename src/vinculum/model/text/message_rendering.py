"""Advice for Python turned into advice for a model file: what Vinculum refuses is said in the words its user writes.

`in_the_words_of_a_file` is for every refusal about a model that came from a file, while it is read and at run time.
"""

from __future__ import annotations

import re

_SECTIONS = {
    "derive": "form",
    "simulate": "simulation",
    "stabilize": "control",
    "observe": "observer",
    "equilibrium": "equilibrium",
}
_WORDS = {
    "State it as Nonholonomic(...).": 'Write nonholonomic = "..." for it.',
    "State it as Holonomic(...).": 'Write holonomic = "..." for it.',
    "Write Servo(..., through=[u]).": 'Write through = ["u"].',
    "in forces={...}": "in the table of forces",
    "into forces={...}": "into the table of forces",
    "Pass coordinates=[x, ...] with x = dynamicsymbols('x').": 'Write coordinates = ["x"].',
    "Pass states=[x, ...] with x = dynamicsymbols('x').": 'Write states = ["x"].',
    "Pass BodyTree([Body(...), ...]).": "Write [tree.bodies.<name>].",
    "Write None for the external body.": "Leave parent out for the external body.",
    "the external body (None)": "the external body",
    "loops=[vn.bodies.Loop(...)]": "[[tree.loops]]",
    "Write Body(..., torque=u).": 'Write torque = "u" in its table.',
    "orientation=R_d and joints={q: f(t)} add to them": 'orientation = [...] and joints = { q = "..." } add to them',
    "Pass floating=True": "Write floating = true",
    "pass identified=True": "write identified = true",
    "Make one with vn.bodies.rotation_rpy(roll, pitch, yaw).": 'Write rotation = { roll = "90 deg" }, for instance.',
    "Pass base_rotation= as a 3×3 matrix of t instead.": "Write base_rotation = [...], a 3×3 matrix of t, instead.",
    "Find one with equilibrium(equations, {...}) and pass it as at=...": "Write [equilibrium] with what is known.",
    "or pass tolerance": "or write tolerance = 1e-9",
    "write the corner with sign, Abs or Piecewise": "write the corner with sign, abs or piecewise",
}
_LAW = re.compile(r"Pass inputs=\{(\w+): expression of t and the state\}")
_VALUE = re.compile(r"(?:Pass BodyTree\(\.\.\., |Write )parameters=\{(\w+): number\}\)?(?:, or inputs=\[\w+\])?")
_CALL = re.compile(rf"(pass )?(?:vn\.)?({'|'.join(_SECTIONS)})\((?:\w+|\.\.\.), ([^()]*(?:\([^()]*\)[^()]*)*)\)")
_OPTION = re.compile(r"\b([a-z_]+)=(?=[\[{'\d.])")
_TABLE = re.compile(r"= \{(\w+): ([^{}]*)\}")
_QUOTED = re.compile(r"= '([^']*)'")


def in_the_words_of_a_file(message: str) -> str:
    """The message with its advice for Python as advice for a model file.

    >>> in_the_words_of_a_file("u has no law. Pass inputs={u: expression of t and the state}.")
    'u has no law. Write [simulation] inputs = { u = "..." }.'
    >>> in_the_words_of_a_file("Give one: derive(..., at={coordinate: value, ...}).")
    'Give one: [form] at = { coordinate = value, ... }.'
    """
    for said, instead in _WORDS.items():
        message = message.replace(said, instead)
    message = _LAW.sub(r'Write [simulation] inputs = { \1 = "..." }', message)
    message = _VALUE.sub(r"Write [parameters] \1 = number", message)
    message = _CALL.sub(_asked, message)
    message = _OPTION.sub(r"\1 = ", message)
    return _QUOTED.sub(r'= "\1"', _TABLE.sub(r"= { \1 = \2 }", message))


def _asked(call: re.Match[str]) -> str:
    """derive(system, form='routh') as [form] name='routh'."""
    options = re.sub(r"^(?=')|\bform=", "name=", call[3])
    return f"{'write ' if call[1] else ''}[{_SECTIONS[call[2]]}] {options}"
