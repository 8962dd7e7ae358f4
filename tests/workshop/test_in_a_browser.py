"""The workshop in Chromium: findings as one types, pages that follow the text, files that follow the disk."""

from __future__ import annotations

import signal
import time

import pytest

from workshop.conftest import PENDULUM, look, started

FIRST = PENDULUM.format(name="first pendulum")


def ready(view, text: str = FIRST) -> None:
    """The first file with a text whose page is up to date."""
    view.page.select_option("#files", index=0)
    if view.text != text.rstrip("\n"):
        view.write(text)
    view.status("Up to date")


def test_the_page_appears_next_to_the_text(view):
    ready(view)
    assert view.text == FIRST.rstrip("\n")
    view.heading("First pendulum")


def test_an_error_is_shown_at_its_place_and_the_last_good_page_stays(view):
    ready(view)
    view.write(FIRST.replace('cos(theta)"\n\n[sim', 'cos(thetta)"\n\n[sim'))
    view.status("1 problem; the page shows the last good text")
    assert view.page.locator("#findings li").all_inner_texts() == [
        "Line 7, system.potential_energy: thetta is not known. Did you mean theta?"
    ]
    assert view.page.locator(".cm-lintRange-error").inner_text() == "thetta"
    view.heading("First pendulum")
    view.write(FIRST.replace("first", "better"))
    view.status("Up to date")
    assert view.page.locator("#findings li").count() == 0
    view.heading("Better pendulum")


def test_typing_in_the_editor_is_enough(view):
    ready(view)
    view.page.get_by_text('"first pendulum"').click()
    view.page.keyboard.press("End")
    view.page.keyboard.press("ArrowLeft")
    view.page.keyboard.type(" typed")
    view.status("Up to date")
    view.heading("First pendulum typed")


def test_keys_and_words_of_the_schema_are_offered(view):
    ready(view)
    view.write("[simulation]\n")
    view.page.keyboard.type("met")
    view.page.locator(".cm-tooltip-autocomplete li", has_text="method").click()
    view.page.keyboard.type(' = "rk')
    view.page.locator(".cm-tooltip-autocomplete li", has_text="rk4").click()
    assert view.text == '[simulation]\nmethod = "rk4"'


def test_a_slow_model_is_cancelled_when_the_text_changes(view):
    ready(view)
    slow = FIRST.replace("times = [0, 1]", 'times = [0, 1e6]\nmethod = "rk4"\nstep = 1e-4')
    view.write(slow)  # ten billion steps
    view.status("motion")
    began = time.monotonic()
    view.write(FIRST.replace("first", "quick"))
    view.status("Up to date")
    view.heading("Quick pendulum")
    assert time.monotonic() - began < 30


def test_two_files_keep_their_texts_and_pages(view):
    ready(view)
    view.page.select_option("#files", index=1)
    view.status("Up to date")
    view.heading("Second pendulum")
    assert '"2 kg"' in view.text
    view.page.select_option("#files", index=0)
    view.heading("First pendulum")


def test_a_text_is_saved_and_a_change_of_the_disk_appears(view, workshop):
    ready(view, FIRST.replace("0.5 rad", "0.6 rad"))
    assert view.page.locator("#dirty").inner_text() == "not saved"
    view.page.locator("#editors > div:visible .cm-content").click()
    view.page.keyboard.press("Control+s")
    view.saved()
    assert workshop.first.read_text() == FIRST.replace("0.5 rad", "0.6 rad")
    workshop.first.write_text(FIRST)
    view.page.locator("#editors > div:visible").get_by_text("0.5 rad").wait_for()
    assert view.text == FIRST.rstrip("\n")


