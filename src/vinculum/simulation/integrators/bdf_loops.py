"""The compiled loop of the backward differentiation formulas.

With backward differences Dʲ = ∇ʲx at equal steps h, the formula of order k with Klopfenstein's κ is (Shampine and
Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput. 18, 1997)

    Σ_{j=1}^{k} γ_j Dʲ + (1 - κ_k) γ_k (x - x⁰) = h f(t, x),    γ_j = Σ_{i≤j} 1/i,   x⁰ = Σ_{j=0}^{k} Dʲ,

solved for d = x - x⁰ by Newton's method with (1 - c J) δ = c f - ψ - d, c = h/α_k, α_k = (1 - κ_k) γ_k,
ψ = Σ γ_j Dʲ/α_k. The local error is (κ_k γ_k + 1/(k + 1)) d. A new step h' = ρ h changes the differences by
D ← (R(ρ) R(1))ᵀ D. The Jacobian J is found by differences of f, again only when Newton's method needs it.

All loops are in one file: Numba's cache checks the file of a function for changes, but not the files of its callees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vinculum.compile.pointer import call, loop, part
from vinculum.simulation.integrators import step_events
from vinculum.simulation.integrators.step_events import NOTHING, Search, searching, take_first_event
from vinculum.simulation.integrators.step_events import UNDEFINED as NO_VALUE
from vinculum.simulation.integrators.step_events import begin as begin_search

DONE, NOT_FINITE, STALLED, PIVOT, JUMPED, HAPPENED, UNDEFINED = 0, 1, 2, 3, 4, 5, 6
MOST = 5  # the highest order
ITERATIONS = 4  # of Newton's method
KAPPA = np.array([0.0, -0.1850, -1 / 9, -0.0823, -0.0415, 0.0])
GAMMA = np.append(0.0, np.cumsum(1 / np.arange(1.0, MOST + 1)))
ALPHA = (1 - KAPPA) * GAMMA
ERROR = KAPPA * GAMMA + 1 / np.arange(1.0, MOST + 2)
EPSILON = np.finfo(float).eps
CHUNK, FARTHEST = 256, 1e15  # steps after which a run is judged, and how many more it may need
_CLOSE = 0.01  # share of the tolerance that an iteration may leave
_SHARE = 0.25  # of the tolerance for one step
_LAST = 1e-3  # share of a step that is not worth another step before the end
_SAME_FROM, _SAME_TO = 0.9, 1.2  # a step that would change by less is kept


class Stiff(NamedTuple):
    """The numbers and arrays of one run: n states, r residuals."""

    rates: int  # address of f
    monitor: int  # of the pivot watch, the energy balance and the residuals
    t1: float
    tolerance: float  # relative and absolute
    limit: float  # of the pivot watch
    jumped: float  # the watch of a pivot that has changed its sign
    now: np.ndarray  # (5) t, signed step h, c of the factored matrix, rate of convergence, t of the last step
    counts: np.ndarray  # (5) order, equal steps, whether J belongs to this step, whether it is factored, steps taken
    p: np.ndarray
    x: np.ndarray  # (n) at t
    last: np.ndarray  # (n) one step ago
    D: np.ndarray  # (MOST + 3, n) backward differences
    R: np.ndarray  # (3, MOST + 1, MOST + 1) for a change of the step
    f: np.ndarray  # (n)
    y: np.ndarray  # (n) x at the end of the step
    d: np.ndarray  # (n) y minus its prediction
    psi: np.ndarray  # (n)
    scale: np.ndarray  # (n) the error that is allowed
    spare: np.ndarray  # (n)
    J: np.ndarray  # (n, n)
    LU: np.ndarray  # (n, n) of 1 - c J
    rows: np.ndarray  # (n) exchanged in the factorization
    out: np.ndarray  # (r + 2) what ``monitor`` gives
    maxima: np.ndarray  # (r + 2) largest residuals, largest error of the balance, the balance at the start
    instants: np.ndarray  # times of the samples
    samples: np.ndarray  # (instants, n)
    cursor: np.ndarray  # (1) samples written
    search: Search  # for events and corners
    step: np.ndarray  # (5) the step that is searched: 1, or 0 if there is none; order, h, its beginning, safety


@part
def size(v: Any, scale: Any) -> Any:
    """The root mean square of v/scale."""
    total = 0.0
    for j in range(v.size):
        total += (v[j] / scale[j]) ** 2
    return np.sqrt(total / max(v.size, 1))


@part
def allow(x: Any, tolerance: Any, scale: Any) -> Any:
    """The allowed error of every state in one step; the errors of many steps add up."""
    for j in range(x.size):
        scale[j] = _SHARE * tolerance * (1.0 + abs(x[j]))


@part
def change_step(w: Any, factor: Any) -> Any:
    """Continue with the step ρ h: D ← (R(ρ) R(1))ᵀ D, with R_ij(ρ) = Π_{m≤i} (m - 1 - ρ j)/m."""
    D, R, last = w.D, w.R, w.counts[0] + 1
    for i in range(last):
        for j in range(last):
            R[0, i, j] = R[1, i, j] = 1.0 if i == 0 else 0.0
            if i > 0 and j > 0:
                R[0, i, j] = R[0, i - 1, j] * (i - 1 - factor * j) / i
                R[1, i, j] = R[1, i - 1, j] * (i - 1 - j) / i
    for i in range(last):
        for j in range(last):
            R[2, i, j] = 0.0
            for m in range(last):
                R[2, i, j] += R[0, i, m] * R[1, m, j]
    for column in range(D.shape[1]):
        for j in range(last):
            R[0, 0, j] = D[j, column]
            D[j, column] = 0.0
        for i in range(last):
            for j in range(last):
                D[j, column] += R[2, i, j] * R[0, 0, i]
    w.now[1] *= factor
    w.counts[1] = 0
    w.counts[3] = 0


@part
def find_slopes(w: Any, t: Any) -> Any:
    """J at (t, y) by differences of f; an increment is far above the rounding of h f."""
    n, h = w.y.size, w.now[1]
    call(w.rates, t, w.y.ctypes.data, w.p.ctypes.data, w.f.ctypes.data)
    allow(w.y, w.tolerance, w.scale)
    speed = size(w.f, w.scale)
    least = 1e3 * abs(h) * EPSILON * n * speed if speed > 0 else 1.0
    for j in range(n):
        kept = w.y[j]
        w.y[j] += max(np.sqrt(EPSILON) * abs(kept), least * w.scale[j])
        increment = w.y[j] - kept
        call(w.rates, t, w.y.ctypes.data, w.p.ctypes.data, w.spare.ctypes.data)
        w.y[j] = kept
        for i in range(n):
            w.J[i, j] = (w.spare[i] - w.f[i]) / increment


@part
def factorize(LU: Any, rows: Any, J: Any, c: Any) -> Any:
    """LU of 1 - c J with row exchanges; whether it is regular."""
    n = len(J)
    for i in range(n):
        for j in range(n):
            LU[i, j] = (1.0 if i == j else 0.0) - c * J[i, j]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(LU[i, k]) > abs(LU[pivot, k]):
                pivot = i
        rows[k] = pivot
        if not (0 < abs(LU[pivot, k]) < np.inf):
            return False
        if pivot != k:
            for j in range(n):
                LU[k, j], LU[pivot, j] = LU[pivot, j], LU[k, j]
        for i in range(k + 1, n):
            if LU[i, k] != 0:
                LU[i, k] /= LU[k, k]
                for j in range(k + 1, n):
                    LU[i, j] -= LU[i, k] * LU[k, j]
    return True


@part
def substitute(LU: Any, rows: Any, b: Any) -> Any:
    """b ← (1 - c J)⁻¹ b."""
    n = len(b)
    for k in range(n):
        b[k], b[rows[k]] = b[rows[k]], b[k]
    for i in range(n):
        for j in range(i):
            b[i] -= LU[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= LU[i, j] * b[j]
        b[i] /= LU[i, i]


@part
def predict(w: Any) -> Any:
    """y ← x⁰, d ← 0, and ψ."""
    order = w.counts[0]
    for j in range(w.y.size):
        total, psi = w.D[0, j], 0.0
        for k in range(1, order + 1):
            total += w.D[k, j]
            psi += GAMMA[k] * w.D[k, j]
        w.y[j], w.d[j], w.psi[j] = total, 0.0, psi / ALPHA[order]


@part
def iterate(w: Any, t: Any, c: Any) -> Any:
    """Newton's method for y. Returns the number of iterations, or 0 if it did not converge."""
    last, close = 0.0, max(10 * EPSILON / w.tolerance, _CLOSE)
    allow(w.y, w.tolerance, w.scale)
    for k in range(ITERATIONS):
        call(w.rates, t, w.y.ctypes.data, w.p.ctypes.data, w.f.ctypes.data)
        for j in range(w.y.size):
            w.spare[j] = c * w.f[j] - w.psi[j] - w.d[j]
        substitute(w.LU, w.rows, w.spare)
        length = size(w.spare, w.scale)
        if not length < np.inf:
            return 0
        if k > 0:
            ratio = length / last
            if ratio >= 1 or ratio ** (ITERATIONS - k) / (1 - ratio) * length > close:
                return 0
            w.now[3] = max(0.3 * w.now[3], ratio)
        rate = w.now[3]
        for j in range(w.y.size):
            w.y[j] += w.spare[j]
            w.d[j] += w.spare[j]
        if length == 0 or (rate < 1 and rate / (1 - rate) * length < close):
            return k + 1
        last = length
    return 0


