"""A planar aircraft (PVTOL) that flies a path: thrust and torque hold two servo constraints by dynamic extension.

    m ẍ = -u₁ sin θ,   m z̈ = u₁ cos θ - m g,   J θ̈ = u₂,     x = X(t),   z = Z(t)

Only the thrust u₁ appears in ẍ and z̈, so the inputs act alike on both constraints. With u₁ and u̇₁ as states, the fourth
derivatives contain ü₁ and u₂. On the path tan θ = -Ẍ/(Z̈ + g), u₁ = m √(Ẍ² + (Z̈ + g)²) and u₂ = J θ̈; from elsewhere
(d/dt + k)⁴ (x - X) = 0.
"""

import numpy as np
from sympy import cos, sin, symbols
from sympy.abc import t
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

x, z, theta = dynamicsymbols("x z theta")  # [m], [m], pitch [rad]
thrust, torque = symbols("thrust torque")  # [N], [N m]
m, J, g, k, omega, a = symbols("m J g k omega a")
NUMBERS = {m: 1.3, J: 0.2, g: 9.81, k: 2.0, omega: 1.2, a: 1.5}  # [kg], [kg m²], [m/s²], [1/s], [rad/s], [m]
OFF = {x: 0.5, z: 0.3, theta: 0.1, x.diff(): 0.0, z.diff(): 0.0, theta.diff(): 0.0}


def system():
    return vn.System(
        coordinates=[x, z, theta],
        kinetic_energy=m * (x.diff() ** 2 + z.diff() ** 2) / 2 + J * theta.diff() ** 2 / 2,
        potential_energy=m * g * z,
        forces={x: -thrust * sin(theta), z: thrust * cos(theta), theta: torque},
        inputs=[thrust, torque],
        constraints=[
            vn.Servo(x - a * sin(omega * t), through=[thrust], name="along"),
            vn.Servo(z - a * sin(2 * omega * t) / 2, through=[torque], name="height"),
        ],
        parameters=NUMBERS,
        name="aircraft on a path",
    )


def path(times):
    """Ẍ and Z̈ + g: a figure eight."""
    n = {key.name: value for key, value in NUMBERS.items()}
    turn = n["omega"] * times
    return -n["a"] * n["omega"] ** 2 * np.sin(turn), -2 * n["a"] * n["omega"] ** 2 * np.sin(2 * turn) + n["g"]


def motions():
    """The motion on the path, and the one that starts off it."""
    equations = vn.derive(system(), form="program", rates=k)
    return tuple(vn.simulate(equations, start, (0, 6)) for start in ({}, OFF))


def left_after(start, time):
    """y(t) = e^{-kt} Σ b_j tʲ/j! of (d/dt + k)⁴ y = 0, b_j = (d/dt + k)ʲ y(0)."""
    y, rate = start, NUMBERS[k]
    b = [y[0], y[1] + rate * y[0], y[2] + 2 * rate * y[1] + rate**2 * y[0]]
    b.append(y[3] + 3 * rate * y[2] + 3 * rate**2 * y[1] + rate**3 * y[0])
    return np.exp(-rate * time) * (b[0] + b[1] * time + b[2] * time**2 / 2 + b[3] * time**3 / 6)


def run():
    """The motion on the path, and {quantity: (found, exact)}."""
    flown, off = motions()
    across, upwards = path(flown.t)
    needed = NUMBERS[m] * np.hypot(across, upwards)
    deviations = [values for (name, _), values in off.residuals.items() if name == "along"]
    return flown, {
        "added states": (len(flown.problem.equations.added_states), 2),
        "relative degree": (len(deviations), 4),
        "greatest error of the pitch [rad]": (np.abs(flown[theta] + np.arctan2(across, upwards)).max(), 0.0),
        "greatest error of the thrust [N]": (np.abs(flown[thrust] - needed).max(), 0.0),
        "deviation after 6 s [m]": (deviations[0][-1], left_after([y[0] for y in deviations], 6.0)),
    }


def picture(path):
    from matplotlib.figure import Figure

    _, motion = motions()
    figure = Figure(figsize=(7, 5), layout="constrained")
    plane, inputs = figure.subplots(2, 1)
    plane.plot(motion[x], motion[z], label="flown")
    plane.plot(motion[a * sin(omega * t)], motion[a * sin(2 * omega * t) / 2], "--", label="path")
    plane.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    plane.legend()
    inputs.plot(motion.t, motion[thrust], label="thrust [N]")
    inputs.plot(motion.t, motion[torque], label="torque [N m]")
    inputs.set(xlabel="t [s]")
    inputs.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    from _show import show

    show(run)
