"""Errors about modes that the inputs, the outputs or the weights miss, by root and states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import Mode, minimum_actuators, sufficient_inputs, sufficient_outputs
from vinculum.errors import Call, Finding, Formula, VinculumError, call
from vinculum.names import listed
from vinculum.text_printer import number, numbers, plain

_ZERO = 1e-9  # relative size of rounding errors in advice
ROUNDING_DECIDES = " Within rounding errors this cannot be told from a controllable mode."


def described(modes: Sequence[Mode]) -> str:
    """Roots and states: ``root 1.95 in x2, dot(x2)``."""
    words = [f"root {number(mode.root)} in {', '.join(mode.states)}" for mode in modes]
    return "; ".join(dict.fromkeys(words))


def refuse_idle_inputs(linear: LinearModel, columns: Sequence[int]) -> None:
    """Raise an error if there are no inputs, or if a chosen input has no effect."""
    if not linear.inputs:
        advice = ("Add them: ", call("System", inputs=[Formula("u")]), ".")
        raise VinculumError(Finding("The system has no inputs.", advice))
    idle = [linear.inputs[k] for k in columns if not np.any(linear.input_matrix[:, k])]
    if idle:
        which = f"Input {listed(idle)} has" if len(idle) == 1 else f"Inputs {listed(idle)} have"
        raise VinculumError(f"{which} no effect at this point (a zero column of B). Remove it from the inputs.")


def refuse_uncontrollable(linear: LinearModel, modes: Sequence[Mode], inputs: Sequence[sp.Expr]) -> None:
    """Raise an error that names the uncontrollable modes."""
    if not modes:
        return
    who = "input" if len(inputs) == 1 else "inputs"
    found = described(modes)
    different = found.count(";") + 1
    count = "1 mode" if different == 1 else f"{different} modes"
    rounding = ROUNDING_DECIDES if any(mode.undecided for mode in modes) else ""
    text = f"The {who} {listed(inputs)} cannot control {count}: {found}.{rounding}"
    raise VinculumError(Finding(text, _inputs_that_would(linear)))


def _inputs_that_would(linear: LinearModel) -> list[str | Call]:
    """Which inputs control every mode, how many are needed, or why no force does."""
    enough, fewest = sufficient_inputs(linear), minimum_actuators(linear)
    if enough:
        return [f"Sufficient inputs: {', or '.join(listed(s) for s in enough)}."]
    constant = unchanging(linear)
    if constant is not None:
        idle = [q for q, column in zip(linear.states, linear.system_matrix.T, strict=True) if not column.any()]
        text = f"No force can: {plain(constant)} is constant in every motion near this point."
        left_out = [q for q in idle if constant.has(q)]
        return [text, " Use ", call("linearize", drop=[left_out[0]]), "."] if left_out else [text]
    if fewest <= len(linear.inputs):
        return ["Add an input that acts on these states."]
    return [f"At least {fewest} {'input is' if fewest == 1 else 'inputs are'} needed that act on these states."]


def unchanging(linear: LinearModel) -> sp.Expr | None:
    """A combination w·q of coordinates that no force changes, or None.

    Forces enter the equations of velocities. So w (F, H) = 0 holds for every further input too if w has no velocity:
    an integrable constraint, for instance.
    """
    F, H, states = linear.system_matrix, linear.input_matrix, linear.states
    moving = [i for i, state in enumerate(states) if isinstance(state, sp.Derivative)]
    others = [i for i in range(len(states)) if i not in moving]
    if not moving or not others:
        return None
    rows = np.hstack([F, H])[others]
    scale = np.abs(rows).max(initial=0.0)
    left, sizes, _ = np.linalg.svd(rows)
    if len(sizes) == len(others) and sizes[-1] > _ZERO * scale:
        return None
    w = left[:, -1] / left[np.argmax(np.abs(left[:, -1])), -1]
    parts = [(f"{a:.6g}", states[i]) for a, i in zip(w, others, strict=True) if abs(a) > _ZERO]
    return sp.Add(*(q if a == "1" else sp.Float(a) * q for a, q in parts))


def refuse_unobservable(linear: LinearModel, outputs: Sequence[sp.Expr], modes: Sequence[Mode]) -> None:
    """Raise an error that names the unobservable modes that do not decay by themselves."""
    bad = [mode for mode in modes if mode.lost and not mode.decays]
    if not bad:
        return
    roots = numbers(mode.root for mode in bad)
    candidates = [key for key in linear.measured if not isinstance(key, sp.Derivative)]
    enough = sufficient_outputs(linear, candidates)
    advice = f"Sufficient outputs: {', or '.join(listed(s) for s in enough[:4])}." if enough else ""
    who = f"the output {listed(outputs)}" if len(outputs) == 1 else f"the outputs {listed(outputs)}"
    which = f"mode with root {roots} is" if len(bad) == 1 else f"modes with roots {roots} are"
    count = minimum_actuators(linear)
    needed = f" At least {count} sensors are needed." if count > len(outputs) else ""
    raise VinculumError(f"The {which} not observable in {who}.{needed} {advice}".rstrip())


def refuse_unweighted(modes: Sequence[Mode], weights: str = "state_weights") -> None:
    """Raise an error that names the modes on the imaginary axis that do not appear in the cost."""
    if modes:
        states = list(dict.fromkeys(name for mode in modes for name in mode.states))
        count = "1 mode that does" if len(modes) == 1 else f"{len(modes)} modes that do"
        raise VinculumError(
            f"The {weights} miss {count} not decay without feedback: {described(modes)}. The optimal law would leave "
            f"{'it' if len(modes) == 1 else 'them'} unchanged. Give a weight to {' or '.join(states)}."
        )