@part
def attempt(w: Any, t: Any) -> Any:
    """One attempt at a step to t: (whether it was taken, factor of the next step)."""
    order, c = w.counts[0], w.now[1] / ALPHA[w.counts[0]]
    predict(w)
    if not w.counts[3] or c != w.now[2]:
        if not w.counts[2] and w.counts[4] == 0:  # the very first Jacobian
            find_slopes(w, t)
            w.counts[2] = 1
        w.counts[3] = factorize(w.LU, w.rows, w.J, c)
        w.now[2], w.now[3] = c, 1.0
    used = iterate(w, t, c) if w.counts[3] else 0
    if used == 0:
        if w.counts[2]:
            return False, 0.5
        predict(w)
        find_slopes(w, t)
        w.counts[2], w.counts[3] = 1, 0
        return False, 1.0
    safety = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + used)
    allow(w.y, w.tolerance, w.scale)
    error = ERROR[order] * size(w.d, w.scale)
    if not error <= 1:
        return False, max(0.2, safety * error ** (-1 / (order + 1))) if error < np.inf else 0.2
    return True, safety


@part
def accept(w: Any, t: Any) -> Any:
    """Take the step to t."""
    order, D = w.counts[0], w.D
    for j in range(w.x.size):
        D[order + 2, j] = w.d[j] - D[order + 1, j]
        D[order + 1, j] = w.d[j]
        for k in range(order, -1, -1):
            D[k, j] += D[k + 1, j]
        w.last[j], w.x[j] = w.x[j], w.y[j]
    w.now[4], w.now[0] = w.now[0], t
    w.counts[1] += 1
    w.counts[2] = 0
    w.counts[4] += 1


