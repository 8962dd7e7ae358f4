// The mechanism in the plane, drawn as in a textbook: ground with hatching, pivots, bars, discs with a spoke, masses.

const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let palette = {};
const paint = (name) => (palette[name] ||= shade(name));

// Places of all points at an instant: {name: [x, y(, z)]}.
function placesAt(scene, run, t) {
  const weights = cubicWeights(run, t), found = {};
  for (const [name, keys] of Object.entries(scene.points)) found[name] = keys.map((key) => mixed(run.columns[key], weights));
  found.value = (key) => mixed(run.columns[key], weights);
  return found;
}

// What is known of a scene along a run: its box, the points at rest, the size of the mechanism, whether it travels.
function surveyed(scene, run) {
  const names = Object.keys(scene.points), still = new Set(), box = [];
  for (let k = 0; k < scene.dimension; k += 1) box.push([Infinity, -Infinity]);
  const widen = (place, radius) => place.forEach((x, k) => {
    if (!Number.isFinite(x)) return;
    box[k] = [Math.min(box[k][0], x - radius), Math.max(box[k][1], x + radius)];
  });
  for (const name of names) {
    const spans = scene.points[name].map((key) => finite(run.columns[key]) || [0, 0]);
    if (spans.every(([low, high]) => high - low <= 1e-9 * Math.max(1e-9, Math.abs(low), Math.abs(high)))) still.add(name);
    widen(spans.map((span) => span[0]), 0);
    widen(spans.map((span) => span[1]), 0);
  }
  for (const shape of scene.shapes.filter((s) => s.radius)) {
    const radius = (finite(run.columns[shape.radius]) || [0, 0])[1];
    const spans = scene.points[shape.points[0]].map((key) => finite(run.columns[key]) || [0, 0]);
    widen(spans.map((span) => span[0]), radius);
    widen(spans.map((span) => span[1]), radius);
  }
  for (const span of box) if (!(span[0] <= span[1])) { span[0] = -1; span[1] = 1; }
  const moving = [...new Set(scene.shapes.filter((s) => s.kind !== "line").flatMap((s) => s.points))].filter((n) => !still.has(n));
  return { box, still, moving, ...extent(scene, run, moving), joints: joints(scene, run), strongest: strongest(scene, run) };
}

// The largest size of what moves at any instant, and whether it travels much farther than its size.
function extent(scene, run, moving) {
  let size = 0, travel = 0;
  const radius = Math.max(0, ...scene.shapes.filter((s) => s.radius).map((s) => (finite(run.columns[s.radius]) || [0, 0])[1]));
  for (let k = 0; k < scene.dimension; k += 1) {
    const columns = moving.map((name) => run.columns[scene.points[name][k]]);
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < run.times.length; i += 1) {
      let least = Infinity, most = -Infinity;
      for (const column of columns) {
        if (column[i] < least) least = column[i];
        if (column[i] > most) most = column[i];
      }
      if (!(Math.abs(least + most) < Infinity)) continue;
      size = Math.max(size, most - least);
      low = Math.min(low, (least + most) / 2);
      high = Math.max(high, (least + most) / 2);
    }
    travel = Math.max(travel, high - low);
  }
  size += 2 * radius;
  return { size, travels: moving.length > 0 && travel > 4 * size && size > 0 };
}

// Ends of bars at which another shape begins, at the first and at the last instant.
function joints(scene, run) {
  const ends = scene.shapes.filter((s) => s.kind === "bar").flatMap((s) => [s.points[0], s.points[s.points.length - 1]]);
  const centers = scene.shapes.filter((s) => s.radius).map((s) => s.points[0]);
  const place = (name, row) => scene.points[name].map((key) => run.columns[key][row]);
  const rows = [0, run.times.length - 1];
  const apart = (a, b) => Math.max(...rows.map((row) => Math.hypot(...place(a, row).map((x, k) => x - place(b, row)[k]))));
  return [...new Set(ends)].filter((name) =>
    ends.filter((other) => apart(name, other) < 1e-6).length + centers.filter((c) => apart(name, c) < 1e-6).length > 1);
}