@pytest.mark.parametrize("mine", [True, False])
def test_a_conflict_is_shown_and_nothing_is_lost(view, workshop, mine):
    workshop.first.write_text(FIRST)
    ready(view)
    view.saved()  # the page knows of it
    own, other = FIRST.replace("0.5 rad", "0.1 rad"), FIRST.replace("0.5 rad", "0.9 rad")
    view.write(own)
    workshop.first.write_text(other)
    view.page.get_by_text("was changed by another program").wait_for()
    assert workshop.first.read_text() == other
    assert view.text == own.rstrip("\n")
    view.page.get_by_role("button", name="Keep mine" if mine else "Take the text of the file").click()
    assert view.text == (own if mine else other).rstrip("\n")
    view.page.click("#save")
    view.saved()
    assert workshop.first.read_text() == (own if mine else other)


def test_an_example_is_opened_and_saved_as_ones_own(view, workshop):
    view.page.select_option("#examples", "cartesian_pendulum")
    view.status("Up to date")
    view.heading("Pendulum in Cartesian coordinates")
    view.page.click("#save")
    view.page.fill("#name", "../outside")
    view.page.locator("#naming").get_by_role("button", name="Save").click()
    view.page.get_by_text("is not a plain file name").wait_for()
    view.page.fill("#name", "mine")
    view.page.locator("#naming").get_by_role("button", name="Save").click()
    view.saved()
    made = workshop.first.parent / "mine.toml"
    assert 'name = "pendulum in Cartesian coordinates"' in made.read_text()
    assert sorted(path.name for path in made.parent.iterdir()) == ["first.toml", "mine.toml", "second.toml"]


def test_there_were_no_errors_and_nothing_was_fetched(view):
    assert str(view.seen) == "no console errors, nothing fetched"


def test_on_a_telephone_text_and_page_take_turns(running, workshop):
    phone = look(running, workshop.address, 390, 844, is_mobile=True, has_touch=True, color_scheme="dark")
    try:
        phone.status("Up to date")
        assert phone.page.locator("#left").is_visible()
        phone.page.tap("#side-page")
        assert not phone.page.locator("#left").is_visible()
        phone.heading("first pendulum")
        wide = phone.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        assert str(phone.seen) == "no console errors, nothing fetched"
    finally:
        phone.page.context.close()


def test_after_an_interruption_the_page_connects_again_and_sends_what_was_typed(running, workshop):
    """Between two messages the line is cut: what is typed meanwhile is not lost, and the page follows it later."""
    view = look(running, workshop.address)
    try:
        view.status("Up to date")
        view.page.context.set_offline(True)
        view.write(FIRST.replace("first", "interrupted"))
        view.page.get_by_text("The server has stopped. Your text is still here").wait_for()
        view.page.context.set_offline(False)
        view.page.get_by_text("The server has stopped.").wait_for(state="hidden")
        view.status("Up to date")
        view.heading("Interrupted pendulum")
    finally:
        view.page.context.close()


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_server_dies_the_text_stays_and_no_process_is_left(running, tmp_path, way):
    workshop = started(tmp_path)
    view = look(running, workshop.address)
    try:
        view.status("Up to date")
        view.write(FIRST.replace("first", "unsaved"))
        workers = workshop.workers
        assert len(workers) == 4  # two for each file: one that works, one that is ready
        workshop.process.send_signal(way)
        assert workshop.process.wait(timeout=30) == (-9 if way == signal.SIGKILL else 143)
        view.page.get_by_text("The server has stopped. Your text is still here").wait_for()
        view.status("Not connected")
        assert "unsaved pendulum" in view.text
        with view.page.expect_download() as download:
            view.page.get_by_role("button", name="Save a copy").click()
        assert "unsaved pendulum" in download.value.path().read_text()
        assert not any(alive(worker) for worker in workers if not gone(worker))
    finally:
        view.page.context.close()
        workshop.process.kill()
        workshop.process.stdout.close()


def alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(process: int) -> bool:
    """Wait a moment for a process to end."""
    for _ in range(100):
        if not alive(process):
            return True
        time.sleep(0.1)
    return False
