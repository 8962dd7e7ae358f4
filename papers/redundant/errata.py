"""The errata of Krasinskiy 2025. The text is a scan: slips of an index may not be the author's."""

from __future__ import annotations

from papers.record import Confirmation, Erratum
from papers.redundant import checks_first_approximation as first
from papers.redundant import checks_models as models
from papers.redundant import checks_stability as stability

MODELS = [
    Erratum(
        "Lyapunov",
        "steps 1 and 5 of Lyapunov's method",
        r"\text{equations (6)}",
        r"\text{equations (5)}",
        models.solvable_for_accelerations,
    ),
    Erratum(
        "A", "text before (6)", r"A(x_A, x_B)", r"A(x_A, y_A)", models.distance_of_the_pins, "(6) itself is right."
    ),
    Erratum("7", "(7)", r"\mu = n-m+1, \dots, n+m", r"\mu = n+1, \dots, n+m", models.variations),
    Erratum("10 range", "(10)", r"\sigma = 1, \dots, m", r"\sigma = n+1, \dots, n+m", models.multipliers_by_range),
    Erratum(
        "10 multiplier",
        "(10), (11)",
        r"\lambda_\sigma \text{ of (5)}",
        r"\tilde\lambda = F_s^{\mathsf T} \lambda, \quad \lambda \text{ of (5)}",
        models.multipliers_of_10,
    ),
    Erratum(
        "12",
        "(12)",
        r"\dot q_\sigma = B_\mu(q)\,\dot q_j,\ \sigma = 1, \dots, m",
        r"\dot q_\sigma = B_{\sigma j}(q)\,\dot q_j,\ \sigma = n+1, \dots, n+m",
        models.following_velocities,
    ),
    Erratum(
        "13",
        "(13)",
        r"a^*_{\gamma\rho} = a_{\gamma\rho} + a_{\mu\gamma} B_{\mu\gamma} B_{\mu\rho} + \dots",
        r"a^*_{\gamma\rho} = a_{\gamma\rho} + a_{\gamma\mu} B_{\mu\rho} + a_{\mu\rho} B_{\mu\gamma}"
        r" + a_{\mu\sigma} B_{\mu\rho} B_{\sigma\gamma}",
        models.reduced_energy,
    ),
    Erratum(
        "15",
        "(15)",
        r"a^*_{ir}\ddot q_r + \dots + a^*_{ir,\mu} B_{\mu j}\dot q_l \dot q_j - \tfrac12 (a^*_{ij,l}"
        r" + a^*_{ij,\mu} B_{\mu l})\dot q_r \dot q_j + (\dots + B_{\mu l}\, a^*_{l,r} - \dots)\dot q_r",
        r"a^*_{lr}\ddot q_r + \dots + a^*_{lr,\mu} B_{\mu j}\dot q_r \dot q_j - \tfrac12 (a^*_{rj,l}"
        r" + a^*_{rj,\mu} B_{\mu l})\dot q_r \dot q_j + (\dots + B_{\mu r}\, a^*_{l,\mu} - \dots)\dot q_r",
        models.scalar_form,
        "Read with i = l.",
    ),
    Erratum(
        "27",
        "(27)",
        r"Q_r^* - B'\left(\frac{\partial T^*}{\partial s} - Q_s^*\right)",
        r"Q_r^* + B'\left(\frac{\partial T^*}{\partial s} + Q_s^*\right)",
        models.vector_form,
        "(14) has the right sign.",
    ),
    Erratum(
        "section 7",
        "section 7",
        r"\text{reduced by the number of constraints, } m",
        r"\text{by } 2m:\ 2n+3m \to 2n+m",
        models.dimensions,
    ),
]

