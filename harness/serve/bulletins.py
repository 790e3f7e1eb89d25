"""News of a run for any number of readers: the newest of each kind, ready to be sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from secrets import token_hex

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
