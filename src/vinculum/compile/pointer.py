"""Calling compiled functions by address from inside Numba loops, and from Python in a microsecond."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


def _call(typing_context: Any, address: Any, t: Any, x: Any, p: Any, out: Any) -> Any:
    """``call(address, t, x, p, out)``: calls the function ``void f(double t, double *x, double *p, double *out)`` at an
    address; x, p and out are addresses of doubles (``array.ctypes.data``).
    """
    signature = types.void(types.intp, types.float64, types.intp, types.intp, types.intp)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), pointer, pointer, pointer])
        target = builder.inttoptr(args[0], kind.as_pointer())
        builder.call(target, [args[1], *(builder.inttoptr(a, pointer) for a in args[2:])])
        return context.get_dummy_value()

    return signature, code


call: Any = intrinsic(_call)


@njit("float64[::1](intp, float64, float64[::1], float64[::1], intp)", cache=True)
def value_of(address: Any, t: Any, x: Any, p: Any, size: Any) -> Any:
    """f(t, x, p) with ``size`` results; other arrays than contiguous doubles raise a TypeError."""
    out = np.empty(size)
    call(address, t, x.ctypes.data, p.ctypes.data, out.ctypes.data)
    return out
