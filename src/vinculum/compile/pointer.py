"""Calling compiled functions by address from inside Numba loops."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
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
