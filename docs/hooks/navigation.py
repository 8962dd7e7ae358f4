"""The navigation, completed: generated pages where mkdocs.yml has a mark, and pages that it does not name."""

UNNAMED = "others/"  # the mark for pages that the navigation does not name


def on_files(files, config, **_):
    """Called by MkDocs when it has collected its files, after the hooks that make some."""
    named = set(pages(config.nav))
    put_into(config.nav, UNNAMED, [f.src_uri for f in files.documentation_pages() if f.src_uri not in named])
    return files


def pages(nav) -> list[str]:
    """All pages of the navigation."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages(part)]


def put_into(nav, mark: str, found: list) -> None:
    """Put pages where the navigation has a mark, as a whole section or among others."""
    for entry in nav:
        for name, value in entry.items() if isinstance(entry, dict) else ():
            if value == mark:
                entry[name] = found
            elif isinstance(value, list):
                if mark in value:
                    value[value.index(mark) : value.index(mark) + 1] = found
                put_into(value, mark, found)
