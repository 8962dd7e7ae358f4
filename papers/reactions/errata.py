"""The errata of Pesterev, Matrosov and Morozov."""

from __future__ import annotations

from papers.reactions import checks_derivatives as derivatives
from papers.reactions import checks_text as text
from papers.record import Confirmation, Erratum

ERRATA = [
    Erratum(
        "7",
        "after (7)",
        r"c_{ij} = C_{r_i+1-j}\,\lambda_i^{r_i+1-j}",
        r"c_{ij} = \binom{r_i}{r_i+1-j}\lambda_i^{r_i+1-j}",
        text.binomials,
        "The upper index of the binomial is lost; read without it.",
    ),
    Erratum(
        "after 10",
        "after (10)",
        r"\text{solutions to (8)},\ d^{r_i-1}f_i(0)/dt,\ \text{(3) suffices}",
        r"\text{solutions to (7)},\ d^{r_i-1}f_i(0)/dt^{r_i-1},\ \text{also } (v, \eta) = 0",
        text.hidden_condition,
        "A consistent start needs the derivatives of the constraints too.",
    ),
    Erratum(
        "25",
        "(25)",
        r"\ddot f_1 = \dots",
        r"\ddot f_1 = \dots + \frac{ml\dot\phi^2(h'_x\sin\phi - h'_z\cos\phi)}{M+m}",
        derivatives.centrifugal_term,
        "The centrifugal force of the pendulum is missing.",
    ),
    Erratum(
        "25 off",
        "(25), off the manifold",
        r"\ddot f_1 \text{ as on the manifold}",
        r"\dots - rU\dot f_3 - rf_3\dot U",
        derivatives.f1_off_the_manifold,
        "Zero on the manifold only: the relative degree {2, 1, 1} has no neighborhood.",
    ),
    Erratum("26", "(26)", r"\cos(\phi + \alpha)", r"\cos(\phi - \alpha)", derivatives.angle_of_26),
    Erratum(
        "26 off",
        "(26), off the manifold",
        r"\dot f_2 \text{ as on the manifold}",
        r"\dots - U(v, \mu)",
        derivatives.f2_off_the_manifold,
        "It costs nothing, and it makes ḟ₂ = -λf₂ exact.",
    ),
    Erratum(
        "27",
        "(27)",
        r"\|\eta\|",
        r"(\mu, \eta) = -\|\eta\| \text{ for } h = z - p(x)",
        derivatives.normal_of_27,
        "With the printed sign the run diverges at once.",
    ),
    Erratum(
        "A e",
        "appendix",
        r"e = (M+m)(v, H_2\chi)",
        r"e = (M+m)\,r\,(v, H_2\chi)",
        derivatives.coefficient_e,
        "The determinant does not change.",
    ),
    Erratum("A minor", "appendix", r"ac - b^2 = 1 - \gamma", r"ac - b^2 = 1 + \gamma", derivatives.minor),
    Erratum(
        "A determinant",
        "appendix",
        r"(\beta\cos\alpha + \sin\alpha)^2",
        r"(\beta\cos\phi + \sin\phi)^2",
        derivatives.determinant,
    ),
    Erratum(
        "A d",
        "appendix",
        r"d = \|\eta\|(1 - r/\rho) > 0",
        r"d = s\|\eta\|(1 - s\,r/\rho),\ s = \operatorname{sgn}(\mu, \eta)",
        derivatives.signed_d,
    ),
    Erratum(
        "gutter",
        "section 4",
        r"h = z - x^4 + 0.13x^3 - 0.5x^2 - 0.13x - 0.5",
        r"h = z - (x^4 + 0.13x^3 - 0.5x^2 - 0.13x - 0.5)",
        text.lost_brackets,
        "As printed, the gutter has no hump.",
    ),
    Erratum(
        "range",
        "section 4",
        r"x \in [-0.67, 0.75]",
        r"x \in [-0.7415, 0.7610]",
        text.range_of_the_wheel,
        "With r = 7/40 no g gives the printed interval; g is not given, 9.81 fits best.",
    ),
    Erratum(
        "f3",
        "section 4",
        r"f_3 \text{ much smaller}",
        r"f_3 \approx f_2/2",
        text.third_residual,
        "The order of the Adams method is not given either.",
    ),
    Erratum(
        "letters",
        "notation",
        r"U \text{ potential energy and } \dot\alpha;\ h \text{ step and curve}",
        r"\text{two letters each}",
        text.two_meanings_of_U,
    ),
]
CONFIRMATIONS = [
    Confirmation(
        "(13) to (17)", r"(M+m)\ddot x = aR_x + bR_z + ml\dot\phi^2\sin\phi,\ \dots", derivatives.accelerations
    ),
    Confirmation(
        "(18) to (20)",
        r"h(x_a, z_a) = 0,\ -\dot x\sin\alpha + \dot z\cos\alpha + r\dot\theta = 0,\ (\mu, \tau) = 0",
        derivatives.constraints_hold,
    ),
    Confirmation(
        "(22) to (24)",
        r"\dot f_1 = (v, \eta) - (\mu, \tau)r\dot\alpha,"
        r"\ \dot f_3 = [(\mu, \eta) - (\chi, H_2\chi)r]\dot\alpha - (v, H_2\chi)",
        derivatives.first_derivatives,
    ),
]
