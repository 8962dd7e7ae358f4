"""Who is answered: the page of the workshop itself, and nobody else."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from vinculum.model import load
from vinculum.workshop import files
from vinculum.workshop.completion import completions
from vinculum.workshop.pool import Pool
from vinculum.workshop.worker import Asked, read
from workshop.conftest import PENDULUM


def asked(workshop, path: str, method: str = "GET", body: object = None, **headers: str):
    """(status, headers, body) of a request under the token; ``path`` may be absolute."""
    own = "/" + workshop.address.split("/")[-2]
    given = {"Host": f"127.0.0.1:{workshop.port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", workshop.port, timeout=30)
    try:
        connection.putrequest(method, path if path.startswith("/") else f"{own}/{path}", skip_host=True)
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        for name, value in {**given, **({"Content-Length": str(len(content))} if content else {})}.items():
            connection.putheader(name, value)
        connection.endheaders(content or None)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def posted(workshop, path: str, body: object, **headers: str):
    own = {"Origin": f"http://127.0.0.1:{workshop.port}", "Content_Type": "application/json"}
    return asked(workshop, path, "POST", body, **(own | headers))


def test_the_page_has_a_strict_policy(workshop):
    status, headers, _ = asked(workshop, "")
    policy = headers["content-security-policy"]
    assert status == 200
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert policy.count("unsafe") == 1  # of the attributes of style
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/state", "/static/editor.js", "/state", "//state"])
def test_without_the_token_nothing_exists(workshop, path):
    assert asked(workshop, path)[0] == 404


@pytest.mark.parametrize(
    "path",
    ["static/../server.py", "static/..%2fserver.py", "static/%2e%2e/server.py", "static/server.py", "page/99",
     "page/../state/..", "static//etc/passwd", "..%2f..%2fetc/passwd"],
)  # fmt: skip
def test_only_the_files_of_the_page_are_served(workshop, path):
    assert asked(workshop, path)[0] in (307, 404)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null", "http://localhost.evil:80"])
def test_a_foreign_origin_is_refused(workshop, origin):
    assert asked(workshop, "state", Origin=origin)[0] == 403
    assert posted(workshop, "text", {"key": 1, "text": "x"}, Origin=origin)[0] == 403


def test_a_request_that_hides_where_it_comes_from_is_refused(workshop):
    assert asked(workshop, "state", Sec_Fetch_Site="cross-site")[0] == 403
    body = {"key": 1, "text": "x"}
    assert asked(workshop, "text", "POST", body, Content_Type="application/json")[0] == 403
    assert posted(workshop, "text", body, Content_Type="text/plain")[0] == 415


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", ""])
def test_another_name_of_this_machine_is_refused(workshop, host):
    assert asked(workshop, "state", Host=host)[0] == 400


def test_it_listens_on_this_machine_only(workshop):
    """Another address of the loopback network stands for those of other networks."""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", workshop.port), timeout=5)


@pytest.mark.parametrize(
    ("path", "body", "answer"),
    [
        ("text", b"not json", 400),
        ("text", [1], 400),
        ("text", {"key": 99, "text": ""}, "no such file"),
        ("text", {"key": "1", "text": ""}, "no such file"),
        ("open", {"example": "../../pyproject"}, "no example"),
        ("save", {"key": 1, "text": "", "name": "../x"}, "not a plain file name"),
        ("save", {"key": 1, "text": "", "name": "/x.toml"}, "not a plain file name"),
        ("save", {"key": 1, "text": "", "name": ".hidden"}, "not a plain file name"),
        ("save", {"key": 1, "text": "", "name": "second.toml"}, "already exists"),
        ("save", {"key": 1, "text": "", "base": "another"}, "conflict"),
        ("text", b'{"key": 1, "text": "' + b"x" * 5_000_000 + b'"}', 413),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(workshop, path, body, answer):
    before = {place.name: place.read_text() for place in workshop.first.parent.iterdir()}
    status, _, told = posted(workshop, path, body)
    assert status == answer if isinstance(answer, int) else answer in told.decode()
    assert {place.name: place.read_text() for place in workshop.first.parent.iterdir()} == before


def test_a_file_that_is_not_there_is_refused(tmp_path):
    from click.testing import CliRunner

    from vinculum.cli.app import app

    found = CliRunner().invoke(app, ["open", str(tmp_path / "missing.toml")])
    assert found.exit_code == 2
    assert "To create one: vinculum new" in found.stderr


# -- parts -----------------------------------------------------------------------------------------------------------


def offered(text: str) -> list[str]:
    """Completions at the mark |."""
    return [option["label"] for option in completions(text.replace("|", ""), text.index("|"))["options"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[simu|", "simulation"),
        ("[simulation]\nst|", "stabilization"),
        ('[simulation]\nmethod = "r|', "rk4"),
        ("[constraints.rod]\n|", "holonomic"),
        ('[simulation]\nstabilization.kind = "gua|', "guaranteed"),
        ('[parameters]\nradius = 1\n[system]\nkinetic_energy = "ra|', "radius"),
        ('[system]\ncoordinates = { theta = "rad" }\nkinetic_energy = "dot(th|', "theta"),
        ('[system]\nkinetic_energy = "sq|', "sqrt"),
        ("na|", "name"),
    ],
)
def test_what_may_be_written_is_offered(text, expected):
    assert expected in offered(text)


def test_every_section_of_the_schema_is_offered_with_its_keys():
    from vinculum.workshop.completion import schema

    for name, part in schema()["properties"].items():
        for key in part.get("properties", {}):
            assert key in offered(f"[{name}]\n{key[:2]}|"), f"{name}.{key}"


@pytest.mark.parametrize("text", ["", "|" * 3, "[", "[[[", '"', "=", "x = [\n" * 40, "é\U0001f600"])
def test_an_unfinished_text_is_no_error(text):
    for position in (-1, 0, len(text), len(text) + 9):
        completions(text, position)


def test_a_model_without_a_name_is_called_after_its_file(tmp_path):
    text = PENDULUM.format(name="x").replace('name = "x"', "")
    model, found = read(Asked(1, text, "swing.toml", str(tmp_path)))
    assert not found
    (tmp_path / "swing.toml").write_text(text)
    assert model.name == load(tmp_path / "swing.toml").name == "swing"


def alone(run):
    """The result of a coroutine, in a thread of its own: the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()


