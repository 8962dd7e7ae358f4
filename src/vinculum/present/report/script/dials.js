// Sliders: other parameters, start values and gains. A worker computes the motions again; the page shows their tables.
//
// description.live = {settings: {name: {value, reach, log}}, runs: {run: {p: [names], s: [name or number]}}, refused}

const UNIFORM = 400;  // samples of a new motion, in addition to those of the original one
const FEW = 150;  // the same of a preview, with at most twice as many of the original motion

function makeDials(live, host) {
  const values = Object.fromEntries(Object.entries(live.settings).map(([name, { value }]) => [name, value]));
  const originals = { ...runs }, spans = charts.map((chart) => chart.spec.until);
  const films = Object.fromEntries(description.films.map((film) => [film.run, film.group]));
  const rows = [...host.querySelectorAll(".dial")];
  const state = document.getElementById("computed"), words = state.textContent, reset = document.getElementById("reset");
  const named = Object.fromEntries(rows.map((row) => [row.dataset.setting, row]));
  const samples = {};
  let serial = 0, asked = false, waiting = false, worker = null, answers = [], drawn = false;

  const changed = (name) => values[name] !== live.settings[name].value;
  const uses = (run) => [...live.runs[run].p, ...live.runs[run].s].filter((name) => typeof name === "string");
  const others = () => Object.keys(live.runs).filter((run) => uses(run).some(changed));

  // -- a row: the slider multiplies or adds, the field takes any number ------------------------------------------------
  function place(name) {
    const { value, reach, log } = live.settings[name], [range, field] = named[name].querySelectorAll("input");
    const share = log ? Math.log(values[name] / value) / Math.log(reach) : (values[name] - value) / reach;
    range.value = Number.isFinite(share) ? share : 0;
    if (document.activeElement !== field) field.value = Number(values[name].toPrecision(6));
    named[name].classList.toggle("changed", changed(name));
  }
  function slide(name, share) {
    const { value, reach, log } = live.settings[name];
    const found = share === 0 ? value : log ? value * reach ** share : value + reach * share;
    set(name, share === 0 ? value : Number(found.toPrecision(4)));
  }
  function set(name, value) {
    values[name] = value;
    place(name);
    later();
  }
  function back(names) {
    for (const name of names) values[name] = live.settings[name].value;
    for (const name of names) place(name);
    later();
  }
  for (const [name, row] of Object.entries(named)) {
    const [range, field] = row.querySelectorAll("input");
    range.addEventListener("input", () => slide(name, Number(range.value)));
    field.addEventListener("input", () => set(name, field.value.trim() === "" ? NaN : Number(field.value)));
    field.addEventListener("change", () => place(name));
    row.querySelector("label").addEventListener("dblclick", () => back([name]));
  }
  for (const touch of ["pointerenter", "focusin"]) host.addEventListener(touch, start, { once: true });
  reset.addEventListener("click", () => back(Object.keys(values)));

  // -- requests: at once, then once per frame; the visible motion first ------------------------------------------------
  function later() {
    asked = true;
    if (!waiting) queueMicrotask(now);
  }
  function now() {
    if (!asked) return;
    [asked, waiting] = [false, true];
    request();
    requestAnimationFrame(() => { waiting = false; now(); });
  }
  function request() {
    const needed = others(), wrong = Object.keys(values).find((name) => !Number.isFinite(values[name]));
    reset.disabled = !Object.keys(values).some(changed);
    serial += 1;
    host.dataset.answered = "";
    mark(needed.length > 0);
    for (const run of Object.keys(live.runs)) if (!needed.includes(run) && runs[run] !== originals[run]) restore(run);
    if (wrong) return refuse(`${wrong.split(" ").pop()} is not a number.`);
    if (!needed.length) return say(words, "");
    const rank = (run) => (run === player.film.run ? 0 : near(run) ? 1 : 2);
    needed.sort((a, b) => rank(a) - rank(b));
    start();
    worker?.postMessage({ serial, jobs: needed.map(job) });
  }
  const near = (run) => films[run] === player.film.group;  // shown in the charts next to the motion on the stage
  function job(run) {
    const { p, s } = live.runs[run];
    return { run, near: near(run), p: Float64Array.from(p, (name) => values[name]),
      s: Float64Array.from(s, (x) => (typeof x === "string" ? values[x] : x)), ...instants(run) };
  }
  // The instants of the original motion, which are dense where it is fast, and uniform ones.
  function instants(run) {
    const { times } = originals[run], stride = Math.ceil(times.length / (2 * FEW));
    return samples[run] ??= { times: spread(times, UNIFORM),
      few: spread(times.filter((_, i) => i % stride === 0 || i === times.length - 1), FEW) };
  }
  function spread(times, count) {
    const from = times[0], to = times[times.length - 1], sign = to >= from ? 1 : -1;
    const every = [...times, ...Array.from({ length: count - 1 }, (_, i) => from + (to - from) * (i + 1) / count)];
    return Float64Array.from(new Set(every)).sort((a, b) => sign * (a - b));
  }
  function start() {
    if (worker) return;
    const text = document.getElementById("worker").textContent;
    try {
      worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => receive(data);
      worker.onerror = (event) => refuse(`The computation failed: ${event.message}`);
    } catch (error) {
      refuse(`This browser does not start a worker: ${error.message}`);
    }
  }

  // -- answers ---------------------------------------------------------------------------------------------------------
  // What arrives first is drawn at once, ahead of the next frame; what arrives before that frame is drawn once, in it.
  function receive(found) {
    answers.push(...found.filter((data) => data.serial === serial));
    if (drawn) return;
    drawn = true;
    draw();
    requestAnimationFrame(() => { drawn = false; draw(); });
  }
  function draw() {
    const current = answers.filter((data) => data.serial === serial), newest = {}, tables = {};
    answers = [];
    if (!current.length) return;
    host.dataset.drawn = performance.now();
    for (const data of current) newest[data.run] = data;
    for (const data of Object.values(newest)) if (!data.refused) Object.assign(tables, tablesOf(data));
    const passing = Object.values(newest).every(({ final }) => !final);
    if (Object.keys(tables).length) showAll(Object.fromEntries(Object.entries(tables).filter(([name]) => runs[name])), passing);
    const own = newest[player.film.run];
    if (own?.refused) refuse(own.refused);
    else if (own) tell(own);
  }
  // A preview has no residuals and no energy error: those that are shown belong to the answer.
  function tablesOf({ run, table, errors, balance, final }) {
    const { columns, times } = table;
    if (columns["energy and work"]) columns["energy and work"] = columns["energy and work"].map((w) => w + columns.energy[0]);
    if (!final) return { [run]: table };
    return { [run]: table, [`${run} residuals`]: { times, columns: sizes(errors) },
      [`${run} balance`]: { times, columns: sizes({ balance: balance.map((b) => b - balance[0]) }) } };
  }
  const sizes = (errors) => Object.fromEntries(Object.entries(errors)
    .map(([name, values]) => [name, values.map((x) => Math.max(Math.abs(x), 1e-18))]));
  function restore(run) {
    const names = [run, `${run} residuals`, `${run} balance`].filter((name) => originals[name]);
    showAll(Object.fromEntries(names.map((name) => [name, originals[name]])));
  }

  function tell(data) {
    const took = `${data.ms < 10 ? data.ms.toFixed(1) : Math.round(data.ms)} ms, ${data.steps} steps${data.stiff ? " (stiff)" : ""}`;
    say(`${(data.final ? result(data, took) : preview(data, took)).join("; ")}. ${data.ended}`, data.ended ? "ended" : "");
    Object.assign(host.dataset, { answered: data.final ? "final" : "preview", accuracy: data.accuracy ?? "", ms: data.ms });
  }
  const preview = (data, took) => [`Preview with tolerance ${written(data.tolerance, 2)}, computed in ${took}`, "the accurate motion follows, with its residuals and energy error"];
  function result(data, took) {
    const parts = [`Computed here in ${took}`, `accurate to about ${written(Math.max(data.accuracy, 1e-15), 2)} of the size of each quantity`];
    if (Object.keys(data.errors).length) parts.push(`largest residual ${written(data.residual, 2)}`);
    if (data.energy !== null) parts.push(`energy error ${written(data.energy, 2)}`);
    for (const name of new Set(data.events.map((event) => event.name)))
      parts.push(`${name} at t = ${data.events.filter((event) => event.name === name).slice(0, 3).map((event) => written(event.time)).join(", ")}`);
    return parts;
  }
  function refuse(text) { say(text, "refused"); }
  function say(text, kind) {
    state.textContent = text.trim();
    state.className = kind;
    document.getElementById("mechanism").classList.toggle("stale", kind === "refused");
    host.dataset.answered = kind || "";
  }

  // What was promised for the original numbers is marked, and charts show all of the new motion.
  function mark(on) {
    document.documentElement.toggleAttribute("data-changed", on);
    charts.forEach((chart, i) => { chart.spec.until = on ? undefined : spans[i]; });
  }

  // -- which rows belong to the motion on the stage ----------------------------------------------------------------------
  function choose() {
    for (const part of document.querySelectorAll("[data-runs]"))
      part.hidden = !part.dataset.runs.split(" ").includes(player.film.run);
  }
  document.getElementById("which")?.addEventListener("change", () => { choose(); if (others().length) later(); });
  choose();
  return { values, set, back, get serial() { return serial; } };
}

if (description.live && document.getElementById("dials")) {
  window.vinculum.dials = makeDials(description.live, document.getElementById("dials"));
}
