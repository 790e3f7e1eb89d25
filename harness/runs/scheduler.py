"""From a plan to matches: seats rotate, rounds follow results, and records find their matches.

Also the play loop of all runs (`play_matches`), and what is missing of a schedule (`ScheduleDiff`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from itertools import count, groupby, islice, zip_longest
from operator import attrgetter
from typing import Any, Self

from msgspec.structs import asdict, replace

from harness.core.errors import ArenaError, PluginError, UnknownName, UsageError
from harness.core.options import MAX_SEED, resolve
from harness.core.plan import DuplicateSet, Format, GamePlan, OpenRound, Outcome, Plan, Scheduler
from harness.core.records import GameRecord, MatchSpec, ReorderBuffer, belongs_to, in_schedule_order, ranks_of
from harness.core.rng import Chance
from harness.formats.common import BATCH_MATCHES

# Schedulers. All games of a run proceed side by side: each continues as soon as its own results allow it.
#
# Every match has its place in the schedule as if all games proceeded in step: first the first list of each game, then
# the second of each, and so on. A game can be ahead of the others if its places are known: its format says how long
# the lists are, or sets the places itself. Otherwise a list is given out when all lists before it have been.


MAX_AHEAD_MATCHES = 8 * BATCH_MATCHES
"""A game with this many matches in progress is given no more: later results are held until the first have come."""


class StaticScheduler:
    """The scheduler of a format that needs no results: its matches are known, and nothing waits."""

    def __init__(self, specs: Iterable[MatchSpec], games: Sequence[GamePlan]) -> None:
        self._specs, self._games = iter(specs), games
        self._in_progress, self._ended = 0, False

    def next_matches(self) -> list[MatchSpec]:
        """Return the next matches; [] at the end."""
        specs = list(islice(self._specs, BATCH_MATCHES))
        self._in_progress += len(specs)
        self._ended = not specs
        return specs

    def add_result(self, _record: GameRecord) -> None:
        """Count a result."""
        self._in_progress -= 1

    def outcome(self) -> dict[str, Outcome]:
        """Return an empty outcome for each game; {} until all matches were played."""
        return {game.name: Outcome() for game in self._games} if self._ended and not self._in_progress else {}


MAX_SHUFFLED_MATCHES = 8 * BATCH_MATCHES
"""A larger deal is shuffled in parts: results are rated in schedule order, and wait in memory for earlier ones."""


def in_play_order(specs: Iterable[MatchSpec]) -> Iterator[MatchSpec]:
    """Yield scheduled matches deal by deal, the tables and games of a deal in random order.

    In schedule order the first bots would play most of their matches of a deal before the last ones begin, and
    standings would be lopsided meanwhile.
    """
    for _, deal in groupby(specs, key=attrgetter("round")):
        while part := list(islice(deal, MAX_SHUFFLED_MATCHES)):
            # A table's seed is random and belongs to the run: no other luck is needed, and a resumed run continues in
            # the same order. Tables that are to be compared have the same seed, and stay together.
            yield from sorted(part, key=attrgetter("seed"))


class MultiGameScheduler:
    """The scheduler of a format that needs results. Results may come in any order: the matches are the same."""

    def __init__(self, plan: Plan, form: Format, started: Sequence[FormatRounds]) -> None:
        known = all(form.sizes(game, plan) is not None for game in plan.games)
        self._in_step = not known
        self._keeps_actions = form.reads_actions
        index = count()
        self._games = [
            GameScheduler(rounds, _starts(plan, form, turn) if known else None, index)
            for turn, rounds in enumerate(started)
        ]
        self._by_name = {each.name: each for each in self._games}

    def next_matches(self) -> list[MatchSpec]:
        """Return the next list of the game that is least far on; [] if no game can continue before results come."""
        able = [game for game in self._games if self._may_continue(game)]
        return min(able, key=lambda game: game.steps).next_matches() if able else []

    def add_result(self, record: GameRecord) -> None:
        """Add the result of a match that was given out."""
        # Results are held until earlier ones have come, and actions are most of their size.
        if record.actions and not self._keeps_actions:
            record = replace(record, actions=())
        self._by_name[record.game].add_result(record)

    def outcome(self) -> dict[str, Outcome]:
        """Return the outcome of each game; {} until all games have ended."""
        ended = {game.name: game.outcome for game in self._games if game.outcome is not None}
        return ended if len(ended) == len(self._games) else {}

    def _may_continue(self, game: GameScheduler) -> bool:
        if not game.has_next():
            return False
        return game.sets_places or not self._in_step or self._is_next(game)

    def _is_next(self, game: GameScheduler) -> bool:
        """Return whether all lists before its next one were given out, so that the places of its matches are known."""
        before = True
        for other in self._games:
            if other is game:
                before = False
                continue
            other.has_next()  # sets its outcome if it has just ended
            # Games take turns in the order of the plan: those before this one must be one list ahead of it.
            if other.outcome is None and not other.sets_places and other.steps < game.steps + before:
                return False
        return True


class GameScheduler:
    """One game of a `MultiGameScheduler`: which matches are next, and results for its format in schedule order."""

    def __init__(self, rounds: FormatRounds, starts: Iterator[tuple[int, int]] | None, index: Iterator[int]) -> None:
        """`starts` has the first place and the length of each list; without it, places come from `index`."""
        self.name, self.steps = rounds.game.name, 0
        self.outcome: Outcome | None = None
        self._rounds, self._starts, self._index = rounds, starts, index
        self._asked: Sequence[Any] = ()
        self._given = count()
        self._in_progress: dict[str, int] = {}
        """Matches without a result, with their numbers in the order in which they were given out."""
        self._results = ReorderBuffer[GameRecord]()
        self._begin_round(rounds.ask())

    @property
    def sets_places(self) -> bool:
        """Whether its format sets the places of matches itself."""
        return bool(self._asked and isinstance(self._asked[0], MatchSpec)) or self._rounds.kind is MatchSpec

    def has_next(self) -> bool:
        """Return whether there are matches to be played now."""
        while not self._asked and self.outcome is None:
            # One slow match holds back all later results: without a limit they would fill the memory.
            held = len(self._in_progress) + len(self._results.waiting)
            if held >= MAX_AHEAD_MATCHES:
                break
            self._asked = self._rounds.next_of(self._round)
            if self._asked or held:
                break
            self._begin_round(self._rounds.ask(self._round.results if isinstance(self._round, _ListedRound) else ()))
        return bool(self._asked)

    def _begin_round(self, asked: list[Any] | OpenRound | Outcome) -> None:
        if isinstance(asked, Outcome):
            self.outcome = asked
        else:
            self._round = asked if isinstance(asked, OpenRound) else _ListedRound(asked)

    def next_matches(self) -> list[MatchSpec]:
        """Return the next list of matches; call it if `has_next()`."""
        asked, self._asked = self._asked, ()
        # Without known sizes, `index` is shared by all games, which then take turns: see `_is_next`.
        if self._starts is None:
            specs = list(self._rounds.matches(asked, self._index))
        else:
            first, size = next(self._starts, (0, 0))
            specs = list(self._rounds.matches(asked, count(first)))
            if len(specs) != size:
                raise self._rounds.broken(f"by its sizes there are {size} matches now, and it asks for {len(specs)}")
        self.steps += 1
        # The ids come first: in the other order, zip would take a number from the counter that no match gets.
        self._in_progress.update(zip((spec.id for spec in specs), self._given, strict=False))
        return specs

    def add_result(self, record: GameRecord) -> None:
        """Add a result and pass on to the format what is complete in schedule order."""
        # Results wait in the buffer until all earlier ones have come: a format sees them in schedule order, so what it
        # asks for next does not depend on which worker was fastest.
        assert record.id in self._in_progress, f"{record.id} was not given out, or its record came before"
        for ready in self._results.add(self._in_progress.pop(record.id), record) or ():
            self._rounds.add_result_to(self._round, ready)


class _ListedRound(OpenRound):
    """A round that is a list: its format continues when all its results have come."""

    def __init__(self, asked: list[Any]) -> None:
        self._asked = asked
        self.results: list[GameRecord] = []

    def next_matches(self) -> list[Any]:
        asked, self._asked = self._asked, []
        return asked

    def add_result(self, record: GameRecord) -> None:
        self.results.append(record)


def _starts(plan: Plan, form: Format, turn: int) -> Iterator[tuple[int, int]]:
    """Yield the place of the first match of each list of one game, and its matches: by the lists of all games."""
    place = 0
    for sizes in zip_longest(*(form.sizes(game, plan) or () for game in plan.games), fillvalue=0):
        yield place + sum(sizes[:turn]), sizes[turn]
        place += sum(sizes)


class ResumedScheduler:
    """A scheduler with records of before: matches that have one are not given out again."""

    def __init__(
        self, scheduler: Scheduler, known: MutableMapping[str, GameRecord], unknown: Callable[[str], ArenaError]
    ) -> None:
        """`known` has the records by match; those that were used are removed.

        `unknown` returns the error for a record of that id that does not belong to its match.
        """
        self._scheduler, self._known, self._unknown = scheduler, known, unknown
        self.add_result, self.outcome = scheduler.add_result, scheduler.outcome

    def next_matches(self) -> list[MatchSpec]:
        """Return the next matches that have no record."""
        while specs := self._scheduler.next_matches():
            missing = []
            for spec in specs:
                record = self._known.pop(spec.id, None)
                if record is None:
                    missing.append(spec)
                elif belongs_to(record, spec):
                    # Added at once: the next matches may depend on it, and the schedule is the same as the first time.
                    self._scheduler.add_result(record)
                else:
                    raise self._unknown(spec.id)
            if missing:
                return missing
        return []


# The play loop of tournaments, comparisons, leagues and the idle benchmark.


class MatchFeed:
    """Feeds an executor from a scheduler: an iterator that may continue after its end, once results allow it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: deque[MatchSpec] = deque()
        self.in_flight: dict[str, MatchSpec] = {}
        """Matches that the executor has and that have no record."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> MatchSpec:
        if not self.has_next():
            raise StopIteration
        spec = self._waiting.popleft()
        self.in_flight[spec.id] = spec
        return spec

    def has_next(self) -> bool:
        """Return whether there is a match to be played now."""
        if not self._waiting:
            self._waiting.extend(self._scheduler.next_matches())
        return bool(self._waiting)

    def add_result(self, record: GameRecord) -> None:
        """Add the record of a match that the executor has played."""
        del self.in_flight[record.id]
        self._scheduler.add_result(record)


def play_matches(
    scheduler: Scheduler,
    play: Callable[[Iterator[MatchSpec]], Iterable[GameRecord]],
    given_up: Collection[str] = (),
    on_given_up: Callable[[list[MatchSpec]], None] = lambda _specs: None,
) -> bool:
    """Play what a scheduler gives out until it has no more; return whether it has an outcome then.

    `play` runs an executor: it takes matches from an iterator and yields their records in any order. Matches that it
    cannot play are among those `given_up`; if others have no record either, the executor was stopped.
    """
    feed = MatchFeed(scheduler)
    # An executor returns when the feed ends. That is not the end of the schedule if results lead to more matches.
    while feed.has_next():
        played = 0
        for record in play(feed):
            feed.add_result(record)
            played += 1
        failed = [feed.in_flight.pop(name) for name in given_up if name in feed.in_flight]
        if failed:
            on_given_up(failed)
        if not played or feed.in_flight:
            break
    return bool(scheduler.outcome())


# Records and the schedule that they should belong to: both are read once, side by side.


MAX_GAP = 100_000
"""Matches without a record before one with a record. A damaged record may be at any place of an endless schedule."""


class ScheduleDiff:
    """Compares a schedule with its records. Both have nearly the same order, so only matches whose record has not come
    yet are held in memory, and those that are left in the end are missing."""

    def __init__(self, schedule: Iterable[MatchSpec]) -> None:
        self._specs = iter(schedule)
        self.last_index = -1
        """The highest index of the schedule that was read."""
        self._late: dict[int, MatchSpec] = {}

    def matches_record(self, record: GameRecord) -> bool:
        """Return whether the record belongs to a match of the schedule that had no record before."""
        index = record.index
        # Read on in the schedule up to the place of the record. Matches that are passed wait for a later record.
        if index > self.last_index + MAX_GAP:
            return False
        while index > self.last_index:
            spec = next(self._specs, None)
            if spec is None:
                break
            self.last_index = max(self.last_index, spec.index)
            if spec.index == index and belongs_to(record, spec):  # the usual case: records come in order
                return True
            self._late[spec.index] = spec
        spec = self._late.get(index)
        if spec is None or not belongs_to(record, spec):
            return False
        del self._late[index]
        return True

    def missing(self) -> Iterator[MatchSpec]:
        """Yield the matches without a record, in schedule order."""
        yield from self._late.values()
        yield from self._specs


# Simulated results of bots of known strength: to look at a schedule in advance, for estimates and tests.


SCALE = 1000
"""Scores are integers: performances in thousandths."""


def simulated_record(spec: MatchSpec, strengths: Mapping[str, float], luck: Chance) -> GameRecord:
    """Return a record of bots whose performance is normally distributed about their strength (Thurstone's model)."""
    rng = luck.rng("rehearsal", spec.id)  # the name of a stream stays, so that simulations can be repeated
    scores = tuple(round(SCALE * rng.gauss(strengths.get(name, 0.0), 1.0)) for name in spec.seats)
    ranks, decisions = ranks_of(scores), (0,) * len(spec.seats)
    return GameRecord(
        **asdict(spec), rules="", scores=scores, ranks=ranks, ending="made up", actions=(), decisions=decisions
    )


# From a plan to matches.


Place = tuple[tuple[int, int], tuple[int, ...]]
"""Group and number of a set, and its deal."""
NO_SET: Place = ((-1, -1), ())
"""Comes before every set."""


class Schedule:
    """The matches of a plan: a function of the plan and, in adaptive formats, of the results."""

    def __init__(self, plan: Plan, formats: Mapping[str, Format]) -> None:
        """Raise UsageError if the plan cannot be played."""
        if plan.format not in formats:
            raise UnknownName("format", plan.format, formats)
        self.format = formats[plan.format]
        self.adaptive = self.format.adaptive
        """Whether later matches depend on the results of earlier ones."""
        settings, _ = resolve(plan.format, self.format.options, plan.settings)
        # The design is stored in run.json: ratings need it, and the format may come from a plugin that is gone then.
        self.plan = replace(plan, settings=settings, design=self.format.design)
        _check(self.plan, self.format, formats)

    def with_deals(self, deals: int, seed: int | None = None) -> Schedule:
        """Return the schedule of the same plan with another number of deals and, if given, another seed."""
        plan = replace(self.plan, deals=deals, seed=self.plan.seed if seed is None else seed)
        return Schedule(plan, {plan.format: self.format})

    def count(self) -> int | None:
        """Return the number of matches, or its maximum for a ladder; None if it depends on the results."""
        counts = self.counts()
        return sum(counts.values()) if len(counts) == len(self.plan.games) else None

    def counts(self, deals: int | None = None) -> dict[str, int]:
        """Return the number of matches of each game in which it is known; with this number of deals, if given."""
        plan = self.plan if deals is None else replace(self.plan, deals=deals)
        counts = {game.name: self.format.count(game, plan) for game in plan.games}
        return {name: count for name, count in counts.items() if count is not None}

    def matches(self) -> Iterator[MatchSpec]:
        """Yield the matches of a plan that needs no results, in schedule order.

        Deals come outermost, so that a part of a run is balanced too.
        """
        if self.adaptive:
            what = self.plan.format
            raise UsageError(f"Who meets whom in a {what} depends on the results; it has no schedule in advance.")
        return self._flat()

    def _flat(self) -> Iterator[MatchSpec]:
        # An extended run is scheduled as it was played: first all of its first plan, then what each extension added. So
        # the matches that were played keep their ids, deals and places.
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
        """Yield what bots that joined with this extension play of the earlier deals."""
        running = [FormatRounds(game, plan, self.format, luck, late=True) for game in plan.games]
        while running:
            for rounds in list(running):
                sets = rounds.ask()
                if isinstance(sets, list):
                    yield from rounds.matches(sets, index)
                else:
                    running.remove(rounds)

    def scheduler(self) -> Scheduler:
        """Return the scheduler of this plan."""
        if not self.adaptive:
            return StaticScheduler(self.matches(), self.plan.games)
        return MultiGameScheduler(self.plan, self.format, self._started(Chance(self.plan.seed), self.plan))

    def _started(self, luck: Chance, plan: Plan) -> list[FormatRounds]:
        return [FormatRounds(game, plan, self.format, luck) for game in plan.games]

    def outcomes(self, records: Iterable[GameRecord], *, ordered: bool = False) -> dict[str, Outcome]:
        """Return the outcome of these records by game; {} if there is none. `ordered`: they are in schedule order."""
        if self.format.track is not None:
            return self._tracked(records if ordered else in_schedule_order(records))
        if not self.adaptive:
            return {game.name: Outcome() for game in self.plan.games}
        _, ended = self.led_by(records)
        return ended

    def _tracked(self, records: Iterable[GameRecord]) -> dict[str, Outcome]:
        assert self.format.track is not None
        with attribute_errors(self.format):
            trackers = {game.name: self.format.track(game, self.plan) for game in self.plan.games}
            for record in records:
                if record.game in trackers:
                    trackers[record.game].add(record)
            return {name: tracker.outcome() for name, tracker in trackers.items()}

    def led_by(self, records: Iterable[GameRecord]) -> tuple[list[MatchSpec], dict[str, Outcome]]:
        """Return the matches that these records lead to, those still to be played included, and the outcome."""
        known = {record.id: record for record in records}
        scheduler, specs = self.scheduler(), list[MatchSpec]()
        while more := scheduler.next_matches():
            specs += more
            for spec in more:
                # Not `belongs_to`: a record with another wrong field is reported by verify, and the rest after it.
                if spec.id in known and known[spec.id].seats == spec.seats:
                    scheduler.add_result(known[spec.id])
        return specs, scheduler.outcome()

    def simulated(self, strengths: Mapping[str, float] | None = None) -> Iterator[MatchSpec]:
        """Yield a schedule that the plan may lead to, without playing: the schedule itself if results do not matter.

        `strengths` are in standard deviations of the performance in one match; by default all bots are equal.
        A ladder of equal bots may be long: take as much of it as you need.
        """
        if not self.adaptive:
            yield from self.matches()
            return
        luck, scheduler = Chance(self.plan.seed), self.scheduler()
        while specs := scheduler.next_matches():
            yield from specs
            for spec in specs:
                scheduler.add_result(simulated_record(spec, strengths or {}, luck))


class FormatRounds:
    """Turns what a format yields for one game into matches, and checks it: a format may come from a plugin."""

    def __init__(self, game: GamePlan, plan: Plan, form: Format, luck: Chance, late: bool = False) -> None:
        """`late`: the matches of bots that joined with the last extension of a run, in the deals before it."""
        self.game = game
        self._format, self._luck, self._entered = form, luck, frozenset(game.entrants)
        self._rounds: Any = form.late(game, plan, luck) if late and form.late else form.rounds(game, plan, luck)
        if not isinstance(self._rounds, Generator):
            raise self.broken(f"its rounds are {self._rounds!r}, not a generator")
        self._last = NO_SET
        self.kind: type | None = None
        """What it yields, sets or matches; None before the first."""

    def ask(self, results: Sequence[GameRecord] | None = None) -> list[Any] | OpenRound | Outcome:
        """Return what the format yields next after these results; its outcome at the end."""
        with attribute_errors(self._format):
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

    def next_of(self, asked: OpenRound) -> Sequence[Any]:
        """Return what can be played now of an open round."""
        with attribute_errors(self._format):
            return asked.next_matches()

    def add_result_to(self, asked: OpenRound, record: GameRecord) -> None:
        """Add a result to an open round."""
        with attribute_errors(self._format):
            asked.add_result(record)

    def matches(self, asked: Sequence[Any], index: Iterator[int]) -> Iterator[MatchSpec]:
        """Yield the matches of what the format yielded; sets take their places in the schedule from `index`."""
        for one in asked:
            self._check_kind(one)
            if isinstance(one, MatchSpec):
                self._check_seating(one.seats)
                yield one
            else:
                self._last = self._check_set(one)
                yield from one.matches(self.game, self._luck, index)

    def _check_kind(self, one: Any) -> None:
        if not isinstance(one, (DuplicateSet, MatchSpec)):
            raise self.broken(f"{one!r} is no DuplicateSet")
        self.kind = self.kind or type(one)
        if not isinstance(one, self.kind):
            raise self.broken(f"it yields both sets and matches; {one!r} is no {self.kind.__name__}")

    def _check_set(self, duplicates: DuplicateSet) -> Place:
        """Refuse a set that cannot be played, whose matches would have the ids of earlier ones, or whose deal was over:
        ratings see that matches share a deal only if they follow each other."""
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

    def broken(self, what: str) -> PluginError:
        """Return an error that names the format and its mistake."""
        return PluginError(f"The format {self._format.name} is broken: {what}.")


@contextmanager
def attribute_errors(form: Format) -> Iterator[None]:
    """Report any exception inside as a mistake of the format."""
    try:
        yield
    except ArenaError:
        raise
    except Exception as error:
        raise PluginError(f"The format {form.name} is broken: {type(error).__name__}: {error}.") from error


def _check(plan: Plan, chosen: Format, formats: Mapping[str, Format]) -> None:
    if plan.deals < 1:
        raise UsageError(f"There must be at least one deal, not {plan.deals}.")
    if not 0 <= plan.seed <= MAX_SEED:
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
