"""Structs that are built by position, for speed, have their fields where the builder thinks they are."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.core.records import GameRecord
from harness.match.referee import play
from harness.plugins.registry import load
from tests.golden.make import MatchSpec

HARNESS = Path(__file__).parents[2] / "harness"
LARGE = {
    "GameRecord",
    "MatchSpec",
    "RunInfo",
    "Plan",
    "GamePlan",
    "NewGame",
    "GameOver",
    "Verdict",
    "Question",
    "Choose",
}
BY_POSITION = {
    ("match/referee.py", "GameRecord"): "once a match, and checked below",
    ("isolation/protocol.py", "Choose"): "once a decision; tests/isolation/test_session.py swaps its fields",
}
"""Where a large struct is built with more than three fields by position, and why that is safe."""


def test_large_structs_are_built_with_keyword_arguments():
    found = set()
    for path in HARNESS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[_, _, _, _, *_]) if name in LARGE:
                    found.add((str(path.relative_to(HARNESS)), name))
    assert found == set(BY_POSITION)


def test_every_field_of_a_record_has_the_right_value():
    game = load().game("el-paso").configure({"edition": "nl"})
    entrants = load().entrants(["outlaw", "random", "skittish"])
    spec = MatchSpec(
        id="the id", index=7, set="the set", game="el-paso", options=dict(game.settings), seed=11,
        seats=tuple(entrant.name for entrant in entrants),
    )  # fmt: skip
    record = play(spec, game, entrants)
    assert record.spec == spec
    assert isinstance(record, GameRecord)
    assert record.rules == game.version
    assert record.ending == "finished"
    assert sorted(record.ranks) == [1, 2, 3]
    assert max(record.scores) > 3  # more than any rank
    assert record.scores.index(max(record.scores)) == record.ranks.index(1)
    assert sum(record.decisions) == len(record.actions)
    assert all(total >= slowest > 0 for total, slowest in zip(record.time, record.slowest, strict=True))
    assert record.time != record.slowest
    assert record.faults == ()
