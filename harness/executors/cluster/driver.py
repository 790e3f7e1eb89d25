"""The executor of a cluster: takes jobs to nodes by the batch, and what they have played to the run's folder.

Each batch is a Dask task that runs on the node that it was meant for. If that node leaves the cluster, its batches are
played again elsewhere; if it is merely not heard of, they are played elsewhere too, and whoever is first with a match
counts. The driver is the only one who writes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import ClassVar, Self

import msgspec

from harness.core.errors import ArenaError, UsageError
from harness.core.types import GameRecord
from harness.executors.cluster.cluster_nodes import ClusterNode, ClusterNodes
from harness.executors.cluster.door import CodeChanged, NotPrepared
from harness.executors.cluster.link import (
    BatchEnded,
    ClusterEvent,
    ClusterLink,
    NodePrepared,
    NodesSeen,
    NodesStopped,
    SchedulerLost,
)
from harness.executors.cluster.node_facts import facts_of, python_here
from harness.executors.cluster.node_messages import Batch, NodeSetup, decode_done, decode_facts, encode_message
from harness.executors.cluster.open_matches import OpenMatches
from harness.executors.cluster.places import ClusterPlace, open_place
from harness.executors.cluster.travel import installed_modules, pack_for_nodes
from harness.executors.jobs import ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, let_go
from harness.plugins.wheel_building import wheels_for
from harness.sandbox.stderr_log import append_to_log

TICK = 0.1
"""Seconds between two looks at whether somebody wants to stop."""
MOST_FAILURES = 3
"""Times in a row that batches may fail on a node through no fault of its own."""
SOON, LONG = 2.0, 20.0
"""Seconds after which somebody who waits for the nodes' answers is told so, and after which a run begins with those
that have answered."""
PATIENT = 5.0
"""Seconds after which somebody who waits for nodes is told so."""
STOP_TIME = 5.0
"""Seconds for what nodes have finished to come in, when the run is to end."""
FEW = 4
"""Nodes of which each is shown."""

_decode = msgspec.json.Decoder(GameRecord).decode


class ClusterLost(ArenaError):
    """The run cannot go on here; all that was finished is on disk."""


class ClusterExecutor:
    """Plays on the nodes of a Dask cluster. Records are the same as in `Serial`, whatever the nodes."""

    elsewhere: ClassVar[bool] = True

    def __init__(
        self, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.losses: list[WorkerLoss] = []
        self.given_up: list[str] = []
        self.tell: Callable[[str], None] = lambda _sentence: None
        self.roster, self.settings, self.should_stop = roster, settings, should_stop
        self._place: ClusterPlace | None = None
        self._link: ClusterLink | None = None
        self._nodes = ClusterNodes(facts_of(roster))
        self._setup = b""
        self._wheels: dict[str, bytes] = {}
        self._matches = OpenMatches()
        self._stopped = False
        self._unbegun: dict[int, float] = {}
        """When batches are given up that nodes were not at when the run was to end."""
        self._begun = False
        """Whether the nodes that were there at the beginning have been found fit."""
        self._waiting_since: float | None = None

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """The executor that a run on a cluster asks for."""
        return cls(roster, settings, should_stop)

    def __enter__(self) -> Self:
        setup = NodeSetup(
            python=python_here(),
            roster=pack_for_nodes(self.roster),
            limits=dict(self.settings.asked),
            workers=self.settings.workers,
        )
        self._setup = encode_message(setup)
        if self.settings.ship:
            self._wheels = wheels_for(installed_modules(self.roster))
        self._place = open_place(self.settings.cluster, self.tell)
        try:
            self._link = ClusterLink(self._place.address, secrets.token_hex(4), self._place.security)
            self._link.open()
            self._meet()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        if self._link is not None:
            self._link.close([node.address for node in self._nodes if node.facts is not None and not node.silent])
        if self._place is not None:
            self._place.close()
        self.roster.close()

    @property
    def replayed(self) -> int:
        """Matches that were given to another node, since theirs had left, was silent or busy."""
        return self._matches.replayed

    def status(self) -> str:
        """How many nodes play, how quick each is, and what had to be played again."""
        nodes = self._nodes.playing()
        rates = [f"{node.rate:,.0f}" for node in nodes]
        if len(nodes) > FEW:
            slowest, quickest = (f"{pick(node.rate for node in nodes):,.0f}" for pick in (min, max))
            rates = [f"{slowest} to {quickest}"]
        each = f" ({'+'.join(rates)}/s{' each' if len(nodes) > FEW else ''})" if len(nodes) > 1 else ""
        again = f", {self.replayed:,} played again" if self.replayed else ""
        return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}{each}{again}"

    def run(self, jobs: Iterable[Job], keep: Keep = let_go) -> Iterator[Played]:
        """Plays these matches; what comes back with a batch is kept at once."""
        waiting = iter(jobs)
        while True:
            if self._stopped:
                self._give_up_silent()
            elif self.should_stop():
                self._stop()
            else:
                self._share_out(waiting)
            nothing_open = not (self._matches if self._stopped else self._matches.has_one(waiting))
            if nothing_open or (self._stopped and not self._matches.sent):
                return  # what is still out there has been played elsewhere
            for event in self._events():
                yield from self._handle(event, keep)

    def _events(self, seconds: float = TICK) -> Iterator[ClusterEvent]:
        """What has happened, after waiting so long at most for the first."""
        assert self._link is not None, "an executor is used as a context manager"
        with suppress(Empty):
            yield self._link.events.get(timeout=seconds)
            while True:
                yield self._link.events.get_nowait()

    def _meet(self) -> None:
        """Waits until all nodes that are there have said what they are; a difference ends the run before it begins."""
        began, told = monotonic(), False
        while not self._nodes.looked or any(node.state == "asked" and not node.silent for node in self._nodes):
            if self.should_stop():
                return
            waited = monotonic() - began
            if waited > SOON and not told:
                self.tell(f"Asking {len(self._nodes)} nodes what they have ...")
                told = True
            if waited > LONG and self._nodes.playing():
                break  # whoever answers later is looked at then
            for event in self._events():
                for _ in self._handle(event, let_go):
                    raise AssertionError("nothing has been sent yet")
        self._check_beginning()
        self._begun = True

    def _handle(self, event: ClusterEvent, keep: Keep) -> Iterator[Played]:
        if isinstance(event, BatchEnded):
            if event.number not in self._matches.sent:
                return  # it was lost, and has been given to others
            if event.error is None:
                yield from self._take_in(event, keep)
            else:
                self._failed(event.number, event.error)
        elif isinstance(event, NodesSeen):
            self._look(event)
        elif isinstance(event, NodePrepared):
            self._judge(event)
        elif isinstance(event, NodesStopped):
            self._give_up_unbegun(event)
        elif isinstance(event, SchedulerLost):
            assert self._link is not None
            raise ClusterLost(
                f"The Dask scheduler at {self._link.address} is gone, and the run ends here. Nothing that was finished "
                f"is lost: continue with --resume, on any machine or cluster."
            )

    # Nodes come, go and fall silent.

    def _look(self, event: NodesSeen) -> None:
        come, gone = self._nodes.update(event.nodes)
        for node in come:
            self._ask(node)
        for node in gone:
            if node.batches:
                self.tell(f"The node {node.label} has left; what it had before it is played elsewhere.")
            for number in list(node.batches):
                self._lose(number, f"its node {node.label} left")
        for node in self._nodes:
            self._listen_for(node)
        if come or gone:
            self._matches.pace.workers = max(1, self._nodes.workers())

    def _listen_for(self, node: ClusterNode) -> None:
        """What a silent node has before it is played elsewhere too; whoever was told so learns when it is back."""
        if not node.silent:
            if node.missed:
                self.tell(f"The node {node.label} is heard of again.")
            node.missed = False
            return
        late = [self._matches.sent[number] for number in node.batches if not self._matches.sent[number].doubled]
        if late:
            self.tell(f"Nothing is heard of the node {node.label}; what it has before it is played elsewhere too.")
            node.missed = True
        for batch in late:
            self._matches.double(batch)

    def _ask(self, node: ClusterNode) -> None:
        assert self._link is not None
        node.state = "asked"
        self._link.prepare(node.address, self._setup, self._wheels)

    def _judge(self, event: NodePrepared) -> None:
        if event.address not in self._nodes:
            return
        if event.error is not None:
            self._nodes.refuse(event.address, _told(event.error))
        else:
            self._nodes.judge(event.address, decode_facts(event.facts))
        node = self._nodes[event.address]
        self._matches.pace.workers = max(1, self._nodes.workers())
        if node.facts is not None and node.state == "fit":
            for sentence in node.facts.lacking:
                named = sentence.replace("this machine", f"the node {node.label}", 1)
                self.tell("Warning: " + named.replace("'arena doctor'", "'arena doctor --cluster'"))
        elif self._begun:
            self.tell(f"The node {node.label} gets nothing to do. {self._nodes.complaint([node])}")

    def _check_beginning(self) -> None:
        """Some node that was there at the beginning cannot play: that is refused before there is a match."""
        if refused := [node for node in self._nodes if node.state == "refused"]:
            raise UsageError(self._nodes.complaint(refused))

    # Work goes out.

    def _share_out(self, waiting: Iterator[Job]) -> None:
        """Gives each node enough to do: what it plays, and as much again behind it."""
        playing = sorted(self._nodes.playing(), key=lambda node: node.matches / node.workers)
        late = [batch for batch in self._matches.sent.values() if batch.late]
        stuck = {batch.node.address for batch in late}
        wanting = [
            (node, wanted) for node in playing if node.address not in stuck and (wanted := self._matches.wanted(node))
        ]
        if not playing:
            self._wait_for_nodes()
        if not wanting:
            return
        self._waiting_since = None
        asked = sum(wanted for _, wanted in wanting)
        jobs = self._matches.take(asked, waiting)
        scarce = len(jobs) < asked
        for batch in late if scarce else ():
            if not batch.doubled:
                self._matches.double(batch)  # others have nothing to do
        share = -(-len(jobs) // sum(node.workers for node, _ in wanting))
        while jobs:
            for node, _ in wanting:
                size = self._matches.size(node)
                part = self._matches.part(jobs, min(size, share * node.workers) if scarce else size)
                if part:
                    self._send(node, part)

    def _send(self, node: ClusterNode, jobs: list[Job]) -> None:
        assert self._link is not None
        batch = self._matches.send(node, jobs)
        self._link.play(node.address, batch.number, encode_message(Batch(batch.number, jobs)))

    def _wait_for_nodes(self) -> None:
        """There is nobody to play; says so to whoever waits, if there is anything to play."""
        refused = [node for node in self._nodes if node.state == "refused"]
        if self._matches and refused and len(refused) == len(self._nodes):
            raise ClusterLost(
                f"No node can play any more. {self._nodes.complaint(refused)} Nothing that was finished is lost: "
                f"continue with --resume."
            )
        if self._waiting_since is None:
            self._waiting_since = monotonic()
        elif self._matches and monotonic() - self._waiting_since > PATIENT:
            assert self._link is not None
            self.tell(f"Warning: there are no nodes that can play at {self._link.address}; waiting for some.")
            self._waiting_since = float("inf")

    # Work comes back, or does not.

    def _take_in(self, event: BatchEnded, keep: Keep) -> list[Played]:
        """What has come back, read and then kept: no line is written that is no record, and none twice."""
        batch, done = self._matches.came_back(event.number), decode_done(event.done)
        played: list[Played] = []
        for line, notes in done.lines:
            record = _decode(line)
            job = self._matches.finish(record.id)
            if job is None:
                continue  # another node was quicker
            if record.spec != job.spec:
                raise ClusterLost(f"The node {batch.node.label} sent a record of {record.id} that is of another match.")
            self._matches.pace.add(record)
            played.append(Played(record, line, notes))
        keep([(one.line, one.notes) for one in played])
        batch.node.played, batch.node.came_at = batch.node.played + len(played), monotonic()
        batch.node.failures = 0
        for name in done.given_up:
            if self._matches.finish(name):
                self.given_up.append(name)
        self.losses += done.losses
        self._write_logs(done.logs)
        self._matches.put_back(batch)
        return played

    def _failed(self, number: int, error: Exception) -> None:
        """A batch was not played: its agent has died, or its node is not what it was."""
        node = self._matches.sent[number].node
        if isinstance(error, NotPrepared | CodeChanged) and node.address in self._nodes:
            self._matches.put_back(self._matches.came_back(number))
            self._ask(node)
            return
        if number > node.failed_before:  # several that are lost with one agent are one failure
            node.failures, node.failed_before = node.failures + 1, self._matches.number
        if node.failures >= MOST_FAILURES and node.address in self._nodes and node.state == "fit":
            self._nodes.refuse(
                node.address, f"its batches failed {node.failures} times in a row, at last so: {_told(error)}"
            )
            self.tell(f"The node {node.label} gets nothing more to do. {self._nodes.complaint([node])}")
        self._lose(number, _told(error))

    def _lose(self, number: int, why: str) -> None:
        """A batch is lost: it is played again, but for matches that nothing survives."""
        assert self._link is not None
        self._link.forget(number)
        batch = self._matches.came_back(number)
        lost, given_up = ([], []) if self._stopped else self._matches.lose(batch)
        if lost:
            self.losses.append(WorkerLoss(lost[0].spec.id, None, f"was lost with {len(lost) - 1} more: {why}"))
        self.given_up += given_up

    def _write_logs(self, logs: Mapping[str, bytes]) -> None:
        """What bots have printed on a node goes where it goes when they play here, and not beyond its size."""
        for name, text in logs.items() if self.settings.logs else ():
            append_to_log(Path(self.settings.logs, Path(name).name), text)

    def _stop(self) -> None:
        """Nodes finish what they play; of those that are silent nothing is expected."""
        assert self._link is not None
        self._stopped = True
        self._link.stop([node.address for node in self._nodes.playing()])

    def _give_up_unbegun(self, event: NodesStopped) -> None:
        """The run is to end: batches that wait at a node behind somebody else's tasks are not waited for."""
        for batch in list(self._matches.sent.values()):
            if batch.number not in event.playing.get(batch.node.address, [batch.number]):
                self._unbegun[batch.number] = monotonic() + STOP_TIME  # or it has just been finished

    def _give_up_silent(self) -> None:
        now = monotonic()
        for number, batch in list(self._matches.sent.items()):
            if not batch.node.plays or now > self._unbegun.get(number, now):
                self._lose(number, "it had not been played when the run was stopped")


def _told(error: Exception) -> str:
    """An error on a node, for a person."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "harness":
        return "arena is not installed there, or not for the Python of its Dask worker: pip install arena-harness"
    return f"{type(error).__name__}: {str(error).strip() or 'no more is known'}"
