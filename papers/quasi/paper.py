"""Khusanov 2020."""

from __future__ import annotations

from papers.quasi import errata, numbers
from papers.record import Paper

PAPER = Paper(
    key="quasi",
    short="Quasi-velocities",
    title="Equations of motion of mechanical systems with nonlinear nonholonomic servoconstraints",
    authors="K. Khusanov",
    year=2020,
    journal="IOP Conf. Ser.: Mater. Sci. Eng. 869, 072021",
    about="Quasi-velocities that may be nonlinear, Chaplygin's and Voronets-Hamel's equations, servoconstraints and "
    "release from them; Chaplygin's sleigh and a gyroscope in gimbals. The paper gives no numbers and no figures: "
    "those below were computed independently for its examples.",
    tables=numbers.TABLES,
    errata=errata.ERRATA,
    confirmations=errata.CONFIRMATIONS,
)
