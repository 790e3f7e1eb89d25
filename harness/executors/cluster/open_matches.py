"""The matches that a driver has taken and that are not finished: where each is, what was lost, what comes next."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from time import monotonic

from harness.executors.cluster.cluster_nodes import ClusterNode
from harness.executors.jobs import Job
from harness.executors.match_pace import MatchPace

BATCH = 1.0
"""Seconds that a node has to play at a batch, about."""
MOST_BATCH = 2_000
"""Matches of a batch for each process that plays on a node."""
TRUST = 16
"""How much longer batches become while it is not known how long matches take: the way there and back takes its time."""
ALONE = 2
"""Times that a match was lost with a node, after which it travels alone: others are not to be lost with it again."""
PATIENCE = 10
"""...and after which it is given up."""
LATE = 20.0
"""Seconds beyond what it should take after which a batch is late: somebody else's task is before it, perhaps."""
UNKNOWN = 600.0
"""Seconds that a batch may take while nobody knows how long matches are."""


@dataclass(slots=True)
class SentBatch:
    """A batch that has not come back."""

    number: int
    node: ClusterNode
    jobs: dict[str, Job]
    due: float
    """When it should be back at the latest."""
    doubled: bool = False
    """Whether it is played elsewhere too, since its node is not heard of, or busy with something else."""

    @property
    def late(self) -> bool:
        """Whether it should be back, and nothing else has come from its node for long."""
        now = monotonic()
        return now > self.due and now > self.node.came_at + LATE


class OpenMatches:
    """What was taken of a list of jobs, and has no record yet."""

    def __init__(self) -> None:
        self.sent: dict[int, SentBatch] = {}
        """Batches that are out, by their numbers."""
        self.number = 0
        """Of the last batch."""
        self.pace = MatchPace(1, BATCH, MOST_BATCH, TRUST)
        self.replayed = 0
        """Matches that were given to another node, since theirs had left, was silent or busy."""
        self._open: dict[str, Job] = {}
        self._again: deque[Job] = deque()
        self._lost_with: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._open)

    def finish(self, match: str) -> Job | None:
        """The job of a match that has ended, which is not open any more; None if it was not."""
        return self._open.pop(match, None)

    def has_one(self, waiting: Iterator[Job]) -> bool:
        """Whether anything is open, or waits to be taken."""
        if not self._open:
            self._again.extend(self.take(1, waiting))
        return bool(self._open)

    def take(self, count: int, waiting: Iterator[Job]) -> deque[Job]:
        """So many jobs, those that were lost first; fewer if there are not so many now."""
        jobs: deque[Job] = deque()
        while self._again and len(jobs) < count:
            job = self._again.popleft()
            if job.spec.id in self._open:  # else its first node was heard of again
                jobs.append(job)
        for job in islice(waiting, count - len(jobs)):
            self._open[job.spec.id] = job
            jobs.append(job)
        return jobs

    def part(self, jobs: deque[Job], size: int) -> list[Job]:
        """The next jobs for one batch; one that was lost with several nodes is alone in it."""
        part: list[Job] = []
        while jobs and len(part) < size:
            alone = self._lost_with[jobs[0].spec.id] >= ALONE
            if alone and part:
                break
            part.append(jobs.popleft())
            if alone:
                break
        return part

    def size(self, node: ClusterNode) -> int:
        """Matches of a batch. Slow ones come one by one: nobody waits for the slowest of several."""
        return 1 if self.pace.seconds > BATCH else self.pace.ahead * node.workers

    def wanted(self, node: ClusterNode) -> int:
        """How many matches a node can do with now; none as long as it has nearly enough."""
        size = self.size(node)
        wanted = max(2 * size, 2 * node.workers) - node.matches
        return wanted if wanted >= size or node.matches < node.workers else 0

    def send(self, node: ClusterNode, jobs: list[Job]) -> SentBatch:
        """A batch that is on its way from now on."""
        self.number += 1
        node.matches += len(jobs)
        expected = TRUST * self.pace.seconds * node.matches / node.workers if self.pace.matches else UNKNOWN
        due = monotonic() + LATE + expected
        batch = SentBatch(self.number, node, {job.spec.id: job for job in jobs}, due)
        self.sent[batch.number] = batch
        node.batches.add(batch.number)
        return batch

    def came_back(self, number: int) -> SentBatch:
        """A batch that is not out any more."""
        batch = self.sent.pop(number)
        batch.node.batches.discard(number)
        batch.node.matches -= len(batch.jobs)
        return batch

    def put_back(self, batch: SentBatch) -> None:
        """What is open of a batch that came back is played again, unless somebody does already."""
        if not batch.doubled:
            self._again.extendleft(self._of(batch))

    def double(self, batch: SentBatch) -> None:
        """Somebody else plays a batch too; whoever is first with a match counts."""
        batch.doubled = True
        again = self._of(batch)
        self._again.extend(again)
        self.replayed += len(again)

    def lose(self, batch: SentBatch) -> tuple[list[Job], list[str]]:
        """What is lost with a batch, and will be played again; and of these the matches that nothing survives, which
        are given up."""
        lost = [] if batch.doubled else self._of(batch)
        given_up = []
        for job in reversed(lost):
            name = job.spec.id
            self._lost_with[name] += 1
            if self._lost_with[name] > PATIENCE:
                del self._open[name]
                given_up.append(name)
            else:
                self._again.appendleft(job)
                self.replayed += 1
        return lost, given_up

    def _of(self, batch: SentBatch) -> list[Job]:
        return [job for name, job in batch.jobs.items() if name in self._open]
