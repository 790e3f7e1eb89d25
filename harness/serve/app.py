"""The web application of the live page: routes, headers, broadcast, server."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex
from time import monotonic
from types import FrameType
from typing import TypeVar
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness._version import VERSION
from harness.core.errors import ArenaError, UsageError
from harness.plugins.registry import Registry
from harness.report.parts import asset, page_environment
from harness.runs.store import RunFolder
from harness.serve.live_data import TEMPLATES, without_folders
from harness.serve.live_run import MAX_MATCHES, LiveRun, RunPlace

# The server of the live page: an address, and what happens at Ctrl-C.


SHUTDOWN_S = 2
"""Time for open requests when the server stops."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket at this address; port 0 is any free port."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        why = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or error
        raise UsageError(f"Cannot serve at {host}, port {port}: {why}.", fix="other-port") from error


def address_of(at: socket.socket) -> str:
    """Return the URL of a socket."""
    host, port = at.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _Server(uvicorn.Server):
    """Closes event streams, which never end by themselves, when the server is stopped."""

    def __init__(self, config: uvicorn.Config, at_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._at_end = at_end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C or SIGTERM."""
        self._at_end()
        super().handle_exit(sig, frame)


def run_server(app: ASGIApp, at: socket.socket, at_end: Callable[[], None]) -> None:
    """Serve until Ctrl-C; `at_end` is called then, in a signal handler."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    with suppress(KeyboardInterrupt):
        _Server(config, at_end).run(sockets=[at])


# Which requests are answered: only reading, and in a browser only from the live page itself.


READING = ("GET", "HEAD")
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Only files of this server. Brackets are laid out by style attributes, which are harmless."""
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
    """Return whether only this machine can reach the host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Refuses requests that do not read, and on a loopback address requests for another host name: they come from a
    foreign page whose name was pointed at this machine (DNS rebinding)."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = LOOPBACK | {host} if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with headers that restrict what a browser may do with the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._choose_app(scope)(scope, receive, guarded)

    def _choose_app(self, scope: Scope) -> ASGIApp:
        if scope["method"] not in READING:
            return PlainTextResponse("This page can only be read.\n", 405, {"allow": ", ".join(READING)})
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if self._names is not None and _without_port(host) not in self._names:
            return PlainTextResponse("This page is not served under that name.\n", 400)
        return self._app


_HOST = re.compile(r"(?:\[(.+)\]|([^:]*))(?::\d+)?")


def _without_port(host: str) -> str:
    """Return the name in a Host header, "" if the header is malformed."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""


# Server-sent events for any number of readers: the newest of each kind.


HEARTBEAT_S = 15.0
"""A reader gets a comment after this time without events, so that the connection stays open."""
RETRY = b"retry: 1000\n\n"
"""Milliseconds after which a browser reconnects."""
STILL_HERE = b": still here\n\n"


class Broadcaster:
    """Sends the newest event of each kind to readers. Each event has the whole state, so a slow reader may miss some.

    An event is serialised once for all readers. Use it in one event loop only.
    """

    def __init__(self) -> None:
        self._name = token_hex(4)
        """Distinguishes the event ids of this process from those of an earlier one, for readers that reconnect."""
        self._number = 0
        self._newest: dict[str, tuple[int, bytes]] = {}
        self._more = asyncio.Event()
        self.closed = False
        self.readers = 0
        """Connected readers."""

    def post(self, news: Mapping[str, bytes]) -> None:
        """Send events to all readers; each text is JSON in one line."""
        for kind, text in news.items():
            self._number += 1
            event = b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (self._name.encode(), self._number, kind.encode(), text)
            self._newest[kind] = self._number, event
        if news:
            self._wake()

    def close(self) -> None:
        """Disconnect all readers."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def stream(self, last_seen: str = "") -> AsyncIterator[bytes]:
        """Yield events that are newer than `last_seen`, the last id that the reader had, and then new ones."""
        name, _, number = last_seen.partition("-")
        seen = int(number) if name == self._name and number.isdecimal() and len(number) < 16 else 0
        self.readers += 1
        try:
            yield RETRY
            while not self.closed:
                more, newest = self._more, sorted(self._newest.values())
                for number_of_event, event in newest:
                    if number_of_event > seen:
                        seen = number_of_event
                        yield event
                if more is not self._more:
                    continue
                try:
                    await asyncio.wait_for(more.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield STILL_HERE
        finally:
            self.readers -= 1


# The web application: pages, data and server-sent events, all read-only.


POLL_INTERVAL_S = 0.5
"""Time between two reads of the files."""
FORGET_AFTER_S = 300.0
"""A run without readers is no longer followed after this time, if several are served."""
MAX_FOLLOWED = 12
"""Runs that are followed at the same time."""
MAX_LISTED = 200
JSON, SCRIPT, STYLE, EVENTS = "application/json", "text/javascript", "text/css", "text/event-stream"

Places = Callable[[], Mapping[str, RunPlace]]
"""Returns what is served now, by name."""
T = TypeVar("T")


class FollowedRun:
    """A run that is followed, and the events for its readers."""

    def __init__(self, live: LiveRun) -> None:
        self.live, self.broadcaster = live, Broadcaster()
        self.begun = asyncio.Event()
        """Set when its files have been read for the first time."""
        self.ready = asyncio.Event()
        """Set when there are standings, or a reason why there are none."""
        self.used = monotonic()
        self.failed = False
        """Whether the last read failed with an unexpected error."""


class LivePages:
    """Follows the runs that have readers. One task and one thread read files, whatever the number of readers: nothing
    else may use a `LiveRun`."""

    def __init__(self, places: Places, registry: Registry, only: str | None = None) -> None:
        """`only` is the name of the run, if only one is served; it is followed from the start."""
        self._places, self._registry, self.only = places, registry, only
        self._followed: dict[str, FollowedRun] = {}
        self._thread = ThreadPoolExecutor(1, "arena-serve")
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run a function in the one thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def places(self) -> Mapping[str, RunPlace]:
        """Return what is served now."""
        return await self.in_thread(self._places)

    async def followed(self, name: str) -> FollowedRun:
        """Return the run with this name, which is followed from now on; 404 if there is none."""
        found = self._followed.get(name)
        if found is None:
            places = await self.places()
            if name not in places:
                raise HTTPException(404, "There is no such run.")
            found = self._followed.get(name)  # another request may have added it during the await
            if found is None:
                found = self._followed[name] = FollowedRun(LiveRun(places[name], self._registry))
            self._wake.set()
        found.used = monotonic()
        return found

    @asynccontextmanager
    async def following(self, _app: Starlette) -> AsyncIterator[None]:
        """Follow runs while the application runs."""
        self._loop = asyncio.get_running_loop()
        task = asyncio.create_task(self._follow())
        if self.only is not None:
            await self.followed(self.only)
        try:
            yield
        finally:
            task.cancel()
            self._close()
            self._thread.shutdown(cancel_futures=True)

    def end(self) -> None:
        """Disconnect all readers; may be called from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        for each in self._followed.values():
            each.broadcaster.close()

    async def _follow(self) -> None:
        while True:
            self._wake.clear()
            behind = False
            for name, each in list(self._followed.items()):
                behind |= await self._send_news(name, each)
            self._forget()
            if not behind:
                try:
                    await asyncio.wait_for(self._wake.wait(), POLL_INTERVAL_S)
                except TimeoutError:
                    continue

    async def _send_news(self, name: str, each: FollowedRun) -> bool:
        """Send what is new to readers; return whether there is more to read at once."""
        try:
            news = await self.in_thread(each.live.read_updates)
        except Exception:
            if not each.failed:  # logged once, not at every poll
                logging.getLogger(__name__).exception("The run %s could not be read.", name)
            each.failed = True
            each.begun.set()
            each.ready.set()
            return False
        each.failed = False
        each.begun.set()
        each.broadcaster.post({kind: line for kind, line in news.items() if kind != "data"})
        if each.live.caught_up:
            each.ready.set()
        return not each.live.caught_up

    def _forget(self) -> None:
        """Stop following runs without readers."""
        unread = [name for name, each in self._followed.items() if not each.broadcaster.readers and name != self.only]
        unread.sort(key=lambda name: self._followed[name].used)
        many = len(self._followed) - MAX_FOLLOWED
        for place, name in enumerate(unread):
            if place < many or monotonic() - self._followed[name].used > FORGET_AFTER_S:
                del self._followed[name]

    # Requests. A name in a request is looked up among the existing ones: it never becomes a path.

    async def _asked(self, request: Request) -> FollowedRun:
        return await self.followed(self.only if self.only is not None else request.path_params["name"])

    async def _ready(self, request: Request) -> FollowedRun:
        found = await self._asked(request)
        await found.ready.wait()
        return found

    async def page(self, request: Request) -> Response:
        """Return the page of a run; its contents come as events."""
        found = await self._asked(request)
        return _page("live.html", name=found.live.place.name, home=self.only is None)

    async def index(self, _request: Request) -> Response:
        """Return the list of runs."""
        places = await self.places()
        runs = await self.in_thread(lambda: [_listed(name, places[name]) for name in list(places)[:MAX_LISTED]])
        return _page("runs.html", runs=runs, more=len(places) - len(runs))

    async def events(self, request: Request) -> Response:
        """Stream the events of a run."""
        found = await self._asked(request)
        if request.method == "HEAD":
            return Response(media_type=EVENTS)
        last = request.headers.get("last-event-id", "")
        return StreamingResponse(found.broadcaster.stream(last), media_type=EVENTS)

    async def standings(self, request: Request) -> Response:
        """Return the standings as JSON."""
        return _newest_json(await self._ready(request), "data")

    async def progress(self, request: Request) -> Response:
        """Return the progress as JSON, even while the records are being read."""
        found = await self._asked(request)
        await found.begun.wait()
        return _newest_json(found, "progress")

    async def matches(self, request: Request) -> Response:
        """Return results as JSON, from a line of the records on."""
        found = await self._ready(request)
        after, limit = (_number(request, key, most) for key, most in (("after", 0), ("limit", MAX_MATCHES)))
        return Response(await self.in_thread(lambda: found.live.matches(after, limit)), media_type=JSON)

    async def match(self, request: Request) -> Response:
        """Return one match as JSON, with what the viewer shows."""
        found = await self._ready(request)
        data = await self.in_thread(lambda: found.live.match(request.path_params["match"]))
        if data is None:
            raise HTTPException(404, "There is no such match, or it has not been played yet.")
        return Response(data, media_type=JSON)

    async def script(self, request: Request) -> Response:
        """Return the script of the page, with the drawings of the run's games."""
        found = await self._asked(request)
        await found.begun.wait()
        return Response(found.live.script, media_type=SCRIPT)


def _number(request: Request, key: str, default: int) -> int:
    text = request.query_params.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(400, f"{key} is a whole number.")
    return int(text)


def _newest_json(found: FollowedRun, kind: str) -> Response:
    line = found.live.sent.get(kind)
    if line is None:
        raise HTTPException(503, "There is nothing to show yet.")
    return Response(line, media_type=JSON)


def _page(template: str, **values: object) -> Response:
    return HTMLResponse(page_environment(TEMPLATES).get_template(template).render(version=VERSION, **values))


def _listed(name: str, place: RunPlace) -> dict[str, object]:
    """Return the line of a run in the list of runs."""
    try:
        current = place.current()
        info = RunFolder.open(current).info
    except (ArenaError, OSError):
        return {"name": name, "title": place.name, "games": "", "format": "", "bots": "", "started": "", "state": "?"}
    return {
        "name": name,
        "title": place.title(current.path),
        "games": ", ".join(game.name for game in info.plan.games),
        "format": info.plan.format,
        "bots": len(info.entrants),
        "started": info.started.replace("T", " ")[:16],
        "state": "finished" if info.finished else "not finished",
    }


async def _style(_request: Request) -> Response:
    own = (Path(__file__).parent / "assets" / "live.css").read_text(encoding="utf-8")
    return Response(asset("style.css") + asset("viewer.css") + asset("outcome.css") + own, media_type=STYLE)


def live_app(pages: LivePages, host: str) -> Guard:
    """Return the application for requests to this host."""
    start = "" if pages.only is not None else "/run/{name}"
    routes = [
        Route(f"{start}/", pages.page),
        Route(f"{start}/events", pages.events),
        Route(f"{start}/api/standings", pages.standings),
        Route(f"{start}/api/progress", pages.progress),
        Route(f"{start}/api/matches", pages.matches),
        Route(f"{start}/api/match/{{match}}", pages.match),
        Route(f"{start}/live.js", pages.script),
        Route(f"{start}/live.css", _style),
    ]
    if pages.only is None:
        routes += [Route("/", pages.index), Route("/live.css", _style), Route(start, _with_slash)]
    app = Starlette(routes=routes, lifespan=pages.following, exception_handlers={ArenaError: _trouble})
    return Guard(app, host)


async def _trouble(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{without_folders(str(error))}\n", 503)


async def _with_slash(request: Request) -> Response:
    return RedirectResponse(f"/run/{quote(request.path_params['name'], safe='')}/")
