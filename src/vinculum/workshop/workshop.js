"use strict";
// The workshop in the browser: one editor and one page for each open file. All state of a file is in its `Sheet`.

const at = id => document.getElementById(id);
const WAIT = 250; // milliseconds after the last key
const sheets = new Map();
let current = null;

async function ask(path, data) {
  const options = data && {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(data)};
  const answer = await fetch(path, options);
  const body = await answer.json();
  if (!answer.ok || "error" in body) throw new Error(body.error || `status ${answer.status}`);
  return body;
}

class Sheet {
  constructor(file) {
    this.key = file.key;
    this.take(file);
    this.findings = [];
    this.status = ["", false];
    this.conflict = null;
    this.box = document.createElement("div");
    this.pages = document.createElement("div");
    this.pages.innerHTML = '<p class="empty">The page appears here.</p>';
    at("editors").append(this.box);
    at("pages").append(this.pages);
    this.editor = WorkshopEditor.create({
      parent: this.box, text: file.text, nonce: document.body.dataset.nonce,
      changed: () => this.changed(), save: () => this.save(),
      complete: (text, position) => ask("complete", {text, position}).catch(() => ({options: []})),
    });
    this.option = document.createElement("option");
    this.option.value = this.key;
    at("files").append(this.option);
    if (file.pages) this.load(file.pages);
    this.compute();
  }

  take(file) {
    Object.assign(this, {name: file.name, place: file.place, disk: file.text, base: file.base});
  }

  get dirty() {
    return this.editor.text() !== this.disk || this.place === null;
  }

  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.compute(), WAIT);
    this.status = ["…", false];
    draw();
  }

  compute() {
    this.status = ["Reading…", false];
    ask("text", {key: this.key, text: this.editor.text()}).then(alive, dead);
  }

  // -- saving and the disk ------------------------------------------------------------------------------------

  async save() {
    if (this.place === null) return this.saveAs();
    const text = this.editor.text();
    try {
      const found = await ask("save", {key: this.key, text, base: this.base});
      if ("conflict" in found) this.conflict = {text: found.conflict, base: found.base};
      else this.saved(found);
    } catch (error) {
      this.refused(error);
    }
    draw();
  }

  saved(file) {
    this.take(file);
    this.conflict = null;
    this.message = null;
  }

  refused(error) {
    if (error instanceof TypeError) dead();
    else this.message = error.message;
  }

  saveAs() {
    const dialog = at("naming");
    at("name").value = this.place === null ? `my_${this.name}` : this.name;
    at("naming-error").textContent = "";
    dialog.returnValue = "cancel";
    dialog.showModal();
    at("name").select();
    dialog.onclose = async () => {
      if (dialog.returnValue !== "save") return this.editor.view.focus();
      try {
        this.saved(await ask("save", {key: this.key, text: this.editor.text(), name: at("name").value}));
      } catch (error) {
        if (error instanceof TypeError) return dead();
        dialog.returnValue = "cancel";
        dialog.showModal();
        at("naming-error").textContent = error.message;
      }
      draw();
    };
  }

  onDisk(file) {
    const before = this.editor.text();
    if (before === this.disk || before === file.text) {
      this.take(file);
      if (before !== file.text) this.editor.replace(file.text);
    } else {
      this.conflict = {text: file.text, base: file.base};
    }
  }

  settle(mine) {
    const {text, base} = this.conflict;
    this.conflict = null;
    this.disk = text;
    this.base = base;
    if (!mine) this.editor.replace(text);
    draw();
  }

  // -- what the computation says ------------------------------------------------------------------------------

  hear(message) {
    if ("disk" in message) this.onDisk(message.disk);
    if ("working" in message) this.status = ["Reading…", false];
    if ("findings" in message) this.found(message.findings);
    if ("step" in message) this.status = [`${message.step} ${Math.round(100 * message.share)} %`, false];
    if ("pages" in message) this.load(message.pages);
    if ("failed" in message) this.status = [message.failed, true];
    else if ("done" in message) this.status = ["Up to date", false];
    draw();
  }

  found(findings) {
    this.findings = findings;
    this.editor.show(findings);
    const count = findings.length === 1 ? "1 problem" : `${findings.length} problems`;
    const old = this.pages.querySelector("iframe") ? "; the page shows the last good text" : "";
    this.status = findings.length ? [count + old, true] : ["Reading…", false];
  }

  // A new page is loaded out of sight and takes the place of the old one where that was scrolled to.
  load(number) {
    const frame = document.createElement("iframe");
    frame.title = `Page about ${this.name}`;
    frame.className = "waiting";
    frame.onload = () => {
      const shown = this.pages.querySelector("iframe:not(.waiting)");
      if (shown) frame.contentWindow.scrollTo(0, shown.contentWindow.scrollY);
      frame.className = "";
      for (const other of [...this.pages.children]) if (other !== frame && !isNewer(other, frame)) other.remove();
    };
    frame.src = `page/${this.key}?number=${number}`;
    this.pages.append(frame);
  }
}

