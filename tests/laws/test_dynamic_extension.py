"""Dynamic extension: inputs that act alike on several constraints become states until the program is regular."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn

t = dynamicsymbols._t
x, y, z, theta, phi = dynamicsymbols("x y z theta phi")
u1, u2, v, w, steering = sp.symbols("u1 u2 v w omega")
GRAVITY, MASS, INERTIA = 9.81, 1.3, 0.2
PATH = (sp.cos(t) + sp.sin(2 * t) / 5, sp.sin(t) * sp.Rational(3, 4))  # never at rest
TIMES = np.linspace(0, 3, 16)


def along(expression: sp.Expr, times: np.ndarray = TIMES) -> np.ndarray:
    """An expression of time as numbers."""
    return np.array([float(sp.N(expression.subs(t, time), 30)) for time in times])


def unicycle(path: tuple[sp.Expr, sp.Expr] = PATH, **changes: object) -> vn.AffineSystem:
    fields = {
        "states": [x, y, theta],
        "drift": [0, 0, 0],
        "inputs": [v, w],
        "input_matrix": [[sp.cos(theta), 0], [sp.sin(theta), 0], [0, 1]],
        "constraints": {"along x": x - path[0], "along y": y - path[1]},
        "name": "unicycle",
    }
    return vn.AffineSystem(**fields | changes)


def decay(start: np.ndarray, degree: int, rate: float, times: np.ndarray) -> np.ndarray:
    """The solution of (d/dt + k)^r y = 0 from y, ẏ, ..."""
    a = [sum(math.comb(m, j) * rate ** (m - j) * start[j] for j in range(m + 1)) for m in range(degree)]
    return np.exp(-rate * times) * sum(a[m] * times**m / math.factorial(m) for m in range(degree))


def assert_decays(motion: vn.Trajectory, degrees: dict[str, int], rate: float, off: float) -> None:
    """Every constraint obeys (d/dt + k)^r y = 0, from at least ``off``."""
    for name, degree in degrees.items():
        chain = np.array([column for (c, _), column in motion.residuals.items() if c == name])
        assert len(chain) == degree
        assert np.abs(chain[:, 0]).max() > off
        np.testing.assert_allclose(chain[0], decay(chain[:, 0], degree, rate, motion.t), rtol=0, atol=1e-10)


# -- textbook systems, compared with their flatness formulas ---------------------------------------------------------


def test_unicycle():
    """v = |ṙ|, w = (ẋ ÿ - ẏ ẍ)/v²."""
    equations = vn.derive(unicycle(), form="program", rates=2.0)
    assert equations.degrees == {"along x": 2, "along y": 2}
    assert list(map(str, equations.added_states)) == ["v(t)"]
    motion = vn.simulate(equations, {}, TIMES, guess={theta: 1.0, v: 1.0})
    dx, dy = PATH[0].diff(t), PATH[1].diff(t)
    np.testing.assert_allclose(motion[v], along(sp.sqrt(dx**2 + dy**2)), rtol=0, atol=1e-10)
    turning = (dx * dy.diff(t) - dy * dx.diff(t)) / (dx**2 + dy**2)
    np.testing.assert_allclose(motion[w], along(turning), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[x], along(PATH[0]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion["v_dot"], along(sp.sqrt(dx**2 + dy**2).diff(t)), rtol=0, atol=1e-10)


def test_a_unicycle_off_its_path_approaches_it_with_the_prescribed_rate():
    equations = vn.derive(unicycle(), form="program", rates=2.0)
    motion = vn.simulate(equations, {x: 0.8, y: -0.2, theta: 1.2, v: 0.9}, TIMES)
    assert_decays(motion, equations.degrees, 2.0, off=0.1)


def test_the_printed_equations_contain_the_added_state():
    rates = vn.derive(unicycle((t, t)), form="program")
    assert "added states  v" in repr(rates)
    text = rates.text().replace(" ", "")
    abbreviation = next(line.split("=")[0] for line in text.splitlines() if line.endswith("=v*cos(theta)"))
    assert f"dot(x)={abbreviation}" in text
    assert "dot(theta)=w" in text
    assert "dot(v)" in text
    assert r"\dot{v}" in rates.latex()
    law = rates.controls
    assert law[v] == dynamicsymbols("v")
    assert sp.simplify(law[w]) == 0
    assert sp.simplify(law[dynamicsymbols("v").diff()]) == 0


def pvtol(lever: float, constraints: list) -> vn.System:
    """Thrust u1 and torque u2, which also pushes sideways with ``lever``."""
    return vn.System(
        [x, z, theta],
        MASS * (x.diff() ** 2 + z.diff() ** 2) / 2 + INERTIA * theta.diff() ** 2 / 2,
        MASS * GRAVITY * z,
        forces={
            x: -u1 * sp.sin(theta) + lever * u2 * sp.cos(theta),
            z: u1 * sp.cos(theta) + lever * u2 * sp.sin(theta),
            theta: u2,
        },
        inputs=[u1, u2],
        constraints=constraints,
        name="pvtol",
    )


def flown(lever: float) -> vn.System:
    """The center of oscillation (x - ε J/m sin θ, z + ε J/m cos θ) on its path; without a lever, the center of mass."""
    arm = lever * INERTIA / MASS
    return pvtol(lever, [
        vn.Servo(x - arm * sp.sin(theta) - PATH[0], through=[u1], name="x"),
        vn.Servo(z + arm * sp.cos(theta) - PATH[1], through=[u2], name="z"),
    ])  # fmt: skip


@pytest.mark.parametrize("lever", [0.0, 0.4])
@pytest.mark.parametrize("guess", [0.0, 0.01, -0.2])
def test_an_aircraft_follows_a_path_with_its_thrust_as_a_state(lever, guess):
    """tan θ = -ẍ/(z̈ + g), u2 = J θ̈, u1 = m √(ẍ² + (z̈ + g)²) + ε J θ̇²; starts from θ near 0 are found."""
    equations = vn.derive(flown(lever), form="program", rates=3.0)
    assert equations.degrees == {"x": 4, "z": 4}
    added = ["u1", "v_u1" if lever else "dot(u1)"]  # with a lever, u̇1 + C(x) u2 is the second integrator
    assert [vn.names.name_of(s) for s in equations.added_states] == added
    motion = vn.simulate(equations, {}, TIMES, guess={theta: guess})
    ax, az = PATH[0].diff(t, 2), PATH[1].diff(t, 2) + GRAVITY
    pitch = -sp.atan(ax / az)
    thrust = MASS * (sp.sqrt(ax**2 + az**2) + lever * INERTIA / MASS * pitch.diff(t) ** 2)
    np.testing.assert_allclose(motion[theta], along(pitch), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[u2], along(INERTIA * pitch.diff(t, 2)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[u1], along(thrust), rtol=0, atol=1e-10 * MASS * GRAVITY)
    assert motion.energy_error < 1e-10


def test_an_aircraft_approaches_its_path_from_elsewhere():
    """The added states are not given: they make the residuals as small as possible."""
    equations = vn.derive(flown(0.0), form="program", rates=2.0)
    start = {x: 0.8, z: 0.3, theta: 0.1, x.diff(): 0.2, z.diff(): 0.9, theta.diff(): 0.0}
    motion = vn.simulate(equations, start, TIMES)
    assert motion[theta][0] == 0.1
    assert_decays(motion, equations.degrees, 2.0, off=0.1)


@pytest.mark.parametrize("guess", [0.0, 0.02])
def test_servo_constraints_need_no_added_states_on_the_exact_motion(guess):
    """The default form finds the same motion: the pitch is a condition hidden in the path."""
    motion = vn.simulate(vn.derive(flown(0.0)), {}, TIMES, guess={theta: guess})
    ax, az = PATH[0].diff(t, 2), PATH[1].diff(t, 2) + GRAVITY
    np.testing.assert_allclose(motion[theta], along(-sp.atan(ax / az)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[u2], along(-INERTIA * sp.atan(ax / az).diff(t, 2)), rtol=0, atol=1e-10)


def test_kinematic_car():
    """Rear axle on a path: tan φ = L κ, ω = φ̇, two integrators before the speed."""
    length = 0.7
    car = vn.AffineSystem(
        [x, y, theta, phi],
        [0, 0, 0, 0],
        [v, steering],
        [[sp.cos(theta), 0], [sp.sin(theta), 0], [sp.tan(phi) / length, 0], [0, 1]],
        {"along x": x - PATH[0], "along y": y - PATH[1]},
        name="car",
    )
    equations = vn.derive(car, form="program", rates=2.0)
    assert equations.degrees == {"along x": 3, "along y": 3}
    assert [vn.names.name_of(s) for s in equations.added_states] == ["v", "dot(v)"]
    motion = vn.simulate(equations, {}, TIMES, guess={theta: 1.0, v: 1.0})
    dx, dy = PATH[0].diff(t), PATH[1].diff(t)
    speed = sp.sqrt(dx**2 + dy**2)
    angle = sp.atan(length * (dx * dy.diff(t) - dy * dx.diff(t)) / speed**3)
    np.testing.assert_allclose(motion[phi], along(angle), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[steering], along(angle.diff(t)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[v], along(speed), rtol=0, atol=1e-10)


def test_cart_with_two_links_and_a_late_force():
    """The force follows its command late, F' = (u - F)/τ, so both angles feel only the torque between the links.

    By hand: the rows of the angles give ẍ and the torque for given angles, the row of the cart gives F.
    """
    q1, q2, a1, a2, speed, force = dynamicsymbols("q1 q2 a1 a2 s F")
    torque, command = sp.symbols("M u")
    lag, l1, l2, m1, m2, cart = 0.3, 0.5, 0.4, 0.6, 0.5, 1.2
    M = sp.Matrix([
        [cart + m1 + m2, (m1 + m2) * l1 * sp.cos(q1), m2 * l2 * sp.cos(q2)],
        [(m1 + m2) * l1 * sp.cos(q1), (m1 + m2) * l1**2, m2 * l1 * l2 * sp.cos(q1 - q2)],
        [m2 * l2 * sp.cos(q2), m2 * l1 * l2 * sp.cos(q1 - q2), m2 * l2**2],
    ])  # fmt: skip
    rest = sp.Matrix(
        [
            (m1 + m2) * l1 * sp.sin(q1) * a1**2 + m2 * l2 * sp.sin(q2) * a2**2,
            -m2 * l1 * l2 * sp.sin(q1 - q2) * a2**2 - (m1 + m2) * GRAVITY * l1 * sp.sin(q1),
            m2 * l1 * l2 * sp.sin(q1 - q2) * a1**2 - m2 * GRAVITY * l2 * sp.sin(q2),
        ]
    )
    free, pushed = M.LUsolve(rest + sp.Matrix([force, 0, 0])), M.LUsolve(sp.Matrix([0, -1, 1]))
    targets = (sp.sin(t) / 4, sp.cos(t) / 3 + sp.sin(2 * t) / 10)
    system = vn.AffineSystem(
        [x, q1, q2, speed, a1, a2, force],
        [speed, a1, a2, *free, -force / lag],
        [torque, command],
        [[0, 0]] * 3 + [[pushed[i], 0] for i in range(3)] + [[0, 1 / lag]],
        {"first": q1 - targets[0], "second": q2 - targets[1]},
        name="cart with two links",
    )
    equations = vn.derive(system, form="program", rates=2.0)
    assert equations.degrees == {"first": 3, "second": 3}
    assert [vn.names.name_of(s) for s in equations.added_states] == ["M"]
    motion = vn.simulate(equations, {x: 0.0, speed: 0.0}, TIMES)
    angles = {q1: targets[0], q2: targets[1], a1: targets[0].diff(t), a2: targets[1].diff(t)}
    bend = sp.Matrix([targets[0].diff(t, 2), targets[1].diff(t, 2)])
    rows = (M[1:, 1:] * bend - rest[1:, :]).row_join(M[1:, :1]).subs(angles)  # M_x ẍ + rows = (-1, 1) torque
    push = -(rows[0, 0] + rows[1, 0]) / (rows[0, 1] + rows[1, 1])
    moment = rows[1, 0] + rows[1, 1] * push
    drive = (M[:1, :] * sp.Matrix([push, *bend]) - rest[:1, :])[0].subs(angles)
    np.testing.assert_allclose(motion[torque], along(moment), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[force], along(drive), rtol=0, atol=1e-10)
    np.testing.assert_allclose(motion[command], along(drive + lag * drive.diff(t)), rtol=0, atol=1e-10)


def test_quadrotor():
    """Thrust T along the third body axis: T R e₃ = r̈ + g e₃. Two integrators before it, {4, 4, 4, 2} for r and yaw."""
    roll, pitch, yaw, p, q, r, vx, vy, vz = dynamicsymbols("roll pitch yaw p q r vx vy vz")
    thrust, a, b, c = sp.symbols("T a b c")
    axis = (sp.rot_axis3(-yaw) * sp.rot_axis2(-pitch) * sp.rot_axis1(-roll))[:, 2]
    turning = q * sp.sin(roll) + r * sp.cos(roll)
    angles = [p + turning * sp.tan(pitch), q * sp.cos(roll) - r * sp.sin(roll), turning / sp.cos(pitch)]
    B = sp.zeros(12, 4)
    B[6:9, 0], B[9:, 1:] = axis, sp.eye(3)
    path = (sp.cos(t) / 2, sp.sin(t) / 2, sp.sin(2 * t) / 5)
    flying = vn.AffineSystem(
        [x, y, z, roll, pitch, yaw, vx, vy, vz, p, q, r],
        [vx, vy, vz, *angles, 0, 0, -GRAVITY, -0.2 * q * r, 0.3 * p * r, -0.1 * p * q],
        [thrust, a, b, c],
        B,
        {"x": x - path[0], "y": y - path[1], "z": z - path[2], "yaw": yaw - t / 5},
        name="quadrotor",
    )
    equations = vn.derive(flying, form="program", rates=2.0)
    assert equations.degrees == {"x": 4, "y": 4, "z": 4, "yaw": 2}
    assert [vn.names.name_of(s) for s in equations.added_states] == ["T", "dot(T)"]
    motion = vn.simulate(equations, {}, TIMES)
    force = [along(part.diff(t, 2)) for part in path] + np.array([[0.0], [0.0], [GRAVITY]])
    np.testing.assert_allclose(motion[thrust], np.linalg.norm(force, axis=0), rtol=0, atol=1e-10)
    for part, wanted in zip(axis, force, strict=True):
        np.testing.assert_allclose(motion[thrust * part], wanted, rtol=0, atol=1e-10)


def test_redundant_coordinates_and_two_roads():
    """An aircraft with (cos θ, sin θ) as coordinates on a circle: extension, and hidden conditions, and the formula."""
    a, b = dynamicsymbols("a b")
    path = [vn.Servo(x - PATH[0], through=[u1], name="x"), vn.Servo(z - PATH[1], through=[u2], name="z")]
    kinetic = MASS * (x.diff() ** 2 + z.diff() ** 2) / 2 + INERTIA * (a.diff() ** 2 + b.diff() ** 2) / 2
    system = vn.System(
        [x, z, a, b],
        kinetic,
        MASS * GRAVITY * z,
        forces={x: -u1 * b, z: u1 * a, a: -u2 * b, b: u2 * a},
        inputs=[u1, u2],
        constraints=[vn.Holonomic(a**2 + b**2 - 1, name="circle"), *path],
    )
    extended = vn.derive(system, form="program", rates=2.0)
    assert extended.degrees == {"circle": 2, "x": 4, "z": 4}
    ax, az = PATH[0].diff(t, 2), PATH[1].diff(t, 2) + GRAVITY
    for equations in (extended, vn.derive(system)):
        motion = vn.simulate(equations, {}, TIMES, guess={a: 1.0})
        np.testing.assert_allclose(motion[b / a], along(-ax / az), rtol=0, atol=1e-10)
        np.testing.assert_allclose(motion[u2], along(-INERTIA * sp.atan(ax / az).diff(t, 2)), rtol=0, atol=1e-10)


# -- random flat systems ---------------------------------------------------------------------------------------------


def chained(length: int, seed: int) -> tuple[vn.AffineSystem, list[sp.Expr], list[sp.Expr]]:
    """ẏ1 = s, ẏ2 = z1 s, ż1 = z2 s, ..., ż_L = w, with (s, w) = G(state) u mixed and the states sheared.

    Returns the system and its states and inputs as functions of time on the path, by flatness: z1 = ẏ2/ẏ1, ...
    """
    random = np.random.default_rng(seed)
    c = [sp.Rational(int(n), 20) for n in random.integers(4, 12, 8)]
    p = list(dynamicsymbols(f"p1:{length + 3}"))  # the states of the user
    xi = [p[0] + c[0] * sp.sin(p[1]), p[1] + c[1] * p[2] ** 2, *p[2:]]  # y1, y2, z1, ..., z_L
    G = sp.Matrix([[1 + c[2] * sp.sin(p[2]) ** 2, c[3]], [-c[4] * sp.cos(p[1]), 1 + c[5] * p[0] ** 2]])
    s, turning = G[0, :], G[1, :]
    B = sp.Matrix.vstack(s, *(xi[j + 1] * s for j in range(1, length + 1)), turning)
    back = sp.Matrix(xi).jacobian(p).inv()
    path = (2 * t + c[6] * sp.sin(t), sp.sin(t) + c[7] * sp.cos(2 * t))
    system = vn.AffineSystem(
        p, [0] * len(p), [u1, u2], back * B, {"a": xi[0] - path[0], "b": xi[1] - path[1]}, name=f"chain {length}"
    )
    speed = path[0].diff(t)
    chain = [path[1].diff(t) / speed]
    for _ in range(length - 1):
        chain.append(sp.diff(chain[-1], t) / speed)
    states = chain[::-1]
    second = path[1] - c[1] * chain[0] ** 2
    states = [path[0] - c[0] * sp.sin(second), second, *chain]
    values = dict(zip(p, states, strict=True))
    inputs = G.subs(values, simultaneous=True).LUsolve(sp.Matrix([speed, chain[-1].diff(t)]))
    return system, states, list(inputs)


@pytest.mark.parametrize(("length", "seed"), [(1, 1), (1, 2), (2, 3), (3, 4)])
def test_random_flat_systems(length, seed):
    """Inputs enter mixed, so what is delayed is a combination of them; tracking agrees with flatness."""
    system, states, inputs = chained(length, seed)
    equations = vn.derive(system, form="program", rates=1.5)
    assert equations.degrees == {"a": length + 1, "b": length + 1}
    assert len(equations.added_states) == length
    assert "v_u" in str(equations.added_states[0])
    times = np.linspace(0, 1, 5)
    start = dict(zip(system.states, (float(along(s, times[:1])[0]) for s in states), strict=True))
    motion = vn.simulate(equations, start, times)
    for u, exact in zip(system.inputs, inputs, strict=True):
        np.testing.assert_allclose(motion[u], along(exact, times), rtol=1e-9, atol=1e-10)
    off = {key: value + 0.05 for key, value in start.items()}
    assert_decays(vn.simulate(equations, off, times), equations.degrees, 1.5, off=0.01)


def test_only_the_inputs_that_act_alike_are_delayed():
    """A unicycle that carries a lift: the lift keeps its own input."""
    height, lift = dynamicsymbols("h"), sp.Symbol("l")
    base = unicycle()
    B = sp.Matrix(3, 2, [sp.cos(theta), 0, sp.sin(theta), 0, 0, 1]).row_join(sp.zeros(3, 1))
    system = vn.AffineSystem(
        [*base.states, height],
        [0, 0, 0, x],
        [v, w, lift],
        B.col_join(sp.Matrix([[0, 0, 1]])),
        {**dict(base.constraints), "lift": height - sp.sin(t)},
    )
    equations = vn.derive(system, form="program")
    assert equations.degrees == {"along x": 2, "along y": 2, "lift": 1}
    assert list(map(vn.names.name_of, equations.system.inputs)) == ["dot(v)", "w", "l"]


# -- meaning, not spelling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_of_inputs_do_not_matter(scale):
    B = [[scale * sp.cos(theta), 0], [scale * sp.sin(theta), 0], [0, 1 / scale]]
    equations = vn.derive(unicycle(input_matrix=B), form="program")
    assert equations.degrees == {"along x": 2, "along y": 2}
    assert list(map(str, equations.added_states)) == ["v(t)"]


def test_a_coupling_of_any_size_is_a_coupling():
    """With a lever of 1e-10 the aircraft has the degrees {2, 2}; only without one is the thrust delayed."""
    path = [vn.Servo(x - PATH[0], through=[u1], name="x"), vn.Servo(z - PATH[1], through=[u2], name="z")]
    assert vn.derive(pvtol(1e-10, path), form="program").degrees == {"x": 2, "z": 2}
    assert vn.derive(pvtol(0.0, path), form="program").degrees == {"x": 4, "z": 4}


def test_inputs_may_be_functions_of_time():
    speed, rate = dynamicsymbols("v w")
    equations = vn.derive(unicycle(inputs=[speed, rate]), form="program", rates=2.0)
    assert equations.added_states == (speed,)
    motion = vn.simulate(equations, {"v": 0.9, x: 0.8, y: -0.2, theta: 1.2}, TIMES)
    assert motion[speed][0] == 0.9
    assert_decays(motion, equations.degrees, 2.0, off=0.1)


def test_more_inputs_than_constraints():
    """Two drives push along one axle: both combinations that matter are found, and the free part stays free."""
    left, right = sp.symbols("left right")
    B = [[sp.cos(theta), sp.cos(theta), 0], [sp.sin(theta), sp.sin(theta), 0], [0, 0, 1]]
    equations = vn.derive(unicycle(inputs=[left, right, w], input_matrix=B), form="program", rates=2.0)
    assert len(equations.added_states) == 1
    motion = vn.simulate(equations, {}, TIMES, guess={theta: 1.0, "v_left": 1.0})
    dx, dy = PATH[0].diff(t), PATH[1].diff(t)
    np.testing.assert_allclose(motion[left] + motion[right], along(sp.sqrt(dx**2 + dy**2)), rtol=0, atol=1e-10)


def test_an_input_that_became_a_state_has_no_weight():
    extra = sp.Symbol("extra")
    B = [[sp.cos(theta), 0, 0], [sp.sin(theta), 0, 0], [0, 1, 1]]
    system = unicycle(inputs=[v, w, extra], input_matrix=B)
    equations = vn.derive(system, form="program", free={extra: sp.Float(0.3)}, weights={w: 9.0})
    start = {x: 1.0, y: 0.0, theta: 1.0, dynamicsymbols("v"): 1.0}
    found = equations.recover(start)
    assert found[extra] - 0.3 == pytest.approx(9 * found[w])  # the shortest of w² 9 + (extra - 0.3)²
    with pytest.raises(vn.ModelError, match=r"A dynamic extension made it a state; the inputs are dot\(v\), w, extra"):
        vn.derive(system, form="program", weights={v: 2.0})


def test_a_run_with_added_states_is_stored_and_read(tmp_path):
    motion = vn.simulate(vn.derive(unicycle(), form="program"), {}, TIMES, guess={theta: 1.0, v: 1.0})
    motion.save(tmp_path / "run.nc")
    again = vn.read_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again["v"], motion[v])
    np.testing.assert_array_equal(again.inputs["v_dot"], motion.inputs["v_dot"])


# -- refused, with the reason ----------------------------------------------------------------------------------------


def test_constraints_that_obey_their_own_equation_are_refused():
    """ẏ2 = y1 y2 whatever the inputs: integrators could be added for ever."""
    system = vn.AffineSystem(
        [x, y, z],
        [0, x * y, 0],
        [u1, u2],
        [[1, 0], [0, 0], [0, 1]],
        {"first": x - sp.sin(t), "second": y - sp.exp(-sp.cos(t))},
    )
    with pytest.raises(vn.errors.ConstraintError, match=r"`first`, `second` .*not independent .*Remove one of"):
        vn.derive(system, form="program")


def test_two_constraints_on_one_output_are_refused():
    system = unicycle(constraints={"a": x - sp.cos(t), "b": x**3 - sp.cos(t) ** 3})
    with pytest.raises(vn.errors.ConstraintError, match=r"act alike on `a`, `b`. Integrators .* do not help"):
        vn.derive(system, form="program")


def test_a_path_at_rest_is_refused():
    """A unicycle cannot turn out of a point at rest: v = 0, and the turning rate has no effect."""
    with pytest.raises(vn.errors.ConstraintError, match=r"choose a path on which the inputs keep their effect"):
        vn.derive(unicycle((sp.Integer(1), sp.Integer(2))), form="program")


def test_a_trailer_all_around_an_ellipse():
    """The axle of a trailer moves along its heading, which points along both axes on the way."""
    length, front = 0.8, dynamicsymbols("front")
    place = (x - length * sp.cos(theta), y - length * sp.sin(theta))
    truck = vn.AffineSystem(
        [x, y, front, theta], [0, 0, 0, 0], [v, w],
        [[sp.cos(front), 0], [sp.sin(front), 0], [0, 1], [sp.sin(front - theta) / length, 0]],
        {"along x": place[0] - 2 * sp.cos(t), "along y": place[1] - 3 * sp.sin(t)},
    )  # fmt: skip
    equations = vn.derive(truck, form="program", rates=2.0)
    assert {len(chain.y) for chain in equations.chains_found} == {3}
    start = vn.consistent_state(equations, {}, guess={x: 2.0, y: 0.8, front: 1.4, theta: 1.57, v: 3.0})
    motion = vn.simulate(equations, start, np.linspace(0, 7, 29))
    assert motion.outcome
    heading = np.arctan2(3 * np.cos(motion.t), -2 * np.sin(motion.t))
    assert np.abs(np.exp(1j * motion[theta]) - np.exp(1j * heading)).max() < 1e-9
