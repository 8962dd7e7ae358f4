"use strict";
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const films = JSON.parse(document.getElementById("films").textContent);
  const byId = (name) => document.getElementById(name);
  const coarse = matchMedia("(pointer: coarse)").matches;
  const config = { displayModeBar: false, responsive: true, scrollZoom: false, doubleClick: "reset" };

  // -- colors: "--name" in a figure is a color of the style, in the current theme of the page ----------------------
  function themed(value) {
    if (typeof value === "string" && value.startsWith("--"))
      return getComputedStyle(document.documentElement).getPropertyValue(value).trim();
    if (Array.isArray(value)) return value.map(themed);
    if (value && typeof value === "object" && !ArrayBuffer.isView(value))
      return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, themed(entry)]));
    return value;
  }

  function axis(own) {
    return Object.assign({ gridcolor: "--grid", zerolinecolor: "--line", linecolor: "--line", automargin: true,
      exponentformat: "power",
      title: { text: "" } }, own, { title: { text: typeof own?.title === "string" ? own.title : "", standoff: 8 } });
  }

  function framed(layout) {
    const space = layout.scene && Object.assign({}, layout.scene, { bgcolor: "rgba(0,0,0,0)" },
      ...["xaxis", "yaxis", "zaxis"].map((name) => ({ [name]: Object.assign({ gridcolor: "--line", zerolinecolor: "--line",
        backgroundcolor: "rgba(0,0,0,0)", showspikes: false }, layout.scene[name]) })));
    return themed(Object.assign({ paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", autosize: true,
      margin: { l: 8, r: 12, t: 8, b: 8 }, hovermode: "x", dragmode: coarse ? false : "zoom",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "--muted" },
      hoverlabel: { bgcolor: "--panel", bordercolor: "--line", font: { color: "--text" } },
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 } },
      layout, space ? { scene: space } : { xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis) }));
  }

  const drawn = new Set();  // figures are drawn when they are scrolled near the window
  function draw(name) {
    const { data, layout } = figures[name];
    drawn.add(name);
    return Plotly.react(byId(name), themed(data), framed(layout), config);
  }
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target.id);
    }
  }, { rootMargin: "500px 0px" });

  // -- the mechanism in motion -------------------------------------------------------------------------------------
  const stage = byId("stage");
  let film = null, frame = 0, playing = false, began = 0, from = 0, camera = null, showing = null;

  function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  }

  function chosen(number) {
    const source = films[number];
    if (!source.numbers) source.numbers = source.places.map(unpacked);
    return source;
  }

  function coordinates(number) {
    const points = film.counts.reduce((sum, count) => sum + count, 0);
    let start = number * points;
    return film.counts.map((count) => {
      const slice = film.numbers.map((values) => values.subarray(start, start + count));
      start += count;
      return slice;
    });
  }

  function height() {
    if (film.layout.scene) return Math.min(Math.max(stage.clientWidth * 0.7, 300), 560);
    const [x, y] = ["xaxis", "yaxis"].map((name) => film.layout[name].range[1] - film.layout[name].range[0]);
    return Math.min(Math.max((stage.clientWidth - 60) * y / x + 50, 260), Math.max(innerHeight * 0.7, 300));
  }

  async function set() {
    await showing;  // a pending frame would otherwise draw old positions into the new picture
    const traces = film.traces.map((trace) => Object.assign({ showlegend: false }, trace));
    coordinates(frame).forEach((places, i) => places.forEach((values, k) => {
      traces[film.still + i]["xyz"[k]] = values;
    }));
    stage.style.height = `${height()}px`;
    const layout = Object.assign({ height: height(), hovermode: "closest" }, film.layout);
    if (layout.scene) layout.scene = Object.assign({}, layout.scene, camera ? { camera } : {});
    layout.dragmode = layout.scene ? "orbit" : false;
    await Plotly.react(stage, themed(traces), framed(layout), config);
    clock();
    if (window.vinculumReady) later();
  }

  function clock() {
    const speed = film.speed === 1 ? "" : ` (${film.speed} ×)`;
    const lasts = Math.abs(film.t[film.t.length - 1] - film.t[0]) || 1;
    const digits = Math.min(Math.max(2, 2 - Math.floor(Math.log10(lasts))), 12);
    byId("clock").textContent = `t = ${film.t[frame].toFixed(digits).replace("-", "\u2212")}${speed}`;
    byId("time").value = frame;
    stage.dataset.frame = frame;
  }

  function show(number) {
    frame = number;
    const indices = film.counts.map((_, i) => film.still + i);
    const data = coordinates(frame).map((places) =>
      Object.fromEntries(places.map((values, k) => ["xyz"[k], values])));
    clock();
    const how = { transition: { duration: 0 }, frame: { duration: 0, redraw: Boolean(film.layout.scene) }, mode: "immediate" };
    showing = Plotly.animate(stage, { data, traces: indices }, how).catch(() => undefined);  // a newer frame replaced it
    return showing;
  }

  function tick(now) {
    if (!playing) return;
    const t = from + (now - began) / 1000 * film.speed * Math.sign(film.t[film.t.length - 1] - film.t[0] || 1);
    const passed = (instant) => Math.abs(instant - film.t[0]) <= Math.abs(t - film.t[0]);
    let next = frame;
    while (next + 1 < film.t.length && passed(film.t[next + 1])) next += 1;
    if (next !== frame) show(next);
    if (frame === film.t.length - 1) return pause();
    requestAnimationFrame(tick);
  }

  function play() {
    if (frame === film.t.length - 1) show(0);
    playing = true;
    began = performance.now();
    from = film.t[frame];
    button("Pause", true);
    requestAnimationFrame(tick);
  }

  function pause() {
    playing = false;
    button("Play", false);
    later();
  }

  function button(text, pressed) {
    byId("play").textContent = text;
    byId("play").setAttribute("aria-pressed", pressed);
  }

  // The picture for printing: the current stage in the light theme, taken when the page is idle.
  let waiting = 0;
  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(photograph, 300);
  }
  async function photograph() {
    try {
      const look = document.documentElement.dataset.theme;
      document.documentElement.dataset.theme = "light";
      const size = { width: 680, height: film.layout.scene ? 480 : Math.min(Math.max(height() * 680 / stage.clientWidth, 240), 480) };
      const layout = framed(Object.assign({}, film.layout, size, { showlegend: false }));
      if (layout.scene && stage.layout?.scene?.camera) layout.scene.camera = stage.layout.scene.camera;
      const traces = stage.data.map((trace, i) => Object.assign({}, trace, themed(colors(film.traces[i]))));
      document.documentElement.dataset.theme = look;
      byId("still").src = await Plotly.toImage({ data: traces, layout }, Object.assign({ format: "png", scale: 2 }, size));
    } catch (error) {
      console.warn("no picture for printing", error);  // a browser without WebGL cannot draw in space
    }
  }

  const colors = ({ line, marker }) => Object.assign({}, line && { line }, marker && { marker });

  // -- themes, printing ----------------------------------------------------------------------------------------------
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function theme(name) {
    document.documentElement.dataset.theme = name;
    return Promise.all([...[...drawn].map(draw), ...(film ? [set()] : [])]);
  }
  byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));

  const PAPER = 10.5;  // font size for printing, as in the style
  const long = () => [...document.querySelectorAll(".equations.aligned, .equations:not(.aligned) .row")];
  function toPaper() {
    if (playing) pause();
    document.documentElement.dataset.screen = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    for (const name of Object.keys(figures)) {
      const div = byId(name), grid = div.closest(".grid");
      const size = !grid ? { width: 680, height: 270 } : grid.matches(".two") ? { width: 332, height: 220 } : { width: 216, height: 150 };
      div.style.height = `${size.height}px`;
      Plotly.react(div, themed(figures[name].data), Object.assign(framed(figures[name].layout), size), config);
    }
    for (const box of long()) {
      Object.assign(box.style, { width: "680px", fontSize: `${PAPER}px` });
      const needed = box.scrollWidth;
      Object.assign(box.style, { width: "", fontSize: `${PAPER * Math.max(0.55, Math.min(1, 670 / needed))}px` });
    }
  }
  function toScreen() {
    for (const box of long()) box.style.fontSize = "";
    for (const name of Object.keys(figures)) byId(name).style.height = `${figures[name].layout.height}px`;
    theme(document.documentElement.dataset.screen || "light");
  }
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", toScreen);

  let width = innerWidth, settling = 0;
  addEventListener("resize", () => {
    if (innerWidth === width || !film) return;
    width = innerWidth;
    clearTimeout(settling);
    settling = setTimeout(set, 200);
  });

  // -- begin -------------------------------------------------------------------------------------------------------
  async function begin() {
    if (films.length) {
      film = chosen(0);
      byId("play").addEventListener("click", () => (playing ? pause() : play()));
      byId("time").addEventListener("input", (event) => { if (playing) pause(); show(Number(event.target.value)); });
      byId("time").addEventListener("change", later);
      byId("which")?.addEventListener("change", (event) => {
        if (playing) pause();
        film = chosen(Number(event.target.value));
        frame = 0;
        byId("time").max = film.t.length - 1;
        set();
      });
    }
    await theme(dark.matches ? "dark" : "light");
    for (const name of Object.keys(figures)) near.observe(byId(name));
    stage?.on?.("plotly_relayout", () => { camera = stage.layout?.scene?.camera || camera; });
    if (film) await photograph();
    window.vinculumReady = true;  // drawn, and ready to be printed
  }
  begin();
})();
