// The stage: a canvas that shows the mechanism at an instant, sized with the page; drawings in space turn under the pointer.

function makeStage(host, scene, runs) {
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  const eye = { turn: 0.62, tilt: 0.42 };
  const known = new Map();
  let film = null, t = 0, follow = true, withArrows = false, seen = null, size = { width: 0, height: 0 };
  host.replaceChildren(canvas);

  const survey = (run) => {
    if (!known.has(run)) known.set(run, surveyed(scene, runs[run]));
    return known.get(run);
  };

  // The picture of a motion without feedback is as large as that of the motion with feedback.
  function knowledge() {
    const own = survey(film.run), { box } = film.box === film.run ? own : survey(film.box);
    return { ...own, box: withArrows ? roomy(box) : box };
  }

  function fit() {
    const ratio = window.devicePixelRatio || 1, box = host.getBoundingClientRect();
    size = { width: Math.max(box.width, 50), height: Math.max(box.height, 50) };
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function draw() {
    if (!film) return;
    context.clearRect(0, 0, size.width, size.height);
    const how = scene.dimension === 3 ? drawSpace : drawPlane;
    seen = how(context, size, scene, runs[film.run], knowledge(), t, follow, eye);
    if (withArrows) seen.arrows = drawArrows(context, size, scene, seen, survey(film.run).strongest);
    host.dataset.time = t;
  }

  if (scene.dimension === 3) turnable(canvas, eye, draw);
  new ResizeObserver(() => { fit(); draw(); }).observe(host);

  return {
    choose(chosen) { film = chosen; fit(); },
    at(instant) { t = instant; draw(); },
    draw,
    forget(run) { known.delete(run); },
    follow(on) { follow = on; draw(); },
    arrows(on) { withArrows = on; draw(); },
    get travels() { return film !== null && knowledge().travels; },
    get seen() { return seen; },
  };
}

// The box with room for arrows at its edges.
function roomy(box) {
  const room = 0.12 * Math.max(...box.map(([low, high]) => high - low));
  return box.map(([low, high]) => [low - room, high + room]);
}

function turnable(canvas, eye, draw) {
  canvas.classList.add("turnable");
  let from = null;
  canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    eye.turn -= (event.clientX - from[0]) * 0.008;
    eye.tilt = Math.min(Math.max(eye.tilt + (event.clientY - from[1]) * 0.008, -1.5), 1.5);
    from = [event.clientX, event.clientY];
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { from = null; });
}
