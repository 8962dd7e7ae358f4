"""Calling compiled functions by address from inside Numba loops, and from Python in a microsecond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from vinculum.interrupts import uninterrupted

with uninterrupted():
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

# Only a whole loop is called from Python: wrappers for its parts, which take tens of arrays, would take as long to
# compile as the parts themselves.
_NJIT: Any = njit  # its stubs lack the options for wrappers
part = _NJIT(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")


def kept(*signature: str, uses: Sequence[ModuleType] = (), **options: Any) -> Callable[[Callable], Any]:
    """Numba's decorator for code that is compiled at its first use on a machine and then read from the disk.

    Numba compiles again when the function's own file has changed. If it has parts in other modules, which it ``uses``,
    their versions go into its name on the disk. Where neither the package nor the user has a folder that can be
    written, it is compiled in every process.
    """

    def compiled(function: Callable) -> Any:
        function.__qualname__ += "".join(map(_version, uses))
        try:
            return _NJIT(*signature, cache=True, **options)(function)
        except RuntimeError:  # Numba found no folder
            return _NJIT(*signature, **options)(function)

    return compiled


def _version(module: ModuleType) -> str:
    """The size and time of the file of a module, by which Numba too tells versions apart."""
    found = Path(str(module.__file__)).stat()
    return f"_{found.st_size:x}_{found.st_mtime_ns:x}"


def loop(*uses: ModuleType) -> Callable[[Callable], Any]:
    """Numba's decorator for a whole loop with parts in these modules."""
    return kept(uses=uses, nogil=True, no_cfunc_wrapper=True, error_model="numpy")


@kept("float64[::1](intp, float64, float64[::1], float64[::1], intp)")
def value_of(address: Any, t: Any, x: Any, p: Any, size: Any) -> Any:
    """f(t, x, p) with ``size`` results; other arrays than contiguous doubles raise a TypeError."""
    out = np.empty(size)
    call(address, t, x.ctypes.data, p.ctypes.data, out.ctypes.data)
    return out
