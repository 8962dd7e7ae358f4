"""The compiled loops of the fixed-step methods.

At step i the function ``full`` is evaluated at (t_i, x_i) and gives, in this order: n rates, the pivot watch, the
energy balance, the residuals, the event functions, the corrections c. `inspect` checks them; then the step is taken
with the rates. Functions that run at every step take the arrays they need one by one: unpacking a `Work` in each of
them would cost more than the step itself. `advance` returns when its chunk is done or when something needs
attention; called again with the same `Work`, it continues where it stopped.

All loops are in one file: Numba's cache checks the file of a function for changes, but not the files of its callees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vinculum.compile.pointer import call, loop, part
from vinculum.simulation.integrators import step_events
from vinculum.simulation.integrators.step_events import (
    FOUND,
    NOTHING,
    Search,
    begin,
    finish,
    searching,
    take_first_event,
)

DONE, NOT_FINITE, PIVOT, HAPPENED, EXCEEDED, UNDEFINED = 0, 1, 2, 3, 4, 5


class Work(NamedTuple):
    """The numbers and arrays of one run: n states, r residuals, m constraints, q steps of memory."""

    full: int  # address of the function evaluated at the start of a step
    stage: int  # address of the function evaluated in the later stages (rates only)
    constraint: int  # address of the residuals and Jacobians for projection, or 0
    levels: np.ndarray  # (levels, 4) rows of `feedback.Level`
    held: int  # m when the corrections are held through the stages of a Runge-Kutta step, else 0
    t0: float
    h: float
    final: int  # the last step number
    limit: float  # of the pivot watch
    jumped: float  # the watch of a pivot that has changed its sign
    x: np.ndarray  # (n)
    p: np.ndarray
    out: np.ndarray  # what ``full`` gives
    spare: np.ndarray  # the same size, for looking ahead
    point: np.ndarray  # (n)
    K: np.ndarray  # (stages, n)
    maxima: np.ndarray  # (r + 2) largest residuals, largest error of the balance, the balance at the start
    instants: np.ndarray  # times of the samples
    samples: np.ndarray  # (instants, n)
    cursor: np.ndarray  # (3) samples written; Adams: newest step in memory, steps in memory
    before: np.ndarray  # (2, n) x and rates one step ago
    search: Search  # for events
    history: np.ndarray  # (q, n) rates, newest first
    watch: int  # address of the residuals, for a run that ends where one exceeds its bound, or 0
    bounds: np.ndarray  # (r)
    inside: np.ndarray  # (5, r) residuals at five points of a step
    peaks: np.ndarray  # (r) largest residuals at and between the steps


@part
def hermite(s: Any, h: Any, before: Any, x: Any, f: Any, out: Any) -> Any:
    """Cubic through the last step (s = 0) and this one (s = 1)."""
    a, b = s * s * (3 - 2 * s), s * (1 - s)
    for j in range(x.size):
        out[j] = before[0, j] + a * (x[j] - before[0, j]) + h * b * ((1 - s) * before[1, j] - s * f[j])


@part
def time_in_step(motion: Any, share: Any) -> Any:
    """The time at a share of step i - 1 → i."""
    i, t0, h, _, _, _ = motion
    return t0 + (i - 1 + share) * h


@part
def state_in_step(motion: Any, share: Any, out: Any) -> Any:
    """The state at a share of step i - 1 → i."""
    _, _, h, before, x, rates = motion
    hermite(share, h, before, x, rates, out)


search = searching(time_in_step, state_in_step)


@part
def look_for_events(e: Any, p: Any, i: Any, t0: Any, h: Any, before: Any, x: Any, out: Any, first: Any) -> Any:
    """The next events of step i - 1 → i; there is no step before the first state. Event functions are out[first:]."""
    for j in range(e.size.size):
        e.after[j] = out[first + j]
    if i == 0:
        finish(e, e.after)
        return DONE
    found = search(e, p, (i, t0, h, before, x, out))
    return DONE if found == NOTHING else HAPPENED if found == FOUND else UNDEFINED


@part
def record(w: Any, i: Any) -> Any:
    """Write the samples asked for up to step i, interpolating where an instant falls inside a step."""
    t, c = w.t0 + i * w.h, w.cursor
    while c[0] < w.instants.size and (w.instants[c[0]] - t) * np.sign(w.h) <= 1e-9 * abs(w.h):
        if i == 0 or abs(w.instants[c[0]] - t) <= 1e-9 * abs(w.h):
            for j in range(w.x.size):
                w.samples[c[0], j] = w.x[j]
        else:
            hermite(1 + (w.instants[c[0]] - t) / w.h, w.h, w.before, w.x, w.out, w.samples[c[0]])
        c[0] += 1


@part
def inspect(x: Any, out: Any, maxima: Any, jumped: Any) -> Any:
    """Finite? Pivots good? Then update the maxima."""
    n, r, spoiled = x.size, maxima.size - 2, 0.0
    for j in range(n):
        spoiled += (x[j] - x[j]) + (out[j] - out[j])  # not zero if any of them is infinite or not a number
    if spoiled != 0:
        return NOT_FINITE
    if out[n] >= jumped:
        return PIVOT
    if np.isnan(maxima[r + 1]):
        maxima[r + 1] = out[n + 1]
    for j in range(r):
        maxima[j] = max(maxima[j], abs(out[n + 2 + j]))
    maxima[r] = max(maxima[r], abs(out[n + 1] - maxima[r + 1]))
    return DONE


@part
def within(w: Any, i: Any) -> Any:
    """Whether the residuals at step i and on the interpolated step before it are within the bounds.

    y is known at five points of the step. Between them a parabola exceeds its values by an eighth of their second
    difference at most; twice that is added.
    """
    r, y = w.bounds.size, w.inside
    for j in range(r):
        y[0, j] = w.out[w.x.size + 2 + j]
    for k in range(1, 5 if i > 0 else 1):
        s = 1.0 - 0.25 * k
        hermite(s, w.h, w.before, w.x, w.out, w.point)
        call(w.watch, w.t0 + (i - 1 + s) * w.h, w.point.ctypes.data, w.p.ctypes.data, y[k].ctypes.data)
    kept = True
    for j in range(r):
        largest, bend = abs(y[0, j]), 0.0
        for k in range(1, 5 if i > 0 else 1):
            largest = max(largest, abs(y[k, j]))
            bend = max(bend, abs(y[k - 1, j] - 2 * y[k, j] + y[k + 1, j])) if k < 4 else bend
        largest += 0.25 * bend
        w.peaks[j] = max(w.peaks[j], largest)
        kept = kept and largest <= w.bounds[j]
    return kept


@part
def keep(x: Any, out: Any, before: Any) -> Any:
    """Remember this step for the interpolation of the next."""
    for j in range(x.size):
        before[0, j], before[1, j] = x[j], out[j]


@part
def due(instants: Any, cursor: Any, t: Any, h: Any) -> Any:
    """Whether a sample has to be written at or before time t."""
    return cursor[0] < instants.size and (instants[cursor[0]] - t) * h <= 1e-9 * h * h


@part
def hold(p: Any, out: Any, held: Any) -> Any:
    """Keep the corrections of this step through its stages."""
    for j in range(held):
        p[p.size - held + j] = out[out.size - held + j]


@part
def normal_equations(J: Any, f: Any) -> Any:
    """(J Jᵀ | f)."""
    m, n = J.shape
    A = np.zeros((m, m + 1))
    for i in range(m):
        A[i, m] = f[i]
        for k in range(m):
            for j in range(n):
                A[i, k] += J[i, j] * J[k, j]
    return A


@part
def eliminate(A: Any) -> Any:
    """y of the bordered matrix (S | f), S y = f; rows that depend on others are passed over."""
    m, small = len(A), 1e-18
    for i in range(m):
        small = max(small, 1e-14 * A[i, i])
    for i in range(m):
        if A[i, i] > small:
            for k in range(m):
                if k != i:
                    factor = A[k, i] / A[i, i]
                    for j in range(i, m + 1):
                        A[k, j] -= factor * A[i, j]
    y = np.zeros(m)
    for i in range(m):
        y[i] = A[i, m] / A[i, i] if A[i, i] > small else 0.0
    return y


@part
def least_change(J: Any, f: Any, step: Any) -> Any:
    """step = Jᵀ (J Jᵀ)⁻¹ f. Returns max |step|."""
    y, largest = eliminate(normal_equations(J, f)), 0.0
    for j in range(J.shape[1]):
        step[j] = 0.0
        for i in range(J.shape[0]):
            step[j] += J[i, j] * y[i]
        largest = max(largest, abs(step[j]))
    return largest


@part
def project(w: Any, t: Any) -> Any:
    """Newton of least change onto the constraints, level by level: positions, then velocities."""
    size = 0
    for level in range(len(w.levels)):
        size = max(size, w.levels[level, 3] + w.levels[level, 2] * (w.levels[level, 1] + 1))
    out, step = np.empty(size), np.empty(w.x.size)
    for level in range(len(w.levels)):
        first, count, rows, start = w.levels[level]
        f = out[start : start + rows]
        J = out[start + rows : start + rows + rows * count].reshape(rows, count)
        for _ in range(8):
            call(w.constraint, t, w.x.ctypes.data, w.p.ctypes.data, out.ctypes.data)
            largest, scale = least_change(J, f, step), 1.0
            if not np.isfinite(largest):
                return
            for j in range(count):
                w.x[first + j] -= step[j]
                scale = max(scale, abs(w.x[first + j]))
            if largest <= 1e-14 * scale:
                break


@part
def runge_kutta_step(
    stage: Any, h: Any, x: Any, p: Any, out: Any, spare: Any, point: Any, K: Any, A: Any, b: Any, t: Any
) -> Any:
    """x ← x + h Σ b_s k_s, with k_0 in out."""
    n = x.size
    for j in range(n):
        K[0, j] = out[j]
    for s in range(1, b.size):
        c = 0.0
        for j in range(n):
            point[j] = x[j]
        for k in range(s):
            if A[s, k] != 0:
                c += A[s, k]
                for j in range(n):
                    point[j] += h * A[s, k] * K[k, j]
        call(stage, t + c * h, point.ctypes.data, p.ctypes.data, spare.ctypes.data)
        for j in range(n):
            K[s, j] = spare[j]
    for s in range(b.size):
        for j in range(n):
            x[j] += h * b[s] * K[s, j]


@part
def bashforth_step(h: Any, history: Any, predictor: Any, out: Any) -> Any:
    """out ← out + h Σ β_k f_k."""
    for k in range(predictor.size):
        factor = h * predictor[k]
        for j in range(out.size):
            out[j] += factor * history[k, j]


@part
def moulton_step(
    full: Any, h: Any, x: Any, p: Any, history: Any, corrector: Any, point: Any, spare: Any, t: Any
) -> Any:
    """Evaluate at the predicted point, then x ← x + h (β*_0 f(point) + Σ β*_k f_k)."""
    call(full, t + h, point.ctypes.data, p.ctypes.data, spare.ctypes.data)
    for j in range(x.size):
        total = corrector[0] * spare[j]
        for k in range(1, corrector.size):
            total += corrector[k] * history[k - 1, j]
        x[j] += h * total


@part
def remember(i: Any, q: Any, out: Any, history: Any, cursor: Any) -> Any:
    """Put the rates of step i at the front of the history, once; returns how many steps it holds."""
    if cursor[1] != i:
        n = history.shape[1]
        for k in range(q - 1, 0, -1):
            for j in range(n):
                history[k, j] = history[k - 1, j]
        for j in range(n):
            history[0, j] = out[j]
        cursor[1], cursor[2] = i, cursor[2] + 1
    return cursor[2]


@loop(step_events)
def advance(w: Any, A: Any, b: Any, predictor: Any, corrector: Any, first: Any, last: Any) -> Any:
    """Steps first .. last of an Adams method that starts with the Runge-Kutta method (A, b).

    Without a predictor the start never ends: this is the Runge-Kutta method. Returns (code, step reached).
    """
    full, stage, h, t0, limit, jumped, held = w.full, w.stage, w.h, w.t0, w.limit, w.jumped, w.held
    x, p, out, spare, point, K, history, q = w.x, w.p, w.out, w.spare, w.point, w.K, w.history, predictor.size
    maxima, instants, cursor, before, events = w.maxima, w.instants, w.cursor, w.before, w.search.size.size
    for i in range(first, last):
        t = t0 + i * h
        call(full, t, x.ctypes.data, p.ctypes.data, out.ctypes.data)
        code = inspect(x, out, maxima, jumped)
        if code != DONE:
            return code, i
        if w.watch and not within(w, i):
            return EXCEEDED, i
        if due(instants, cursor, t, h):
            record(w, i)
        if events > 0:
            code = look_for_events(w.search, p, i, t0, h, before, x, out, x.size + maxima.size)
            if code != DONE:
                return code, i
        keep(x, out, before)
        if out[x.size] > limit:
            return PIVOT, i
        if i < w.final:
            if q == 0 or remember(i, q, out, history, cursor) < q:
                hold(p, out, held)
                runge_kutta_step(stage, h, x, p, out, spare, point, K, A, b, t)
            elif corrector.size == 0:
                bashforth_step(h, history, predictor, x)
            else:
                for j in range(x.size):
                    point[j] = x[j]
                bashforth_step(h, history, predictor, point)
                moulton_step(full, h, x, p, history, corrector, point, spare, t)
            if w.constraint:
                project(w, t + h)
    return DONE, last


class Many(NamedTuple):
    """The runs of a block and what is found of them: R runs with I instants each."""

    x: np.ndarray  # (R, n) at the start, then at the end
    p: np.ndarray  # (R, parameters)
    instants: np.ndarray  # (R, I) from the start to the end of every run
    h: np.ndarray  # (R) steps
    counts: np.ndarray  # (R) numbers of steps
    samples: np.ndarray  # (R, I, n) not a number at first
    maxima: np.ndarray  # (R, r + 2) as in `Work`, the last one not a number at first
    codes: np.ndarray  # (R) how a run ended
    ends: np.ndarray  # (R) when it ended


@part
def work_of(w: Any, m: Any, k: Any) -> Any:
    """The arrays of run k with the scratch arrays of w."""
    return Work(
        w.full, w.stage, w.constraint, w.levels, w.held, m.instants[k, 0], m.h[k], m.counts[k], w.limit, w.jumped,
        m.x[k], m.p[k], w.out, w.spare, w.point, w.K, m.maxima[k], m.instants[k], m.samples[k], w.cursor, w.before,
        w.search, w.history, w.watch, w.bounds, w.inside, w.peaks,
    )  # fmt: skip


@part
def end(w: Any, code: Any, i: Any) -> Any:
    """The time at which a run ended at step i; its state goes to w.x, and samples beyond an event are erased."""
    if code == DONE:
        return w.instants[-1]
    if code != HAPPENED:
        for j in range(w.x.size):
            w.x[j] = w.before[0, j]
        return w.t0 + max(i - 1, 0) * w.h
    return take_first_event(w.search, np.sign(w.h), w.x, w.instants, w.samples, w.cursor[0])


@loop(step_events)
def advance_all(w: Any, m: Any, A: Any, b: Any, predictor: Any, corrector: Any, run: Any, step: Any, most: Any) -> Any:
    """At most so many steps of the runs of m, one run after the other; every event ends its run.

    Returns (run, step) reached; called again with them, it continues there.
    """
    while run < m.h.size and most > 0:
        own, stop = work_of(w, m, run), min(step + most, m.counts[run] + 1)
        if step == 0:
            w.cursor[0], w.cursor[1], w.cursor[2] = 0, -1, 0
            w.before[0] = own.x
            begin(w.search)
        code, i = advance(own, A, b, predictor, corrector, step, stop)
        most -= max(i - step, 1)
        if code == DONE and i <= m.counts[run]:
            return run, i
        m.codes[run], m.ends[run] = code, end(own, code, i)
        run, step = run + 1, 0
    return run, step


@loop(step_events)
def one_step(
    full: Any, stage: Any, t: Any, x: Any, p: Any, u: Any, A: Any, b: Any, h: Any, held: Any, size: Any
) -> Any:
    """x after one Runge-Kutta step with the inputs u, and the pivot watch at its start; nothing is shared with others.

    p ends with places for u and for the corrections that are held. The watch is infinite if a number is not finite.
    """
    y, q, out, spare = x.copy(), p.copy(), np.empty(size), np.empty(size)
    for j in range(u.size):
        q[p.size - held - u.size + j] = u[j]
    call(full, t, y.ctypes.data, q.ctypes.data, out.ctypes.data)
    hold(q, out, held)
    runge_kutta_step(stage, h, y, q, out, spare, np.empty(x.size), np.empty((b.size, x.size)), A, b, t)
    watch = out[x.size]
    for j in range(x.size):
        if not np.isfinite(y[j]):
            watch = np.inf
    return y, watch
