"""The server of the live page: an address, and what happens at Ctrl-C."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from harness.core.errors import UsageError

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
