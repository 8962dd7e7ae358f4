"""A wheel with a pendulum in a gutter, the reaction R at its contact and the rate of α as unknown controls.

The state (x, ẋ, z, ż, θ, θ̇, φ, φ̇, α) obeys ẋ = F + B N with N = (Rx, Rz, U), α̇ = U, as Pesterev, Matrosov and Morozov
write it; the relative degree {2, 1, 1} of contact, rolling and tangency is found on the constraints, where the
coefficient -r f₃ of U in the rate of f₁ vanishes. Reference values: 256-bit arithmetic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import sympy as sp

import vinculum as vn

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))
from examples import wheel_in_gutter
from examples.wheel_in_gutter import M, alpha, g, gutter, l, m, phi, r, theta, x, z

xd, zd, thetad, phid = (q.diff() for q in (x, z, theta, phi))
Rx, Rz, U = sp.symbols("Rx Rz U")  # reaction at the contact, rate of alpha
NUMBERS = dict(wheel_in_gutter.system().parameters)
STATES = (x, xd, z, zd, theta, thetad, phi, phid, alpha)
NAMES = ("x", "xd", "z", "zd", "th", "thd", "phi", "phid", "alpha")  # of the same in the reference data

# -- the states of A3, 256-bit arithmetic --------------------------------------------------------------------------
REFERENCE = {
    1.0: dict(zip(STATES, (
        -0.0388164993169273107733780071411, -1.3465702558219806610260453977, -0.320099975504575810405626808997,
        0.103977171080374293144444010427, 3.18859296038698987355539212529, 7.71759231984680752715773602961,
        -5.42593702189745014729962016773, 10.7164613693869006915100529719, -1.64785970845319496305555134812,
    ), strict=True)),
    2.0: dict(zip(STATES, (
        -0.669711984644959507441501262009, 0.70110356470187798018838137672, -0.256120067530760152513438894186,
        -0.795321830277489630530457765145, 6.9441931908811219694200825143, -6.05844466375583533985439543065,
        -5.66446543825066655802302455111, 0.411859482072833418093677248213, -2.41907370881372101338530240893,
    ), strict=True)),
}  # fmt: skip

GUESS = {x: 0.505, xd: 1.05, z: -0.436, zd: -0.034, theta: 0.0, thetad: -6.0, phi: 3.4, phid: -11.5, alpha: -1.6}


def contact(profile: Callable[[sp.Expr], sp.Expr] = gutter) -> dict[str, sp.Expr]:
    """The residuals (18)-(20) at the contact (x + r cos α, z + r sin α); (μ, τ) with τ = (-h_z, h_x), h = z - p(x)."""
    found = wheel_in_gutter.residuals(profile)
    return {"contact": found["contact"], "rolling": found["rolling"], "tangency": -found["tangency"]}


def wheel(profile: Callable[[sp.Expr], sp.Expr] = gutter) -> vn.AffineSystem:
    """Equations (13)-(17): hoop and pendulum with the reaction R at the contact, α̇ = U.

    M v̇ = R + force of the rod; rod: m l φ̈ = -m [(ẍ) cos φ + (z̈ + g) sin φ].
    """
    # (M + m) v̇ = R - (M + m) g e_z + m l [φ̇² (sin φ, -cos φ) - φ̈ (cos φ, sin φ)],  l φ̈ = -(ẍ cos φ + (z̈ + g) sin φ)
    c, s_ = sp.cos(phi), sp.sin(phi)
    k = m * l * phid**2 / (M + m)
    # with w = (Rx, Rz)/(M + m) + k (s, -c): v̇ + g e_z = w + (m/M) (w·(c, s)) (c, s)
    push = {Rx: (1 / (M + m), 0), Rz: (0, 1 / (M + m)), 0: (k * s_, -k * c)}

    def accelerations(w: tuple) -> tuple:
        along = m / M * (w[0] * c + w[1] * s_)
        ax, az = w[0] + along * c, w[1] + along * s_
        return ax, az, -(ax * c + az * s_) / l

    columns = {key: accelerations(w) for key, w in push.items()}
    torque = {Rx: -sp.sin(alpha) / (M * r), Rz: sp.cos(alpha) / (M * r)}
    drift = [xd, columns[0][0], zd, columns[0][1] - g, thetad, 0, phid, columns[0][2], 0]
    B = [
        [0, 0, 0],
        [columns[Rx][0], columns[Rz][0], 0],
        [0, 0, 0],
        [columns[Rx][1], columns[Rz][1], 0],
        [0, 0, 0],
        [torque[Rx], torque[Rz], 0],
        [0, 0, 0],
        [columns[Rx][2], columns[Rz][2], 0],
        [0, 0, 1],
    ]
    energies = wheel_in_gutter.system(profile)
    energy = energies.kinetic_energy + energies.potential_energy
    return vn.AffineSystem(STATES, drift, [Rx, Rz, U], B, contact(profile), NUMBERS, energy=energy, name="wheel")


def normal_reaction() -> sp.Expr:
    """The component of R away from the gutter, -(R, μ)."""
    return -(Rx * sp.cos(alpha) + Rz * sp.sin(alpha))


@cache
def program(rates: float | None = 1500.0) -> vn.program.ProgramEquations:
    """The wheel with the rate of the paper."""
    return vn.derive(wheel(), form="program", rates=rates)


def start(equations: vn.program.ProgramEquations) -> dict[sp.Expr, float]:
    """The consistent start of the paper: contact at 0.5, x' = 1.05, φ = 3.4, φ' = -11.5."""
    slope = float(sp.diff(gutter(sp.Symbol("s")), "s").subs("s", 0.5))
    root = (1 + slope**2) ** 0.5
    exact = {x: 0.5 - 7 / 40 * slope / root, alpha: float(sp.atan(slope)) - float(sp.pi) / 2}
    fixed = [x, alpha, xd, theta, phi, phid]
    return vn.consistent_state(equations, GUESS | exact, fixed=fixed)


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = program(1.0)
    motion = vn.simulate(equations, start(equations), (0, 2))
    return motion, {f"{key} at t = 2": (motion[key][-1], value) for key, value in REFERENCE[2.0].items()}


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(8, 4), layout="constrained")
    path_of, force = figure.subplots(1, 2)
    path_of.plot(motion[x], motion[z], label="axle")
    path_of.plot(motion[x + l * sp.sin(phi)], motion[z - l * sp.cos(phi)], lw=0.8, label="bob")
    path_of.set(xlabel="x", ylabel="z", aspect="equal")
    path_of.legend()
    force.plot(motion.t, motion[normal_reaction()])
    force.axhline(0, color="k", lw=0.8)
    force.set(xlabel="t", title="normal reaction: negative where a gutter could not pull")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
