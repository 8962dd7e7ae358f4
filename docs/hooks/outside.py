"""Pages from files outside docs/: CONTRIBUTING and CHANGELOG."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_files(files, config, **_):
    """Called by MkDocs when it has collected its files."""
    for uri, source in PAGES.items():
        files.append(File.generated(config, uri, content=page(source)))
    return files


def page(source: str) -> str:
    """The file with links that work inside the site; a link to another file of the repository becomes its name."""
    text = (ROOT / source).read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)([^)#]+\.(?:py|cff|toml|yml))\)", r"`\2`", text)
    return re.sub(r"\]\((CONTRIBUTING|CHANGELOG)\.md\)", lambda m: f"]({m[1].lower()}.md)", text)
