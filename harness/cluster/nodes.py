"""The driver's bookkeeping: nodes, and the matches that each of them has."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import monotonic
from typing import Literal

from harness.cluster.link import SeenNode
from harness.cluster.messages import NodeDifference, NodeFacts, difference_table, differences, remedy
from harness.executors.base import Job
from harness.executors.pool import BatchSizer

# Nodes: which there are, which can play, how many matches each has, how fast it is.


SILENT_AFTER_S = 15.0
"""Time without a heartbeat after which a node gets no more matches and its own are also sent to other nodes. It may
come back: the first record of a match counts."""

NodeState = Literal["asked", "fit", "refused"]


@dataclass(slots=True)
class ClusterNode:
    """A node as the driver sees it."""

    address: str
    name: str
    workers: int
    """Worker processes on it."""
    state: NodeState = "asked"
    facts: NodeFacts | None = None
    why: str = ""
    """Why it was refused, if its facts do not differ."""
    batches: set[int] = field(default_factory=set)
    matches: int = 0
    """Matches that were sent to it and are not finished."""
    played: int = 0
    last_result_at: float = field(default_factory=monotonic)
    """When it returned a batch, or joined."""
    failures: int = 0
    """Failures in a row."""
    failed_before: int = 0
    """Number of the last batch sent before the latest failure: batches up to it may be lost together."""
    differs: list[NodeDifference] = field(default_factory=list)
    started_at: float = field(default_factory=monotonic)
    last_seen: float = 0.0
    seen_at: float = field(default_factory=monotonic)
    """When the driver saw a new heartbeat, by its own clock: clocks of machines differ."""
    silence_reported: bool = False
    """Whether the user was warned that it is silent."""

    @property
    def silent(self) -> bool:
        """Whether its heartbeats have stopped."""
        return monotonic() - self.seen_at > SILENT_AFTER_S

    @property
    def can_play(self) -> bool:
        """Whether it can be sent matches."""
        return self.state == "fit" and not self.silent

    @property
    def label(self) -> str:
        """Its name with its address, for messages."""
        return self.address if self.name == self.address else f"{self.name} ({self.address})"

    @property
    def rate(self) -> float:
        """Matches a second since it was accepted."""
        return self.played / max(monotonic() - self.started_at, 1e-9)


class ClusterNodes(dict[str, ClusterNode]):
    """The nodes of a cluster, by address."""

    def __init__(self, here: Mapping[str, str]) -> None:
        """`here` holds the facts of this machine, which every node must match."""
        super().__init__()
        self._here = here
        self.listed = False
        """Whether the scheduler has listed its nodes at least once."""

    def playing(self) -> list[ClusterNode]:
        """Return the nodes that can be sent matches."""
        return [node for node in self.values() if node.can_play]

    def workers(self) -> int:
        """Return the number of worker processes on nodes that can play."""
        return sum(node.workers for node in self.playing())

    def update_seen(self, seen: Mapping[str, SeenNode]) -> tuple[list[ClusterNode], list[ClusterNode]]:
        """Update the nodes from the scheduler's list; return those that joined and those that left."""
        self.listed = True
        # A node that restarts usually gets a new address, so it counts as one that left and one that joined.
        gone = [self.pop(address) for address in [*self] if address not in seen]
        joined = []
        for address, node in seen.items():
            known = self.get(address)
            if known is None:
                known = self[address] = ClusterNode(address, node.name, node.threads)
                joined.append(known)
            # Only changes count: last_seen is by the scheduler's clock and cannot be compared with ours.
            if node.last_seen != known.last_seen:
                known.last_seen, known.seen_at = node.last_seen, monotonic()
        return joined, gone

    def check_facts(self, address: str, facts: NodeFacts) -> None:
        """Store a node's facts and accept it if they equal those of this machine: only then are its records the
        same."""
        node = self[address]
        node.facts, node.workers, node.differs = facts, facts.workers, differences(self._here, node.label, facts)
        node.state = "refused" if node.differs or facts.problem else "fit"
        node.why, node.started_at = facts.problem, monotonic()

    def refusal_text(self, refused: Sequence[ClusterNode]) -> str:
        """Return why these nodes cannot play, and what to do about it."""
        found = [one for node in refused for one in node.differs]
        lines = [
            f"{node.label} cannot play: {node.why.rstrip('.')}." for node in refused if node.why and not node.differs
        ]
        if lines:
            lines.append("The log of its Dask worker may say more. Fix it, or remove the node from the cluster.")
        if found:
            lines += [f"Some nodes do not have what this run needs:\n\n{difference_table(found)}\n\n{remedy(found)}"]
        return "\n".join(lines)

    def refuse(self, address: str, why: str) -> None:
        """Send no more matches to this node."""
        self[address].state, self[address].why = "refused", why


# Matches in flight: those that were taken from the schedule and have no record yet.


BATCH_S = 1.0
"""Approximate time that a node takes for a batch."""
MAX_BATCH_MATCHES = 2_000
"""Largest batch, for each worker process of a node."""
FIRST_BATCH_GROWTH = 16
"""How fast first batches grow, while it is not known how long matches take: a round trip to a node is slow."""
ALONE_AFTER_LOSSES = 2
"""After this many losses a match travels alone, so that it cannot take others with it again, ..."""
MAX_LOSSES = 10
"""... and after this many it is given up."""
LATE_AFTER_S = 20.0
"""Time beyond its estimate after which a batch is late: the node may be busy with the task of another user."""
FIRST_BATCH_TIMEOUT_S = 600.0
"""Time for a batch while it is not known how long matches take."""


