// Forces and torques to scale. The strongest of the motion is a quarter of the picture, or three quarters of a turn.

const SHARE_OF_PICTURE = 0.25, MOST_TURN = 1.5 * Math.PI, ARC = 26, ARROW = 2.6;

// The largest size of the forces and of the torques along a run.
function strongest(scene, run) {
  const found = { force: 0, torque: 0 };
  for (const { kind, keys } of scene.arrows)
    for (let i = 0; i < run.times.length; i += 1) {
      const size = Math.hypot(...keys.map((key) => run.columns[key][i]));
      if (size > found[kind] && size < Infinity) found[kind] = size;
    }
  return found;
}

// Draws all arrows at the instant of a picture; returns {tail, tip} of the forces, in pixels.
function drawArrows(context, size, scene, { places, at, along }, most) {
  const long = SHARE_OF_PICTURE * Math.min(size.width, size.height), drawn = [], turns = scene.dimension === 2;
  for (const { kind, keys, at: point, color } of scene.arrows) {
    const values = keys.map(places.value), tail = at(places[point]);
    if (!most[kind] || !values.every(Number.isFinite)) continue;
    if (kind === "torque" && turns) { arc(context, tail, values[0] / most.torque * MOST_TURN, paint(color)); continue; }
    const [x, y] = along(values), scale = long / most[kind], tip = [tail[0] + x * scale, tail[1] + y * scale];
    arrow(context, tail, tip, paint(color), kind === "torque");
    drawn.push({ kind, tail, tip });
  }
  context.font = "12px system-ui, sans-serif";
  let y = 18;
  for (const kind of ["force", "torque"]) if (most[kind]) { arrowScale(context, scene, kind, most[kind], long, y, turns); y += 24; }
  return drawn;
}

// A round number next to its length, or to its turn.
function arrowScale(context, scene, kind, most, long, y, turns) {
  const { numbers } = roundNumbers(0, most, 3), round = numbers[1] ?? most, color = paint("--text");
  const label = `${written(round, 3)}${scene.units[kind] ? ` ${scene.units[kind]}` : ""}`, arced = kind === "torque" && turns;
  const end = arced ? 44 : 12 + round / most * long;
  if (arced) arc(context, [24, y], round / most * MOST_TURN, color, 11);
  else arrow(context, [12, y], [end, y], color, kind === "torque");
  context.fillStyle = color;
  context.fillText(label, end + 8, y + 4);
}

function arrow(context, tail, tip, color, double) {
  const [dx, dy] = [tip[0] - tail[0], tip[1] - tail[1]], length = Math.hypot(dx, dy);
  if (length < 1) return;
  const head = Math.min(9, 0.6 * length), u = [dx / length, dy / length];
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = ARROW;
  polyline(context, [tail, [tip[0] - u[0] * head * 0.7, tip[1] - u[1] * head * 0.7]]);
  context.stroke();
  for (const back of double ? [0, 0.8 * head] : [0]) arrowHead(context, [tip[0] - u[0] * back, tip[1] - u[1] * back], u, head);
}

function arrowHead(context, [x, y], [ux, uy], head) {
  polyline(context, [[x, y], [x - head * (ux + 0.45 * uy), y - head * (uy - 0.45 * ux)], [x - head * (ux - 0.45 * uy), y - head * (uy + 0.45 * ux)]]);
  context.fill();
}

// A torque in the plane: counterclockwise if it is positive; the y axis of a canvas points down.
function arc(context, [x, y], turn, color, radius = ARC) {
  if (Math.abs(turn) < 0.02) return;
  const head = Math.min(8, 0.6 * radius * Math.abs(turn)), sign = Math.sign(turn), end = turn - sign * 0.6 * head / radius;
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = ARROW;
  context.beginPath();
  context.arc(x, y, radius, 0, -end, sign > 0);
  context.stroke();
  arrowHead(context, [x + radius * Math.cos(turn), y - radius * Math.sin(turn)], [-sign * Math.sin(turn), -sign * Math.cos(turn)], head);
}
