"""Machine code gives the numbers of the interpreter."""

from __future__ import annotations

import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pytest
import sympy as sp

from graph.random_expressions import VARIABLES, expression, point, single_operations
from vinculum.compile.function import Body, Function, function, module
from vinculum.compile.simd import simd_function
from vinculum.graph import ONE, ZERO, apply, evaluate, from_sympy, gradient, symbol
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.targets import Lines

TIME = symbol("t")
MASS, LENGTH = symbol("m"), symbol("l")
SINGLE = single_operations()


def compiled(outputs: list) -> Function:
    return function(TIME, VARIABLES, [MASS, LENGTH], outputs)


def test_every_operation_is_compiled(random):
    f = compiled([node for _, node in SINGLE])
    for _ in range(20):
        values = point(random)
        expected = evaluate([node for _, node in SINGLE], values)
        found = f(0.0, np.array(list(values.values())), np.ones(2))
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("seed", range(60))
def test_random_expression_and_its_gradient(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random), point(random)
    outputs = [f, *gradient(f, VARIABLES)]
    found = compiled(outputs)(0.0, np.array(list(values.values())), np.ones(2))
    expected = evaluate(outputs, values)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14 * (1 + np.abs(expected).max()))


def test_time_state_and_parameters_go_to_their_places():
    x, y, z = VARIABLES
    f = compiled([TIME, x, y, z, MASS, LENGTH, ONE / 4, ZERO, x])
    np.testing.assert_array_equal(
        f(0.5, np.array([1.0, 2.0, 3.0]), np.array([7.0, 8.0])), [0.5, 1, 2, 3, 7, 8, 0.25, 0, 1]
    )


def test_many_rows_are_one_at_a_time(random):
    f = expression(random)
    g = compiled([f * MASS + TIME, *gradient(f, VARIABLES)])
    t, x, p = random.random(50), random.normal(size=(50, 3)), np.array([1.5, 0.0])
    one_at_a_time = np.array([g(instant, row, p) for instant, row in zip(t, x, strict=True)])
    np.testing.assert_array_equal(g.rows(t, x, p), one_at_a_time)
    assert g.rows(t[:0], x[:0], p).shape == (0, 4)


def test_rows_may_be_a_view_of_other_data(random):
    f = compiled([VARIABLES[0] - VARIABLES[2] * TIME])
    wide = random.normal(size=(10, 6))
    expected = wide[:, 0] - wide[:, 4] * 2.0
    np.testing.assert_allclose(f.rows(np.full(10, 2.0), wide[:, ::2], np.ones(2))[:, 0], expected, rtol=1e-15)


def test_the_same_nodes_compile_once():
    x, y, _ = VARIABLES
    assert compiled([apply("sin", x * y)]) is compiled([apply("sin", y * x)])
    assert compiled([apply("sin", x * y)]) is not compiled([apply("cos", y * x)])


MAKE_AND_DROP = """
import numpy as np
from vinculum.compile.function import Function
from vinculum.graph import symbol

t, x = symbol("t"), symbol("x")
kept = [Function(t, [x], [], [x * k]) for k in range(20)]
del kept[::2]
dropped = [Function(t, [x], [], [x + k])(0.0, np.ones(1), np.empty(0))[0] for k in range(20)]
assert dropped == [1.0 + k for k in range(20)]
assert [f(0.0, np.ones(1), np.empty(0))[0] for f in kept] == [float(k) for k in range(1, 20, 2)]
"""


