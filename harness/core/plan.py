"""The contract of a format: from a plan, and the results so far, to the tables that play next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.records import GameRecord, MatchSpec, Option, Value
from harness.core.rng import Chance
from harness.core.table import Table

# A bracket of a format in which bots are knocked out, as plain values.


class BracketEntry(NamedTuple):
    """A bot at a table of a bracket."""

    bot: str
    points: float = 0.0
    through: bool | None = None
    """Whether it goes on, or wins the final; None while that is open."""


@dataclass(frozen=True, slots=True)
class BracketRound:
    """One round of a bracket: its tables, each with its bots, best first, and who sat out and goes on."""

    name: str
    tables: Sequence[Sequence[BracketEntry]]
    byes: Sequence[str] = ()
    most: float = 0
    """The points that a bot can win in this round."""
    notes: Sequence[str] = ()
    """What decided where points did not."""

    def fields(self) -> dict[str, object]:
        """The round for programs."""
        return {
            "name": self.name,
            "tables": [[entry._asdict() for entry in table] for table in self.tables],
            "byes": list(self.byes),
            "most": self.most,
            "notes": list(self.notes),
        }


Design = Literal["fixed", "seated", "anytime"]
"""What results decide in a run, which is what its claims must allow for: nothing, who meets whom, or also when to
stop and which pairs are worth playing."""

SEVERAL = "several runs"
"""What stands in the place of a format where several runs are read together."""


class GamePlan(Struct, frozen=True):
    """One game of a run: its rules, its settings, how many sit at a table, who plays it."""

    name: str
    rules: str
    settings: dict[str, Value]
    players: int
    entrants: tuple[str, ...]

    def seating(self, table: Sequence[str], luck: Chance, group: int, number: int) -> tuple[str, ...]:
        """An order of its own for each table and deal, so that over many deals everyone sits beside everyone."""
        return tuple(luck.shuffled(table, "seating", self.name, group, number))


class PlanBefore(Struct, frozen=True):
    """How large a run was before it was extended."""

    deals: int
    bots: dict[str, int]
    """Game -> how many of its entrants there were: who comes late stands behind them."""
    candidates: int = 0


class Plan(Struct, frozen=True):
    """What a run is: the same plan gives the same schedule, and with the same bots the same records."""

    games: tuple[GamePlan, ...]
    deals: int
    """Deals of the run; in swiss and knockout deals of every round, in a comparison the most matches."""
    seed: int
    format: str = "round-robin"
    settings: dict[str, Value] = {}
    """The format's options with their values."""
    candidates: tuple[str, ...] = ()
    """Whom the run is about, in formats that have candidates."""
    design: Design = "fixed"
    """What results decide in this run; written when the schedule is made."""
    before: tuple[PlanBefore, ...] = ()
    """What it was before it was extended, first to last, where that decides what is played and when."""

    @property
    def deals_before(self) -> int:
        """Deals that it had before it was extended last; 0 if it never was."""
        return self.before[-1].deals if self.before else 0

    def stages(self) -> list[Plan]:
        """The plans that it had one after the other, each extending the one before; the last one is itself."""
        return [*(self._stage(number) for number in range(len(self.before))), self]

    def _stage(self, number: int) -> Plan:
        was = self.before[number]
        games = tuple(replace(game, entrants=game.entrants[: was.bots[game.name]]) for game in self.games)
        candidates = self.candidates[: was.candidates]
        return replace(self, games=games, deals=was.deals, candidates=candidates, before=self.before[:number])

    def whole(self, option: str) -> int:
        """The value of a format's option that is a whole number."""
        return int(self.settings[option])

    def number(self, option: str) -> float:
        """The value of a format's option that is a number."""
        return float(self.settings[option])


class DuplicateSet(NamedTuple):
    """These bots, in this order around the table, play one deal in every rotation of their seats."""

    group: int
    """The deal in formats that need no results, the round in the others; the first number of a match id."""
    number: int
    """Counts the sets of the group; the second number of a match id."""
    deal: tuple[int, ...]
    """Names the deal: sets of the same name have the same luck. A set has its own, unless tables are to be
    compared: matches of one deal are not independent, so shared deals say less about all deals."""
    seating: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a format itself says, beside the ratings: a function of plan and records alone."""

    standing: tuple[str, ...] = ()
    """Bots by the format's own measure, best first; empty if it has none."""
    note: str = ""
    """One sentence for people; it does not name the game."""
    tables: tuple[Table, ...] = ()
    """Its own tables."""
    bracket: tuple[BracketRound, ...] = ()
    """The rounds of a format in which bots are knocked out, first to last: drawn as a bracket."""
    open: str = ""
    """What is still to be decided, in a sentence; empty if nothing is."""

    @property
    def has_results(self) -> bool:
        """Whether there is more to show than a sentence."""
        return bool(self.tables or self.bracket)


class ResultTracker(Protocol):
    """Follows the records of one game and says at any time what they come to so far."""

    def add(self, record: GameRecord) -> None:
        """Takes in the next record in the order of the schedule; of a run that is not finished some are missing."""

    def outcome(self) -> Outcome:
        """What the format says of the records so far; with all of them, what the rounds of an adaptive one end with."""


