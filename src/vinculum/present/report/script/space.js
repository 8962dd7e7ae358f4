// The mechanism in space: parallel projection, far shapes first, light from above, shadows on the floor.

const LIGHT = [0.35, -0.5, 0.79];
const dotted = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const crossed = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const length = Math.hypot(...a) || 1; return a.map((x) => x / length); };
const between = (a, b, s) => a.map((x, k) => x + (b[k] - x) * s);

// Right, up and toward the viewer for an azimuth and a height of the eye.
function frameOf({ turn, tilt }) {
  const toward = [Math.cos(tilt) * Math.sin(turn), -Math.cos(tilt) * Math.cos(turn), Math.sin(tilt)];
  const right = [Math.cos(turn), Math.sin(turn), 0];
  return { right, up: crossed(toward, right), toward };
}

// The picture fills its box: the corners of everything drawn, or of a window around what travels, touch its edges.
function spaceView(known, size, places, eye, follow) {
  const frame = frameOf(eye);
  let box = known.box;
  if (follow && known.travels) {
    const middle = [0, 1, 2].map((k) => known.moving.reduce((sum, name) => sum + places[name][k], 0) / known.moving.length);
    box = middle.map((x) => [x - 0.62 * known.size, x + 0.62 * known.size]);
    box[2][0] = Math.max(box[2][0], known.box[2][0]);
  }
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => box.map((span, k) => span[(i >> k) & 1]));
  const spans = [frame.right, frame.up].map((axis) => finite(corners.map((c) => dotted(c, axis))));
  const scale = Math.min(...spans.map(([low, high], k) => ((k ? size.height : size.width) - 56) / Math.max(high - low, 1e-9)));
  const middle = spans.map(([low, high]) => (low + high) / 2);
  const at = (p) => [size.width / 2 + (dotted(p, frame.right) - middle[0]) * scale, size.height / 2 - (dotted(p, frame.up) - middle[1]) * scale];
  return { ...frame, scale, at, box, depth: (p) => dotted(p, frame.toward) };
}

function drawSpace(context, size, scene, run, known, t, follow, eye) {
  const places = placesAt(scene, run, t), view = spaceView(known, size, places, eye, follow);
  const width = Math.max(4, Math.min(13, Math.min(size.width, size.height) / 42));
  const floor = known.box[2][0], items = [];
  floorGrid(context, scene, view, floor, size);
  for (const shape of scene.shapes) pieces(shape, scene, places, known, view, width).forEach((item) => items.push(item));
  shadows(context, items, view, floor, width);
  spaceTraces(context, scene, run, view);
  items.sort((a, b) => a.depth - b.depth);
  for (const item of items) item.draw(context);
  return { places, at: view.at, along: (v) => [dotted(v, view.right), -dotted(v, view.up)] };
}

