"""Methods of a record that a later stage carries out: ``motion.plot()``, tables in a notebook.

A record knows only the name of its hook. The package file says which function is behind it, as ``module:function``, and
the module is imported at the first call.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def provide(name: str, place: str) -> None:
    """Put the function at ``place``, written as ``module:function``, behind a hook."""
    _PLACES[name] = place


def call(name: str, *arguments: Any, **options: Any) -> Any:
    """Call the function behind a hook."""
    module, _, function = _PLACES[name].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
