"""Results as JSON data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def json_data(value: Any) -> Any:
    """Arrays become lists, complex numbers {re, im}, and infinities and NaN, which JSON lacks, null.

    >>> json_data({"roots": (1 + 2j,), "largest": float("inf")})
    {'roots': [{'re': 1.0, 'im': 2.0}], 'largest': None}
    """
    if isinstance(value, Mapping):
        return {str(key): json_data(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):
        return json_data(value.tolist())
    if isinstance(value, (list, tuple)):
        return [json_data(entry) for entry in value]
    if isinstance(value, complex):
        return {"re": json_data(value.real), "im": json_data(value.imag)}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)
