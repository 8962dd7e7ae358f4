"""A smoke test of the installed package, without pytest: ``python tests/smoke.py``.

`.ci/run` runs it in two fresh environments: one holds the wheel and what a user gets with it, the other the lowest
versions of the dependencies that pyproject.toml promises. Together the checks use every dependency.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sympy import symbols
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

FORMS = ("multipliers", "lyapunov", "lurie-suslov", "shulgin", "voronets")
FIXED_STEP = ("euler", "midpoint", "rk4", "ab2", "ab3", "ab4", "ab5", "abm2", "abm3", "abm4")

x, y = dynamicsymbols("x y")
m, g, l = symbols("m g l")
PENDULUM = vn.System(
    coordinates=[x, y],
    kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
    potential_energy=m * g * y,
    constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
    parameters={m: 0.5, g: 9.81, l: 1.2},
    name="pendulum",
)
START = {"initial": {x: 0.72, x.diff(): 0}, "guess": {y: -0.96, y.diff(): 0}, "times": (0, 0.5)}


def check_forms(folder: Path) -> None:
    """Several forms give the acceleration of the pendulum at rest, ẍ = -g x |y| / l²."""
    state = {x: 0.72, y: -0.96, x.diff(): 0, y.diff(): 0}
    for form in FORMS:
        found = vn.derive(PENDULUM, form).recover(state)
        assert abs(found[x.diff().diff()] + 9.81 * 0.72 * 0.96 / 1.44) < 1e-12, form


def check_methods(folder: Path) -> None:
    """All methods of integration end near the same place, and the constraint holds."""
    equations = vn.derive(PENDULUM)
    exact = vn.simulate(equations, **START)
    for method in ("bdf", *FIXED_STEP):
        step = {} if method == "bdf" else {"step": 1e-3}
        motion = vn.simulate(equations, method=method, **START, **step)
        assert abs(motion[x][-1] - exact[x][-1]) < 2e-2, method
        assert max(motion.largest_residuals.values()) < 1e-2, method


def check_results(folder: Path) -> None:
    """A trajectory is stored and read again, plotted and animated."""
    motion = vn.simulate(vn.derive(PENDULUM), **START)
    motion.save(folder / "pendulum.nc")
    assert np.array_equal(vn.read_trajectory(folder / "pendulum.nc")["x"], motion[x])
    motion.plot(x, y).write_html(folder / "pendulum.html")
    motion.animate([(0, 0), (x, y)])


def check_linear_model(folder: Path) -> None:
    """The hanging pendulum has the roots ±i √(g/l), also in python-control."""
    equations = vn.derive(PENDULUM)
    linear = vn.linearize(equations, at=vn.equilibrium(equations, {y: -1.2}))
    assert np.allclose(sorted(np.imag(linear.roots)), np.sqrt(9.81 / 1.2) * np.array([-1, 1]))
    assert np.allclose(sorted(np.imag(linear.to_control().poles())), np.sqrt(9.81 / 1.2) * np.array([-1, 1]))


def check_commands(folder: Path) -> None:
    """Model files are written, checked, simulated and reported on from the command line."""
    for name in ("ball_and_beam", "puma560", "program_on_an_ellipse"):
        vinculum(folder, "new", f"{name}.toml", "--like", name)
        vinculum(folder, "check", f"{name}.toml")
        vinculum(folder, "report", f"{name}.toml")
        assert (folder / f"{name}.html").stat().st_size > 1e5
    vinculum(folder, "simulate", "puma560.toml", "-o", "puma560.nc")
    vinculum(folder, "stability", "ball_and_beam.toml")
    vinculum(folder, "derive", "ball_and_beam.toml")
    vinculum(folder, "simulate", "--help")
    vinculum(folder, "simulate", code=2)
    vinculum(folder, "simulate", "puma560.toml", "--unknown", code=2)


def vinculum(folder: Path, *arguments: str, code: int = 0) -> None:
    """Run a command that ends with the exit code; a failure shows what it printed."""
    done = subprocess.run([sys.executable, "-m", "vinculum", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, f"vinculum {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}"


if __name__ == "__main__":
    for check in (check_forms, check_methods, check_results, check_linear_model, check_commands):
        with tempfile.TemporaryDirectory() as place:
            check(Path(place))
        print(f"passed: {check.__doc__}")
