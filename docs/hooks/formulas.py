"""Formulas of the pages as MathML: ``$...$``, ``$$...$$`` and fenced blocks of ``math``, without a script.

Code is left alone: fenced and indented blocks, and text between backticks.
"""

import re

from mkdocs.structure.files import File

from vinculum.present.mathml import STYLE, mathml

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1|^(?: {4}|\t).*$", re.MULTILINE)
SPECIAL = {ord(sign): f"&#{ord(sign)};" for sign in "*_[]`\\"}
NARROW = 40  # characters of LaTeX that fit side by side on a telephone
DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")


def on_files(files, config, **_):
    """Add the style sheet of formulas."""
    files.append(File.generated(config, "stylesheets/formulas.css", content=STYLE))
    return files


def on_page_markdown(markdown, **_):
    """Called by MkDocs for every page."""
    return with_formulas(markdown)


def with_formulas(text: str) -> str:
    """The page with its formulas set."""
    return _outside(FENCED, text, _prose, _fence)


def _outside(code: re.Pattern, text: str, prose, block) -> str:
    """``prose`` applied between the matches of ``code``, ``block`` to the matches."""
    parts, at = [], 0
    for found in code.finditer(text):
        parts += [prose(text[at : found.start()]), block(found[0])]
        at = found.end()
    return "".join([*parts, prose(text[at:])])


def _fence(block: str) -> str:
    opening, _, rest = block.partition("\n")
    return displayed(rest.removesuffix("```")) if opening == "```math" else block


def _prose(text: str) -> str:
    text = DISPLAYED.sub(lambda found: displayed(found[1]), text)
    return _outside(CODE, text, lambda part: INLINE.sub(lambda found: inline(found[1]), part), str)


def inline(latex: str) -> str:
    """A formula in a line of text, with nothing in it that Markdown would take for emphasis, a link or code.

    One that is wider than a telephone has a frame in which it scrolls.
    """
    shown = mathml(latex).translate(SPECIAL)
    return f'<span class="wide">{shown}</span>' if len(latex) > NARROW else shown


def displayed(latex: str) -> str:
    """A formula on its own line; the frame lets a wide one scroll by itself."""
    return f'\n<div class="formula">{mathml(latex.strip(), display=True)}</div>\n'
