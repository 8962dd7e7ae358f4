// One time for everything: the clock, the slider, the keys, the stage and the cursors of all charts.

const SHORTEST = 3, LONGEST = 20;  // seconds on the wall; shorter and longer motions are shown at another speed

function makePlayer(description, runs, charts, stage) {
  const byId = (name) => document.getElementById(name);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let film = null, t = 0, playing = false, before = 0, speed = 1;
  let loop = !calm;

  const run = () => runs[film.run];
  const begin = () => first(run()), end = () => last(run());
  const lasts = () => Math.abs(end() - begin());
  const sign = () => (end() >= begin() ? 1 : -1);
  const natural = () => {
    const shown = Math.min(Math.max(lasts(), SHORTEST), LONGEST);
    return lasts() ? Number((lasts() / shown).toPrecision(2)) : 1;
  };

  function at(instant) {
    t = within(run(), instant);
    for (const chart of charts) if (chart.spec.group === film.group && (chart.seen || !playing)) chart.cursor(t);
    stage?.at(t);
    clock();
    dispatchEvent(new CustomEvent("vinculum:time", { detail: { t } }));
  }

  function clock() {
    const digits = Math.min(Math.max(2, 2 - Math.floor(Math.log10(lasts() || 1))), 12);
    const rate = natural() * speed, pace = Math.abs(rate - 1) < 1e-9 ? "" : ` (${Number(rate.toPrecision(2))} ×)`;
    const text = `t = ${minus(t.toFixed(digits))}${description.time ? ` ${description.time}` : ""}`;
    byId("clock").textContent = text + pace;
    const slider = byId("time");
    slider.value = lasts() ? (t - begin()) / (end() - begin()) : 0;
    slider.setAttribute("aria-valuetext", text);
  }

  function tick(now) {
    if (!playing) return;
    const step = (now - before) / 1000 * natural() * speed * sign();
    before = now;
    const next = t + step;
    if (sign() * (next - end()) >= 0) {
      if (!loop) { t = end(); return pause(); }
      at(begin());
    } else at(next);
    requestAnimationFrame(tick);
  }

  function play() {
    if (!lasts()) return;
    if (t === end()) at(begin());
    playing = true;
    before = performance.now();
    button();
    requestAnimationFrame(tick);
  }
  function pause() {
    if (playing) { playing = false; at(t); }
    button();
  }
  function button() {
    byId("play").textContent = playing ? "Pause" : "Play";
    byId("play").setAttribute("aria-pressed", playing);
  }

  function choose(number) {
    film = description.films[number];
    for (const group of document.querySelectorAll(".group")) group.classList.toggle("chosen", group.dataset.group === film.group);
    stage?.choose(film);
    if (byId("follow")) byId("follow").closest("label").hidden = !stage?.travels;
    at(begin());
  }

  // The pointer over a chart moves the time while nothing plays; pressed, it stops the motion and moves it.
  function follows(chart) {
    const { host } = chart;
    let held = false;
    const move = (event) => at(chart.timeAt(event.clientX));
    host.addEventListener("pointerdown", (event) => {
      held = true;
      if (playing) pause();
      host.setPointerCapture(event.pointerId);
      move(event);
    });
    host.addEventListener("pointermove", (event) => { if (held || (!playing && event.pointerType === "mouse")) move(event); });
    for (const ending of ["pointerup", "pointercancel"]) host.addEventListener(ending, () => { held = false; });
  }

  const KEYS = {
    " ": () => (playing ? pause() : play()),
    ArrowLeft: (event) => step(event.shiftKey ? -0.1 : -0.01),
    ArrowRight: (event) => step(event.shiftKey ? 0.1 : 0.01),
    Home: () => { pause(); at(begin()); },
    End: () => { pause(); at(end()); },
  };
  function step(share) { pause(); at(t + share * (end() - begin())); }
  function key(event) {
    const own = event.target.closest?.("input, select, textarea, button, a, summary, [contenteditable], .wide");
    if (own || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || !inView()) return;
    event.preventDefault();
    KEYS[event.key](event);
  }
  const inView = () => {
    const box = byId("mechanism").getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };

  function controls() {
    byId("play").addEventListener("click", () => (playing ? pause() : play()));
    byId("time").addEventListener("input", (event) => { pause(); at(begin() + Number(event.target.value) * (end() - begin())); });
    byId("speed").addEventListener("change", (event) => { speed = Number(event.target.value); clock(); });
    byId("loop").checked = loop;
    byId("loop").addEventListener("change", (event) => { loop = event.target.checked; });
    byId("follow")?.addEventListener("change", (event) => stage?.follow(event.target.checked));
    byId("arrows")?.addEventListener("change", (event) => stage?.arrows(event.target.checked));
    byId("which")?.addEventListener("change", (event) => { pause(); choose(Number(event.target.value)); });
    document.addEventListener("keydown", key);
    charts.forEach(follows);
  }

  controls();
  choose(0);
  return { at, play, pause, choose, clock, get film() { return film; }, get time() { return t; }, get playing() { return playing; } };
}