FIRST_APPROXIMATION = [
    Erratum("16", "after (18)", r"q_{i0} = q_{i0} + x_i", r"q_i = q_{i0} + x_i", first.perturbation),
    Erratum(
        "before 21", "before (21)", r"\text{system (18), (19)}", r"\text{system (19), (20)}", first.perturbed_relations
    ),
    Erratum(
        "20",
        "(20)",
        r"\dot y_k = B_{jk}(0)\,\dot x_k + \dots",
        r"\dot y_k = B_{kj}(0)\,\dot x_j + B^{(1)}_{kj}(x, y)\,\dot x_j",
        first.following_rates,
    ),
    Erratum(
        "expansion",
        "before (24)",
        r"Q_i = \dots + p_{ij} q_j + i q_\mu",
        r"Q_i = \dots + p_{ij} q_j + p_{i\mu} q_\mu",
        first.expansion_of_forces,
    ),
    Erratum(
        "24 signs",
        "(24), (25)",
        r"A\lambda^2 + (G + D)\lambda + \dots + P",
        r"A\lambda^2 + (G - D)\lambda + \dots - P",
        first.signs_of_forces,
        "With Q = f q̇ + p q; the printed sign makes friction drive.",
    ),
    Erratum(
        "24 entries",
        "(24)",
        r"D = \|f_{ij} + f_{i\mu} B_{\mu i} + f_{\mu i} b_{\mu j} + f_{\mu i} b_{\mu k} B_{kj}\|,\ "
        r"P = \|p_{ij} + p_{i\mu} B_{\mu i} + B_{\mu j} p_{\mu j} + \dots\|",
        r"D = \|f_{ij} + f_{i\mu} B_{\mu j} + B_{\mu i} f_{\mu j} + B_{\mu i} f_{\mu k} B_{kj}\|,\ "
        r"P = \|p_{ij} + p_{i\mu} B_{\mu j} + B_{\mu i} p_{\mu j} + B_{\mu i} p_{\mu k} B_{kj}\|",
        first.projected_forces,
    ),
    Erratum(
        "24 C3", "(24)", r"C_3 \text{ undefined, } G \text{ defined twice}", r"C_3 = W_{sr} = C_2'", first.undefined_C3
    ),
    Erratum(
        "24 missing",
        "(24)",
        r"C^B \text{ with } \left(\tfrac{\partial W}{\partial q_\mu}\right)_0",
        r"C^B - P^B:\ \left(\tfrac{\partial W}{\partial q_\mu}\right)_0 - Q_\mu(0)",
        first.missing_PB,
        "Needed wherever a constant non-potential force acts on a dependent coordinate, a holding torque for example.",
    ),
    Erratum(
        "theorem",
        "theorem",
        r"\text{[16] asymptotically stable}",
        r"\text{(16) asymptotically stable where } F = 0;\ \text{stable for } F = c",
        stability.start_beside_the_constraint,
    ),
    Erratum(
        "before 25",
        "before (25)",
        r"\text{negativity of the real roots}",
        r"\text{of the real parts of the roots}",
        stability.real_parts,
    ),
    Erratum(
        "26",
        "(26)",
        r"\text{includes any non-potential forces}",
        r"D,\ P,\ P^B \text{ are absent from it}",
        first.without_forces,
    ),
    Erratum(
        "after 26", "after (26)", r"\text{dimension } n", r"\text{dimension } 2n", stability.order_of_the_subsystem
    ),
    Erratum("before 29", "before (29)", r"\dot r = \dot x_1", r"\dot r = x_1", stability.meaning_of_x1),
    Erratum(
        "32",
        "(32)",
        r"\text{block (2, 3)} = 0",
        r"\text{block (2, 3)} = -h",
        stability.block_of_32,
        "The determinant does not change.",
    ),
    Erratum(
        "33", "(33)", r"\text{block (1, 2)} = E_n \lambda", r"\text{block (1, 2)} = -E_n", stability.determinant_of_33
    ),
    Erratum(
        "38",
        "(38)",
        r"k_1 \dot x_1",
        r"k_1 x_1,\quad \text{torque } k_2 i",
        stability.motor,
        "Speed, not acceleration; the law of the torque is missing.",
    ),
    Erratum(
        "proportional",
        "remark 1",
        r"\alpha \approx \tfrac{d}{L}\theta \text{ completely unjustified}",
        r"\text{exact to second order at } \theta = 0,\ \text{wrong at the other equilibrium}",
        stability.proportional_lever,
    ),
]

ERRATA = [*MODELS, *FIRST_APPROXIMATION]
CONFIRMATIONS = [
    Confirmation(
        "(14)",
        r"\frac{d}{dt}\frac{\partial T^*}{\partial \dot q_\rho} - \frac{\partial T^*}{\partial q_\rho}"
        r" = Q^*_\rho + B_{\sigma\rho}\left(\frac{\partial T^*}{\partial q_\sigma} + Q^*_\sigma\right)",
        models.as_printed_14,
    ),
]
