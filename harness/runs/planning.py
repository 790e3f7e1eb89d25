"""Plan a run before it is played: the balance of its schedule, how many deals it needs, how long it takes."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, islice, permutations, takewhile
from time import monotonic

from harness.core.errors import UsageError
from harness.core.options import MAX_DEALS
from harness.core.plan import Scheduler
from harness.core.records import GameRecord, MatchSpec
from harness.core.rng import Chance
from harness.core.table import Table
from harness.executors.base import Executor, Job, default_workers
from harness.runs.monitor import MIN_PACE_MATCHES, Seat, TimeLeft, Workload
from harness.runs.scheduler import Schedule, StaticScheduler, play_matches

MAX_COUNTED_MATCHES, MAX_SIMULATED_MATCHES = 100_000, 10_000
"""Matches that tables of the balance count; fewer of adaptive formats, whose results have to be simulated."""


def balance_tables(schedule: Schedule, most: int | None = None) -> Iterator[Table]:
    """Yield a table for each game: how often each bot plays, in which seats, and how often it meets others.

    The first `most` matches of the schedule count. Those of an adaptive format depend on results: these are simulated
    with bots of equal strength. "met least" is about bots that play at least one match.
    """
    if most is None:
        most = MAX_SIMULATED_MATCHES if schedule.adaptive else MAX_COUNTED_MATCHES
    games: dict[str, tuple[Counter[tuple[str, int]], Counter[tuple[str, str]]]] = {}
    for spec in islice(schedule.simulated(), most):
        sat, met = games.setdefault(spec.game, (Counter(), Counter()))
        sat.update((bot, seat) for seat, bot in enumerate(spec.seats))
        met.update(permutations(spec.seats, 2))
    for game, (sat, met) in games.items():
        bots, seats = sorted({bot for bot, _ in sat}), sorted({seat for _, seat in sat})
        rows = []
        for bot in bots:
            in_seats = [sat[bot, seat] for seat in seats]
            meetings = [met[bot, other] for other in bots if other != bot] or [0]
            rows.append([bot, sum(in_seats), *in_seats, min(meetings), max(meetings)])
        title = f"{game}: {sum(sat[bot, 0] for bot in bots):,} matches of {len(bots)} bots"
        head = ["bot", "matches", *(f"seat {seat}" for seat in seats), "met least", "met most"]
        yield Table(title, head, rows)


def check_length(schedule: Schedule) -> None:
    """Raise UsageError if the number of deals does not decide how many matches the schedule has."""
    plan, form = schedule.plan, schedule.format
    if form.adaptive and any(form.sizes(game, plan) is None for game in plan.games):
        raise UsageError(
            f"Results decide how many matches this {plan.format} has, so it cannot be planned by time or by matches of "
            f"each bot."
        )


def deals_for_matches(schedule: Schedule, each: int) -> int:
    """Return the deals with which each bot plays about this many matches of each game, or a few more.

    Where results decide who plays, they are simulated with bots of equal strength.
    """
    deals, most = 1, MAX_SIMULATED_MATCHES if schedule.adaptive else MAX_COUNTED_MATCHES
    # Twice: how many tables a deal has may depend on the number of deals, and over many deals samples are even.
    for _ in range(2):
        deals = first_deals(partial(_gives, schedule, _smallest_shares(schedule.with_deals(deals)), each))
        if sum(schedule.counts(deals).values()) > most:
            break
    if deals == MAX_DEALS:
        raise UsageError(f"No number of deals of this {schedule.plan.format} gives each bot {each:,} matches.")
    return deals


def _gives(schedule: Schedule, shares: Mapping[str, float], each: int, deals: int) -> bool:
    """Return whether with this many deals a bot that plays in these shares of the matches plays `each` of them."""
    counts = schedule.counts(deals)
    return all(counts[game] * share >= each for game, share in shares.items())


def _smallest_shares(schedule: Schedule) -> dict[str, float]:
    """Return for each game the share of its matches in which the bot with the fewest matches plays."""
    sat = Counter([(spec.game, bot) for spec in schedule.simulated() for bot in spec.seats])
    counts, found = schedule.counts(), {}
    for game in schedule.plan.games:
        fewest = min([sat[game.name, bot] for bot in game.entrants])
        found[game.name] = fewest / counts[game.name] if fewest else game.players / len(game.entrants)
    return found


def first_deals(is_enough: Callable[[int], bool]) -> int:
    """Return the smallest number of deals that is enough; the largest possible one if none is."""
    return 1 + bisect_left(range(1, MAX_DEALS), True, key=is_enough)


# How long a run takes, by matches of other deals that are played and thrown away.


MIN_TRIAL_S, MAX_TRIAL_S = 2.0, 20.0
"""When each bot has played MIN_TRIAL_SEATS trial matches, and two for each worker, workers have loaded the bots: from
then on matches are timed, MIN_PACE_MATCHES of them and for the first time at least. No trial match begins after the
second time."""
MIN_TRIAL_SEATS = 4
TRIAL_DEALS, MAX_TRIAL_MATCHES = 1000, 8000
"""Trial matches are chosen from the first matches of a schedule with this many deals, if no results are needed."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """How long matches take on this machine."""

    idle: float
    """Seconds in which not all workers play: while they start and load bots, and while the last matches end."""
    each: Mapping[str, float]
    """Seconds for each match of a game, with all workers busy."""
    trial: float
    """Seconds that the trial took."""

    def seconds(self, matches: Mapping[str, float]) -> float:
        """Return how long this many matches of each game take."""
        return self.idle + sum([self.each[game] * count for game, count in matches.items()])

    def deals_within(self, seconds: float, schedule: Schedule) -> int:
        """Return the most deals of a schedule that are played in this time, the trial included; at least one."""
        left, all_matches = seconds - self.trial, schedule.counts(MAX_DEALS)

        def is_enough(deals: int) -> bool:
            matches = schedule.counts(deals)
            return self.seconds(matches) > left or matches == all_matches  # a ladder may have a maximum of matches

        deals = first_deals(is_enough)
        return deals if self.seconds(schedule.counts(deals)) <= left else max(1, deals - 1)


def estimate_time(
    schedule: Schedule, executor: Executor, workers: int | None, step: Callable[[], None]
) -> TimeEstimate:
    """Play trial matches with the executor of a run with this many workers, and return how long its matches take.

    `step` is called after each. Raise KeyboardInterrupt if the executor should stop.
    """
    workload = Workload.of_schedule(schedule)
    if workload.total is None:  # results decide when it ends: one match of each bot
        matches = {game.name: len(game.entrants) / game.players for game in schedule.plan.games}
        workload = Workload(matches=matches, seats=dict.fromkeys(workload.seats, 1.0))
    began = monotonic()
    costs = TimeLeft(workload, began)
    busy = 1 if workers == 0 else workers or default_workers() or 1
    warm, ended, work = 0, list[float](), [0.0]

    def is_over() -> bool:
        now = monotonic()
        timed = warm and len(ended) > warm + MIN_PACE_MATCHES and now > ended[warm - 1] + MIN_TRIAL_S
        return bool(timed) or now > began + MAX_TRIAL_S

    def play(specs: Iterator[MatchSpec]) -> Iterator[GameRecord]:
        nonlocal warm
        # `map` continues where `specs` does after an end; a generator would not.
        for record, *_ in executor.run(map(Job, takewhile(lambda _spec: not is_over(), specs))):
            step()
            ended.append(monotonic())
            costs.add_record(record, ended[-1])
            work.append(costs.work)
            if not warm and costs.fewest_seats >= max(MIN_TRIAL_SEATS, 2 * busy):
                warm = max(len(ended), busy)
            yield record

    with executor:
        # In the loop of a run, because rounds wait for their last results and cost time to plan. A short schedule is
        # played several times.
        for trial in _trial_schedulers(schedule):
            if not play_matches(trial, play) or is_over():
                break
    if executor.should_stop():
        raise KeyboardInterrupt
    first = warm if warm and len(ended) > warm + MIN_PACE_MATCHES else busy if len(ended) > 3 * busy else 0
    # Workers do not end their matches at the same time: the pace is that from the mean time of one match of each worker
    # to that of another.
    start = sum(ended[first - busy : first]) / busy if first else began
    end = sum(ended[-busy:]) / max(1, len(ended[-busy:]))
    pace = (work[-1] - work[first]) / max(end - start, 1e-9)
    each = {game: all_work / workload.matches[game] / pace for game, all_work in costs.work_by_game(whole=True).items()}
    idle = max(0.0, start - began - work[first] / pace) + (busy - 1) / 2 * max(each.values())
    return TimeEstimate(idle, each, monotonic() - began)


def _trial_schedulers(schedule: Schedule) -> Iterator[Scheduler]:
    """Yield schedulers of other deals than those of the run: bots must not see its cards in advance."""
    luck = Chance(schedule.plan.seed)
    if not schedule.adaptive:
        yield StaticScheduler(_trial_matches(schedule.with_deals(TRIAL_DEALS, luck.derive("trial")), luck), ())
        return
    for number in count():
        yield schedule.with_deals(schedule.plan.deals, luck.derive("trial", number)).scheduler()


def _trial_matches(trial: Schedule, luck: Chance) -> list[MatchSpec]:
    """Return matches of a schedule in random order: first some of each bot."""
    known = list(islice(trial.matches(), MAX_TRIAL_MATCHES))
    seen: Counter[Seat] = Counter()
    first, others = list[MatchSpec](), list[MatchSpec]()
    for spec in luck.rng("trial").sample(known, len(known)):
        needed = any(seen[spec.game, bot] < MIN_TRIAL_SEATS for bot in spec.seats)
        seen.update((spec.game, bot) for bot in spec.seats)
        (first if needed else others).append(spec)
    return first + others
