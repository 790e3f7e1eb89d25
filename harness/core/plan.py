"""The contract of a format: from a plan, and the results so far, to the tables that play next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from msgspec import Meta, Struct
from msgspec.structs import replace

from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import MAX_DEALS
from harness.core.records import MAX_SEATS, GameRecord, MatchSpec, Option, Value
from harness.core.rng import Chance
from harness.core.table import Table

# A bracket of a format in which bots are knocked out, as plain values.


class BracketEntry(NamedTuple):
    """A bot at a table of a bracket."""

    bot: str
    points: float = 0.0
    through: bool | None = None
    """Whether it reaches the next round, or wins the final; None while that is open."""


@dataclass(frozen=True, slots=True)
class BracketRound:
    """One round of a bracket: its tables, each with its bots, best first, and the byes."""

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
"""What results decide in a run, which is what its claims must allow for: nothing, who meets whom, or who meets whom and
when to stop and which pairs are worth playing."""

SEVERAL = "several runs"
"""What stands in the place of a format where several runs are read together."""


class GamePlan(Struct, frozen=True):
    """One game of a run: its rules, its settings, the players at a table and the bots that play it."""

    name: str
    rules: str
    settings: dict[str, Value]
    players: Annotated[int, Meta(ge=1, le=MAX_SEATS)]
    entrants: tuple[str, ...]

    def seating(self, table: Sequence[str], luck: Chance, group: int, number: int) -> tuple[str, ...]:
        """Return a random order for each table and deal, so that over many deals all bots sit next to each other."""
        return tuple(luck.shuffled(table, "seating", self.name, group, number))


class PlanBefore(Struct, frozen=True):
    """The size of a run before it was extended."""

    deals: int
    bots: dict[str, int]
    """Game -> number of its entrants then: later ones come after them."""
    candidates: int = 0


class Plan(Struct, frozen=True):
    """Everything that determines a run: the same plan and bots give the same schedule and records."""

    games: tuple[GamePlan, ...]
    deals: Annotated[int, Meta(le=MAX_DEALS)]
    """Deals of the run; in swiss and knockout deals of every round, in a comparison the most matches."""
    seed: int
    format: str = "round-robin"
    settings: dict[str, Value] = {}
    """The format's options with their values."""
    candidates: tuple[str, ...] = ()
    """The bots that the run is about, in formats that have candidates."""
    design: Design = "fixed"
    """What results decide in this run; written when the schedule is made."""
    before: tuple[PlanBefore, ...] = ()
    """Its earlier sizes, first to last, if they decide what is played and when."""

    @property
    def pairs_candidates(self) -> bool:
        """Whether candidates play the same tables without meeting: then their differences, deal by deal, come first."""
        return self.design == "fixed" and bool(self.candidates)

    @property
    def deals_before(self) -> int:
        """Deals before the last extension; 0 if there was none."""
        return self.before[-1].deals if self.before else 0

    def stages(self) -> list[Plan]:
        """Return its earlier plans, each extending the one before, and itself as the last."""
        return [*(self._stage(number) for number in range(len(self.before))), self]

    def _stage(self, number: int) -> Plan:
        # Later entrants and candidates come after earlier ones, so each earlier plan is a prefix of this one.
        was = self.before[number]
        games = tuple(replace(game, entrants=game.entrants[: was.bots[game.name]]) for game in self.games)
        candidates = self.candidates[: was.candidates]
        return replace(self, games=games, deals=was.deals, candidates=candidates, before=self.before[:number])

    def whole(self, option: str) -> int:
        """Return the value of a format's option that is an integer."""
        return int(self.settings[option])

    def number(self, option: str) -> float:
        """Return the value of a format's option that is a number."""
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

    def rotations(self) -> list[tuple[str, ...]]:
        """Return the seatings of its matches: every bot sits once in every seat."""
        return [(*self.seating[turn:], *self.seating[:turn]) for turn in range(len(self.seating))]

    def matches(self, game: GamePlan, luck: Chance, index: Iterator[int]) -> list[MatchSpec]:
        """Return its matches with their places in the schedule; `luck` is that of the run."""
        name = f"{game.name}-{self.group}.{self.number}"
        seed = luck.derive("deal", game.name, *self.deal)
        return [
            MatchSpec(
                id=f"{name}.{turn}",
                index=next(index),
                set=name,
                game=game.name,
                options=game.settings,
                seed=seed,
                seats=seats,
                round=self.group,
                table=self.number,
            )
            for turn, seats in enumerate(self.rotations(), 1)
        ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a format, besides the ratings: a function of plan and records alone."""

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
    """Keeps the result of one game up to date while records are added."""

    def add(self, record: GameRecord) -> None:
        """Add the next record in schedule order; in an unfinished run some are missing."""

    def outcome(self) -> Outcome:
        """Return the outcome of the records so far; of all records, what the rounds of an adaptive format return."""


class RunningClaims(Protocol):
    """Tests that hold although results decide when to stop or which pairs to play."""

    def add(self, record: GameRecord) -> None:
        """Add one match, in schedule order."""

    def claims(self, level: float) -> Collection[tuple[str, str]]:
        """Return the pairs (better, worse) that may all be claimed."""


class Scheduler(Protocol):
    """Decides which matches are played next. A format's schedule, a league and a resumed run each have one."""

    def next_matches(self) -> list[MatchSpec]:
        """Return matches that can be played now, each once; [] at the end, or until further results come."""

    def add_result(self, record: GameRecord) -> None:
        """Add the result of a match that was given out; results come in any order."""

    def outcome(self) -> dict[str, Outcome]:
        """Return the outcome of each game; {} until all matches were played."""


class OpenRound(ABC):
    """A round that hands out more matches before all results of the first ones have arrived, so that many machines
    need not wait. A format yields it instead of a list. It ends when it has no more matches and all results have been
    added."""

    @abstractmethod
    def next_matches(self) -> list[DuplicateSet] | list[MatchSpec]:
        """Return what can be played now, whatever the missing results will be; [] if that is nothing. Called again
        after each result: when it is called must not change what is played."""

    @abstractmethod
    def add_result(self, record: GameRecord) -> None:
        """Add a result: all of them come, one by one and in schedule order."""


Rounds = Generator[list[DuplicateSet] | OpenRound, Sequence[GameRecord], Outcome]
"""Yields sets to be played, is sent their records in schedule order (none for an open round, which already has them),
and returns the outcome."""
RoundsOfMatches = Generator[list[MatchSpec] | OpenRound, Sequence[GameRecord], Outcome]
"""The same for an adaptive format that seats and deals itself: it yields matches with their places in the schedule."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way of choosing who plays whom. A plugin offers its formats through the hook `arena_formats`."""

    name: str
    summary: str
    rounds: Callable[[GamePlan, Plan, Chance], Rounds | RoundsOfMatches]
    """The rounds of one game; `plan.settings` has a value for each of the format's options."""
    count: Callable[[GamePlan, Plan], int | None]
    """Matches of one game: exact or an upper bound; None if it depends on the results."""
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
    """Rounds of one game, if it is adaptive and their number is known in advance."""
    sizes: Callable[[GamePlan, Plan], Iterator[int] | None] = lambda _game, _plan: None
    """Matches of each list of one game, first to last, if results decide only who plays in them: then the place of
    every match is known in advance, and no game of a run waits for another."""
    anytime: bool = False
    """Whether results also decide when it ends or which pairs are worth playing, so that only claims which hold at any
    time may be made of its runs."""
    reads_actions: bool = False
    """Whether its rounds need the actions of records. Others get records without them: they are most of the size."""
    extend: Callable[[Plan, Plan], Plan] | None = None
    """Returns the plan to continue with, from the plan of a run and the larger one that is requested, or raises
    UsageError. All matches of the first must keep their ids, deals, seats and places. None: runs of this format cannot
    be extended."""
    late: Callable[[GamePlan, Plan, Chance], Rounds] | None = None
    """In a format that needs no results, what bots that joined with the last extension play of the deals before it;
    its `rounds` are then the deals since."""

    bind: Callable[[Plan, Callable[[], Mapping[str, Game[Any]]]], Format] | None = None
    """The format for one plan, if it needs more than the plan: it may ask for the plan's games, configured."""
    claims: Callable[[GamePlan, Plan], RunningClaims] | None = None
    """Tests the claims of one game, in a format with `anytime`; None is the usual test."""

    @property
    def design(self) -> Design:
        """What results decide in this format."""
        # First: results that decide when to stop may decide who meets whom as well.
        return "anytime" if self.anytime else "seated" if self.adaptive else "fixed"


# The format of a league's eras: the league decides who meets whom, so a run folder alone has no schedule.


def _rounds(_game: GamePlan, _plan: Plan, _luck: Chance) -> Rounds:
    raise UsageError("The journal of a league decides who meets whom: see arena league run, and arena league verify.")


class NoResult:
    """Tracker of a league, which has no result besides its table."""

    def __init__(self, _game: GamePlan, _plan: Plan) -> None:
        """Accept what every tracker gets."""

    def add(self, _record: GameRecord) -> None:
        """Ignore a match."""

    def outcome(self) -> Outcome:
        """Return an empty outcome."""
        return Outcome()


LEAGUE = Format(
    "league",
    "the least known bots first, where most is learned; bots join and leave at any time",
    _rounds,
    lambda _game, _plan: None,
    adaptive=True,
    anytime=True,
    track=NoResult,
)