def test_functions_are_dropped_without_harm_to_the_others():
    """In a process of its own, because a wrong release of machine code ends the process."""
    ended = subprocess.run([sys.executable, "-c", MAKE_AND_DROP], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_outside_a_domain_the_number_is_not_finite():
    x, y, _ = VARIABLES
    f = compiled([apply("log", x), apply("sqrt", x), 1 / y])
    assert not np.isfinite(f(0.0, np.array([-1.0, 0.0, 0.0]), np.ones(2))).any()


def test_a_guarded_branch_does_not_spoil_the_slope():
    """x^(3/2) for x > 0, else 0 (a contact force): zero with slope zero at x = -1."""
    x = VARIABLES[0].value
    force = from_sympy(sp.Piecewise((x ** sp.Rational(3, 2), x > 0), (0, True)))
    f = compiled([force, *gradient(force, VARIABLES[:1])])
    np.testing.assert_array_equal(f(0.0, np.array([-1.0, 0.0, 0.0]), np.ones(2)), [0.0, 0.0])
    np.testing.assert_allclose(f(0.0, np.array([4.0, 0.0, 0.0]), np.ones(2)), [8.0, 3.0], rtol=1e-15)


class PythonTarget(Lines):
    """A further target, whole: a table of operations and how a line looks."""

    table = {name: f"math.{name}({{0}})" for name in FUNCTIONS if hasattr(math, name)} | {
        "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}",
        "negate": "-{0}", "power": "math.pow({0}, {1})", "atan2": "math.atan2({0}, {1})",
        "less": "{0} < {1}", "less_equal": "{0} <= {1}", "equal": "{0} == {1}",
        "both": "{0} and {1}", "either": "{0} or {1}", "select": "{1} if {0} else {2}",
    }  # fmt: skip
    line = "    {name} = {value}"

    def constant(self, value):
        return repr(float(value))


def python_source(arguments, outputs):
    """The way to print a function."""
    target = PythonTarget({node: f"a{i}" for i, node in enumerate(arguments)})
    results = ", ".join(target.number(output) for output in target.prepare(outputs))
    head = f"def f({', '.join(f'a{i}' for i in range(len(arguments)))}):"
    return "\n".join([head, *target.lines, f"    return [{results}]"])


@pytest.mark.parametrize("seed", range(40))
def test_a_further_target_is_a_table_and_a_way_to_print_a_function(seed):
    random = np.random.default_rng(seed)
    f, values = expression(random), point(random)
    outputs = [f, *gradient(f, VARIABLES), *(node for _, node in SINGLE)]
    scope = {"math": math}
    exec(python_source(VARIABLES, outputs), scope)
    assert scope["f"](*values.values()) == evaluate(outputs, values)


def test_an_operation_that_a_target_lacks_is_named():
    poor = PythonTarget({VARIABLES[0]: "x"})
    poor.table = {"add": "{0} + {1}"}
    with pytest.raises(KeyError, match="PythonTarget has no template for 'sin'"):
        poor.value(apply("sin", VARIABLES[0]))


def test_functions_run_and_compile_in_many_threads_at_once(random):
    """Each thread compiles its own and runs a shared one: the same bits as one after the other."""
    shared = [expression(random) for _ in range(4)]
    f = Function(TIME, VARIABLES, [MASS, LENGTH], shared)
    g = simd_function(VARIABLES, [], shared, 4)
    x = random.uniform(-1.5, 1.5, (400, 3))
    others = [expression(np.random.default_rng(seed)) for seed in range(6)]

    def work(i):
        own = Function(TIME, VARIABLES, [], [others[i]])
        return [(f.rows(np.zeros(400), x, np.ones(2)), g(x.T, np.empty(0)), own.rows(np.zeros(400), x, np.empty(0)))
                for _ in range(5)]  # fmt: skip

    one_by_one = [work(i) for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(work, range(6)))
    for a, b in zip(one_by_one, together, strict=True):
        for one, other in zip(a, b, strict=True):
            for left, right in zip(one, other, strict=True):
                np.testing.assert_array_equal(left, right)


def test_a_wrong_number_of_states_is_refused():
    f = compiled([VARIABLES[0]])
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        f(0.0, np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"\(4, 3\)"):
        f.rows(np.ones(4), np.ones((5, 3)), np.ones(2))


def test_a_symbol_that_is_not_an_argument_is_named():
    with pytest.raises(KeyError, match="unknown is not the time, a state or a parameter"):
        compiled([symbol("unknown") * 2])


def test_machine_code_does_not_depend_on_what_was_built_before():
    """Fused products round differently, so operands and lines are in one order whichever symbol was made first."""
    texts = set()
    for turn, names in enumerate(permutations("abcd")):
        made = {name: symbol(f"{name} {turn}") for name in names}
        a, b, c, d = (made[name] for name in "abcd")
        body = Body(symbol("t"), [a, b], [c, d])
        body.finish([a * b + c * d, apply("sin", a) * c + apply("cos", b) * d - a * d])
        texts.add(module(body, 2, 2))
    assert len(texts) == 1


LEFT = """
import ctypes, gc
from vinculum.compile.function import Function
from vinculum.graph import symbol

class Malloc(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]  # h: bytes in use

def used():
    gc.collect()
    return library.mallinfo2().h

library = ctypes.CDLL(None)
library.mallinfo2.restype = Malloc
t, x = symbol("t"), symbol("x")
make = lambda n: [Function(t, [x], [], [x * t + i / 128]) for i in range(n)] and None
make(256)
before = used()
make(256)
print((used() - before) / 256)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc counts the bytes in use")
def test_a_function_that_is_dropped_leaves_little_memory_behind():
    """llvmlite itself loses 1.5 kB with every builder of passes."""
    told = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=120)
    assert float(told.stdout) < 3000, told.stderr[-1000:]
