"""Pole placement: a gain K for which F + HK has the chosen roots.

Several inputs: Tits and Yang's method, which also makes the roots insensitive to errors (scipy.signal.place_poles).
One input: the gain is unique (Ackermann's formula, python-control), and roots may be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from vinculum.analyze.linear_model import LinearModel
from vinculum.analyze.modes import controllability
from vinculum.analyze.unit_free import UnitFree, unit_free
from vinculum.control.feedback import FeedbackLaw, input_columns, whole_gain
from vinculum.control.refuse_modes import refuse_idle_inputs, refuse_uncontrollable
from vinculum.errors import ModelError, VinculumError
from vinculum.text_printer import numbers

_REACHED = 1e-5  # largest relative change of a coefficient of the characteristic polynomial


def place(linear: LinearModel, roots: Sequence[complex], inputs: Sequence[sp.Expr] | None = None) -> FeedbackLaw:
    """The feedback law whose closed loop has the given roots: as many as states, complex ones in conjugate pairs."""
    wanted = _checked(roots, len(linear.states))
    columns = input_columns(linear, inputs)
    refuse_idle_inputs(linear, columns)
    used = tuple(linear.inputs[k] for k in columns)
    modes = controllability(linear, used)
    refuse_uncontrollable(linear, [mode for mode in modes if mode.lost], used)
    own = unit_free(linear.system_matrix, linear.input_matrix[:, columns])
    gain = _gain(own, wanted / own.rate)
    _refuse_missed(own, gain, wanted)
    return FeedbackLaw(linear, whole_gain(linear, columns, gain * own.inputs[:, None] / own.states), tuple(modes))


def _checked(roots: Sequence[complex], count: int) -> np.ndarray:
    wanted = np.array(list(roots), dtype=complex)
    problems = []
    if len(wanted) != count:
        problems.append(f"{len(wanted)} roots were given for {count} states.")
    if not np.all(np.isfinite(wanted)):
        problems.append("A root is not finite.")
    elif not np.allclose(np.sort_complex(wanted), np.sort_complex(wanted.conj()), rtol=1e-12, atol=0):
        problems.append(f"Complex roots must come in conjugate pairs; got {numbers(wanted)}.")
    if problems:
        raise ModelError("Invalid roots", problems)
    return wanted


def _gain(own: UnitFree, wanted: np.ndarray) -> np.ndarray:
    """K of F̂ + ĤK."""
    from scipy.signal import place_poles

    import control

    most = max(int(np.sum(wanted == root)) for root in wanted)
    if most <= np.linalg.matrix_rank(own.H):
        return -place_poles(own.F, own.H, wanted).gain_matrix
    if own.H.shape[1] == 1:
        return -np.asarray(control.acker(own.F, own.H, wanted)).reshape(1, -1)
    rank = int(np.linalg.matrix_rank(own.H))
    raise VinculumError(
        f"A root is repeated {most} times; with {rank} independent inputs a root can be repeated {rank} times. "
        "Choose different roots."
    )


def _refuse_missed(own: UnitFree, gain: np.ndarray, wanted: np.ndarray) -> None:
    """Compare characteristic polynomials: roots that are close together may differ by more than their coefficients."""
    expected, found = np.poly(wanted / own.rate).real, np.poly(own.F + own.H @ gain).real
    sizes = np.poly(-np.abs(wanted / own.rate)).real
    if np.any(np.abs(found - expected) > _REACHED * np.where(sizes > 0, sizes, 1.0)):
        reached = np.linalg.eigvals(own.F + own.H @ gain) * own.rate
        raise VinculumError(
            f"The roots could not be placed accurately: requested {numbers(wanted)}, found {numbers(reached)}. "
            "A mode is almost uncontrollable, or the roots are too far apart. Choose other roots or use stabilize."
        )
