"""Mukharlyamov, Kirgizbaev 2024."""

from __future__ import annotations

from papers.program import errata, figures, numbers
from papers.record import Paper

PAPER = Paper(
    key="program",
    short="Program constraints",
    title="Modeling of dynamics processes and dynamics control",
    authors="R. G. Mukharlyamov, Zh. K. Kirgizbaev",
    year=2024,
    about="Program constraints, the inverse problem of dynamics, and the stabilization gain for a step and a "
    "required accuracy. Numbers printed in the paper are marked; the others were computed independently.",
    tables=numbers.TABLES,
    errata=errata.ERRATA,
    confirmations=errata.CONFIRMATIONS,
    figures=figures.FIGURES,
)
