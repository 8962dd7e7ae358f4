// A motion from given numbers: a consistent start, adaptive steps, constraints projected onto after every step, samples.
//
// A model has these functions, written from the same graph as the machine code that Python runs:
//
//   motion(t, x, p, dx, k, e, y)   rates; quantities that must not reach zero; event functions; columns, residuals, E - w
//   states(t, s, p, x)             the states x of the coordinates and velocities s
//   levels, starts                 [{ kernel(t, x or s, p, f, J), rows, moved, names, what }]
//
// and these numbers: sizes of the states (for tolerances), columns, residuals, balanced (whether E - w is conserved),
// limits [{ least, words }] of k, events [{ name, direction, terminal }], follows (whether constraints are approached by
// rates that belong to the equations, so that nothing is projected).

class Refusal extends Error {}

const SINGULAR = "The equations became singular";

// The values s with those that depend on the others moved onto the constraints by Newton's method.
function consistentStart(model, t, s, p) {
  const found = Float64Array.from(s);
  for (const level of model.starts) {
    if (!settle(level, t, found, p, 60, model.follows)) throw new Refusal(unreachable(level, t, found, p));
  }
  return found;
}

// Newton's method with the smallest change of the variables that move; whether the residuals vanish.
function settle(level, t, x, p, most, lenient) {
  const { rows, moved } = level, n = moved.length;
  const f = new Float64Array(rows), J = new Float64Array(rows * n), d = new Float64Array(n);
  const kept = new Float64Array(n);
  const size = () => {
    level.kernel(t, x, p, f, J);
    if (lenient) release(f, J, rows, n);
    return norm(f);
  };
  let residual = size();
  for (let k = 0; k < most && residual > 0; k += 1) {
    if (!Number.isFinite(residual)) return false;
    leastChange(J, rows, n, f, d);
    for (let j = 0; j < n; j += 1) kept[j] = x[moved[j]];
    let largest = 0, step = 0;
    for (let j = 0; j < n; j += 1) {
      largest = Math.max(largest, Math.abs(x[moved[j]]));
      step = Math.max(step, Math.abs(d[j]));
    }
    const before = residual;
    let share = 1;
    for (; share > 1e-4; share /= 2) {
      for (let j = 0; j < n; j += 1) x[moved[j]] = kept[j] - share * d[j];
      residual = size();
      if (residual <= (1 - 0.1 * share) * before) break;
    }
    if (step <= 1e-14 * (largest + 1e-300) || share <= 1e-4) {
      if (!(residual <= before)) {
        for (let j = 0; j < n; j += 1) x[moved[j]] = kept[j];
        residual = size();
      }
      break;
    }
  }
  return negligible(level, f, J, x);
}

// A residual that nothing can move is left to the rates of the run.
function release(f, J, rows, n) {
  for (let i = 0; i < rows; i += 1) if (norm(J.subarray(i * n, (i + 1) * n)) === 0) f[i] = 0;
}

// Whether every residual is small relative to its slope and the numbers in it.
function negligible(level, f, J, x) {
  const n = level.moved.length;
  let largest = 0;
  for (const value of x) largest = Math.max(largest, Math.abs(value));
  for (let i = 0; i < level.rows; i += 1) {
    const slope = norm(J.subarray(i * n, (i + 1) * n));
    if (!(Math.abs(f[i]) <= 1e-9 * slope * largest + 1e-300) && !(slope === 0 && Math.abs(f[i]) <= 1e-12)) return false;
  }
  return true;
}

function unreachable(level, t, s, p) {
  const f = new Float64Array(level.rows), J = new Float64Array(level.rows * level.moved.length);
  level.kernel(t, s, p, f, J);
  const gaps = level.names.map((name, i) => [name, f[i]]).filter(([, gap]) => !(Math.abs(gap) <= 1e-9));
  const words = gaps.map(([name, gap]) => `${name} = ${Number.isFinite(gap) ? gap.toPrecision(3) : "not finite"}`);
  return `With these values the ${level.what} cannot be put on the constraints: ${words.join(", ")} remains.`;
}

