"""Matches of every bundled bot, which must be played alike under every Python: `python -m tests.golden.bots` writes
them to bots.jsonl after a change that is meant, `python -m tests.golden.bots check` prints what differs."""

from __future__ import annotations

import builtins
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.core.records import GameRecord, MatchSpec
from harness.match.referee import play
from tests.support.games import REGISTRY

FILE = Path(__file__).with_name("bots.jsonl")
SEARCH = ("flat-mc:iterations=3", "ismcts:iterations=3")
GUIDED = ("flat-mc:depth=2,guide={},iterations=6,race=250", "ismcts:depth=2,guide={},iterations=3")
VALUED = ("flat-mc:depth=2,iterations=3,reward=value", "ismcts:depth=2,iterations=3,reward=value")
TABLES = {
    "el-paso": (("outlaw", "diehard", "skittish", "random"), range(8)),
    "gnadenlos": (("broker", "debtor", "miser", "random"), range(8)),
    # With the `sum` of 3.11 or of 3.12 tycoon would play these otherwise than with `math.fsum`.
    "x-pasch": (("tycoon", "raider", "founder", "hustler"), (2, 37, 88, 97, 104, 113)),
}
"""For each game its bots, the strongest first, and the seeds of their matches."""


def specs() -> Iterator[MatchSpec]:
    """Yield the matches: those of quick bots, and one for each way to search."""
    for game, (bots, seeds) in TABLES.items():
        settings = dict(REGISTRY.game(game).configure().settings)
        tables = [(seed, bots) for seed in seeds]
        for seed, search in enumerate((SEARCH, GUIDED, VALUED)):
            tables.append((seed, (*[bot.format(bots[0]) for bot in search], *bots[:2])))
        tables += [(seed, ("learned", bots[0], "learned")) for seed in range(3)]
        for number, (seed, seats) in enumerate(tables):
            yield MatchSpec(f"{game}-{number}", number, "golden", game, settings, seed, seats)


def records() -> Iterator[GameRecord]:
    """Play the matches."""
    for spec in specs():
        game = REGISTRY.game(spec.game).configure()
        yield play(spec, game, REGISTRY.entrants(spec.seats)).without_timing()


def check() -> dict[str, object]:
    """Return which matches were played otherwise than those in the file, and where `sum` was called meanwhile."""
    add, calls = sum, set()

    def noted_sum(values: Iterable[int], start: int = 0) -> int:
        caller, given = sys._getframe(1), [*values]
        has_float = any(isinstance(value, float) for value in given)
        calls.add((caller.f_code.co_filename, caller.f_lineno, has_float))
        return add(given, start)

    golden = [msgspec.json.decode(line, type=GameRecord) for line in FILE.read_bytes().splitlines()]
    builtins.sum = noted_sum  # type: ignore[assignment]
    differ = [new.id for old, new in zip(golden, records(), strict=True) if new != old]
    return {"python": sys.version.split()[0], "differ": differ, "sums": sorted(calls)}


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        print(json.dumps(check()))  # noqa: T201 - a script
    else:
        FILE.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records()))
