"""``python -m papers``: compute the five papers again and write build/papers.html; ``--markdown``: docs/papers.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from papers.markdown import write_markdown
from papers.page import write_page
from vinculum.cli.terminal import steps

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Write the page asked for, and print where it is."""
    parser = argparse.ArgumentParser(prog="python -m papers", description="Compute the five papers again on one page.")
    parser.add_argument("--markdown", action="store_true", help="write docs/papers.md and its figures instead of HTML")
    parser.add_argument("-o", "--output", type=Path, help="another place for the page")
    parser.add_argument("--force", action="store_true", help="overwrite the file that is there")
    asked = parser.parse_args()
    path = asked.output or ROOT / ("docs/papers.md" if asked.markdown else "build/papers.html")
    if asked.output and path.exists() and not asked.force:  # without -o, the page is a product of this command
        parser.error(f"{path} already exists. Choose another name with -o, or overwrite it with --force.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with steps() as progress:
        (write_markdown if asked.markdown else write_page)(path, progress, overwrite=True)
    print(f"Written to {path}")


if __name__ == "__main__":
    main()
