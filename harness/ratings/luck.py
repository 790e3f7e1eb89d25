"""Luck taken out of results: what a match gave to each seat, less what its luck gave.

Wherever luck was drawn, the match is taken back to the moment before, and the same action is carried out with other
luck, several times. What a value function makes of the actual outcome, less what it makes of the others on average, is
the luck of that moment. Actual and other outcomes are drawn alike, so this difference is nought on average, whatever
the value function: taking it out moves no mean. A good value function makes results vary less, and that is all it does.
(Burch, Schmid, Moravcik, Morrill, Bowling: AIVAT, 2018, without its part for known strategies.)
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, Protocol

from harness.core.chance import Chance, Part
from harness.core.game import Game, State
from harness.core.types import GameRecord
from harness.match.replay import Replay

ALTERNATIVES = 12
"""How often each piece of luck is drawn anew: the mean of so many stands for all that could have been."""


DEAL = "deal"
"""The phase before the first choice."""


class Judge(Protocol):
    """Who guesses how a match will end, from a state of the game alone: never from the luck behind it."""

    def shares(self, state: State[Any], expected: Sequence[float]) -> Sequence[float]:
        """For each seat the share of the others that it will finish ahead of, if so much was expected beforehand."""


class PlayedLuck(Chance):
    """The luck of a match as it was; it notes the names that it is drawn by."""

    __slots__ = ("fresh", "past")

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.past: set[tuple[Part, ...]] = set()
        self.fresh: list[tuple[Part, ...]] = []
        """What was drawn since `settle`."""

    def number_for(self, where: tuple[Part, ...]) -> int:
        """As of any luck."""
        self.fresh.append(where)
        return super().number_for(where)

    def settle(self) -> None:
        """What was drawn so far is the past from now on."""
        self.past.update(self.fresh)
        self.fresh.clear()


class OtherLuck(Chance):
    """Luck that might have come instead: other numbers, but for names that were drawn in the past."""

    __slots__ = ("_name", "_played")

    def __init__(self, seed: int, played: PlayedLuck, *name: Part) -> None:
        super().__init__(seed)
        self._played, self._name = played, name

    def number_for(self, where: tuple[Part, ...]) -> int:
        """A number of its own, or that of the past."""
        if where in self._played.past:
            return Chance.number_for(self._played, where)
        return super().number_for(self._name + where)


class LuckyMoment:
    """A moment of a match at which luck was drawn: the state that came of it, and states that might have come."""

    __slots__ = ("actual", "others", "phase")

    def __init__(self, phase: str, actual: State[Any], others: Sequence[State[Any]]) -> None:
        self.phase = phase
        """What had been chosen; DEAL at the beginning."""
        self.actual, self.others = actual, others

    def worth(self, judge: Judge, expected: Sequence[float]) -> list[float]:
        """What the luck was worth to each seat: nought on average."""
        guesses = [judge.shares(other, expected) for other in self.others]
        actual = judge.shares(self.actual, expected)
        return [here - sum(there) / len(there) for here, *there in zip(actual, *guesses, strict=True)]


def moments(
    game: Game[Any], record: GameRecord, alternatives: int = ALTERNATIVES, phases: Container[str] | None = None
) -> Iterator[LuckyMoment]:
    """The moments of a recorded match at which luck was drawn, the deal first; look at each before the next.

    With `phases`, only those after such choices. Whether a moment is one is settled before its luck: a step is the same
    up to its first draw, whatever is drawn.
    """
    luck = PlayedLuck(record.seed)
    seed = Chance(record.seed).derive("luck taken out", record.id)
    replay = Replay(game, record, luck)
    state, players = replay.state, len(record.seats)
    state.log = None
    if phases is None or DEAL in phases:
        yield LuckyMoment(DEAL, state, [game.new(players, OtherLuck(seed, luck, 0, n)) for n in range(alternatives)])
    luck.settle()
    number = 0
    while not replay.over:
        if phases is not None and state.phase not in phases:
            replay.step()
            luck.settle()
            continue
        before, unseen, action = state.clone(), state.unseen(), replay.next_action()
        replay.step()
        if luck.fresh or state.unseen() != unseen:
            number += 1
            others = [before.redealt(OtherLuck(seed, luck, number, n)) for n in range(alternatives)]
            for other in others:
                other.step(action)
            yield LuckyMoment(before.phase, state, others)
            luck.settle()
    replay.check_end()


def luck_of(
    game: Game[Any],
    record: GameRecord,
    judge: Judge,
    expected: Sequence[float],
    alternatives: int = ALTERNATIVES,
    phases: Container[str] | None = None,
) -> dict[str, list[float]]:
    """What luck gave to each seat of a match, in shares of the table, by what had been chosen before it: all of it is
    nought on average. With `phases`, only that after such choices."""
    total: dict[str, list[float]] = {}
    for moment in moments(game, record, alternatives, phases):
        worth = moment.worth(judge, expected)
        so_far = total.get(moment.phase)
        total[moment.phase] = [a + b for a, b in zip(so_far, worth, strict=True)] if so_far else worth
    return total