@part
def choose_order(w: Any, safety: Any) -> Any:
    """The order, one lower or one higher, that allows the longest step."""
    order = w.counts[0]
    if w.counts[1] < order + 1:
        return
    best, longest = order, (max(ERROR[order] * size(w.d, w.scale), 1e-30)) ** (-1 / (order + 1))
    if order > 1:
        lower = max(ERROR[order - 1] * size(w.D[order], w.scale), 1e-30) ** (-1 / order)
        if lower > longest:
            best, longest = order - 1, lower
    if order < MOST:
        higher = max(ERROR[order + 1] * size(w.D[order + 2], w.scale), 1e-30) ** (-1 / (order + 2))
        if higher > longest:
            best, longest = order + 1, higher
    factor = min(10.0, safety * longest)
    if best == order and _SAME_FROM < factor < _SAME_TO:
        return
    w.counts[0] = best
    change_step(w, factor)


@part
def between(D: Any, now: Any, order: Any, h: Any, t: Any, out: Any) -> Any:
    """The polynomial of the last step at t: Σ_k Dᵏ Π_{i<k} (t - t_{-i})/((i + 1) h)."""
    for j in range(out.size):
        out[j] = D[0, j]
    product, order = 1.0, 0 if t == now[0] else order
    for k in range(order):
        product *= (t - now[0] + h * k) / (h * (k + 1))
        for j in range(out.size):
            out[j] += product * D[k + 1, j]


