"""A production model with a program constraint: capital, output and a stock that follow a plan.

Capital K grows by investment and wears out, output Y = A √K, the stock S is filled by output and emptied by demand
D(t). Two controls, investment I and price subsidy N (which moves demand), hold two programs at once: the stock at its
planned level and the capital on its plan,

    K̇ = I - δ K,   Ṡ = A √K - D(t) - b N;     S = S₀,   K = K₀ e^{γt}.

The controls are known in closed form: I = (γ + δ) K, N = (A √K - D)/b.
"""

import numpy as np
from sympy import exp, sin, sqrt, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

K, S = dynamicsymbols("K S")
I, N = symbols("I N")
A, delta, b, S0, K0, growth = symbols("A delta b S0 K0 gamma")
NUMBERS = {A: 2.0, delta: 0.05, b: 1.5, S0: 10.0, K0: 4.0, growth: 0.02}
demand = 3 + sin(t) / 2


def system():
    return vn.AffineSystem(
        states=[K, S],
        drift=[-delta * K, A * sqrt(K) - demand],
        inputs=[I, N],
        input_matrix=[[1, 0], [0, -b]],
        constraints={"stock": S - S0, "capital": K - K0 * exp(growth * t)},
        parameters=NUMBERS,
        name="production",
    )


def run():
    """The motion, and {quantity: (found, exact)}."""
    equations = vn.derive(system(), form="program", rates={"stock": 2.0, "capital": 0.5}, at={K: 4.0, S: 10.0})
    motion = vn.simulate(equations, {}, (0, 10), guess={K: 4.0, S: 10.0})
    capital = 4.0 * np.exp(0.02 * motion.t)
    subsidy = (2.0 * np.sqrt(capital) - 3 - np.sin(motion.t) / 2) / 1.5
    return motion, {
        "greatest error of the investment": (np.abs(motion[I] - 0.07 * capital).max(), 0.0),
        "greatest error of the subsidy": (np.abs(motion[N] - subsidy).max(), 0.0),
    }


def picture(path):
    from matplotlib.figure import Figure

    motion, _ = run()
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for key, label in ((K, "capital"), (S, "stock"), (I, "investment"), (N, "subsidy")):
        axes.plot(motion.t, motion[key], label=label)
    axes.set(xlabel="t")
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
