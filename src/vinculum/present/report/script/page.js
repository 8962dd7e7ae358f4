// The page: data, charts, stage and player together; themes and printing.

const description = JSON.parse(document.getElementById("description").textContent);
const runs = Object.fromEntries(Object.entries(JSON.parse(document.getElementById("runs").textContent))
  .map(([name, packed]) => [name, unpackedRun(packed)]));
const charts = description.charts.map((spec) => makeChart({ ...spec, time: description.time }, runs));
const stageHost = document.getElementById("stage");

// -- themes: charts follow the style by themselves, the stage is drawn again; paper is always light -------------------
const dark = matchMedia("(prefers-color-scheme: dark)"), paper = matchMedia("print");
let chosenTheme = dark.matches ? "dark" : "light", stage = null, player = null;
function theme(printing = paper.matches) {
  document.documentElement.dataset.theme = printing ? "light" : chosenTheme;
  palette = {};
  stage?.draw();
}
document.getElementById("theme").addEventListener("click", () => { chosenTheme = chosenTheme === "dark" ? "light" : "dark"; theme(); });
dark.addEventListener("change", () => { chosenTheme = dark.matches ? "dark" : "light"; theme(); });
paper.addEventListener("change", () => theme());

const PAPER = 10.5;  // font size for printing, as in the style
const long = () => [...document.querySelectorAll(".equations.aligned, .equations:not(.aligned) .row")];
addEventListener("beforeprint", () => {
  player?.pause();
  for (const chart of charts) chart.finish();
  theme(true);
  for (const box of long()) {
    Object.assign(box.style, { width: "680px", fontSize: `${PAPER}px` });
    const needed = box.scrollWidth;
    Object.assign(box.style, { width: "", fontSize: `${PAPER * Math.max(0.55, Math.min(1, 670 / needed))}px` });
  }
});
addEventListener("afterprint", () => {
  for (const box of long()) box.style.fontSize = "";
  theme(false);
});

// -- tables that are wider than their box say so ---------------------------------------------------------------------
const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
});
for (const box of document.querySelectorAll(".wide, .equations")) wide.observe(box);

// -- begin -----------------------------------------------------------------------------------------------------------
function show(run, identifier = player.film.run) {
  showAll({ [identifier]: run });
}
function showAll(tables, passing = false) {
  for (const [identifier, run] of Object.entries(tables)) {
    if (!runs[identifier]) throw new Error(`${identifier} is not a motion of this page`);
    runs[identifier] = run;
    stage?.forget(identifier);
  }
  const touched = charts.filter((chart) => chart.spec.series.some((series) => series.run in tables));
  for (const chart of touched) chart.stale = true;
  if (player.film.run in tables || player.film.box in tables) player.at(player.time);  // before the charts: it reads the style
  for (const chart of touched) chart.renew();
  if (!passing) later();  // a preview passes before charts out of view are looked at
  for (const identifier of Object.keys(tables)) dispatchEvent(new CustomEvent("vinculum:shown", { detail: { identifier } }));
}
const later = finishLater(charts);

theme();
for (const chart of charts) chart.draw();
if (description.films.length) {
  if (description.scene && stageHost) stage = makeStage(stageHost, description.scene, runs);
  player = makePlayer(description, runs, charts, stage);
}
window.vinculum = { description, runs, show, charts, player, stage, cubic: (run, key, t) => mixed(run.columns[key], cubicWeights(run, t)),
  at: (t) => player.at(t), play: () => player.play(), pause: () => player.pause(),
  get time() { return player.time; }, get playing() { return player.playing; } };
window.vinculumReady = true;  // drawn, and ready to be printed
