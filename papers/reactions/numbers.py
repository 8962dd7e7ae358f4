"""The numbers of section 4, and the reference states computed with 256-bit numbers."""

from __future__ import annotations

import numpy as np
import sympy as sp

import vinculum as vn
from papers.reactions import wheel as w
from papers.reactions.checks_text import energy_range
from papers.reactions.misprinted import largest_errors
from papers.record import Number, Table
from papers.truth import numbers
from vinculum.simulation.integrators import METHODS
from vinculum.simulation.stabilization.residual_bounds import fixed_step

NAMES = ("x", "ẋ", "z", "ż", "θ", "θ̇", "φ", "φ̇", "α")
REFERENCE = {
    1.0: ("-0.038816499317", "-1.346570255822", "-0.320099975505", "0.103977171080", "3.188592960387",
          "7.717592319847", "-5.425937021897", "10.716461369387", "-1.647859708453"),
    2.0: ("-0.669711984645", "0.701103564702", "-0.256120067531", "-0.795321830277", "6.944193190881",
          "-6.058444663756", "-5.664465438251", "0.411859482073", "-2.419073708814"),
}  # fmt: skip


OTHER_GRAVITY = {10.0: "-0.7394, 0.7595", 11.0: "-0.729, 0.752", 12.0: "-0.721, 0.746", 20.0: "-0.675, 0.716"}


def geometry() -> list[Number]:
    """Hump and hollows, the tightest place, the start."""
    s = sp.Symbol("s")
    places = sorted(float(x) for x in sp.Poly(w.gutter(s, 1), s).nroots())
    grid = np.linspace(-1, 1, 200_001)
    slope, bend = (sp.lambdify(s, w.gutter(s, k))(grid) for k in (1, 2))
    inside = np.abs(grid) <= 0.8
    curvature = np.where(inside, bend / (1 + slope**2) ** 1.5, -np.inf)
    start = w.start()
    solved = [start[key] for key in (w.x, w.z, w.zd, w.thetad, w.alpha)]
    return [
        Number("local maximum", "-0.132", places[1], in_paper=True),
        Number("local minima", "-0.47818, 0.51313", (places[0], places[2])),
        Number("start: x, z, ż, θ̇, α", "0.5056844987, -0.4363423487, -0.034125, -6.0031679137, -1.6032848913", solved),
        Number("largest curvature, at", "3.434, 0.619", (curvature.max(), grid[curvature.argmax()])),
        Number("smallest G = 1 - rκ", "0.399", 1 - w.NUMBERS[w.r] * curvature.max()),
    ]  # fmt: skip


def energy() -> list[Number]:
    start = w.start() | w.NUMBERS
    kinetic, potential = numbers([w.KINETIC, w.POTENTIAL], start)
    low, high = energy_range()
    run = w.long_run()
    observed = run[w.x][run.t <= 20]
    return [
        Number("kinetic energy at the start", "2.837772", kinetic),
        Number("energy at the start", "-2.919105399605", kinetic + potential),
        Number(
            "energy above that of rest on the hump (paper: slightly)", "2.4256", kinetic + potential - on_the_hump()
        ),
        Number("range of the axle that the energy allows", "-0.7415, 0.7610", (low, high)),
        *(Number(f"the same with g = {g:g}", text, energy_range(g)) for g, text in OTHER_GRAVITY.items()),
        Number(
            "leftmost and rightmost position of the axle, t ≤ 20",
            "-0.67, 0.75",
            (observed.min(), observed.max()),
            "Not possible with r = 7/40 for any g: the height at x = -0.67 and at 0.75 is not the same.",
            in_paper=True,
        ),
    ]


def on_the_hump() -> float:
    s = sp.Symbol("s")
    hump = sorted(float(x) for x in sp.Poly(w.gutter(s, 1), s).nroots())[1]
    place = {w.z: float(w.gutter(sp.Float(hump))) + w.NUMBERS[w.r], w.phi: 0.0}
    return float(numbers([w.POTENTIAL], w.NUMBERS | place)[0])


def states() -> list[Number]:
    motion = vn.simulate(w.program(1.0), w.start(), [0, *REFERENCE])
    return [
        Number(f"{name} at t = {time:g}", text, motion[key][i])
        for i, (time, texts) in enumerate(REFERENCE.items(), start=1)
        for name, text, key in zip(NAMES, texts, w.STATES, strict=True)
    ]


