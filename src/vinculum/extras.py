"""Packages that are not installed by default, because few users need them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from vinculum.errors import VinculumError


def extra(module: str, group: str) -> Any:
    """A module of an optional package; where it is missing, the error says what to install."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise VinculumError(
            f"This needs the package {package}, which is not installed. Type: pip install 'vinculum[{group}]'"
        ) from None
