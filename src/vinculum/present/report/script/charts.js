// Charts over time as SVG: axes with a few round numbers, lines, one cursor. Colors are names of the style.

const NS = "http://www.w3.org/2000/svg";
const CHART = { width: 360, height: 176, left: 50, right: 10, top: 8, bottom: 22 };
const NEAR = "200px";  // of the window: charts this near are drawn at once
const COLUMN = 0.4;  // of the width of a chart: half a pixel on a wide screen
const DASHES = { dot: "2 3", dash: "7 4" };

function element(parent, name, attributes, text) {
  const made = document.createElementNS(NS, name);
  put(made, attributes);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function put(made, attributes) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
}
function label(made, words) {
  if (made.textContent !== words) made.textContent = words;
}

// Lines and labels of an axis, [attributes of the line, of the label, words]: those that are there are moved.
function ticks(group, wanted) {
  while (group.childElementCount > 2 * wanted.length) group.lastChild.remove();
  wanted.forEach(([line, text, words], k) => {
    const made = group.children[2 * k], own = group.children[2 * k + 1];
    if (!made) { element(group, "line", line); element(group, "text", text, words); return; }
    put(made, line);
    put(own, text);
    label(own, words);
  });
}

// The texts of tenths, each made once: numbers to texts is the slow part of a path.
const TENTHS = new Array(40001);
const tenth = (x) => {
  const k = Math.round(10 * x) + 20000;
  return k >= 0 && k < TENTHS.length ? TENTHS[k] ??= String((k - 20000) / 10) : String((k - 20000) / 10);
};

