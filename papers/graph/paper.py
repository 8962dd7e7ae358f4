"""Dolgii, Sesekin, Chupin."""

from __future__ import annotations

from papers.graph import errata, numbers
from papers.record import Paper

PAPER = Paper(
    key="graph",
    short="Graphs of bodies",
    title="Using graphs in modeling the movements of a manipulation robot",
    authors="Yu. F. Dolgii, A. N. Sesekin, I. A. Chupin",
    about="A tree of bodies on revolute hinges, its kinetic energy in closed form, Lagrange equations of the second "
    "kind. The paper gives no numbers and no figures; it names the PUMA, whose published numbers are below.",
    tables=numbers.TABLES,
    errata=errata.ERRATA,
    confirmations=errata.CONFIRMATIONS,
)