// The state moved onto the constraints, positions first; whether it moved.
function project(model, t, x, p, work) {
  let moved = false;
  model.levels.forEach((level, k) => {
    const n = level.moved.length;
    work[k] ??= { f: new Float64Array(level.rows), J: new Float64Array(level.rows * n), d: new Float64Array(n) };
    const { f, J, d } = work[k];
    for (let pass = 0; pass < 8; pass += 1) {
      level.kernel(t, x, p, f, J);
      leastChange(J, level.rows, n, f, d);
      let step = 0, largest = 0;
      for (let j = 0; j < n; j += 1) {
        step = Math.max(step, Math.abs(d[j]));
        largest = Math.max(largest, Math.abs(x[level.moved[j]]));
      }
      if (!Number.isFinite(step) || step <= 1e-14 * (1 + largest)) break;
      for (let j = 0; j < n; j += 1) x[level.moved[j]] -= d[j];
      moved = true;
    }
  });
  return moved;
}

// The samples of a run, filled from the dense output of each step.
class Samples {
  constructor(model, times, p) {
    const count = model.columns.length + model.residuals.length + 1;
    Object.assign(this, { model, p, times, done: 0 });
    this.rows = Array.from({ length: count }, () => new Float64Array(times.length));
    this.x = new Float64Array(model.sizes.length);
    this.dx = new Float64Array(model.sizes.length);
    this.k = new Float64Array(model.limits.length);
    this.e = new Float64Array(model.events.length);
    this.y = new Float64Array(count);
  }

  take(t, x) {
    this.model.motion(t, x, this.p, this.dx, this.k, this.e, this.y);
    for (let i = 0; i < this.rows.length; i += 1) this.rows[i][this.done] = this.y[i];
    this.done += 1;
  }

  // The samples up to the time t, which the last step of a method has reached.
  upTo(t, forward, method) {
    while (this.done < this.times.length && forward * (this.times[this.done] - t) <= 0) {
      const instant = this.times[this.done];
      if (instant === method.t) this.x.set(method.y);
      else method.at(instant, this.x);
      this.take(instant, this.x);
    }
  }

  finish(end) {
    let times = this.times;
    if (this.done < times.length) {
      times = times.slice(0, this.done);
      if (end) times[this.done - 1] = end;
    }
    return { times, rows: this.rows.map((row) => row.slice(0, this.done)) };
  }
}

// The run as a generator: it yields the share done, so that the caller can stop it, and returns the result.
function* compute(model, { p, s, times, tolerance, stiff }) {
  const t0 = times[0], t1 = times[times.length - 1], forward = Math.sign(t1 - t0) || 1;
  const start = consistentStart(model, t0, s, p);
  const n = model.sizes.length;
  const x = new Float64Array(n), dx = new Float64Array(n);
  model.states(t0, start, p, x);
  const f = (t, y, dy) => model.motion(t, y, p, dy);
  const watch = new Watch(model, p, t0, x);
  f(t0, x, dx);
  if (!finite(x) || !finite(dx) || !watch.regular) throw new Refusal(`${SINGULAR} at the start: the accelerations are not finite there.`);
  const samples = new Samples(model, times, p), work = [];
  samples.take(t0, x);
  let method = new (stiff ? Radau : Dop853)(f, n, tolerance, model.sizes), steps = 0, ended = "", end = 0, past = 0;
  method.begin(t0, x, t1);
  while (method.t !== t1 && !ended) {
    const stuck = method.step();
    steps += 1;
    if (stuck || steps > 200000) {
      ended = `${stuck ? SINGULAR : "The run took too many steps"} at t = ${method.t.toPrecision(6)}.`;
      break;
    }
    const found = watch.check(method, forward);
    if (found.ended) [ended, end] = [found.ended, found.time];
    samples.upTo(end || method.t, forward, method);
    if (end) {
      method.at(end, samples.x);
      if (samples.done < times.length) samples.take(end, samples.x);
      break;
    }
    method.moved(model.follows ? false : project(model, method.t, method.y, p, work));
    if (method.stiff) {
      const implicit = new Radau(f, n, tolerance, model.sizes);
      implicit.begin(method.t, method.y, t1);
      past += method.evaluations;
      method = implicit;
    }
    if (steps % 16 === 0) yield (method.t - t0) / (t1 - t0);
  }
  return { ...summary(model, samples.finish(end)), start, steps, ended, events: watch.happened,
    evaluations: past + method.evaluations, stiff: method instanceof Radau };
}

