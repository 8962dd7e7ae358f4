"""A workshop on this machine, with two small models, and a browser that looks at it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import browser

PENDULUM = """\
name = "{name}"
parameters = {{ m = "1 kg", l = "50 cm", g = "9.81 m/s^2" }}

[system]
coordinates = {{ theta = "rad" }}
kinetic_energy = "m*l^2*dot(theta)^2/2"
potential_energy = "-m*g*l*cos(theta)"

[simulation]
times = [0, 1]
initial = {{ theta = "0.5 rad" }}

[drawing]
points = {{ pivot = [0, 0], bob = ["l*sin(theta)", "-l*cos(theta)"] }}
segments = [["pivot", "bob"]]
"""


@dataclass
class Workshop:
    """A running server, its address, and its files."""

    process: subprocess.Popen[str]
    address: str
    first: Path
    second: Path

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.address)[1])  # type: ignore[index]

    @property
    def workers(self) -> list[int]:
        """The processes that compute."""
        found = []
        for place in Path("/proc").glob("[0-9]*/stat"):
            fields = place.read_text().rpartition(")")[2].split() if place.exists() else ["", "0"]
            if int(fields[1]) == self.process.pid:
                found.append(int(place.parent.name))
        return found


def started(folder: Path) -> Workshop:
    first, second = folder / "first.toml", folder / "second.toml"
    first.write_text(PENDULUM.format(name="first pendulum"))
    second.write_text(PENDULUM.format(name="second pendulum").replace('"1 kg"', '"2 kg"'))
    command = [sys.executable, "-m", "vinculum", "open", "--no-browser", str(first), str(second)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=os.environ)
    assert process.stdout is not None
    line = process.stdout.readline()
    return Workshop(process, line.split()[-1], first, second)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    made = started(tmp_path_factory.mktemp("workshop"))
    yield made
    made.process.send_signal(signal.SIGINT)
    assert made.process.wait(timeout=30) == 130
    made.process.stdout.close()


@dataclass
class View:
    """A page of the workshop, and what it did."""

    page: Any
    seen: browser.Seen

    def status(self, words: str) -> None:
        from playwright.sync_api import expect

        expect(self.page.locator("#status")).to_contain_text(words, timeout=30_000)

    @property
    def text(self) -> str:
        return "\n".join(self.page.locator("#editors > div:visible .cm-line").all_text_contents()).rstrip("\n")

    def write(self, text: str) -> None:
        """Replace the whole text, as by pasting."""
        self.page.locator("#editors > div:visible .cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def heading(self, words: str) -> None:
        """The page about the model has this heading, now or soon."""
        from playwright.sync_api import expect

        frame = self.page.frame_locator("#pages > div:visible iframe:not(.waiting)").last
        expect(frame.locator("h1")).to_have_text(words, timeout=15_000, ignore_case=True)

    def saved(self) -> None:
        """The text is on the disk, now or soon."""
        from playwright.sync_api import expect

        expect(self.page.locator("#dirty")).to_have_text("", timeout=15_000)


@pytest.fixture(scope="module")
def view(running, workshop):
    found = look(running, workshop.address)
    yield found
    found.page.context.close()


def look(running, address: str, width: int = 1300, height: int = 850, **options: Any) -> View:
    context = running.new_context(viewport={"width": width, "height": height}, **options)
    page, seen = context.new_page(), browser.Seen()
    browser.watch(page, address, seen)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(address)
    return View(page, seen)
