"""FMUs of FMI 2.0 and 3.0: FMPy finds nothing wrong with them, and simulates them to the digits of `simulate`."""

from __future__ import annotations

import shutil
import zipfile

import fmpy
import numpy as np
import pytest
import sympy as sp
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.validation import validate_fmu
from sympy.physics.mechanics import dynamicsymbols

import vinculum as vn
from compilers import accepted, find
from examples import ball_and_beam, puma560, wheel_in_gutter
from vinculum.export.fmu import compiler

VERSIONS = ["2.0", "3.0"]
STEP = 1e-3


def pendulum():
    x, y = dynamicsymbols("x y")
    m, g, l = sp.symbols("m g l")
    system = vn.System(
        coordinates=[x, y],
        kinetic_energy=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential_energy=m * g * y,
        constraints=[vn.Holonomic((x**2 + y**2 - l**2) / 2, name="rod")],
        parameters={m: 1.3, g: 9.81, l: 1.0},
        name="pendulum",
    )
    return vn.derive(system), x, y


def loop():
    """Ball and beam with its voltage law and an observer."""
    equations, rest, linear, law = ball_and_beam.stabilized(0)
    estimator = vn.observe(linear, [ball_and_beam.r, ball_and_beam.theta])
    closed = vn.close_loop(equations, law, estimator)
    start = {key: float(rest[key]) for key in closed.system.coordinates if key in rest}
    start[ball_and_beam.r] += 0.02
    guess = {ball_and_beam.alpha: start.pop(ball_and_beam.alpha)}
    return closed, start, guess, ball_and_beam.r, 1.0


def wheel():
    own = wheel_in_gutter
    return vn.derive(own.system()), own.KNOWN, own.GUESS, own.x, 0.5


def robot():
    return vn.derive(puma560.system()), puma560.NOMINAL, {}, puma560.q[2], 0.5


@pytest.fixture(scope="module", params=[loop, wheel, robot], ids=["ball_and_beam", "wheel", "puma"])
def case(request, tmp_path_factory):
    find("gcc")
    equations, start, guess, shown, stop = request.param()
    folder = tmp_path_factory.mktemp("fmus")
    files = {v: vn.export_fmu(equations, folder / f"fmu{v[0]}", version=v, step=STEP, initial=start, guess=guess)
             for v in VERSIONS}  # fmt: skip
    motion = vn.simulate(equations, start, np.linspace(0, stop, 6), "rk4", step=STEP, guess=guess)
    return files, motion, shown, stop


