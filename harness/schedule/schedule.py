"""From a plan to matches: the only thing that a tournament talks to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import ArenaError, PluginError, UnknownName, UsageError
from harness.core.format import DuplicateSet, Format, GamePlan, OpenRound, Outcome, Plan
from harness.core.options import resolve
from harness.core.types import GameRecord, MatchSpec
from harness.plugins.hooks import hookimpl
from harness.ratings import in_schedule_order
from harness.schedule.compare import COMPARE
from harness.schedule.course import Course
from harness.schedule.gauntlet import GAUNTLET
from harness.schedule.knockout import KNOCKOUT
from harness.schedule.ladder import LADDER
from harness.schedule.round_robin import ROUND_ROBIN
from harness.schedule.simulation import simulated_record
from harness.schedule.swiss import SWISS

FORMATS = {each.name: each for each in (ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT, LADDER, COMPARE)}
"""The bundled formats. They come in by the same door as a plugin's: the hook `arena_formats`."""
Place = tuple[tuple[int, int], tuple[int, ...]]
"""Where a set stands: its group and number, and its deal."""
NO_SET: Place = ((-1, -1), ())
"""Comes before every set."""
MOST_SEED = 2**128 - 1
"""Luck is keyed with sixteen bytes."""

Results = Callable[[Sequence[MatchSpec]], Sequence[GameRecord] | None]
"""Gives the records of a round, in its order; None if it cannot be finished."""


@hookimpl
def arena_formats() -> list[Format]:
    """Round-robin, gauntlet, swiss, knockout, ladder and compare."""
    return list(FORMATS.values())


class Schedule:
    """The matches of a plan: a function of the plan and, in adaptive formats, of the results."""

    def __init__(self, plan: Plan, formats: Mapping[str, Format]) -> None:
        """Refuses a plan that cannot be played, in a sentence that says why."""
        if plan.format not in formats:
            raise UnknownName("format", plan.format, formats)
        self.format = formats[plan.format]
        settings, _ = resolve(plan.format, self.format.options, plan.settings)
        self.plan = replace(plan, settings=settings, design=self.format.design)
        _check(self.plan, self.format, formats)

    @property
    def adaptive(self) -> bool:
        """Whether later matches depend on the results of earlier ones."""
        return self.format.adaptive

    def count(self) -> int | None:
        """How many matches there are at most (exactly, but for a ladder); None if only the results can tell."""
        counts = [self.format.count(game, self.plan) for game in self.plan.games]
        known = [each for each in counts if each is not None]
        return sum(known) if len(known) == len(counts) else None

    def matches(self) -> Iterator[MatchSpec]:
        """The matches of a plan that needs no results, lazily and in schedule order.

        Deals come outermost, so that a part of a run is balanced too.
        """
        if self.adaptive:
            what = self.plan.format
            raise UsageError(f"Who meets whom in a {what} depends on the results; it has no schedule in advance.")
        return self._flat()

    def _flat(self) -> Iterator[MatchSpec]:
        luck, index = Chance(self.plan.seed), count()
        for plan in self.plan.stages() if self.plan.before else (self.plan,):
            if plan.before and self.format.late:
                yield from self._late(plan, luck, index)
            running = self._started(luck, plan)
            for _ in range(plan.deals - plan.deals_before if plan.before else plan.deals):
                for rounds in running:
                    sets = rounds.ask()
                    if not isinstance(sets, list):
                        raise rounds.broken("it ends before its deals do")
                    yield from rounds.matches(sets, index)

    def _late(self, plan: Plan, luck: Chance, index: Iterator[int]) -> Iterator[MatchSpec]:
        """What those who came with this extension of the run have to play of the deals before."""
        running = [CheckedRounds(game, plan, self.format, luck, late=True) for game in plan.games]
        while running:
            for rounds in list(running):
                sets = rounds.ask()
                if isinstance(sets, list):
                    yield from rounds.matches(sets, index)
                else:
                    running.remove(rounds)

    def course(self) -> Course:
        """The matches of any plan, as results lead to them: what is played by, and all else here that needs results."""
        return Course(self.plan, self.format, self._started(Chance(self.plan.seed), self.plan))

    def _started(self, luck: Chance, plan: Plan) -> list[CheckedRounds]:
        return [CheckedRounds(game, plan, self.format, luck) for game in plan.games]

    def follow(self, results: Results) -> Generator[list[MatchSpec], None, dict[str, Outcome]]:
        """The matches of any plan, round by round; `results` is asked for the records of each round after it is given.

        Games go on side by side until each has ended; what comes back in the end is the outcome of each game, empty
        if `results` gave up. Only what `seen` leaves of the records matters, so a resumed run is led to
        where it was by the records it has.
        """
        course = self.course()
        while specs := course.turn():
            yield specs
            records = results(specs)
            if records is None:
                return {}
            _check_sent(specs, records)
            for record in records:
                course.take(record)
        return course.outcomes

    def outcomes(self, records: Iterable[GameRecord], *, ordered: bool = False) -> dict[str, Outcome]:
        """What the format says of these records, game by game; {} as long as it says nothing. `ordered`: they come in
        the order of the schedule."""
        if self.format.track is not None:
            return self._tracked(records if ordered else in_schedule_order(records))
        if not self.adaptive:
            return {game.name: Outcome() for game in self.plan.games}
        _, ended = self.led_by(records)
        return ended

    def _tracked(self, records: Iterable[GameRecord]) -> dict[str, Outcome]:
        assert self.format.track is not None
        with blaming(self.format):
            trackers = {game.name: self.format.track(game, self.plan) for game in self.plan.games}
            for record in records:
                if record.game in trackers:
                    trackers[record.game].add(record)
            return {name: tracker.outcome() for name, tracker in trackers.items()}

    def seen(self, record: GameRecord) -> GameRecord:
        """As much of a record as the format looks at."""
        return record if self.format.reads_actions else replace(record, actions=())

    def led_by(self, records: Iterable[GameRecord]) -> tuple[list[MatchSpec], dict[str, Outcome]]:
        """The matches that these records lead to, those still to be played included, and the outcome if none are."""
        known = {record.id: self.seen(record) for record in records}
        course, specs = self.course(), list[MatchSpec]()
        while more := course.more():
            specs += more
            for spec in more:
                if spec.id in known and known[spec.id].seats == spec.seats:  # records of other bots lead nowhere
                    course.take(known[spec.id])
        return specs, course.outcomes

    def simulated(self, strengths: Mapping[str, float] | None = None) -> Iterator[MatchSpec]:
        """A schedule that the plan may lead to, without playing: the schedule itself if results do not matter.

        Bots are as strong as `strengths` says, in spreads of their performance in one match; all alike if left out.
        A ladder of bots that are all alike may go on for long: take as much of it as you need.
        """
        if not self.adaptive:
            yield from self.matches()
            return
        luck, known = Chance(self.plan.seed), strengths or {}
        for specs in self.follow(lambda asked: [simulated_record(spec, known, luck) for spec in asked]):
            yield from specs


