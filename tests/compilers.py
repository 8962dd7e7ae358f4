"""Compilers of C for the tests of exported code. ``python tests/compilers.py`` installs gcc and clang with apt."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from browser import _apt, _run

NAMES = ("gcc", "clang")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")
MISSING = "{} was not found. Install it: make compilers"


def find(name: str) -> str:
    """The path of a compiler. Where it is missing, the test is left out; in CI it fails."""
    path = shutil.which(name)
    if path is None and os.environ.get("CI"):
        pytest.fail(MISSING.format(name))
    if path is None:
        pytest.skip(MISSING.format(name))
    return path


def compiled(files: Sequence[Path], target: Path, *flags: str, name: str = "gcc") -> Path:
    """A program or library made of C sources without any warning."""
    sources = [str(path) for path in files if path.suffix == ".c"]
    command = [find(name), *STRICT, *flags, "-o", str(target), *sources, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return target


def accepted(files: Sequence[Path], name: str) -> None:
    """Refuse sources at which a compiler warns."""
    sources = [str(path) for path in files if path.suffix == ".c"]
    done = subprocess.run([find(name), *STRICT, "-fsyntax-only", *sources], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


def run(program: Path) -> str:
    """What a program prints; it must end with 0."""
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]
    return done.stdout


def library(files: Sequence[Path], folder: Path) -> ctypes.CDLL:
    """The functions of C sources, to be called from Python."""
    return ctypes.CDLL(str(compiled(files[:2], folder / f"{files[0].stem}.so", "-O2", "-shared", "-fPIC")))


def main() -> int:
    """Install what is missing; with --optional (`make test`) a failure counts only in CI."""
    optional = "--optional" in sys.argv[1:]
    missing = [name for name in NAMES if shutil.which(name) is None]
    if not missing:
        return 0
    apt = _apt(ask=not optional)
    if apt:
        _run([*apt, "update"], not optional)
        _run([*apt, "install", "-y", "--no-install-recommends", *missing, "libc6-dev"], not optional)
    missing = [name for name in NAMES if shutil.which(name) is None]
    if missing and optional and not os.environ.get("CI"):
        print(f"{' and '.join(missing)} could not be installed: the tests that compile C with it are left out.")
        return 0
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
