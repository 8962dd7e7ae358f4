"""The errata of Mukharlyamov and Kirgizbaev."""

from __future__ import annotations

from papers.program import checks
from papers.record import Confirmation, Erratum

ERRATA = [
    Erratum(
        "4",
        "after (4)",
        r"b^l = m^{lk}(Q_k - \Gamma_{ij,k}v^iv^j)",
        r"b^l = m^{lk}\left(Q_k - \frac{\partial P}{\partial q^k} - \Gamma_{ij,k}v^iv^j\right)",
        checks.potential_forces,
        "The potential forces are missing.",
    ),
    Erratum(
        "7",
        "after (7)",
        r"f^\mu = f_0^\mu + \varphi_0^\mu t,\ \varphi^\rho(q_0, v_0, t_0) = \varphi_0^\rho",
        r"f^\mu = f_0^\mu + \varphi_0^\mu (t - t_0),\ \varphi^\rho(q, v, t) = \varphi_0^\rho",
        checks.drift_from_t0,
    ),
    Erratum(
        "8",
        "(8)",
        r"\frac{d\varphi^\rho}{dt} = \gamma\varphi^\rho,\ \gamma > 0",
        r"\frac{d\varphi^\rho}{dt} = -\gamma\varphi^\rho",
        checks.sign_of_decay,
    ),
    Erratum(
        "10",
        "(10)",
        r"r \le 2n",
        r"r \le 2n - 1",
        checks.room_for_a_product,
        "The vector product needs three dimensions.",
    ),
    Erratum(
        "11",
        "after (11)",
        r"X = \varphi^0X_\tau + X_\nu,\ X_\tau = \varphi^0[\dots]",
        r"X = \varphi^0X_\tau + X_\nu,\ X_\tau = [\dots]",
        checks.factor_twice,
    ),
    Erratum(
        "X nu",
        "X_ν",
        r"X_\nu^i = \delta^{ij}\varphi_j^\alpha\omega_{\alpha\rho}F^\rho",
        r"X_\nu^i = \delta^{ij}\varphi_j^\alpha\omega_{\alpha\rho}"
        r"\left(F^\rho - \frac{\partial\varphi^\rho}{\partial t}\right)",
        checks.time_in_the_normal_part,
        "As printed for integrals without time only.",
    ),
    Erratum(
        "20 index",
        "after (20)",
        r"\Upsilon^\mu = y^{m+\mu}",
        r"\Upsilon^\mu = \eta^{m+\mu}",
        checks.index_of_the_residuals,
    ),
    Erratum(
        "20 kinematics",
        "after (20)",
        r"X^i(y, x, t) = x^{n+i},\ \text{system (18)}",
        r"X^i(x, t) = a^i(x, t),\ \text{system (19)}",
        checks.general_kinematics,
    ),
    Erratum(
        "bound",
        "after (21)",
        r"|\eta|^2 \le \frac{c_2}{c_1}|\eta_0^2|e^{-\lambda(t-t_0)},\ \lambda = \frac{2a}{c_2}",
        r"|\eta|^2 \le \frac{c_2}{c_1}|\eta_0|^2e^{-\lambda(t-t_0)},\ \lambda = \frac{a}{c_2}",
        checks.exponential_bound,
    ),
    Erratum(
        "25",
        "(25)",
        r"\frac{\tau^2}{2}\tilde\Upsilon^{(2)}",
        r"\frac\tau2\Upsilon_{\eta\eta}\eta\eta",
        checks.order_of_the_remainder,
    ),
    Erratum("estimate", "after (25)", r"|\delta + \tau k\eta|", r"\|I + \tau k\|\,|\eta|", checks.estimate),
    Erratum(
        "theorem",
        "theorem",
        r"1 + \tau\kappa \le \theta \le 1,\ \tfrac{\tau^2}{2}\Upsilon^2 + g^2 \le 1 - \Theta\varepsilon",
        r"\|I + \tau k\| \le \theta < 1,"
        r"\ \tfrac{\tau^2}{2}(\|\tilde\Upsilon\| + \|\tilde g\|) \le (1 - \theta)\varepsilon",
        checks.theorem,
    ),
    Erratum("26 b", "(26)", r"b = \frac{1}{(q^1)^2 + (q^2)^2}", r"b = \frac{1}{(q^1)^2 + 16(q^2)^2}", checks.factor_b),
    Erratum(
        "26 u",
        "after (26)",
        r"u = k((q^1)^2 + 4(q^2)^2 - 4)",
        r"u = ky = \tfrac k2((q^1)^2 + 4(q^2)^2 - 4)",
        checks.control,
    ),
    Erratum(
        "interval",
        "after (26)",
        r"\varepsilon = 0.001:\ 200 < k < 1800",
        r"\varepsilon = 4\cdot10^{-5};\ \text{for } 0.001:\ 8 \le k \le 1992",
        checks.interval,
    ),
    Erratum(
        "keyword",
        "keywords",
        r"\text{Helmholtz conditions, never used}",
        r"\text{(8) meets them only with a multiplier } e^{2\alpha t}",
        checks.helmholtz,
    ),
]
CONFIRMATIONS = [
    Confirmation(
        "(15), (16)",
        r"u = c_0[p^1 \dots p^r c^{r+1} \dots c^{s-1}] + p^{\mathsf T}(pp^{\mathsf T})^{-1}h,"
        r"\quad p \text{ of full row rank}",
        checks.controls,
    ),
]