class CheckedRounds:
    """The rounds of one game, as its format yields them, and the matches that they are."""

    def __init__(self, game: GamePlan, plan: Plan, form: Format, luck: Chance, late: bool = False) -> None:
        """`late`: those of bots that came with the last extension of a run, in the deals before it."""
        self.game = game
        self._format, self._luck, self._entered = form, luck, frozenset(game.entrants)
        self._rounds: Any = form.late(game, plan, luck) if late and form.late else form.rounds(game, plan, luck)
        if not isinstance(self._rounds, Generator):
            raise self.broken(f"its rounds are {self._rounds!r}, not a generator")
        self._last = NO_SET
        self.kind: type | None = None
        """What it yields, sets or matches with places of their own; None before the first."""

    def ask(self, results: Sequence[GameRecord] | None = None) -> list[Any] | OpenRound | Outcome:
        """What the format asks for next, after these results of what it asked for before; its outcome at the end."""
        with blaming(self._format):
            try:
                asked = next(self._rounds) if results is None else self._rounds.send(results)
            except StopIteration as end:
                if isinstance(end.value, Outcome):
                    return end.value
                raise self.broken(f"it ends with {end.value!r} instead of an Outcome") from None
        if isinstance(asked, OpenRound):
            return asked
        if type(asked) is not list or not asked:
            raise self.broken(f"it yields {asked!r} instead of the sets to be played")
        return asked

    def more(self, asked: OpenRound) -> Sequence[Any]:
        """What can be played now of an open round."""
        with blaming(self._format):
            return asked.more()

    def tell(self, asked: OpenRound, record: GameRecord) -> None:
        """Lets an open round take in a result."""
        with blaming(self._format):
            asked.take(record)

    def matches(self, asked: Sequence[Any], index: Iterator[int]) -> Iterator[MatchSpec]:
        """The matches of what was asked for; sets take their places in the schedule from `index`."""
        for one in asked:
            self._check_kind(one)
            if isinstance(one, MatchSpec):
                self._check_seating(one.seats)
                yield one
            else:
                self._last = self._check_set(one)
                yield from self._rotated(one, index)

    def _check_kind(self, one: Any) -> None:
        if not isinstance(one, (DuplicateSet, MatchSpec)):
            raise self.broken(f"{one!r} is no DuplicateSet")
        self.kind = self.kind or type(one)
        if not isinstance(one, self.kind):
            raise self.broken(f"it yields both sets and matches; {one!r} is no {self.kind.__name__}")

    def _check_set(self, duplicates: DuplicateSet) -> Place:
        """Refuses a set that cannot be played, or whose matches would have the names of earlier ones, or whose deal
        was over: what matches of one deal have in common is seen if they follow each other."""
        self._check_seating(duplicates.seating)
        place, deal = (duplicates.group, duplicates.number), tuple(duplicates.deal)
        if place <= self._last[0]:
            raise self.broken(f"the set {place} comes after {self._last[0]}: groups and numbers must go up")
        if deal < self._last[1]:
            raise self.broken(
                f"the deal {deal} comes after {self._last[1]}: deals go up, and sets of one follow each other"
            )
        return place, deal

    def _check_seating(self, seating: Sequence[str]) -> None:
        sitting, game = set(seating), self.game
        if not len(seating) == len(sitting) == game.players or not sitting <= self._entered:
            raise self.broken(f"{seating!r} are not {game.players} different bots of {game.name}")

    def _rotated(self, duplicates: DuplicateSet, index: Iterator[int]) -> Iterator[MatchSpec]:
        """The matches of one duplicate set."""
        game = self.game
        name = f"{game.name}-{duplicates.group}.{duplicates.number}"
        seed = self._luck.derive("deal", game.name, *duplicates.deal)
        for turn, seats in enumerate(rotations(duplicates.seating), 1):
            yield MatchSpec(
                id=f"{name}.{turn}",
                index=next(index),
                set=name,
                game=game.name,
                options=game.settings,
                seed=seed,
                seats=seats,
            )

    def broken(self, what: str) -> PluginError:
        """The error that names the format and what it did."""
        return PluginError(f"The format {self._format.name} is broken: {what}.")


