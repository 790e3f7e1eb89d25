"""Nodes of a Dask cluster that do not play: they send the record of one match under the names of all others, at once,
or as late as so many cores would with bots that take their time. They show what the driver of a run can take."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from threading import Lock
from time import monotonic, sleep

from distributed import get_worker, secede
from msgspec.structs import replace

from harness.core.types import GameRecord, MatchSpec
from harness.executors.cluster import door
from harness.executors.cluster.node_facts import facts_of
from harness.executors.cluster.node_messages import (
    Batch,
    BatchDone,
    NodeFacts,
    decode_order,
    decode_setup,
    encode_message,
)
from harness.executors.cluster.started_here import serve
from harness.executors.cluster.travel import arrive
from harness.executors.jobs import Roster, encode
from harness.match.referee import play
from harness.sandbox.scratch import new_folder, remove_folder


class StubNodes:
    """What takes the place of `door` on such nodes."""

    def __init__(self, cores: int, think: float) -> None:
        """Each node has so many cores, and bots think so many seconds about a decision."""
        self.cores, self.think = cores, think
        self._lock = Lock()
        self._roster: Roster | None = None
        self._facts: dict[str, str] = {}
        self._played: GameRecord | None = None
        self._busy_until: dict[str, float] = defaultdict(float)

    def prepare(self, setup: bytes) -> bytes:
        """Says what the driver wants to hear, which is true: it is this arena."""
        with self._lock:
            if self._roster is None:
                home = new_folder()
                self._roster = arrive(decode_setup(setup).roster, home).roster
                self._facts = facts_of(self._roster)
                remove_folder(home)
        return encode_message(NodeFacts(same=self._facts, workers=self.cores))

    def play(self, number: int, batch: bytes) -> bytes:
        """Sends the lines of a batch, when they are due."""
        node = get_worker().address
        secede()
        order = decode_order(batch)
        assert isinstance(order, Batch)
        with self._lock:
            first = self._played = self._played or self._play(order.jobs[0].spec)
            work = self.think * len(first.actions) * len(order.jobs) / self.cores
            due = self._busy_until[node] = max(monotonic(), self._busy_until[node]) + work
        named = (job.spec for job in order.jobs)
        records = [replace(first, id=one.id, index=one.index, set=one.set, seed=one.seed) for one in named]
        if self.think:
            sleep(max(0.0, due - monotonic()))
        return encode_message(BatchDone(number=number, lines=[(encode(record), b"") for record in records]))

    def _play(self, spec: MatchSpec) -> GameRecord:
        assert self._roster is not None, "a node is prepared before it plays"
        record = play(spec, self._roster.games[spec.game], self._roster.seats(spec))
        return replace(record, time=tuple(self.think * count for count in record.decisions))


class _Here:
    """The nodes of this process."""

    stubs = StubNodes(1, 0.0)


def prepare_stub(_run: str, setup: bytes, _wheels: Mapping[str, bytes]) -> bytes:
    """In the place of `door.prepare`."""
    return _Here.stubs.prepare(setup)


def play_stub(_run: str, number: int, batch: bytes) -> bytes:
    """In the place of `door.play`."""
    return _Here.stubs.play(number, batch)


def main(nodes: int, cores: int, think: float) -> None:
    """Begins so many such nodes, says where the scheduler is, and ends when stdin does."""
    _Here.stubs = StubNodes(cores, think)
    vars(door).update(prepare=prepare_stub, play=play_stub)
    serve(nodes, processes=False)


if __name__ == "__main__":
    from harness.bench import stub_nodes  # by its name, so that the scheduler can send its functions on

    stub_nodes.main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
