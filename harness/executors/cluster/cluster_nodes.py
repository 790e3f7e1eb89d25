"""What the driver knows of the nodes: which there are, which may play, what each has before it, how quick it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal

from harness.executors.cluster.link import SeenNode
from harness.executors.cluster.node_facts import NodeDifference, difference_table, differences, remedy
from harness.executors.cluster.node_messages import NodeFacts

SILENT = 15.0
"""Seconds without a heartbeat at the scheduler after which a node is given no more to do, and what it has is played
elsewhere too. It may come back: whoever is first with a match counts."""

NodeState = Literal["asked", "fit", "refused"]


@dataclass(slots=True)
class ClusterNode:
    """A node, as the driver sees it."""

    address: str
    name: str
    workers: int
    """Processes that play on it."""
    state: NodeState = "asked"
    facts: NodeFacts | None = None
    why: str = ""
    """Why it was refused."""
    batches: set[int] = field(default_factory=set)
    matches: int = 0
    """Matches that it has before it."""
    played: int = 0
    came_at: float = field(default_factory=monotonic)
    """When a batch has come back from it, or it has come itself."""
    failures: int = 0
    """Times in a row that batches have failed on it."""
    failed_before: int = 0
    """The last batch that had been sent when that was noticed: those before it may be lost together."""
    differs: list[NodeDifference] = field(default_factory=list)
    began: float = field(default_factory=monotonic)
    last_seen: float = 0.0
    seen_at: float = field(default_factory=monotonic)
    """When the driver has learned of its last heartbeat."""
    missed: bool = False
    """Whether somebody was told that nothing is heard of it."""

    @property
    def silent(self) -> bool:
        """Whether nothing has been heard of it for long."""
        return monotonic() - self.seen_at > SILENT

    @property
    def plays(self) -> bool:
        """Whether it may be given something to do."""
        return self.state == "fit" and not self.silent

    @property
    def label(self) -> str:
        """What people call it: the name that was given to it, or its address."""
        return self.address if self.name == self.address else f"{self.name} ({self.address})"

    @property
    def rate(self) -> float:
        """Matches a second since it began."""
        return self.played / max(monotonic() - self.began, 1e-9)


class ClusterNodes:
    """The nodes of a cluster."""

    def __init__(self, here: Mapping[str, str]) -> None:
        """`here` is what must be the same everywhere, as this machine has it."""
        self._here = here
        self._by_address: dict[str, ClusterNode] = {}
        self.looked = False
        """Whether the scheduler has said which nodes there are."""

    def __iter__(self) -> Iterator[ClusterNode]:
        return iter(self._by_address.values())

    def __len__(self) -> int:
        return len(self._by_address)

    def __getitem__(self, address: str) -> ClusterNode:
        return self._by_address[address]

    def __contains__(self, address: str) -> bool:
        return address in self._by_address

    def playing(self) -> list[ClusterNode]:
        """Those that may be given something to do."""
        return [node for node in self if node.plays]

    def workers(self) -> int:
        """How many processes play on all of them."""
        return sum(node.workers for node in self.playing())

    def update(self, seen: Mapping[str, SeenNode]) -> tuple[list[ClusterNode], list[ClusterNode]]:
        """Takes in what the scheduler says: those that have come, and those that have gone."""
        self.looked = True
        gone = [self._by_address.pop(address) for address in [*self._by_address] if address not in seen]
        come = []
        for address, node in seen.items():
            known = self._by_address.get(address)
            if known is None:
                known = self._by_address[address] = ClusterNode(address, node.name, node.threads)
                come.append(known)
            if node.last_seen != known.last_seen:
                known.last_seen, known.seen_at = node.last_seen, monotonic()
        return come, gone

    def judge(self, address: str, facts: NodeFacts) -> None:
        """Takes in what a node says of itself: is it what this machine is, so that it may play?"""
        node = self._by_address[address]
        node.facts, node.workers, node.differs = facts, facts.workers, differences(self._here, node.label, facts)
        node.state = "refused" if node.differs or facts.problem else "fit"
        node.why, node.began = facts.problem, monotonic()

    def complaint(self, refused: Sequence[ClusterNode]) -> str:
        """Why these nodes cannot play, and what to do about it."""
        found = [one for node in refused for one in node.differs]
        told = [
            f"{node.label} cannot play: {node.why.rstrip('.')}." for node in refused if node.why and not node.differs
        ]
        if told:
            told.append("The log of its Dask worker may say more: mend it, or take the node out of the cluster.")
        if found:
            told += [f"Not everybody has what this run needs:\n\n{difference_table(found)}\n\n{remedy(found)}"]
        return "\n".join(told)

    def refuse(self, address: str, why: str) -> None:
        """This node gets nothing to do."""
        self._by_address[address].state, self._by_address[address].why = "refused", why
