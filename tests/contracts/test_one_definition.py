"""Each mechanism is defined once, in examples/: papers and benchmarks take it from there."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import vinculum as vn
from benchmarks import quasi
from examples import cartesian_pendulum, five_bar
from papers.redundant import linkages
from papers.variants import with_numbers

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("papers", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
MAKERS = {"System", "AffineSystem", "BodyTree"}
OWN = {  # what no example is about
    "papers/program/checks.py": 1,  # an elastic pendulum, for one formula
    "benchmarks/ours.py": 1,  # from the neutral description that all tools get
    "benchmarks/chains.py": 2,  # random trees
    "benchmarks/loops.py": 2,  # any number of loops, and the pendulum that moves as they do
    "benchmarks/waiting.py": 1,  # many four-bars side by side
    "benchmarks/studies.py": 1,  # a pendulum in its angle, the smallest system
    "benchmarks/bodies.py": 1,  # a tree with its numbers made parameters
}


def made(path: Path) -> int:
    """How many mechanisms a file states."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return sum(isinstance(f, ast.Attribute) and f.attr in MAKERS and ast.unparse(f.value) == "vn" for f in calls)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_mechanism_is_stated_again(path):
    name = path.relative_to(ROOT).as_posix()
    assert made(path) == OWN.get(name, 0), "import the mechanism from examples/, or vary it with papers.variants"


def test_numbers_take_the_place_of_parameters():
    system = with_numbers(cartesian_pendulum.system(), {cartesian_pendulum.l: 2.0})
    state = {"x": 2.0, "y": 0.0, "dot(x)": 0.0, "dot(y)": 0.0}
    known = {key: state[vn.names.name_of(key)] for key in (*system.coordinates, *system.velocities)}
    found = vn.derive(system).recover(known)
    assert not system.parameters
    np.testing.assert_allclose([found[q.diff().diff()] for q in system.coordinates], [0.0, -9.81], atol=1e-14)


def test_a_table_at_rest_leaves_the_robot_as_it_is():
    """T of the turntable at rest is that of the robot, and it does not depend on where the robot stands."""
    standing, moved = five_bar.system(), five_bar.system(turning=0, corner=(0.05, 0.1))
    assert (standing.kinetic_energy - moved.kinetic_energy).expand() == 0


def test_a_turning_table_gives_the_whole_robot_its_rate():
    """With the joints at rest, T = ½ J Ω² of one rigid body: quadratic in the rate."""
    at_rest = dict.fromkeys(five_bar.system().velocities, 0)
    slow, fast = (five_bar.system(turning=rate, corner=(2, 1)).kinetic_energy.subs(at_rest) for rate in (1, 3))
    assert (9 * slow - fast).expand() == 0
    assert linkages.five_bar().parameters == {}


@pytest.mark.parametrize("case", [quasi.sleigh, quasi.snakeboard])
def test_the_benchmarks_compare_the_same_mechanism(case):
    """Vinculum's energies and the bodies of Kane's method give the same rates of the speeds."""
    case = case()
    function, peer = quasi.compiled(case, quasi.hamel(case)), quasi.lambdified(case, quasi.kane(case))
    state, numbers = np.array(list(case.state.values())), np.array(list(case.system.parameters.values()))
    np.testing.assert_allclose(function(0.0, state, numbers), peer(state), rtol=1e-10, atol=1e-10)
