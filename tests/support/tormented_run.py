"""A run on a cluster that is disturbed in every way, and goes on until it is let go."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import sleep
from typing import Any

from tests.support import dawdler, impatient
from tests.support.dask_cluster import MARK, ROOT, DaskCluster
from tests.support.namespaces import Machines
from tests.support.run_folders import records, table, written
from tests.support.waiting import PATIENCE, wait_for

FIELD = ["--game", "el-paso", "--bot", "random", "--bot", "skittish", "--bot", "diehard",
         "--bot", f"dawdler={dawdler.__file__}", "--seed", "5", "--move-time", "60", "--isolate", "off"]  # fmt: skip
QUICKLY, SLOWLY = (0.003, 0.01, 0.03), 0.15
"""Seconds for a decision of the dawdler while the run is to get farther (one of these: matches come by the batch, or
one by one), and while something is being done to it: it must not be over by then."""
CUT = 20.0
"""Seconds for which a wire is cut, with all the patience that arena has."""
UNHEARD, HEARD = "does not respond; its matches", "responds again"
FARTHER = 6
"""Records that are written, at most, between two disturbances: their moments are random."""


def parent_of(pid: int) -> int:
    """The parent of a process; 0 if it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


class TormentedRun:
    """A run named "hard" on three nodes. While it is entered it is held: it does not end before it is let go.

    Every way of disturbing it is a method. Each waits until the run has got a little farther, does its harm, and waits
    until that has been seen to; a way that ends the run says so by `ended`, and it is continued by `go_on`.
    """

    def __init__(
        self,
        folder: Path,
        rng: random.Random,
        deals: int,
        threads: Sequence[int] = (1, 1, 1),
        machines: Machines | None = None,
        patient: bool = False,
    ) -> None:
        """`threads` are those of each node; `machines` are where the nodes are, if not here, and scheduler and driver
        at their hub. `patient` is as patient as arena is."""
        self.folder, self.rng, self.deals, self.threads = folder, rng, deals, threads
        self.machines, self.patient = machines, patient
        self.hold = folder / "hold"
        self.harm: list[str] = []
        """What was done to it."""
        self.frozen: list[int] = []
        self._stack = ExitStack()
        self._log = folder / "stderr"

    def __enter__(self) -> TormentedRun:
        self._pause(SLOWLY)
        self._stack.callback(self._clean_up)
        try:
            self.cluster = self._new_cluster()
            self._start(*FIELD, "--deals", self.deals, "--name", "hard", "--cluster", self.cluster.address)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_error: Any) -> None:
        self._stack.close()

    def _new_cluster(self) -> DaskCluster:
        options = () if self.patient else ("--preload", "tests.support.impatient")
        held = {dawdler.HOLD: str(self.hold)}
        if self.machines:
            hub, prefix = self.machines.hub, self.machines.prefix()
            cluster = DaskCluster(self.folder, host=hub, prefix=prefix, options=options, **held)
        else:
            cluster = DaskCluster(self.folder, options=options, **held)
        self._stack.enter_context(cluster)
        for number, threads in enumerate(self.threads, 1):
            if self.machines:
                cluster.add_node(threads, prefix=self.machines.prefix(number), host=self.machines.address(number))
            else:
                cluster.add_node(threads)
        return cluster

    def _clean_up(self) -> None:
        self._end_frozen()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _start(self, *args: object) -> None:
        arena = "harness" if self.patient else "tests.support.impatient"
        there = self.machines.prefix() if self.machines else []
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*there, sys.executable, "-m", arena, "tournament", *map(str, args)],
                env={**os.environ, "PYTHONPATH": str(ROOT), MARK: self.cluster.mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    # What can be seen of it.

    @property
    def said(self) -> str:
        """What it has said on stderr since it was started or continued."""
        return self._log.read_text()

    @property
    def ended(self) -> bool:
        """Whether it must be continued."""
        return self.process.poll() is not None

    def wait(self, happened: Callable[[], Any], what: str) -> Any:
        """What the condition gave when it had happened; the run must not end before."""
        try:
            found = wait_for(lambda: self.ended or happened(), what)
        except AssertionError as error:
            raise AssertionError(f"{error} {self}") from None
        assert not self.ended, f"it ended, with exit code {self.process.returncode}, before {what} {self}"
        return found

    def __str__(self) -> str:
        return f"(after {', '.join(self.harm) or 'nothing'}; {written('hard')} records; it said: {self.said})"

    def agents(self) -> dict[int, int]:
        """Processes of the agents that play, by the nodes that have begun them."""
        nodes = {node.pid for node in self.cluster.nodes}
        return {parent: pid for pid in self.cluster.agents() if (parent := parent_of(pid)) in nodes}

    def pool_workers(self, agent: int) -> list[int]:
        """Processes of the pool of an agent."""
        return [pid for pid in self.cluster.agents() if parent_of(parent_of(pid)) == agent]

    def _living(self) -> list[int]:
        return [node.pid for node in self.cluster.nodes if node.poll() is None and node.pid not in self.frozen]

    def _threads_of(self, pid: int) -> int:
        [command] = [[str(word) for word in node.args] for node in self.cluster.nodes if node.pid == pid]
        return int(command[command.index("--nthreads") + 1])

    def _play_a_little(self) -> None:
        enough = written("hard") + self.rng.randint(1, FARTHER)
        self._pause(self.rng.choice(QUICKLY))
        self.wait(lambda: written("hard") >= enough, f"{enough} records are written")
        self._pause(SLOWLY)

    def _pause(self, seconds: float) -> None:
        new = self.hold.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self.hold)

    def _signal(self, pid: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    def _freeze(self, pid: int) -> None:
        self.frozen.append(pid)
        self._signal(pid, signal.SIGSTOP)

    def _thaw(self, pid: int) -> None:
        self.frozen.remove(pid)
        self._signal(pid, signal.SIGCONT)

    def _end_frozen(self) -> None:
        for pid in self.frozen:
            self._signal(pid, signal.SIGKILL)
        self.frozen.clear()

    # What is done to it.

    def disturb(self, way: str) -> None:
        """Harms it at a random moment."""
        if self.ended:
            self.go_on()
        self._play_a_little()
        self.harm.append(way)
        getattr(self, way)()

    def kill_a_node(self) -> None:
        """Another one comes in its place, and plays."""
        self._kill_nodes([self.rng.choice(self._living())])
        self._add_a_node()

    def kill_all_nodes(self) -> None:
        """The run waits for one to come."""
        self._kill_nodes(self._living())
        self._add_a_node()

    def _kill_nodes(self, pids: Sequence[int]) -> None:
        for node in self.cluster.nodes:
            if node.pid in pids:
                node.kill()
                node.wait()

    def _add_a_node(self) -> None:
        new = self.cluster.add_node(self.rng.choice(self.threads))
        self.wait(lambda: new.pid in self.agents(), "the new node plays")

    def kill_an_agent(self) -> None:
        """Its node begins another one."""
        node, agent = self._an_agent()
        self._signal(agent, signal.SIGKILL)
        self._wait_for_another_agent(node, agent)

    def freeze_an_agent(self) -> None:
        """Its node gives it up and begins another one."""
        node, agent = self._an_agent()
        self._freeze(agent)
        self._wait_for_another_agent(node, agent)
        self.frozen.remove(agent)
        assert not Path(f"/proc/{agent}").exists()

    def _an_agent(self) -> tuple[int, int]:
        living = self._living()
        chosen: tuple[int, int] = self.rng.choice(self.wait(lambda: self._playing(living), "an agent plays"))
        return chosen

    def _playing(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """Those of these nodes that have been given something to do, with their agents."""
        return [(node, agent) for node, agent in self.agents().items() if node in nodes and self.pool_workers(agent)]

    def _wait_for_another_agent(self, node: int, agent: int) -> None:
        self.wait(lambda: self.agents().get(node, agent) != agent, "the node has begun another agent")

    def kill_a_pool_worker(self) -> None:
        """Its pool begins another one."""
        node, agent = self._an_agent()
        size = self._threads_of(node)
        self.wait(lambda: len(self.pool_workers(agent)) == size, f"the pool has {size} workers")
        before = self.pool_workers(agent)
        self._signal(self.rng.choice(before), signal.SIGKILL)
        self.wait(lambda: set(self.pool_workers(agent)) - set(before), "the pool has another worker")

    def freeze_a_node(self) -> None:
        """It comes back after others have been given what it had, with what they may have played, too."""
        told = self.said.count(HEARD)
        node = self._freeze_a_node()
        self._thaw(node)
        self.wait(lambda: self.said.count(HEARD) > told, "it is heard of again")

    def freeze_a_node_for_good(self) -> None:
        """Another one comes in its place; that one is there until the run ends."""
        self._freeze_a_node()
        self._add_a_node()

    def _freeze_a_node(self) -> int:
        node, _ = self._an_agent()
        told = self.said.count(UNHEARD)
        self._freeze(node)
        self.wait(lambda: self.said.count(UNHEARD) > told, "it is not heard of")
        return node

    def freeze_the_scheduler(self) -> None:
        """For so long that nothing is heard of any node, or not quite."""
        self._freeze_for_a_while(self.cluster.scheduler.pid)

    def freeze_the_driver(self) -> None:
        """As when a laptop is closed."""
        self._freeze_for_a_while(self.process.pid)

    def _freeze_for_a_while(self, pid: int) -> None:
        self._freeze(pid)
        sleep(self.rng.uniform(0.2, 1.5 * impatient.UNHEARD))
        self._thaw(pid)

    def cut_the_wire_of_a_node(self) -> None:
        """For so long that nothing is heard of it; then it is whole again."""
        self._cut_wires([self.rng.randint(1, len(self.threads))])

    def cut_all_wires(self) -> None:
        """Nobody can play meanwhile."""
        self._cut_wires(range(1, len(self.threads) + 1))

    def _cut_wires(self, numbers: Sequence[int]) -> None:
        assert self.machines is not None
        told = self.said.count(UNHEARD)
        for number in numbers:
            self.machines.cut(number)
        if self.patient:
            sleep(CUT)
        else:
            self.wait(lambda: self.said.count(UNHEARD) > told, "nothing is heard of a node")
        for number in numbers:
            self.machines.heal(number)
        self.wait(lambda: self.said.count(HEARD) >= self.said.count(UNHEARD), "all nodes are heard of again")

    def kill_the_scheduler(self) -> None:
        """It goes on on another cluster."""
        self.lose_the_cluster()
        self.cluster = self._new_cluster()

    def lose_the_cluster(self) -> None:
        """The scheduler is killed: the run ends with one sentence; nodes and agents end, too."""
        self.cluster.scheduler.kill()
        assert self._code() == 2, self
        errors = [line for line in self.said.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, self
        assert "is gone" in errors[0], self
        assert "--resume" in errors[0], self
        assert "Traceback" not in self.said, self
        assert "given up" not in self.said, self
        self._wait_until_nothing_plays()
        wait_for(lambda: not self.cluster.processes(), f"Dask workers end without a scheduler {self}")

    def kill_the_driver(self) -> None:
        """Agents find that nobody wants what they play."""
        self.process.kill()
        self._code()
        self._wait_until_nothing_plays()

    def interrupt_it(self) -> None:
        """What is being played is finished and kept."""
        self.process.send_signal(signal.SIGINT)
        self._pause(QUICKLY[0])
        assert self._code() == 1, self
        assert "arena tournament --resume results/hard" in self.said, self
        assert "Traceback" not in self.said, self
        self._wait_until_nothing_plays()

    def interrupt_it_twice(self) -> None:
        """It stops now."""
        self.process.send_signal(signal.SIGINT)
        self.wait(lambda: "once more to stop now" in self.said or self.ended, "the first signal is answered")
        self.process.send_signal(signal.SIGINT)
        assert self._code() == 128 + signal.SIGINT, self
        self._wait_until_nothing_plays()

    def _code(self) -> int:
        return self.process.wait(PATIENCE)

    def _wait_until_nothing_plays(self) -> None:
        self._end_frozen()
        wait_for(lambda: not self.cluster.agents(), f"no agent is left {self}")

    # How it ends.

    def go_on(self, *where: object) -> None:
        """Continues it, on its cluster or somewhere else."""
        self._start("--resume", "results/hard", "--isolate=off", *(where or ("--cluster", self.cluster.address)))

    def finish(self, *where: object) -> None:
        """Lets it go, and continues it if need be: it has what the quiet one has, and nothing of it is left."""
        self.hold.unlink()
        if self.ended:
            self.go_on(*where)
        assert self._code() == 0, self
        self._wait_until_nothing_plays()
        assert "could not be played" not in self.said, self
        assert records("hard") == records("quiet"), self
        assert table("hard") == table("quiet"), self