def test_a_computation_that_does_not_stop_is_killed():
    """Sums of hundreds of terms to high powers keep one step busy for longer than anyone waits."""
    heard: list[dict] = []
    power = "*".join([f"(1 + sin({k}*theta) + cos(theta)^{k})" for k in range(1, 60)])
    slow = PENDULUM.format(name="slow").replace("-m*g*l*cos(theta)", f"m*g*l*({power})^9")

    async def run() -> float:
        pool = Pool(heard.append)
        try:
            await pool.compute(slow, "slow.toml", ".")
            while not heard:
                await asyncio.sleep(0.05)
            worker = pool.active
            worker.process.send_signal(19)  # stopped: it hears nothing, as in a long compiled loop
            began = time.monotonic()
            await pool.compute("name = 1", "quick.toml", ".")
            while not any(message["number"] == 2 for message in heard):
                await asyncio.sleep(0.02)
            assert pool.active is not worker
            assert worker.process.returncode == -9
            return time.monotonic() - began
        finally:
            await pool.close()

    assert alone(run) < 20
    assert heard[-1]["findings"]


def test_a_computation_that_dies_is_told():
    heard: list[dict] = []

    async def run() -> None:
        pool = Pool(heard.append)
        try:
            await pool.compute(PENDULUM.format(name="x"), "x.toml", ".")
            while not heard:
                await asyncio.sleep(0.02)
            pool.active.process.send_signal(9)
            while "failed" not in heard[-1]:
                await asyncio.sleep(0.02)
            await pool.compute("name = 1", "x.toml", ".")
            while "findings" not in heard[-1]:
                await asyncio.sleep(0.02)
        finally:
            await pool.close()

    alone(run)
    assert any("ended unexpectedly (exit code -9)" in message.get("failed", "") for message in heard)


def test_a_file_is_saved_only_over_the_text_that_was_seen(tmp_path):
    place = tmp_path / "a.toml"
    place.write_text("one")
    file = files.opened(place)
    base = file.base
    place.write_text("two by another program")
    assert not file.save("mine", base)
    assert place.read_text() == "two by another program"
    assert file.save("mine", file.base)
    assert place.read_text() == "mine"