const minus = (text) => text.replace("-", "\u2212").replace("e\u2212", "e-");
function written(value, digits = 4) {
  if (!Number.isFinite(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    const [mantissa, power] = value.toExponential(digits - 2).split("e");
    return minus(`${Number(mantissa)} × 10${raised(Number(power))}`);
  }
  return minus(String(Number(value.toPrecision(digits))));
}
const raised = (power) => String(power).replace(/[-0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

// About so many numbers 1, 2 or 5 times a power of ten.
function roundNumbers(low, high, about) {
  const power = 10 ** Math.floor(Math.log10((high - low) / about));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => (high - low) / s <= about) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k += 1) found.push(k * step);
  return { numbers: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// The power of ten that all labels of an axis share: 0 for numbers of common size.
function commonPower(low, high) {
  const large = Math.max(Math.abs(low), Math.abs(high));
  return large > 0 && large < Infinity && (large >= 1e5 || large < 1e-2) ? Math.floor(Math.log10(large)) : 0;
}

function tickLabels(low, high, about) {
  const power = commonPower(low, high);
  if (power) return tickLabels(low / 10 ** power, high / 10 ** power, about).map(([x, label]) => [x * 10 ** power, label]);
  const { numbers, digits } = roundNumbers(low, high, about);
  const large = Math.max(Math.abs(low), Math.abs(high));
  return numbers.map((x) => [x, minus((Math.abs(x) < 1e-12 * large ? 0 : x).toFixed(Math.min(digits, 12)))]);
}

function finite(values, from, to, times) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; i += 1) {
    if ((times && (times[i] < from || times[i] > to)) || !Number.isFinite(values[i])) continue;
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return low <= high ? [low, high] : null;
}

// Limits that show the first line whole and the others as far as they stay near it.
function limits(spec, lines, from, to) {
  const own = finite(lines[0].y, from, to, lines[0].t) || [0, 1];
  if (spec.log) return decades(spec, lines);
  let [low, high] = own;
  const near = Math.max(high - low, 1e-9 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
  for (const line of lines.slice(1)) {
    const span = finite(line.y, from, to, line.t);
    if (!span) continue;
    if (span[0] < own[0] - 2 * near || span[1] > own[1] + 2 * near) {
      low = Math.min(low, own[0] - near);
      high = Math.max(high, own[1] + near);
    } else { low = Math.min(low, span[0]); high = Math.max(high, span[1]); }
  }
  if (high - low < 1e-9 * Math.max(Math.abs(low), Math.abs(high), 1e-9)) {
    const room = Math.abs(low) * 0.1 || 1;
    return [low - room, high + room];
  }
  const room = 0.06 * (high - low);
  return [low - room, high + room];
}

function decades(spec, lines) {
  const sizes = [...lines.flatMap((line) => finite(line.y) || []), ...(spec.bounds || []).map((b) => b.value)]
    .filter((size) => size > 0);
  const low = Math.floor(Math.log10(Math.min(...sizes, Infinity)));
  const high = Math.ceil(Math.log10(Math.max(...sizes, 0)));
  return Number.isFinite(low) && Number.isFinite(high) ? [low, Math.max(high, low + 1)] : [-18, 0];
}

// One chart: draw() builds it from the current tables, cursor(t) moves its cursor, timeAt(x) is the time under the pointer.
// renew() draws at once what is in view, and the rest when it comes into view or when there is time (finish).
function makeChart(spec, runs) {
  const figure = document.getElementById(spec.id), host = figure.querySelector(".plot");
  const value = figure.querySelector("figcaption output");
  const { width, height, left, right, top, bottom } = CHART;
  let from = 0, to = 1, low = 0, high = 1, parts = null, seen = false, stale = true, now = 0;
  const level = (y) => (spec.log ? Math.log10(Math.max(y, 1e-300)) : y);
  const across = (t) => left + (t - from) / (to - from || 1) * (width - left - right);
  const up = (y) => {
    const share = (level(y) - low) / (high - low || 1);
    return height - bottom - Math.min(Math.max(share, -9), 10) * (height - bottom - top);
  };

  function draw() {
    stale = false;
    const lines = spec.series.map((s) => ({ ...s, t: runs[s.run].times, y: runs[s.run].columns[s.key] }));
    const { t } = lines[0], ends = [t[0], t[t.length - 1]];
    [from, to] = [Math.min(...ends), Math.max(...ends)];
    if (spec.until !== undefined && spec.until > from && spec.until < to) to = spec.until;
    [low, high] = limits(spec, lines, from, to);
    parts ??= build(lines);
    axes();
    (spec.bounds || []).forEach(({ value: bound }, i) => put(parts.bounds[i], { y1: up(bound), y2: up(bound) }));
    lines.forEach((own, i) => parts.curves[i].setAttribute("d", path(own)));
  }

  // The elements, made once: other numbers move them, which is faster than making them again.
  function build(lines) {
    const svg = document.createElementNS(NS, "svg");
    put(svg, { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": figure.querySelector("figcaption span").textContent });
    const grid = { x: element(svg, "g", {}), y: element(svg, "g", {}), power: element(svg, "text", { x: left + 4, y: top + 9 }, "") };
    const bounds = (spec.bounds || []).map(({ name }) => {
      const made = element(svg, "line", { x1: left, x2: width - right, class: "bound" });
      made.dataset.name = name;
      return made;
    });
    const inside = { x: left, y: top - 1, width: width - left - right, height: height - top - bottom + 2 };  // clips
    const pane = element(svg, "svg", { ...inside, viewBox: Object.values(inside).join(" ") }), curves = [];
    for (let i = lines.length - 1; i >= 0; i -= 1) {
      curves[i] = element(pane, "path", { fill: "none", stroke: `var(${lines[i].color})`, "stroke-width": 1.8,
        "stroke-dasharray": DASHES[lines[i].dash] || "", "stroke-linejoin": "round" });
      curves[i].dataset.key = lines[i].key;
    }
    const line = element(svg, "line", { y1: top, y2: height - bottom, class: "cursor" });
    const marks = lines.map((own) => element(svg, "circle", { r: 3.2, fill: `var(${own.color})`, class: "now" }));
    host.replaceChildren(svg);
    return { svg, grid, bounds, curves, line, marks };
  }

  function axes() {
    const instants = tickLabels(from, to, 5), last = instants.length - 1;
    ticks(parts.grid.x, instants.map(([t, label], k) => {
      const x = across(t), words = k === last && spec.time ? `${label} ${spec.time}` : label;
      return [{ x1: x, x2: x, y1: top, y2: height - bottom, class: "grid" },
        { x: Math.min(x, width - 4 * words.length), y: height - 6, "text-anchor": "middle" }, words];
    }));
    const power = spec.log ? 0 : commonPower(low, high);
    label(parts.grid.power, power ? `× 10${raised(power)}` : "");
    ticks(parts.grid.y, (spec.log ? powers() : tickLabels(low, high, 4)).map(([y, label]) => {
      const at = up(spec.log ? 10 ** y : y);
      return [{ x1: left, x2: width - right, y1: at, y2: at, class: y === 0 && !spec.log ? "zero" : "grid" },
        { x: left - 5, y: at + 4, "text-anchor": "end" }, label];
    }));
  }
  function powers() {
    const step = Math.max(1, Math.ceil((high - low) / 5)), found = [];
    for (let k = low; k <= high; k += step) found.push([k, `10${raised(k)}`]);
    return found;
  }

  // Of the points of one column of pixels, the first, the lowest, the highest and the last are drawn.
  function path({ t, y }) {
    let text = "", pen = "M";
    const point = (x, height) => { text += pen + x + "," + tenth(height); pen = "L"; };
    for (let i = 0, next; i < t.length; i = next) {
      next = i + 1;
      if (!Number.isFinite(y[i])) { pen = "M"; continue; }
      if (t[i] > to && i > 0 && t[i - 1] > to) break;
      const here = across(t[i]), x = tenth(here), first = up(y[i]);
      let last = first, least = first, most = first;
      for (; next < t.length && Math.abs(across(t[next]) - here) < COLUMN && Number.isFinite(y[next]); next += 1) {
        last = up(y[next]);
        least = Math.min(least, last);
        most = Math.max(most, last);
      }
      point(x, first);
      if (least < Math.min(first, last)) point(x, least);
      if (most > Math.max(first, last)) point(x, most);
      if (next - i > 1) point(tenth(across(t[next - 1])), last);
    }
    return text;
  }

  function cursor(t) {
    now = t;
    if (stale) return;
    const inside = t >= from && t <= to;
    const { line, marks } = parts;
    line.setAttribute("visibility", inside ? "visible" : "hidden");
    line.setAttribute("transform", `translate(${across(t).toFixed(2)},0)`);
    spec.series.forEach((s, i) => {
      const y = valueAt(runs[s.run], s.key, t), seen = inside && Number.isFinite(y) && Math.abs(y) < Infinity;
      marks[i].setAttribute("visibility", seen && level(y) >= low && level(y) <= high ? "visible" : "hidden");
      if (seen) marks[i].setAttribute("transform", `translate(${across(t).toFixed(2)},${up(y).toFixed(2)})`);
      if (i === 0) value.textContent = Number.isFinite(y) ? `${written(y)}${spec.unit ? ` ${spec.unit}` : ""}` : "";
    });
  }

  function timeAt(clientX) {
    const box = parts.svg.getBoundingClientRect();
    const x = (clientX - box.left) / box.width * width;
    return Math.min(Math.max(from + (x - left) / (width - left - right) * (to - from), from), to);
  }

  function finish() {
    if (!stale) return;
    draw();
    cursor(now);
  }
  function renew() {
    stale = true;
    if (seen) finish();
  }
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    if (!seen) return;
    finish();
    cursor(now);
  }, { rootMargin: NEAR }).observe(figure);

  return { spec, figure, host, draw, cursor, timeAt, renew, finish, get seen() { return seen; }, get stale() { return stale; }, set stale(on) { stale = on; } };
}

// Charts that are out of view, one after the other when the page has time.
function finishLater(charts) {
  const idle = window.requestIdleCallback || ((work) => setTimeout(() => work({ timeRemaining: () => 5 }), 50));
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    const work = (time) => {
      const left = charts.filter((chart) => chart.stale);
      while (left.length && time.timeRemaining() > 2) left.shift().finish();
      asked = left.length > 0;
      if (asked) idle(work);
    };
    idle(work);
  };
}
