"""Figures need Plotly, which a user may not have: the error says what to install, and reports do without it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from vinculum.extras import extra

(x,) = dynamicsymbols("x,")


def test_a_missing_package_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "vinculum.present.shown_figure", raising=False)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    motion = vn.simulate(vn.System([x], x.diff() ** 2 / 2, x**2 / 2), {x: 1.0}, (0, 1))
    with pytest.raises(vn.VinculumError, match=r"package plotly.*pip install 'vinculum\[plots\]'"):
        motion.plot(x)


def test_a_package_that_is_there_is_imported() -> None:
    assert extra("plotly.graph_objects", "plots").Figure


def test_a_report_does_not_load_plotly(tmp_path: object) -> None:
    program = (
        "import sys, vinculum as vn\n"
        f"vn.write_report(vn.load('src/vinculum/model/library/four_bar.toml'), r'{tmp_path}/page.html')\n"
        "assert 'plotly' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
