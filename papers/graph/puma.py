"""The PUMA 560 that the paper names, as examples/puma560.py defines it."""

from __future__ import annotations

from functools import cache

import vinculum as vn
from examples import puma560
from examples.puma560 import LINKS, q

NOMINAL = tuple(puma560.NOMINAL.values())


@cache
def puma(friction: bool = False) -> vn.BodyTree:
    return puma560.tree(friction)


@cache
def dynamics(friction: bool = False) -> vn.bodies.Dynamics:
    return vn.bodies.dynamics(puma(friction))
