"""Pesterev, Matrosov, Morozov."""

from __future__ import annotations

from papers.reactions import errata, figures, numbers
from papers.record import Paper

PAPER = Paper(
    key="reactions",
    short="Reactions as controls",
    title="Control-based approach to numerical integration of rolling equations",
    authors="A. V. Pesterev, I. V. Matrosov, Yu. V. Morozov",
    about="Unknown reactions as controls, constraints as control goals of some relative degree; a wheel with a "
    "pendulum in a curved gutter. Numbers printed in the paper are marked; the others were computed with 256-bit "
    "numbers. Fig. 6 is a photograph of a robot and cannot be reproduced.",
    tables=numbers.TABLES,
    errata=errata.ERRATA,
    confirmations=errata.CONFIRMATIONS,
    figures=figures.FIGURES,
)
