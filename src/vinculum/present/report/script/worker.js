// The worker: computes motions in the order of a request until another request comes. Those near the stage have a preview
// with a few samples first; the answer has the tolerance FINE, and its accuracy is its distance from a run with COARSE.
// A request is { serial, jobs: [{ run, near, p, s, times, few }] }. An answer is { serial, run, final, table, ... } or words.

const PREVIEW = 1e-5, COARSE = 1e-8, FINE = 1e-10;  // tolerances
const SLICE = 4;  // milliseconds of work before messages are read
const TOGETHER = 6;  // milliseconds for which previews wait for each other
const QUIET = 60;  // milliseconds without a request, as at the end of a drag, before the accurate motions are computed
let newest = 0;
const stiffness = {};  // of the last motion, by run

const rest = () => new Promise((resolve) => { setTimeout(resolve, QUIET); });
const pause = () => new Promise((resolve) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(0);
});

async function finished(serial, job, tolerance, stiff) {
  const run = compute(models[job.run], { ...job, tolerance, stiff });
  let began = performance.now(), now = run.next();
  while (!now.done) {
    if (performance.now() - began > SLICE) {
      await pause();
      if (serial !== newest) return null;
      began = performance.now();
    }
    now = run.next();
  }
  return now.value;
}

// Answers wait for each other for a moment, so that the page draws them together. Tables are handed over, not copied.
let outbox = [];
function answer(serial, job, result, more) {
  const { times, columns, errors, balance, residual, energy, ended, events, steps, stiff, start } = result;
  outbox.push({ serial, run: job.run, table: { times, columns }, errors, balance, residual, energy, ended, events, steps,
    stiff, start, ...more });
}
function send() {
  const arrays = outbox.filter(({ table }) => table)
    .flatMap(({ table, errors, balance }) => [table.times, ...Object.values(table.columns), ...Object.values(errors), balance]);
  if (outbox.length) postMessage(outbox, [...new Set(arrays.map(({ buffer }) => buffer))]);
  outbox = [];
}

// A motion and its time; null if another request came, { refused } where it cannot be computed.
async function attempt(serial, job, tolerance, stiff) {
  const began = performance.now();
  try {
    const result = await finished(serial, job, tolerance, stiff);
    return result && { result, ms: performance.now() - began };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    outbox.push({ serial, run: job.run, refused: error.message });
    return { refused: true };
  }
}

async function serve({ serial, jobs }) {
  const refused = new Set(), began = performance.now();
  outbox = [];
  for (const job of jobs.filter(({ near }) => near)) {
    const preview = await attempt(serial, { ...job, times: job.few }, PREVIEW, stiffness[job.run]);
    if (!preview) return;
    if (preview.refused) refused.add(job.run);
    else {
      stiffness[job.run] = preview.result.stiff;
      answer(serial, job, preview.result, { final: false, ms: preview.ms, tolerance: PREVIEW });
    }
    if (performance.now() - began > TOGETHER) send();
  }
  send();
  await rest();
  if (serial !== newest) return;
  for (const job of jobs.filter(({ run }) => !refused.has(run))) {
    const coarse = job.near ? await attempt(serial, job, COARSE, stiffness[job.run]) : {};
    if (!coarse) return;
    const fine = coarse.refused ? coarse : await attempt(serial, job, FINE, coarse.result?.stiff ?? stiffness[job.run]);
    if (!fine) return;
    if (!fine.refused) {
      stiffness[job.run] = fine.result.stiff;
      const accuracy = job.near ? difference(models[job.run], coarse.result, fine.result) : null;
      answer(serial, job, fine.result, { final: true, ms: fine.ms, accuracy });
    }
    send();
    if (await outdated(serial)) return;
  }
}

async function outdated(serial) {
  await pause();
  return serial !== newest;
}

onmessage = ({ data }) => {
  newest = data.serial;
  serve(data);
};
