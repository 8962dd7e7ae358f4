"""Which requests the server answers: only those of the page that it served, at its address.

Another site that a user visits can make the browser send requests here. They carry the Origin of that site, or
Sec-Fetch-Site, and they do not know the token. A site whose name was made to point to this machine (DNS rebinding)
sends its own name as Host.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",  # the token is a part of the address
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Guard:
    """Refuses foreign requests, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        refusal = self.refusal(scope)
        answer: ASGIApp = self.app if refusal is None else refusal
        return await answer(scope, receive, _with_headers(send))

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request is not answered, or None."""
        headers = Headers(scope=scope)
        if scope["type"] == "websocket" or headers.get("host") not in self.hosts:
            return PlainTextResponse("This address is not served here.", 400)
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        foreign = (origin is not None and origin not in self.origins) or site not in ("none", "same-origin")
        if foreign or (scope["method"] != "GET" and origin is None):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        if scope["method"] == "POST" and headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse("Only JSON is accepted.", 415)
        return None


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            added = [(k.encode(), v.encode()) for k, v in _HEADERS.items() if k.encode() not in own]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sent
