"""Whom the live page answers: readers only, and in a browser nobody but its own page."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING = ("GET", "HEAD")
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Our own files and nothing else. A bracket is laid out by attributes, which can do no harm."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Refuses whatever does not read, and, on an address of this machine alone, whoever calls it by another name: that
    would be a page from elsewhere whose name has been made to lead here."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = LOOPBACK | {host} if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, with what keeps a browser from doing more with the answer than to show it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._chosen(scope)(scope, receive, guarded)

    def _chosen(self, scope: Scope) -> ASGIApp:
        if scope["method"] not in READING:
            return PlainTextResponse("This page can only be read.\n", 405, {"allow": ", ".join(READING)})
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if self._names is not None and _without_port(host) not in self._names:
            return PlainTextResponse("This page is not served under that name.\n", 400)
        return self._app


def _without_port(host: str) -> str:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower()
