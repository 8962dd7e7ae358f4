"""LLVM modules as machine code."""

from __future__ import annotations

import re
import threading
from functools import cache, lru_cache
from itertools import count
from typing import Any

_DEFINED = re.compile(r"^define (?!internal|private)[^@\n]*@(\w+)\(", re.MULTILINE)
_NUMBERS = count()
_GENERATION = 128  # libraries of one compiler
COMPILING = threading.RLock()  # LLVM serves one thread at a time, whether this module, Numba or heyoka uses it


class MachineCode:
    """The machine code of an LLVM module, which lives as long as this object.

    All code is linked by one compiler of this process, which owns one target machine: one for every module would take
    almost a megabyte each. The code uses no memory outside its arguments, so several threads may run it at once.
    Without ``unroll``, loops stay as they are written: where the loops are few, compiling takes half the time.
    """

    def __init__(self, text: str, optimize: bool = True, unroll: bool = True) -> None:
        with COMPILING:
            self.library: Any = _link(text, optimize, unroll)

    def address(self, name: str) -> int:
        """The address of a function of the module."""
        return self.library[name]


def _link(text: str, optimize: bool, unroll: bool) -> Any:
    """The compiled module; only its machine code is kept."""
    import llvmlite.binding as llvm

    number = next(_NUMBERS)
    machine, compiler = _compiler(number // _GENERATION)
    with llvm.parse_assembly(text, llvm.create_context()) as module:  # its own context: constants are freed with it
        module.triple = machine.triple
        if optimize:
            _optimize(module, machine, unroll)
        code = machine.emit_object(module)
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in _DEFINED.findall(text):
        library.export_symbol(name)
    return library.link(compiler, f"vinculum_{number}")


def _optimize(module: Any, machine: Any, unroll: bool) -> None:
    """Run LLVM's passes of the first level.

    A pass manager of llvmlite inherits an empty ``_dispose`` before its own one, so 45 kB of each would stay.
    """
    import llvmlite.binding as llvm
    from llvmlite.binding.newpassmanagers import NewPassManager

    tuning = llvm.create_pipeline_tuning_options(speed_level=1)
    tuning.loop_unrolling = tuning.loop_vectorization = tuning.loop_interleaving = unroll
    builder = llvm.create_pass_builder(machine, tuning)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    NewPassManager._dispose(passes)
    passes.detach()  # so that nothing frees it a second time


@lru_cache(maxsize=1)
def _compiler(generation: int) -> tuple[Any, Any]:
    """The target machine that makes objects, and the compiler that links them into this process.

    A compiler remembers something of every library. It lives until the last library of its generation is gone.
    """
    import llvmlite.binding as llvm

    target, processor, features = _host()
    machines = [target.create_target_machine(cpu=processor, features=features, opt=2, jit=True) for _ in range(2)]
    return machines[0], llvm.create_lljit_compiler(machines[1])


@cache
def _host() -> tuple[Any, str, str]:
    """The target of this machine, its processor and the processor's features."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def native_width() -> int:
    """Doubles in a SIMD register of this machine."""
    import llvmlite.binding as llvm

    features: Any = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2
