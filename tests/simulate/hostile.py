"""Run files of a stranger who knows the format, checksum included.

make hostile ARGS="--count 1000"
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import vinculum as vn
from vinculum.simulation.trajectory.run_file import _read, to_bytes

VALUES = [None, 0, -1, 1e308, float("nan"), "", "x", "\x1b[2J", "a" * 5000, [], [[]], {}, {"x": 1}, ["x"], [1, 2, 3],
          [["rod", "position", "much"]], {"states": {}}, 10**400, "{name}", "{0.__class__}"]  # fmt: skip
LONGEST = 2.0  # seconds of the processor for one file


def hostile_files(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Mutants of a run file; half of them have a valid checksum."""
    r = random.Random(seed)
    for _ in range(count):
        yield _with_checksum(r, content) if r.random() < 0.5 else _with_bytes(r, content)


def _with_bytes(r: random.Random, content: bytes) -> bytes:
    """Changed, removed, doubled or random bytes; most changes are in the header."""
    made = bytearray(content)
    for _ in range(r.choice([1, 1, 2, 5, 20])):
        place = r.randrange(min(len(made), 3000) if r.random() < 0.7 else len(made))
        kind = r.randrange(6)
        if kind == 0:
            made[place] = r.randrange(256)
        elif kind == 1:
            made[place : place + 4] = r.choice([b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x00" * 4, b"\x80\x00\x00\x00"])
        elif kind == 2:
            del made[place : place + r.choice([1, 4, 100, 10_000])]
        elif kind == 3:
            made[place:place] = made[place : place + r.choice([4, 100, 1000])]
        elif kind == 4:
            made[place : place + 8] = r.randbytes(8)
        else:
            made = made[: max(place, 4)]
        if len(made) < 8:
            break
    return bytes(made)


def _with_checksum(r: random.Random, content: bytes) -> bytes:
    """Attributes and columns that do not fit together, correctly signed."""
    found = _read(content)
    del found.attrs["checksum"]
    for _ in range(r.choice([1, 1, 2])):
        name = r.choice(sorted(found.attrs))
        kind = r.randrange(5)
        if kind == 0:
            del found.attrs[name]
        elif kind == 1:
            found.attrs[name] = json.dumps(r.choice(VALUES))
        elif kind == 2:
            found.attrs[name] = r.choice(
                ["", "nonsense", "[" * 20_000, '{"time": "time"', "\x1b]0;title\x07", float("inf")]
            )
        elif kind == 3 and isinstance(found.attrs[name], str):
            found.attrs[name] = _changed_json(r, found.attrs[name])
        elif len(found.data_vars):
            column = r.choice(list(found.data_vars))
            found = found.drop_vars(column) if r.random() < 0.5 else found.assign({column: found[column] * np.nan})
        if not found.attrs:
            break
    return to_bytes(found)


def _changed_json(r: random.Random, text: str) -> str:
    """One entry of a JSON value, anywhere in it, replaced."""
    try:
        whole = [json.loads(text)]
    except ValueError:
        return text + "!"
    inside = whole
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return json.dumps(whole[0])
        key = r.choice(keys)
        if not isinstance(inside[key], (dict, list)) or not inside[key] or r.random() < 0.3:
            inside[key] = r.choice(VALUES)
            return json.dumps(whole[0])
        inside = inside[key]


def judge(content: bytes, folder: Path) -> str:
    """What became of a file; anything but a refusal in our words or a usable run is named."""
    path = folder / "hostile.nc"
    path.write_bytes(content)
    began = time.process_time()
    try:
        motion = vn.read_trajectory(path)
        [repr(motion), motion.dataset, motion.last_state, motion.event_times, motion.kept]
        motion.save(folder / "again.nc", overwrite=True)
        motion.save(folder / "again.csv", overwrite=True)
        verdict = "another valid run"
    except vn.errors.FileError as error:
        verdict = "refused" if str(path) in str(error) else f"refused without the name of the file: {error}"
    except Exception as error:
        verdict = f"{type(error).__name__}: {error}"
    return verdict if time.process_time() - began < LONGEST else f"slow, {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    from simulate.models import hanging, pendulum, run

    content = to_bytes(run(pendulum(), hanging(), np.linspace(0, 1, 21)).dataset)
    with tempfile.TemporaryDirectory() as folder:
        found = Counter(judge(made, Path(folder)) for made in hostile_files(content, asked.count, asked.seed))
    for verdict, times in found.most_common():
        print(f"{times:7d}  {verdict}")
    raise SystemExit(any(verdict not in ("refused", "another valid run") for verdict in found))


if __name__ == "__main__":
    main()
