"""The dynamics of a tree of bodies as machine code: one state, or many side by side in SIMD lanes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from vinculum.compile.kernel import Kernel, ground_nodes
from vinculum.compile.machine import native_width
from vinculum.compile.simd import SimdFunction, simd_function
from vinculum.derivation.bodies import Recursion
from vinculum.derivation.bodies.recursion import ARTICULATED_FROM, LOOPED_FROM
from vinculum.derivation.bodies.tree_equations import TreeEquations
from vinculum.describe.bodies import BodyTree
from vinculum.describe.bodies.kinematics import nodes_of
from vinculum.describe.bodies.tree import with_numbers
from vinculum.errors import ModelError, SingularError
from vinculum.frozen import FrozenMapping
from vinculum.graph import Node, symbol
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows

Array = np.ndarray
METHODS = ("auto", "composite", "articulated", "looped")


class Dynamics:
    """M(q) q̈ + h(q, q̇) = τ + (springs, dampers, friction) of a `BodyTree`, compiled.

    States are arrays (n) or (rows, n) in the order of ``coordinates``; many rows run in SIMD lanes and are fastest as
    Fortran-ordered arrays (each coordinate contiguous). ``method`` is "composite" (mass matrix and factorization),
    "articulated", "looped" (articulated bodies as loops over the hinges instead of straight-line code) or "auto", which
    chooses by size; ``chosen`` is the method in use. With ``fold=True`` the values of parameters are written into the
    code; with False they are run-time values that `with_parameters` changes, at the cost of more operations.

    One object may be used from several threads. A pickled object is compiled again when it is loaded.

    >>> from vinculum import Body, BodyTree
    >>> arm = Dynamics(BodyTree([Body("arm", None, axis=(0, -1, 0), mass=2, center_of_mass=(0.5, 0, 0), inertia=0.1)]))
    >>> arm.mass_matrix([0.3]).round(12), arm.forward([0.0], [0.0], [0.0]).round(3)
    (array([[0.6]]), array([-16.35]))
    >>> arm
    Dynamics of "tree"
      coordinates  1
      method       composite (chosen: at most 8 velocities)
      parameters   folded in
    """

    def __init__(
        self, tree: BodyTree, method: str = "auto", fold: bool = True, regroup: bool = True, *,
        parameters: Mapping[sp.Symbol, float] | None = None, equations: TreeEquations | None = None,
    ) -> None:  # fmt: skip
        method = _check_method(method)
        if not tree.coordinates:
            raise ModelError(f"the tree {tree.name!r} cannot move", ["all joints are fixed."])
        self.tree = with_numbers(tree) if fold else tree
        self.method, self.regroup, self.coordinates = method, regroup, tree.coordinates
        self.parameters = FrozenMapping(self.tree.parameters if parameters is None else parameters)
        self.equations = equations or TreeEquations(self.tree, regroup)
        self._kernels: dict[tuple[str, bool], Kernel] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (self.tree, self.method, self.regroup, self.parameters)

    @property
    def recursion(self) -> Recursion:
        """The recursions behind the code."""
        return self.equations.recursion

    @cached_property
    def chosen(self) -> str:
        """The method in use."""
        if self.method != "auto":
            return self.method
        size = self.recursion.size
        return "composite" if size <= ARTICULATED_FROM else "articulated" if size <= LOOPED_FROM else "looped"

    def __repr__(self) -> str:
        limits = {"composite": f"at most {ARTICULATED_FROM}", "articulated": f"at most {LOOPED_FROM}",
                  "looped": f"more than {LOOPED_FROM}"}  # fmt: skip
        why = f" (chosen: {limits[self.chosen]} velocities)" if self.method == "auto" else ""
        run_time = ", ".join(map(str, self.parameters))
        rows = {
            "coordinates": str(len(self.coordinates)),
            "method": self.chosen + why,
            "parameters": f"{run_time} at run time" if run_time else "folded in",
        }
        return labelled_rows(f'Dynamics of "{self.tree.name}"', rows)

    # -- numbers ---------------------------------------------------------------------------------------------

    def forward(self, q: Any, v: Any, tau: Any, t: float = 0.0) -> Array:
        """q̈ from the joint forces τ."""
        if self.chosen == "looped":
            found = self._looped("forward", True, (q, v, tau), t)
        else:
            e = self.equations
            found = self._run(e.forward(self.chosen), (e.q, e.v, e.u), (q, v, tau), t)
        if not np.all(np.isfinite(found)) and all(np.all(np.isfinite(x)) for x in (q, v, tau, t)):
            raise SingularError(
                f"The accelerations of {self._undetermined(q)} are not determined at this state: the mass matrix is "
                "singular. Give mass or inertia to the bodies on these joints."
            )
        return found

    def _undetermined(self, q: Any) -> str:
        """The coordinates in the directions without inertia, at the first given state."""
        M = self.mass_matrix(np.asarray(q, dtype=float).reshape(-1, len(self.equations.q))[0])
        sizes, directions = np.linalg.eigh(M)
        idle = np.abs(directions[:, sizes <= max(sizes[0], 1e-12 * sizes[-1])]).max(axis=1) > 1e-2
        return ", ".join(str(x.func) for x, is_idle in zip(self.coordinates, idle, strict=True) if is_idle)

    def inverse(self, q: Any, v: Any, a: Any, t: float = 0.0) -> Array:
        """The joint forces τ for accelerations q̈."""
        if self.chosen == "looped":
            return self._looped("inverse", True, (q, v, a), t)
        e = self.equations
        return self._run(e.inverse, (e.q, e.v, e.a), (q, v, a), t)

    def bias(self, q: Any, v: Any, t: float = 0.0) -> Array:
        """h(q, q̇) with gravity and the motion of the base, without passive forces."""
        if self.chosen == "looped":
            return self._looped("inverse", False, (q, v, np.zeros(len(self.equations.q))), t)
        e = self.equations
        return self._run(e.bias, (e.q, e.v), (q, v), t)

    def mass_matrix(self, q: Any) -> Array:
        """M(q), (n, n) or (rows, n, n)."""
        n = len(self.equations.q)
        if self.chosen == "looped":
            return self._looped_mass_matrix(np.asarray(q, dtype=float))
        flat = self._run(self.equations.mass_matrix, (self.equations.q,), (q,))
        return flat.reshape(*flat.shape[:-1], n, n)

    def _looped_mass_matrix(self, q: Array) -> Array:
        """Column by column: the forces that a unit acceleration needs at rest without gravity, and μ q qᵀ."""
        self._refuse([q], [self.equations.q])
        n = len(self.equations.q)
        units = np.broadcast_to(np.eye(n), (*q.shape[:-1], n, n))
        states = np.broadcast_to(q[..., None, :], units.shape)
        M = self._looped("inverse", False, (states, np.zeros(n), units), 0.0, at_rest=True)
        for hinge, rows in zip(self.recursion.hinges, self.recursion.places, strict=True):
            if len(hinge.q) == 4:
                x = q[..., rows]
                M[..., np.ix_(rows, rows)[0], rows] += self.tree.norm_inertia * x[..., :, None] * x[..., None, :]
        return (M + np.swapaxes(M, -1, -2)) / 2

    def forward_derivatives(self, q: Any, v: Any, tau: Any, t: float = 0.0) -> tuple[Array, Array, Array]:
        """∂ν̇/∂q, ∂ν̇/∂ν, ∂ν̇/∂τ by -M⁻¹ ∂τ/∂(q, ν) at the motion caused by τ (Carpentier, Mansard 2018).

        For joints without quaternions ν = q̇ and these are the derivatives of q̈. A ball joint (also that of a free
        joint) has three rows and columns, not four: its velocity is ω = 2 E(q) q̇ in body axes, the change of
        its coordinates is a small rotation δθ in body axes, δq = ½ Eᵀ(q) δθ at constant ω, and its forces are the
        moments in body axes, Q = 2 Eᵀ τ. These are the conventions of Pinocchio's ``computeABADerivatives``.
        """
        a = self.forward(q, v, tau, t)
        by_q, by_v, M = self.inverse_derivatives(q, v, a, t)
        inverse = np.linalg.inv(M)
        return -inverse @ by_q, -inverse @ by_v, inverse

    def inverse_derivatives(self, q: Any, v: Any, a: Any, t: float = 0.0) -> tuple[Array, Array, Array]:
        """∂τ/∂q, ∂τ/∂ν and M = ∂τ/∂ν̇, each in the velocities ν of the joints (see `forward_derivatives`)."""
        if self.chosen == "looped":
            return self._looped_tangents(q, v, a, t)
        e = self.equations
        flat = self._run(e.derivatives, (e.q, e.v, e.a), (q, v, a), t)
        size = self.recursion.size
        three = flat.reshape(*flat.shape[:-1], size, 3 * size)
        return three[..., :size], three[..., size : 2 * size], three[..., 2 * size :]

    def _looped_tangents(self, q: Any, v: Any, a: Any, t: Any) -> tuple[Array, Array, Array]:
        """Column by column, with directions in parallel SIMD lanes."""
        x, rows = self._columns((self.equations.q,) * 3, (q, v, a), t)
        places, n = self.equations.tangents.places, len(self.equations.q)
        size = len(places)
        directions = np.zeros((3 * n, 3 * size))
        for group in range(3):
            directions[group * n + np.array(places), group * size + np.arange(size)] = 1.0
        base = self.code(ground_nodes(self.recursion), [], 1)(x[-1:], self._values)
        found = np.empty((x.shape[1], size, 3 * size))
        for i in range(x.shape[1]):
            state, ground = (np.repeat(part[:, i : i + 1], 3 * size, axis=1) for part in (x[:-1], base))
            found[i] = self.kernel("tangent")(np.concatenate([state, directions, ground]), native_width())[places]
        three = found.reshape(*rows, size, 3, size)
        return three[..., 0, :], three[..., 1, :], three[..., 2, :]

    def position(self, body: str, q: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """The position of a point of a body, (3) or (rows, 3)."""
        return self._run(self.equations.position(body, nodes_of(point)), (self.equations.q,), (q,), t)

    def rotation(self, body: str, q: Any, t: float = 0.0) -> Array:
        """The axes of a body as columns, (3, 3) or (rows, 3, 3)."""
        flat = self._run(self.equations.rotation(body), (self.equations.q,), (q,), t)
        return flat.reshape(*flat.shape[:-1], 3, 3)

    def velocity(self, body: str, q: Any, v: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """The velocity of a point of a body."""
        e = self.equations
        return self._run(e.velocity(body, nodes_of(point)), (e.q, e.v), (q, v), t)

    def jacobian(self, body: str, q: Any, point: Sequence[Any] = (0, 0, 0), t: float = 0.0) -> Array:
        """J (3, n) or (rows, 3, n) of the velocity of a point."""
        flat = self._run(self.equations.jacobian(body, nodes_of(point)), (self.equations.q,), (q,), t)
        return flat.reshape(*flat.shape[:-1], 3, len(self.equations.q))

    def angular_velocity(self, body: str, q: Any, v: Any, t: float = 0.0) -> Array:
        """The angular velocity of a body in inertial axes, (3) or (rows, 3)."""
        e = self.equations
        return self._run(e.angular_velocity(body), (e.q, e.v), (q, v), t)

    def angular_jacobian(self, body: str, q: Any, t: float = 0.0) -> Array:
        """J (3, n) or (rows, 3, n) of the angular velocity of a body in inertial axes."""
        flat = self._run(self.equations.angular_jacobian(body), (self.equations.q,), (q,), t)
        return flat.reshape(*flat.shape[:-1], 3, len(self.equations.q))

    # -- compiled code ---------------------------------------------------------------------------------------

    def code(self, nodes: Sequence[Node], inputs: Sequence[Node], width: int | None = None) -> SimdFunction:
        """Machine code of nodes; the time is the last input, parameters are those of the tree."""
        keys = [symbol(p) for p in self.parameters]
        return simd_function([*inputs, self.equations.time], keys, nodes, width or native_width())

    def forward_code(self, width: int = 1) -> SimdFunction:
        """The forward dynamics as straight-line code with inputs (q, q̇, τ, t), for use in the user's loops."""
        e = self.equations
        return self.code(e.forward(self.chosen), (*e.q, *e.v, *e.u), width)

    def kernel(self, what: str = "forward", passive: bool = True) -> Kernel:
        """The looped "forward" or "inverse" dynamics with the current values of parameters."""
        key = what, passive
        if key not in self._kernels:
            values = {symbol(p): float(x) for p, x in self.parameters.items()}
            self._kernels[key] = Kernel(self.recursion, what, passive, values)
        return self._kernels[key]

    def _looped(self, what: str, passive: bool, given: Sequence[Any], t: Any, at_rest: bool = False) -> Array:
        x, rows = self._columns((self.equations.q,) * 3, given, t)
        base = np.zeros((9, x.shape[1]))
        if not at_rest:
            base = self.code(ground_nodes(self.recursion), [], 1)(x[-1:], self._values)
        width = 1 if x.shape[1] == 1 else native_width()
        return self.kernel(what, passive)(np.concatenate([x[:-1], base]), width).T.reshape(*rows, len(self.equations.q))

    @property
    def _values(self) -> Array:
        return np.array(list(self.parameters.values()), dtype=float)

    def _columns(self, groups: Sequence[Sequence[Node]], given: Sequence[Any], t: Any) -> tuple[Array, tuple[int, ...]]:
        """The given arrays and the time as (inputs, rows), and the shape of the rows."""
        arrays = [np.asarray(x, dtype=float) for x in given]
        self._refuse(arrays, groups)
        rows = np.broadcast_shapes(*(x.shape[:-1] for x in arrays), np.shape(t))
        count = int(np.prod(rows, dtype=int))
        x = np.empty((sum(len(group) for group in groups) + 1, count))
        start = 0
        for array, group in zip(arrays, groups, strict=True):
            x[start : start + len(group)] = np.broadcast_to(array, (*rows, len(group))).reshape(count, -1).T
            start += len(group)
        x[-1] = np.broadcast_to(np.asarray(t, dtype=float), rows).ravel()
        return x, rows

    def _run(
        self, nodes: Sequence[Node], groups: Sequence[Sequence[Node]], given: Sequence[Any], t: Any = 0.0
    ) -> Array:
        """The nodes evaluated with the given arrays for the groups of symbols."""
        x, rows = self._columns(groups, given, t)
        code = self.code(nodes, [node for group in groups for node in group], 1 if x.shape[1] == 1 else None)
        return code(x, self._values).T.reshape(*rows, len(nodes))

    def _refuse(self, arrays: Sequence[Array], groups: Sequence[Sequence[Node]]) -> None:
        wrong = [f"found shape {x.shape}, expected (..., {len(g)})" for x, g in zip(arrays, groups, strict=True)
                 if x.ndim == 0 or x.shape[-1] != len(g)]  # fmt: skip
        if wrong:
            names = ", ".join(str(q.func) for q in self.coordinates)
            raise ModelError("the state has the wrong shape", [*wrong, f"the coordinates are {names}."])

    def with_parameters(self, parameters: Mapping[sp.Symbol, float]) -> Dynamics:
        """The same code with other values of run-time parameters."""
        fixed = [str(p) for p in parameters if p not in self.parameters]
        if fixed:
            words = "is not a run-time parameter" if len(fixed) == 1 else "are not run-time parameters"
            advice = "Compile with dynamics(tree, fold=False) to keep the parameters of the tree variable."
            raise ModelError("Unknown parameters", [f"{', '.join(fixed)} {words}. {advice}"])
        values = self.parameters | dict(parameters)
        return Dynamics(self.tree, self.method, False, self.regroup, parameters=values, equations=self.equations)

    _repr_html_ = html


def _load(tree: BodyTree, method: str, regroup: bool, parameters: Mapping[sp.Symbol, float]) -> Dynamics:
    """Restore from a pickle; the code is compiled when first needed."""
    return Dynamics(tree, method, False, regroup, parameters=parameters)


def _check_method(method: str) -> str:
    if method == "rolled":
        warnings.warn('method="rolled" is now called "looped"', DeprecationWarning, stacklevel=4)
        return "looped"
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise ModelError("the dynamics cannot be compiled", [f"there is no method {method!r}. Known: {known}."])
    return method


def dynamics(tree: BodyTree, method: str = "auto", *, fold: bool = True) -> Dynamics:
    """The dynamics of a tree as machine code: forward, inverse, mass matrix, bias, derivatives, kinematics.

    ``method``: "auto" (by size), "composite", "articulated" or "looped", see `Dynamics`.
    """
    return Dynamics(tree, method, fold)
