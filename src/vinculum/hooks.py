"""Methods of a record that a later stage implements: ``motion.plot()``, tables in a notebook.

A record knows only the name of its hook. The package's ``__init__`` registers the function, as ``module:function``, and
the module is imported at the first call.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def provide(name: str, place: str) -> None:
    """Register the function at ``place``, written as ``module:function``, for a hook."""
    _PLACES[name] = place


def call(name: str, *arguments: Any, **options: Any) -> Any:
    """Call the function registered for a hook."""
    module, _, function = _PLACES[name].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
