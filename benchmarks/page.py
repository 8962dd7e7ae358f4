"""How fast a page answers: milliseconds of computation, of redrawing, from input to paint, of a frame of the player.

    python -m benchmarks.page                          # all models of the library
    python -m benchmarks.page start segway             # some of them
    python -m benchmarks.page --into docs/report.md    # the table of the documentation, measured again

Every slider of the motion on the stage (at most twelve) is moved once by a few percent in Chromium, which draws without
a graphics card. Computation is that of the preview, in the worker; redraw is the work of the page when it has come, and
of the frame that paints it; the total goes from the event of the slider to the end of that frame, and contains messages
and the wait for the frame. Medians of all moves are given. A frame of the player is the time from one frame to the
next, in its median and in the 95th percentile; the screen has 60 frames per second, so 16.7 ms is the best.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import vinculum as vn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import browser

LIBRARY = Path(vn.__file__).parent / "model" / "library"
_TURN = """async ([name, k]) => {
  const host = document.getElementById("dials"), run = vinculum.player.film.run;
  const row = [...host.querySelectorAll(".dial")].find((dial) => dial.dataset.setting === name);
  const range = row.querySelector("input[type=range]");
  await new Promise(requestAnimationFrame);
  return new Promise((done) => {
    const late = setTimeout(() => done(null), 5000), began = performance.now();
    const shown = ({ detail }) => {
      if (detail.identifier !== run) return;
      removeEventListener("vinculum:shown", shown);
      clearTimeout(late);
      const drawing = performance.now() - Number(host.dataset.drawn);
      requestAnimationFrame(() => {
        const frame = performance.now();
        setTimeout(() => {  // after the frame was painted
          const now = performance.now();
          done({ total: now - began, redraw: drawing + now - frame, compute: Number(host.dataset.ms) });
        }, 0);
      });
    };
    addEventListener("vinculum:shown", shown);
    range.value = 0.02 + 0.01 * k;
    range.dispatchEvent(new Event("input"));
  });
}"""
_SETTLED = """async () => {
  const host = document.getElementById("dials");
  for (let k = 0; k < 200 && !["final", "refused", "ended"].includes(host.dataset.answered); k += 1)
    await new Promise((done) => setTimeout(done, 20));
}"""
_NAMES = """() => {
  const own = vinculum.description.live?.runs[vinculum.player?.film.run];
  return own ? [...new Set([...own.p, ...own.s])].filter((name) => typeof name === "string").slice(0, 12) : [];
}"""
_FRAMES = """async () => {
  const found = [];
  let before = performance.now();
  vinculum.play();
  await new Promise((done) => {
    const frame = () => {
      found.push(performance.now() - before);
      before = performance.now();
      if (found.length < 90) requestAnimationFrame(frame); else done();
    };
    requestAnimationFrame(frame);
  });
  vinculum.pause();
  return found.slice(5);
}"""


def measured(running: Any, path: Path) -> dict[str, Any]:
    """The times of one page."""
    with browser.opened(running, path, 1400, 900) as (page, seen):
        page.wait_for_timeout(800)
        names = page.evaluate(_NAMES)
        moves = []
        for k, name in enumerate([*names[:1], *names]):  # the first move starts the worker
            moves.append(page.evaluate(_TURN, [name, k]))
            page.evaluate(_SETTLED)
        page.evaluate("document.getElementById('reset')?.click()")
        page.wait_for_timeout(300)
        frames = sorted(page.evaluate(_FRAMES)) if page.evaluate("!!vinculum.player") else []
        assert seen.clean, seen
    good = [move for move in moves[1:] if move]
    return {
        "compute": _middle([move["compute"] for move in good]),
        "redraw": _middle([move["redraw"] for move in good]),
        "total": _middle([move["total"] for move in good]),
        "frame": _middle(frames),
        "slow": frames[int(0.95 * len(frames))] if frames else None,
    }


def _middle(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


HEAD = "| model | size | computation | redraw | input to paint | frame, median | frame, 95 % |"
FIRST = "| model | size |"  # of the head, also of tables with other columns
RULE = "|---|---|---|---|---|---|---|"


def row(name: str, size: int, found: dict[str, Any]) -> str:
    """A row of the table."""
    times = [f"{found[key]:.1f} ms" if found[key] is not None else "" for key in ("compute", "redraw", "total")]
    times += [f"{found[key]:.0f} ms" if found[key] is not None else "" for key in ("frame", "slow")]
    return f"| `{name}` | {size / 1e6:.2f} MB | {' | '.join(times)} |"


def rows_of(names: list[str]) -> list[str]:
    """Write the reports, open each, and print a row for each as it comes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser.browser() as running:
        for name in names:
            written = vn.write_report(vn.load(LIBRARY / f"{name}.toml"), Path(folder) / f"{name}.html")
            rows.append(row(name, written.bytes, measured(running, written.path)))
            print(rows[-1], flush=True)
    return rows


def put_into(path: Path, table: list[str]) -> None:
    """Replace the table in a file, from its head to the next empty line."""
    before, head, rest = path.read_text(encoding="utf-8").partition(FIRST)
    if not head:
        raise SystemExit(f"{path} has no table that begins with: {FIRST}")
    path.write_text(before + "\n".join(table) + rest[rest.index("\n\n") :], encoding="utf-8")


def main() -> None:
    """Measure the models, print a table, and put it into a file if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="names of models of the library; all by default")
    parser.add_argument("--into", type=Path, help="a Markdown file whose table is replaced")
    asked, began = parser.parse_args(), time.perf_counter()
    if asked.into and asked.models:
        parser.error("--into needs all models")
    print(HEAD, RULE, sep="\n")
    rows = rows_of(asked.models or sorted(path.stem for path in LIBRARY.glob("*.toml")))
    if asked.into:
        put_into(asked.into, [HEAD, RULE, *rows])
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
