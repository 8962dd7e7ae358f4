"""The front door of the export to Modelica: one flat model of ordinary differential equations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy as sp

from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.describe import AffineSystem, System
from vinculum.errors import VinculumError
from vinculum.export.c_units import refuse_options
from vinculum.export.equation_kernels import EquationKernels
from vinculum.export.fmu.variables import Layout, Variable, make_layout
from vinculum.export.identifiers import distinct
from vinculum.export.kernel import Group, Kernel
from vinculum.export.modelica_code import ModelicaSource, quoted, unit, variable
from vinculum.export.plant import make_plant
from vinculum.graph import Node
from vinculum.writing import refuse_place, write_file

HEAD = """// {title}. Made by Vinculum.
// Equations of motion, form {form}, solved for the rates of the states.
{notes}model {name} {about}
"""
START = """// The start satisfies the constraints with these parameters; with others, change it too.
// Residuals are zero on the exact motion.
"""
DRIFT = "// Constraints drift slowly, because the tool that integrates does not project.\n"


def export_modelica(
    what: Any,
    path: str | Path,
    *,
    fold: bool = False,
    units: Mapping[sp.Expr, str] | None = None,
    meanings: Mapping[sp.Expr, str] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Write one flat Modelica model, ``path.mo``, which needs no library.

    ``what`` are equations, a closed loop or a system. Parameters have their values, ``units`` and ``meanings``; free
    inputs are inputs; coordinates, velocities, accelerations and reactions are outputs; residuals of the constraints
    and the energy are variables. The states start at a consistent state. Terminal events end the simulation. With
    ``stabilization=vn.Baumgarte(rate=...)`` feedback of the constraints is part of the rates. Further options:
    ``initial``, ``guess``, ``fixed``, ``inputs`` (laws), ``parameters``, ``events``. Returns the file. One that exists
    is replaced only with ``overwrite=True``.
    """
    path = Path(path).with_suffix(".mo")
    path = path.with_stem(variable(path.stem))
    refuse_place(path, overwrite)
    if not isinstance(what, (System, AffineSystem, EquationsOfMotion, ProgramEquations)):
        raise VinculumError(
            f"{type(what).__name__} cannot be exported to Modelica. Give equations (from derive or close_loop) or a "
            "system."
        )
    refuse_options(make_plant, options)
    kernels = EquationKernels(make_plant(what, **options), fold, units)
    layout = make_layout(kernels, 1.0, units or {}, meanings or {})
    write_file(path, _Flat(kernels, layout).text(path.stem), overwrite=overwrite)
    return path


@dataclass(frozen=True, eq=False)
class _Flat:
    """The text of a model from its kernels and its variables."""

    kernels: EquationKernels
    layout: Layout

    def text(self, name: str) -> str:
        """The whole file."""
        declared = [v for v in self.layout.variables if v.causality != "independent" and not self._hidden(v)]
        names = dict(zip([v.reference for v in declared], distinct(variable(v.name) for v in declared), strict=True))
        auxiliary = _free_prefix(names.values())
        code, equations = self._equations(names, auxiliary)
        lines = [self._declaration(v, names[v.reference]) for v in declared]
        helpers = [f"  Real {auxiliary}{k};" for k in range(len(code.lines))]
        inner = ["protected", *helpers] if helpers else []
        body = [*lines, *inner, "equation", *code.lines, *equations, *self._terminations(names), f"end {name};"]
        return self._head(name) + "\n".join(body) + "\n"

    def _hidden(self, v: Variable) -> bool:
        """Rates are der(x); corners of forces are found by the tool; the step belongs to it."""
        first = self.layout.first
        corner = v.reference >= first["G"] + len(self.kernels.plant.nodes.events)
        return v.reference == first["STEP"] or v.derivative_of is not None or corner

    def _head(self, name: str) -> str:
        own: Any = self.kernels.plant.integrable.equations
        constrained = len(self.kernels.c) > 0
        notes = (START if constrained else "") + (DRIFT if constrained and not self.kernels.acts else "")
        title = quoted(own.name)
        return HEAD.format(title=title[1:-1], form=own.form.name, notes=notes, name=name, about=title)

    def _declaration(self, v: Variable, name: str) -> str:
        """``output Real x(unit = "m", start = 0.6, fixed = true) "to the right";``."""
        state = v.reference in self.layout.states.values()
        kind = v.causality if v.causality in ("parameter", "input", "output") else ""
        own = unit(v.unit)
        attributes = [f"unit = {quoted(own)}"] if own else []
        if state:
            attributes += [f"start = {self._start(v)!r}", "fixed = true"]
        elif kind == "input":
            attributes.append(f"start = {_number(v)}")
        value = f" = {_number(v)}" if kind == "parameter" else ""
        about = "; ".join(part for part in (v.about, "" if variable(v.name) == v.name == name else v.name) if part)
        listed = f"({', '.join(attributes)})" if attributes else ""
        real = f"{kind} Real" if kind else "Real"
        return f"  {real} {name}{listed}{value}{' ' + quoted(about) if about else ''};"

    def _start(self, v: Variable) -> float:
        """The value of a state at the start."""
        number = {reference: j for j, reference in self.layout.states.items()}[v.reference]
        return float(self.kernels.plant.start[number])

    def _equations(self, names: Mapping[int, str], auxiliary: str) -> tuple[ModelicaSource, list[str]]:
        """The lines that name common expressions, and one equation for every rate and output."""
        k, first = self.kernels, self.layout.first
        symbols: dict[Node, str] = {k.t.nodes[0]: "time"}
        for key, group in (("P", k.p), ("U", k.u)):
            symbols |= {node: names[first[key] + i] for i, node in enumerate(group.nodes)}
        symbols |= {k.x.nodes[j]: names[reference] for j, reference in self.layout.states.items()}
        outputs = {group.name: group for group in k.outputs.results}
        events = k.events.results[0].nodes[: len(k.plant.nodes.events)]
        energy = () if k.energy is None else k.energy.outputs
        left = [f"der({names[self.layout.states[j]]})" for j in range(len(k.x))]
        nodes = list(k.motion.outputs)
        groups = {key.upper(): outputs[key].nodes for key in "sarl"}
        for key, own in {**groups, "F": k.residuals.outputs, "E": energy, "G": events}.items():
            for i, node in enumerate(own):
                if first[key] + i not in self.layout.states.values():
                    left.append(names[first[key] + i])
                    nodes.append(node)
        result = Group("result", tuple(nodes), ("",) * len(nodes), "")
        code = ModelicaSource(Kernel("model", "", (k.t, k.x, k.u, k.p), (result,)), symbols, auxiliary)
        ((_, values),) = code.written()
        return code, [f"  {name} = {value};" for name, value in zip(left, values, strict=True)]

    def _terminations(self, names: Mapping[int, str]) -> list[str]:
        """Terminal events."""
        found = []
        for i, event in enumerate(self.kernels.plant.nodes.events):
            g = names[self.layout.first["G"] + i]
            passes = {"rising": f"{g} > 0", "falling": f"{g} < 0", "any": f"{{{g} > 0, {g} < 0}}"}[event.direction]
            if event.terminal:
                found += [f"  when {passes} then", f"    terminate({quoted(event.name)});", "  end when;"]
        return found


def _free_prefix(names: Iterable[str]) -> str:
    """A beginning that no name has."""
    taken, prefix = tuple(names), "v"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken):
        prefix += "_"
    return prefix


def _number(v: Variable) -> str:
    """A start value or the value of a parameter."""
    return repr(0.0 if v.start is None else float(v.start))
