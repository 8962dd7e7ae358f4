"""What can be written in C, each as one unit: equations, trees of bodies, feedback laws, laws, linear models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import sympy as sp

from vinculum.analyze import LinearModel
from vinculum.control import Estimator, FeedbackLaw
from vinculum.control.digital_law import DigitalLaw, digital_law
from vinculum.derivation import EquationsOfMotion, ProgramEquations
from vinculum.describe import AffineSystem, System
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.tree import with_numbers
from vinculum.errors import VinculumError
from vinculum.export.c_code import literal
from vinculum.export.c_equations import EquationsInC
from vinculum.export.c_unit import CUnit
from vinculum.export.equation_kernels import EquationKernels
from vinculum.export.linear_kernels import expression_kernel, law_kernels, linear_kernels
from vinculum.export.plant import make_plant
from vinculum.export.tree_kernels import Points, tree_kernels
from vinculum.options import refuse_unknown


def c_unit(
    what: Any, name: str, real: str, fold: bool, units: Mapping[sp.Expr, str] | None, options: Mapping[str, Any]
) -> CUnit:
    """The parts of header and source."""
    if isinstance(what, (System, AffineSystem, EquationsOfMotion, ProgramEquations)):
        refuse_options(make_plant, options)
        return equations_unit(EquationKernels(make_plant(what, **options), fold, units), name, real)
    for kind, make in UNITS.items():
        if isinstance(what, kind):
            refuse_options(make, options, own=4)
            return make(what, name, real, fold, **options)
    raise VinculumError(
        f"{type(what).__name__} cannot be exported to C. Give equations (from derive or close_loop), a system, a "
        "BodyTree, a feedback law, laws {input: expression} or a linear model."
    )


def refuse_options(make: Callable[..., Any], options: Mapping[str, Any], own: int = 1) -> None:
    """Raise for options that a function does not take after its first arguments."""
    known = list(signature(make).parameters)[own:]
    refuse_unknown("The export", options, known)


def equations_unit(kernels: EquationKernels, name: str, real: str) -> CUnit:
    """Equations of motion in C."""
    parts, plant = EquationsInC(kernels, name, real), kernels.plant
    own: Any = plant.integrable.equations
    notes = [f"Equations of motion, form {own.form.name}. Arrays without numbers may be NULL."]
    gains = {node: gain.number for node, gain in zip(kernels.g.nodes, plant.gains, strict=True)}
    return CUnit(
        name, own.name, real, parts.public, {**plant.values, **gains}, parts.private, parts.sizes, parts.declarations,
        parts.functions, notes, kernels,
    )  # fmt: skip


def tree_unit(tree: BodyTree, name: str, real: str, fold: bool, points: Points | None = None) -> CUnit:
    """A tree of bodies in C; nothing is integrated."""
    kernels, values = tree_kernels(with_numbers(tree) if fold else tree, points)
    sizes = {"COORDINATES": len(tree.coordinates), "PARAMETERS": len(values)}
    functions, declared = _defaults(name, real, list(values.values()))
    return CUnit(name, f"tree of bodies {tree.name}", real, kernels, values, (), sizes, declared, functions)


def _defaults(name: str, real: str, numbers: Sequence[float]) -> tuple[list[str], list[str]]:
    """A function that sets the parameters, and its declaration."""
    head = f"void {name}_parameters({real} p[])"
    lines = [f"    p[{i}] = {literal(x, real)};" for i, x in enumerate(numbers)] or ["    (void)p;"]
    about = "/* The values of the parameters with which the code was exported. */"
    return ["\n".join([head, "{", *lines, "}\n"])], [f"{about}\n{head};"]


def law_unit(
    law: FeedbackLaw | DigitalLaw, name: str, real: str, fold: bool, period: float | None = None,
    estimator: Estimator | None = None, limits: Mapping[sp.Expr, float] | None = None, anti_windup: bool = True,
) -> CUnit:  # fmt: skip
    """A digital controller in C."""
    if isinstance(law, FeedbackLaw):
        if period is None:
            raise VinculumError("A controller in C needs its sample period. Use export_c(law, path, period=0.01).")
        law = digital_law(law, period, estimator, limits, anti_windup)
    kernels, values = law_kernels(law)
    words = {"name": name, "NAME": name.upper(), "real": real, "states": max(len(law.states), 1)}
    sizes = {"OUTPUTS": len(law.outputs), "INPUTS": len(law.inputs), "STATES": len(law.states)}
    notes = [f"Digital controller with the sample period {law.period!r} s."]
    declared, functions = [CONTROLLER.format(**words)], [CONTROL.format(**words)]
    return CUnit(name, "feedback law", real, kernels, values, (), sizes, declared, functions, notes)


def expressions_unit(
    laws: Mapping[sp.Expr, sp.Expr], name: str, real: str, fold: bool,
    parameters: Mapping[sp.Symbol, float] | None = None,
) -> CUnit:  # fmt: skip
    """Laws {input: expression} in C, such as computed torques."""
    kernel, values = expression_kernel(laws, parameters or {})
    made = kernel.folded(values) if fold else kernel
    functions, declared = _defaults(name, real, list(values.values()))
    sizes = {group.name.upper(): len(group) for group in (*kernel.arguments[1:], *kernel.results)}
    return CUnit(name, "laws of inputs", real, [made], values, (), sizes, declared, functions)


def linear_unit(
    linear: LinearModel, name: str, real: str, fold: bool, outputs: Sequence[sp.Expr] | None = None,
    period: float | None = None,
) -> CUnit:  # fmt: skip
    """A linear model in C."""
    title = "linear model" if linear.equations is None else f"linear model of {linear.equations.name}"
    kernels = linear_kernels(linear, outputs, period)
    sizes = {"STATES": len(linear.states), "INPUTS": len(linear.inputs), "OUTPUTS": len(kernels[1].outputs)}
    return CUnit(name, title, real, kernels, {}, (), sizes)


CONTROLLER = """/* What the controller remembers. */
typedef struct {{
    {real} w[{states}];
}} {name}_controller;

/* Before the first sample. */
void {name}_init({name}_controller *controller);

/* Once per period: reads the outputs y and gives the inputs u to hold until the next. */
void {name}_step({name}_controller *controller, const {real} y[], {real} u[]);"""

CONTROL = """void {name}_init({name}_controller *controller)
{{
    int i;
    for (i = 0; i < {states}; ++i) controller->w[i] = 0;
}}

void {name}_step({name}_controller *controller, const {real} y[], {real} u[])
{{
    {real} next[{states}] = {{0}};
    int i;
    {name}_control(controller->w, y, u);
    {name}_advance(controller->w, y, u, next);
    for (i = 0; i < {states}; ++i) controller->w[i] = next[i];
}}
"""

UNITS: dict[type, Callable[..., CUnit]] = {
    BodyTree: tree_unit,
    FeedbackLaw: law_unit,
    DigitalLaw: law_unit,
    LinearModel: linear_unit,
    Mapping: expressions_unit,
}
