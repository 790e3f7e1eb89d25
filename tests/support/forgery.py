"""Runs that somebody has bent: carefully, so that every checksum and the digest of all records fit again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.core.game import Game
from harness.core.records import GameRecord, with_sum
from harness.match.referee import ranks_with_faults
from harness.match.replay import Replay
from harness.output.leaderboard import write_leaderboard
from harness.runs.reader import GAMES, SUM_SIZE
from harness.runs.store import RUN, RunFolder


def records_of(folder: Path) -> list[GameRecord]:
    """The records of a run in the order of its file."""
    return [msgspec.json.decode(line, type=GameRecord) for line in (folder / GAMES).read_bytes().splitlines()]


def write_records(folder: Path, records: list[GameRecord], sealed: bool = True) -> None:
    """Puts these in the place of a run's records, each with its checksum; `sealed` has the digest and the leaderboard
    fit them, too."""
    lines = [with_sum(msgspec.json.encode(record)) + b"\n" for record in records]
    (folder / GAMES).write_bytes(b"".join(lines))
    if sealed:
        info = RunFolder.open(folder).info
        edit_info(folder, lambda raw: raw | {"records": RunFolder(folder, info).digest()})
        write_leaderboard(RunFolder.open(folder))


def bent(line: bytes, old: bytes, new: bytes) -> bytes:
    """A line of games.jsonl with something else in it, and a checksum that fits."""
    return with_sum(line[: -SUM_SIZE - 1].replace(old, new) + b"}") + b"\n"


def edit_info(folder: Path, change: Callable[[dict[str, object]], dict[str, object]]) -> None:
    """Changes what run.json says."""
    path = folder / RUN
    path.write_bytes(msgspec.json.encode(change(msgspec.json.decode(path.read_bytes()))))


def with_another_ending(game: Game[Any], record: GameRecord) -> tuple[GameRecord, int]:
    """The match up to its last decision that can change the result; that one goes otherwise, by the rules."""
    for decision in reversed(range(len(record.actions))):
        replay = Replay(game, record)
        while replay.decision < decision or len(replay.state.legal) < 2:
            replay.step()
        state = replay.state
        other = next(action for action in state.legal if action.code != record.actions[decision])
        actions, decisions = [*record.actions[:decision], other.code], list(replay.decisions)
        decisions[state.seat] += 1
        state.step(other)
        while state.legal:
            if len(state.legal) > 1:
                actions.append(state.legal[0].code)
                decisions[state.seat] += 1
            state.step(state.legal[0])
        scores = state.scores()
        if scores != record.scores:
            return replace(
                record, actions=tuple(actions), decisions=tuple(decisions), scores=scores,
                ranks=ranks_with_faults(scores, ()), ending=state.ending,
            ), decision  # fmt: skip
    raise AssertionError("every ending has the same scores")
