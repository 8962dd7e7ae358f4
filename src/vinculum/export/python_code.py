"""Python with NumPy: its table of operations, and how a kernel is printed as a function."""

from __future__ import annotations

from vinculum.export.kernel import Group, Kernel, Source
from vinculum.graph.functions import FUNCTIONS
from vinculum.graph.node import Number

_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
          "atanh": "arctanh", "atan2": "arctan2"}  # fmt: skip

TABLE = {name: f"np.{_NUMPY.get(name, name)}({{0}})" for name in FUNCTIONS} | {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "negate": "-{0}",
    "power": "np.power({0}, {1})",
    "atan2": "np.arctan2({0}, {1})",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "equal": "{0} == {1}",
    "both": "np.logical_and({0}, {1})",
    "either": "np.logical_or({0}, {1})",
    "select": "np.where({0}, {1}, {2})",
    "piece": 'np.maximum(np.searchsorted({1}, {0}, side="right") - 1, 0)',
    "entry": "{1}[{0}]",
}


class PythonSource(Source):
    """The lines of a Python function; numbers may be arrays of many states."""

    table = TABLE
    line = "    {name} = {value}"

    def constant(self, value: Number) -> str:
        """A number, in brackets if it is negative."""
        text = repr(float(value))
        return f"({text})" if text.startswith("-") else text


def function(kernel: Kernel) -> str:
    """A function of arrays that returns one array, or several in a tuple."""
    code = PythonSource(kernel)
    results = [f"_stacked({', '.join(values)})" for _, values in code.written()]
    head = f"def {kernel.name}({', '.join(group.name for group in kernel.arguments)}):"
    about = "\n".join(["    " + line if line else line for line in _documentation(kernel)])
    return "\n".join([head, f'    r"""{about.strip()}', '    """', *code.lines, f"    return {', '.join(results)}"])


def _documentation(kernel: Kernel) -> list[str]:
    found = [kernel.about, ""]
    for group in kernel.results:
        found.append(f"{group.name}: {group.about}{_names(group)}")
    return [line.replace('"""', "'''") for line in found]


def _names(group: Group) -> str:
    labels = [label for label in group.labels if label]
    return f" ({', '.join(labels)})" if labels else ""
