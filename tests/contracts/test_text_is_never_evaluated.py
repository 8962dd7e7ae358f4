"""Text in place of an expression is refused, or is a name: no public parameter hands it to Python.

The callables and their parameters are found by their signatures. SymPy's parser, which evaluates text as a program, is
replaced by an alarm.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
import sympy.parsing.sympy_parser as parser

import vinculum as vn
import vinculum.model.examine
from contracts import test_records as made

TEXT = "__import__('pathlib').Path('evaluated').touch()"
x, u = made.x, made.u
SHAPES: list[Callable[[], Any]] = [
    lambda: TEXT,
    lambda: [TEXT],
    lambda: [[TEXT]],
    lambda: (0, 0, TEXT),
    lambda: {x: TEXT},
    lambda: {u: TEXT},
    lambda: {TEXT: 1.0},
    lambda: {"rod": TEXT},
]
VALID: dict[str, Callable[[], Any]] = {
    "coordinates": lambda: [x],
    "kinetic_energy": lambda: x.diff() ** 2 / 2,
    "expression": lambda: x - 1,
    "through": lambda: [u],
    "states": lambda: [x],
    "drift": lambda: [-x],
    "variable": lambda: x,
    "points": lambda: [0.0, 1.0, 2.0, 3.0],
    "values": lambda: [0.0, 1.0, 4.0, 9.0],
    "bodies": lambda: made.tree().bodies,
    "body": lambda: "first",
    "tree": made.tree,
    "system": made.spring,
    "equations": made.swing,
    "initial": lambda: {x: 0.5},
    "times": lambda: (0, 0.1),
    "over": lambda: {made.k: [1.0, 2.0]},
    "linear": made.linear,
    "of": made.swing,
    "outputs": lambda: [x],
    "output": lambda: x,
    "input": lambda: u,
    "given": lambda: {u: 0},
    "at": lambda: vn.equilibrium(made.swing(), {u: 0}),
    "law": lambda: vn.stabilize(made.linear()),
    "closed": lambda: vn.close_loop(made.swing(), vn.stabilize(made.linear())),
    "characteristics": lambda: {made.e: 2 * x.diff()},
    "motion": made.motion,
    "model": made.model,
    "what": made.swing,
    "integrals": lambda: {"a": x**2 + made.y**2},
    "erugin": lambda: 1.0,
    "accelerations": lambda: [-x],
    "L": lambda: x.diff() ** 2 / 2,
    "parameters": lambda: {},
    "desired": lambda: dict.fromkeys(made.tree().coordinates, 0),
    "matrix": lambda: [[-1.0]],
    "functions": lambda: {"level": -vn.program.residual("level")},
    "roots": lambda: [-1.0, -2.0],
    "candidates": lambda: [x],
    "between": lambda: (0.1, 0.2),
    "inputs": lambda: {u: 0},
    "key": lambda: x,
    "state": lambda: {x: 0.1, x.diff(): 0.0, u: 0.0},
}
SKIPPED = {"register", "register_stabilization", "from_urdf", "load", "loads", "read_trajectory", "read_study",
           "write_report", "examine", "draw_tree", "reaction", "residual", "call", "About", "Call", "Finding",
           "Problem", "Cause", "Outcome"}  # fmt: skip  # their text is data: paths, files, names and sentences


def callables() -> dict[str, Callable]:
    parts = [vn, *(getattr(vn, name) for name in vn._PARTS), vn.simulation, vn.model, vinculum.model.examine]
    found = {name: getattr(part, name) for part in parts for name in part.__all__}
    return {
        name: value
        for name, value in found.items()
        if callable(value)
        and name not in SKIPPED
        and not (inspect.isclass(value) and issubclass(value, BaseException))
        and value not in made.INTERFACES
    }


def methods() -> Iterator[tuple[str, Callable]]:
    """Public methods of every record, and what is written with brackets."""
    for name in made.MAKERS:
        if name in SKIPPED or name.endswith("Error"):
            continue
        record = made.MAKERS[name]()
        for key in dir(type(record)):
            function = inspect.getattr_static(type(record), key, None)
            ours = inspect.isfunction(function) and function.__module__.startswith("vinculum.")
            if ours and (not key.startswith("_") or key in ("__getitem__", "__call__")) and key not in ("save", "subs"):
                yield f"{name}.{key}", getattr(record, key)


def calls(function: Callable) -> Iterator[tuple[str, Callable]]:
    """The function with text in place of each argument in turn, in every shape; the others are valid."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    usual = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    several = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
    valid = {p.name: VALID[p.name]() for p in usual if p.default is p.empty and p.name in VALID}
    for changed in usual:
        if str(changed.annotation) in ("str", "str | Path", "str | None", "bool", "Path", "int"):
            continue
        for shape in SHAPES:
            yield changed.name, partial(function, **(valid | {changed.name: shape()}))
    for shape in SHAPES if several else ():
        yield "*", partial(function, shape(), **valid)