function floorGrid(context, scene, view, floor, size) {
  const [x, y] = view.box, span = Math.max(x[1] - x[0], y[1] - y[0], (view.box[2][1] - view.box[2][0]) / 2);
  const { numbers } = roundNumbers(0, span, 7), step = numbers[1] - numbers[0];
  const ends = [x, y].map(([low, high]) => [Math.floor(low / step - 0.5) * step, Math.ceil(high / step + 0.5) * step]);
  const corner = (i, j) => view.at([ends[0][i], ends[1][j], floor]);
  context.fillStyle = paint("--floor");
  polyline(context, [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
  context.fill();
  context.strokeStyle = paint("--grid");
  context.lineWidth = 1;
  for (let a = ends[0][0]; a <= ends[0][1] + step / 2; a += step) segment(context, view.at([a, ends[1][0], floor]), view.at([a, ends[1][1], floor]));
  for (let b = ends[1][0]; b <= ends[1][1] + step / 2; b += step) segment(context, view.at([ends[0][0], b, floor]), view.at([ends[0][1], b, floor]));
  scaleNote(context, size, `grid ${written(step, 2)}${scene.unit ? ` ${scene.unit}` : ""}`);
  axesCross(context, view, size);
}
const segment = (context, a, b) => { polyline(context, [a, b]); context.stroke(); };

function scaleNote(context, size, label) {
  context.fillStyle = paint("--muted");
  context.font = "12px system-ui, sans-serif";
  context.fillText(label, 12, size.height - 8);
}

function axesCross(context, view, size) {
  const origin = [size.width - 42, size.height - 34];
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1.5;
  ["x", "y", "z"].forEach((name, k) => {
    const axis = [0, 0, 0].map((_, i) => (i === k ? 1 : 0)), to = [dotted(axis, view.right) * 24, -dotted(axis, view.up) * 24];
    context.strokeStyle = context.fillStyle = paint("--muted");
    segment(context, origin, [origin[0] + to[0], origin[1] + to[1]]);
    context.fillText(name, origin[0] + to[0] * 1.35 - 3, origin[1] + to[1] * 1.35 + 4);
  });
}

// A shape as pieces with a depth, each of which can be drawn by itself.
function pieces(shape, scene, places, known, view, width) {
  const line = shape.points.map((name) => places[name]);
  if (shape.radius) return [round(shape, places, view, width)];
  if (shape.kind === "point") return [ball(line[0], 0.5 * width, paint("--text"), view)];
  const closed = shape.closed ? [...line, line[0]] : line;
  if (shape.kind === "line") return rods(closed, 2, paint("--muted"), view, 1);
  const color = paint(shape.color);
  return [...rods(closed, width, color, view, 6), ...closed.map((p) => ball(p, 0.66 * width, color, view))];
}

function rods(line, width, color, view, parts) {
  const found = [];
  for (let i = 0; i + 1 < line.length; i += 1)
    for (let k = 0; k < parts; k += 1) {
      const a = between(line[i], line[i + 1], k / parts), b = between(line[i], line[i + 1], Math.min(1, (k + 1.04) / parts));
      found.push({ depth: view.depth(between(a, b, 0.5)), line: [a, b], width, draw: (context) => rod(context, view, a, b, width, color) });
    }
  return found;
}

// A cylinder: dark at its edge, bright on the side of the light.
function rod(context, view, a, b, width, color) {
  const [p, q] = [view.at(a), view.at(b)], along = unit(b.map((x, k) => x - a[k]));
  const lit = Math.sqrt(Math.max(0, 1 - dotted(along, LIGHT) ** 2));
  const aside = [q[1] - p[1], p[0] - q[0]], length = Math.hypot(...aside) || 1;
  const sign = (aside[0] * -0.5 + aside[1] * -0.85) >= 0 ? 1 : -1;
  const shift = [aside[0] / length * sign * width * 0.16, aside[1] / length * sign * width * 0.16];
  stroke(context, p, q, width, toned(color, width > 3 ? -0.3 : 0));
  if (width > 3) {
    stroke(context, [p[0] + shift[0] * 0.5, p[1] + shift[1] * 0.5], [q[0] + shift[0] * 0.5, q[1] + shift[1] * 0.5], width * 0.68, toned(color, 0.1 * lit - 0.05));
    stroke(context, [p[0] + shift[0], p[1] + shift[1]], [q[0] + shift[0], q[1] + shift[1]], width * 0.28, toned(color, 0.35 * lit));
  }
}
function stroke(context, p, q, width, color) {
  context.strokeStyle = color;
  context.lineWidth = width;
  segment(context, p, q);
}

function ball(place, radius, color, view) {
  return { depth: view.depth(place) + radius / view.scale, line: [place, place], width: 2 * radius, draw: (context) => {
    const [x, y] = view.at(place);
    const light = context.createRadialGradient(x - 0.35 * radius, y - 0.45 * radius, 0.1 * radius, x, y, radius);
    light.addColorStop(0, toned(color, 0.5));
    light.addColorStop(0.6, color);
    light.addColorStop(1, toned(color, -0.35));
    dot(context, [x, y], radius, light);
  } };
}

// A disc across its normal, or a ball where a circle has none.
function round(shape, places, view, width) {
  const center = places[shape.points[0]], radius = Math.abs(places.value(shape.radius)), color = paint(shape.color);
  if (!shape.normal && !shape.angle) return ball(center, Math.max(radius * view.scale, 3), color, view);
  const normal = shape.normal ? unit(shape.normal.map(places.value)) : [0, 0, 1];
  const least = normal.map(Math.abs).indexOf(Math.min(...normal.map(Math.abs)));
  const one = unit(crossed([0, 0, 0].map((_, k) => (k === least ? 1 : 0)), normal)), two = crossed(normal, one);
  const angle = shape.angle ? places.value(shape.angle) : 0;
  const rim = (s) => center.map((x, k) => x + radius * (Math.cos(s + angle) * one[k] + Math.sin(s + angle) * two[k]));
  const around = Array.from({ length: 49 }, (_, i) => rim(i / 48 * 2 * Math.PI));
  return { depth: view.depth(center), ring: around, draw: (context) => {
    const lit = Math.abs(dotted(normal, LIGHT));
    polyline(context, around.map(view.at));
    context.fillStyle = toned(color, 0.55 * lit - 0.2);
    context.globalAlpha = 0.88;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = toned(color, -0.25);
    context.lineWidth = Math.max(1.5, width / 4);
    context.stroke();
    if (shape.angle) segment(context, view.at(center), view.at(around[0]));
  } };
}

function shadows(context, items, view, floor, width) {
  const down = (p) => view.at(p.map((x, k) => (k === 2 ? floor : x - LIGHT[k] * 0.5 * (p[2] - floor))));
  context.globalAlpha = 0.13;
  context.strokeStyle = context.fillStyle = paint("--shadow");
  context.lineWidth = 0.8 * width;
  for (const item of items) {
    if (item.ring) { polyline(context, item.ring.map(down)); context.fill(); }
    else if (item.width > 3 && item.line[0] !== item.line[1]) { polyline(context, item.line.map(down)); context.stroke(); }
  }
  context.globalAlpha = 1;
}

function spaceTraces(context, scene, run, view) {
  traces(context, scene, run, view.at);
}

// A color made lighter (share > 0) or darker; colors of the style are #rrggbb.
const tones = new Map();
function toned(color, share) {
  const rounded = Math.round(share * 20) / 20, key = `${color} ${rounded}`;
  if (!tones.has(key)) {
    const parts = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)), to = rounded > 0 ? 255 : 0, s = Math.abs(rounded);
    tones.set(key, `rgb(${parts.map((x) => Math.round(x + (to - x) * s)).join(",")})`);
  }
  return tones.get(key);
}
