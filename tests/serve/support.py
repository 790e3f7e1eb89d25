"""Runs to be watched, a reader of the live page without a network, and the real server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from harness.runs.reader import GAMES
from harness.runs.store import RUN
from harness.serve.app import Guard, LivePages, live_app
from harness.serve.live_run import LiveRun, RunPlace, place_of
from tests.support.forgery import edit_info
from tests.support.games import REGISTRY


class Answer(NamedTuple):
    """What the page answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Reader:
    """Asks the application itself, in an event loop that goes on while it is asked."""

    def __init__(self, pages: LivePages, app: Guard, runner: asyncio.Runner) -> None:
        self.pages, self._app, self._runner = pages, app, runner

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        return self._runner.run(self._ask(path, method, headers))

    def first_events(self, path: str, last: str = "") -> bytes:
        """What is sent at once to whoever begins to listen."""
        headers = {"last_event_id": last} if last else {}
        return self._runner.run(self._ask(path, "GET", headers, until=3)).body

    async def _ask(self, path: str, method: str, headers: Mapping[str, str], until: int = 0) -> Answer:
        path, _, query = path.partition("?")
        asked = {"host": "127.0.0.1:1", **{key.replace("_", "-"): value for key, value in headers.items()}}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": method,
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
            "headers": [(key.encode(), value.encode()) for key, value in asked.items()],
            "client": ("127.0.0.1", 2), "server": ("127.0.0.1", 1),
        }  # fmt: skip
        sent: list[Any] = []
        enough = asyncio.Event()
        requests = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            return next(requests, None) or await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)
            if until and b"".join(part.get("body", b"") for part in sent).count(b"\nevent: ") >= until:
                enough.set()

        asking = asyncio.ensure_future(self._app(scope, receive, send))
        if until:
            await enough.wait()
            asking.cancel()
        else:
            await asking
        told = {key.decode(): value.decode() for key, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], told, b"".join(part.get("body", b"") for part in sent[1:]))


@contextmanager
def reading(
    places: Mapping[str, RunPlace] | Callable[[], Mapping[str, RunPlace]],
    only: str | None = None,
    host: str = "127.0.0.1",
) -> Iterator[Reader]:
    """The application with these runs, or this one."""
    with asyncio.Runner() as runner:
        pages = LivePages(places if callable(places) else lambda: places, REGISTRY, only)
        app = live_app(pages, host)
        following = pages.following(None)  # type: ignore[arg-type]
        runner.run(following.__aenter__())
        try:
            yield Reader(pages, app, runner)
        finally:
            runner.run(following.__aexit__(None, None, None))


class GrowingRun:
    """A run that was played before, appearing again line by line."""

    def __init__(self, played: Path, folder: Path) -> None:
        self.folder, self._lines = folder, (played / GAMES).read_bytes().splitlines(keepends=True)
        folder.mkdir(parents=True)
        (folder / GAMES).touch()
        (folder / RUN).write_bytes((played / RUN).read_bytes())
        self._finished = json.loads((played / RUN).read_bytes())["finished"]
        edit_info(folder, lambda raw: raw | {"finished": "", "records": ""})

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, *numbers: int) -> None:
        """Appends these lines, numbered from 0."""
        self.write(b"".join(self._lines[number] for number in numbers))

    def line(self, number: int) -> bytes:
        return self._lines[number]

    def write(self, data: bytes) -> None:
        with (self.folder / GAMES).open("ab") as file:
            file.write(data)

    def finish(self) -> None:
        edit_info(self.folder, lambda raw: raw | {"finished": self._finished})


def followed(folder: Path) -> LiveRun:
    """A run that is followed whenever the test looks."""
    place = place_of(folder)
    assert place is not None
    return LiveRun(place, REGISTRY)


def look(live: LiveRun) -> dict[str, Any]:
    """Everything that is new, with standings whatever the clock says."""
    news: dict[str, bytes] = {}
    while True:
        live._standings_due = 0.0
        news |= live.read_updates()
        if live.caught_up:
            return {kind: json.loads(line) for kind, line in news.items()}


class Server:
    """`arena serve` in a process of its own."""

    def __init__(self, *args: object) -> None:
        command = [sys.executable, "-m", "harness", "serve", *map(str, args)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"at (http://\S+:(\d+)) \(Ctrl-C ends it\)$", self.said)
        assert found, self.said
        self.address, self.port = found[1], int(found[2])

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """As kill -9 does."""
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()
