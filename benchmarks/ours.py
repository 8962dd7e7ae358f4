"""Vinculum's side of the benchmarks, on the models of `benchmarks.models`."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np

import vinculum as vn
from vinculum.compile.function import Function
from vinculum.graph.node import symbol

from .models import TIME, Model


def system(model: Model) -> vn.System:
    """The model as a `System`."""
    constraints = [vn.Holonomic(f, name) for name, f in model.holonomic.items()]
    constraints += [vn.Nonholonomic(f, name) for name, f in model.nonholonomic.items()]
    return vn.System(
        model.coordinates,
        model.kinetic_energy,
        model.potential_energy,
        constraints=constraints,
        parameters=model.parameters,
    )


def derivation(model: Model) -> vn.EquationsOfMotion:
    """From energies and constraints to the equations of motion: M, h, Q, J, gamma."""
    return vn.derive(system(model))


def explicit(equations: vn.EquationsOfMotion, model: Model) -> list:
    """The accelerations as nodes, the linear system eliminated."""
    found = equations.explicit(equations.values(model.initial))
    return equations.mechanics.without_corrections(found.accelerations)


def compiled(equations: vn.EquationsOfMotion, nodes: list) -> Function:
    """Machine code for the accelerations, compiled anew (past the cache)."""
    parameters = equations.system.nodes.parameters
    return Function(symbol(TIME), [symbol(s) for s in equations.states], parameters, nodes)


def batch(function: Function, model: Model, rows: int = 10_000) -> Callable:
    """One call that evaluates the accelerations at many states in a compiled loop."""
    states, times = np.tile(model.start, (rows, 1)), np.zeros(rows)
    numbers = np.array(list(model.parameters.values()))
    return lambda: function.rows(times, states, numbers)


def cold_start() -> dict[str, float]:
    """Seconds for `import vinculum`, and from there to the first simulated point, in a new process."""
    output = subprocess.run([sys.executable, "-c", _COLD_START], capture_output=True, text=True, check=True).stdout
    imported, first_point = map(float, output.split())
    return {"import": imported, "first point": first_point}


_COLD_START = """
from time import perf_counter
began = perf_counter()
import vinculum as vn
imported = perf_counter() - began
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols
theta = dynamicsymbols("theta")
m, l, g = sp.symbols("m l g")
T, V = m * l**2 * theta.diff()**2 / 2, -m * g * l * sp.cos(theta)
pendulum = vn.System([theta], T, V, parameters={m: 1, l: 1, g: 9.81})
vn.simulate(vn.derive(pendulum), {theta: 1.0}, (0, 10))
print(imported, perf_counter() - began)
"""
