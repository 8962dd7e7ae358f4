"""The published numbers of the PUMA 560."""

from __future__ import annotations

import numpy as np

import vinculum as vn
from papers.graph.checks_graph import loss, near_antiparallel
from papers.graph.literal import lemma_1
from papers.graph.puma import LINKS, NOMINAL, dynamics, puma, q
from papers.record import Number, Table

MASS = (
    "3.659375412153, -0.404361246042, 0.100613647780, -0.002516955828, 0, 0",
    "4.413741933636, 0.350890664956, 0, 0.002359513068, 0",
    "0.937841575215, 0, 0.001480166389, 0",
    "0.192531706124, 0, 0.000028284271",
    "0.171348451657, 0",
    "0.194104505668",
)
POSES = {
    "q_n": (NOMINAL, "0, 31.639880378357, 6.035138023011, 0, 0.0282528, 0"),
    "q_z": ((0.0,) * 6, "0, 37.48366665, 0.24892875, 0, 0, 0"),
    "q_s": ((0, 0, -np.pi / 2, 0, 0, 0), "0, 46.006938, 8.7722001, 0, 0.0282528, 0"),
    "q_r": ((0, np.pi / 2, -np.pi / 2, 0, 0, 0), "0, -0.77523525, 0.24892875, 0, 0, 0"),
}
CORIOLIS = "-4.634421763308, 8.725711224581, -1.926810160888, 0.002255789315, 0.019052433368, 0.000364852814"
RATES, TORQUES = (0.1, 0.2, 0.8, 0.2, 0.5, 1), (1, 3.2, 1.8, 0.1, 0.7, 4.6)
ACCELERATIONS = {
    "with friction": "-7.410223163686, -9.843224581568, -10.969398445087, "
    "-4.431428751376, -0.988141072399, 21.022781949287",
    "without friction": "-0.354047568621, -6.398926283237, -2.068494247467, "
    "0.511243538557, 4.021223156468, 23.698454065203",
}


def mass() -> list[Number]:
    M = dynamics().mass_matrix(NOMINAL)
    rows = [Number(f"row {i + 1}, from the diagonal", text, list(M[i, i:])) for i, text in enumerate(MASS)]
    rotors = [float(link["rotor_inertia"] * link["gear_ratio"] ** 2) for link in LINKS]
    shares = [100 * rotor / M[i, i] for i, rotor in enumerate(rotors)]
    return [*rows, Number("rotors, in percent of the diagonal", "21, 53, 62, 99, 99.6, 100", shares)]


def forces() -> list[Number]:
    still = np.zeros(6)
    found = [
        Number(f"gravity at {name}", text, list(dynamics().bias(pose, still))) for name, (pose, text) in POSES.items()
    ]
    turning = dynamics().bias(NOMINAL, (1, 2, 3, 1, 2, 3)) - dynamics().bias(NOMINAL, still)
    return [*found, Number("C(q_n, q̇) q̇ for q̇ = (1, 2, 3, 1, 2, 3)", CORIOLIS, list(turning))]


def accelerations() -> list[Number]:
    return [
        Number(name, text, list(dynamics(name == "with friction").forward(NOMINAL, RATES, TORQUES)))
        for name, text in ACCELERATIONS.items()
    ]


def fall() -> list[Number]:
    motion = vn.simulate(vn.derive(puma().system()), dict(zip(q, NOMINAL, strict=True)), (0, 1))
    text = "0.432108466, -2.62982262, 5.25027137, -1.01441425e-3, 0.757544155, 9.24625195e-5"
    return [
        Number("q after one second", text, [motion[x][-1] for x in q]),
        Number("relative error of the energy", "< 1e-11", motion.energy_error),
    ]


def chart() -> list[Number]:
    """|A Aᵀ - 1| of the paper's chart near antiparallel axes."""
    texts = {1e-2: "8e-13", 1e-4: "1.5e-8", 1e-6: "2.5e-4"}
    reason = "Rounding error: only its order of magnitude is reproducible."
    return [Number(f"ε = {e:g}", text, loss(lemma_1(near_antiparallel(e), 0.0)), reason) for e, text in texts.items()]


TABLES = [
    Table("PUMA 560: mass matrix at q_n = (0, π/4, π, 0, π/4, 0)", mass, "Rotors included; the paper has none."),
    Table("PUMA 560: gravity and Coriolis forces", forces),
    Table(
        "PUMA 560: accelerations at q_n",
        accelerations,
        "q̇ = (0.1, 0.2, 0.8, 0.2, 0.5, 1), τ = (1, 3.2, 1.8, 0.1, 0.7, 4.6).",
    ),
    Table("PUMA 560: free fall from q_n, without friction", fall),
    Table("Lemma 1: loss of orthogonality at the axis angle π - ε", chart),
]
