"""From a plan to matches: which matches can be played now, and which records they belong to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from itertools import count, zip_longest
from typing import Any, Self

from msgspec.structs import replace

from harness.core.errors import ArenaError, PluginError, UnknownName, UsageError
from harness.core.options import resolve
from harness.core.plan import DuplicateSet, Format, GamePlan, OpenRound, Outcome, Plan
from harness.core.records import GameRecord, MatchSpec, ranks_of
from harness.core.rng import Chance
from harness.formats.common import PIECE
from harness.ratings.trueskill import in_schedule_order

# The games of a plan on their way: each goes on as soon as its own results allow.
#
# Every match has its place in the schedule as if all games went step by step together: first the first list of each
# game, then the second of each, and so on. A game can be ahead of the others where its places are known: its format
# says how long the lists are, or brings the places itself. Else a list is given out when all lists before it have
# been.


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


# The matches of a run whose results decide what comes next, given out while others are being played.


Known = MutableMapping[str, GameRecord]
"""Records of before, by their matches."""


class LiveMatches:
    """An iterator that may have more again after it has ended: as soon as results allow it."""

    def __init__(self, course: Course, known: Known, check: Callable[[MatchSpec, GameRecord], None]) -> None:
        """Matches that are `known` are not given out: their records, which `check` may refuse, are taken from there."""
        self.course, self._known, self._check = course, known, check
        self._waiting: deque[MatchSpec] = deque()
        self.out: set[str] = set()
        """Matches that were given out and have no record."""
        self.given = 0
        """How many were given out."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MatchSpec:
        if not self.ready():
            raise StopIteration
        spec = self._waiting.popleft()
        self.out.add(spec.id)
        self.given += 1
        return spec

    def ready(self) -> bool:
        """Whether there is a match to be given out now."""
        while not self._waiting and (specs := self.course.more()):
            for spec in specs:
                if spec.id in self._known:
                    self._check(spec, self._known[spec.id])
                    self.course.take(self._known.pop(spec.id))
                else:
                    self._waiting.append(spec)
        return bool(self._waiting)

    def take(self, record: GameRecord) -> None:
        """Takes in the record of a match that was given out."""
        self.out.remove(record.id)
        self.course.take(record)


def play_live(
    matches: LiveMatches, play: Callable[[Iterator[MatchSpec]], Iterable[GameRecord]], given_up: Collection[str]
) -> bool:
    """Plays to the end whatever results lead to; whether there it is. `play` may end before it is given the last match;
    one that it was given and has not played is among those `given_up`, or somebody has stopped it."""
    while matches.ready():
        before = matches.given
        for record in play(matches):
            matches.take(record)
        if matches.given == before or not matches.out.issubset(given_up):
            return False
    return bool(matches.course.outcomes)


# Records beside the schedule that they should be of: both are gone through once, and side by side.


class RollCall:
    """Goes through a schedule as records of it come in. Both have nearly the same order, so only matches that are late
    are held in memory, and what has not come in the end is what is missing."""

    def __init__(self, schedule: Iterable[MatchSpec]) -> None:
        self._coming = iter(schedule)
        self._called = -1
        self._late: dict[int, MatchSpec] = {}
        self.fitting = 0
        """Matches that have come."""

    def fits(self, record: GameRecord) -> bool:
        """Whether the record is of a match of the schedule that has not come yet."""
        index = record.index
        while index > self._called:
            spec = next(self._coming, None)
            if spec is None:
                break
            if spec.index > self._called:
                self._called = spec.index
            if spec.index == index and is_of(record, spec):  # as it comes as a rule: in its turn
                self.fitting += 1
                return True
            self._late[spec.index] = spec
        due = self._late.get(index)
        if due is None or not is_of(record, due):
            return False
        del self._late[index]
        self.fitting += 1
        return True

    def missing(self) -> Iterator[MatchSpec]:
        """The matches that have not come, in the order of the schedule."""
        yield from self._late.values()
        yield from self._coming


def is_of(record: GameRecord, spec: MatchSpec) -> bool:
    """Whether the record is of exactly this match."""
    return (
        record.id == spec.id
        and record.seed == spec.seed
        and record.seats == spec.seats
        and record.index == spec.index
        and record.game == spec.game
        and record.set == spec.set
        and record.options == spec.options
        and record.round == spec.round
        and record.table == spec.table
    )


# Simulated results of bots whose strength is known: to look at a schedule in advance, for estimates and tests.


SCALE = 1000
"""Scores are whole numbers: performances in thousandths."""


def simulated_record(spec: MatchSpec, strengths: Mapping[str, float], luck: Chance) -> GameRecord:
    """A record of bots that perform by a normal distribution about their strength (Thurstone's model)."""
    rng = luck.rng("rehearsal", spec.id)  # the name of a stream stays, so that simulations can be repeated
    scores = tuple(round(SCALE * rng.gauss(strengths.get(name, 0.0), 1.0)) for name in spec.seats)
    return GameRecord(
        id=spec.id,
        index=spec.index,
        set=spec.set,
        game=spec.game,
        rules="",
        options=spec.options,
        seed=spec.seed,
        seats=spec.seats,
        scores=scores,
        ranks=ranks_of(scores),
        ending="made up",
        actions=(),
        decisions=(0,) * len(spec.seats),
        round=spec.round,
        table=spec.table,
    )


# From a plan to matches: the only thing that a tournament talks to.


Place = tuple[tuple[int, int], tuple[int, ...]]
"""Where a set stands: its group and number, and its deal."""
NO_SET: Place = ((-1, -1), ())
"""Comes before every set."""
MOST_SEED = 2**128 - 1
"""Luck is keyed with sixteen bytes."""

Results = Callable[[Sequence[MatchSpec]], Sequence[GameRecord] | None]
"""Gives the records of a round, in its order; None if it cannot be finished."""


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
                round=duplicates.group,
                table=duplicates.number,
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
