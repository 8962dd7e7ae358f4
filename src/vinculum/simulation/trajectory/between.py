"""A run at other instants than its samples.

Runs of "taylor" with dense output have the polynomial of every step. All others have the cubic through two samples and
the rates there, x(s) = (1 + 2s)(1 - s)² x₀ + s²(3 - 2s) x₁ + s(1 - s)² h ẋ₀ - s²(1 - s) h ẋ₁, whose error is h⁴/384 of
the fourth derivative. Where samples are too sparse for it (a fast mode decays between two of them), a line is used.
"""

from __future__ import annotations

import numpy as np

from vinculum.simulation.trajectory.live_run import LiveRun, Segment

_FAR = 0.1  # fraction of a state's range by which a cubic may leave the line through its samples


def resampled(run: LiveRun, times: np.ndarray) -> LiveRun:
    """The run at the given instants, which lie between its first and its last sample in the order of the run."""
    sign = 1.0 if run.segments[-1].t[-1] >= run.segments[0].t[0] else -1.0
    begins = np.array([sign * segment.t[0] for segment in run.segments])
    which = np.clip(np.searchsorted(begins, sign * times, side="right") - 1, 0, None)
    found = [_at(run, segment, times[which == i]) for i, segment in enumerate(run.segments)]
    return LiveRun(tuple(segment for segment in found if len(segment.t)))


def _at(run: LiveRun, segment: Segment, times: np.ndarray) -> Segment:
    states = run.polynomials(times) if run.has_polynomials else _cubic(segment, times)
    return Segment(segment.problem, times, states)


def _cubic(segment: Segment, times: np.ndarray) -> np.ndarray:
    t, x = segment.t, segment.states
    if len(t) < 2 or not len(times):
        return np.repeat(x[:1], len(times), axis=0)
    sign = 1.0 if t[-1] >= t[0] else -1.0
    i = np.clip(np.searchsorted(sign * t, sign * times, side="right") - 1, 0, len(t) - 2)
    h = t[i + 1] - t[i]
    s = np.where(h == 0, 0.0, (times - t[i]) / np.where(h == 0, 1.0, h))[:, None]
    s = np.clip(s, 0.0, 1.0)
    rates = segment.rows(segment.problem.nodes.rates)
    before, after = (h[:, None] * rates[k] - (x[i + 1] - x[i]) for k in (i, i + 1))
    bend = s * (1 - s) * ((1 - s) * before - s * after)
    near = 4 / 27 * (np.abs(before) + np.abs(after)) <= _FAR * np.ptp(x, axis=0)
    return x[i] + s * (x[i + 1] - x[i]) + np.where(near, bend, 0.0)
