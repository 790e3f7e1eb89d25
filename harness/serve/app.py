"""The web application of the live page: routes, headers, broadcast, server."""

from __future__ import annotations

import asyncio
import logging
import os
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
from harness.serve.live_run import MOST_MATCHES, LiveRun, RunPlace

# The server of the live page: an address, and what happens at Ctrl-C.


GRACE = 2
"""Seconds that answers may take when the server ends."""


def listening(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 is any that is free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        why = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or error
        raise UsageError(
            f"Cannot serve at {host}, port {port}: {why}. Choose another --port (0 is any that is free) or --host."
        ) from error


def address_of(at: socket.socket) -> str:
    """What to type into a browser."""
    host, port = at.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _Server(uvicorn.Server):
    """Ends what would go on for ever when it is told to end."""

    def __init__(self, config: uvicorn.Config, at_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._at_end = at_end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Somebody wants it to end."""
        self._at_end()
        super().handle_exit(sig, frame)


def run_server(app: ASGIApp, at: socket.socket, at_end: Callable[[], None]) -> None:
    """Serves until Ctrl-C; `at_end` is called then, in a signal handler."""
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
        timeout_graceful_shutdown=GRACE,
    )
    with suppress(KeyboardInterrupt):
        _Server(config, at_end).run(sockets=[at])


# Whom the live page answers: readers only, and in a browser nobody but its own page.


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


# News of a run for any number of readers: the newest of each kind, ready to be sent.


HEARTBEAT = 15.0
"""Seconds after which a reader to whom there is nothing to tell is told that we are still here."""
RETRY = b"retry: 1000\n\n"
"""Milliseconds after which a browser that has lost us looks for us again."""
STILL_HERE = b": still here\n\n"


class Bulletins:
    """The newest news of each kind. What a slow reader has missed is not kept for it: each tells the whole state.

    News is written once, whoever reads it. All of this happens in one event loop.
    """

    def __init__(self) -> None:
        self._name = token_hex(4)
        """Tells apart the numbers of this process and of the one before, for readers who come back."""
        self._number = 0
        self._newest: dict[str, tuple[int, bytes]] = {}
        self._more = asyncio.Event()
        self.closed = False
        self.readers = 0
        """How many are being sent news now."""

    def post(self, news: Mapping[str, bytes]) -> None:
        """Tells everybody; each of the texts is JSON in one line."""
        for kind, text in news.items():
            self._number += 1
            event = b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (self._name.encode(), self._number, kind.encode(), text)
            self._newest[kind] = self._number, event
        if news:
            self._wake()

    def close(self) -> None:
        """Lets all readers go."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()

    async def stream(self, last_seen: str = "") -> AsyncIterator[bytes]:
        """Server-sent events: what is newer than `last_seen`, the id that a reader had last, and then what comes."""
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
                    await asyncio.wait_for(more.wait(), HEARTBEAT)
                except TimeoutError:
                    yield STILL_HERE
        finally:
            self.readers -= 1


# The live page as a web application: pages, data and server-sent events, all of them to be read only.


POLL = 0.5
"""Seconds between two looks at the files."""
FORGOTTEN = 300.0
"""Seconds after which a run that nobody reads about is not followed any longer; of several, that is."""
MOST_FOLLOWED = 12
"""Runs that are followed at once."""
MOST_LISTED = 200
JSON, SCRIPT, STYLE, EVENTS = "application/json", "text/javascript", "text/css", "text/event-stream"

Places = Callable[[], Mapping[str, RunPlace]]
"""What is served now, by names."""
T = TypeVar("T")


class Followed:
    """A run that is followed, and what readers are told of it."""

    def __init__(self, live: LiveRun) -> None:
        self.live, self.bulletins = live, Bulletins()
        self.begun = asyncio.Event()
        """Set when its files have been looked at."""
        self.ready = asyncio.Event()
        """Set when there are standings, or a reason why there are none."""
        self.used = monotonic()
        self.failed = False
        """Whether the last look failed in a way that nobody thought of."""


class LivePages:
    """Follows runs for whoever reads about them. Files are read by one task and one thread, however many readers there
    are: nothing else touches a `LiveRun`."""

    def __init__(self, places: Places, registry: Registry, only: str | None = None) -> None:
        """`only`: the name of the one run that is served, and is followed from the beginning."""
        self._places, self._registry, self.only = places, registry, only
        self._followed: dict[str, Followed] = {}
        self._thread = ThreadPoolExecutor(1, "arena-serve")
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Lets the one thread do it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def places(self) -> Mapping[str, RunPlace]:
        """What is served now."""
        return await self.in_thread(self._places)

    async def followed(self, name: str) -> Followed:
        """A run that is served under this name, followed from now on; 404 if there is none."""
        found = self._followed.get(name)
        if found is None:
            places = await self.places()
            if name not in places:
                raise HTTPException(404, "There is no such run.")
            found = self._followed.get(name)  # somebody else may have been quicker
            if found is None:
                found = self._followed[name] = Followed(LiveRun(places[name], self._registry))
            self._wake.set()
        found.used = monotonic()
        return found

    @asynccontextmanager
    async def following(self, _app: Starlette) -> AsyncIterator[None]:
        """While the application runs."""
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
        """Lets all readers go; may be called from anywhere."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        for each in self._followed.values():
            each.bulletins.close()

    async def _follow(self) -> None:
        while True:
            self._wake.clear()
            behind = False
            for name, each in list(self._followed.items()):
                behind |= await self._look(name, each)
            self._forget()
            if not behind:
                try:
                    await asyncio.wait_for(self._wake.wait(), POLL)
                except TimeoutError:
                    continue

    async def _look(self, name: str, each: Followed) -> bool:
        """Tells readers what is new; whether there is more to be read at once."""
        try:
            news = await self.in_thread(each.live.look)
        except Exception:
            if not each.failed:  # said once, not twice a second
                logging.getLogger(__name__).exception("The run %s could not be looked at.", name)
            each.failed = True
            each.begun.set()
            each.ready.set()
            return False
        each.failed = False
        each.begun.set()
        each.bulletins.post({kind: line for kind, line in news.items() if kind != "data"})
        if each.live.caught_up:
            each.ready.set()
        return not each.live.caught_up

    def _forget(self) -> None:
        """Lets go of runs that nobody reads about."""
        unread = [name for name, each in self._followed.items() if not each.bulletins.readers and name != self.only]
        unread.sort(key=lambda name: self._followed[name].used)
        many = len(self._followed) - MOST_FOLLOWED
        for place, name in enumerate(unread):
            if place < many or monotonic() - self._followed[name].used > FORGOTTEN:
                del self._followed[name]

    # What is asked for. A name in a request is looked up among those that are there: it never becomes a path.

    async def _asked(self, request: Request) -> Followed:
        return await self.followed(self.only if self.only is not None else request.path_params["name"])

    async def _ready(self, request: Request) -> Followed:
        found = await self._asked(request)
        await found.ready.wait()
        return found

    async def page(self, request: Request) -> Response:
        """The page of a run: what is on it comes as news."""
        found = await self._asked(request)
        return _page("live.html", name=found.live.place.name, home=self.only is None)

    async def index(self, _request: Request) -> Response:
        """The list of runs."""
        places = await self.places()
        runs = await self.in_thread(lambda: [_listed(name, places[name]) for name in list(places)[:MOST_LISTED]])
        return _page("runs.html", runs=runs, more=len(places) - len(runs))

    async def events(self, request: Request) -> Response:
        """News of a run, as long as the reader stays."""
        found = await self._asked(request)
        if request.method == "HEAD":
            return Response(media_type=EVENTS)
        last = request.headers.get("last-event-id", "")
        return StreamingResponse(found.bulletins.stream(last), media_type=EVENTS)

    async def standings(self, request: Request) -> Response:
        """The standings as data."""
        return _told(await self._ready(request), "data")

    async def progress(self, request: Request) -> Response:
        """How far the run is, as data."""
        return _told(await self._ready(request), "progress")

    async def matches(self, request: Request) -> Response:
        """Results as data, from a line of the records on."""
        found = await self._ready(request)
        after, limit = (_number(request, key, most) for key, most in (("after", 0), ("limit", MOST_MATCHES)))
        return Response(await self.in_thread(lambda: found.live.matches(after, limit)), media_type=JSON)

    async def match(self, request: Request) -> Response:
        """One match, with what the viewer shows."""
        found = await self._ready(request)
        data = await self.in_thread(lambda: found.live.match(request.path_params["match"]))
        if data is None:
            raise HTTPException(404, "There is no such match, or it has not been played yet.")
        return Response(data, media_type=JSON)

    async def script(self, request: Request) -> Response:
        """What makes the page live, with the drawings of the run's games."""
        found = await self._asked(request)
        await found.begun.wait()
        return Response(found.live.script, media_type=SCRIPT)


def _number(request: Request, key: str, default: int) -> int:
    text = request.query_params.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise HTTPException(400, f"{key} is a whole number.")
    return int(text)


def _told(found: Followed, kind: str) -> Response:
    line = found.live.told.get(kind)
    if line is None:
        raise HTTPException(503, "There is nothing to tell yet.")
    return Response(line, media_type=JSON)


def _page(template: str, **values: object) -> Response:
    return HTMLResponse(page_environment(TEMPLATES).get_template(template).render(version=VERSION, **values))


def _listed(name: str, place: RunPlace) -> dict[str, object]:
    """A run in the list of runs."""
    try:
        current = place.current()
        info = RunFolder.open(current).info
    except (ArenaError, OSError):
        return {"name": name, "title": place.name, "games": "", "format": "", "bots": "", "started": "", "state": "?"}
    return {
        "name": name,
        "title": place.title(current),
        "games": ", ".join(game.name for game in info.plan.games),
        "format": info.plan.format,
        "bots": len(info.entrants),
        "started": info.started.replace("T", " ")[:16],
        "state": "finished" if info.finished else "not finished",
    }


async def _style(_request: Request) -> Response:
    own = (Path(__file__).parent / "assets" / "live.css").read_text(encoding="utf-8")
    return Response(asset("style.css") + asset("outcome.css") + own, media_type=STYLE)


def live_app(pages: LivePages, host: str) -> Guard:
    """The application, for whoever reaches it at this host."""
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
