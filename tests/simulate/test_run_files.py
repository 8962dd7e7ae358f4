"""Run files of strangers and damaged ones: every changed byte is noticed, nothing needs more memory than the file."""

from __future__ import annotations

import json
import random
import resource
import struct
import subprocess
import sys

import numpy as np
import pytest

import vinculum as vn
from simulate.hostile import hostile_files, judge
from simulate.models import hanging, pendulum, run, x
from vinculum.simulation.trajectory.run_file import to_bytes


@pytest.fixture(scope="module")
def motion() -> vn.Trajectory:
    return run(pendulum(), hanging(), np.linspace(0, 1, 21), events=[vn.Event(x, "below")])


@pytest.fixture(scope="module")
def content(motion) -> bytes:
    return to_bytes(motion.dataset)


def test_xarray_reads_a_run_file(motion, tmp_path):
    xr = pytest.importorskip("xarray")
    motion.save(tmp_path / "motion.nc")
    found = xr.load_dataset(tmp_path / "motion.nc")
    assert np.array_equal(found["x"], motion[x])
    assert found.attrs["checksum"].startswith("sha256:")


def test_a_file_that_exists_is_overwritten_only_on_request(motion, tmp_path):
    for name in ("motion.nc", "motion.csv"):
        motion.save(tmp_path / name)
        before = (tmp_path / name).read_bytes()
        with pytest.raises(vn.errors.FileError, match="overwrite=True"):
            motion.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        motion.save(tmp_path / name, overwrite=True)
        assert (tmp_path / name).read_bytes() == before


def test_a_changed_byte_is_noticed(content, tmp_path):
    """A bit anywhere: in numbers, names, sizes and padding."""
    random_ = random.Random(5)
    path = tmp_path / "changed.nc"
    for place in random_.sample(range(len(content)), 500):
        changed = bytearray(content)
        changed[place] ^= 1 << random_.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(vn.errors.FileError, match=r"changed\.nc"):
            vn.read_trajectory(path)


def test_bytes_after_the_end_are_noticed(content, tmp_path):
    (tmp_path / "longer.nc").write_bytes(content + b"\0")
    with pytest.raises(vn.errors.FileError, match=r"longer\.nc"):
        vn.read_trajectory(tmp_path / "longer.nc")


def test_the_same_run_gives_the_same_bytes(motion, content):
    assert to_bytes(motion.dataset) == content


@pytest.mark.parametrize("length", [0, 3, 4, 100, -1, -8, -1000])
def test_a_part_of_a_file_is_refused(content, length, tmp_path):
    (tmp_path / "part.nc").write_bytes(content[:length])
    with pytest.raises(vn.errors.FileError, match=r"part\.nc"):
        vn.read_trajectory(tmp_path / "part.nc")


def test_hostile_files_are_refused_in_our_words(content, tmp_path):
    """Random bytes, wrong counts, absurd attributes with a valid checksum; `make hostile` has a thousand."""
    verdicts = [judge(made, tmp_path) for made in hostile_files(content, 150, seed=1)]
    assert not [verdict for verdict in verdicts if verdict not in ("refused", "the same", "another valid run")]
    assert verdicts.count("refused") > 100


BOMB = """
import resource, sys
import vinculum as vn
vn.errors, vn.read_trajectory
import scipy.io, xarray
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    vn.read_trajectory(sys.argv[1])
except vn.errors.FileError as error:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_declared_sizes_do_not_take_memory(content, tmp_path):
    """A small file that declares two billion samples."""
    bomb = content.replace(b"time" + struct.pack(">i", 21), b"time" + struct.pack(">i", 2_000_000_000), 1)
    assert bomb != content
    path = tmp_path / "bomb.nc"
    path.write_bytes(bomb)
    told = subprocess.run([sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, timeout=120)
    assert told.stdout.strip(), told.stderr[-1500:]
    assert int(told.stdout) < 50  # megabytes


def test_a_compressed_file_of_another_program_is_refused_before_it_is_unpacked(tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    with netCDF4.Dataset(tmp_path / "bomb.nc", "w") as file:
        file.createDimension("time", 20_000_000)
        file.createVariable("time", "f8", ("time",), zlib=True, complevel=9)[:] = 0.0
        file.columns = json.dumps({"time": "time"})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(vn.errors.FileError, match="HDF5"):
        vn.read_trajectory(tmp_path / "bomb.nc")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes
