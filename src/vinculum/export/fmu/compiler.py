"""A compiler of C on this machine, or zig from PyPI, which also compiles for other systems."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from vinculum.errors import VinculumError

# platform of FMI 3.0: (that of FMI 2.0, ending of a library, target of zig)
PLATFORMS = {
    "x86_64-linux": ("linux64", ".so", "x86_64-linux-gnu.2.17"),
    "aarch64-linux": ("aarch64-linux", ".so", "aarch64-linux-gnu.2.17"),
    "x86_64-windows": ("win64", ".dll", "x86_64-windows-gnu"),
    "x86_64-darwin": ("darwin64", ".dylib", "x86_64-macos"),
    "aarch64-darwin": ("aarch64-darwin", ".dylib", "aarch64-macos"),
}
_LARGE = 300_000  # characters of source above which the compiler optimizes less


def this_platform() -> str:
    """The platform of this machine."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    return f"{machine}-{platform.system().lower()}"


def refuse_platforms(platforms: Sequence[str]) -> None:
    """Raise for a platform for which no library can be made here."""
    for name in platforms:
        if name not in PLATFORMS:
            raise VinculumError(f"The platform {name!r} is not known. Use {', '.join(PLATFORMS)}.")
        command(name)


def compile_library(sources: Sequence[Path], target: Path, name: str) -> None:
    """A shared library of C sources for a platform."""
    large = sum(path.stat().st_size for path in sources) > _LARGE
    flags = ["-std=c99", "-O1" if large else "-O2", "-shared", "-fvisibility=hidden", "-ffp-contract=off"]
    if "windows" not in name:
        flags.append("-fPIC")
    line = [*command(name), *flags, "-o", str(target), *map(str, sources), "-lm"]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise VinculumError(f"The C compiler failed ({' '.join(command(name))}):\n{done.stderr[:2000]}")


def command(name: str) -> list[str]:
    """The compiler for a platform: one found on the machine for its own, zig for others."""
    found = [path for path in map(shutil.which, ("cc", "gcc", "clang")) if path]
    if name == this_platform() and found and "windows" not in name:
        return [found[0]]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[name][2]]
    where = "on this machine" if name == this_platform() else f"for {name}"
    raise VinculumError(
        f"No C compiler was found {where}. Install gcc or clang, or zig with pip install ziglang; or pass binary=False "
        "for an FMU with sources only."
    )
