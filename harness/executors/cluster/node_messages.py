"""What the driver of a run and the agents on its nodes say to each other."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from harness.executors.jobs import Job, WorkerLoss

PROTOCOL = 1
"""Changes with what is said here: an older agent is told from a newer driver."""


class NodeSetup(Struct, frozen=True, kw_only=True):
    """What a node needs to play the matches of a run."""

    protocol: int = PROTOCOL
    python: str
    """The Python that everybody must have: with another one nothing below may be opened."""
    roster: bytes
    """See `travel`."""
    limits: dict[str, Any]
    """What bots may use, as run.json has it."""
    workers: int
    """Processes that play on each node; 0 is one for each thread of its Dask worker."""


class NodeFacts(Struct, frozen=True, kw_only=True):
    """What a node says of itself before it plays."""

    same: dict[str, str]
    """What must be the same everywhere: versions and digests, by what they are of."""
    host: str = ""
    workers: int = 1
    """Processes that will play on it."""
    form: str = ""
    """Whether arena is compiled there: the records are the same either way."""
    lacking: tuple[str, ...] = ()
    """What it does not enforce against confined bots, if there are any, in sentences."""
    problem: str = ""
    """Why it cannot play, in a sentence."""


class Batch(Struct, frozen=True, tag="batch"):
    """Matches to be played."""

    number: int
    jobs: list[Job]


class StopPlaying(Struct, frozen=True, tag="stop"):
    """The run is to end: what is being played is finished, nothing else is begun."""


class BatchDone(Struct, frozen=True, kw_only=True, tag="done"):
    """What came of a batch."""

    number: int
    lines: list[tuple[bytes, bytes]] = []
    """Of each match that was finished, its line for games.jsonl, and for notes.jsonl."""
    given_up: list[str] = []
    losses: list[WorkerLoss] = []
    logs: dict[str, bytes] = {}
    """What bots in processes of their own have printed since the last time, by the names of their logs."""


class Alive(Struct, frozen=True, tag="alive"):
    """An agent that says nothing else for a while says this."""


encode_message = msgspec.msgpack.Encoder().encode
decode_setup = msgspec.msgpack.Decoder(NodeSetup).decode
decode_facts = msgspec.msgpack.Decoder(NodeFacts).decode
decode_order = msgspec.msgpack.Decoder(Batch | StopPlaying).decode
decode_done = msgspec.msgpack.Decoder(BatchDone).decode
decode_report = msgspec.msgpack.Decoder(BatchDone | Alive).decode
