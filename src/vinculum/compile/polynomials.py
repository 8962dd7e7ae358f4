"""Polynomials of many states at many instants, Σ_k c_k τᵏ, by Horner's rule in machine code.

Four states are computed together, since each operation of the rule waits for the one before it; where fewer are left,
the last one is computed again. The program is the same for all problems and compiled once per process.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from vinculum.compile.machine import MachineCode

_TOGETHER = 4  # states
_VALUES = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2, ctypes.c_void_p)
_PROGRAM = """
declare i64 @llvm.smin.i64(i64, i64)

define void @values(i64 %count, ptr %places, ptr %tau, ptr %coefficients, i64 %n, i64 %width, ptr %out) nounwind {
entry:
  %size = mul i64 %n, %width
  %highest = sub i64 %width, 1
  %last = sub i64 %n, 1
  br label %instant
instant:
  %i = phi i64 [0, %entry], [%inext, %instantdone]
  %pp = getelementptr i64, ptr %places, i64 %i
  %p = load i64, ptr %pp
  %tp = getelementptr double, ptr %tau, i64 %i
  %t = load double, ptr %tp
  %po = mul i64 %p, %size
  %piece = getelementptr double, ptr %coefficients, i64 %po
  %oo = mul i64 %i, %n
  %to = getelementptr double, ptr %out, i64 %oo
  br label %states
states:
  %j = phi i64 [0, %instant], [%jnext, %statesdone]
  %wish# = add i64 %j, #
  %j# = call i64 @llvm.smin.i64(i64 %wish#, i64 %last)
  %jo# = mul i64 %j#, %width
  %row# = getelementptr double, ptr %piece, i64 %jo#
  %top# = getelementptr double, ptr %row#, i64 %highest
  %c# = load double, ptr %top#
  br label %horner
horner:
  %k = phi i64 [%highest, %states], [%kless, %lower]
  %sum# = phi double [%c#, %states], [%new#, %lower]
  %more = icmp sgt i64 %k, 0
  br i1 %more, label %lower, label %statesdone
lower:
  %kless = sub i64 %k, 1
  %cp# = getelementptr double, ptr %row#, i64 %kless
  %ck# = load double, ptr %cp#
  %product# = fmul contract double %sum#, %t
  %new# = fadd contract double %product#, %ck#
  br label %horner
statesdone:
  %value# = getelementptr double, ptr %to, i64 %j#
  store double %sum#, ptr %value#
  %jnext = add i64 %j, TOGETHER
  %jmore = icmp slt i64 %jnext, %n
  br i1 %jmore, label %states, label %instantdone
instantdone:
  %inext = add i64 %i, 1
  %imore = icmp slt i64 %inext, %count
  br i1 %imore, label %instant, label %done
done:
  ret void
}"""  # a line with # is written for each of the states


@cache
def _program() -> tuple[MachineCode, Any]:
    """The code, which must be kept while it is called, and the function."""
    lines = _PROGRAM.replace("TOGETHER", str(_TOGETHER)).splitlines()
    copies = [range(_TOGETHER if "#" in line else 1) for line in lines]
    text = "\n".join(line.replace("#", str(k)) for line, numbers in zip(lines, copies, strict=True) for k in numbers)
    code = MachineCode(text, optimize=False)  # written as it shall run
    return code, _VALUES(code.address("values"))


def polynomial_values(coefficients: np.ndarray, places: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The polynomials number ``places`` of (pieces, n, order + 1) at τ: (len(places), n)."""
    coefficients, tau = (np.ascontiguousarray(array, dtype=float) for array in (coefficients, tau))
    places = np.ascontiguousarray(places, dtype=np.int64)
    n, width = coefficients.shape[1:]
    values = np.empty((len(places), n))
    if values.size:
        pointers = (array.ctypes.data for array in (places, tau, coefficients))
        _code, run = _program()  # another thread may have put its own code into the cache; this one must stay
        run(len(places), *pointers, n, width, values.ctypes.data)
    return values
