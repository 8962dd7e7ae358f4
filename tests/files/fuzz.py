"""Mutated model files: every one is accepted, or refused with located problems, within a second of the processor.

make fuzz ARGS="--count 100000 --jobs 2"
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from files.small import TRACK
from vinculum.model import ModelFileError, loads

MODELS = Path(__file__).parents[2] / "src" / "vinculum" / "model" / "library"
SEED = 20200229
LONGEST = 1.0  # seconds of the processor for one file
SIGNS = "[]{}()\"'=,.#+-*/^_ \n\t\\:;@!$%&|<>?~`0123456789eEinfxtθ²−\x00\u200béа"
NUMBERS = ["0", "-1", "1e308", "1e-308", "1e999", "inf", "-inf", "nan", "9" * 50, "9" * 5000, "0x10", "1_000", "true"]
FORMULAS = [
    "x", "1/0", "x^x", "9**9**9", "2^1000000", "sin(x", "dot(dot(dot(x)))", "x.__class__", "lambda: 1",
    "__import__('os')", "[x for x in x]", "max(x, 1, 2)", "exp(exp(exp(9)))", "(((((x)))))", "x = x", "1 m",
    "3 kg*m/s^2", "1 Nm", "t", "atan2(x, 0)", "abs(sign(x))", "sqrt(-x^2)", "x*0", "0", "-", "'", "reaction(rod)",
    "residual(rod, 1)", "pi*pi/pi", "log(0)", "dot(1)", "dot(t)", "tan(pi/2)", "0^0", "0^x", "x^-1", "x^(1/3)",
    "1e300*1e300", "1e-320", "theta theta", "piecewise(x < 0, x, 1)", "piecewise(x, 1, 2)", "0 < x <= 1 or x > 2",
    "piecewise(not x < t and t >= 0, sin(x), x^2, 1, dot(x))", "height(x)", "height(height(t))", "x if x else 1",
]  # fmt: skip
WORDS = [
    "name", "system", "tree", "affine", "coordinates", "inputs", "parameters", "kinetic_energy", "constraints",
    "holonomic", "servo", "simulation", "times", "initial", "form", "shulgin", "program", "x", "theta", "m", "u",
    "reaction", "dot(x)", "value", "unit", "given", "point", "joint", "free", "spherical", "fixed", "rates",
    "splines", "points", "values", "degree", "piecewise", "height", "path", "position", "task_path", "body", "at",
    "signals", "file", "column", "between", "beyond",
]  # fmt: skip
STRING = re.compile(r'"[^"\n]*"')
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@cache
def sources() -> list[str]:
    """The models of the package and one with cases and a curve, from which all mutants descend."""
    return [*(path.read_text(encoding="utf-8") for path in sorted(MODELS.glob("*.toml"))), TRACK]


# -- mutations ---------------------------------------------------------------------------------------------------


def _replace(r: random.Random, text: str, pattern: re.Pattern, by: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = r.choice(found)
    return text[: match.start()] + by + text[match.end() :]


def _lines(r: random.Random, text: str, others: list[str]) -> str:
    lines = text.split("\n")
    i, j = r.randrange(len(lines)), r.randrange(len(lines))
    kind = r.randrange(5)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines.insert(i, r.choice(r.choice(others).split("\n")))
    else:
        del lines[min(i, j) : max(i, j)]
    return "\n".join(lines)


def _signs(r: random.Random, text: str) -> str:
    i = r.randrange(len(text) + 1)
    kind = r.randrange(4)
    if kind == 0:
        return text[:i] + r.choice(SIGNS) + text[i:]
    if kind == 1:
        return text[:i] + text[i + 1 :]
    if kind == 2:
        return text[:i] + r.choice(SIGNS) * r.choice((2, 50, 3000)) + text[i:]
    return text[:i] + text[i + r.randrange(1, 40) :]


def _nested(r: random.Random, formula: str) -> str:
    """A formula wrapped a few or very many times."""
    times, (left, right) = (
        r.choice((3, 30, 45, 2000)),
        r.choice(
            [
                ("(", ")"),
                ("sin(", ")"),
                ("-", ""),
                ("dot(", ")"),
                ("2^", ""),
                ("piecewise(x < 1, ", ", t)"),
                ("not ", ""),
            ]
        ),
    )
    return left * times + formula + right * times


def mutated(r: random.Random, text: str, others: list[str]) -> str:
    """A text with one to six things changed."""
    for _ in range(r.choice((1, 1, 1, 2, 3, 6))):
        kind = r.randrange(9)
        if kind == 0:
            text = _signs(r, text)
        elif kind in (1, 2):
            text = _lines(r, text, others)
        elif kind == 3:
            text = _replace(r, text, NUMBER, r.choice(NUMBERS))
        elif kind == 4:
            text = _replace(r, text, STRING, f'"{r.choice(FORMULAS)}"')
        elif kind == 5:
            text = _replace(r, text, NAME, r.choice(WORDS))
        elif kind == 6:
            text = _replace(
                r, text, STRING, r.choice(["1", "true", "[]", "{}", '["x"]', "{ x = 1 }", "1979-05-27", '""'])
            )
        elif kind == 7:
            text = _replace(r, text, STRING, f'"{_nested(r, r.choice(FORMULAS))}"')
        else:
            found = [m.group() for m in STRING.finditer(r.choice(others))]
            text = _replace(r, text, STRING, r.choice(found) if found else '"x"')
    return text


# -- runs --------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What became of the mutants."""

    counts: Counter = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)  # seconds of the processor, number of the mutant
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {word}" for word, number in sorted(self.counts.items()))
        slow = f"slowest {self.slowest[0]:.2f} s of the processor (mutant {self.slowest[1]})"
        return f"{counts}, {len(self.failures)} failures, {slow}"

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.slowest = max(self.slowest, other.slowest)
        self.failures += other.failures