// The part of the plane in the picture: everything, or a window that follows what travels.
function planeView(known, size, places, follow) {
  const [x, y] = known.box, pad = 1.16;
  if (follow && known.travels) {
    const middle = [0, 1].map((k) => known.moving.reduce((sum, name) => sum + places[name][k], 0) / known.moving.length);
    const scale = Math.min(size.width, size.height) / (2.6 * known.size);
    return { scale, middle };
  }
  const spans = [x, y].map(([low, high]) => Math.max(high - low, 0.08 * Math.max(x[1] - x[0], y[1] - y[0]), 1e-9) * pad);
  return { scale: Math.min((size.width - 24) / spans[0], (size.height - 40) / spans[1]), middle: [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2] };
}

function drawPlane(context, size, scene, run, known, t, follow) {
  const places = placesAt(scene, run, t), { scale, middle } = planeView(known, size, places, follow);
  const at = ([x, y]) => [size.width / 2 + (x - middle[0]) * scale, (size.height - 10) / 2 - (y - middle[1]) * scale];
  background(context, size, scene, scale, middle, at);
  traces(context, scene, run, at);
  const width = Math.max(3, Math.min(7, Math.min(size.width, size.height) / 70));
  const of = (kind) => scene.shapes.filter((shape) => shape.kind === kind);
  for (const shape of of("line")) scenery(context, shape, shape.points.map((n) => at(places[n])), shape.points.every((n) => known.still.has(n)));
  for (const shape of of("disc")) disc(context, at(places[shape.points[0]]), places.value(shape.radius) * scale, places.value(shape.angle), paint(shape.color), width);
  for (const shape of of("wheel")) disc(context, at(places[shape.points[0]]), places.value(shape.radius) * scale, null, paint(shape.color), width);
  pivots(context, scene, known, places, at, width);
  for (const shape of of("bar")) bar(context, shape, shape.points.map((n) => at(places[n])), width);
  for (const name of known.joints) pin(context, at(places[name]), width);
  for (const shape of of("ring")) mass(context, at(places[shape.points[0]]), Math.max(places.value(shape.radius) * scale, 3), paint(shape.color));
  for (const shape of of("point")) dot(context, at(places[shape.points[0]]), 3.5, paint("--text"));
  return { places, at, along: ([x, y]) => [x, -y] };
}

function background(context, size, scene, scale, middle, at) {
  const half = [size.width / 2 / scale, size.height / 2 / scale];
  const { numbers } = roundNumbers(0, 2 * Math.max(...half), 9), step = numbers[1] - numbers[0];
  context.lineWidth = 1;
  context.strokeStyle = paint("--grid");
  context.beginPath();
  for (let x = Math.ceil((middle[0] - half[0]) / step) * step; x <= middle[0] + half[0]; x += step) rule(context, at([x, 0])[0], 0, 0, size.height);
  for (let y = Math.ceil((middle[1] - half[1] - 10 / scale) / step) * step; y <= middle[1] + half[1]; y += step) rule(context, 0, at([0, y])[1], size.width, 0);
  context.stroke();
  scaleBar(context, size, step * scale, `${written(step, 2)}${scene.unit ? ` ${scene.unit}` : ""}`);
}
const rule = (context, x, y, width, height) => { context.moveTo(x, y); context.lineTo(x + width, y + height); };

function scaleBar(context, size, length, label) {
  const y = size.height - 10;
  context.strokeStyle = context.fillStyle = paint("--muted");
  context.beginPath();
  rule(context, 12, y, length, 0);
  rule(context, 12, y - 4, 0, 8);
  rule(context, 12 + length, y - 4, 0, 8);
  context.stroke();
  context.font = "12px system-ui, sans-serif";
  context.fillText(label, 18 + length, y + 4);
}

function traces(context, scene, run, at) {
  context.strokeStyle = paint("--muted");
  context.globalAlpha = 0.7;
  context.lineWidth = 1.2;
  for (const name of scene.traces) {
    const columns = scene.points[name].map((key) => run.columns[key]);
    polyline(context, Array.from(run.times, (_, i) => at(columns.map((column) => column[i]))));
    context.stroke();
  }
  context.globalAlpha = 1;
}

function polyline(context, places) {
  context.beginPath();
  places.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
}

