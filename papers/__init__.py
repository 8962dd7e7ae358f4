"""The five papers, reproduced: printed numbers and figures next to ours, and every erratum with its check."""

from papers.graph.paper import PAPER as GRAPH
from papers.markdown import write_markdown
from papers.page import write_page
from papers.program.paper import PAPER as PROGRAM
from papers.quasi.paper import PAPER as QUASI
from papers.reactions.paper import PAPER as REACTIONS
from papers.record import Confirmation, Erratum, Evidence, Figure, Number, Paper, Table
from papers.redundant.paper import PAPER as REDUNDANT
from papers.reproduce import Reproduced, reproduce

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
