"""The matches of an era on their way: a function of its seed, its journal and its records, round by round."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Self

from harness.core.chance import Chance
from harness.core.errors import StoreError
from harness.core.format import Plan
from harness.core.types import GameRecord, MatchSpec
from harness.league.known_rounds import KnownRounds, SeatedMatch, round_of
from harness.league.matchmaking import is_settled, seat_tables
from harness.league.segments import Segments


class LeagueCourse:
    """An iterator over the matches that can be played now; after an end there may be more, as results come in.

    A round is planned by the rounds up to two before it: one can be played while the last one is being finished.
    """

    def __init__(
        self,
        plan: Plan,
        segments: Segments,
        read: Callable[[frozenset[str], bool], KnownRounds],
        voids: Iterable[str] = (),
    ) -> None:
        """`read` gives the records that are there, without matches of those who are banned; if asked to, it holds all
        of them back. `voids` are matches that will never have one."""
        self.plan, self.segments, self._read = plan, segments, read
        past = self.past = read(segments.seated(segments.last).membership.banned if segments else frozenset(), False)
        self._luck = Chance(plan.seed)
        self._voids = set(voids)
        short = self._first_short(past.newest - 2)
        self._from_start = bool(short)
        if short:  # somebody took a record out: from there on everything is planned again, to the same end
            past = self.past = read(past.banned, True)
        self._recorded = {match.id: match for match in past.matches()}
        self._waiting: deque[MatchSpec] = deque()
        self.out: dict[str, MatchSpec] = {}
        """Matches that were given out and have no result."""
        self.next = short or max(1, past.newest - 1)
        """The round that is planned next: those of which something was played are planned again, to the same end."""
        self.may_plan: Callable[[], bool] = lambda: True
        """Whether rounds of which nothing was played may be planned at present."""
        self.lacks: Callable[[MatchSpec], bool] = lambda _spec: False
        """Whether somebody of a match is not to be had any more; whoever says so gives it up."""
        self.left: int | None = None
        """Matches that may still be given out; None is any number."""

    def _first_short(self, last: int) -> int:
        """The first round up to this one that lacks a match; 0 if none does."""
        voids = Counter(map(_round_in, self._voids))
        for round_ in range(1, last + 1):
            if self.past.counts[round_] + voids[round_] < self.segments.at(round_).size:
                return round_
        return 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MatchSpec:
        while not self._waiting:
            if not self._go_on():
                raise StopIteration
        if self.left is not None:
            if not self.left:
                raise StopIteration
            self.left -= 1
        spec = self._waiting.popleft()
        self.out[spec.id] = spec
        return spec

    def take_back(self) -> None:
        """Gives out once more what was given out and will have no result, for whoever played it has ended."""
        if self.left is not None:
            self.left += len(self.out)
        self._waiting.extendleft(reversed(self.out.values()))
        self.out.clear()

    def _go_on(self) -> bool:
        """Plans the next round, if what it depends on is there."""
        if not self._is_complete(self.next - 2) or not self.segments.at(self.next).size:
            return False
        if self.next > self.past.newest and not self.may_plan():
            return False
        for spec in self.planned(self.next):
            there = self._recorded.pop(spec.id, None)
            if there is not None:
                self._check(spec, there)
            elif spec.id not in self._voids and not self.lacks(spec):
                self._waiting.append(spec)
        self.next += 1
        return True

    def planned(self, round_: int) -> list[MatchSpec]:
        """The matches of a round: rounds are planned in their order."""
        seated, index = self.segments.seated(self.segments.at(round_)), self.segments.start(round_)
        if seated.membership.banned != self.past.banned:
            self.past = self._read(seated.membership.banned, self._from_start)
        self.past.take_until(round_ - 2)
        specs: list[MatchSpec] = []
        for game in self.plan.games:
            field = seated.fields[game.name]
            if not field.tables:
                continue
            lots = self._luck.rng("league", game.name, round_)
            tables = seat_tables(
                self.past.beliefs(game.name), field.seekers, field.opponents, game.players, field.tables, lots
            )
            for number, seats in enumerate(tables, 1):
                name = f"{game.name}-{round_}.{number}"
                specs.append(
                    MatchSpec(
                        id=f"{name}.1",
                        index=index + len(specs),
                        set=name,
                        game=game.name,
                        options=game.settings,
                        seed=self._luck.derive("deal", game.name, round_, number),
                        seats=tuple(seats),
                    )
                )
        return specs

    def _check(self, spec: MatchSpec, there: SeatedMatch) -> None:
        if (spec.index, spec.seed, spec.seats) != (there.place, there.seed, there.seats):
            raise StoreError(f"The record {spec.id} is not what journal and records before it lead to.")

    def _is_complete(self, round_: int) -> bool:
        if round_ <= self.past.taken:
            return True
        size = self.segments.at(round_).size
        held = self.past.held.get(round_, {})
        return len(held) + self._voids_of(round_) == size

    def _voids_of(self, round_: int) -> int:
        return sum(1 for name in self._voids if _round_in(name) == round_) if self._voids else 0

    def take(self, record: GameRecord) -> None:
        """Takes in the result of a match that was given out."""
        self.out.pop(record.id, None)
        self.past.hold(round_of(record), record)

    def give_up(self, name: str) -> None:
        """Goes on without a match that nobody survives."""
        self.out.pop(name, None)
        self._voids.add(name)

    @property
    def fresh(self) -> int:
        """The first round of which nothing was played or given out: who joins now may play from it on."""
        return max(self.next, self.past.newest + 1, self.segments.last.first if self.segments else 1)

    def settled(self) -> bool:
        """Whether everybody is as well known as it is worth, in all games that are played."""
        fields = self.segments.seated(self.segments.last).fields
        return all(is_settled(self.past.beliefs(game), field.seekers) for game, field in fields.items() if field.tables)


def _round_in(name: str) -> int:
    """The round in the id of a match."""
    return int(name.rpartition("-")[2].partition(".")[0])
