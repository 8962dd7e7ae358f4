"""The errata of Khusanov 2020."""

from __future__ import annotations

from papers.quasi import checks_general as general
from papers.quasi import checks_gyroscope as gyroscope
from papers.quasi import checks_sleigh as sleigh
from papers.record import Confirmation, Erratum

GENERAL = [
    Erratum(
        "5",
        "(5)",
        r"\frac{\partial \dot q_i}{\partial e_\nu}\,\delta\pi_y",
        r"\frac{\partial \dot q_i}{\partial e_\nu}\,\delta\pi_\nu",
        general.variations,
    ),
    Erratum(
        "7 sum",
        "(7)",
        r"\sum \frac{\partial T}{\partial \dot q_l}(\dots)",
        r"\sum_i \frac{\partial T}{\partial \dot q_i}(\dots)",
        general.chaplygin_left,
        "A sum without index.",
    ),
    Erratum(
        "7 right",
        "(7)",
        r"\sum_s \mu_s A_{\mu s},\ \lambda_{k+\sigma}",
        r"\sum_s \mu_s A_{\nu s},\ \lambda_\sigma",
        general.chaplygin_right,
    ),
    Erratum(
        "8 sign",
        "(8), second line",
        r"-\sum_\tau \frac{\partial \tilde T}{\partial e_\tau} W^\tau_{k\cdot\sigma}",
        r"+\sum_\tau \frac{\partial \tilde T}{\partial e_\tau} W^\tau_{k+\sigma}",
        general.sign_of_8,
    ),
    Erratum(
        "8 matrix",
        "(8), second line",
        r"\sum_s \mu_s A_{k+\sigma,s}",
        r"\sum_s \mu_s B_{k+\sigma,s}",
        general.matrix_of_8,
    ),
    Erratum(
        "W first",
        "W after (8), first form",
        r"W^\tau_\nu = -\sum_i \frac{\partial e_\nu}{\partial \dot q_i}(\dots)",
        r"W^\tau_\nu = -\sum_i \frac{\partial e_\tau}{\partial \dot q_i}(\dots)",
        general.first_form_of_W,
    ),
    Erratum(
        "W second",
        "W after (8), second form",
        r"\frac{d}{dt}\frac{\partial e_\tau}{\partial \dot q_i} - \frac{\partial e_\tau}{\partial \dot q_i}",
        r"\frac{d}{dt}\frac{\partial e_\tau}{\partial \dot q_i} - \frac{\partial e_\tau}{\partial q_i}",
        general.second_form_of_W,
    ),
    Erratum(
        "after 10",
        "after (10)",
        r"\text{servoconstraints (10)}",
        r"\text{servoconstraints (9)}",
        general.constraints_on_velocities,
    ),
]

SLEIGH = [
    Erratum(
        "V_Ay",
        "the sleigh, text",
        r"\text{coordinates } \xi, \mu;\ V_{Ay} = \dot\xi\sin\varphi - \dot\eta\cos\varphi",
        r"\text{coordinates } \xi, \eta;\ -V_{Ay} = \dot\xi\sin\varphi - \dot\eta\cos\varphi",
        sleigh.sideways_velocity,
        "This explains the sign of λ.",
    ),
    Erratum(
        "T",
        "the sleigh, T",
        r"\tfrac M2\{\dot\xi - \dot\varphi(\alpha\sin\varphi + \beta\cos\beta)\}^2 + [\dot\eta"
        r" + \varphi(\alpha\cos\varphi - \beta\sin\varphi)^2 + k^2\dot\varphi^2\}",
        r"\tfrac M2\{[\dot\xi - \dot\varphi(\alpha\sin\varphi + \beta\cos\varphi)]^2 + [\dot\eta"
        r" + \dot\varphi(\alpha\cos\varphi - \beta\sin\varphi)]^2 + k^2\dot\varphi^2\}",
        sleigh.kinetic_energy,
    ),
    Erratum(
        "12",
        "(12)",
        r"\dot\xi = u\cos\varphi + e_3\cos\varphi,\ \dot\eta = u\sin\varphi - e_3\sin\varphi",
        r"\dot\xi = u\cos\varphi + e_3\sin\varphi,\ \dot\eta = u\sin\varphi - e_3\cos\varphi",
        sleigh.inverse_12,
        "u = √(e₂² - e₃²).",
    ),
    Erratum(
        "mass", "the sleigh, T̃", r"\tilde T = \tfrac m2[\dots]", r"\tilde T = \tfrac M2[\dots]", sleigh.undefined_mass
    ),
    Erratum(
        "W22",
        "the sleigh, W",
        r"W_2^2 = \frac{e_3(e_3\dot e_2 - e_2\dot e_3)}{e_2u^2}",
        r"W_2^2 = \frac{e_3(e_3\dot e_2 - e_2\dot e_3)}{e_2u^2} + \frac{e_1e_3}{u}",
        sleigh.W22,
    ),
    Erratum("W23", "the sleigh, W", r"W_2^3 = \frac{e_3e_2}{u}", r"W_2^3 = \frac{e_1e_2}{u}", sleigh.W23),
    Erratum(
        "W32",
        "the sleigh, W",
        r"W_3^2 = \frac{e_3\dot e_2 - e_2\dot e_3 + e_1e_2u}{u^2}",
        r"W_3^2 = -\frac{e_3\dot e_2 - e_2\dot e_3 + e_1e_2u}{u^2}",
        sleigh.W32,
        "Printed to fit the wrong sign of (8).",
    ),
    Erratum("W33", "the sleigh, W", r"W_3^3 = \frac{e_1e_3}{u}", r"W_3^3 = -\frac{e_1e_3}{u}", sleigh.W33),
    Erratum(
        "13a", "(13), first", r"+\beta e_1e_3 - \alpha e_1u", r"-\beta e_1e_3 + \alpha e_1u", sleigh.first_equation
    ),
    Erratum(
        "13b",
        "(13), second",
        r"-\left(\frac{\beta e_1e_2}{u} - e_2\right)\left(\frac{e_3(\dots)}{u^3} + \frac{e_1e_3}{u}\right)"
        r" \dots = \mu_2\frac{e_2^2}{u^2}",
        r"+\left(\frac{\beta e_1e_2}{u} - e_2\right)\left(\frac{e_3(\dots)}{e_2u^2} + \frac{e_1e_3}{u}\right)"
        r" \dots = -\mu_2\frac{e_2^2}{u^2}",
        sleigh.second_equation,
        "The left side is -L₂.",
    ),
    Erratum(
        "13c",
        "(13), third",
        r"\frac{\beta e_3e_1 - e_2u}{u}((e_3\dot e_2 - e_3\dot e_3)^{1/2} - \dot e_3e_2 + e_1e_2u) \dots"
        r" + \beta e_1^2e_2^2 \dots = \lambda - \mu_2\frac{e_1e_3}{e_2u}",
        r"\frac{\beta e_1e_2 - e_2u}{u}(e_3\dot e_2 - e_2\dot e_3 + e_1e_2u) \dots"
        r" - \beta e_1^2e_3^2 \dots = -\lambda + \mu_2\frac{e_2e_3}{u^2}",
        sleigh.third_equation,
        "The left side is -L₃.",
    ),
    Erratum(
        "ideal",
        "e₃ = 0",
        r"\gamma^2\dot e_1 - \beta\dot e_2 - \alpha e_1e_2 = 0",
        r"\gamma^2\dot e_1 - \beta\dot e_2 + \alpha e_1e_2 = 0",
        sleigh.ideal_equation,
        "As printed, the energy of an ideal sleigh would grow by 2Mα e₁²e₂.",
    ),
    Erratum(
        "lambda",
        "e₃ = 0",
        r"\lambda = M(\alpha\dot e_1 - \beta e_1^2 + e_1e_2)",
        r"\lambda = -M(\alpha\dot e_1 - \beta e_1^2 + e_1e_2)",
        sleigh.ideal_reaction,
        "Conjugate to e₃; the printed value is the force along +Ay.",
    ),
]