@pytest.mark.parametrize("version", VERSIONS)
def test_the_validation_finds_nothing(case, version):
    assert validate_fmu(str(case[0][version])) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_co_simulation_is_simulate(case, version):
    files, motion, shown, stop = case
    found = fmpy.simulate_fmu(
        str(files[version]), stop_time=stop, output_interval=stop / 5, fmi_type="CoSimulation", step_size=stop / 5
    )
    name = str(shown.func)
    assert found["time"] == pytest.approx(motion.t)
    assert found[name] == pytest.approx(motion[shown], rel=1e-11, abs=1e-11)
    assert found[f"{name}_dot"] == pytest.approx(motion[shown.diff()], rel=1e-10, abs=1e-10)
    for constraint, values in motion.reactions.items():
        assert found[f"reaction({constraint})"] == pytest.approx(values, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("version", VERSIONS)
def test_model_exchange_is_the_same_motion(case, version):
    files, motion, shown, stop = case
    found = fmpy.simulate_fmu(
        str(files[version]), stop_time=stop, output_interval=stop / 5, fmi_type="ModelExchange", relative_tolerance=1e-9
    )
    assert found[str(shown.func)][-1] == pytest.approx(motion[shown][-1], abs=2e-6)


# -- a small one, from inside ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=VERSIONS)
def rod(request, tmp_path_factory):
    find("gcc")
    equations, x, y = pendulum()
    m, g, l = equations.parameters
    units = {m: "kg", g: "m/s^2", l: "m", x: "m", y: "m"}
    event = vn.Event(x, name="bottom", direction="falling", terminal=True)
    path = vn.export_fmu(
        equations,
        tmp_path_factory.mktemp("rod") / "rod.fmu",
        version=request.param,
        initial={x: 0.6},
        guess={y: -0.8},
        units=units,
        meanings={x: "to the right"},
        events=[event],
        step=1e-3,
    )
    return path, request.param


def test_units_and_meanings_are_described(rod):
    described = fmpy.read_model_description(str(rod[0]))
    found = {v.name: v for v in described.modelVariables}
    assert (found["g"].unit, found["x_dot"].unit, found["x_ddot"].unit) == ("m/s^2", "m/s", "m/s^2")
    assert found["x"].description == "to the right"
    assert found["x"].initial == "exact"
    assert found["y"].initial == "approx"
    unit = next(unit for unit in described.unitDefinitions if unit.name == "m/s^2")
    assert (unit.baseUnit.m, unit.baseUnit.s) == (1, -2)


def test_start_values_are_made_consistent_inside(rod):
    values = {"x": 0.28, "y": -0.5, "l": 1.0, "x_dot": 0.1}  # y is a first guess, and so is the velocity
    found = fmpy.simulate_fmu(str(rod[0]), stop_time=1e-9, start_values=values, fmi_type="CoSimulation")
    assert found["y"][0] == pytest.approx(-0.96, abs=1e-12)
    assert found["x"][0] == 0.28
    assert found["x_dot"][0] * 0.28 - found["y_dot"][0] * 0.96 == pytest.approx(0, abs=1e-15)


def test_a_terminal_event_ends_the_simulation(rod):
    equations, x, y = pendulum()
    event = vn.Event(x, name="bottom", direction="falling", terminal=True)
    motion = vn.simulate(equations, {x: 0.6}, (0, 5), guess={y: -0.8}, events=[event])
    found = fmpy.simulate_fmu(str(rod[0]), stop_time=5, fmi_type="ModelExchange", relative_tolerance=1e-10)
    assert found["time"][-1] == pytest.approx(motion.outcome.time, abs=1e-6)
    unzipped = fmpy.extract(str(rod[0]))
    try:
        model = instantiated(unzipped, rod[1], "CoSimulation")
        initialized(model)
        assert ended_at(model, rod[1], 5.0) == pytest.approx(motion.outcome.time, abs=1e-9)
        model.terminate()
        model.freeInstance()
    finally:
        shutil.rmtree(unzipped)


def instantiated(folder, version, kind):
    described = fmpy.read_model_description(folder)
    own = described.coSimulation if kind == "CoSimulation" else described.modelExchange
    make = {"2.0": (FMU2Slave, FMU2Model), "3.0": (FMU3Slave, FMU3Model)}[version][kind == "ModelExchange"]
    model = make(guid=described.guid, unzipDirectory=folder, modelIdentifier=own.modelIdentifier, instanceName="one")
    model.instantiate()
    return model


def initialized(model):
    if hasattr(model, "setupExperiment"):
        model.setupExperiment(startTime=0.0)
    model.enterInitializationMode()
    model.exitInitializationMode()


def ended_at(model, version, until):
    if version == "3.0":
        _, terminated, _, reached = model.doStep(0.0, until)
        assert terminated
        return reached
    with pytest.raises(fmpy.fmi1.FMICallException):  # discard: the step was not completed
        model.doStep(0.0, until)
    assert model.getBooleanStatus(3)
    return model.getRealStatus(2)


def test_directional_derivatives_are_slopes(rod):
    unzipped = fmpy.extract(str(rod[0]))
    try:
        described = fmpy.read_model_description(unzipped)
        at = {v.name: v.valueReference for v in described.modelVariables}
        model = instantiated(unzipped, rod[1], "ModelExchange")
        initialized(model)
        states = [at[name] for name in ("x", "y", "x_dot", "y_dot")]
        rates = [at[f"der({name})"] for name in ("x", "y", "x_dot", "y_dot")] + [at["reaction(rod)"]]
        get = model.getReal if rod[1] == "2.0" else model.getFloat64

        def put(values):
            array = (np.ctypeslib.ctypes.c_double * 4)(*values)
            model.setContinuousStates(array, 4)
            return np.array(get(rates))

        x0, seed, h = np.array([0.6, -0.8, 0.4, 0.3]), np.array([0.3, -0.2, 0.5, 0.7]), 1e-6
        slopes = (put(x0 + h * seed) - put(x0 - h * seed)) / (2 * h)
        put(x0)
        found = model.getDirectionalDerivative(rates, states, list(seed))
        assert np.array(found) == pytest.approx(slopes, rel=1e-7, abs=1e-7)
        model.terminate()
        model.freeInstance()
    finally:
        shutil.rmtree(unzipped)


def test_a_saved_state_comes_back(rod):
    unzipped = fmpy.extract(str(rod[0]))
    try:
        described = fmpy.read_model_description(unzipped)
        at = {v.name: v.valueReference for v in described.modelVariables}
        model = instantiated(unzipped, rod[1], "CoSimulation")
        initialized(model)
        get = model.getReal if rod[1] == "2.0" else model.getFloat64
        save, restore = (
            (model.getFMUstate, model.setFMUstate) if rod[1] == "2.0" else (model.getFMUState, model.setFMUState)
        )
        model.doStep(0.0, 0.1)
        saved = save()
        model.doStep(0.1, 0.1)
        once = get([at["x"], at["y_dot"]])
        restore(saved)
        model.doStep(0.1, 0.1)
        assert list(get([at["x"], at["y_dot"]])) == list(once)
        model.terminate()
        model.freeInstance()
    finally:
        shutil.rmtree(unzipped)


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_the_sources_compile_without_a_warning(rod, name, tmp_path):
    with zipfile.ZipFile(rod[0]) as archive:
        archive.extractall(tmp_path, [file for file in archive.namelist() if file.startswith("sources/")])
    accepted(sorted((tmp_path / "sources").glob("*.c")), name)


@pytest.mark.parametrize("stabilization", ["projection", "sampled", vn.Baumgarte(rate=20.0)])
def test_constraints_are_held_as_asked(stabilization, tmp_path):
    """In co-simulation by the steps themselves, in model exchange far better than without a stabilization."""
    find("gcc")
    equations, x, y = pendulum()
    start = {"initial": {x: 0.6}, "guess": {y: -0.8}}
    residual = "residual of rod, position"

    def largest(asked, kind):
        path = vn.export_fmu(equations, tmp_path / "rod", stabilization=asked, overwrite=True, **start)
        found = fmpy.simulate_fmu(
            str(path), stop_time=60, fmi_type=kind, output=[residual], relative_tolerance=1e-6, output_interval=0.5
        )
        return np.abs(found[residual]).max()

    assert largest(stabilization, "CoSimulation") < 1e-9
    assert largest(stabilization, "ModelExchange") < 0.02 * largest("none", "ModelExchange")


def test_inputs_drive_the_motion(tmp_path):
    find("gcc")
    x = dynamicsymbols("x")
    k, u = sp.symbols("k u")
    system = vn.System([x], x.diff() ** 2 / 2, k * x**2 / 2, forces={x: u}, inputs=[u], parameters={k: 4.0}, name="s")
    path = vn.export_fmu(system, tmp_path / "spring", version="3.0", step=1e-3)
    signal = np.array([(0.0, 1.0), (2.0, 1.0)], dtype=[("time", float), ("u", float)])
    found = fmpy.simulate_fmu(str(path), stop_time=2, input=signal, start_values={"k": 9.0, "x": 0.0, "x_dot": 0.0},
                              fmi_type="CoSimulation", output=["x", "energy"])  # fmt: skip
    assert found["x"][-1] == pytest.approx((1 - np.cos(6)) / 9, abs=1e-11)


@pytest.mark.parametrize("version", VERSIONS)
def test_parameters_start_and_friction_of_a_system_with_strange_names(version, tmp_path):
    """L and the angle changed in the FMU: the other coordinates follow from guesses that are far off."""
    find("gcc")
    x, y, angle = dynamicsymbols("x y θ")
    m, L, g, k, u = sp.symbols("m L g λ double")
    system = vn.System(
        [x, y, angle],
        m * (x.diff() ** 2 + y.diff() ** 2) / 2 + angle.diff() ** 2 / 2,
        m * g * y + k * angle**2 / 2,
        forces={angle: u - 0.1 * sp.sign(angle.diff())},
        inputs=[u],
        constraints=[vn.Holonomic(x - L * sp.sin(angle), name='x <of> "rod"'),
                     vn.Holonomic(y + L * sp.cos(angle), name="y & rod")],
        parameters={m: 1.2, L: 0.8, g: 9.81, k: 0.5},
        name='a <"&> name',
    )  # fmt: skip
    equations, guess = vn.derive(system), {x: 0.5, y: -0.6}
    path = vn.export_fmu(equations, tmp_path / "own", version=version, initial={angle: 0.7}, guess=guess, step=STEP)
    assert validate_fmu(str(path)) == []
    signal = np.array([(0.0, 0.3), (1.0, 0.3)], dtype=[("time", float), ("double", float)])
    start = {"L": 1.1, "θ": 0.9, "x": 3.0, "y": 1.0}
    found = fmpy.simulate_fmu(str(path), stop_time=0.3, output_interval=0.1, step_size=0.1, fmi_type="CoSimulation",
                              start_values=start, input=signal, output=["θ", "x", "y"])  # fmt: skip
    motion = vn.simulate(equations, {angle: 0.9}, np.linspace(0, 0.3, 4), "rk4", step=STEP, guess=guess,
                         parameters={L: 1.1}, inputs={u: 0.3})  # fmt: skip
    for name, key in (("θ", angle), ("x", x), ("y", y)):
        assert found[name] == pytest.approx(motion[key], abs=1e-12)
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(str(path), stop_time=0.1, fmi_type="CoSimulation", start_values={"L": np.nan})


def test_the_same_model_gives_the_same_file(tmp_path):
    equations, x, y = pendulum()
    options = {"initial": {x: 0.6}, "guess": {y: -0.8}, "binary": False}
    one, two = (vn.export_fmu(equations, tmp_path / name / "rod", **options) for name in _folders(tmp_path))
    assert one.read_bytes() == two.read_bytes()


def _folders(path):
    for name in ("a", "b"):
        (path / name).mkdir()
        yield name


def test_zig_compiles_for_other_systems(monkeypatch):
    monkeypatch.setattr(compiler, "find_spec", lambda name: object())
    assert compiler.command("x86_64-windows")[1:] == ["-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]


def test_a_missing_compiler_says_what_to_install(monkeypatch, tmp_path):
    equations, *_ = pendulum()
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    with pytest.raises(vn.VinculumError, match="pip install ziglang; or pass binary=False"):
        vn.export_fmu(equations, tmp_path / "rod")
    assert not list(tmp_path.iterdir())


def test_unusable_requests_are_refused(tmp_path):
    equations, *_ = pendulum()
    with pytest.raises(vn.VinculumError, match=r"Use 2\.0 or 3\.0"):
        vn.export_fmu(equations, tmp_path / "a", version="1.0")
    with pytest.raises(vn.VinculumError, match="positive number of seconds"):
        vn.export_fmu(equations, tmp_path / "a", step=0)
    with pytest.raises(vn.VinculumError, match="x86_64-windows"):
        vn.export_fmu(equations, tmp_path / "a", platforms=["amiga"])
    assert not list(tmp_path.iterdir())