def mutant(number: int, seed: int = SEED) -> str:
    """The mutant with a number; always the same."""
    r = random.Random(f"{seed} {number}")
    others = sources()
    return mutated(r, r.choice(others), others)


def tried(number: int, seed: int = SEED) -> Tally:
    """Load one mutant. Anything but an accepted model or located problems is a failure."""
    text, tally = mutant(number, seed), Tally()
    began = time.process_time()
    try:
        loads(text)
        tally.counts["accepted"] += 1
    except ModelFileError as error:
        tally.counts["refused"] += 1
        if not error.problems or any(p.line < 1 or p.column < 1 or not p.message for p in error.problems):
            tally.failures.append(f"{number}: a problem without a place: {error}")
        str(error)
    except Exception as error:
        tally.failures.append(f"{number}: {type(error).__name__}: {error}")
    took = time.process_time() - began
    if took > LONGEST:  # once more: a pause of the process does not come twice, a hang does
        began = time.process_time()
        with suppress(ModelFileError):
            loads(text)
        took = min(took, time.process_time() - began)
    tally.slowest = (took, number)
    if took > LONGEST:
        tally.failures.append(f"{number}: took {took:.2f} s")
    return tally


def run(numbers: range, seed: int = SEED) -> Tally:
    """Load many mutants; one that hangs is broken off after a minute."""
    total = Tally()
    loads(sources()[0])  # what is imported and compiled once
    for number in numbers:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.alarm(60)
        try:
            total.add(tried(number, seed))
        except KeyboardInterrupt:
            total.failures.append(f"{number}: did not end within a minute")
        finally:
            signal.alarm(0)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", type=int, help="print one mutant instead")
    asked = parser.parse_args()
    if asked.show is not None:
        print(mutant(asked.show, asked.seed))
        return 0
    size, total, began = 500, Tally(), time.perf_counter()
    parts = [range(i, min(i + size, asked.count)) for i in range(0, asked.count, size)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for part in pool.map(run, parts, [asked.seed] * len(parts)):
            total.add(part)
            print(*part.failures, sep="\n", end="\n" if part.failures else "", file=sys.stderr)
            print(f"{total}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    print(f"{total}, {time.perf_counter() - began:.0f} s in all")
    for failure in total.failures[:50]:
        print(failure)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