class RunningClaims(Protocol):
    """Tests that hold although results decide when to stop or which pairs to play."""

    def add(self, record: GameRecord) -> None:
        """Takes in one match, in schedule order."""

    def claims(self, level: float) -> Collection[tuple[str, str]]:
        """The pairs (better, worse) that may all be claimed."""


class Scheduler(Protocol):
    """Decides which matches are played next. A format's schedule, a league and a resumed run each have one."""

    def next_matches(self) -> list[MatchSpec]:
        """Return matches that can be played now, each once; [] at the end, or until further results come."""

    def add_result(self, record: GameRecord) -> None:
        """Add the result of a match that was given out; results come in any order."""

    def outcome(self) -> dict[str, Outcome]:
        """Return the outcome of each game; {} until all matches were played."""


class OpenRound(ABC):
    """A round of which more can be played before its first results have all come: yielded instead of a list, so that
    many machines need not wait. It ends when it has no more matches and all results have been added."""

    @abstractmethod
    def next_matches(self) -> list[DuplicateSet] | list[MatchSpec]:
        """Return what can be played now, whatever the missing results will be; [] if that is nothing. Called again
        after each result: when it is called must not change what is played."""

    @abstractmethod
    def add_result(self, record: GameRecord) -> None:
        """Add a result: all of them come, one by one and in schedule order."""


Rounds = Generator[list[DuplicateSet] | OpenRound, Sequence[GameRecord], Outcome]
"""Yields sets to be played, is sent their records in schedule order (of an open round, which has taken them, none),
ends with the outcome."""
RoundsOfMatches = Generator[list[MatchSpec] | OpenRound, Sequence[GameRecord], Outcome]
"""The same for an adaptive format that seats and deals in a way of its own: it yields the matches themselves, with
their places in the schedule."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way of choosing who plays whom. A plugin offers its formats through the hook `arena_formats`."""

    name: str
    summary: str
    rounds: Callable[[GamePlan, Plan, Chance], Rounds | RoundsOfMatches]
    """The rounds of one game; `plan.settings` has a value for each of the format's options."""
    count: Callable[[GamePlan, Plan], int | None]
    """Matches of one game: exact or an upper bound; None if only the results can tell."""
    adaptive: bool
    """Whether later rounds depend on the results of earlier ones."""
    check: Callable[[GamePlan, Plan], None] = lambda _game, _plan: None
    """Refuses a plan that this format cannot play."""
    options: tuple[Option, ...] = ()
    """What can be set in its name, as in `swiss:rounds=5`."""
    candidates: bool = False
    """Whether it is about some of the bots, its candidates."""
    track: Callable[[GamePlan, Plan], ResultTracker] | None = None
    """Follows the records of one game, for results of a run that is not finished, or of a format that is not adaptive.
    Without it the outcome is what the rounds end with, once they have."""
    stages: Callable[[GamePlan, Plan], int | None] = lambda _game, _plan: None
    """Rounds of one game, if it is adaptive and they are known beforehand."""
    sizes: Callable[[GamePlan, Plan], Iterator[int] | None] = lambda _game, _plan: None
    """Matches of each list of one game, first to last, if results decide only who plays in them: then every match has
    its place in the schedule beforehand, and no game of a run waits for another."""
    anytime: bool = False
    """Whether results also decide when it ends or which pairs are worth playing, so that only claims which hold at any
    time may be made of its runs."""
    reads_actions: bool = False
    """Whether its rounds look at the actions of records. Others are sent records without: they are most of the size."""
    extend: Callable[[Plan, Plan], Plan] | None = None
    """From the plan of a run and a larger one that is asked for to the plan by which it goes on. All matches of the
    first must keep their ids, deals, seats and places; what cannot be is refused in a sentence. None: no run of this
    format can be extended."""
    late: Callable[[GamePlan, Plan, Chance], Rounds] | None = None
    """What bots that came with a plan's last extension have still to play of the deals before it, in a format that
    needs no results; its `rounds` are then the deals since."""

    bind: Callable[[Plan, Callable[[], Mapping[str, Game[Any]]]], Format] | None = None
    """The format for one plan, if it needs more than the plan: it may ask for the plan's games, configured."""
    claims: Callable[[GamePlan, Plan], RunningClaims] | None = None
    """Tests the claims of one game, in a format with `anytime`; None is the usual test."""

    @property
    def design(self) -> Design:
        """What results decide in it."""
        return "anytime" if self.anytime else "seated" if self.adaptive else "fixed"


# The format of a league's eras: who meets whom is for the league to say, so a run folder alone has no schedule.


def _rounds(_game: GamePlan, _plan: Plan, _luck: Chance) -> Rounds:
    raise UsageError(
        "Whom a league seats with whom is told by its journal: see arena league run, and arena league verify."
    )


class NoResult:
    """Follows the records of a league, which has no result of its own beside its table."""

    def __init__(self, _game: GamePlan, _plan: Plan) -> None:
        """There is nothing to prepare."""

    def add(self, _record: GameRecord) -> None:
        """Takes in one match."""

    def outcome(self) -> Outcome:
        """Nothing."""
        return Outcome()


LEAGUE = Format(
    "league",
    "whoever is least known, where most is learned; bots join and leave while it goes on",
    _rounds,
    lambda _game, _plan: None,
    adaptive=True,
    anytime=True,
    track=NoResult,
)