GYROSCOPE = [
    Erratum(
        "gyroscope third",
        "the gyroscope, generic equations",
        r"\dots = \sum_s \mu_s A_{s3}",
        r"\dots = \lambda + \sum_s \mu_s B_{3s}",
        gyroscope.generic_third,
    ),
    Erratum(
        "gyroscope W23",
        "the gyroscope, W",
        r"W_2^3 = e_1\cos\beta",
        r"W_2^3 = -e_1\cos\beta",
        gyroscope.W23,
        "(16b) already has the right sign.",
    ),
    Erratum(
        "16a",
        "(16), first",
        r"(C - A - A_1)\sin 2\beta\,e_1e_2",
        r"(C_1 - A - A_1)\sin 2\beta\,e_1e_2",
        gyroscope.first_equation,
    ),
    Erratum(
        "after 16",
        "after (16)",
        r"\text{kinematic equations (14)}",
        r"\text{kinematic equations (15)}",
        gyroscope.kinematic_equations,
    ),
]

ERRATA = [*GENERAL, *SLEIGH, *GYROSCOPE]
CONFIRMATIONS = [
    Confirmation(
        "the sleigh, (13) in compact form",
        r"\tfrac{e_2}{u}X = \mu_2\tfrac{e_2^2}{u^2},\ -\tfrac{e_3}{u}X + Y = \lambda - \mu_2\tfrac{e_2e_3}{u^2},\ "
        r"X = M(\dot u - \beta\dot e_1 - \alpha e_1^2 + e_1e_3),"
        r"\ Y = M(\dot e_3 - \alpha\dot e_1 - e_1u + \beta e_1^2)",
        sleigh.compact_form,
    ),
    Confirmation("the sleigh", r"W_1^3 = -u", sleigh.W13),
    Confirmation("the sleigh", r"A_{22} = e_2^2/(e_2^2 - e_3^2)", sleigh.release_matrix),
    Confirmation(
        "the gyroscope",
        r"\tilde T = \tfrac12\{[A_2 + (A_1+A)\cos^2\beta + C_1\sin^2\beta]e_1^2 + Ce_3^2 + (A+B_1)e_2^2\}",
        gyroscope.kinetic_energy,
    ),
    Confirmation("the gyroscope", r"W_1^3 = e_2\cos\beta", gyroscope.W13),
    Confirmation(
        "the gyroscope", r"A_{11} = 1+\sin^2\beta,\ A_{22} = 1,\ B_{31} = -\sin\beta", gyroscope.release_matrices
    ),
    Confirmation(
        "(16), second and third",
        r"(B_1+A)\dot e_2 - \dots = \mu_2,\ C\dot e_3 = \lambda - \mu_1\sin\beta",
        gyroscope.other_equations,
    ),
    Confirmation("the gyroscope, e₃ = 0", r"\lambda = \mu_1\sin\beta", gyroscope.held_reaction),
]
