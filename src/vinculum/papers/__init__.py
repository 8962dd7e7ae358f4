"""The five papers, reproduced: each printed number and figure beside ours, each erratum with what shows it."""

from vinculum.papers.graph.paper import PAPER as GRAPH
from vinculum.papers.markdown import write_markdown
from vinculum.papers.page import write_page
from vinculum.papers.program.paper import PAPER as PROGRAM
from vinculum.papers.quasi.paper import PAPER as QUASI
from vinculum.papers.reactions.paper import PAPER as REACTIONS
from vinculum.papers.record import Confirmation, Erratum, Evidence, Figure, Number, Paper, Table
from vinculum.papers.redundant.paper import PAPER as REDUNDANT
from vinculum.papers.reproduce import Reproduced, reproduce

PAPERS = (REDUNDANT, QUASI, GRAPH, REACTIONS, PROGRAM)

__all__ = [
    "PAPERS",
    "Paper",
    "Number",
    "Table",
    "Erratum",
    "Evidence",
    "Confirmation",
    "Figure",
    "Reproduced",
    "reproduce",
    "write_page",
    "write_markdown",
]
