"""With what a result was computed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("sympy", "numpy", "scipy", "heyoka", "llvmlite", "numba", "control", "plotly")


def versions() -> dict[str, str]:
    """Vinculum, Python, the libraries that compute, and the machine."""
    from vinculum import __version__

    found = {"vinculum": __version__, "python": platform.python_version()}
    found |= {name: number for name in _PACKAGES if (number := _version(name))}
    return found | {"system": f"{platform.system()} {platform.machine()}"}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