@part
def time_in_step(motion: Any, share: Any) -> Any:
    """The time at a share of the last step."""
    _, now, step = motion
    return now[0] if share == 1 else step[3] + share * (now[0] - step[3])


@part
def state_in_step(motion: Any, share: Any, out: Any) -> Any:
    """The state at a share of the last step."""
    D, now, step = motion
    between(D, now, int(step[1]), step[2], time_in_step(motion, share), out)


search = searching(time_in_step, state_in_step)


@part
def record(w: Any, order: Any, h: Any) -> Any:
    """Write the samples up to the present time."""
    c = w.cursor
    while c[0] < w.instants.size and (w.instants[c[0]] - w.now[0]) * h <= 0:
        between(w.D, w.now, order, h, w.instants[c[0]], w.samples[c[0]])
        c[0] += 1


@part
def inspect(w: Any) -> Any:
    """Pivots good? Then update the maxima."""
    call(w.monitor, w.now[0], w.x.ctypes.data, w.p.ctypes.data, w.out.ctypes.data)
    out, maxima, r = w.out, w.maxima, w.maxima.size - 2
    if out[0] >= w.jumped:
        return JUMPED
    if np.isnan(maxima[r + 1]):
        maxima[r + 1] = out[1]
    for j in range(r):
        maxima[j] = max(maxima[j], abs(out[2 + j]))
    maxima[r] = max(maxima[r], abs(out[1] - maxima[r + 1]))
    return PIVOT if out[0] > w.limit else DONE


@part
def first_step(w: Any) -> Any:
    """The differences of order 1 with a first step for which the local error is small (Hairer, Wanner II.4)."""
    x, f, y, spare, scale, t, longest = w.x, w.f, w.y, w.spare, w.scale, w.now[0], w.t1 - w.now[0]
    call(w.rates, t, x.ctypes.data, w.p.ctypes.data, f.ctypes.data)
    allow(x, w.tolerance, scale)
    length, speed = size(x, scale), size(f, scale)
    if not (length < np.inf and speed < np.inf):
        return NOT_FINITE
    h = 0.01 * length / speed if length > 1e-5 and speed > 1e-5 else 1e-6 * abs(longest)
    h = min(h, abs(longest)) * np.sign(longest)
    for j in range(x.size):
        y[j] = x[j] + h * f[j]
    call(w.rates, t + h, y.ctypes.data, w.p.ctypes.data, spare.ctypes.data)
    for j in range(x.size):
        spare[j] -= f[j]
    bend = size(spare, scale) / abs(h)
    if bend < np.inf and max(speed, bend) > 1e-15:
        h = np.sign(longest) * min(100 * abs(h), np.sqrt(0.01 / max(speed, bend)), abs(longest))
    for j in range(x.size):
        w.D[0, j], w.D[1, j] = x[j], h * f[j]
    w.now[1] = h
    w.counts[0] = 1
    if w.search.size.size:
        call(w.search.functions, t, x.ctypes.data, w.p.ctypes.data, w.search.before.ctypes.data)
    record(w, 1, h)
    return inspect(w)


@part
def take_step(w: Any) -> Any:
    """One step; false if its size went to zero."""
    former, taken, safety = w.now[0], False, 1.0
    while not taken:
        if abs(w.now[1]) < 10 * EPSILON * max(abs(former), 1e-300):
            return False
        t = former + w.now[1]
        if (t + _LAST * w.now[1] - w.t1) * w.now[1] >= 0:
            change_step(w, (w.t1 - former) / w.now[1])
            t = w.t1
        taken, safety = attempt(w, t)
        if not taken and safety != 1.0:
            change_step(w, safety)
    w.step[0], w.step[1], w.step[2], w.step[3], w.step[4] = 1.0, w.counts[0], w.now[1], former, safety
    accept(w, t)
    if w.search.size.size:
        call(w.search.functions, w.now[0], w.x.ctypes.data, w.p.ctypes.data, w.search.after.ctypes.data)
    return True


