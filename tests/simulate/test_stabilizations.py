"""A stabilization is an object: its options, the registry, and stabilizations that are added at run time."""

from __future__ import annotations

import importlib
import pickle
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import vinculum as vn
from simulate.models import difference, hanging, largest, pendulum, run
from simulate.test_methods import TIMES, from_file
from vinculum.model import ModelFileError
from vinculum.model.schema.schema import reference, schema
from vinculum.options import KINDS, option
from vinculum.simulation import STABILIZATIONS, Stabilization, register_stabilization


@pytest.fixture
def registry():
    """The registry, as it was before when the test is over."""
    before = dict(STABILIZATIONS)
    yield STABILIZATIONS
    STABILIZATIONS.clear()
    STABILIZATIONS.update(before)


@dataclass(frozen=True)
class Settling(Stabilization):
    """Residuals fall to 2 % within a settling time; without one, at the rate of the method."""

    name = "settling"
    summary = "Feedback with a settling time."

    time: float | None = option("number", "Time in which residuals fall to 2 %.")

    def gains(self, constraint, order, rate, method_order):
        decay = rate if self.time is None else 4 / self.time
        return [decay] if order == 1 else [decay**2, 2 * decay]


@dataclass(frozen=True)
class Sharp(Settling):
    """The same, with a needed option."""

    name = "sharp"
    time: float = option("number", "Time in which residuals fall to 2 %.", needed=True)


# -- what every stabilization offers ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STABILIZATIONS.values(), ids=STABILIZATIONS)
def test_every_stabilization_describes_itself(kind):
    assert kind.summary.endswith(".")
    assert kind.__doc__
    for chosen in kind.options().values():
        assert chosen.kind in KINDS
        assert chosen.about.endswith(".")


@pytest.mark.parametrize("asked", [vn.Baumgarte({"rod": 2.0}), vn.Guaranteed(1e-3), vn.Sampled(1.0), vn.Projection()])
def test_stabilizations_are_copied_and_sent(asked):
    assert deepcopy(asked) == asked
    assert pickle.loads(pickle.dumps(asked)) == asked


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: vn.Baumgarte(alfa=1), "Baumgarte has no option alfa. Did you mean alpha. Its options are rate, alpha"),
        (lambda: vn.Sampled(alpha=1), "Sampled has no option alpha. Its option is rate."),
        (lambda: vn.Projection(rate=1), "Projection has no option rate. It has none."),
        (lambda: vn.Guaranteed(), "Guaranteed needs epsilon. The guaranteed accuracy."),
        (lambda: vn.Sampled(1, 2), "got 2 values without a name; it takes only rate"),
        (lambda: vn.Sampled(1, rate=2), "got rate twice"),
    ],
)
def test_an_option_that_a_stabilization_does_not_have_is_refused(build, said):
    with pytest.raises(vn.VinculumError, match=said):
        build()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("baumgart", "'baumgart' is not known. Did you mean baumgarte.*'sampled'.*Guaranteed\\(epsilon=...\\)"),
        (3, "stabilization=3 is not known"),
        ("guaranteed", "Guaranteed needs epsilon"),
    ],
)
def test_an_unknown_stabilization_is_refused(asked, said):
    with pytest.raises(vn.VinculumError, match=said):
        vn.simulate(pendulum(), hanging(), (0, 1), stabilization=asked)


# -- stabilizations added at run time --------------------------------------------------------------------------


def test_a_stabilization_added_at_run_time_is_known_everywhere(registry, monkeypatch):
    with pytest.raises(ModelFileError, match="'settling' is not one of"):
        from_file('stabilization = "settling"')
    register_stabilization(Settling)
    motion = run(pendulum(), {"x": 0.6, "y": -0.8}, TIMES, stabilization=Settling(time=0.5))
    assert motion.stabilization == "settling, gains as given"
    assert largest(motion) < 1e-12
    same = run(pendulum(), {"x": 0.6, "y": -0.8}, TIMES, stabilization=vn.Baumgarte(8.0))
    assert difference(motion, same) == 0
    stored = from_file('stabilization = { kind = "settling", time = 0.5 }')
    np.testing.assert_array_equal(stored["x"], motion["x"])
    assert from_file('stabilization = "settling"').stabilization.endswith("(chosen)")
    assert "settling" in str(schema())
    assert "Time in which residuals fall to 2 %. Kinds: settling." in reference()
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "hooks")
    row = '| `"settling"`, `vn.Settling(time=...)` | Feedback with a settling time. |  |'
    assert row in importlib.import_module("stabilizations").table()


def test_a_needed_option_must_be_in_the_file(registry):
    register_stabilization(Sharp)
    with pytest.raises(ModelFileError, match=r"sharp needs time\. Time in which residuals fall to 2 %"):
        from_file('stabilization = { kind = "sharp" }')
    with pytest.raises(ModelFileError, match="'sharp' is not one of none, baumgarte, sampled, projection"):
        from_file('stabilization = "sharp"')


def test_a_method_accepts_a_stabilization_by_how_it_acts(registry):
    @dataclass(frozen=True)
    class Held(Settling):
        name = "held"
        acts = "held"

    register_stabilization(Held)
    motion = run(pendulum(), hanging(), TIMES, "rk4", step=0.01, stabilization=Held(time=0.5))
    assert difference(motion, run(pendulum(), hanging(), TIMES, "rk4", step=0.01, stabilization=vn.Sampled(8.0))) == 0
    with pytest.raises(vn.VinculumError, match=r"'taylor' has none. Use simulate\(..., stabilization='baumgarte'\)"):
        vn.simulate(pendulum(), hanging(), (0, 1), stabilization="held")


def test_a_name_is_given_once(registry):
    @dataclass(frozen=True)
    class Other(Settling):
        name = "sampled"

    with pytest.raises(vn.VinculumError, match="already a stabilization 'sampled'"):
        register_stabilization(Other)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [({"summary": None}, "needs the class attribute summary"), ({"acts": "x"}, "'continuous', 'held'")],
)
def test_an_incomplete_stabilization_is_refused(registry, attributes, said):
    with pytest.raises(vn.VinculumError, match=said):
        register_stabilization(dataclass(frozen=True)(type("Odd", (Settling,), {"name": "odd", **attributes})))
