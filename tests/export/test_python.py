"""One Python file that needs NumPy alone: the same numbers, in an interpreter that cannot import Vinculum."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import puma560
from vinculum.export import export_python
from vinculum.export.c_units import c_unit
from vinculum.export.samples import random_values
from vinculum.graph import evaluate
from vinculum.model.examine import equations_of

LIBRARY = Path(vn.__file__).parent / "model" / "library"


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["ball_and_beam", "four_bar", "rolling_disc", "wheel_with_reactions", "overhead_crane", "watt_governor"]
)
def test_every_function_has_the_numbers_of_the_graph(name, tmp_path):
    equations = equations_of(vn.load(LIBRARY / f"{name}.toml"))
    module = loaded(export_python(equations, tmp_path / name))
    unit = c_unit(equations, name, "double", False, None, {})
    for kernel in unit.public:
        for values in random_values(kernel, unit.values, 2):
            given = [
                values[group.nodes[0]] if group.scalar else np.array([values[node] for node in group.nodes])
                for group in kernel.arguments
            ]
            found = getattr(module, kernel.name)(*given)
            flat = np.concatenate([np.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])
            assert flat == pytest.approx(evaluate(kernel.outputs, values), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("stabilization", ["sampled", "projection", vn.Baumgarte(rate=5.0), "none"])
def test_the_steps_are_those_of_simulate(stabilization, tmp_path):
    x, y = dynamicsymbols("x y")
    g, l = sp.symbols("g l")
    rod = vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")
    kinetic = (x.diff() ** 2 + y.diff() ** 2) / 2
    equations = vn.derive(vn.System([x, y], kinetic, g * y, constraints=[rod], parameters={g: 9.81, l: 1.0}, name="r"))
    start, times = {x: 0.6, y: -0.8}, np.linspace(0, 0.5, 3)
    module = loaded(export_python(equations, tmp_path / "rod", initial=start, stabilization=stabilization))
    states = module.simulate(module.initial(), times, 1e-3)
    motion = vn.simulate(equations, start, times, "rk4", step=1e-3, stabilization=stabilization)
    wanted = np.column_stack([motion[key] for key in equations.states])
    assert states == pytest.approx(wanted, abs=1e-12)
    s, state = module.start(0.0, [0.28, -0.5, 0.1, 0.0], [1, 0, 0, 0], module.parameters())
    assert s[1] == pytest.approx(-0.96, abs=1e-13)
    assert state == pytest.approx(s)
    with pytest.raises(ValueError, match="cannot be reached"):
        module.start(0.0, [2.0, -0.5, 0.1, 0.0], [1, 0, 0, 0], module.parameters())


def test_many_states_go_at_once(tmp_path):
    tree = puma560.tree()
    module = loaded(export_python(tree, tmp_path / "puma", points={}))
    q, v, a = np.random.default_rng(1).normal(size=(3, 6, 10))
    together = module.inverse(0.0, q, v, a, module.parameters())
    one = vn.bodies.dynamics(tree).inverse(q[:, 3], v[:, 3], a[:, 3])
    assert together.shape == (6, 10)
    assert together[:, 3] == pytest.approx(one, abs=1e-12)


def test_vinculum_is_not_needed(tmp_path):
    equations = equations_of(vn.load(LIBRARY / "cartesian_pendulum.toml"))
    path = export_python(equations, tmp_path / "own.py")
    code = (
        "import sys; sys.modules['vinculum'] = sys.modules['sympy'] = None\n"
        f"sys.path.insert(0, {str(tmp_path)!r}); import own; print(own.simulate(own.initial(), [0, 1], 1e-2).shape)"
    )
    said = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "(2, 4)"
    assert path.read_text().startswith('r"""pendulum in Cartesian coordinates')
