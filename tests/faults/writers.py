"""Every writer of the package, with two different contents of its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import vinculum as vn
from simulate.models import hanging, pendulum, run
from vinculum.cli.terminal import written as write_new
from vinculum.export.export_c import export_c
from vinculum.model.schema.schema import schema_text
from vinculum.present.report import write_report
from vinculum.writing import write_file

LIBRARY = Path(vn.__file__).parent / "model" / "library"
ENDINGS = {"trajectory": ".nc", "table": ".csv", "report": ".html", "new": ".toml", "schema": ".json",
           "papers": ".html", "tree": ".html", "picture": ".png", "code": ".c"}  # fmt: skip


def contents(kind: str, place: Path) -> list:
    """Two functions that write different contents of a kind to a place."""
    if kind in ("trajectory", "table"):
        motions = [run(pendulum(), hanging(), np.linspace(0, 1, n)) for n in (2001, 3001)]
        return [lambda motion=motion: motion.save(place, overwrite=True) for motion in motions]
    if kind == "report":
        results = [vn.examine(vn.load(LIBRARY / f"{name}.toml")) for name in ("start", "cartesian_pendulum")]
        return [lambda found=found: write_report(found, place, overwrite=True) for found in results]
    if kind in ("tree", "picture"):
        trees = _trees()
        return [lambda tree=tree: vn.bodies.draw_tree(tree, place, overwrite=True) for tree in trees]
    if kind == "code":
        equations = [vn.derive(pendulum().system), vn.derive(vn.load(LIBRARY / "start.toml").system)]
        return [lambda found=found: export_c(found, place, overwrite=True) for found in equations]
    texts = {
        "new": [(LIBRARY / f"{name}.toml").read_text() for name in ("start", "ball_and_beam")],
        "schema": [schema_text(), schema_text() + "\n"],
        "papers": ["<html>" + "a" * 3_000_000 + "</html>", "<html>" + "b" * 4_000_000 + "</html>"],
    }[kind]
    write = write_file if kind == "papers" else write_new
    return [lambda text=text: write(place, text) for text in texts]


def _trees() -> list:
    arm = vn.Body("arm", mass=1, inertia=1)
    return [vn.BodyTree([arm]), vn.BodyTree([arm, vn.Body("hand", "arm", origin=(1, 0, 0), mass=1, inertia=1)])]
