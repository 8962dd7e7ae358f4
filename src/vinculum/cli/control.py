"""``vinculum equilibrium | stability | stabilize``: where it rests, whether it stays, and how to make it stay."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vinculum.cli.codes import DONE, NO
from vinculum.cli.options import Force, Form, Json, ModelFile, Output, Set

KINDS = (".json",)
MOST = 12  # equilibria that are shown
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the equilibrium is stable.")]


def equilibrium(
    model: ModelFile,
    form: Form = None,
    output: Output = None,
    force: Force = False,
    settings: Set = None,
    json: Json = False,
) -> int:
    """Find equilibria or steady motions.

    With the inputs that hold them and the reactions of the constraints.

    \b
    Example:
      vinculum equilibrium model.toml --set m=0.3
    """
    from vinculum.cli.output import free_place
    from vinculum.study import rests_of

    free_place(output, force, KINDS)
    asked, _, rest = _at_rest(model, settings, form, "equilibrium")
    found = rests_of(rest)
    _given_out({"name": asked.name, "equilibria": [_rest(one) for one in found]}, json, output)
    if not json:
        for i, one in enumerate(found[:MOST], start=1):
            _show(f"{asked.name}, equilibrium {i} of {len(found)}", one)
        if len(found) > MOST:
            print(f"{len(found) - MOST} more are given with --json.")
    return DONE


def stability(
    model: ModelFile, strict: Strict = False, form: Form = None, output: Output = None, force: Force = False,
    settings: Set = None, json: Json = False,
) -> int:  # fmt: skip
    """Judge the stability of the equilibrium.

    Roots, the verdict, and the theorem it rests on.

    \b
    Example:
      vinculum stability model.toml --strict
    """
    from vinculum.cli.output import free_place, grid, table
    from vinculum.study import linear_of, verdict_of

    free_place(output, force, KINDS)
    asked, equations, rest = _at_rest(model, settings, form, "equilibrium")
    verdict = verdict_of(linear_of(equations, rest))
    _given_out({"name": asked.name, "equilibrium": _rest(rest), "stability": _verdict(verdict)}, json, output)
    if not json:
        _show(f"{asked.name}, equilibrium", rest)
        table("stability", {"verdict": verdict.kind, "theorem": verdict.theorem, "because": verdict.explanation})
        rows = zip(verdict.roots, verdict.damping_ratios, strict=True)
        grid("roots", ("root", "damping ratio"), [(complex(root), float(ratio)) for root, ratio in rows])
    return DONE if verdict or not strict else NO


def stabilize(
    model: ModelFile,
    form: Form = None,
    output: Output = None,
    force: Force = False,
    settings: Set = None,
    json: Json = False,
) -> int:
    """Design a stabilizing feedback.

    With an observer where the file measures only some outputs, and the motion of the closed loop where it gives one.

    \b
    Example:
      vinculum stabilize model.toml -o gains.json
    """
    from vinculum.cli.output import free_place, table

    free_place(output, force, KINDS)
    asked, equations, rest = _at_rest(model, settings, form, "equilibrium", "control")
    law, estimator, verdict = _designed(asked, equations, rest)
    motion = _closed(asked, equations, rest, law, estimator)
    _given_out(_design(asked, rest, law, estimator, verdict, motion), json, output)
    if not json:
        _show(f"{asked.name}, equilibrium", rest)
        _show_gains(law, estimator)
        table("closed loop", {"verdict": verdict.kind, "theorem": verdict.theorem, "because": verdict.explanation})
        if motion is not None:
            from vinculum.cli.simulate import rows_of

            table("motion of the closed loop", rows_of(motion))
    return DONE if verdict and (motion is None or motion.outcome) else NO


# -- steps -----------------------------------------------------------------------------------------------------


def _at_rest(model: Any, settings: Any, form: str | None, *sections: str) -> tuple[Any, Any, Any]:
    """The model, its equations and its equilibrium."""
    from vinculum.cli.models import opened, refuse_unasked
    from vinculum.study import equations_of, rest_of

    asked = opened(model, settings, form)
    refuse_unasked(asked, model, *sections)
    equations = equations_of(asked)
    return asked, equations, rest_of(asked, equations)


def _designed(model: Any, equations: Any, rest: Any) -> tuple[Any, Any, Any]:
    """Law, observer if there is one, and the verdict on the closed loop."""
    from vinculum.control import closed_model
    from vinculum.study import estimator_of, law_of, linear_of, verdict_of

    linear = linear_of(equations, rest)
    law = law_of(model, linear)
    estimator = estimator_of(model, linear) if model.observer is not None else None
    return law, estimator, verdict_of(closed_model(law, estimator))


def _closed(model: Any, equations: Any, rest: Any, law: Any, estimator: Any) -> Any:
    """The motion of the closed loop, where the file asks for one."""
    from vinculum.cli.progress import bar
    from vinculum.study import closed_motion_of, loop_of

    if model.closed_loop is None:
        return None
    loop = loop_of(model, equations, law, estimator)
    with bar("simulating the closed loop") as report:
        return closed_motion_of(model, loop, law, rest, report)


# -- what is shown ---------------------------------------------------------------------------------------------


def _given_out(data: dict[str, Any], json: bool, output: Any) -> None:
    from vinculum.cli.output import as_json, written

    if output is not None:
        written(output, as_json(data) + "\n")
    if json:
        print(as_json(data))


def _rest(rest: Any) -> dict[str, Any]:
    from vinculum.names import name_of

    values = {name_of(key): float(value) for key, value in rest.items()}
    return {"values": values, "reactions": dict(rest.reactions), "residual": rest.residual}


def _show(title: str, rest: Any) -> None:
    from vinculum.cli.output import table

    data = _rest(rest)
    moving = {name: value for name, value in data["values"].items() if value or not name.startswith("dot(")}
    table(title, {**moving, **{f"reaction of {name}": value for name, value in data["reactions"].items()}})


def _verdict(verdict: Any) -> dict[str, Any]:
    return {
        "kind": verdict.kind,
        "stable": bool(verdict),
        "theorem": verdict.theorem,
        "explanation": verdict.explanation,
        "roots": [complex(root) for root in verdict.roots],
        "structural_zero_roots": verdict.critical,
    }


def _show_gains(law: Any, estimator: Any) -> None:
    from vinculum.cli.output import grid
    from vinculum.names import name_of

    inputs = [name_of(u) for u in law.linear.inputs]
    states = [name_of(s) for s in law.linear.states]
    grid("gains of the feedback", ("state", *inputs), [(s, *map(float, law.gain[:, i])) for i, s in enumerate(states)])
    if estimator is not None:
        outputs = [name_of(y) for y in estimator.outputs]
        rows = [(s, *map(float, estimator.gain[i])) for i, s in enumerate(states)]
        grid("gains of the observer", ("state", *outputs), rows)


def _design(model: Any, rest: Any, law: Any, estimator: Any, verdict: Any, motion: Any) -> dict[str, Any]:
    from vinculum.cli.simulate import described
    from vinculum.names import name_of

    data: dict[str, Any] = {
        "name": model.name,
        "equilibrium": _rest(rest),
        "states": [name_of(s) for s in law.linear.states],
        "inputs": [name_of(u) for u in law.linear.inputs],
        "gain": law.gain,
        "closed_loop": _verdict(verdict),
    }
    if estimator is not None:
        data["observer"] = {"outputs": [name_of(y) for y in estimator.outputs], "gain": estimator.gain}
    return data if motion is None else data | {"motion": described(model.name, motion)}
