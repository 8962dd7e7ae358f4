"""Models for the tests of reports: in the plane, in space, with program constraints, with a promise, meaning harm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from examples import cartesian_pendulum
from vinculum.model.model import Drawing, Model, Segment

MODELS = Path(vn.__file__).parent / "model" / "library"
PAGES = ("beam", "arm", "wheel", "promised", "hostile")
ATTACK = "<script>document.title='owned'</script>"


def beam() -> Model:
    """The ball and beam with its motor: two equilibria, each to be stabilized."""
    return vn.load(MODELS / "ball_and_beam.toml")


def arm() -> Model:
    """The PUMA 560, drawn from its bodies in space."""
    return vn.load(MODELS / "puma560.toml")


def wheel() -> Model:
    """An affine system: reactions as controls."""
    return vn.load(MODELS / "wheel_with_reactions.toml")


def promised() -> Model:
    """A pendulum in Cartesian coordinates by Euler's method, its rod held within a promised bound."""
    x, y, m, g, l = (getattr(cartesian_pendulum, name) for name in ("x", "y", "m", "g", "l"))
    system = replace(cartesian_pendulum.system(), parameters={m: 1.0, g: 9.81, l: 1.0}, name="pendulum on a rod")
    how = {"method": "euler", "step": 1e-4, "stabilization": vn.Guaranteed(1e-3)}
    drawing = Drawing({"pivot": (0, 0), "bob": (x, y)}, [Segment(["pivot", "bob"], name="rod")], traces=["bob"])
    return Model(system, simulation={"initial": {x: 0.6, y: -0.8}, "times": (0, 2), **how}, drawing=drawing)


def hostile() -> Model:
    """Every text that a user writes tries to run a script."""
    theta = dynamicsymbols("theta")
    m, g, b = sp.symbols("m g <b>")
    system = vn.System(
        [theta],
        m * theta.diff() ** 2 / 2 + b * theta.diff() ** 2,
        -m * g * sp.cos(theta),
        parameters={m: 1, g: 9.81, b: 0.1},
        name=ATTACK,
    )
    points = {ATTACK: (0, 0), "bob": (sp.sin(theta), -sp.cos(theta))}
    return Model(
        system,
        simulation={"initial": {theta: 1.0}, "times": (0, 5)},
        equilibrium={},
        control={"state_weights": [1, 1]},
        drawing=Drawing(points, [Segment([ATTACK, "bob"], name=ATTACK)], traces=[ATTACK]),
        description=f"{ATTACK}\n\n</style></script><img src=x onerror=\"document.title='owned'\">",
        meanings={m: ATTACK},
        units={m: ATTACK},
    )
