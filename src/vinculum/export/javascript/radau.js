// Radau IIA of order 5 with three stages, for stiff motions: strong damping, inductances, feedback with large gains
// (Hairer, Wanner: Solving Ordinary Differential Equations II, IV.8). Used like the method of dop853.js. The Jacobian is
// computed by differences. T brings the inverse of the matrix of coefficients to one real and a pair of complex roots.
const S6 = Math.sqrt(6);
const RADAU_C = [(4 - S6) / 10, (4 + S6) / 10, 1];
const RADAU_E = [(-13 - 7 * S6) / 3, (-13 + 7 * S6) / 3, -1 / 3];
const RADAU_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3);
const RADAU_PAIR = [3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)), -0.5 * (3 ** (5 / 6) + 3 ** (7 / 6))];
const RADAU_T = [
  [0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
  [0.25021312296533332, 0.20412935229379994, -0.38294211275726192],
  [1, 1, 0],
];
const RADAU_TI = [
  [4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
  [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
  [0.50287263494578682, -2.57192694985560522, 0.59603920482822492],
];
const RADAU_P = [
  [13 / 3 + 7 * S6 / 3, -23 / 3 - 22 * S6 / 3, 10 / 3 + 5 * S6],
  [13 / 3 - 7 * S6 / 3, -23 / 3 + 22 * S6 / 3, 10 / 3 - 5 * S6],
  [1 / 3, -8 / 3, 10 / 3],
];
const NEWTON_STEPS = 6;

class Radau {
  constructor(f, n, tolerance, sizes) {
    Object.assign(this, { f, n, tolerance, sizes, evaluations: 0, stiff: false });
    for (const name of ["y", "old", "slope", "near", "error"]) this[name] = new Float64Array(n);
    for (const name of ["Z", "W", "F"]) this[name] = [0, 1, 2].map(() => new Float64Array(n));
    this.Q = [0, 1, 2].map(() => new Float64Array(n));
    this.J = new Float64Array(n * n);
    this.real = { A: new Float64Array(n * n), rows: new Int32Array(n), size: n };
    this.pair = { A: new Float64Array(4 * n * n), rows: new Int32Array(2 * n), size: 2 * n };
    this.right = new Float64Array(2 * n);
    this.change = new Float64Array(2 * n);
    this.newton = Math.max(10 * 2.2e-16 / tolerance, Math.min(0.03, Math.sqrt(tolerance)));
  }

  begin(t, y, end) {
    this.t = t;
    this.end_time = end;
    this.y.set(y);
    this.rate(t, this.y, this.slope);
    this.h = firstStep(this, 4);
    this.before = null;
    this.dense = false;
    this.differentiate();
  }

  rate(t, y, dy) {
    this.evaluations += 1;
    this.f(t, y, dy);
  }

  // ∂f/∂y by differences.
  differentiate() {
    const { n, y, J, near, error: then } = this;
    near.set(y);
    for (let j = 0; j < n; j += 1) {
      near[j] = y[j] + 1.5e-8 * Math.max(this.sizes[j], Math.abs(y[j])) * (y[j] < 0 ? -1 : 1);
      this.rate(this.t, near, then);
      for (let i = 0; i < n; i += 1) J[i * n + j] = (then[i] - this.slope[i]) / (near[j] - y[j]);
      near[j] = y[j];
    }
    this.current = true;
    this.factored = 0;
  }

  // (μ/h - J) for the real root, and for the pair as a real matrix of twice the size.
  factorAt(h) {
    const { n, J, real, pair } = this;
    const a = RADAU_PAIR[0] / h, b = RADAU_PAIR[1] / h, size = 2 * n;
    pair.A.fill(0);
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < n; j += 1) {
        const own = -J[i * n + j];
        real.A[i * n + j] = own;
        pair.A[i * size + j] = pair.A[(i + n) * size + j + n] = own;
      }
      real.A[i * n + i] += RADAU_REAL / h;
      pair.A[i * size + i] += a;
      pair.A[(i + n) * size + i + n] += a;
      pair.A[i * size + i + n] = -b;
      pair.A[(i + n) * size + i] = b;
    }
    this.factored = factor(real.A, n, real.rows) && factor(pair.A, size, pair.rows) ? h : 0;
    return this.factored !== 0;
  }

  step() {
    for (let attempts = 0, rejected = false; ; attempts += 1) {
      const left = this.end_time - this.t;
      const last = Math.abs(this.h) >= Math.abs(left) * (1 - 1e-12);
      const h = last ? left : this.h;
      if (!(Math.abs(h) > 1e-15 * Math.max(Math.abs(this.t), Math.abs(left))) || attempts > 200) return "step";
      const found = (this.factored === h || this.factorAt(h)) && this.collocate(h);
      if (!found) {
        if (this.current) this.h = h * 0.5;
        else this.differentiate();
        continue;
      }
      const error = this.measure(h, rejected);
      const safety = 0.9 * (2 * NEWTON_STEPS + 1) / (2 * NEWTON_STEPS + found.steps);
      const factor = this.predict(h, error);
      if (error > 1 || !Number.isFinite(error)) {
        this.h = h * (Number.isFinite(error) ? Math.max(0.2, safety * factor) : 0.1);
        rejected = true;
        continue;
      }
      this.accept(h, last, error, Math.min(10, safety * factor), found);
      return "";
    }
  }

  // The stages Z by simplified Newton steps; null if they do not converge.
  collocate(h) {
    const { n, y, Z, W, F, near, right, change, real, pair } = this;
    for (let k = 0; k < 3; k += 1) {
      if (this.dense) {
        this.at(this.t + h * RADAU_C[k], Z[k]);
        for (let i = 0; i < n; i += 1) Z[k][i] -= this.shift[i];
      } else Z[k].fill(0);
    }
    transform(W, RADAU_TI, Z, n);
    let before = 0, ratio = 0;
    for (let steps = 0; steps < NEWTON_STEPS; steps += 1) {
      for (let k = 0; k < 3; k += 1) {
        for (let i = 0; i < n; i += 1) near[i] = y[i] + Z[k][i];
        this.rate(this.t + h * RADAU_C[k], near, F[k]);
      }
      for (let i = 0; i < n; i += 1) right[i] = mixed(RADAU_TI[0], F, i) - RADAU_REAL / h * W[0][i];
      solveFactored(real.A, n, real.rows, right, change);
      let size = this.add(W[0], change, 0);
      const a = RADAU_PAIR[0] / h, b = RADAU_PAIR[1] / h;
      for (let i = 0; i < n; i += 1) {
        right[i] = mixed(RADAU_TI[1], F, i) - a * W[1][i] + b * W[2][i];
        right[i + n] = mixed(RADAU_TI[2], F, i) - a * W[2][i] - b * W[1][i];
      }
      solveFactored(pair.A, 2 * n, pair.rows, right, change);
      size += this.add(W[1], change, 0) + this.add(W[2], change, n);
      size = Math.sqrt(size / (3 * n));
      if (!Number.isFinite(size)) return null;
      if (steps > 0) ratio = size / before;
      if (steps > 0 && (ratio >= 1 || ratio ** (NEWTON_STEPS - steps) / (1 - ratio) * size > this.newton)) return null;
      transform(Z, RADAU_T, W, n);
      if (size === 0 || (steps > 0 && ratio / (1 - ratio) * size < this.newton)) return { steps: steps + 1, ratio };
      before = size;
    }
    return null;
  }

  // W += change from an offset on; the sum of squares in units of the tolerance.
  add(W, change, offset) {
    let sum = 0;
    for (let i = 0; i < this.n; i += 1) {
      W[i] += change[offset + i];
      sum += (change[offset + i] / (this.tolerance * Math.max(this.sizes[i], Math.abs(this.y[i])))) ** 2;
    }
    return sum;
  }

  // The error of the embedded formula, filtered by the real matrix.
  measure(h, again) {
    const { n, y, Z, right, error, real, near } = this;
    const size = () => {
      let sum = 0;
      for (let i = 0; i < n; i += 1) {
        const allowed = this.tolerance * Math.max(this.sizes[i], Math.abs(y[i]), Math.abs(y[i] + Z[2][i]));
        sum += (error[i] / allowed) ** 2;
      }
      return Math.sqrt(sum / n);
    };
    for (let i = 0; i < n; i += 1) right[i] = this.slope[i] + mixed(RADAU_E, Z, i) / h;
    solveFactored(real.A, n, real.rows, right, error);
    if (!again || size() <= 1) return Math.max(size(), 1e-10);
    for (let i = 0; i < n; i += 1) near[i] = y[i] + error[i];
    this.rate(this.t, near, right);
    for (let i = 0; i < n; i += 1) right[i] += mixed(RADAU_E, Z, i) / h;
    solveFactored(real.A, n, real.rows, right, error);
    return Math.max(size(), 1e-10);
  }

  // The factor of the next step by Gustafsson's control.
  predict(h, error) {
    const known = this.before ? Math.abs(h / this.before.h) * (this.before.error / error) ** 0.25 : 1;
    return Math.min(1, known) * error ** -0.25;
  }

  accept(h, last, error, growth, found) {
    const { n, y, Z, Q } = this;
    this.old.set(y);
    for (let i = 0; i < n; i += 1) {
      for (let k = 0; k < 3; k += 1) Q[k][i] = Z[0][i] * RADAU_P[0][k] + Z[1][i] * RADAU_P[1][k] + Z[2][i] * RADAU_P[2][k];
      y[i] += Z[2][i];
    }
    this.old_time = this.t;
    this.taken = h;
    this.t = last ? this.end_time : this.t + h;
    this.dense = true;
    this.again = found.steps > 2 && found.ratio > 1e-3;
    this.before = { h, error };
    this.h = !this.again && growth < 1.2 ? h : h * growth;
  }

  moved() {
    this.rate(this.t, this.y, this.slope);
    this.shift = Float64Array.from(this.y);
    if (this.again) this.differentiate();
    else this.current = false;
  }

  // The polynomial through the stages.
  at(t, out) {
    const x = (t - this.old_time) / this.taken;
    for (let i = 0; i < this.n; i += 1) out[i] = this.old[i] + x * (this.Q[0][i] + x * (this.Q[1][i] + x * this.Q[2][i]));
  }
}

function mixed(row, vectors, i) {
  return row[0] * vectors[0][i] + row[1] * vectors[1][i] + row[2] * vectors[2][i];
}

function transform(out, matrix, vectors, n) {
  for (let k = 0; k < 3; k += 1) for (let i = 0; i < n; i += 1) out[k][i] = mixed(matrix[k], vectors, i);
}
