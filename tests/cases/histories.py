"""Examine models one after the other in one process, and write a digest of every number that was found.

make histories ARGS="--seeds 1 2 3"    all models, once in each of these orders, each in a fresh process: the same bits
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import vinculum as vn
from vinculum.model.examine import Results, examine

MODELS = Path(vn.__file__).parent / "model" / "library"
ASIDE = {"seconds", "versions", "model", "equations", "form", "system", "loop"}  # times, and what the numbers are of
Digests = dict[str, str]


def digests(results: Results) -> Digests:
    """{where it stands: a digest of its bits} of all arrays, numbers and sentences in the results."""
    found: Digests = {}
    _collect(results, "", found, set())
    return found


def _collect(x: Any, where: str, found: Digests, seen: set[int]) -> None:
    if isinstance(x, np.ndarray) and x.dtype.kind in "fciub":
        found[where] = blake2b(x.tobytes(), digest_size=8).hexdigest()
    elif isinstance(x, (bool, int, float, complex, str, np.generic, BaseException)):
        found[where] = repr(x)
    elif id(x) not in seen:
        seen.add(id(x))
        for name, part in _parts(x):
            _collect(part, f"{where}/{name}", found, seen)


def _parts(x: Any) -> list[tuple[Any, Any]]:
    if isinstance(x, vn.Trajectory):
        values = [(name, np.asarray(column)) for name, column in x.dataset.variables.items()]
        return [*values, ("outcome", str(x.outcome))]
    if isinstance(x, Mapping):
        return list(x.items())
    if isinstance(x, (list, tuple)):
        return list(enumerate(x))
    if is_dataclass(x):
        return [(f.name, getattr(x, f.name)) for f in fields(x) if f.name not in ASIDE]
    return []


def in_fresh_process(names: Sequence[str]) -> dict[str, Digests]:
    """The digests of models examined in this order, in a process of their own."""
    command = [sys.executable, str(Path(__file__)), "--models", *names]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


def differences(one: Mapping[str, Digests], other: Mapping[str, Digests]) -> list[str]:
    """The numbers that differ, by model and place."""
    pairs = [(name, where) for name in one for where in {**one[name], **other[name]}]
    return [f"{name}{where}" for name, where in pairs if one[name].get(where) != other[name].get(where)]


def _compare(seeds: Sequence[int]) -> int:
    names = sorted(path.stem for path in MODELS.glob("*.toml"))
    first, failures = in_fresh_process(names), 0
    for seed in seeds:
        shuffled = random.Random(seed).sample(names, len(names))
        found = differences(first, in_fresh_process(shuffled))
        models = {line.split("/")[0] for line in found}
        print(f"order {seed}: {len(models)} of {len(names)} models differ", *found[:20], sep="\n  ")
        failures += len(models)
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", help="examine these and print the digests")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    asked = parser.parse_args()
    if not asked.models:
        return _compare(asked.seeds)
    json.dump({name: digests(examine(vn.load(MODELS / f"{name}.toml"))) for name in asked.models}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
