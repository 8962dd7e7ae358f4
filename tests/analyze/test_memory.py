"""What was found about the structure of equations is found once; records stay small when they are pickled."""

from __future__ import annotations

import pickle

import numpy as np

import vinculum as vn
from examples import rolling_disc as disc
from vinculum.analyze.descriptor import descriptor


def upright(equations, speed):
    given = {disc.theta: np.pi / 2, disc.psi.diff(): 0, disc.phi.diff(): speed}
    return vn.linearize(equations, vn.steady(equations, given, starts=0))


def test_a_second_verdict_asks_nothing_new():
    """At another speed the structure is the same; the answers are those of equations that were never asked before."""
    equations = vn.derive(disc.system())
    first = vn.stability(upright(equations, 5.0))
    known = len(descriptor(equations).memory)
    slow = vn.stability(upright(equations, 3.0))
    assert len(descriptor(equations).memory) == known
    assert (first.kind, slow.kind) == ("stable", "unstable")
    assert str(vn.stability(upright(vn.derive(disc.system()), 3.0))) == str(slow)


def test_pickled_models_carry_no_memory():
    linear = upright(vn.derive(disc.system()), 5.0)
    before = len(pickle.dumps(linear))
    verdict = str(vn.stability(linear))
    again = pickle.loads(pickle.dumps(linear))
    assert len(pickle.dumps(linear)) < 2 * before
    assert str(vn.stability(again)) == verdict
