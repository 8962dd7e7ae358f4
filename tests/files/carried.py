"""Accepted mutants carried on through derivation, simulation, analysis and report.

make carried ARGS="--count 1000"; ARGS="--start 5000 --count 100" continues at mutant 5000

A step that cannot be done is refused in our words, a long one is ended as by Ctrl-C; nothing else may happen.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from files.fuzz import SEED, mutant
from vinculum.errors import VinculumError
from vinculum.model import ModelFileError, loads
from vinculum.model.model import Model
from vinculum.present.report import write_report

PATIENCE = 10.0  # seconds of the processor until Ctrl-C


def accepted(seed: int = SEED, start: int = 0) -> Iterator[tuple[int, Model]]:
    """The mutants that are valid models, with their numbers."""
    for number in itertools.count(start):
        try:
            yield number, loads(mutant(number, seed))
        except ModelFileError:
            continue


def carried(model: Model, folder: Path) -> str:
    """What became of a model: reported, refused, interrupted, or a failure with its words."""
    place = folder / "report.html"
    former = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE, 2.0)  # again, for every long step
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            written = write_report(model, place)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if not place.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            return "failure: a part of a page"
        motion = written.results.motion
        if motion is not None:
            [str(motion.outcome), repr(motion)]
        return "interrupted" if written.results.interrupted else "reported"
    except VinculumError as error:
        return "refused" if str(error) else "failure: a refusal without words"
    except KeyboardInterrupt:
        return "interrupted"
    except Exception as error:
        return f"failure: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def run(count: int, seed: int = SEED, tell: bool = False, start: int = 0) -> tuple[Counter, list[str]]:
    """Carry on the first mutants that are accepted."""
    counts, failures = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for number, model in itertools.islice(accepted(seed, start), count):
            verdict = carried(model, Path(folder))
            counts[verdict.split(":")[0]] += 1
            if verdict.startswith("failure"):
                failures.append(f"{number}: {verdict}")
                if tell:
                    print(failures[-1][:300], flush=True)
            if tell and sum(counts.values()) % 20 == 0:
                print(f"up to mutant {number}: {dict(counts)}", flush=True)
    return counts, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first mutant")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    counts, failures = run(asked.count, asked.seed, tell=True, start=asked.start)
    print(dict(counts))
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
