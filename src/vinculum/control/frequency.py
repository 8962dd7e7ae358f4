"""Frequency response, stability margins and zeros of a linear model (python-control).

G(s) = C (sE - F)⁻¹ H,   margins from the loop that is open at one input of the plant, L(s) = -u(s)/v(s).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.state_space import state_space
from vinculum.control.feedback import FeedbackLaw, input_columns
from vinculum.control.loop_matrices import loop_matrices
from vinculum.control.observer import Estimator
from vinculum.errors import ModelError
from vinculum.hooks import call
from vinculum.names import name_of
from vinculum.notebook_repr import html
from vinculum.text_printer import labelled_rows
from vinculum.units.dimensions import RATE
from vinculum.units.given import number_in_si


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResponse:
    """G(iω) from every input to every output."""

    inputs: tuple[sp.Expr, ...]
    outputs: tuple[sp.Expr, ...]
    frequencies: np.ndarray  # ω in rad per unit of time, (frequencies)
    values: np.ndarray  # (outputs, inputs, frequencies) complex

    @property
    def magnitude(self) -> np.ndarray:
        """|G|, (outputs, inputs, frequencies)."""
        return np.abs(self.values)

    @property
    def phase(self) -> np.ndarray:
        """arg G in radians without jumps, (outputs, inputs, frequencies)."""
        return np.unwrap(np.angle(self.values), axis=-1)

    def plot(self) -> Any:
        """Bode's diagram as a Plotly figure: magnitude and phase over frequency."""
        return call("Bode diagram", self)

    def nyquist(self) -> Any:
        """Nyquist's diagram as a Plotly figure: G(iω) in the complex plane."""
        return call("Nyquist diagram", self)

    def __repr__(self) -> str:
        rows = {
            "inputs": ", ".join(map(name_of, self.inputs)),
            "outputs": ", ".join(map(name_of, self.outputs)),
            "frequencies": f"{len(self.frequencies)}, from {self.frequencies[0]:.6g} to {self.frequencies[-1]:.6g}",
        }
        return labelled_rows("FrequencyResponse", rows)

    _repr_html_ = html


def response(
    linear: LinearModel,
    frequencies: Sequence[float] | np.ndarray,
    *,
    inputs: Sequence[sp.Expr] | None = None,
    outputs: Sequence[sp.Expr] | None = None,
) -> FrequencyResponse:
    """The frequency response from chosen inputs (default: all) to chosen outputs (default: all states)."""
    omega = _checked(frequencies)
    chosen = tuple(linear.inputs[k] for k in input_columns(linear, inputs))
    read = tuple(linear.states if outputs is None else outputs)
    model = state_space(linear, chosen, read)
    return FrequencyResponse(chosen, read, omega, np.asarray(model(1j * omega, squeeze=False)))


def _checked(frequencies: Sequence[float] | np.ndarray) -> np.ndarray:
    given = number_in_si(frequencies, RATE, "frequencies", "Invalid frequencies")
    omega = np.asarray(given, dtype=float)
    if omega.ndim != 1 or not len(omega) or not np.all(np.isfinite(omega)) or np.any(omega <= 0):
        raise ModelError("Invalid frequencies", ["They must be positive numbers, such as np.geomspace(0.1, 100, 200)."])
    return omega


@dataclass(frozen=True, eq=False)
class OpenLoop:
    """L(s) = C (sI - A)⁻¹ B of the loop that is open at one input; the other inputs stay closed."""

    A: np.ndarray  # (n, n)
    B: np.ndarray  # (n, 1)
    C: np.ndarray  # (1, n)

    @property
    def poles(self) -> np.ndarray:
        """The eigenvalues of A."""
        return np.linalg.eigvals(self.A)

    def __call__(self, omega: np.ndarray) -> np.ndarray:
        """L(iω), (frequencies); infinite at an undamped pole."""
        try:
            return self._solved(omega)
        except np.linalg.LinAlgError:
            return np.array([self._alone(w) for w in omega])

    def _solved(self, omega: np.ndarray) -> np.ndarray:
        matrices = 1j * omega[:, None, None] * np.eye(len(self.A)) - self.A
        return (self.C @ np.linalg.solve(matrices, np.broadcast_to(self.B, (len(omega), *self.B.shape))))[:, 0, 0]

    def _alone(self, omega: float) -> complex:
        try:
            return complex(self._solved(np.array([omega]))[0])
        except np.linalg.LinAlgError:
            return complex(np.inf, np.inf)


def open_loop(law: FeedbackLaw, input: sp.Expr, estimator: Estimator | None = None) -> OpenLoop:
    """The loop, open at one input."""
    (k,) = input_columns(law.linear, [input])
    loop = loop_matrices(law, estimator)
    b, c = loop.plant_inputs[:, [k]], loop.controls[[k]]
    return OpenLoop(loop.A - b @ c, b, -c)


def loop_transfer(law: FeedbackLaw, input: sp.Expr, estimator: Estimator | None = None) -> Any:
    """L(s) of the loop that is open at one input, as a ``control.StateSpace``; the other inputs stay closed."""
    import control

    loop = open_loop(law, input, estimator)
    return control.ss(loop.A, loop.B, loop.C, 0.0)


def loop_response(
    law: FeedbackLaw,
    input: sp.Expr,
    frequencies: Sequence[float] | np.ndarray | None = None,
    *,
    estimator: Estimator | None = None,
) -> FrequencyResponse:
    """L(iω) of the loop that is open at one input; by default over the frequencies of its roots and a decade around."""
    loop = open_loop(law, input, estimator)
    omega = _around(loop.poles, law.roots) if frequencies is None else _checked(frequencies)
    omega = omega if frequencies is not None else without_poles(omega, loop.poles)
    return FrequencyResponse((input,), (input,), omega, loop(omega)[None, None, :])


def without_poles(omega: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """The frequencies without those at which G is infinite: undamped poles."""
    near = np.abs(omega[:, None] - undamped_frequencies(poles)[None, :]) <= 1e-9 * omega[:, None]
    return omega[~near.any(axis=1)]


def undamped_frequencies(poles: np.ndarray) -> np.ndarray:
    """The frequencies of poles on the imaginary axis."""
    return np.abs(poles.imag[np.abs(poles.real) <= 1e-9 * np.abs(poles)])


def _around(*roots: np.ndarray) -> np.ndarray:
    sizes = np.abs(np.concatenate(roots))
    sizes = sizes[sizes > 1e-9 * sizes.max(initial=0.0)]
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    return np.geomspace(low / 10, high * 10, 400)
