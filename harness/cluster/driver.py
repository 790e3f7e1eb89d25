"""The cluster executor: sends batches of jobs to nodes, and stores what comes back.

Each batch is a Dask task that is pinned to one node. If that node leaves the cluster, its batches are played again
elsewhere. If it is only silent, they are played elsewhere too, and the first record of each match counts. Only the
driver writes to the run folder.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import ClassVar, Self

import msgspec

from harness.cluster.agent import CodeChanged, NotPrepared
from harness.cluster.connect import ClusterHandle, open_cluster
from harness.cluster.link import (
    BatchEnded,
    ClusterEvent,
    NodePrepared,
    NodesSeen,
    NodesStopped,
    SchedulerClient,
    SchedulerLost,
)
from harness.cluster.messages import (
    Batch,
    NodeSetup,
    decode_done,
    decode_facts,
    encode_message,
    environment_facts,
    installed_modules,
    pack_for_nodes,
    python_here,
)
from harness.cluster.nodes import ClusterNode, ClusterNodes, InFlightMatches
from harness.cluster.wheels import wheels_for
from harness.core.errors import ArenaError, UsageError
from harness.core.records import GameRecord
from harness.executors.base import Executor, ExecutorSettings, Job, Keep, Played, Roster, WorkerLoss, discard
from harness.match.stdio import append_to_log

POLL_INTERVAL_S = 0.1
"""Time between two checks of whether the run should stop."""
MAX_FAILURES_IN_A_ROW = 3
"""Failures in a row after which a node gets no more matches."""
REPORT_WAIT_AFTER_S, START_WITHOUT_AFTER_S = 2.0, 20.0
"""Time after which the user sees that nodes are being asked, and after which the run starts with those that
answered."""
NO_NODES_WARNING_S = 5.0
"""Time without nodes after which the user is warned."""
STOP_TIMEOUT_S = 5.0
"""Time for finished matches to arrive after the run was stopped."""
MAX_NODES_LISTED = 4
"""Largest number of nodes of which each rate is shown."""

_decode = msgspec.json.Decoder(GameRecord).decode


class ClusterLost(ArenaError):
    """The run cannot continue here; all finished matches are on disk."""


class ClusterExecutor(Executor):
    """Plays on the nodes of a Dask cluster. Records are the same as in `SerialExecutor`, whatever the nodes."""

    elsewhere: ClassVar[bool] = True

    def __init__(
        self, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(roster, should_stop)
        self.settings = settings
        self._cluster: ClusterHandle | None = None
        self._scheduler: SchedulerClient | None = None
        self._nodes = ClusterNodes(environment_facts(roster))
        self._setup = b""
        self._wheels: dict[str, bytes] = {}
        self._in_flight = InFlightMatches()
        self._stopped = False
        self._stop_deadlines: dict[int, float] = {}
        """By number, when to give up batches that their node had not started when the run was stopped."""
        self._started = False
        """Whether all nodes that were there at the start have been accepted."""
        self._waiting_since: float | None = None

    @classmethod
    def open(cls, roster: Roster, settings: ExecutorSettings, should_stop: Callable[[], bool]) -> Self:
        """Return the executor for a run on a cluster."""
        return cls(roster, settings, should_stop)

    def __enter__(self) -> Self:
        setup = NodeSetup(
            python=python_here(),
            roster=pack_for_nodes(self.roster),
            limits=self.settings.limits,
            workers=self.settings.workers,
        )
        self._setup = encode_message(setup)
        if self.settings.cluster.ship:
            self._wheels = wheels_for(installed_modules(self.roster))
        self._cluster = open_cluster(self.settings.cluster.address, self.report)
        try:
            address, security, _ = self._cluster
            self._scheduler = SchedulerClient(address, secrets.token_hex(4), security)
            self._scheduler.open()
            self._wait_for_answers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        if self._scheduler is not None:
            # A silent node would only delay the end of the run.
            answering = [node for node in self._nodes.values() if node.facts is not None and not node.silent]
            self._scheduler.close([node.address for node in answering])
        if self._cluster is not None:
            self._cluster.close()
        super().__exit__()

    @property
    def replayed(self) -> int:
        """Matches that were sent again, because their node left, was silent or busy."""
        return self._in_flight.replayed

    def status(self) -> str:
        """Return how many nodes play, how fast each is, and how much was played again."""
        nodes = self._nodes.playing()
        rates = [f"{node.rate:,.0f}" for node in nodes]
        if len(nodes) > MAX_NODES_LISTED:
            slowest, quickest = (f"{pick(node.rate for node in nodes):,.0f}" for pick in (min, max))
            rates = [f"{slowest} to {quickest}"]
        each = f" ({'+'.join(rates)}/s{' each' if len(nodes) > MAX_NODES_LISTED else ''})" if len(nodes) > 1 else ""
        again = f", {self.replayed:,} played again" if self.replayed else ""
        return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}{each}{again}"

    def run(self, jobs: Iterable[Job], keep: Keep = discard) -> Iterator[Played]:
        """Play these matches; the lines of a returned batch are kept at once."""
        waiting = iter(jobs)
        while True:
            if self._stopped:
                self._give_up_overdue()
            elif self.should_stop():
                self._stop()
            else:
                self._send_jobs(waiting)
            # has_open takes a job, so it must not be called after a stop: that job would never be played.
            nothing_open = not (self._in_flight if self._stopped else self._in_flight.has_open(waiting))
            if nothing_open or (self._stopped and not self._in_flight.sent):
                return  # batches that are still out hold only matches that another node has finished
            for event in self._events():
                yield from self._handle_event(event, keep)

    def _events(self, seconds: float = POLL_INTERVAL_S) -> Iterator[ClusterEvent]:
        """Yield the events so far, after waiting up to `seconds` for the first."""
        assert self._scheduler is not None, "an executor is used as a context manager"
        with suppress(Empty):
            yield self._scheduler.events.get(timeout=seconds)
            while True:
                yield self._scheduler.events.get_nowait()

    def _wait_for_answers(self) -> None:
        """Wait until all present nodes have sent their facts; raise UsageError if one of them cannot play."""
        began, reported = monotonic(), False
        while not self._nodes.listed or any(node.state == "asked" and not node.silent for node in self._nodes.values()):
            if self.should_stop():
                return
            waited = monotonic() - began
            if waited > REPORT_WAIT_AFTER_S and not reported:
                self.report(f"Waiting for {len(self._nodes)} nodes to report their versions ...")
                reported = True
            if waited > START_WITHOUT_AFTER_S and self._nodes.playing():
                break  # later answers are checked when they arrive
            for event in self._events():
                for _ in self._handle_event(event, discard):
                    raise AssertionError("nothing has been sent yet")
        # At the start a node that does not fit is an error: the user can still fix the cluster.
        if refused := [node for node in self._nodes.values() if node.state == "refused"]:
            other_code = any(one.what != "python" for node in refused for one in node.differs)
            raise UsageError(self._nodes.refusal_text(refused), fix="ship" if other_code else "")
        # From now on a node that does not fit is skipped with a message instead of ending the run.
        self._started = True

    def _handle_event(self, event: ClusterEvent, keep: Keep) -> Iterator[Played]:
        if isinstance(event, BatchEnded):
            if event.number not in self._in_flight.sent:
                return  # a late or repeated answer: the batch was already handled as lost
            if event.error is None:
                yield from self._keep_results(event, keep)
            else:
                self._batch_failed(event.number, event.error)
        elif isinstance(event, NodesSeen):
            self._update_nodes(event)
        elif isinstance(event, NodePrepared):
            self._accept_or_refuse(event)
        elif isinstance(event, NodesStopped):
            self._set_stop_deadlines(event)
        elif isinstance(event, SchedulerLost):
            assert self._scheduler is not None
            raise ClusterLost(
                f"The Dask scheduler at {self._scheduler.address} is gone, and the run ends here. Finished matches are "
                f"saved, and the run can be continued on any machine or cluster.",
                fix="resume",
            )

    # Nodes join, leave and fall silent.

    def _update_nodes(self, event: NodesSeen) -> None:
        joined, gone = self._nodes.update_seen(event.nodes)
        for node in joined:
            self._prepare_node(node)
        for node in gone:
            if node.batches:
                self.report(f"The node {node.label} has left; its matches are played elsewhere.")
            for number in list(node.batches):
                self._lose_batch(number, f"its node {node.label} left")
        for node in self._nodes.values():
            self._check_silence(node)
        if joined or gone:
            self._in_flight.sizer.workers = max(1, self._nodes.workers())

    def _check_silence(self, node: ClusterNode) -> None:
        """Send the matches of a silent node to other nodes too, and report when it falls silent and when it is back."""
        if not node.silent:
            if node.silence_reported:
                self.report(f"The node {node.label} responds again.")
            node.silence_reported = False
            return
        late = [self._in_flight.sent[number] for number in node.batches if not self._in_flight.sent[number].duplicated]
        if late:
            self.report(f"The node {node.label} does not respond; its matches are also played elsewhere.")
            node.silence_reported = True
        for batch in late:
            self._in_flight.duplicate_batch(batch)

    def _prepare_node(self, node: ClusterNode) -> None:
        assert self._scheduler is not None
        node.state = "asked"
        self._scheduler.prepare(node.address, self._setup, self._wheels)

    def _accept_or_refuse(self, event: NodePrepared) -> None:
        # The node left while it was starting.
        if event.address not in self._nodes:
            return
        if event.error is not None:
            self._nodes.refuse(event.address, _describe_error(event.error))
        else:
            self._nodes.check_facts(event.address, decode_facts(event.facts))
        node = self._nodes[event.address]
        self._in_flight.sizer.workers = max(1, self._nodes.workers())
        if node.facts is not None and node.state == "fit":
            for sentence in node.facts.lacking:
                named = sentence.replace("this machine", f"the node {node.label}", 1)
                self.report("Warning: " + named.replace("'arena doctor' says", "'arena doctor' there says"))
        elif self._started:
            self.report(f"The node {node.label} gets no matches. {self._nodes.refusal_text([node])}")

    # Sending matches.

    def _send_jobs(self, waiting: Iterator[Job]) -> None:
        """Send each node enough matches: a batch to play, and another that waits behind it."""
        # Most idle nodes first, so that scarce jobs go where they start at once.
        playing = sorted(self._nodes.playing(), key=lambda node: node.matches / node.workers)
        late = [batch for batch in self._in_flight.sent.values() if batch.late]
        # A node with a late batch gets nothing new: the task of another user may occupy it for hours.
        stuck = {batch.node.address for batch in late}
        wanting = [
            (node, wanted)
            for node in playing
            if node.address not in stuck and (wanted := self._in_flight.jobs_wanted(node))
        ]
        if not playing:
            self._warn_no_nodes()
        if not wanting:
            return
        assert self._scheduler is not None
        self._waiting_since = None
        asked = sum(wanted for _, wanted in wanting)
        jobs = self._in_flight.take_jobs(asked, waiting)
        scarce = len(jobs) < asked
        for batch in late if scarce else ():
            if not batch.duplicated:
                self._in_flight.duplicate_batch(batch)  # other nodes are idle, so they play the late matches as well
        # Near the end of a run or round, split what is left over all nodes instead of filling the first one.
        share = -(-len(jobs) // sum(node.workers for node, _ in wanting))
        while jobs:
            for node, _ in wanting:
                size = self._in_flight.batch_size(node)
                part = self._in_flight.next_batch(jobs, min(size, share * node.workers) if scarce else size)
                if part:
                    number = self._in_flight.add_batch(node, part).number
                    self._scheduler.play(node.address, number, encode_message(Batch(number, part)))

    def _warn_no_nodes(self) -> None:
        """Warn that no node can play, or raise ClusterLost if all were refused."""
        refused = [node for node in self._nodes.values() if node.state == "refused"]
        if self._in_flight and refused and len(refused) == len(self._nodes):
            raise ClusterLost(
                f"No node can play any more. {self._nodes.refusal_text(refused)} Finished matches are saved.",
                fix="resume",
            )
        if self._waiting_since is None:
            self._waiting_since = monotonic()
        elif self._in_flight and monotonic() - self._waiting_since > NO_NODES_WARNING_S:
            assert self._scheduler is not None
            self.report(f"Warning: no node can play at {self._scheduler.address}; waiting for one to join.")
            self._waiting_since = float("inf")

    # Results and losses.

    def _keep_results(self, event: BatchEnded, keep: Keep) -> list[Played]:
        """Decode a returned batch, then keep its lines: only valid records are written, and each match once."""
        batch, done = self._in_flight.pop_batch(event.number), decode_done(event.done)
        played: list[Played] = []
        for line, notes in done.lines:
            record = _decode(line)
            # None if the match already has a record, so a repeated match is written once.
            job = self._in_flight.finish_match(record.id)
            if job is None:
                continue  # another node was faster
            # A node with a bug must not get a wrong record into the run folder.
            if record.spec != job.spec:
                raise ClusterLost(
                    f"The node {batch.node.label} sent a record for {record.id} that belongs to another match."
                )
            self._in_flight.sizer.add_match(record)
            played.append(Played(record, line, notes))
        keep(played)
        batch.node.played, batch.node.last_result_at = batch.node.played + len(played), monotonic()
        batch.node.failures = 0
        for name in done.given_up:
            # Another node may have finished the match that this one gave up.
            if self._in_flight.finish_match(name):
                self.given_up.append(name)
        self.losses += done.losses
        if self.settings.logs is not None:
            for name, text in done.logs.items():
                # Only the last part of the name: a node must not write outside of the run folder.
                append_to_log(self.settings.logs / Path(name).name, text)
                if self.settings.show_output:
                    self.report(text.decode(errors="replace").rstrip())
        # After a stop a batch comes back incomplete.
        self._in_flight.requeue_batch(batch)
        return played

    def _batch_failed(self, number: int, error: Exception) -> None:
        """Handle a batch that failed: its agent died, or its node has lost the setup or changed its code."""
        node = self._in_flight.sent[number].node
        # The node restarted, or evicted this run: the matches are not at fault, so send the setup again.
        if isinstance(error, NotPrepared | CodeChanged) and node.address in self._nodes:
            self._in_flight.requeue_batch(self._in_flight.pop_batch(number))
            self._prepare_node(node)
            return
        if number > node.failed_before:  # batches that are lost together with one agent count as one failure
            node.failures, node.failed_before = node.failures + 1, self._in_flight.number
        if node.failures >= MAX_FAILURES_IN_A_ROW and node.address in self._nodes and node.state == "fit":
            self._nodes.refuse(
                node.address,
                f"its batches failed {node.failures} times in a row, most recently: {_describe_error(error)}",
            )
            self.report(f"The node {node.label} gets no more matches. {self._nodes.refusal_text([node])}")
        self._lose_batch(number, _describe_error(error))

    def _lose_batch(self, number: int, why: str) -> None:
        """Queue the matches of a lost batch again, except those that are given up."""
        assert self._scheduler is not None
        # Its result would be ignored anyway; this frees the node.
        self._scheduler.cancel_batch(number)
        batch = self._in_flight.pop_batch(number)
        lost, given_up = ([], []) if self._stopped else self._in_flight.lose_batch(batch)
        if lost:
            self.losses.append(WorkerLoss(lost[0].spec.id, None, f"was lost with {len(lost) - 1} more: {why}"))
        self.given_up += given_up

    def _stop(self) -> None:
        """Ask nodes to finish what they are playing."""
        assert self._scheduler is not None
        self._stopped = True
        self._scheduler.stop([node.address for node in self._nodes.playing()])

    def _set_stop_deadlines(self, event: NodesStopped) -> None:
        """Limit the wait for batches that a node has not started: they may queue behind another user's tasks."""
        for batch in list(self._in_flight.sent.values()):
            if batch.number not in event.playing.get(batch.node.address, [batch.number]):
                # a short wait: it may be finished and on its way
                self._stop_deadlines[batch.number] = monotonic() + STOP_TIMEOUT_S

    def _give_up_overdue(self) -> None:
        now = monotonic()
        for number, batch in list(self._in_flight.sent.items()):
            if not batch.node.can_play or now > self._stop_deadlines.get(number, now):
                self._lose_batch(number, "it had not been played when the run was stopped")


def _describe_error(error: Exception) -> str:
    """Return an error of a node as text for the user."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "harness":
        return "arena is not installed there, or not for the Python of its Dask worker: pip install arena-harness"
    return f"{type(error).__name__}: {str(error).strip() or 'no more is known'}"