const isNewer = (one, other) => one.tagName === "IFRAME" && other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;

// -- drawing ----------------------------------------------------------------------------------------------------

function draw() {
  for (const sheet of sheets.values()) {
    sheet.box.hidden = sheet.pages.hidden = sheet !== current;
    sheet.option.textContent = (sheet.dirty ? "• " : "") + sheet.name;
  }
  if (!current) return;
  const [words, bad] = stopped ? ["Not connected", true] : current.status;
  at("files").value = current.key;
  at("dirty").textContent = current.dirty ? "not saved" : "";
  at("status").textContent = words;
  at("status").className = bad ? "bad" : "";
  document.title = `${current.dirty ? "• " : ""}${current.name} – Vinculum workshop`;
  drawFindings();
  drawNotice();
}

function drawFindings() {
  at("findings").replaceChildren(...current.findings.map(finding => {
    const row = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = `Line ${finding.line}${finding.key ? `, ${finding.key}` : ""}: ${finding.message}`;
    button.onclick = () => current.editor.goTo(finding);
    row.append(button);
    return row;
  }));
}

function drawNotice() {
  const shown = stopped ? ["The server has stopped. Your text is still here: save a copy, then type vinculum open again.", [["Save a copy", copy]]]
    : current.conflict ? [`${current.name} was changed by another program while you edited it.`,
      [["Take the text of the file", () => current.settle(false)], ["Keep mine", () => current.settle(true)]]]
    : current.message ? [current.message, [["Close", () => { current.message = null; draw(); }]]] : null;
  at("notice").hidden = !shown;
  if (!shown) return;
  at("notice-text").textContent = shown[0];
  at("notice-buttons").replaceChildren(...shown[1].map(([label, act]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.onclick = act;
    return button;
  }));
}

// -- the server ---------------------------------------------------------------------------------------------------

let stopped = false, again = 0;

function alive() {
  if (!stopped) return;
  clearTimeout(again);
  stopped = false;
  draw();
  catchUp();
}

// Without an answer the page asks again every other second: the machine may only have slept.
function dead() {
  if (!stopped) { stopped = true; draw(); }
  clearTimeout(again);
  again = setTimeout(() => ask("state").then(alive, dead), 2000);
}

// Messages were missed meanwhile, and what was typed was not heard.
async function catchUp() {
  try {
    const {files} = await ask("state");
    for (const file of files) if (sheets.has(file.key)) sheets.get(file.key).onDisk(file);
    for (const sheet of sheets.values()) sheet.compute();
  } catch { dead(); }
}

function copy() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([current.editor.text()], {type: "application/toml"}));
  link.download = current.name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function add(file) {
  const sheet = sheets.get(file.key) || new Sheet(file);
  sheets.set(file.key, sheet);
  current = sheet;
  draw();
}

function side(name) {
  document.body.dataset.side = name;
  at("side-text").setAttribute("aria-pressed", name === "text");
  at("side-page").setAttribute("aria-pressed", name === "page");
}

function listen() {
  const events = new EventSource("events");
  events.onopen = alive;
  events.onerror = dead;
  events.onmessage = event => {
    const message = JSON.parse(event.data);
    const sheet = sheets.get(message.key);
    if (sheet) sheet.hear(message);
  };
  return new Promise(resolve => events.addEventListener("open", resolve, {once: true}));
}

async function start() {
  await listen();
  const {files, examples} = await ask("state");
  files.forEach(add);
  current = sheets.get(files[0].key);
  for (const name of examples) at("examples").append(new Option(name.replaceAll("_", " "), name));
  at("files").onchange = () => { current = sheets.get(Number(at("files").value)); draw(); };
  at("examples").onchange = async () => {
    const name = at("examples").value;
    at("examples").value = "";
    try { add(await ask("open", {example: name})); } catch (error) { current.refused(error); draw(); }
  };
  at("save").onclick = () => current.save();
  at("save-as").onclick = () => current.saveAs();
  at("side-text").onclick = () => side("text");
  at("side-page").onclick = () => side("page");
  addEventListener("keydown", event => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "s" || event.defaultPrevented) return;
    event.preventDefault();
    current.save();
  });
  addEventListener("beforeunload", event => {
    if ([...sheets.values()].some(sheet => sheet.editor.text() !== sheet.disk)) event.preventDefault();
  });
  draw();
}

start();
