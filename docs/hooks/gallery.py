"""The gallery: a page for every example with its picture, its text and its code, and one page with all pictures.

Everything comes from examples/*.py and docs/images/; `python -m docs.make_pictures` draws the pictures.
"""

import ast
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))
from navigation import put_into

ROOT = Path(__file__).parents[2]
EXAMPLES, IMAGES, MODELS = ROOT / "examples", ROOT / "docs" / "images", ROOT / "src" / "vinculum" / "model" / "library"
WITHOUT_PICTURE = {"demo"}  # its picture shows two of the other examples

# What each group is about, and its examples in the order of reading.
GROUPS = {
    "Pendulums and linkages": ("cartesian_pendulum", "n_link_pendulum", "slider_crank", "four_bar"),
    "Rolling and sliding": (
        "rolling_disc", "chaplygin_sleigh", "ball_on_turntable", "wheel_in_gutter", "wheel_with_reactions",
        "appell_hamel", "snakeboard", "bicycle", "rattleback", "truck_with_trailer",
    ),
    "Robots and trees of bodies": (
        "planar_arms", "puma560", "puma_friction", "arm_on_turntable", "planar_3rrr", "stewart_platform", "walker",
    ),
    "Stability and control": ("ball_and_beam", "delta_robot", "five_bar", "watt_governor", "segway"),
    "Servo constraints": (
        "sleigh_with_servo", "gyroscope_in_gimbals", "particle_with_given_speed", "overhead_crane",
        "aircraft_on_a_path",
    ),
    "Program constraints, and systems that are not mechanical": (
        "program_on_an_ellipse", "resonant_circuit", "levitated_ball", "production_program", "paper_figures",
    ),
    "Demonstration": ("demo",),
}  # fmt: skip


def on_files(files, config, **_):
    """Called by MkDocs when it has collected its files."""
    for name in examples():
        files.append(File.generated(config, f"gallery/{name}.md", content=page(name)))
    files.append(File.generated(config, "gallery/index.md", content=overview()))
    pages = [{title(name): f"gallery/{name}.md"} for group in groups().values() for name in group]
    put_into(config.nav, "gallery/", ["gallery/index.md", *pages])
    return files


def examples() -> list[str]:
    """The names of all examples."""
    return sorted(path.stem for path in EXAMPLES.glob("[a-z]*.py"))


def groups() -> dict[str, list[str]]:
    """The groups, and what no group names."""
    rest = sorted(set(examples()) - {name for group in GROUPS.values() for name in group})
    found = {title: list(group) for title, group in GROUPS.items()}
    return found | ({"Others": rest} if rest else {})


def title(name: str) -> str:
    """``four_bar`` as Four bar."""
    return name.replace("_", " ").capitalize().replace("Puma560", "PUMA 560").replace("3rrr", "3-RRR")


def docstring(name: str) -> str:
    """What an example says of itself."""
    return ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))) or ""


def summary(name: str) -> str:
    """Its first sentence or line."""
    first = re.sub(r"\s+", " ", docstring(name).partition("\n\n")[0])
    return re.split(r"(?<=[.:]) (?=[A-Z])", first)[0].rstrip(":.") + "."


def picture(name: str, folder: str) -> str:
    """Its picture in Markdown, or nothing for the demonstration; a missing picture is an error of the build."""
    if name in WITHOUT_PICTURE:
        return ""
    if not (IMAGES / f"{name}.png").exists():
        raise FileNotFoundError(f"docs/images/{name}.png is missing: run python -m docs.make_pictures")
    return f"![{title(name)}]({folder}images/{name}.png)"


def page(name: str) -> str:
    """An example: picture, text, code."""
    code = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    text = docstring(name)
    parts = [f"# {title(name)}", picture(name, "../"), text, f"Run it: `python examples/{name}.py`"]
    if (MODELS / f"{name}.toml").exists():
        toml = (MODELS / f"{name}.toml").read_text(encoding="utf-8")
        parts += ["## As a model file", f"`src/vinculum/model/library/{name}.toml`", f"```toml\n{toml.rstrip()}\n```"]
    parts += ["## The code", f"`examples/{name}.py`", f"```python\n{without_docstring(code).strip()}\n```"]
    return "\n\n".join(part for part in parts if part)


def without_docstring(code: str) -> str:
    """The code below its text."""
    first = ast.parse(code).body[0]
    return "\n".join(code.split("\n")[first.end_lineno :])


def overview() -> str:
    """All pictures, in groups."""
    parts = ["# Gallery", "Every example is run by the tests and checked against something known exactly."]
    for group, names in groups().items():
        parts += [f"## {group}", '<div class="gallery" markdown>', *map(card, names), "</div>"]
    return "\n\n".join(parts)


def card(name: str) -> str:
    """A picture with its name and one sentence, leading to the page."""
    shown = picture(name, "../")
    linked = f"[{shown}]({name}.md)\n\n" if shown else ""
    return f'<div class="card" markdown>\n\n{linked}**[{title(name)}]({name}.md)**\n\n{summary(name)}\n\n</div>'