@contextmanager
def blaming(form: Format) -> Iterator[None]:
    """Whatever goes wrong inside is told as a mistake of the format."""
    try:
        yield
    except ArenaError:
        raise
    except Exception as error:
        raise PluginError(f"The format {form.name} is broken: {type(error).__name__}: {error}.") from error


def rotations(seating: Sequence[str]) -> list[tuple[str, ...]]:
    """A duplicate set's seatings: everybody sits once in every seat."""
    return [(*seating[turn:], *seating[:turn]) for turn in range(len(seating))]


def _check_sent(specs: Sequence[MatchSpec], records: Sequence[GameRecord]) -> None:
    """A wrong record here would silently give another schedule: better to stop."""
    ids, sent = [spec.id for spec in specs], [record.id for record in records]
    assert ids == sent, f"records of {len(ids)} matches from {ids[0]} on were expected in schedule order"


def _check(plan: Plan, chosen: Format, formats: Mapping[str, Format]) -> None:
    if plan.deals < 1:
        raise UsageError(f"There must be at least one deal, not {plan.deals}.")
    if not 0 <= plan.seed <= MOST_SEED:
        raise UsageError(f"The seed is a number from 0 to 2**128 - 1, not {plan.seed}.")
    if plan.candidates and not chosen.candidates:
        users = ", ".join(name for name, each in formats.items() if each.candidates)
        raise UsageError(f"Candidates are for {users}; a {plan.format} has no use for them.")
    if not plan.games:
        raise UsageError("There is no game to play.")
    names = [game.name for game in plan.games]
    if len(set(names)) < len(names):
        raise UsageError(f"A run plays each game once; this one has {', '.join(names)}.")
    for game in plan.games:
        _check_field(game)
    entered = {name for game in plan.games for name in game.entrants}
    for candidate in plan.candidates:
        if candidate not in entered:
            raise UnknownName("candidate", candidate, entered)
    for game in plan.games:
        chosen.check(game, plan)


def _check_field(game: GamePlan) -> None:
    if game.players < 2:
        raise UsageError(f"A table of {game.name} needs at least 2 bots, not {game.players}.")
    if not game.entrants:
        raise UsageError(f"No bots are entered for {game.name}.")
    if len(set(game.entrants)) < len(game.entrants):
        twice = next(name for name in game.entrants if game.entrants.count(name) > 1)
        raise UsageError(f"{twice} is entered twice for {game.name}; give the second one other options.")
    if len(game.entrants) < game.players:
        raise UsageError(
            f"{game.name} at tables of {game.players} needs at least {game.players} bots; "
            f"{len(game.entrants)} entered ({', '.join(game.entrants)})."
        )