function finite(values) {
  for (const value of values) if (!Number.isFinite(value)) return false;
  return true;
}

// Pivots and conditions that must not reach zero, and events between the steps.
class Watch {
  constructor(model, p, t, x) {
    Object.assign(this, { model, p, happened: [] });
    this.dx = new Float64Array(x.length);
    this.near = new Float64Array(x.length);
    this.first = new Float64Array(model.limits.length);
    this.k = new Float64Array(model.limits.length);
    this.e = new Float64Array(model.events.length);
    this.then = new Float64Array(model.events.length);
    this.quiet = !model.limits.length && !model.events.length;
    model.motion(t, x, p, this.dx, this.first, this.e);
  }

  get regular() {
    return finite(this.first) && this.first.every((value) => value !== 0);
  }

  check(method, forward) {
    if (this.quiet) return {};
    const { model, p } = this;
    model.motion(method.t, method.y, p, this.dx, this.k, this.then);
    for (let i = 0; i < this.k.length; i += 1) {
      const { least, words } = model.limits[i];
      if (!(this.k[i] / this.first[i] > least)) return { ended: `${words} at t = ${method.t.toPrecision(6)}.`, time: method.old_time };
    }
    let stop = {};
    for (let i = 0; i < this.e.length; i += 1) {
      const { name, direction, terminal } = model.events[i];
      const rising = (this.then[i] - this.e[i]) * forward > 0;
      if (!(this.e[i] * this.then[i] < 0) || direction * (rising ? 1 : -1) < 0) continue;
      const time = this.locate(method, i);
      this.happened.push({ name, time });
      if (terminal && !(stop.time && forward * (stop.time - time) <= 0)) {
        stop = { ended: `The event ${name} ended the run at t = ${time.toPrecision(6)}.`, time };
      }
    }
    this.e.set(this.then);
    if (stop.time) this.happened = this.happened.filter(({ time }) => forward * (time - stop.time) <= 0);
    return stop;
  }

  // The zero of an event function within the last step, by bisection.
  locate(method, i) {
    let low = method.old_time, high = method.t;
    const value = new Float64Array(this.e.length), below = this.e[i] < 0;
    for (let k = 0; k < 60; k += 1) {
      const middle = (low + high) / 2;
      method.at(middle, this.near);
      this.model.motion(middle, this.near, this.p, this.dx, this.k, value);
      if (value[i] < 0 === below) low = middle;
      else high = middle;
    }
    return high;
  }
}

// Columns by key, the largest residual and the error of the energy.
function summary(model, { times, rows }) {
  const columns = {};
  model.columns.forEach((key, i) => { columns[key] = rows[i]; });
  const first = model.columns.length;
  const residuals = model.residuals.map((name, i) => [name, largest(rows[first + i], 0)]);
  const balance = rows[first + model.residuals.length];
  return { times, columns, residuals, residual: residuals.reduce((most, [, size]) => Math.max(most, size), 0),
    energy: model.balanced ? largest(balance, balance[0]) : null };
}

function largest(values, from) {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value - from));
  return most;
}

// How far a motion is from the one with a larger tolerance, relative to the size of each column.
function difference(model, coarse, fine) {
  let most = 0;
  model.columns.forEach((key, k) => {
    const values = fine.columns[key], other = coarse.columns[key], count = Math.min(values.length, other.length);
    let size = model.scales[k], apart = 0;
    for (let i = 0; i < count; i += 1) {
      size = Math.max(size, Math.abs(values[i]));
      apart = Math.max(apart, Math.abs(values[i] - other[i]));
    }
    most = Math.max(most, apart / size);
  });
  return most;
}
