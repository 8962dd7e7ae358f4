"""Nonholonomic systems in quasi-velocities: Vinculum's "hamel" beside SymPy's KanesMethod with dependent speeds.

Both sides get the same speeds and the same constraints, and must give the same u̇.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from sympy.core.cache import clear_cache
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import vinculum as vn
from examples import chaplygin_sleigh
from examples import snakeboard as board
from examples.snakeboard import J, J_r, J_w, l, m, phi, psi, theta, x, y
from vinculum.compile.function import Function
from vinculum.graph import symbol

from .measure import Timing, duration, measure

ROWS = 10_000  # states of a compiled batch
along, across, turning, rotor, trucks = dynamicsymbols("along across turning rotor trucks")
LENGTHWISE = x.diff() * sp.cos(theta) + y.diff() * sp.sin(theta)
SIDEWAYS = y.diff() * sp.cos(theta) - x.diff() * sp.sin(theta)


@dataclass(frozen=True)
class Case:
    """A system for Vinculum, and the planar bodies, speeds and constraints of the same for Kane's method."""

    name: str
    system: vn.System
    speeds: dict  # independent u -> expression of q and qdot
    dependent: dict  # dependent u -> expression of q and qdot
    constraints: list  # linear in the speeds
    bodies: list  # (mass, inertia, rate of turning in the speeds, how far its center is ahead of (x, y))
    state: dict  # coordinates and independent speeds -> float


def snakeboard() -> Case:
    """The board of examples/snakeboard.py without its servos: rotor and trucks turn freely."""
    return Case(
        "snakeboard",
        _without_servos(board.system()),
        {along: LENGTHWISE, rotor: psi.diff(), trucks: phi.diff()},
        {across: SIDEWAYS, turning: theta.diff()},
        [-along * sp.sin(phi) + (across + l * turning) * sp.cos(phi),
         along * sp.sin(phi) + (across - l * turning) * sp.cos(phi)],
        [(m, J, turning, 0), (0, J_r, turning + rotor, 0),
         (0, J_w, turning + trucks, 0), (0, J_w, turning - trucks, 0)],
        {x: 0.1, y: -0.2, theta: 0.4, psi: 0.3, phi: 0.35, along: 0.8, rotor: -0.5, trucks: 0.6},
    )  # fmt: skip


def sleigh() -> Case:
    """The sleigh of examples/chaplygin_sleigh.py; its center of mass is ahead of the knife by a."""
    return Case(
        "sleigh",
        chaplygin_sleigh.system(),
        {along: LENGTHWISE, turning: theta.diff()},
        {across: SIDEWAYS},
        [across],
        [(chaplygin_sleigh.m, chaplygin_sleigh.I, turning, chaplygin_sleigh.a)],
        {x: 0.1, y: -0.2, theta: 0.4, along: 0.8, turning: -0.5},
    )


def _without_servos(system: vn.System) -> vn.System:
    """The same mechanism with its ideal constraints alone, and the parameters that these and the energies contain."""
    ideal = [c for c in system.constraints if not isinstance(c, vn.Servo)]
    used = system.kinetic_energy.free_symbols.union(*(c.expression.free_symbols for c in ideal))
    parameters = {p: value for p, value in system.parameters.items() if p in used}
    return replace(system, forces={}, inputs=[], constraints=ideal, parameters=parameters)


def hamel(case: Case) -> vn.EquationsOfMotion:
    """Equations of Voronets' and Hamel's type, eliminated down to u̇."""
    equations = vn.derive(case.system, "hamel", characteristics=case.speeds)
    equations.explicit(equations.values(case.state))
    return equations


def kane(case: Case) -> KanesMethod:
    """The same by Kane's method with dependent speeds."""
    N = ReferenceFrame("N")
    speeds = {**case.speeds, **case.dependent}
    method = KanesMethod(
        N,
        list(case.system.coordinates),
        list(case.speeds),
        kd_eqs=[u - e for u, e in speeds.items()],
        u_dependent=list(case.dependent),
        velocity_constraints=case.constraints,
    )
    method.kanes_equations([_body(N, *numbers) for numbers in case.bodies], [])
    return method


def _body(N: ReferenceFrame, mass: sp.Expr, moment: sp.Expr, rate: sp.Expr, ahead: sp.Expr) -> RigidBody:
    """A body of the plane, its velocities written in the speeds at once."""
    board, center = N.orientnew("A", "Axis", (theta, N.z)), Point("G")
    frame = ReferenceFrame("B")
    frame.set_ang_vel(N, rate * N.z)
    center.set_vel(N, along * board.x + (across + ahead * turning) * board.y)
    return RigidBody("body", center, frame, mass, (inertia(N, 0, 0, moment), center))


def compiled(case: Case, equations: vn.EquationsOfMotion) -> Function:
    """Machine code for the rates of the independent speeds."""
    nodes = equations.mechanics.without_corrections(equations.explicit(equations.values(case.state)).rates)
    states = [symbol(key) for key in equations.states]
    return Function(symbol(dynamicsymbols._t), states, case.system.nodes.parameters, nodes[-len(case.speeds) :])


def lambdified(case: Case, method: KanesMethod) -> Callable:
    """u̇ of all speeds from one `lambdify(cse=True)` and `numpy.linalg.solve`; dependent speeds put in first."""
    held = sp.solve(case.constraints, list(case.dependent))
    matrix, forcing = (part.subs(held) for part in (method.mass_matrix, method.forcing))
    parameters = case.system.parameters
    evaluate = sp.lambdify((*case.state, *parameters), (matrix, forcing), "numpy", cse=True)
    numbers = tuple(parameters.values())

    def rates(state: np.ndarray) -> np.ndarray:
        A, b = evaluate(*state, *numbers)
        return np.linalg.solve(A, b)[: len(case.speeds), 0]

    return rates


def derivations() -> list[dict]:
    """From energies (or bodies) and constraints to equations for the independent speeds."""
    rows = []
    for case in (sleigh(), snakeboard()):
        ours = measure(lambda case=case: hamel(case), 5, calls=1, prepare=clear_cache)
        theirs = measure(lambda case=case: kane(case), 3, calls=1, prepare=clear_cache)
        rows.append(_compared(case.name, ours, "KanesMethod", theirs))
    return rows


def evaluations() -> list[dict]:
    """One evaluation of the rates of the independent speeds: compiled batch beside lambdify."""
    rows = []
    for case in (sleigh(), snakeboard()):
        function, peer = compiled(case, hamel(case)), lambdified(case, kane(case))
        state, numbers = np.array(list(case.state.values())), np.array(list(case.system.parameters.values()))
        np.testing.assert_allclose(function(0.0, state, numbers), peer(state), rtol=1e-10, atol=1e-10)
        states, times = np.tile(state, (ROWS, 1)), np.zeros(ROWS)
        run = measure(lambda f=function, s=states, t=times, p=numbers: f.rows(t, s, p), 5)
        one = Timing(run.best / ROWS, run.median / ROWS, run.repeats, run.calls)
        rows.append(_compared(case.name, one, "lambdify", measure(lambda peer=peer, s=state: peer(s), 5)))
    return rows


def _compared(name: str, ours: Timing, peer: str, theirs: Timing) -> dict:
    return {"model": name, "Vinculum": duration(ours.best), peer: duration(theirs.best),
            f"{peer} / Vinculum": theirs.best / ours.best}  # fmt: skip
