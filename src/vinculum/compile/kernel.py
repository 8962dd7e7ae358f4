"""A tree as the table that looped recursions run over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from vinculum.compile.llvm import TOGETHER
from vinculum.compile.looped import GROUND_INPUTS, GROUPS, Code, code
from vinculum.compile.simd import pad
from vinculum.derivation.bodies import Recursion
from vinculum.derivation.bodies.looped import Pattern, numbers, pattern
from vinculum.describe.bodies.joints import Elementary
from vinculum.describe.bodies.kinematics import node_of
from vinculum.describe.bodies.transforms import flat
from vinculum.graph import ZERO, Node, Routine, evaluate, lift, symbol

_NONE = (ZERO,) * 5


def ground_nodes(steps: Recursion) -> list[Node]:
    """The nine numbers of the base as nodes of time, in its axes: Ω_0, dΩ_0/dt, acceleration minus gravity."""
    return [lift(x) for x in (*steps.base.omega, *steps.base.alpha, *steps.base.a)]


class Kernel:
    """Forward or inverse dynamics of a tree, or derivatives of the latter, by loops over its hinges.

    ``kernel(x)`` takes x (inputs, rows): coordinates, velocities, forces (accelerations for "inverse") in the user's
    order, for "tangent" then the direction (δθ, δν, δν̇), then the nine numbers of the base. ``passive`` adds
    springs, damping and friction to the forces.
    """

    def __init__(self, steps: Recursion, what: str, passive: bool, values: Mapping[Node, float]) -> None:
        self.what, self.coordinates = what, len(steps.coordinates)
        resisting = _passive(steps) if passive else {}
        self.patterns, kinds = _patterns(steps, bool(resisting))
        self.shape = _shape(steps, kinds, self.coordinates)
        norm = lift(steps.tree.norm_inertia)
        rows = [
            numbers(hinge, self.patterns[k], resisting.get(hinge.q[0], _NONE), norm)
            for hinge, k in zip(steps.hinges, kinds, strict=True)
        ]
        self.table = _table(rows, values)
        self.shape[3] = self.table.shape[1]
        self._codes: dict[int, Code] = {}

    def code(self, width: int) -> Code:
        """The machine code, which lives as long as the kernel."""
        if width not in self._codes:
            self._codes[width] = code(self.what, self.patterns, width)
        return self._codes[width]

    def call_line(self, x: str, out: str) -> str:
        """The line of LLVM that runs it on one state."""
        addresses = self.code(1).address, self.shape.ctypes.data, self.table.ctypes.data
        f, shape, table = (f"inttoptr (i64 {address} to ptr)" for address in addresses)
        return f"  call void {f}(i64 1, ptr {x}, ptr {shape}, ptr {table}, ptr {out})"

    def __call__(self, x: np.ndarray, width: int = 1) -> np.ndarray:
        """Results (coordinates, rows)."""
        rows = x.shape[1]
        x = pad(x, width)
        assert len(x) == GROUPS[self.what] * self.coordinates + GROUND_INPUTS
        out = np.empty((self.coordinates, x.shape[1]))
        arrays = (array.ctypes.data for array in (x, self.shape, self.table, out))
        self.code(width).call(x.shape[1], *arrays)
        return out[:, :rows]


_KNOWN: WeakKeyDictionary[Routine, Kernel] = WeakKeyDictionary()


def kernel_of(routine: Routine) -> Kernel:
    """The forward dynamics of a routine, with the numbers of its tree."""
    kernel = _KNOWN.get(routine)
    if kernel is None:
        kernel = _KNOWN[routine] = Kernel(routine.machine, "forward", False, {})
    return kernel


def run_routine(routine: Routine, args: Sequence[float]) -> list[float]:
    """The results of a routine at one state."""
    return kernel_of(routine)(np.array(args, dtype=float)[:, None])[:, 0].tolist()


def _patterns(steps: Recursion, passive: bool) -> tuple[tuple[Pattern, ...], list[int]]:
    """The patterns of a tree and the pattern of each hinge."""
    common: dict[type[Elementary], list[tuple[bool, ...]]] = {}
    for hinge in steps.hinges:
        there = (*(x is not ZERO for x in flat(hinge.inertia)), hinge.rotor is not ZERO)
        common.setdefault(type(hinge.joint), []).append(there)
    union = {}
    for kind, rows in common.items():
        *inertia, rotor = map(any, zip(*rows, strict=True))
        union[kind] = tuple(inertia), rotor
    made = [pattern(h, *union[type(h.joint)], passive=passive) for h in steps.hinges]
    different = tuple(sorted(set(made), key=repr))
    return different, [different.index(p) for p in made]


def _shape(steps: Recursion, kinds: Sequence[int], coordinates: int) -> np.ndarray:
    links = [(hinge.parent + 1, k, rows[0]) for hinge, k, rows in zip(steps.hinges, kinds, steps.places, strict=True)]
    turning = [i for i, hinge in enumerate(steps.hinges) if hinge.joint.turns]
    turning += turning[-1:] * (-len(turning) % TOGETHER)
    return np.array([len(links), coordinates, len(turning), 0, *(x for link in links for x in link), *turning])


def _table(rows: Sequence[Sequence[Node]], values: Mapping[Node, float]) -> np.ndarray:
    width = max(len(row) for row in rows)
    padded = [x for row in rows for x in (*row, *[ZERO] * (width - len(row)))]
    return np.array(evaluate(padded, values), dtype=float).reshape(len(rows), width)


def _passive(steps: Recursion) -> dict[Node, tuple[Node, ...]]:
    """Damping, stiffness, rest position, and friction in both directions of every coordinate, if any."""
    hinges = {q: hinge for hinge in steps.hinges for q in hinge.q}
    found: dict[Node, tuple[Node, ...]] = {}
    for body in steps.tree.bodies:
        for i, q in enumerate(body.coordinates):
            hinge = hinges[symbol(q)]
            if not hinge.joint.axial:
                continue
            dry = body.each("friction")[i]
            both = dry if isinstance(dry, (list, tuple)) else (dry, dry)
            row = tuple(node_of(x) for x in (*(body.each(key)[i] for key in ("damping", "stiffness", "rest")), *both))
            found[hinge.q[0]] = row
    return found if any(x is not ZERO for row in found.values() for x in row) else {}
