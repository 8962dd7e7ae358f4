"""An invalid description is refused at the door, all findings at once, in the user's names."""

from __future__ import annotations

import dataclasses
import math

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from vinculum import Holonomic, Nonholonomic, System
from vinculum.errors import ModelError, VinculumError

t = dynamicsymbols._t
theta, phi, psi = dynamicsymbols("theta phi psi")
omega = theta.diff(t)
m, l, g, u = sp.symbols("m l g u")
VALUES = {m: 1.0, l: 0.5, g: 9.81}
ROD = Holonomic(theta - phi, name="rod")


def pendulum(**changes) -> System:
    """A double pendulum with a drive, right as it stands."""
    right = {
        "coordinates": [theta, phi],
        "kinetic_energy": m * l**2 * (omega**2 + phi.diff(t) ** 2) / 2,
        "potential_energy": -m * g * l * sp.cos(theta),
        "forces": {theta: u},
        "parameters": VALUES,
        "inputs": [u],
        "name": "pendulum",
    }
    return System(**(right | changes))


T = pendulum().kinetic_energy

REFUSALS = {
    "symbol without value": (dict(potential_energy=sp.Symbol("kappa") * theta), ["kappa", "parameters={kappa"]),
    "misspelled parameter": (dict(parameters={m: 1, l: 1, sp.Symbol("gg"): 1}), ["g ", "Did you mean gg"]),
    "parameter without value": (dict(parameters=VALUES | {m: None}), ["m", "no value"]),
    "symbol for a value": (dict(parameters=VALUES | {m: sp.Symbol("M")}), ["m", "M"]),
    "number not a number": (dict(parameters=VALUES | {l: math.nan}), ["l", "nan"]),
    "infinite number": (dict(parameters=VALUES | {g: -math.inf}), ["g", "inf"]),
    "complex number": (dict(parameters=VALUES | {g: 1j}), ["g", "1j"]),
    "parameter no symbol": (dict(parameters=VALUES | {psi: 1.0}), ["psi"]),
    "no coordinates": (dict(coordinates=[]), ["no coordinates"]),
    "coordinate no function": (dict(coordinates=[theta, phi, m]), ["m", "dynamicsymbols"]),
    "two times": (dict(coordinates=[theta, phi, sp.Function("x")(sp.Symbol("s"))]), ["different times", "s"]),
    "idle coordinate": (dict(coordinates=[theta, phi, psi]), ["psi", "no energy"]),
    "undeclared coordinate": (dict(coordinates=[theta]), ["dot(phi)", "not a coordinate"]),
    "undeclared function": (dict(potential_energy=psi), ["psi", "coordinates or inputs"]),
    "name given twice": (dict(coordinates=[theta, phi, theta]), ["theta", "2 times"]),
    "name of two things": (dict(inputs=[u, sp.Symbol("theta")]), ["theta", "2 times"]),
    "same name, other symbol": (dict(potential_energy=sp.Symbol("m", positive=True) * theta), ["m", "assumptions"]),
    "acceleration in T": (dict(kinetic_energy=T + theta.diff(t, 2) ** 2), ["kinetic", "ddot(theta)"]),
    "acceleration in V": (dict(potential_energy=theta.diff(t, 2)), ["potential", "ddot(theta)"]),
    "acceleration in D": (dict(dissipation=theta.diff(t, 2)), ["dissipation", "ddot(theta)"]),
    "velocity in V": (dict(potential_energy=m * omega), ["potential", "dot(theta)"]),
    "no inertia": (dict(kinetic_energy=sp.S.Zero), ["kinetic energy", "no velocity"]),
    "input in T": (dict(kinetic_energy=T + u * omega), ["u", "kinetic energy"]),
    "input in V": (dict(potential_energy=u * theta), ["u", "potential energy"]),
    "unused input": (dict(inputs=[u, sp.Symbol("w")]), ["w", "never used"]),
    "input no symbol": (dict(inputs=[u, omega]), ["theta", "not a symbol"]),
    "text for T": (dict(kinetic_energy="m*v**2/2"), ["kinetic energy", "'m*v**2/2'", "str"]),
    "text for a force": (dict(forces={theta: "u"}), ["force on theta", "str"]),
    "complex V": (dict(potential_energy=sp.I * theta), ["potential energy", "I "]),
    "infinite V": (dict(potential_energy=sp.oo), ["potential energy", "oo"]),
    "V not a number": (dict(potential_energy=math.nan), ["potential energy", "nan"]),
    "complex force": (dict(forces={theta: 2j * u}), ["force on theta", "cannot be used"]),
    "unknown function": (dict(potential_energy=sp.gamma(theta)), ["potential energy", "gamma"]),
    "division by zero": (dict(potential_energy=sp.zoo * theta), ["potential energy"]),
    "force on no coordinate": (dict(forces={theta: u, sp.Symbol("theta_1"): 1}), ["theta_1", "not a coordinate"]),
    "force on a velocity": (dict(forces={theta: u, omega: 1}), ["dot(theta)", "not a coordinate"]),
    "constraint no constraint": (dict(constraints=[theta - phi]), ["not a constraint", "Holonomic(", "theta"]),
    "constraint an equation": (dict(constraints=[Holonomic(sp.Eq(theta, 1), name="c")]), ["constraint c", "Equality"]),
    "constraint a text": (dict(constraints=[Holonomic("theta - 1", name="c")]), ["constraint c", "str"]),
    "constraint on nothing": (dict(constraints=[Holonomic(m - t, name="c")]), ["c", "no coordinate"]),
    "constraint zero": (dict(constraints=[Holonomic(sp.S.Zero, name="c")]), ["c", "no coordinate"]),
    "velocity in Holonomic": (dict(constraints=[Holonomic(omega, name="c")]), ["c", "dot(theta)", "Nonholonomic"]),
    "no velocity in Nonholonomic": (dict(constraints=[Nonholonomic(theta, name="c")]), ["c", "no velocity"]),
    "acceleration in constraint": (dict(constraints=[Nonholonomic(theta.diff(t, 2), name="c")]), ["c", "ddot(theta)"]),
    "input in constraint": (dict(constraints=[Holonomic(theta - u, name="c")]), ["u", "constraint c"]),
    "unknown in constraint": (dict(constraints=[Holonomic(theta - sp.Symbol("b"), name="c")]), ["b", "constraint c"]),
    "two constraints of one name": (dict(constraints=[ROD, Holonomic(phi, name="rod")]), ["rod", "2 constraints"]),
    "time as parameter": (dict(parameters=VALUES | {t: 1.0}), ["t ", "time"]),
    "time as input": (dict(inputs=[u, t], forces={theta: u * t}), ["t ", "time"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal_names_what_was_found(case):
    changes, words = REFUSALS[case]
    with pytest.raises(ModelError) as caught:
        pendulum(**changes)
    assert any(all(word in str(finding) for word in words) for finding in caught.value.findings), caught.value
    assert "'pendulum'" in str(caught.value)
    assert "Derivative(" not in str(caught.value)


def test_the_system_without_a_mistake_is_taken():
    assert pendulum().coordinates == (theta, phi)
    assert pendulum(constraints=[ROD], dissipation=omega**2).constraints == (ROD,)


def test_all_findings_come_at_once():
    with pytest.raises(ModelError) as caught:
        pendulum(
            coordinates=[theta, phi, psi],
            potential_energy=sp.Symbol("k") * omega,
            dissipation=sp.Symbol("c") * omega**2,
            inputs=[u, sp.Symbol("w")],
            constraints=[Holonomic(omega, name="speed"), Nonholonomic(theta, name="place")],
        )
    text = "\n".join(map(str, caught.value.findings))
    assert len(caught.value.findings) == 7
    for word in ("psi", "k in the", "c in the", "potential energy contains", "speed", "place", "input w"):
        assert word in text
        assert word in str(caught.value)


def test_wrong_declarations_come_at_once():
    with pytest.raises(ModelError) as caught:
        pendulum(
            coordinates=[theta, phi, phi],
            kinetic_energy="T",
            parameters=VALUES | {m: math.nan, l: "long"},
            forces={psi: 1},
            constraints=[ROD, Holonomic(phi, name="rod"), theta],
        )
    assert len(caught.value.findings) == 7


def test_a_mistake_in_the_declarations_does_not_hide_one_in_the_energies():
    with pytest.raises(ModelError) as caught:
        pendulum(parameters=VALUES | {m: math.nan}, potential_energy=sp.Symbol("k") * theta)
    text = "\n".join(map(str, caught.value.findings))
    assert "k in the potential energy" in text
    assert "nan" in text


def test_an_unknown_symbol_is_reported_once_with_its_places():
    k = sp.Symbol("k")
    with pytest.raises(ModelError) as caught:
        pendulum(potential_energy=k * theta, dissipation=k * omega**2)
    finding = str(*caught.value.findings)
    assert "potential energy" in finding
    assert "dissipation" in finding


def test_a_refusal_is_a_value_error():
    with pytest.raises(ValueError, match="psi"):
        pendulum(coordinates=[theta, phi, psi])
    assert issubclass(ModelError, VinculumError)


def test_constraints_without_name_get_one_of_their_own():
    """No two constraints share a name, whatever the user called the others."""
    stated = [Holonomic(theta - 1, name="constraint_2"), Holonomic(phi - 1)]
    names = [constraint.name for constraint in pendulum(constraints=stated).constraints]
    assert names[0] == "constraint_2"
    assert len(set(names)) == 2


def test_findings_about_nameless_constraints_go_by_place():
    with pytest.raises(ModelError) as caught:
        pendulum(constraints=[Holonomic(theta - 1, name="2"), Holonomic(omega)])
    assert len(caught.value.findings) == 1


@pytest.mark.parametrize(
    "changes",
    [dict(coordinates=theta), dict(constraints=ROD), dict(parameters=[m, l, g]), dict(forces=[u]), dict(inputs=u)],
    ids=lambda changes: next(iter(changes)),
)
def test_one_thing_where_several_belong_is_refused_with_the_argument_named(changes):
    with pytest.raises(ModelError, match=next(iter(changes))):
        pendulum(**changes)


FIELDS = [field.name for field in dataclasses.fields(System)]


@pytest.mark.parametrize("field", FIELDS)
def test_a_system_is_frozen(field):
    system = pendulum(constraints=[ROD])
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(system, field, None)


@pytest.mark.parametrize("field", ["parameters", "forces"])
def test_tables_of_a_system_cannot_be_changed(field):
    with pytest.raises(TypeError):
        getattr(pendulum(), field)[theta] = 1.0


def test_a_system_does_not_follow_the_lists_it_was_made_of():
    coordinates, values, forces = [theta, phi], dict(VALUES), {theta: u}
    system = pendulum(coordinates=coordinates, parameters=values, forces=forces)
    coordinates.append(psi)
    values[m] = -1.0
    forces[phi] = u
    assert system.coordinates == (theta, phi)
    assert system.parameters[m] == 1.0
    assert set(system.forces) == {theta}


@pytest.mark.parametrize("kind", [Holonomic, Nonholonomic])
def test_a_constraint_is_frozen(kind):
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind(omega, name="c").name = "d"


def test_a_system_introduces_itself():
    text = repr(pendulum(constraints=[ROD, Nonholonomic(omega - 1, name="drive")]))
    for row in ('"pendulum"', "theta, phi", "rod, drive", "0 (velocity), 1 (position)", "m = 1, l = 0.5, g = 9.81"):
        assert row in text
