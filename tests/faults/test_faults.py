"""Fault injection: kills, full disks, folders that cannot be written, signals. `make faults` has hundreds of them."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from functools import partial

import pytest

import vinculum as vn
from faults.kills import ENVIRONMENT, kill_at_random
from faults.signals import signal_at_random
from faults.writers import ENDINGS
from vinculum.writing import write_file

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses /proc and fork")


@linux
@pytest.mark.parametrize("kind", ["trajectory", "papers"])
def test_a_kill_leaves_a_whole_file(kind):
    assert not kill_at_random(kind, 25)


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_line_with_its_code(number):
    assert not signal_at_random(number, 5)


LOST = """
import os, signal, sys, time
from vinculum.cli.signals import interruptible, take_signals

class Falls:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0.05)

take_signals()
try:
    with interruptible():
        Falls()
        time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@linux
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_inside_a_destructor_is_not_lost(number, code):
    """Python ignores the exception of a destructor."""
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(int(number))], capture_output=True, text=True, env=ENVIRONMENT, timeout=50
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_every_kind_of_file_has_a_writer_that_is_killed():
    """Functions of the package that take a path and write."""
    assert set(ENDINGS) == {"trajectory", "table", "report", "new", "schema", "papers", "tree", "picture", "code"}


FULL = """
import resource, signal, sys
from pathlib import Path
from faults.writers import ENDINGS, contents
import vinculum as vn
folder = Path(sys.argv[1])
for kind in sys.argv[2:]:
    place = folder / f"file{ENDINGS[kind]}"
    first, second = contents(kind, place)
    first()
    before = place.read_bytes()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
    try:
        second()
        raise SystemExit(f"{kind} was written to a full disk")
    except vn.errors.FileError as error:
        assert "cannot be written" in str(error) and place.stem in str(error), error
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert place.read_bytes() == before, kind
    assert not list(folder.glob(".vinculum*")), kind
    place.unlink()
print("whole")
"""


@linux
def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit of the size of files fails in the middle of a write, as a full disk does."""
    kinds = ["trajectory", "table", "new", "schema", "papers", "picture", "code"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), *kinds],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=300,
    )
    assert done.stdout.strip().endswith("whole"), done.stderr[-2000:] + done.stdout[-500:]


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_failure_of_the_system_leaves_the_old_file(failing, code, tmp_path, monkeypatch):
    place = tmp_path / "file.txt"
    write_file(place, "old")
    fail = OSError(code, os.strerror(code))

    def failed(*_, **__):
        raise fail

    if failing == "write":
        monkeypatch.setattr(os, "open", failed)
    else:
        monkeypatch.setattr(os, failing, failed)
    with pytest.raises(vn.errors.FileError, match=os.strerror(code)):
        write_file(place, "new")
    monkeypatch.undo()
    assert place.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    "place", ["file.txt/inside.nc", "missing/inside.nc", "folder.nc", "a" * 300 + ".nc", "nul\0.nc"]
)
def test_a_place_that_cannot_be_written_is_refused_in_our_words(place, tmp_path):
    (tmp_path / "file.txt").write_text("a file, not a folder")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(vn.errors.FileError):
        write_file(tmp_path / place, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.txt", "folder.nc"]


@linux
def test_a_folder_that_is_read_only(tmp_path):
    """Root ignores permissions, so /proc stands for a folder in which nothing can be made."""
    with pytest.raises(vn.errors.FileError, match="cannot be written"):
        write_file("/proc/self/file.nc", b"new")
    if os.geteuid() != 0:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(vn.errors.FileError, match="Permission"):
            write_file(tmp_path / "file.nc", b"new")


def test_links_and_permissions_survive(tmp_path):
    place, link = tmp_path / "file.txt", tmp_path / "link.txt"
    write_file(place, "old")
    assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~_umask()
    place.chmod(0o640)
    link.symlink_to(place)
    write_file(link, "new")
    assert link.is_symlink()
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_of_many_threads_that_may_not_overwrite_one_wins(tmp_path):
    place, refused = tmp_path / "file.txt", []

    def write(i: int) -> None:
        try:
            write_file(place, f"{i}" * 100_000, overwrite=False)
        except vn.errors.FileError:
            refused.append(i)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(refused) == 7
    assert len(set(place.read_text())) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_page_that_exists_is_replaced_only_on_request(tmp_path):
    """Refused before anything is computed."""
    place, tree = tmp_path / "page.html", vn.BodyTree([vn.Body("arm", mass=1, inertia=1)])
    place.write_text("mine")
    for write in (partial(vn.write_report, None), partial(vn.bodies.draw_tree, tree)):
        with pytest.raises(vn.errors.FileError, match="overwrite=True"):
            write(place)
        assert place.read_text() == "mine"
    vn.bodies.draw_tree(tree, place, overwrite=True)
    first = place.read_bytes()
    vn.bodies.draw_tree(tree, place, overwrite=True)
    assert place.read_bytes() == first != b"mine"
