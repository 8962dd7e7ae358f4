"""A method of integration is an object: its options, the registry, and methods that are added at run time."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from simulate.models import difference, hanging, largest, pendulum, run, x
from vinculum.simulation import METHODS, Method, register
from vinculum.simulation.trajectory.outcome import NON_FINITE, STALLED, Outcome, finished

TIMES = np.linspace(0, 2, 21)
BUTCHER = {  # six stages, order five (Butcher 1964)
    "A": [
        [0, 0, 0, 0, 0, 0],
        [1 / 4, 0, 0, 0, 0, 0],
        [1 / 8, 1 / 8, 0, 0, 0, 0],
        [0, -1 / 2, 1, 0, 0, 0],
        [3 / 16, 0, 0, 9 / 16, 0, 0],
        [-3 / 7, 2 / 7, 12 / 7, -12 / 7, 8 / 7, 0],
    ],
    "b": np.array([7, 0, 32, 12, 32, 7]) / 90,
    "order": 5,
}


@pytest.fixture
def registry():
    """The registry, as it was before when the test is over."""
    before = dict(METHODS)
    yield METHODS
    METHODS.clear()
    METHODS.update(before)


@dataclass(frozen=True)
class DOP853(Method):
    """SciPy's Dormand-Prince method of order eight on the compiled right side."""

    tolerance: float = 1e-10

    name: ClassVar[str] = "dop853"
    options: ClassVar[tuple[str, ...]] = ("tolerance",)
    finds_events: ClassVar[bool] = False

    @property
    def order(self):
        return 8

    def feedback_rate(self, problem, plan, stabilization, x):
        return problem.motion_rate(plan.t0, x)

    def integrate(self, problem, run, t, x):
        from scipy.integrate import DOP853

        nodes, p, recorder, t1 = problem.nodes, problem.values, run.recorder, run.plan.t1
        rates, watched = problem.compiled(nodes.rates), problem.compiled([nodes.balance, *nodes.residuals])
        solver = DOP853(lambda t, x: rates(t, x, p), t, x, t1, rtol=self.tolerance, atol=self.tolerance)
        recorder.add(recorder.instants[:1], x[None, :])
        while solver.status == "running":
            solver.step()
            if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
                kind = STALLED if solver.status == "failed" else NON_FINITE
                return Outcome(kind, solver.t_old), solver.t_old, solver.y
            values = watched(solver.t, solver.y, p)
            recorder.measure(values[:1], values[None, 1:])
            waiting = recorder.instants[recorder.written :]
            ready = waiting[waiting <= solver.t]
            recorder.add(ready, solver.dense_output()(ready).T)
            recorder.steps += 1
            run.report(solver.t)
        return finished(t1), t1, solver.y


# -- objects and their names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "name", "options"),
    [
        (vn.Taylor(), "taylor", {}),
        (vn.Taylor(tolerance=1e-9, compact=True), "taylor", {"tolerance": 1e-9, "compact": True}),
        (vn.BDF(tolerance=1e-6), "bdf", {"tolerance": 1e-6}),
        (vn.RungeKutta("rk4", step=1e-2), "rk4", {"step": 1e-2}),
        (vn.RungeKutta("euler", 1e-3), "euler", {"step": 1e-3}),
        (vn.Adams("ab4", step=1e-2), "ab4", {"step": 1e-2}),
        (vn.Adams("abm3", step=1e-2), "abm3", {"step": 1e-2}),
    ],
)
def test_a_name_with_options_is_short_for_an_object(method, name, options):
    by_object = run(pendulum(), hanging(), TIMES, method)
    assert difference(by_object, run(pendulum(), hanging(), TIMES, name, **options)) == 0
    assert by_object.method.startswith(name)


def test_options_of_an_object_are_given_to_the_object():
    with pytest.raises(vn.VinculumError, match=r"has its own options. Give tolerance to it"):
        vn.simulate(pendulum(), hanging(), (0, 1), vn.Taylor(), tolerance=1e-9)


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("rk4", {"step": 0.1, "tolerance": 1e-6}, "fixed step and no tolerance"),
        ("taylor", {"step": 0.1}, "chooses its own steps"),
        ("rk4", {"step": 0.1, "compact": True}, "has no option compact. Its option is step"),
        ("bdf", {"compact": False}, "has no option compact. Its option is tolerance"),
        ("rk5", {}, "no method 'rk5'. Did you mean"),
        (4, {}, "no method 4. Known: taylor"),
    ],
)
def test_an_option_that_a_method_does_not_have_is_refused(method, options, said):
    with pytest.raises(vn.VinculumError, match=said):
        vn.simulate(pendulum(), hanging(), (0, 1), method, **options)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            lambda: vn.Taylor(step=1),
            "Taylor chooses its own steps. Leave step out.*Its options are tolerance, compact.",
        ),
        (lambda: vn.Taylor(tolerence=1), "has no option tolerence. Did you mean tolerance. Its options are"),
        (lambda: vn.BDF(compact=True), "BDF has no option compact. Its option is tolerance."),
        (
            lambda: vn.RungeKutta("rk4", tolerance=1),
            "RungeKutta has a fixed step and no tolerance. Leave out tolerance. Its options are",
        ),
        (lambda: vn.Adams("ab4", stp=1), "has no option stp. Did you mean step"),
        (lambda: vn.BDF(1e-9, 2), "got 2 values without a name; it takes only tolerance"),
    ],
)
def test_a_method_is_not_built_with_an_option_that_it_does_not_have(build, said):
    with pytest.raises(vn.VinculumError, match=said):
        build()


@pytest.mark.parametrize("method", [*METHODS.values(), vn.RungeKutta("rk4", step=0.1)], ids=lambda method: method.name)
def test_methods_are_copied_and_sent(method):
    for twin in (deepcopy(method), pickle.loads(pickle.dumps(method))):
        assert repr(twin) == repr(method)
        assert (twin.name, twin.order, twin.adaptive) == (method.name, method.order, method.adaptive)


@pytest.mark.parametrize(
    ("tableau", "said"),
    [
        ({"A": [[0, 0], [1, 0]], "b": [1.0], "order": 1}, r"shape \(2, 2\) and b \(1,\)"),
        ({"A": [[0.5]], "b": [1.0], "order": 1}, "zero on and above its diagonal"),
        ({"A": [[0]], "b": [0.5], "order": 1}, "add up to 0.5"),
        ({"A": [[0]], "b": [1.0]}, "order=0 must be a whole number"),
    ],
)
def test_what_is_no_explicit_tableau_is_refused(tableau, said):
    with pytest.raises(vn.VinculumError, match=said):
        vn.RungeKutta("mine", **tableau)


# -- more stages than four --------------------------------------------------------------------------------------


def oscillators(count: int) -> tuple[vn.EquationsOfMotion, dict]:
    """Uncoupled oscillators of different frequencies."""
    q = dynamicsymbols(f"q1:{count + 1}")
    potential = sum(i * c**2 for i, c in enumerate(q, start=1)) / 2
    return vn.derive(vn.System(q, sum(c.diff() ** 2 for c in q) / 2, potential)), dict.fromkeys(q, 1.0)


@pytest.mark.parametrize("count", [1, 6, 12])
def test_a_tableau_of_six_stages_stays_within_its_memory(count):
    """Twelve degrees of freedom: 24 states, six stages each. The order is seen in the error."""
    equations, start = oscillators(count)
    errors = []
    for step in (0.02, 0.01):
        motion = vn.simulate(equations, start, (0, 1), vn.RungeKutta("butcher5", step, **BUTCHER))
        exact = [np.cos(np.sqrt(i)) for i in range(1, count + 1)]
        errors.append(max(abs(motion[q][-1] - end) for q, end in zip(start, exact, strict=True)))
    assert errors[0] / errors[1] == pytest.approx(2**5, rel=0.3)


# -- methods added at run time ----------------------------------------------------------------------------------

FILE = """
name = "pendulum"

[parameters]
m = "1 kg"
g = "9.81 m/s^2"
l = "1 m"

[system]
coordinates = {{ x = "m", y = "m" }}
kinetic_energy = "m*(dot(x)^2 + dot(y)^2)/2"
potential_energy = "m*g*y"

[constraints]
rod = "(x^2 + y^2 - l^2)/2 = 0"

[simulation]
initial = {{ x = 0.6, y = -0.8 }}
times = [0, 2]
samples = 21
{how}
"""


def from_file(how: str) -> vn.Trajectory:
    from vinculum.model import loads
    from vinculum.model.examine import equations_of, motion_of

    model = loads(FILE.format(how=how))
    return motion_of(model, equations_of(model))


def test_a_tableau_added_at_run_time_is_known_everywhere(registry):
    from vinculum.model import ModelFileError

    with pytest.raises(ModelFileError, match="'butcher5' is not one of"):
        from_file('method = "butcher5"\nstep = 0.01')
    register(vn.RungeKutta("butcher5", **BUTCHER))
    start = {x: 0.6, sp.Function("y")(x.args[0]): -0.8}
    motion = run(pendulum(), start, TIMES, "butcher5", step=0.01)
    assert difference(motion, run(pendulum(), start, TIMES, vn.RungeKutta("butcher5", step=0.01))) == 0
    assert difference(motion, run(pendulum(), start, TIMES)) < 1e-8
    stored = from_file('method = "butcher5"\nstep = 0.01')
    np.testing.assert_array_equal(stored["x"], motion[x])
    with pytest.raises(ModelFileError, match="needs a fixed step"):
        from_file('method = "butcher5"')
    assert vn.simulation.gain_interval("butcher5", 1e-3, 1e-3, error=1.0, sampled=True)


def test_an_adaptive_method_added_at_run_time_is_known_everywhere(registry):
    from vinculum.model import ModelFileError
    from vinculum.model.schema.schema import schema

    register(DOP853())
    start = {x: 0.6, sp.Function("y")(x.args[0]): -0.8}
    motion = run(pendulum(), start, TIMES, "dop853", tolerance=1e-11)
    assert motion.method == "dop853, adaptive"
    assert difference(motion, run(pendulum(), start, TIMES)) < 1e-8
    assert largest(motion) < 1e-8
    np.testing.assert_array_equal(from_file('method = "dop853"\ntolerance = 1e-11')["x"], motion[x])
    with pytest.raises(ModelFileError, match="chooses its own steps"):
        from_file('method = "dop853"\nstep = 0.01')
    with pytest.raises(vn.VinculumError, match="does not look for events"):
        vn.simulate(pendulum(), start, TIMES, "dop853", events=[vn.Event(x)])
    with pytest.raises(vn.VinculumError, match=r"memory of 'dop853'. Use simulate\(..., stabilization='baumgarte'\)"):
        vn.simulate(pendulum(), start, TIMES, "dop853", stabilization="projection")
    assert "dop853" in str(schema())


def test_a_name_is_given_once(registry):
    with pytest.raises(vn.VinculumError, match="There is already a method 'rk4'"):
        register(vn.RungeKutta("rk4", **BUTCHER))
