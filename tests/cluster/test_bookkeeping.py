"""What the driver makes of what it hears, told by hand: nodes that fall silent, leave, fail and come back late."""

from __future__ import annotations

import asyncio
from collections import deque
from multiprocessing import Pipe
from pathlib import Path
from queue import Empty
from time import monotonic, sleep
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import replace

from harness.cluster import agent, driver
from harness.cluster import nodes as cluster_nodes
from harness.cluster.agent import AgentDied, BatchQueue
from harness.cluster.connect import ClusterHandle
from harness.cluster.link import BatchEnded, NodePrepared, NodesSeen, SeenNode
from harness.cluster.messages import (
    Batch,
    BatchDone,
    NodeFacts,
    decode_done,
    decode_order,
    encode_message,
    environment_facts,
)
from harness.core.options import BotLimits
from harness.core.records import GameRecord, MatchSpec
from harness.executors.base import ExecutorSettings, Job, Played, Roster, encode
from harness.match.faults import NO_LIMITS
from harness.match.referee import play
from tests.support.games import REGISTRY
from tests.support.waiting import within

[RANDOM] = REGISTRY.entrants(["random"])
GAME = REGISTRY.game("el-paso").configure({})
ROSTER = Roster({GAME.name: GAME}, {"random": RANDOM})
RECORD = play(MatchSpec.single("m", GAME.name, dict(GAME.settings), 1, ("random",) * 2), GAME, [RANDOM] * 2)


def jobs(count, first=0):
    spec = RECORD.spec
    return [Job(replace(spec, id=f"m{i}", index=i)) for i in range(first, first + count)]


def lines(order, seconds=0.0):
    """The lines of a batch: one record under all names."""
    time = (seconds,) * len(RECORD.time)
    named = (replace(RECORD, id=job.spec.id, index=job.spec.index, time=time) for job in order.jobs)
    return BatchDone(number=order.number, lines=[(encode(record), b"") for record in named])


class ToldLink:
    """In the place of a link: nodes are there and heard of as a test says, and do what it says."""

    def __init__(self, nodes, workers=1):
        self.address = "nowhere"
        self.nodes, self.workers = dict.fromkeys(nodes, True), workers
        """Whether each is heard of."""
        self.events, self.queue = self, deque()
        self.sent = []
        self.answers = lambda _address, order: self.answer(order)

    def answer(self, order, seconds=0.0):
        self.queue.append(BatchEnded(order.number, encode_message(lines(order, seconds)), None))

    def fail(self, order):
        self.queue.append(BatchEnded(order.number, b"", AgentDied("killed")))

    def get(self, timeout):
        if not self.queue:
            sleep(0.01)
            return self.seen()
        return self.queue.popleft()

    def seen(self):
        nodes = self.nodes.items()
        return NodesSeen({name: SeenNode(name, self.workers, monotonic() * heard) for name, heard in nodes})

    def get_nowait(self):
        if not self.queue:
            raise Empty
        return self.queue.popleft()

    def prepare(self, address, _setup, _wheels):
        facts = NodeFacts(same=environment_facts(ROSTER), workers=self.workers)
        self.queue.append(NodePrepared(address, encode_message(facts), None))

    def play(self, address, _number, batch):
        order = decode_order(batch)
        self.sent.append((address, order))
        self.answers(address, order)

    def open(self):
        pass

    def cancel_batch(self, _number):
        pass

    def close(self, _addresses):
        pass


@pytest.fixture
def executor(monkeypatch):
    def make(link):
        monkeypatch.setattr(driver, "open_cluster", lambda *_args: ClusterHandle("nowhere"))
        monkeypatch.setattr(driver, "SchedulerClient", lambda *_args: link)
        return driver.ClusterExecutor(ROSTER, ExecutorSettings(BotLimits(), NO_LIMITS, workers=0))

    with within():
        yield make


def names(played):
    return sorted(one.record.id for one in played)


def test_batches_lost_with_the_same_agent_count_as_one_failure(executor):
    link, lost = ToldLink(["a"], workers=4), []

    def answers(_address, order):
        if len(order.jobs) > 1:
            link.answer(order, seconds=60)  # slow matches: from then on each has a batch of its own
        elif len(lost) < 8:
            lost.append(order)
            if len(lost) == 8:
                for one in lost:
                    link.fail(one)
        else:
            link.answer(order)

    link.answers = answers
    with executor(link) as running:
        assert names(running.run(jobs(40))) == sorted(f"m{i}" for i in range(40))
        assert running.replayed == 8
        assert running.given_up == []


