"""Krasinskiy 2025."""

from __future__ import annotations

from papers.record import Paper
from papers.redundant import errata, figures, numbers, numbers_delta, numbers_loop

PAPER = Paper(
    key="redundant",
    short="Redundant coordinates",
    title="On the analytical mechanics methods in mathematical modeling the dynamics systems "
    "with geometric constraints",
    authors="A. Ya. Krasinskiy",
    year=2025,
    journal="Mechanical Engineering Advances 3(2), 2512",
    about="Shulgin's equations in redundant coordinates, the strict first approximation, stability in the critical "
    "case of zero roots, stabilization by motors. The paper gives no numbers: those below were computed independently "
    "for its two devices, with public data where the paper gives none.",
    tables=[*numbers.TABLES, *numbers_loop.TABLES, *numbers_delta.TABLES],
    errata=errata.ERRATA,
    confirmations=errata.CONFIRMATIONS,
    figures=figures.FIGURES,
)
