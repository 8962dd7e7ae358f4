"""Published robots: their mass matrix and forces, read from URDF, against Pinocchio reading the same files.

python tests/bodies/robots.py FOLDER     every .urdf below a folder, or of the package example-robot-data (make robots)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

import vinculum as vn

LARGEST = 1e-12  # difference, relative to the largest entry


def compared(path: Path) -> tuple[int, float]:
    """The number of joints, and the largest difference in M and h beside their largest entries."""
    model = pin.buildModelFromXML(path.read_text(encoding="utf-8"))
    tree = vn.from_urdf(path, identified=True).bodies
    names = [str(q.func) for q in tree.coordinates]
    turned = [names.index(name) for name in model.names[1:]]  # ours, in the order of Pinocchio
    random = np.random.default_rng(len(names))
    q, v = random.normal(size=(2, len(names)))
    arm = vn.bodies.dynamics(tree)
    M, h = arm.mass_matrix(q)[np.ix_(turned, turned)], arm.bias(q, v)[turned]
    theirs = pin_state(model, q[turned]), v[turned]
    data = model.createData()
    upper = np.triu(pin.crba(model, data, theirs[0]))
    pairs = ((M, upper + np.triu(upper, 1).T), (h, pin.nonLinearEffects(model, data, *theirs)))
    return len(names), max(np.abs(a - b).max() / (np.abs(b).max() or 1.0) for a, b in pairs)


def pin_state(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's q: a joint that turns without end is (cos, sin)."""
    parts = zip(model.joints[1:], q, strict=True)
    return np.concatenate([[np.cos(x), np.sin(x)] if joint.nq == 2 else [x] for joint, x in parts])


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else published()
    worst, read, left = 0.0, 0, []
    for path in sorted(folder.rglob("*.urdf")):
        try:
            joints, difference = compared(path)
        except (vn.VinculumError, ValueError) as error:
            left.append(f"{path.name}: {str(error).splitlines()[0][:100]}")
            continue
        print(f"{difference:8.1e}  {joints:3d} joints  {path.name}", flush=True)
        worst, read = max(worst, difference), read + 1
    print(f"{read} robots, largest difference {worst:.1e}; {len(left)} left out", *left, sep="\n")
    return 0 if read and worst < LARGEST else 1


def published() -> Path:
    """The robots of the package example-robot-data."""
    return Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


if __name__ == "__main__":
    sys.exit(main())
