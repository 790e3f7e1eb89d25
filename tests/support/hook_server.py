"""A web server on loopback that takes messages, or does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

HANG, CLOSE = -1, -2
"""Instead of a status: never answers as long as the test goes on, or closes the connection without a word."""


class Delivery(NamedTuple):
    """A message as it came."""

    headers: dict[str, str]
    body: bytes


class HookServer(ThreadingHTTPServer):
    """Answers with these statuses, one after the other, and then with the last one for ever."""

    daemon_threads = True

    def __init__(self, answers: Sequence[int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.deliveries: list[Delivery] = []
        self.over = threading.Event()

    @property
    def address(self) -> str:
        """Where messages go."""
        return f"http://127.0.0.1:{self.server_port}/hooks/s3cret?to=me"

    def next_answer(self) -> int:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    server: HookServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.deliveries.append(Delivery(dict(self.headers), body))
        answer = self.server.next_answer()
        if answer == HANG:
            self.server.over.wait()
        if answer < 0:
            self.close_connection = True
            return
        self.send_response(answer)
        if answer in (301, 302):
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        raise AssertionError("nobody follows where a message is sent on to")

    def log_message(self, *_what: object) -> None:
        """Says nothing."""


@contextmanager
def hook_server(*answers: int) -> Iterator[HookServer]:
    """A server that listens until the test is over."""
    with HookServer(answers or (204,)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
