"""``vinculum derive``: the equations of motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vinculum.cli.codes import DONE
from vinculum.cli.options import Force, Form, Json, ModelFile, Output, Set

if TYPE_CHECKING:
    from vinculum.model.examine import Equations

KINDS = (".tex", ".md", ".txt")


def derive(
    model: ModelFile,
    form: Form = None,
    output: Output = None,
    force: Force = False,
    settings: Set = None,
    json: Json = False,
) -> int:
    """Derive the equations of motion.

    In the form of the file, or in another: multipliers, lyapunov, lurie-suslov, shulgin, routh, voronets,
    chaplygin, hamel, maggi, program.

    \b
    Examples:
      vinculum derive model.toml
      vinculum derive model.toml --form shulgin -o equations.tex
    """
    from vinculum.cli.models import opened
    from vinculum.cli.output import as_json, free_place, table, written
    from vinculum.model.examine import equations_of
    from vinculum.names import listed

    free_place(output, force, KINDS)
    asked = opened(model, settings, form)
    equations = equations_of(asked)
    if output is not None:
        written(output, document(equations, output.suffix.lower()))
    if json:
        print(as_json(described(equations)))
        return DONE
    rows = {"form": equations.form.name, "states": listed(equations.states), "dimension": equations.dimension}
    table(asked.name, rows)
    if output is None:
        print()
        print(equations.text())
    return DONE


def described(equations: Equations) -> dict[str, Any]:
    """The equations as data, for machines."""
    from vinculum.names import name_of

    return {
        "name": equations.name,
        "form": equations.form.name,
        "states": [name_of(key) for key in equations.states],
        "inputs": [name_of(key) for key in equations.system.inputs],
        "constraints": list(equations.constraint_names),
        "dimension": equations.dimension,
        "parameters": {name_of(key): value for key, value in equations.parameters.items()},
        "equations": equations.text().split("\n"),
        "latex": equations.latex(),
    }


def document(equations: Equations, kind: str) -> str:
    """The equations as a file: LaTeX, Markdown or plain text."""
    if kind == ".tex":
        return f"% {equations.name}, form {equations.form.name}\n\\[\n{equations.latex()}\n\\]\n"
    if kind == ".md":
        return f"# {equations.name}\n\nForm: {equations.form.name}\n\n```math\n{equations.latex()}\n```\n"
    return f"{equations.name}, form {equations.form.name}\n\n{equations.text()}\n"
