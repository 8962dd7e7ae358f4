// Tables of numbers, the data of the page.
//
// A run is {times: Float64Array, columns: {key: Float64Array}}, one for each motion, and one for each set of errors
// drawn on a logarithmic axis. Keys name the plotted quantities ("theta", "dot(theta)", "energy", "reaction rod", ...)
// and what the drawing needs ("drawn bob x", "circle 0 angle", ...). The page is built once from a description:
//
//   charts: [{id, series: [{run, key, name, color, dash}], unit, log, bounds: [{name, value}], until}]
//   films:  [{name, run, group, box}]           motions that can be played, with the group of charts next to each
//   scene:  {dimension, points: {name: [keys]}, shapes: [{kind, name, points, color, closed, radius, angle, normal}],
//            traces: [point names], unit, arrows: [{name, kind, at, keys, color}], units: {force, torque}}
//   time:   the unit of time
//
// window.vinculum = {description, runs: {identifier: run}, show(run, identifier), at(t), time, playing, play(), pause()}.
// show replaces the table of a motion by another one with the same keys (other times are allowed) and draws everything
// again; the default identifier is that of the motion on the stage. The event "vinculum:shown" follows, with
// detail.identifier; "vinculum:time" follows every change of the time, with detail.t.

function unpacked(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Float64Array(new Kind(bytes.buffer));
}

function unpackedRun(packed) {
  const times = unpacked(packed.times, Float64Array), columns = {};
  for (const [key, column] of Object.entries(packed.columns))
    columns[key] = typeof column === "string" ? unpacked(column, Float32Array)
      : new Float64Array(times.length).fill(column === null ? NaN : column);
  return { times, columns };
}

const first = (run) => run.times[0];
const last = (run) => run.times[run.times.length - 1];
const within = (run, t) => {
  const low = Math.min(first(run), last(run)), high = Math.max(first(run), last(run));
  return Math.min(Math.max(t, low), high);
};

// The row at or before an instant; runs may go backward.
function rowAt(run, t) {
  const { times } = run, sign = last(run) >= first(run) ? 1 : -1;
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sign * (times[middle] - t) <= 0) low = middle; else high = middle;
  }
  return low;
}

// Rows and weights of the cubic through two rows, with slopes of parabolas through three: value = sum of w[k] y[rows[k]].
function cubicWeights(run, t) {
  const { times } = run, count = times.length;
  if (count < 2) return { rows: [0], weights: [1] };
  t = within(run, t);
  const i = rowAt(run, t), rows = [Math.max(i - 1, 0), i, i + 1, Math.min(i + 2, count - 1)], weights = [0, 0, 0, 0];
  const h = times[i + 1] - times[i], s = h === 0 ? 0 : (t - times[i]) / h;
  weights[1] = (1 + 2 * s) * (1 - s) ** 2;
  weights[2] = s * s * (3 - 2 * s);
  slope(times, i, weights, 1, s * (1 - s) ** 2 * h);
  slope(times, i + 1, weights, 2, -s * s * (1 - s) * h);
  return { rows, weights };
}

// Adds share times the slope at a row; the row is number place among the four.
function slope(times, row, weights, place, share) {
  const before = row > 0 ? times[row] - times[row - 1] : 0;
  const after = row + 1 < times.length ? times[row + 1] - times[row] : 0;
  const left = before === 0 ? 0 : after === 0 ? 1 : after / (before + after);
  const right = after === 0 ? 0 : 1 - left;
  if (left) { weights[place] += share * left / before; weights[place - 1] -= share * left / before; }
  if (right) { weights[place + 1] += share * right / after; weights[place] -= share * right / after; }
}

function mixed(column, { rows, weights }) {
  let sum = 0;
  for (let k = 0; k < rows.length; k += 1) if (weights[k]) sum += weights[k] * column[rows[k]];
  return sum;
}

// The value on the line through the rows, as a chart draws it; NaN outside the run.
function valueAt(run, key, t) {
  const { times } = run, y = run.columns[key];
  if (times.length < 2) return y[0];
  if (within(run, t) !== t) return NaN;
  const i = rowAt(run, t), h = times[i + 1] - times[i];
  return h === 0 ? y[i] : y[i] + (y[i + 1] - y[i]) * (t - times[i]) / h;
}
