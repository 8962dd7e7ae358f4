// The worker: computes motions in the order of a request until another request comes, those near the stage first roughly.
// A request is { serial, jobs: [{ run, near, p, s, times }] }. An answer is { serial, run, final, table, ... } or words.

const DRAFT = 1e-8, FINE = 1e-10;  // tolerances
const SLICE = 12;  // milliseconds of work before messages are read
let newest = 0;
const stiffness = {};  // of the last motion, by run

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

function answer(serial, job, result, more) {
  const { times, columns, errors, balance, residual, energy, ended, events, steps, stiff, start } = result;
  postMessage({ serial, run: job.run, table: { times, columns }, errors, balance, residual, energy, ended, events, steps,
    stiff, start, ...more });
}

// A motion and its time; null if another request came, { refused } where it cannot be computed.
async function attempt(serial, job, tolerance, stiff) {
  const began = performance.now();
  try {
    const result = await finished(serial, job, tolerance, stiff);
    return result && { result, ms: performance.now() - began };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    postMessage({ serial, run: job.run, refused: error.message });
    return { refused: true };
  }
}

async function serve({ serial, jobs }) {
  const drafts = {};
  for (const job of jobs.filter(({ near }) => near)) {
    const draft = await attempt(serial, job, DRAFT, stiffness[job.run]);
    if (!draft) return;
    drafts[job.run] = draft;
    if (!draft.refused) answer(serial, job, draft.result, { final: false, ms: draft.ms });
    if (await outdated(serial)) return;
  }
  for (const job of jobs) {
    const draft = drafts[job.run];
    if (draft?.refused) continue;
    const fine = await attempt(serial, job, FINE, draft ? draft.result.stiff : stiffness[job.run]);
    if (!fine) return;
    if (fine.refused) continue;
    stiffness[job.run] = fine.result.stiff;
    const accuracy = draft ? difference(models[job.run], draft.result, fine.result) : null;
    answer(serial, job, fine.result, { final: true, ms: (draft || fine).ms, accuracy });
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
