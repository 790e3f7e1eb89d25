"""What the rounds of an era have shown so far, as far as it counts when the next one is planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from harness.core.errors import StoreError
from harness.core.types import GameRecord
from harness.league.matchmaking import Beliefs

HELD = 3
"""Rounds that are not yet taken in: the last one and the one before may be unfinished, and both were planned without
those two before them."""


class SeatedMatch(NamedTuple):
    """A match that was played, as far as matchmaking goes."""

    place: int
    id: str
    game: str
    seed: int
    seats: tuple[str, ...]
    ranks: tuple[int, ...]

    @classmethod
    def of(cls, record: GameRecord) -> SeatedMatch:
        """What counts of a record."""
        return cls(record.index, record.id, record.game, record.seed, tuple(record.seats), tuple(record.ranks))


class KnownRounds:
    """Takes in the records of an era in the order of its schedule; those of the last rounds are held back."""

    known: Mapping[type, Sequence[str]] = {SeatedMatch: SeatedMatch._fields}

    def __init__(self, banned: Collection[str]) -> None:
        """Matches of those who are `banned` do not count."""
        self.banned = frozenset(banned)
        self.name = f"league-{crc32(repr(sorted(self.banned)).encode()):08x}"
        self._beliefs: dict[str, Beliefs] = {}
        self.newest = 0
        """The last round of which something was played."""
        self.taken = 0
        """The last round that was taken in."""
        self.held: dict[int, dict[str, SeatedMatch]] = {}
        """Matches of later rounds, by round and id."""
        self.counts: Counter[int] = Counter()
        """Matches of each round that have been played."""
        self.faults: Counter[str] = Counter()
        """How often each bot has failed."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        round_ = round_of(record)
        if round_ > self.newest:
            self.take_until(round_ - HELD)
        self.hold(round_, record)

    def hold(self, round_: int, record: GameRecord) -> None:
        """Keeps a match until its round is taken in."""
        self.newest = max(self.newest, round_)
        self.held.setdefault(round_, {})[record.id] = SeatedMatch.of(record)
        self.counts[round_] += 1
        for fault in record.failures if record.faults else ():
            self.faults[record.seats[fault.seat]] += 1

    def take_until(self, round_: int) -> None:
        """Learns from all rounds up to this one."""
        for each in sorted(number for number in self.held if number <= round_):
            for match in sorted(self.held.pop(each).values()):
                if self.banned.isdisjoint(match.seats):
                    self.beliefs(match.game).add(match.seats, match.ranks)
        self.taken = max(self.taken, round_)

    def beliefs(self, game: str) -> Beliefs:
        """What is believed of the bots of a game."""
        return self._beliefs.setdefault(game, Beliefs())

    def matches(self) -> Iterator[SeatedMatch]:
        """Those that are held back."""
        for matches in self.held.values():
            yield from matches.values()

    def state(self) -> object:
        """All of it, to be kept."""
        beliefs = {game: each.state() for game, each in self._beliefs.items()}
        return {
            "beliefs": beliefs,
            "newest": self.newest,
            "taken": self.taken,
            "held": self.held,
            "faults": self.faults,
            "counts": self.counts,
        }

    def restore(self, state: Any) -> None:
        """Puts it back to where `state` was taken."""
        for game, each in state["beliefs"].items():
            self.beliefs(game).restore(each)
        self.newest, self.taken, self.held = state["newest"], state["taken"], state["held"]
        self.faults, self.counts = state["faults"], state["counts"]


def round_of(record: GameRecord) -> int:
    """The round of a match: the first number after the game in its id."""
    number = record.id[len(record.game) + 1 :].partition(".")[0]
    if not number.isdecimal():
        raise StoreError(f"The record {record.id} is of no league: its name has no round.")
    return int(number)
