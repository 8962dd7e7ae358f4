"""The server of a workshop: one page, its events, and the files that it edits. It listens on this machine only.

Every address begins with a random token; other addresses do not exist. Requests from pages of other sites are refused
by their Origin, requests under another name of this machine by their Host.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files as resources
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from vinculum.errors import FileError, VinculumError
from vinculum.model import limits
from vinculum.workshop import files
from vinculum.workshop.completion import completions
from vinculum.workshop.desk import Desk
from vinculum.workshop.guard import Guard

_STATIC = {"workshop.js": "text/javascript", "editor.js": "text/javascript", "workshop.css": "text/css"}
_ALIVE = 15.0  # seconds between signs of life of an event stream
_LARGEST = 4 * limits.BYTES  # bytes of a request

Answer = Callable[[Request], Awaitable[Response]]


def make_app(places: list[Path], token: str, port: int) -> Starlette:
    """The application for some model files; without any, the example to start from is on the desk."""
    desk = Desk([files.opened(place) for place in places])

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        app.state.loop = asyncio.get_running_loop()
        watching = asyncio.create_task(desk.watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await desk.close()

    routes = [
        Route("/", _shell),
        Route("/static/{name}", _static),
        Route("/state", _state),
        Route("/events", _events),
        Route("/page/{key:int}", _page),
        Route("/text", _posted(_text), methods=["POST"]),
        Route("/save", _posted(_save), methods=["POST"]),
        Route("/open", _posted(_open), methods=["POST"]),
        Route("/complete", _posted(_complete), methods=["POST"]),
    ]
    app = Starlette(routes=[Mount(f"/{token}", routes=routes)], lifespan=life)
    app.add_middleware(Guard, port=port)
    app.state.desk = desk
    return app


async def _shell(request: Request) -> Response:
    """The page with the editor."""
    nonce = secrets.token_urlsafe(16)
    page = _resource("workshop.html").decode().replace("NONCE", nonce)
    return HTMLResponse(page, headers={"Content-Security-Policy": _policy(nonce)})


def _policy(nonce: str) -> str:
    """Only our own scripts run, nothing is fetched from elsewhere, and no other page may show this one.

    Attributes of style are allowed, because Chromium writes them itself where text is typed over other text.
    """
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; "
        "connect-src 'self'; frame-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return _missing()
    return Response(_resource(name), media_type=_STATIC[name])


def _resource(name: str) -> bytes:
    return resources("vinculum.workshop").joinpath(name).read_bytes()


def _missing() -> Response:
    return PlainTextResponse("Not found.", 404)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


async def _state(request: Request) -> Response:
    """All files on the desk, with their texts, and the names of the examples."""
    return JSONResponse({"files": _desk(request).described(), "examples": files.example_names()})


async def _events(request: Request) -> Response:
    """What happens on the desk, as server-sent events."""

    async def stream() -> AsyncIterator[str]:
        with _desk(request).listened() as queue:
            yield "retry: 2000\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), _ALIVE)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if not message:
                    return
                yield f"data: {json.dumps(message)}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _page(request: Request) -> Response:
    """The last good page of a file."""
    sheet = _desk(request).sheet(request.path_params["key"])
    if sheet is None or not sheet.page:
        return _missing()
    return HTMLResponse(sheet.page, headers={"Content-Security-Policy": "frame-ancestors 'self'"})


def _posted(answer: Callable[[Desk, dict[str, Any]], Awaitable[Response]]) -> Answer:
    """An answer to posted JSON, which may be an error for the user; what cannot be read has status 400 or 413."""

    async def answered(request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _LARGEST:
                return JSONResponse({"error": "The text is too large for a model file."}, 413)
        try:
            data = json.loads(body)
            if not isinstance(data, dict):
                raise TypeError
            return await answer(_desk(request), data)
        except VinculumError as error:
            return JSONResponse({"error": str(error)})
        except (ValueError, TypeError, KeyError, RecursionError):
            return JSONResponse({"error": "The request could not be read."}, 400)

    return answered


async def _text(desk: Desk, data: dict[str, Any]) -> Response:
    """A text that was typed: compute it."""
    sheet = desk.needed(data["key"])
    desk.compute(sheet, str(data["text"]))
    return JSONResponse({})


async def _save(desk: Desk, data: dict[str, Any]) -> Response:
    """Save a text in its place, or with a name as a new file; the answer is the other text if the disk has one."""
    sheet = desk.needed(data["key"])
    if data.get("name"):
        sheet.file = desk.saved_as(sheet.file, str(data["text"]), str(data["name"]), bool(data.get("overwrite")))
    elif not sheet.file.save(str(data["text"]), str(data["base"])):
        return JSONResponse({"conflict": sheet.file.text, "base": sheet.file.base})
    return JSONResponse(sheet.described())


async def _open(desk: Desk, data: dict[str, Any]) -> Response:
    """Put an example on the desk."""
    found = files.example(str(data["example"]))
    if found is None:
        raise FileError(f"There is no example {str(data['example'])[:60]!r}.")
    return JSONResponse(desk.add(found).described())


async def _complete(desk: Desk, data: dict[str, Any]) -> Response:
    """What may be written at a place."""
    return JSONResponse(completions(str(data["text"]), int(data["position"])))


class _Server(uvicorn.Server):
    """Ends the event streams before it waits for open connections."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C, or the signal to terminate."""
        app: Any = self.config.app
        with suppress(AttributeError, RuntimeError):  # it did not begin to serve
            app.state.loop.call_soon_threadsafe(app.state.desk.end)
        super().handle_exit(sig, frame)


def serve(places: list[Path], port: int = 0, opened: Callable[[str], None] | None = None) -> None:
    """Serve until Ctrl-C. ``opened`` is called with the address once the server listens; port 0 takes a free one."""
    token = secrets.token_urlsafe(24)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        own = listener.getsockname()[1]
        app = make_app(places, token, own)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, lifespan="on")
        server = _Server(config)
        listener.listen(64)  # a browser that is opened now waits for the server
        if opened is not None:
            opened(f"http://127.0.0.1:{own}/{token}/")
        server.run(sockets=[listener])
