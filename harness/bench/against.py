"""This arena beside other programs and other arenas: ratios of decisions a second, and of instructions a decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from harness.bench.instructions import counter, instructions
from harness.bench.loop_process import OURS, LoopFailed, LoopProcess
from harness.bench.pairs import PAIRS, SpeedComparison, alike, in_turns
from harness.bench.peer_environments import Tell, peer_python
from harness.bench.peers import Peer


class SpeedPlan(msgspec.Struct, frozen=True):
    """What is to be compared, and how."""

    tables: Mapping[str, int]
    """Our games, with the players at a table."""
    pairs: int = PAIRS
    seconds: float = 4.0
    """Processor time for each game, and for each loop beside it, over all pairs."""
    count: bool = False
    """Whether instructions are counted too."""


class SpeedRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of our games beside one loop."""

    against: str
    workload: str
    theirs: str
    """Versions of what was measured there."""
    ours: str
    """And here."""
    game: str
    players: int
    speed: SpeedComparison
    counts: tuple[float, float] | None = None
    """Instructions a decision, ours and theirs."""


def beside_arenas(pythons: Iterable[str], plan: SpeedPlan, tell: Tell) -> Iterator[SpeedRow]:
    """This arena beside those that are installed in other environments: the same matches, in turns."""
    if plan.count:
        counter()
    for python in pythons:
        for game, players in plan.tables.items():
            workload = f"{game}/{players}"
            tell(f"Measuring {game} with {players} players, {plan.pairs} pairs beside {python} ...")
            with LoopProcess(None, OURS, workload) as ours, LoopProcess(python, OURS, workload) as other:
                speed, same = alike(ours, other, plan.pairs, plan.seconds)
                if not same:
                    tell(f"They do not play the same matches of {game}: rules or luck differ, so the ratio is rough.")
                versions = str(other.versions), str(ours.versions)
            counts = None
            if plan.count:
                tell(f"Counting instructions of {game}, here and there ...")
                counts = instructions(None, OURS, workload), instructions(python, OURS, workload)
            yield SpeedRow(python, workload, *versions, game, players, speed, counts)


def beside_peers(peers: Iterable[Peer], folder: Path, plan: SpeedPlan, tell: Tell) -> tuple[list[SpeedRow], list[str]]:
    """Our games beside loops that play something else, in turns; and what could not be measured."""
    if plan.count:
        counter()
    rows: list[SpeedRow] = []
    failed: list[str] = []
    counted: dict[str, float] = {}
    for peer in peers:
        try:
            python = peer_python(peer, folder, tell)
        except LoopFailed as error:
            tell(f"Warning: {error}")
            failed.append(peer.name)
            continue
        for workload in peer.workloads:
            tell(f"Measuring {peer.name}, {workload}: {plan.pairs} pairs ...")
            try:
                rows += _beside(peer, python, workload, plan, counted)
            except LoopFailed as error:
                tell(f"Warning: {error}")
                failed.append(f"{peer.name}, {workload}")
    return rows, failed


def _beside(peer: Peer, python: str, workload: str, plan: SpeedPlan, counted: dict[str, float]) -> Iterator[SpeedRow]:
    with ExitStack() as running:
        theirs = running.enter_context(LoopProcess(python, peer.loop, workload))
        ours = {
            game: running.enter_context(LoopProcess(None, OURS, f"{game}/{players}"))
            for game, players in plan.tables.items()
        }
        speeds = in_turns(ours, theirs, plan.pairs, plan.seconds)
    count = instructions(python, peer.loop, workload) if plan.count else 0.0
    for game, players in plan.tables.items():
        counts = None
        if plan.count:
            if game not in counted:  # the same beside every peer
                counted[game] = instructions(None, OURS, f"{game}/{players}")
            counts = counted[game], count
        versions = str(theirs.versions), str(ours[game].versions)
        yield SpeedRow(peer.name, workload, *versions, game, players, speeds[game], counts)