@dataclass(slots=True)
class SentBatch:
    """A batch that was sent and not returned."""

    number: int
    node: ClusterNode
    jobs: dict[str, Job]
    due: float
    """When it should be back."""
    duplicated: bool = False
    """Whether its matches were also sent to other nodes, because its own is silent or busy."""

    @property
    def late(self) -> bool:
        """Whether it is overdue and its node has returned nothing else for a while."""
        now = monotonic()
        return now > self.due and now > self.node.last_result_at + LATE_AFTER_S


class InFlightMatches:
    """Where each unfinished match is.

    A match can be in several batches, because a silent node may come back. It leaves `_open` with its first record;
    later records of it are ignored, so that a repeated message has no effect.
    """

    def __init__(self) -> None:
        self.sent: dict[int, SentBatch] = {}
        """Batches that were sent, by number."""
        self.number = 0
        """Number of the last batch."""
        self.sizer = BatchSizer(1, BATCH_S, MAX_BATCH_MATCHES, FIRST_BATCH_GROWTH)
        self.replayed = 0
        """Matches that were sent again, because their node left, was silent or busy."""
        self._open: dict[str, Job] = {}
        self._requeued: deque[Job] = deque()
        self._losses: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._open)

    def finish_match(self, match: str) -> Job | None:
        """Close a match and return its job; None if it was already closed."""
        return self._open.pop(match, None)

    def has_open(self, waiting: Iterator[Job]) -> bool:
        """Return whether a match is open or can be taken from `waiting`."""
        if not self._open:
            self._requeued.extend(self.take_jobs(1, waiting))
        return bool(self._open)

    def take_jobs(self, count: int, waiting: Iterator[Job]) -> deque[Job]:
        """Return up to `count` jobs, lost ones first."""
        jobs: deque[Job] = deque()
        while self._requeued and len(jobs) < count:
            job = self._requeued.popleft()
            if job.spec.id in self._open:  # otherwise its first node came back with the record
                jobs.append(job)
        for job in islice(waiting, count - len(jobs)):
            self._open[job.spec.id] = job
            jobs.append(job)
        return jobs

    def next_batch(self, jobs: deque[Job], size: int) -> list[Job]:
        """Return the next jobs for one batch; a job that was lost with several nodes is alone in it."""
        part: list[Job] = []
        while jobs and len(part) < size:
            # A match that kills its node would otherwise take its whole batch along again and again.
            alone = self._losses[jobs[0].spec.id] >= ALONE_AFTER_LOSSES
            if alone and part:
                break
            part.append(jobs.popleft())
            if alone:
                break
        return part

    def batch_size(self, node: ClusterNode) -> int:
        """Return the size of a batch. Slow matches are sent one by one, so that no worker waits for the slowest of
        several."""
        return 1 if self.sizer.match_seconds > BATCH_S else self.sizer.matches_ahead * node.workers

    def jobs_wanted(self, node: ClusterNode) -> int:
        """Return how many matches to send to a node; 0 while it has nearly enough."""
        size = self.batch_size(node)
        # Two batches: one that is played, and one that waits, so that the round trip costs no time.
        wanted = max(2 * size, 2 * node.workers) - node.matches
        return wanted if wanted >= size or node.matches < node.workers else 0

    def add_batch(self, node: ClusterNode, jobs: list[Job]) -> SentBatch:
        """Register a new batch for a node."""
        self.number += 1
        node.matches += len(jobs)
        # Generous: bots differ, and a late batch is only duplicated when other nodes are idle.
        estimate = FIRST_BATCH_GROWTH * self.sizer.match_seconds * node.matches / node.workers
        expected = estimate if self.sizer.matches_played else FIRST_BATCH_TIMEOUT_S
        due = monotonic() + LATE_AFTER_S + expected
        batch = SentBatch(self.number, node, {job.spec.id: job for job in jobs}, due)
        self.sent[batch.number] = batch
        node.batches.add(batch.number)
        return batch

    def pop_batch(self, number: int) -> SentBatch:
        """Remove a batch that was returned or lost, and return it."""
        batch = self.sent.pop(number)
        batch.node.batches.discard(number)
        batch.node.matches -= len(batch.jobs)
        return batch

    def requeue_batch(self, batch: SentBatch) -> None:
        """Queue the open matches of a returned batch again, unless they were already sent elsewhere."""
        if not batch.duplicated:
            # To the front: the caller may be waiting for the end of their round.
            self._requeued.extendleft(self._open_jobs(batch))

    def duplicate_batch(self, batch: SentBatch) -> None:
        """Queue the matches of a batch for another node as well; the first record of a match counts."""
        batch.duplicated = True
        again = self._open_jobs(batch)
        self._requeued.extend(again)
        self.replayed += len(again)

    def lose_batch(self, batch: SentBatch) -> tuple[list[Job], list[str]]:
        """Queue the matches of a lost batch again; return them, and the ids of those that are given up."""
        # If the batch was duplicated, its matches are already queued or with another node.
        lost = [] if batch.duplicated else self._open_jobs(batch)
        given_up = []
        # Reversed, because each goes to the front of the queue: the order of the schedule is kept.
        for job in reversed(lost):
            name = job.spec.id
            self._losses[name] += 1
            if self._losses[name] > MAX_LOSSES:
                del self._open[name]
                given_up.append(name)
            else:
                self._requeued.appendleft(job)
                self.replayed += 1
        return lost, given_up

    def _open_jobs(self, batch: SentBatch) -> list[Job]:
        return [job for name, job in batch.jobs.items() if name in self._open]
