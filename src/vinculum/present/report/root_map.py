"""Roots in the complex plane. Where slow and fast roots stand far apart, both axes are compressed: arsinh(x / s)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vinculum.present.report.charts import SERIES, Figure, figure
from vinculum.text_printer import number

_FAR_APART = 40.0  # ratio of the largest to the smallest root beyond which axes are compressed


def root_map(sets: Sequence[tuple[str, np.ndarray]], zeros: int = 0) -> Figure:
    """Sets of roots by name: crosses for the first (open loop), circles for the next; squares for structural zeros."""
    every = np.concatenate([roots for _, roots in sets])
    scale = _scale(every)
    signs = ("x", "circle-open", "diamond-open")
    data = [
        _marks(roots, name, sign, color, scale)
        for (name, roots), sign, color in zip(sets, signs, (SERIES[1], SERIES[0], SERIES[2]), strict=False)
    ]
    if zeros:
        data.append(_marks(np.zeros(1, complex), f"structural zeros ({zeros})", "square-open", "--muted", scale))
    axes = [_axis(part, scale) for part in (every.real, every.imag)]
    x, y = axes[0] | {"title": "real part"}, axes[1] | {"title": "imaginary part"}
    return figure(data, 340, xaxis=x, yaxis=y, hovermode="closest", showlegend=True)


def compressed(roots: np.ndarray) -> bool:
    """Whether the axes of a map are compressed."""
    return _scale(roots) is not None


def _scale(roots: np.ndarray) -> float | None:
    sizes = np.abs(roots[np.abs(roots) > 0])
    if not len(sizes) or sizes.max() <= _FAR_APART * sizes.min():
        return None
    return float(10 ** np.floor(np.log10(max(sizes.min(), 1e-6 * sizes.max()))))


def _placed(x: np.ndarray, scale: float | None) -> np.ndarray:
    return x if scale is None else np.arcsinh(x / scale)


def _marks(roots: np.ndarray, name: str, sign: str, color: str, scale: float | None) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": _placed(roots.real, scale).tolist(),
        "y": _placed(roots.imag, scale).tolist(),
        "name": name,
        "text": [number(root) for root in roots],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": sign, "size": 11, "color": color, "line": {"width": 2, "color": color}},
    }


def _axis(parts: np.ndarray, scale: float | None) -> Figure:
    plain: Figure = {"zeroline": True, "zerolinewidth": 2}
    if scale is None:
        return plain
    top = int(np.ceil(np.log10(max(float(np.abs(parts).max()), scale) / scale)))
    powers = [scale * 10.0**k for k in range(top + 1)]
    powers = powers[:: max(1, (len(powers) + 2) // 4)]
    ticks = [-p for p in reversed(powers)] + [0.0] + powers
    return plain | {"tickvals": np.arcsinh(np.array(ticks) / scale).tolist(), "ticktext": [_tick(x) for x in ticks]}


def _tick(x: float) -> str:
    return f"{x:g}".replace("-", "\N{MINUS SIGN}")