@pytest.fixture
def alarm(monkeypatch, tmp_path):
    """The texts that reached SymPy's parser."""
    reached: list[str] = []
    known = parser.parse_expr

    def parse(text: str, *rest: Any, **options: Any) -> Any:
        if "__import__" not in text:  # SymPy writes numbers as text to itself
            return known(text, *rest, **options)
        reached.append(text)
        raise sp.SympifyError(text)

    monkeypatch.setattr(parser, "parse_expr", parse)
    monkeypatch.chdir(tmp_path)
    return reached


def tried(call: Callable) -> Any:
    """The result of a call, or None if it refused."""
    try:
        return call()
    except Exception:
        return None


def test_the_alarm_works(alarm):
    with pytest.raises(sp.SympifyError):
        sp.sympify(TEXT)
    assert alarm == [TEXT]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(callables()))
def test_no_public_callable_evaluates_text(name, alarm):
    for parameter, call in calls(callables()[name]):
        tried(lambda: repr(call()))  # noqa: B023
        assert not alarm, f"{name}({parameter}=...) evaluates text"


@pytest.mark.filterwarnings("ignore")
def test_no_method_of_a_record_evaluates_text(alarm):
    found = dict(methods())
    assert {"Trajectory.__getitem__", "Trajectory.animate", "EquationsOfMotion.accelerations"} <= set(found)
    for name, method in found.items():
        for parameter, call in calls(method):
            tried(lambda: repr(call()))  # noqa: B023
            assert not alarm, f"{name}({parameter}=...) evaluates text"


def spring(**options: Any) -> vn.Trajectory:
    return vn.simulate(made.swing(), {x: 0.5}, (0, 0.1), **{"inputs": {u: 0}, **options})


LATER = {
    "event": lambda: spring(events=[vn.Event(TEXT)]),
    "law": lambda: spring(inputs={u: TEXT}),
    "holonomic": lambda: vn.derive(vn.System([x], x.diff() ** 2, 0, constraints=[vn.Holonomic(TEXT)])),
    "nonholonomic": lambda: vn.derive(vn.System([x], x.diff() ** 2, 0, constraints=[vn.Nonholonomic(TEXT)])),
    "servo": lambda: vn.System([x], x.diff() ** 2, 0, {x: u}, constraints=[vn.Servo(TEXT, [u])], inputs=[u]),
    "kinetic energy": lambda: vn.System([x], TEXT, 0),
    "force": lambda: vn.System([x], x.diff() ** 2, 0, {x: TEXT}),
    "drift": lambda: vn.AffineSystem([x], [TEXT], [u], [[1]]),
    "constraint": lambda: vn.AffineSystem([x], [-x], [u], [[1]], {"level": TEXT}),
    "drawing": lambda: spring().animate([(0, 0), (TEXT, 0)]),
    "drawings": lambda: spring().animate([(0, 0), (x, TEXT)], [(TEXT, x), (0, 0)]),
    "mass": lambda: vn.BodyTree([vn.Body("arm", mass=TEXT, inertia=1)]).system(),
    "axis": lambda: vn.BodyTree([vn.Body("arm", axis=(TEXT, 0, 1), mass=1, inertia=1)]).system(),
    "gravity": lambda: vn.BodyTree([vn.Body("arm", mass=1, inertia=1)], gravity=(0, TEXT, 0)).system(),
    "characteristic": lambda: vn.derive(made.spring(), vn.Hamel(characteristics={made.e: TEXT})),
    "free input": lambda: vn.derive(made.affine(), vn.Program(rates=1.0, free={u: TEXT})),
    "perturbation": lambda: vn.derive(made.affine(), "program", rates=vn.program.Perturbation({"level": TEXT})),
    "measure": lambda: vn.study(
        made.swing(), {x: 0.5}, (0, 0.1), over={made.k: [1.0]}, measure={"a": vn.measure.final(TEXT)}
    ),
}


@pytest.mark.parametrize("name", LATER)
def test_text_that_is_used_later_is_refused_in_our_words(name, alarm):
    with pytest.raises(vn.VinculumError) as refused:
        LATER[name]()
    assert not alarm
    assert "SympifyError" not in str(refused.value)


def test_no_module_calls_the_evaluating_functions_of_sympy_or_python():
    """`expressions` hands only numbers to SymPy; `python_function` runs text that it wrote itself, from nodes."""
    source = Path(vn.__file__).parent
    found = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(
            r"\bsympify\(|\bparse_expr\(|(?<!def )(?<![.\w])eval\(|(?<![.\w])exec\(|pickle\.loads?\(", path.read_text()
        )
    }
    assert found <= {"expressions.py", "graph/python_function.py"}
