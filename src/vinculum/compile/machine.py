"""LLVM modules as machine code."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

COMPILING = threading.RLock()  # LLVM serves one thread at a time, whether this module, Numba or heyoka uses it


class MachineCode:
    """The machine code of an LLVM module, which lives as long as this object.

    An engine owns its target machine, so every module gets a new one. The code uses no memory outside its arguments, so
    several threads may run it at the same time.
    """

    def __init__(self, text: str, optimize: bool = True) -> None:
        with COMPILING:
            self.engine: Any = _engine(text, optimize)

    def address(self, name: str) -> int:
        """The address of a function of the module."""
        return self.engine.get_function_address(name)


def _engine(text: str, optimize: bool) -> Any:
    """The compiled module."""
    import llvmlite.binding as llvm

    target, processor, features = _host()
    machine = target.create_target_machine(cpu=processor, features=features, opt=2, jit=True)
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    if optimize:
        tuning = llvm.create_pipeline_tuning_options(speed_level=1)
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


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
