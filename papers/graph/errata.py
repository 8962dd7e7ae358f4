"""The errata of Dolgii, Sesekin and Chupin. As printed, even a planar arm of two links is wrong."""

from __future__ import annotations

from papers.graph import checks_graph as graph
from papers.graph import checks_theorem as theorem
from papers.record import Confirmation, Erratum

ERRATA = [
    Erratum(
        "E1",
        "Lemma 2",
        r"A_b(\varphi_b) = A_{bb^+} A(\varphi_b)",
        r"A_b^{b^+} = A(\varphi_{b^+}) A_{bb^+}",
        theorem.turned_frames,
        "The product must end in the frame of the body itself, where d and J are constant.",
    ),
    Erratum(
        "E2",
        "Lemma 3",
        r"B_{ab} B_{bc} [e_c, d_{bb^+}],\ B_{nb}",
        r"B_{ab} [B_{bc} e_c, d_{bb^+}],\ B_{ab}",
        theorem.mixed_frames,
        "The factors of the product belong to different frames.",
    ),
    Erratum(
        "E3",
        "Lemma 3",
        r"d_{bb^+} = O_bO_{b^+},\ V_{b^+} = V_b - [\Omega_b, d_{bb^+}]",
        r"d_{bb^+} = O_{b^+}O_b",
        theorem.forward_vectors,
    ),
    Erratum("E4", "Theorem 1", r"d_{bb}", r"d_{aa}", theorem.center_of_the_wrong_body, "The body summed over is a."),
    Erratum(
        "E5",
        "Theorem 1",
        r"2([C_{ac}, B_{ab}e_b], d)",
        r"([C_{ac}, B_{ab}e_b], d_{aa}) + ([C_{ab}, B_{ac}e_c], d_{aa})",
        theorem.asymmetric,
        "α_bc is not symmetric as printed: T is not affected, the Lagrange equations are.",
    ),
    Erratum(
        "E6",
        "inverse incidence matrix",
        r"S^{-1}_{ia} = 1:\ u_a \text{ on the path to } s_i",
        r"S^{-1}_{ai} = 1:\ u_a \text{ on the path to } s_i",
        graph.inverse_incidence,
    ),
    Erratum(
        "E7",
        "Lemma 3, Theorem 1",
        r"B_{a1} V_1",
        r"B_{a0} V_1,\ B_{a0} = B_{a1} A(\varphi_1) A_{01}",
        theorem.inertial_velocity,
        "V_1 is given in inertial axes.",
    ),
    Erratum(
        "E8",
        "Lemma 2",
        r"a^- = \text{nearest index} < a",
        r"a^- = i^-(a),\ \text{the parent}",
        theorem.nearest_index,
        "b⁺ is the next arc on the path, and not unique over the tree.",
    ),
    Erratum("E9", "premise of Lemma 1", r"i = i^-(a) = i^+(b)", r"i = i^+(a) = i^-(b)", graph.premise_of_lemma_1),
    Erratum(
        "E10",
        "proof of Lemma 1",
        r"\lambda_2 = \frac{e_2\lambda_0 - e_1\lambda_3}{2x}",
        r"\lambda_2 = \frac{e_2\lambda_3 - e_1\lambda_0}{2x}",
        graph.second_parameter,
        "The closed formula below it is right.",
    ),
    Erratum("E11 unit vector", "proof of Lemma 1", r"e_{2b}", r"i_{2b}", graph.second_axis),
    Erratum("E11 axis", "text before Lemma 1", r"O_ax_3 \parallel e_n", r"O_ax_3 \parallel e_a", graph.third_axis),
    Erratum(
        "E12 index",
        "proof of Theorem 1",
        r"[V_1, \Omega_i] = [V_1, e_1]\dot\varphi_1",
        r"[V_1, \Omega_1] = [V_1, e_1]\dot\varphi_1",
        theorem.first_body_only,
    ),
    Erratum(
        "E12 duplicate",
        "proof of Theorem 1, first line",
        r"[B_{a1}V_1, \sum B_{ab}e_b]\dot\varphi_b - \sum[B_{a1}V_1, B_{ab}e_b]\dot\varphi_b - \dots",
        r"\sum[B_{a1}V_1, B_{ab}e_b]\dot\varphi_b - \dots",
        theorem.duplicated_term,
        "The second line is right.",
    ),
    Erratum(
        "E12 minus",
        "proof of Theorem 1",
        r"([V_1, \Omega_1], O_1C_1) = ([V_1, e_1], d_{11})\dot\varphi_1",
        r"([V_1, \Omega_1], O_1C_1) = -([V_1, e_1], d_{11})\dot\varphi_1",
        theorem.missing_minus,
    ),
    Erratum(
        "E13 bracket",
        "proof of Theorem 1, T",
        r"[(V_1, e_1), d_{11}]",
        r"([V_1, e_1], d_{11})",
        theorem.number_in_a_bracket,
    ),
    Erratum(
        "E13 lost",
        "proof of Theorem 1, last T",
        r"-2\sum_b\sum_a m_a S^{-1}_{ba}(B_{a1}V_1, C_{ab})",
        r"-2\sum_b\sum_a m_a S^{-1}_{ba}\{(B_{a1}V_1, C_{ab}) + ([B_{a1}V_1, B_{ab}e_b], d_{aa})\}\dot\varphi_b",
        theorem.lost_term,
    ),
    Erratum("E13 axes", "proof of Theorem 1, last T", r"B_{ac}e_b", r"B_{ab}e_b", theorem.axis_of_another_hinge),
    Erratum(
        "E13 sum",
        "proof of Theorem 1, last T",
        r"\sum_{a=1}^{b}(J_a \dots)",
        r"\sum_{a=1}^{n}(J_a \dots)",
        theorem.sum_to_b,
    ),
    Erratum(
        "Lemma 1",
        "Lemma 1",
        r"\frac{\dots}{1 + e_3} \text{ for all axes}",
        r"\text{a second chart near } e_3 = -1",
        graph.antiparallel,
        "There is no limit for antiparallel axes.",
    ),
    Erratum(
        "roots",
        "Lemmas 2 and 3",
        r"1 \in I_a \text{ for all } a",
        r"B_{a\,r(a)},\ A_{0r} \text{ for several root hinges}",
        theorem.single_root,
    ),
    Erratum(
        "base",
        "external body",
        r"\text{performing a given motion: } V_1(t)",
        r"V_1(t),\ \Omega_0(t),\ R_0(t)",
        theorem.turning_base,
        "The theorem covers translation only.",
    ),
    Erratum(
        "gravity",
        "Lagrange equations",
        r"\dots = M_b",
        r"\dots = M_b + Q_b,\ Q_b = -\alpha_b|_{V_1 = g,\,\Omega_0 = 0}",
        theorem.gravity,
        "Friction and the rotors of the motors are missing too.",
    ),
    Erratum("hinge", "title page", r"\text{cylindrical hinges}", r"\text{revolute hinges}", graph.freedom_of_a_hinge),
]
CONFIRMATIONS = [
    Confirmation("Lemma 1", r"A_{ab},\ \lambda_1,\ \lambda_2 \text{ in closed form}", graph.matrix_of_lemma_1),
    Confirmation(
        "T_i",
        r"T_i = \tfrac12m_iV_a^2 + m_i([V_a, \Omega_i], O_aC_i) + \tfrac12(J_i\Omega_i, \Omega_i)",
        theorem.energy_of_one_body,
    ),
    Confirmation(
        "Lagrange equations",
        r"\sum_c\alpha_{bc}\ddot\varphi_c + \dots = M_b,\ \text{once } \alpha_{bc} \text{ is symmetric}",
        theorem.signs_of_lagrange,
    ),
    Confirmation(
        "E14: terms that vanish on a translating base",
        r"\alpha_0 = V_1^2\sum_a m_a,"
        r"\quad \frac{\partial\alpha_c}{\partial\varphi_b} - \frac{\partial\alpha_b}{\partial\varphi_c} = 0",
        theorem.translating_base,
    ),
]
