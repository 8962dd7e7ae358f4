// The method of order 8 of Dormand and Prince with step control and dense output of order 7, for smooth motions that are
// not stiff (Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, II.5 and II.10; coefficients as in their
// DOP853). A method of this file and of radau.js is used the same way:
//
//   const method = new Dop853(f, n, tolerance, sizes);   // f(t, y, dy); sizes of the states for absolute tolerances
//   method.begin(t, y, end);
//   const why = method.step();   // "" or why it cannot go on; then method.t, method.y
//   method.at(t, out);           // the states within the last step
//   method.moved(changed);       // before the next step; whether the caller changed method.y
const DOP_C =
  [0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
  0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1, 1, 0.1, 0.2, 0.7777777777777778];
const DOP_A = [
  [],
  [0.05260015195876773],
  [0.0197250569845379, 0.0591751709536137],
  [0.02958758547680685, 0, 0.08876275643042054],
  [0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792],
  [0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242],
  [0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
  [0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402, 0.008273789163814023],
  [0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671, 20.154067550477894,
  -43.48988418106996],
  [0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
  -33.28821096898486, -0.020331201708508627],
  [-0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696,
  22.739487099350505, 2.4936055526796523, -3.0467644718982196],
  [2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
  -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636],
  [0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
  -0.1521609496625161, 0.20136540080403034, 0.04471061572777259],
  [0.056167502283047954, 0, 0, 0, 0, 0, 0.25350021021662483, -0.2462390374708025, -0.12419142326381637,
  0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298],
  [0.03183464816350214, 0, 0, 0, 0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099, 0, 0,
  -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456, 0.1413124436746325],
  [-0.42889630158379194, 0, 0, 0, 0, -4.697621415361164, 7.683421196062599, 4.06898981839711, 0.3567271874552811, 0,
  0, 0, -0.0013990241651590145, 2.9475147891527724, -9.15095847217987]
];
const DOP_E3 =
  [-0.18980075407240762, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, -0.4226823213237919,
  -0.1521609496625161, 0.20136540080403034, 0.02265179219836082];
const DOP_E5 =
  [0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
  -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294];
const DOP_D = [
  [-8.428938276109013, 0, 0, 0, 0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207, 2.117034582445028,
  -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331, 18.148505520854727,
  -9.194632392478356, -4.436036387594894],
  [10.427508642579134, 0, 0, 0, 0, 242.28349177525817, 165.20045171727028, -374.5467547226902, -22.113666853125306,
  7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845, -31.139403219565178,
  -9.35292435884448, 35.81684148639408],
  [19.985053242002433, 0, 0, 0, 0, -387.0373087493518, -189.17813819516758, 527.8081592054236, -11.57390253995963,
  6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508, -60.19669523126412,
  84.32040550667716, 11.99229113618279],
  [-25.69393346270375, 0, 0, 0, 0, -154.18974869023643, -231.5293791760455, 357.6391179106141, 93.40532418362432,
  -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114, 96.32455395918828, -39.17726167561544,
  -149.72683625798564]
];

class Dop853 {
  constructor(f, n, tolerance, sizes) {
    Object.assign(this, { f, n, tolerance, sizes, evaluations: 0, stiff: false });
    this.K = Array.from({ length: 16 }, () => new Float64Array(n));
    for (const name of ["y", "old", "end", "stage", "last"]) this[name] = new Float64Array(n);
    this.F = Array.from({ length: 7 }, () => new Float64Array(n));
  }

  begin(t, y, end) {
    this.t = t;
    this.end_time = end;
    this.y.set(y);
    this.suspicions = this.calm = 0;
    this.rate(t, this.y, this.K[0]);
    this.h = firstStep(this, 8);
  }

  rate(t, y, dy) {
    this.evaluations += 1;
    this.f(t, y, dy);
  }

  step() {
    for (let rejected = 0; ; rejected += 1) {
      const left = this.end_time - this.t;
      const last = Math.abs(this.h) >= Math.abs(left) * (1 - 1e-12);
      const h = last ? left : this.h;
      if (Math.abs(h) <= 1e-15 * Math.max(Math.abs(this.t), Math.abs(left)) || rejected > 200) return "step";
      const error = this.attempt(h);
      const factor = Math.min(6, Math.max(1 / 3, 0.9 * Math.pow(error, -1 / 8)));
      if (error <= 1) {
        this.accept(h, last);
        this.h = rejected ? Math.sign(h) * Math.min(Math.abs(h * factor), Math.abs(h)) : h * factor;
        return "";
      }
      this.h = h * (Number.isFinite(error) ? Math.min(factor, 0.9) : 0.1);
    }
  }

  // Stages, the new state in this.end, and the size of the error in units of the allowed one.
  attempt(h) {
    const { n, K, y, end, stage, last } = this;
    for (let s = 1; s < 13; s += 1) {
      const target = s === 12 ? end : stage;
      combine(target, y, h, DOP_A[s], K);
      this.rate(this.t + DOP_C[s] * h, target, K[s]);
      if (s === 11) last.set(stage);
    }
    let five = 0, three = 0;
    for (let i = 0; i < n; i += 1) {
      const size = this.tolerance * Math.max(this.sizes[i], Math.abs(y[i]), Math.abs(end[i]));
      let e5 = 0, e3 = 0;
      for (let s = 0; s < 12; s += 1) {
        e5 += DOP_E5[s] * K[s][i];
        e3 += DOP_E3[s] * K[s][i];
      }
      five += (e5 / size) ** 2;
      three += (e3 / size) ** 2;
    }
    const error = five + three === 0 ? 0 : Math.abs(h) * five / Math.sqrt((five + 0.01 * three) * n);
    return Number.isFinite(error) ? Math.max(error, 1e-10) : Infinity;
  }

  accept(h, last) {
    this.watchStiffness(h);
    this.old.set(this.y);
    this.y.set(this.end);
    this.old_time = this.t;
    this.taken = h;
    this.t = last ? this.end_time : this.t + h;
    this.dense = false;
  }

  // |h λ| of the last two stages: beyond the region of stability (about 6.1) for fifteen steps, the motion is stiff.
  watchStiffness(h) {
    let above = 0, below = 0;
    for (let i = 0; i < this.n; i += 1) {
      above += (this.K[12][i] - this.K[11][i]) ** 2;
      below += (this.end[i] - this.last[i]) ** 2;
    }
    if (below > 0 && Math.abs(h) * Math.sqrt(above / below) > 6.1) {
      this.calm = 0;
      this.suspicions += 1;
      if (this.suspicions === 15) this.stiff = true;
    } else if (++this.calm === 6) this.suspicions = 0;
  }

  // Call it after each step, once the samples within the step were read: the slopes of the next step.
  moved(changed) {
    if (changed) this.rate(this.t, this.y, this.K[0]);
    else this.K[0].set(this.K[12]);
  }

  at(t, out) {
    if (!this.dense) this.prepareDense();
    const { n, F, old } = this;
    const x = (t - this.old_time) / this.taken;
    for (let i = 0; i < n; i += 1) {
      let value = 0;
      for (let k = 6; k >= 0; k -= 1) value = (value + F[k][i]) * ((6 - k) % 2 === 0 ? x : 1 - x);
      out[i] = old[i] + value;
    }
  }

  prepareDense() {
    const { n, K, F, old, end, stage } = this;
    const h = this.taken;
    for (let s = 13; s < 16; s += 1) {
      combine(stage, old, h, DOP_A[s], K);
      this.rate(this.old_time + DOP_C[s] * h, stage, K[s]);
    }
    for (let i = 0; i < n; i += 1) {
      const change = end[i] - old[i];
      F[0][i] = change;
      F[1][i] = h * K[0][i] - change;
      F[2][i] = 2 * change - h * (K[12][i] + K[0][i]);
      for (let k = 0; k < 4; k += 1) {
        let sum = 0;
        for (let s = 0; s < 16; s += 1) sum += DOP_D[k][s] * K[s][i];
        F[3 + k][i] = h * sum;
      }
    }
    this.dense = true;
  }
}

// out = y + h Σ a_s K_s
function combine(out, y, h, a, K) {
  const n = y.length;
  for (let i = 0; i < n; i += 1) out[i] = 0;
  for (let s = 0; s < a.length; s += 1) {
    const factor = a[s], slope = K[s];
    if (factor !== 0) for (let i = 0; i < n; i += 1) out[i] += factor * slope[i];
  }
  for (let i = 0; i < n; i += 1) out[i] = y[i] + h * out[i];
}

// A first step from the sizes of y, y' and y'' (Hairer, Nørsett, Wanner: II.4).
function firstStep(method, order) {
  const { n, y, t, sizes, tolerance } = method;
  const slope = method.slope ?? method.K[0];
  const size = (values) => {
    let sum = 0;
    for (let i = 0; i < n; i += 1) sum += (values[i] / (tolerance * Math.max(sizes[i], Math.abs(y[i])))) ** 2;
    return Math.sqrt(sum / n);
  };
  const whole = Math.abs(method.end_time - t), forward = Math.sign(method.end_time - t);
  const d0 = size(y), d1 = size(slope);
  const h0 = Math.min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 * whole : 0.01 * d0 / d1, whole);
  const near = y.map((value, i) => value + forward * h0 * slope[i]), then = new Float64Array(n);
  method.rate(t + forward * h0, near, then);
  const d2 = size(then.map((value, i) => value - slope[i])) / h0;
  const steep = Math.max(d1, d2);
  const h1 = steep <= 1e-15 ? Math.max(1e-6 * whole, h0 * 1e-3) : Math.pow(0.01 / steep, 1 / order);
  const h = Math.min(100 * h0, h1, whole);
  return forward * (Number.isFinite(h) && h > 0 ? h : 1e-6 * whole);
}
