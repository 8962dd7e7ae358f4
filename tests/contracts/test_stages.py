"""A stage imports only from the stages before it, in functions too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_order_of_the_stages_holds():
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    found = subprocess.run([sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
