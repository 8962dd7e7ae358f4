"""Notebook display of each record: a title and labeled rows, one function for each kind of record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import singledispatch
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze import Border, Continuation, Equilibrium, LinearModel, ModeShape, Region, Verdict
from vinculum.analyze.internal import InternalDynamics
from vinculum.analyze.servo import Realizability
from vinculum.analyze.stability import damping_ratios
from vinculum.compile.dynamics import Dynamics
from vinculum.control import Attraction, Estimator, FeedbackLaw
from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.describe import AffineSystem, System
from vinculum.describe.bodies import BodyTree
from vinculum.expressions import as_expression
from vinculum.model.examine.results import Point, Results
from vinculum.model.model import Model
from vinculum.names import listed, name_of
from vinculum.present.html import tag
from vinculum.present.notebook import Grid, table
from vinculum.simulation import Trajectory
from vinculum.simulation.trajectory.trajectory import summary_rows

Rows = Mapping[str, Any]
_TOO_LONG = "too many for a notebook; equations.latex() gives them"  # short ones are shown as formulas


def html(record: Any) -> str:
    """A record as an HTML table; results as their page, inside a frame."""
    return _framed(record) if isinstance(record, Results) else table(title(record), rows(record))


def _framed(results: Results) -> str:
    """The page of a report, with everything it needs, in a frame that cannot reach the notebook."""
    from vinculum.present.report import page

    look = {"width": "100%", "height": "640", "style": "border:1px solid #ccc", "sandbox": "allow-scripts"}
    return tag("iframe", srcdoc=page(results), title=f"Results of {results.model.name}", **look)


def title(record: Any) -> str:
    """The kind of a record, and the name of the system it belongs to."""
    system = record if hasattr(record, "name") else getattr(record, "system", getattr(record, "tree", None))
    name = getattr(system, "name", "")
    return f'{type(record).__name__} "{name}"' if name else type(record).__name__


@singledispatch
def rows(record: Any) -> Rows:
    """Labeled rows of a record; by default, its fields."""
    return {field.name: getattr(record, field.name) for field in fields(record) if field.repr}


def _zero(left: Any) -> sp.Expr:
    return sp.Eq(as_expression(left), 0, evaluate=False)


def _named(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {name_of(key): value for key, value in values.items()}


# -- describe ------------------------------------------------------------------------------------------------------


@rows.register
def _system(record: System) -> Rows:
    damped = {"dissipation": record.dissipation} if record.dissipation != 0 else {}
    return {
        "coordinates": record.coordinates,
        "kinetic energy": record.kinetic_energy,
        "potential energy": record.potential_energy,
        **damped,
        **{f"force on {name_of(q)}": force for q, force in record.forces.items()},
        **{f"constraint {c.name}": _zero(c.expression) for c in record.constraints},
        "inputs": record.inputs,
        "parameters": record.parameters,
    }


@rows.register
def _affine(record: AffineSystem) -> Rows:
    B = sp.Matrix(record.input_matrix) * sp.Matrix(record.inputs) if record.inputs else sp.zeros(len(record.states), 1)
    rates = zip(record.states, sp.Matrix(record.drift) + B, strict=True)
    return {
        **{f"rate of {name_of(x)}": rate for x, rate in rates},
        **{f"constraint {name}": _zero(f) for name, f in record.constraints.items()},  # type: ignore[union-attr]  # a mapping once settled
        "inputs": record.inputs,
        "parameters": record.parameters,
    }


@rows.register
def _tree(record: BodyTree) -> Rows:
    bodies = {b.name: (b.parent or "the ground", b.joint, b.coordinates, as_expression(b.mass)) for b in record.bodies}
    return {
        "bodies": Grid(("parent", "joint", "coordinates", "mass"), bodies),
        "loops": tuple(loop.label for loop in record.loops),
        "base": "moves as given" if record.base.moves else "at rest",
        "gravity": tuple(record.gravity),
        "parameters": record.parameters,
    }


@rows.register
def _model(record: Model) -> Rows:
    asked = ("derivation", "simulation", "equilibrium", "control", "observer", "closed_loop", "digital")
    questions = {name.replace("_", " "): getattr(record, name) for name in asked}
    named = {label: _named(question) for label, question in questions.items() if question}
    return {"description": record.description, **rows(record.system), **named}


# -- derive and compile --------------------------------------------------------------------------------------------


@rows.register
def _equations(record: EquationsOfMotion) -> Rows:
    return {
        "form": record.form.name,
        "states": record.states,
        "constraints": record.constraint_names,
        "dimension": record.dimension,
        "formulas": _TOO_LONG,
    }


@rows.register
def _program(record: ProgramEquations) -> Rows:
    return {
        "states": record.states,
        "inputs": record.system.inputs,
        **({"added states": record.added_states} if record.added_states else {}),
        "relative degrees": record.degrees,
        "formulas": _TOO_LONG,
    }


@rows.register
def _dynamics(record: Dynamics) -> Rows:
    return {"coordinates": record.coordinates, "method": record.method, "parameters": record.parameters}


# -- simulate ------------------------------------------------------------------------------------------------------


@rows.register
def _trajectory(record: Trajectory) -> Rows:
    return summary_rows(record)


# -- study ---------------------------------------------------------------------------------------------------------


@rows.register
def _results(record: Results) -> Rows:
    verdicts = [str(point.verdict) for point in record.points if point.verdict is not None]
    return {
        "model": record.model.name,
        "motion": str(record.motion.outcome) if record.motion is not None else "not asked",
        "equilibria": len(record.points),
        **{f"verdict {i}": verdict for i, verdict in enumerate(verdicts, start=1)},
        **{f"refused: {step}": reason for step, reason in record.refusals.items()},
        "seconds": sum(record.seconds.values()),
    }


@rows.register
def _point(record: Point) -> Rows:
    given = {field.name: getattr(record, field.name) for field in fields(record)}
    answered = {name: value for name, value in given.items() if value is not None and name not in ("rest", "refused")}
    return {
        **rows(record.rest),
        "answered": tuple(answered),
        **{f"refused: {k}": str(v) for k, v in record.refused.items()},
    }


# -- analyze and control -------------------------------------------------------------------------------------------


@rows.register
def _equilibrium(record: Equilibrium) -> Rows:
    return {
        **record.shown,
        **{f"reaction of {name}": value for name, value in record.reactions.items()},
        **({"ignorable": record.ignorable} if record.ignorable else {}),
        "others found": len(record.others),
    }


@rows.register
def _linear(record: LinearModel) -> Rows:
    F, H = record.system_matrix, record.input_matrix
    lines = {x: (*F[i], *H[i]) for i, x in enumerate(record.states)}
    return {
        "rates": Grid((*record.states, *record.inputs), lines),
        "roots": record.bounded_roots.shown,
        "structural zeros": _reasons(record.zeros),
    }


@rows.register
def _verdict(record: Verdict) -> Rows:
    shown = record.shown_roots
    modes = [record.mode_of(root).label for root in shown]
    roots = dict(enumerate(zip(shown, damping_ratios(shown), modes, strict=True), start=1))
    return {
        "verdict": record.kind,
        "because": record.explanation,
        "theorem": record.theorem,
        **({"drifting": record.drifting} if record.drifting else {}),
        **({"would decide": record.advice} if record.advice else {}),
        "roots": Grid(("root", "damping ratio", "mode"), roots),
        "structural zeros": _reasons(record.zeros),
    }


def _reasons(zeros: Mapping[str, int]) -> str:
    return ", ".join(f"{count} ({reason})" for reason, count in zeros.items()) or "none"


@rows.register
def _law(record: FeedbackLaw) -> Rows:
    linear = record.linear
    gains = {u: record.gain[i] for i, u in enumerate(linear.inputs)}
    own = record.compensator
    return {
        "gain": Grid(linear.states, gains),
        **({} if own is None or not own.states else {"states of the controller": listed(own.states)}),
        "roots": record.roots,
        "distance to losing a mode": min(mode.distance for mode in record.modes),
    }


@rows.register
def _estimator(record: Estimator) -> Rows:
    gains = {x: record.gain[i] for i, x in enumerate(record.estimated_states)}
    return {
        "gain": Grid(record.outputs, gains),
        "roots of the error": record.roots,
        "distance to losing a mode": min(mode.distance for mode in record.modes),
    }


@rows.register
def _region(record: Region) -> Rows:
    known = np.isfinite(record.rightmost)
    (p, q), stable = record.parameters, record.stable[known]
    return {
        name_of(p): f"{record.first.min():.6g} to {record.first.max():.6g}, {len(record.first)} values",
        name_of(q): f"{record.second.min():.6g} to {record.second.max():.6g}, {len(record.second)} values",
        "stable": f"{int(stable.sum())} of {stable.size} points with an equilibrium",
        "undecided": f"{int(record.undecided.sum())}, with roots on the imaginary axis within their errors",
        "map": "region.plot()",
    }


@rows.register
def _border(record: Border) -> Rows:
    return {
        name_of(record.over): record.value,
        "above it": "stable" if record.gained else "not stable",
        "root": record.root,
        "mode": str(record.mode),
    }


@rows.register
def _continuation(record: Continuation) -> Rows:
    return record.rows()


@rows.register
def _mode_shape(record: ModeShape) -> Rows:
    return {
        **({"name": record.name} if record.name else {}),
        "root": record.root,
        "motion": record.motion,
        "coordinates": Grid(("proportion", "share"), {x: (c, record.shares[x]) for x, c in record.shape.items()}),
    }


@rows.register
def _attraction(record: Attraction) -> Rows:
    columns = [*record.starts[0], "distance at the end", "converged"]
    ends = zip(record.starts, record.distances, record.converged, strict=True)
    lines = {i: (*s.values(), d, "yes" if converged else "no") for i, (s, d, converged) in enumerate(ends, start=1)}
    return {"converged": f"{int(record.converged.sum())} of {len(record.starts)}", "starts": Grid(columns, lines)}


@rows.register
def _realizability(record: Realizability) -> Rows:
    return {
        "relative degrees": record.relative_degrees,
        "determinant": record.determinant,
        "directions": record.directions,
        "hidden conditions": [_zero(z) for _, z in record.hidden],
        "internal dynamics": f"dimension {record.internal_dimension}",
    }


@rows.register
def _internal(record: InternalDynamics) -> Rows:
    stable = {True: "yes", False: "no", None: "not decided by the first approximation"}[record.stable]
    return {"rates": record.rates, "stable": stable}