// Floors and tracks; what is at rest and open is hatched on its lower side.
function scenery(context, shape, places, still) {
  const line = shape.closed ? [...places, places[0]] : places;
  context.strokeStyle = paint("--muted");
  context.lineWidth = 2;
  polyline(context, line);
  context.stroke();
  const ends = Math.hypot(line[0][0] - line[line.length - 1][0], line[0][1] - line[line.length - 1][1]);
  if (still && !shape.closed && ends > 2) hatch(context, line);
}

function hatch(context, line) {
  const side = line[line.length - 1][0] >= line[0][0] ? 1 : -1, gap = 9, long = 8;
  context.lineWidth = 1;
  context.beginPath();
  let left = gap / 2;
  for (let i = 0; i + 1 < line.length; i += 1) {
    const [a, b] = [line[i], line[i + 1]], length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (!(length > 0)) continue;
    const u = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    for (; left < length; left += gap) {
      const p = [a[0] + u[0] * left, a[1] + u[1] * left];
      rule(context, p[0], p[1], (-u[0] * 0.7 - u[1] * 0.7 * side) * long, (-u[1] * 0.7 + u[0] * 0.7 * side) * long);
    }
    left -= length;
  }
  context.stroke();
}

// A fixed pivot: a triangle on hatched ground, at ends at rest of bars and centers of discs that move.
function pivots(context, scene, known, places, at, width) {
  const bars = scene.shapes.filter((s) => s.kind === "bar" && s.points.some((name) => !known.still.has(name)));
  const names = [...bars.flatMap((s) => [s.points[0], s.points[s.points.length - 1]]),
    ...scene.shapes.filter((s) => s.kind === "disc").map((s) => s.points[0])].filter((name) => known.still.has(name));
  const seen = new Set();
  for (const name of names) {
    const [x, y] = at(places[name]), key = `${x.toFixed(0)} ${y.toFixed(0)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    pivot(context, x, y, 2.2 * width);
  }
}

function pivot(context, x, y, size) {
  context.strokeStyle = paint("--muted");
  context.fillStyle = paint("--panel");
  context.lineWidth = 1.5;
  polyline(context, [[x, y], [x - 0.75 * size, y + 1.2 * size], [x + 0.75 * size, y + 1.2 * size], [x, y]]);
  context.fill();
  context.stroke();
  const ground = [[x - 1.2 * size, y + 1.2 * size], [x + 1.2 * size, y + 1.2 * size]];
  polyline(context, ground);
  context.stroke();
  hatch(context, ground);
}

function bar(context, shape, places, width) {
  const line = shape.closed ? [...places, places[0]] : places;
  context.lineCap = context.lineJoin = "round";
  polyline(context, line);
  if (shape.closed) { context.globalAlpha = 0.18; context.fillStyle = paint(shape.color); context.fill(); context.globalAlpha = 1; }
  context.strokeStyle = paint(shape.color);
  context.lineWidth = shape.closed ? width / 2 : width;
  context.stroke();
  context.lineCap = "butt";
}

function pin(context, [x, y], width) {
  context.beginPath();
  context.arc(x, y, 0.62 * width, 0, 2 * Math.PI);
  context.fillStyle = paint("--panel");
  context.strokeStyle = paint("--text");
  context.lineWidth = 1.4;
  context.fill();
  context.stroke();
}

function disc(context, [x, y], radius, angle, color, width) {
  context.beginPath();
  context.arc(x, y, Math.abs(radius), 0, 2 * Math.PI);
  context.fillStyle = context.strokeStyle = color;
  context.globalAlpha = 0.16;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = Math.max(1.5, Math.min(width / 2, Math.abs(radius) / 4));
  context.stroke();
  if (angle !== null) {
    polyline(context, [[x, y], [x + radius * Math.cos(angle), y - radius * Math.sin(angle)]]);
    context.stroke();
  }
  dot(context, [x, y], Math.min(width / 2, Math.abs(radius) / 4), color);
}

function mass(context, [x, y], radius, color) {
  dot(context, [x, y], radius, color);
  context.strokeStyle = paint("--panel");
  context.lineWidth = 1;
  context.stroke();
}

function dot(context, [x, y], radius, color) {
  context.beginPath();
  context.arc(x, y, Math.max(radius, 0.5), 0, 2 * Math.PI);
  context.fillStyle = color;
  context.fill();
}
