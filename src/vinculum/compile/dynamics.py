"""The dynamics of a tree of bodies as machine code: one state, or many side by side in SIMD lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.lanes import Lanes, lanes, native_width
from vinculum.derive.bodies import Recursion, recursion
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.energies import joint_forces, spring_potential
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.describe.bodies.numbers import with_numbers
from vinculum.errors import ModelError
from vinculum.graph import ZERO, Node, gradient, jacobian, lift, substitute, symbol, vector
from vinculum.shown import html

Array = np.ndarray


class Dynamics:
    """M(q) q̈ + h(q, q̇) = τ + (springs, dampers, friction) of a `BodyTree`, compiled.

    States are arrays (n) or (rows, n) in the order of ``coordinates``; many rows run in SIMD lanes and come fastest as
    Fortran-ordered arrays (each coordinate contiguous). ``method`` is "composite", "articulated" or "auto" (by size).
    With ``fold=True`` the values of parameters are written into the code; with False they are run-time values that
    can be changed by ``parameters``, at the price of more operations.

    >>> from vinculum import Body, BodyTree
    >>> arm = Dynamics(BodyTree([Body("arm", None, axis=(0, -1, 0), mass=2, center_of_mass=(0.5, 0, 0), inertia=0.1)]))
    >>> arm.mass_matrix([0.3]).round(12), arm.forward([0.0], [0.0], [0.0]).round(3)
    (array([[0.6]]), array([-16.35]))
    """

    def __init__(self, tree: BodyTree, method: str = "auto", fold: bool = True, regroup: bool = True) -> None:
        if method not in ("auto", "composite", "articulated"):
            raise ModelError("the dynamics cannot be compiled", [f"method={method!r} is not known."])
        self.tree = with_numbers(tree) if fold else tree
        self.method, self.regroup = method, regroup
        self.coordinates = tree.coordinates
        self.parameters = dict(self.tree.parameters)
        n = len(self.coordinates)
        self._q, self._v = (tuple(map(symbol, keys)) for keys in (tree.coordinates, tree.velocities))
        self._u = tuple(symbol(("tau", i)) for i in range(n))
        self._a = tuple(symbol(("acceleration", i)) for i in range(n))
        self._time = symbol(tree.time)

    @cached_property
    def recursion(self) -> Recursion:
        """The recursions behind the code."""
        return recursion(self.tree, self.regroup)

    # -- the equations as nodes ------------------------------------------------------------------------------

    @cached_property
    def passive(self) -> Sequence[Node]:
        """Forces of springs, dampers and friction."""
        slope = gradient(spring_potential(self.tree), self._q)
        off = {symbol(u): ZERO for u in self.tree.inputs}
        given = joint_forces(self.tree)
        forces = substitute([given.get(q, ZERO) for q in self.coordinates], off)
        return [force - k for force, k in zip(forces, slope, strict=True)]

    @cached_property
    def forward_nodes(self) -> list[Node]:
        """q̈ of (q, q̇, τ)."""
        applied = [u + force for u, force in zip(self._u, self.passive, strict=True)]
        return self.recursion.accelerations(applied, {}, self.method)[0]

    @cached_property
    def inverse_nodes(self) -> list[Node]:
        """τ of (q, q̇, q̈)."""
        return list(self.recursion.inverse_dynamics(self._a) - vector(self.passive))

    # -- numbers ---------------------------------------------------------------------------------------------

    def forward(self, q: Any, v: Any, tau: Any, t: float = 0.0) -> Array:
        """q̈ from the joint forces τ."""
        return self._run("forward", lambda: self.forward_nodes, (self._q, self._v, self._u), (q, v, tau), t)

    def inverse(self, q: Any, v: Any, a: Any, t: float = 0.0) -> Array:
        """The joint forces τ for accelerations q̈."""
        return self._run("inverse", lambda: self.inverse_nodes, (self._q, self._v, self._a), (q, v, a), t)

    def bias(self, q: Any, v: Any, t: float = 0.0) -> Array:
        """h(q, q̇) with gravity and the motion of the base, without passive forces."""
        return self._run("bias", lambda: list(self.recursion.bias()), (self._q, self._v), (q, v), t)

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (n, n) or (rows, n, n)."""
        flat = self._run("mass", lambda: list(self.recursion.mass_matrix().ravel()), (self._q,), (q,))
        n = len(self._q)
        return flat.reshape(*flat.shape[:-1], n, n)

    def inverse_derivatives(self, q: Any, v: Any, a: Any, t: float = 0.0) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂q̇, each (n, n) or (rows, n, n)."""

        def nodes() -> list[Node]:
            return list(jacobian(self.inverse_nodes, (*self._q, *self._v)).ravel())

        flat = self._run("inverse derivatives", nodes, (self._q, self._v, self._a), (q, v, a), t)
        n = len(self._q)
        both = flat.reshape(*flat.shape[:-1], n, 2 * n)
        return both[..., :n], both[..., n:]

    def forward_derivatives(self, q: Any, v: Any, tau: Any, t: float = 0.0) -> tuple[Array, Array, Array]:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ by -M⁻¹ ∂τ/∂(q, q̇) at the motion that τ makes (Carpentier, Mansard 2018).

        Not for ball joints, whose four coordinates are bound by |q| = 1.
        """
        if any(len(hinge.q) == 4 for hinge in self.recursion.hinges):
            raise ModelError("no derivatives", ["a quaternion has no free coordinates; use inverse_derivatives."])
        a = self.forward(q, v, tau, t)
        by_q, by_v = self.inverse_derivatives(q, v, a, t)
        inverse = np.linalg.inv(self.mass_matrix(q))
        return -inverse @ by_q, -inverse @ by_v, inverse

    def position(self, body: str, q: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """Where a point of a body is, (3) or (rows, 3)."""
        place = nodes_of(point)
        return self._run(("position", body, place), lambda: self._at(body, place, 0), (self._q,), (q,), t)

    def rotation(self, body: str, q: Any, t: float = 0.0) -> Array:
        """The axes of a body as columns, (3, 3) or (rows, 3, 3)."""
        motion = self.tree.motion_of(body)
        flat = self._run(("rotation", body), lambda: [lift(x) for row in motion.R for x in row], (self._q,), (q,), t)
        return flat.reshape(*flat.shape[:-1], 3, 3)

    def velocity(self, body: str, q: Any, v: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """The velocity of a point of a body."""
        place = nodes_of(point)
        key = ("velocity", body, place)
        return self._run(key, lambda: self._at(body, place, 1), (self._q, self._v), (q, v), t)

    def jacobian(self, body: str, q: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """J (3, n) or (rows, 3, n) of the velocity of a point."""
        place = nodes_of(point)
        key = ("jacobian", body, place)
        flat = self._run(key, lambda: list(jacobian(self._at(body, place, 1), self._v).ravel()), (self._q,), (q,), t)
        return flat.reshape(*flat.shape[:-1], 3, len(self._q))

    def _at(self, body: str, point: Sequence[Node], what: int) -> list[Node]:
        return [lift(x) for x in self.tree.motion_of(body).at(point)[what]]

    # -- compiled code ---------------------------------------------------------------------------------------

    def code(self, nodes: Sequence[Node], inputs: Sequence[Node], width: int | None = None) -> Lanes:
        """Machine code of nodes; the time is the last input, parameters are those of the tree."""
        keys = [symbol(p) for p in self.parameters]
        return lanes([*inputs, self._time], keys, nodes, width or native_width())

    def forward_code(self, width: int = 1) -> Lanes:
        """The compiled forward dynamics, inputs (q, q̇, τ, t), for loops of one's own."""
        return self.code(self.forward_nodes, (*self._q, *self._v, *self._u), width)

    @cached_property
    def _nodes(self) -> dict[Any, list[Node]]:
        return {}

    def _run(
        self,
        key: Any,
        nodes: Callable[[], list[Node]],
        groups: Sequence[Sequence[Node]],
        given: Sequence[Any],
        t: Any = 0.0,
    ) -> Array:
        outputs = self._nodes.get(key)
        if outputs is None:
            outputs = self._nodes[key] = nodes()
        arrays = [np.asarray(x, dtype=float) for x in given]
        rows = np.broadcast_shapes(*(x.shape[:-1] for x in arrays), np.shape(t))
        self._refuse(arrays, groups)
        count = int(np.prod(rows, dtype=int))
        x = np.empty((sum(len(group) for group in groups) + 1, count))
        start = 0
        for array, group in zip(arrays, groups, strict=True):
            x[start : start + len(group)] = np.broadcast_to(array, (*rows, len(group))).reshape(count, -1).T
            start += len(group)
        x[-1] = np.broadcast_to(np.asarray(t, dtype=float), rows).ravel()
        code = self.code(outputs, [node for group in groups for node in group], 1 if count == 1 else None)
        values = np.array(list(self.parameters.values()), dtype=float)
        return code(x, values).T.reshape(*rows, len(outputs))

    def _refuse(self, arrays: Sequence[Array], groups: Sequence[Sequence[Node]]) -> None:
        wrong = [f"found shape {x.shape}, expected (..., {len(g)})" for x, g in zip(arrays, groups, strict=True)
                 if x.ndim == 0 or x.shape[-1] != len(g)]  # fmt: skip
        if wrong:
            names = ", ".join(str(q.func) for q in self.coordinates)
            raise ModelError("the state has the wrong shape", [*wrong, f"the coordinates are {names}."])

    def with_parameters(self, parameters: Mapping[sp.Symbol, float]) -> Dynamics:
        """The same code at other values of run-time parameters."""
        strangers = [str(p) for p in parameters if p not in self.parameters]
        if strangers:
            raise ModelError("no such parameters", [f"{', '.join(strangers)}: not run-time. Use fold=False."])
        other = Dynamics.__new__(Dynamics)
        other.__dict__.update(self.__dict__)
        other.parameters = self.parameters | dict(parameters)
        return other

    _repr_html_ = html


def dynamics(tree: BodyTree, method: str = "auto", *, fold: bool = True) -> Dynamics:
    """The dynamics of a tree as machine code: forward, inverse, mass matrix, bias, derivatives, kinematics."""
    return Dynamics(tree, method, fold)
