"""``vinculum study``: the runs of a model file, kept on disk, and continued after a real Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import vinculum as vn
from faults.cluster import different_files
from files import swing
from vinculum.cli.app import app

SWING = (
    swing.SWING
    + """\
[study]
over = { theta = { from = 0.5, to = 1.5, count = 5 }, l = { uniform = ["90 cm", 1.1] } }
samples = 6
seed = 3
measure.top = { maximum = "theta^2" }
measure.zero = { first_time = "theta", direction = "falling" }
"""
)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.toml").write_text(SWING, encoding="utf-8")

    def run(line, code=0):
        result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    return run


def test_the_file_is_the_call(run, tmp_path):
    data = json.loads(run("study swing.toml --json -o runs.nc").stdout)
    assert (data["runs"], data["computed"], data["outcomes"]) == (30, 30, {"finished": 30})
    model = vn.load("swing.toml")
    theta, l = model.system.coordinates[0], next(p for p in model.system.parameters if p.name == "l")
    measures = {"top": vn.measure.maximum(theta**2), "zero": vn.measure.first_time(theta, "falling")}
    over = {theta: np.linspace(0.5, 1.5, 5), l: vn.vary.uniform(0.9, 1.1)}
    expected = vn.study(model.system, {}, (0, 3), over=over, samples=6, seed=3, measure=measures)
    with xr.open_dataset(tmp_path / "runs.nc") as found:
        for name in ("top", "zero", "outcome", "l"):
            np.testing.assert_array_equal(found[name], expected[name])
    assert data["values"]["zero"]["median"] == pytest.approx(float(np.median(expected.zero)))


def test_a_table_of_text(run, tmp_path):
    run("study swing.toml --samples 2 -o runs.csv")
    lines = (tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 11
    assert "initial_theta" in lines[0]
    assert "already exists" in run("study swing.toml -o runs.csv", code=2).stderr


def test_wrong_usage_is_told(run, tmp_path):
    assert "no scheduler at tcp://127.0.0.1:9" in run("study swing.toml --scheduler tcp://127.0.0.1:9", code=2).stderr
    assert "no scheduler at nowhere://here" in run("study swing.toml --scheduler nowhere://here", code=2).stderr
    (tmp_path / "swing.toml").write_text(SWING.split("[study]")[0], encoding="utf-8")
    assert "Add [study] with over" in run("study swing.toml", code=2).stderr


def test_a_scheduler_computes_the_store_of_one_process(run, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        assert "30 of 30" in run(f"study swing.toml --store c --scheduler {cluster.scheduler_address}").stdout
    run("study swing.toml --store one")
    assert not different_files(tmp_path / "one", tmp_path / "c")


def test_ctrl_c_leaves_what_is_done_and_the_printed_command_continues(run, tmp_path):
    long = SWING.replace("samples = 6", "samples = 60000").replace("[0, 3]", "[0, 30]") + "chunk = 500\n"
    (tmp_path / "swing.toml").write_text(long, encoding="utf-8")
    command = [sys.executable, "-m", "vinculum", "study", "swing.toml", "--store", "s"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list((tmp_path / "s").glob("computed/c/*")):
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Continue with: vinculum study swing.toml --store s" in said
    assert len(said.splitlines()) == 1, said
    done = int((vn.ensembles.read_study(tmp_path / "s").outcome >= 0).sum())
    assert 0 < done < 300_000
    assert f"{done} of 300000" in printed