@loop(step_events)
def advance(w: Any, most: Any) -> Any:
    """At most so many steps. Returns a code; called again with the same arrays, it continues where it stopped."""
    if w.counts[0] == 0:  # no order yet
        code = first_step(w)
        if code != DONE:
            return code
    for _ in range(most):
        if w.step[0] == 0:
            if w.now[0] == w.t1:
                return DONE
            if not take_step(w):
                return STALLED
            if inspect(w) == JUMPED:
                return JUMPED
            record(w, int(w.step[1]), w.step[2])
        found = search(w.search, w.p, (w.D, w.now, w.step)) if w.search.size.size else NOTHING
        if found != NOTHING:
            return UNDEFINED if found == NO_VALUE else HAPPENED
        w.step[0] = 0
        choose_order(w, w.step[4])
        if w.out[0] > w.limit:
            return PIVOT
    return DONE


class Many(NamedTuple):
    """The runs of a block and what is found of them: R runs with I instants each."""

    x: np.ndarray  # (R, n) at the start, then at the end
    p: np.ndarray  # (R, parameters)
    instants: np.ndarray  # (R, I) from the start to the end of every run
    samples: np.ndarray  # (R, I, n) not a number at first
    maxima: np.ndarray  # (R, r + 2) as in `Stiff`, the last one not a number at first
    codes: np.ndarray  # (R) how a run ended
    ends: np.ndarray  # (R) when it ended


@part
def work_of(w: Any, m: Any, k: Any) -> Any:
    """The arrays of run k with the scratch arrays of w."""
    return Stiff(
        w.rates, w.monitor, m.instants[k, -1], w.tolerance, w.limit, w.jumped, w.now, w.counts, m.p[k],
        m.x[k], w.last, w.D, w.R, w.f, w.y, w.d, w.psi, w.scale, w.spare, w.J, w.LU, w.rows, w.out, m.maxima[k],
        m.instants[k], m.samples[k], w.cursor, w.search, w.step,
    )  # fmt: skip


@part
def begin(w: Any) -> Any:
    """The memory of the method before the first step, and that step."""
    w.now[:] = 0.0
    w.now[0] = w.now[4] = w.instants[0]
    w.now[3] = 1.0
    w.counts[:] = 0
    w.cursor[:] = 0
    w.D[:] = 0.0
    w.step[:] = 0.0
    begin_search(w.search)
    return first_step(w)


@part
def end(w: Any, code: Any) -> Any:
    """The time at which a run ended; after an event its state goes to w.x, and samples beyond it are erased."""
    if code != HAPPENED:
        return w.now[0]
    return take_first_event(w.search, np.sign(w.now[1]), w.x, w.instants, w.samples, w.cursor[0])


@loop(step_events)
def advance_all(w: Any, m: Any, run: Any, started: Any, most: Any) -> Any:
    """At most so many steps of the runs of m, one run after the other; every event ends its run.

    Returns (run, whether it has started); called again with them, it continues there. A run whose end is more than 1e15
    of its steps away has stalled.
    """
    while run < m.ends.size and most > 0:
        own = work_of(w, m, run)
        code = DONE if started else begin(own)
        started = True
        while code == DONE and w.now[0] != own.t1 and most > 0:
            taken = w.counts[4]
            code = advance(own, min(most, CHUNK))
            most -= max(w.counts[4] - taken, 1)
            far = abs(own.t1 - w.now[0]) * w.counts[4] >= FARTHEST * abs(w.now[0] - own.instants[0])
            if code == DONE and w.counts[4] >= CHUNK and far:
                code = STALLED
        if code == DONE and w.now[0] != own.t1:
            return run, True
        m.codes[run], m.ends[run] = code, end(own, code)
        run, started = run + 1, False
        most -= 1
    return run, started
