"""The Delta robot's closed loop with Pinocchio in C++: ``delta_pinocchio.cpp``, compiled from its headers and called.

The headers of Pinocchio and Boost come with ``pip install pin``, those of Eigen with ``pip install cmeel-eigen`` or
Debian's libeigen3-dev. All of Pinocchio that is used is compiled here with ``g++ -O3 -DNDEBUG``, inlined, with the same
processor as the exported code; it takes one to two minutes.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from examples.delta_robot import DATA, theta
from vinculum.control import Estimator, FeedbackLaw

from .delta import pinocchio_ready

SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = (
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-w",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
)


def include(*below: str) -> Path | None:
    """The folder of headers that has the file: of an installed package, or of the system."""
    places = [Path(entry) / "cmeel.prefix" / "include" for entry in sys.path] + [Path("/usr/include")]
    for place in places:
        for own in (place, place / "eigen3"):
            if own.joinpath(*below).exists():
                return own
    return None


def compiled(folder: Path) -> ctypes.CDLL | None:
    """The loop as a library, or None with a sentence about what is missing."""
    headers = {"Pinocchio": include("pinocchio", "multibody.hpp"), "Eigen": include("Eigen", "Dense")}
    missing = [name for name, place in headers.items() if place is None]
    if shutil.which("g++") is None or missing:
        lacking = ", ".join(missing) or "g++"
        print(f"Pinocchio in C++ is left out: {lacking} not found (pip install pin cmeel-eigen).", file=sys.stderr)
        return None
    library = folder / "pinocchio_loop.so"
    places = [f"-I{place}" for place in dict.fromkeys(headers.values())]
    subprocess.run(["g++", *FLAGS, "-shared", "-fPIC", *places, "-o", str(library), str(SOURCE)], check=True)
    code = ctypes.CDLL(str(library))
    for name in ("dynamics", "closed"):
        getattr(code, name).restype = ctypes.c_double
    return code


def prepare(code: ctypes.CDLL, state: dict, law: FeedbackLaw, estimator: Estimator) -> None:
    """Give the library the robot, its state, the law and the observer."""
    *_, q, v = pinocchio_ready(state)
    own, at = estimator.realization, law.linear.at
    inputs, rest = ([float(at[key]) for key in keys] for keys in (law.linear.inputs, theta))
    numbers = (DATA, q, v, own.A, own.B, own.L, law.gain, inputs, rest)
    code.prepare(*(_pointer(np.ascontiguousarray(row, dtype=float)) for row in numbers))


def rates(code: ctypes.CDLL, estimate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of the arms and rates of the estimate."""
    found, rate = np.zeros(12), np.zeros(6)
    code.rates(_pointer(estimate), _pointer(found), _pointer(rate))
    return found[[0, 3, 6]], rate


def _pointer(row: np.ndarray) -> ctypes.c_void_p:
    return row.ctypes.data_as(ctypes.c_void_p)
