"""One header and one source of C from the parts of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vinculum.export.c_code import argument_groups, comment, described, function, listing, lookup, signature
from vinculum.export.equation_kernels import EquationKernels
from vinculum.export.kernel import Kernel
from vinculum.graph import Node


@dataclass(frozen=True, eq=False)
class CUnit:
    """What is exported to C under one prefix."""

    name: str  # the prefix of all functions
    title: str
    real: str  # double or float
    public: Sequence[Kernel]  # declared in the header
    values: Mapping[Node, float]  # of symbols, about which the kernels are tested
    private: Sequence[Kernel] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    declarations: Sequence[str] = ()  # of further functions
    functions: Sequence[str] = ()  # further functions, after the kernels
    notes: Sequence[str] = ()  # lines of the comment at the top
    equations: EquationKernels | None = None  # the kernels of equations of motion

    @property
    def header(self) -> str:
        """The header."""
        NAME = self.name.upper()
        about = [comment(self.title), *map(comment, self.notes), "", "Arguments of the functions:"]
        about += [f"  {line}" for group in argument_groups(self.public) for line in listing(group)]
        parts = [
            "\n".join(["/*", *(f" * {line}".rstrip() for line in about), " */"]),
            f"#ifndef {NAME}_H\n#define {NAME}_H",
            '#ifdef __cplusplus\nextern "C" {\n#endif',
            "\n".join(f"#define {NAME}_{key} {value}" for key, value in self.sizes.items()),
            *(described(kernel, self.name, self.real) for kernel in self.public),
            *self.declarations,
            "#ifdef __cplusplus\n}\n#endif\n\n#endif",
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    @property
    def source(self) -> str:
        """The source."""
        head = f'/* {comment(self.title)} */\n\n#include "{self.name}.h"\n\n#include <math.h>\n#include <stddef.h>'
        kernels = [function(kernel, self.name, self.real) + "\n" for kernel in self.public]
        kernels += [f"static {function(kernel, self.name, self.real)}\n" for kernel in self.private]
        tables = lookup([*self.public, *self.private], self.real)
        return "\n\n".join([head, *tables, "\n".join([*kernels, *self.functions])])

    def declared(self, kernel: Kernel) -> str:
        """The declaration of a kernel."""
        return signature(kernel, self.name, self.real)