def accuracy() -> list[Number]:
    """The run of the paper by Adams methods of several orders."""
    found = []
    for method, duration in (("ab2", 20.0), ("abm2", 2.0), ("ab3", 2.0), ("ab4", 2.0)):
        run = w.adams(method, duration)
        why = f"{method.upper()} over [0, {duration:g}]: the paper does not say which Adams method, nor g."
        found.append(
            Number(
                f"{method.upper()}, step 1e-5: largest f", "< 5e-10", max(w.largest(run).values()), why, in_paper=True
            )
        )
        found.append(Number(f"{method.upper()}, step 1e-5: change of energy", "< 2e-8", drift(run), why, in_paper=True))
    sampled = vn.simulate(
        w.program(None), w.start(), (0, 20), "rk4", step=1e-3, stabilization=vn.Sampled(), progress=False
    )
    taylor = w.long_run()
    return [
        *found,
        Number(
            "RK4 with sampled feedback, step 1e-3, t ≤ 20: largest f",
            "< 5e-10",
            max(w.largest(sampled).values()),
            in_paper=True,
        ),
        Number("Taylor series, t ≤ 200: largest f", "< 5e-10", max(w.largest(taylor).values()), in_paper=True),
        Number("Taylor series, t ≤ 200: change of energy", "< 2e-8", drift(taylor), in_paper=True),
    ]


def drift(run: vn.Trajectory) -> float:
    return float(np.abs(run.energy - run.energy[0]).max())


def misprints() -> list[Number]:
    wrong, right = largest_errors(True), largest_errors(False)
    return [
        Number("(25), (26) as printed: max f₁, f₂, change of energy", "1.8e-5, 2e-2, 2.5e-2", wrong),
        Number("corrected: the largest of the three", "< 1e-9", max(right)),
    ]


def limits() -> list[Number]:
    """λ h < z_max: the paper's 10⁵ for h = 10⁻⁵ is that of AB2."""
    texts = {"euler": "2.0", "ab2": "1.0", "ab3": "0.545", "ab4": "0.3", "abm2": "2.0", "abm4": "1.285", "rk4": "2.785"}
    found = [
        Number(f"z_max of {name.upper()}", text, fixed_step(METHODS[name]).stability_limit())
        for name, text in texts.items()
    ]
    return [
        *found,
        Number("AB2 3 % below its limit: largest f", "< 1e-2", below(0.97)),
        Number(
            "largest λ for h = 10⁻⁵, AB2", "1e5", fixed_step(METHODS["ab2"]).stability_limit() / 1e-5, in_paper=True
        ),
    ]


def below(share: float) -> float:
    equations = vn.derive(w.wheel(), form="program", rates=share / 1e-4)
    run = vn.simulate(equations, w.start(), (0, 0.2), "ab2", step=1e-4, progress=False, stabilization=vn.Baumgarte())
    return max(w.largest(run).values())


def lift_off() -> list[Number]:
    """Where a gutter that cannot pull would be left."""
    reaction = -(w.Rx * sp.cos(w.alpha) + w.Rz * sp.sin(w.alpha))
    lift = vn.Event(reaction, "lift-off", direction="any", terminal=True)
    run = vn.simulate(w.program(1.0), w.start(), (0, 2), events=[lift], progress=False)
    return [Number("first time with a negative normal reaction", "0.24", run.t[-1])]


TABLES = [
    Table(
        "Gutter and start",
        geometry,
        "M = 1, r = 7/40, m = 0.5, l = 0.8 r; x_a = 0.5, ẋ = 1.05, φ = 3.4, φ̇ = -11.5. "
        "g is not given in the paper: 9.81.",
    ),
    Table("Energy and range", energy),
    Table(
        "States against 256-bit arithmetic", states, "Thirteen of thirty digits; two formulations agree there to 1e-55."
    ),
    Table(
        "Residuals and energy",
        accuracy,
        "The paper's run is 20 million steps over [0, 200]; here Adams methods run "
        "over the times named, Taylor series over all of it. Beyond t of about 20 every run in double precision is a "
        "sample of a chaotic motion.",
    ),
    Table("The effect of the misprints", misprints, "λ = 1500, t ≤ 1."),
    Table("Largest rates", limits),
    Table("Contact", lift_off),
]
