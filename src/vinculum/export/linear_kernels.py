"""Linear models and digital laws as kernels; entries that are zero cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from vinculum.analyze import LinearModel
from vinculum.analyze.discrete_model import held_over
from vinculum.analyze.state_space import output_row
from vinculum.control.digital_law import DigitalLaw
from vinculum.export.identifiers import label_of
from vinculum.export.kernel import Group, Kernel
from vinculum.graph import ZERO, Converter, Node, constant, select, symbol, symbols
from vinculum.graph.node import compare
from vinculum.names import TIME


def _group(name: str, keys: Sequence[sp.Expr], about: str) -> Group:
    nodes = tuple(symbol((name, i)) for i in range(len(keys)))
    return Group(name, nodes, tuple(label_of(key) for key in keys), about)


def _combined(*terms: tuple[np.ndarray, Sequence[Node]]) -> list[Node]:
    """Σ M x, row by row."""
    rows = len(terms[0][0])
    sums = [ZERO] * rows
    for M, x in terms:
        for i in range(rows):
            for number, node in zip(M[i], x, strict=True):
                if number:
                    sums[i] = sums[i] + constant(float(number)) * node
    return sums


def linear_kernels(linear: LinearModel, outputs: Sequence[sp.Expr] | None, period: float | None) -> list[Kernel]:
    """η̇ = F η + H u and y = C η + D u; with a period also the exact step for constant inputs."""
    x = _group("x", linear.states, "deviations of the states from the equilibrium")
    u = _group("u", linear.inputs, "deviations of the inputs from their holding values")
    F, H = linear.system_matrix, linear.input_matrix
    dx = Group("dx", tuple(_combined((F, x.nodes), (H, u.nodes))), x.labels, "rates of the deviations")
    chosen = tuple(linear.states if outputs is None else outputs)
    rows = [output_row(linear, key) for key in chosen]
    C, D = np.array([row for row, _ in rows]), np.array([direct for _, direct in rows])
    own = tuple(_combined((C, x.nodes), (D.reshape(len(rows), len(u)), u.nodes)))
    y = Group("y", own, tuple(map(label_of, chosen)), "deviations of the outputs")
    found = [
        Kernel("rates", "The linear model dx = F x + H u.", (x, u), (dx,)),
        Kernel("outputs", "The outputs y = C x + D u.", (x, u), (y,)),
    ]
    if period is not None:
        Phi, gamma = held_over(F, H, period)
        after = tuple(_combined((Phi, x.nodes), (gamma, u.nodes)))
        about = f"The states after {period!r} s with constant inputs, exactly."
        found.append(Kernel("step", about, (x, u), (Group("next", after, x.labels, "states after the period"),)))
    return found


def law_kernels(law: DigitalLaw) -> tuple[list[Kernel], dict[Node, float]]:
    """u of (w, y) and the next w of (w, y, u)."""
    w = _group("w", law.states, "states of the controller")
    y = _group("y", law.outputs, "measured outputs")
    u = _group("u", law.inputs, "inputs of the plant")
    deviation = [node - constant(float(at)) for node, at in zip(y.nodes, law.y0, strict=True)]
    own = _combined((law.C, w.nodes), (law.D, deviation))
    wanted = [node + constant(float(at)) for node, at in zip(own, law.u0, strict=True)]
    sent = [_limited(node, law.limits.get(key)) for key, node in zip(law.inputs, wanted, strict=True)]
    excess = [node - constant(float(at)) for node, at in zip(u.nodes, law.u0, strict=True)]
    after = _combined((law.A, w.nodes), (law.B, deviation), (law.E, excess))
    for j in law.integrators if law.limits else ():
        after[j] = _stopped(w.nodes[j], after[j], law.C[:, j], [a - b for a, b in zip(wanted, u.nodes, strict=True)])
    values = dict(zip((*y.nodes, *u.nodes), map(float, (*law.y0, *law.u0)), strict=True))
    sets, moves = Group("u", tuple(sent), u.labels, u.about), Group("next", tuple(after), w.labels, w.about)
    return [
        Kernel("control", "The inputs for the measured outputs.", (w, y), (sets,)),
        Kernel("advance", "The states of the controller one period later.", (w, y, u), (moves,)),
    ], values


def _stopped(before: Node, after: Node, column: np.ndarray, over: Sequence[Node]) -> Node:
    """An integrator, which keeps its value where a limit is exceeded and it would ask for more."""
    found = after
    for number, excess in zip(column, over, strict=True):
        if number:
            pushes = compare("less", ZERO, constant(float(number)) * excess * (after - before))
            found = select(pushes, before, found)
    return found


def _limited(node: Node, limit: float | None) -> Node:
    """The node within ±limit."""
    if limit is None:
        return node
    top, bottom = constant(float(limit)), constant(-float(limit))
    return select(compare("less", top, node), top, select(compare("less", node, bottom), bottom, node))


def expression_kernel(
    laws: Mapping[sp.Expr, sp.Expr], parameters: Mapping[sp.Symbol, float]
) -> tuple[Kernel, dict[Node, float]]:
    """Inputs as functions of time, of what else occurs in their laws, and of the parameters."""
    nodes = [Converter()(law) for law in laws.values()]
    own = {symbol(key): float(value) for key, value in parameters.items()}
    t = Group("t", (symbol(TIME),), ("t",), "time", scalar=True)
    free = [node for node in symbols(nodes) if node not in own and node not in t.nodes]
    free.sort(key=lambda node: label_of(node.value))
    x = Group("x", tuple(free), tuple(label_of(node.value) for node in free), "what the laws read")
    p = Group("p", tuple(own), tuple(label_of(node.value) for node in own), "parameters")
    u = Group("u", tuple(nodes), tuple(map(label_of, laws)), "inputs")
    return Kernel("control", "The inputs by their laws.", (t, x, p), (u,)), own