def test_a_node_that_fails_repeatedly_gets_no_more_batches(executor):
    link = ToldLink(["a", "b"])
    link.answers = lambda address, order: link.fail(order) if address == "a" else link.answer(order)
    with executor(link) as running:
        assert len(list(running.run(jobs(200)))) == 200
        failed = [order for address, order in link.sent if address == "a"]
        assert len(failed) <= 3 * driver.MAX_FAILURES_IN_A_ROW
        assert running.given_up == []


def test_the_driver_does_not_wait_for_a_silent_node_and_counts_its_late_results_once(executor, monkeypatch):
    monkeypatch.setattr(cluster_nodes, "SILENT_AFTER_S", 0.3)
    link, late = ToldLink(["a", "b"]), []

    def answers(address, order):
        if address == "b" and not late:
            link.nodes["b"] = False
            late.append(order)
        elif address == "a":
            link.answer(order)

    link.answers = answers
    kept, told = [], []
    with executor(link) as running:
        running.report = told.append
        first = names(running.run(jobs(50), kept.extend))
        assert first == sorted(f"m{i}" for i in range(50))
        assert late
        link.nodes["b"] = True
        link.answers = lambda _address, order: link.answer(order)
        link.queue.append(link.seen())
        link.answer(late[0])
        second = names(running.run(jobs(50, first=50), kept.extend))
        assert second == sorted(f"m{i}" for i in range(50, 100))
    assert len(kept) == 100
    assert [sentence.partition(";")[0] for sentence in told][:1] == ["The node b does not respond"]
    assert "The node b responds again." in told


def test_results_sent_by_a_node_that_has_left_are_not_counted_twice(executor):
    link, late = ToldLink(["a", "b"]), []

    def answers(address, order):
        if address == "a":
            link.answer(order)
        else:
            late.append(order)
            link.nodes.pop("b", None)

    link.answers = answers
    kept = []
    with executor(link) as running:
        played = running.run(jobs(300), kept.extend)
        found = [next(played) for _ in range(100)]
        for order in late:
            link.answer(order)
        found += played
        assert names(found) == sorted(f"m{i}" for i in range(300))
    assert late
    assert len(kept) == 300


def test_a_node_that_leaves_before_it_is_prepared_is_forgotten(executor):
    link = ToldLink(["a", "b"])
    prepare = link.prepare

    def leaves(address, setup, wheels):
        if address == "b":
            del link.nodes["b"]
            link.queue.append(link.seen())
        prepare(address, setup, wheels)

    link.prepare = leaves
    with executor(link) as running:
        assert len(list(running.run(jobs(20)))) == 20
        assert {address for address, _ in link.sent} == {"a"}


def test_a_batch_that_arrives_after_the_run_was_stopped_is_not_started(monkeypatch):
    monkeypatch.setattr("distributed.secede", lambda: None)
    monkeypatch.setattr(agent, "_wanted", lambda: lambda: True)
    monkeypatch.setitem(agent._services, "run", agent.NodeService(b"", 1, [], None, lambda: True))
    asyncio.run(agent.stop("run"))
    assert decode_done(agent.play("run", 7, encode_message(Batch(7, jobs(3))))) == BatchDone(number=7)


def test_an_agent_plays_a_match_once_for_all_batches_that_contain_it():
    ours, theirs = Pipe()
    orders = BatchQueue(theirs, Path("logs"))
    orders.pool = SimpleNamespace(given_up=[], losses=[])
    one, two, three, four = jobs(4)
    for batch in (Batch(1, [one, two]), Batch(2, [two, three, four])):
        ours.send_bytes(encode_message(batch))
    assert [job.spec.id for job in orders] == ["m0", "m1", "m2", "m3"]
    played = lines(Batch(0, [two, one, three])).lines
    orders.add_finished([Played(msgspec.json.decode(line, type=GameRecord), line, notes) for line, notes in played])
    orders.pool.given_up.append("m3")
    orders.send_finished()
    done = [decode_done(ours.recv_bytes()) for _ in range(2)]
    assert [(one.number, one.lines, one.given_up) for one in done] == [
        (1, played[:2], []),
        (2, [played[0], played[2]], ["m3"]),
    ]
