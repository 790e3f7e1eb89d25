"""The games of a plan on their way: each goes on as soon as its own results allow.

Every match has its place in the schedule as if all games went step by step together: first the first list of each game,
then the second of each, and so on. A game can be ahead of the others where its places are known: its format says how
long the lists are, or brings the places itself. Else a list is given out when all lists before it have been.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any

from harness.core.format import Format, OpenRound, Outcome, Plan
from harness.core.types import GameRecord, MatchSpec
from harness.schedule.rounds import PIECE

if TYPE_CHECKING:
    from harness.schedule.schedule import CheckedRounds

MOST_AHEAD = 8 * PIECE
"""Matches of a game that may be out before it is given more: later results are held until the first have come."""


class Course:
    """What can be played now, whatever order results come in; the same matches come of it in any order."""

    def __init__(self, plan: Plan, form: Format, started: Sequence[CheckedRounds]) -> None:
        known = all(form.sizes(game, plan) is not None for game in plan.games)
        self._step_by_step = not known
        index = count()
        self._games = [
            GameCourse(rounds, _starts(plan, form, turn) if known else None, index)
            for turn, rounds in enumerate(started)
        ]
        self._by_name = {each.name: each for each in self._games}

    def more(self) -> list[MatchSpec]:
        """Matches that can be played now: the next list of the game that is least far on; [] if none can before further
        results come."""
        able = [game for game in self._games if self._may_go_on(game)]
        return min(able, key=lambda game: game.steps).give() if able else []

    def turn(self) -> list[MatchSpec]:
        """The next list of every game that can go on now."""
        return [spec for game in self._games if self._may_go_on(game) for spec in game.give()]

    def take(self, record: GameRecord) -> None:
        """Takes in the result of a match that was given out."""
        self._by_name[record.game].take(record)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """What each game came to; empty until all have ended."""
        ended = {game.name: game.outcome for game in self._games if game.outcome is not None}
        return ended if len(ended) == len(self._games) else {}

    def _may_go_on(self, game: GameCourse) -> bool:
        if not game.look():
            return False
        return game.brings_places or not self._step_by_step or self._is_next(game)

    def _is_next(self, game: GameCourse) -> bool:
        """Whether all lists are given out that come before its next, so that the places of its matches are known."""
        before = True
        for other in self._games:
            if other is game:
                before = False
                continue
            other.look()
            if other.outcome is None and not other.brings_places and other.steps < game.steps + before:
                return False
        return True


class GameCourse:
    """One game: what it may play next, and the results that its format is still to be told."""

    def __init__(self, rounds: CheckedRounds, starts: Iterator[tuple[int, int]] | None, index: Iterator[int]) -> None:
        """`starts` has the first place of each of its lists, and their lengths; places are taken from `index` where it
        is not known."""
        self.name, self.steps = rounds.game.name, 0
        self.outcome: Outcome | None = None
        self._rounds, self._starts, self._index = rounds, starts, index
        self._asked: Sequence[Any] = ()
        self._due: deque[str] = deque()
        """Matches that are out, or wait for earlier ones, in the order of the schedule."""
        self._out: set[str] = set()
        self._come: dict[str, GameRecord] = {}
        """Results that wait for earlier ones."""
        self._begin(rounds.ask())

    @property
    def brings_places(self) -> bool:
        """Whether its format says the places of matches itself."""
        return bool(self._asked and isinstance(self._asked[0], MatchSpec)) or self._rounds.kind is MatchSpec

    def look(self) -> bool:
        """Whether there are matches that it can play, by the results that have come."""
        while not self._asked and self.outcome is None and len(self._due) < MOST_AHEAD:
            self._asked = self._rounds.more(self._round)
            if self._asked or self._due:
                break
            self._begin(self._rounds.ask(self._round.taken if isinstance(self._round, _ListedRound) else ()))
        return bool(self._asked)

    def _begin(self, asked: list[Any] | OpenRound | Outcome) -> None:
        if isinstance(asked, Outcome):
            self.outcome = asked
        else:
            self._round = asked if isinstance(asked, OpenRound) else _ListedRound(asked)

    def give(self) -> list[MatchSpec]:
        """The next list of matches, which are out from now on."""
        asked, self._asked = self._asked, ()
        if self._starts is None:
            specs = list(self._rounds.matches(asked, self._index))
        else:
            first, size = next(self._starts, (0, 0))
            specs = list(self._rounds.matches(asked, count(first)))
            if len(specs) != size:
                raise self._rounds.broken(f"by its sizes there are {size} matches now, and it asks for {len(specs)}")
        self.steps += 1
        self._due.extend(spec.id for spec in specs)
        self._out.update(spec.id for spec in specs)
        return specs

    def take(self, record: GameRecord) -> None:
        """Takes in a result; its format is told in the order of the schedule."""
        assert record.id in self._out, f"{record.id} was not given out, or its record came before"
        self._out.remove(record.id)
        self._come[record.id] = record
        while self._due and self._due[0] in self._come:
            self._rounds.tell(self._round, self._come.pop(self._due.popleft()))


class _ListedRound(OpenRound):
    """A round that is a list: it goes on when all its results are there."""

    def __init__(self, asked: list[Any]) -> None:
        self._asked = asked
        self.taken: list[GameRecord] = []

    def more(self) -> list[Any]:
        asked, self._asked = self._asked, []
        return asked

    def take(self, record: GameRecord) -> None:
        self.taken.append(record)


def _starts(plan: Plan, form: Format, turn: int) -> Iterator[tuple[int, int]]:
    """The place of the first match of each list of one game, and its matches: by the lists of all games."""
    place = 0
    for sizes in zip_longest(*(form.sizes(game, plan) or () for game in plan.games), fillvalue=0):
        yield place + sum(sizes[:turn]), sizes[turn]
        place += sum(sizes)
