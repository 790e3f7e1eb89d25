"""How fast engines and bots are: decisions a second, and where the time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial, wraps
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

import msgspec

from harness.bench.timing import LOOPS, Log, LoopFailed, LoopProcess, SpeedPlan, count_instructions, valgrind_command
from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.game import Game, State
from harness.core.records import Event, MatchSpec
from harness.core.rng import Chance
from harness.match.referee import play
from harness.plugins.entrants import Entrant, enter

# Time breakdown: steps, legal lists, luck, views and referee as shares of a match.
#
# Compiled code cannot be instrumented. Instead the same matches are played with more and more of the work, and the
# differences are the cost of each part.


PARTS = LOOPS / "arena_parts.py"
BASE_PARTS = ("match", "steps", "views", "luck")
LEGAL_LISTS = "given"
"""The part that exists in plain Python only: compiled code does not separate legal lists from steps."""
BATCH_MATCHES = 20
"""Matches of the loop; a round plays all of them."""


class TimeBreakdown(msgspec.Struct, frozen=True):
    """The time breakdown of one game in one installation."""

    game: str
    players: int
    python: str
    """The interpreter; empty for this one."""
    versions: str
    whole: float
    """Cost of a decision in microseconds or instructions."""
    unit: str
    shares: dict[str, float]
    """Part -> its share; they add up to 1."""


def measure_breakdowns(pythons: Iterable[str | None], plan: SpeedPlan, log: Log) -> Iterator[TimeBreakdown]:
    """Yield the breakdown of every game in each of these interpreters; None is this one."""
    if plan.count:
        valgrind_command()
    for game, players in plan.tables.items():
        for python in pythons:
            log(f"Measuring what {game} is made of{f', in {python}' if python else ''} ...")
            yield _break_down(python, game, players, plan)


def _break_down(python: str | None, game: str, players: int, plan: SpeedPlan) -> TimeBreakdown:
    workload = f"{game}/{players}"
    with ExitStack() as running:
        loops = {part: running.enter_context(LoopProcess(python, PARTS, f"{workload}/{part}")) for part in BASE_PARTS}
        with suppress(LoopFailed):  # compiled: the table shows a dash
            loops[LEGAL_LISTS] = running.enter_context(LoopProcess(python, PARTS, f"{workload}/{LEGAL_LISTS}"))
        versions = str(loops["match"].versions)
        if not plan.count:
            costs = _time_parts(loops, plan)
    if plan.count:
        costs = {part: [count_instructions(python, PARTS, f"{workload}/{part}")] for part in loops}
    unit = "instructions" if plan.count else "microseconds"
    return TimeBreakdown(game, players, python or "", versions, median(costs["match"]), unit, shares_from_costs(costs))


def _time_parts(loops: dict[str, LoopProcess], plan: SpeedPlan) -> dict[str, list[float]]:
    """Return the microseconds a decision of each part, measured alternately."""
    games = loops["match"].play_for(plan.seconds / plan.pairs / len(loops), 0).games
    # Whole batches, so that every part plays the same matches.
    games = BATCH_MATCHES * max(1, round(games / BATCH_MATCHES))
    costs: dict[str, list[float]] = {part: [] for part in loops}
    for number in range(plan.pairs):
        # Every second round backwards, so that no part is always first.
        for part, loop in reversed(loops.items()) if number % 2 else loops.items():
            costs[part].append(MICRO / loop.play(games, 0).rate)
    return costs


def shares_from_costs(costs: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the share of each part: medians over rounds of the differences within a round."""
    rounds = [dict(zip(costs, each, strict=True)) for each in zip(*costs.values(), strict=True)]
    cost = {part: median(each[part] / each["match"] for each in rounds) for part in costs}
    shares = {"luck": cost["luck"], "views": cost["views"] - cost["steps"], "referee and bot": 1 - cost["views"]}
    if LEGAL_LISTS in cost:
        return {"steps": cost[LEGAL_LISTS] - cost["luck"], "legal lists": cost["steps"] - cost[LEGAL_LISTS], **shares}
    return {"steps, with legal lists": cost["steps"] - cost["luck"], **shares}


# Speed of games, as a ratio to a plain loop that every machine can run.


class Uniform(Bot):
    """Picks a legal action at random: the cheapest possible bot."""

    def start(self) -> None:
        """Bind the generator's method once."""
        self.random = self.rng.random

    def choose(self, view: Any, actions: Any) -> Action:
        """Return a random action."""
        action: Action = actions[int(self.random() * len(actions))]
        return action


def measure(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Return the rates of one game on one core with random bots; a decision is a choice of two or more actions."""
    ways = (_unrefereed, partial(_unrefereed, views=True), _refereed)
    bare, viewed, refereed = (_rate(game, players, seconds / 4, one) for one in ways)
    loop = calibrate(seconds / 4)
    games, decisions, spent = refereed
    return {
        "games/s": games / spent,
        "decisions/s": decisions / spent,
        "decisions/game": decisions / games,
        "with views, no referee/s": viewed[1] / viewed[2],
        "no views, no referee/s": bare[1] / bare[2],
        "referee overhead": (viewed[1] / viewed[2]) / (decisions / spent) - 1,
        "decisions per 1000 loop turns": 1000 * (decisions / spent) / loop,
    }


def calibrate(seconds: float) -> float:
    """Return the turns a second of a plain Python loop, to divide out the speed of this machine."""
    turns, began = 0, process_time()
    while process_time() - began < seconds:
        table = [0] * 64
        for i in range(2000):
            table[i & 63] = table[(i * 7) & 63] + i
        turns += 2000
    return turns / (process_time() - began)


def _rate(game: Game[Any], players: int, seconds: float, one: Any) -> tuple[int, int, float]:
    # The first match fills caches and does not count.
    one(game, players, 0)
    games = decisions = 0
    began = process_time()
    while (spent := process_time() - began) < seconds:
        games += 1
        decisions += one(game, players, games)
    return games, decisions, spent


def _unrefereed(game: Game[Any], players: int, seed: int, views: bool = False) -> int:
    state, rng, decisions = game.new(players, Chance(seed)), Random(seed).random, 0
    while legal := state.legal:
        if len(legal) > 1:
            decisions += 1
            if views:
                state.view(state.seat)
        state.step(legal[int(rng() * len(legal))])
    return decisions


UNIFORM = enter(Uniform, {}, "", "", "")


def _refereed(game: Game[Any], players: int, seed: int) -> int:
    spec = MatchSpec.single("bench", game.name, {}, seed, ("uniform",) * players)
    return len(play(spec, game, [UNIFORM] * players).actions)


# Costs of a bot: its view, its events and imagined games, in microseconds.


POSITIONS = 40
"""Positions at which costs are measured, spread over a few matches."""
REPEATS_PER_READING = 5
"""Repeats between two readings of the clock."""
SAMPLE_MATCHES = 4
"""Matches from which positions are taken, and that are replayed."""
MICRO = 1e6


class Listener(Uniform):
    """Subscribes to events and ignores them."""

    def observe(self, events: Sequence[Event]) -> None:
        """Do nothing."""


LISTENER = enter(Listener, {}, "", "", "")


def measure_costs(game: Game[Any], players: int, seconds: float) -> dict[str, float]:
    """Return the microseconds for what a bot gets at each decision, and for what it may call."""
    states = _positions(game, players)
    views = [state.view(state.seat) for state in states]
    rng = Random(1)
    share = seconds / 6

    def finished(number: int) -> None:
        # the same game each time, because the best time counts and must not be that of a short game
        luck = Random(number)
        state = game.imagine(views[number], luck)
        while legal := state.legal:
            state.step(legal[int(luck.random() * len(legal))])

    def copied_on(number: int) -> None:
        state = states[number].clone()
        state.step(state.legal[0])

    clone = _micros(lambda number: states[number].clone(), share)
    return {
        "view, for each decision": _micros(lambda number: states[number].view(states[number].seat), share),
        "events, with observe": _observe_cost(game, players, share),
        "view to JSON and back": _micros(lambda number: game.view_from_json(game.view_to_json(views[number])), share),
        "imagine": _micros(lambda number: game.imagine(views[number], rng), share),
        "clone": clone,
        "step": max(0.0, _micros(copied_on, share) - clone),
        "imagine, and play to the end": _micros(finished, share, batch=1),
    }


def _positions(game: Game[Any], players: int) -> list[State[Any]]:
    """Return states with a choice, evenly spread over matches of random bots."""
    found: list[State[Any]] = []
    for seed in range(SAMPLE_MATCHES):
        state, rng = game.new(players, Chance(seed)), Random(seed)
        while legal := state.legal:
            if len(legal) > 1:
                found.append(state.clone())
            state.step(rng.choice(legal))
    return [found[number * len(found) // POSITIONS] for number in range(POSITIONS)]


def _micros(one: Callable[[int], object], seconds: float, batch: int = REPEATS_PER_READING) -> float:
    """Return the mean over all positions of the best time of each: disturbances only ever slow things down."""
    best = [float("inf")] * POSITIONS
    began = perf_counter()
    while True:
        for number in range(POSITIONS):
            start = perf_counter()
            for _ in range(batch):
                one(number)
            best[number] = min(best[number], (perf_counter() - start) / batch)
        if perf_counter() - began > seconds:
            return MICRO * sum(best) / POSITIONS


def _observe_cost(game: Game[Any], players: int, seconds: float) -> float:
    """Return the extra microseconds a decision, on the bot's own clock, when it observes events."""
    # The same matches with and without a listener in seat 0, so that the difference is the cost of observing.
    seats = ("uniform",) * players
    quickest: dict[tuple[int, bool], float] = {}
    decisions: dict[int, int] = {}
    began, number = perf_counter(), 0
    while number < SAMPLE_MATCHES or perf_counter() - began < seconds:
        seed = number % SAMPLE_MATCHES
        spec = MatchSpec.single("bench", game.name, {}, seed, seats)
        for first in (UNIFORM, LISTENER):
            record = play(spec, game, [first, *[UNIFORM] * (players - 1)])
            way = (seed, first is LISTENER)
            quickest[way] = min(record.time[0], quickest.get(way, record.time[0]))
            decisions[seed] = record.decisions[0]
        number += 1
    longer = sum(spent if listening else -spent for (_, listening), spent in quickest.items())
    return max(0.0, MICRO * longer / max(1, sum(decisions.values())))


# Speed of a bot: decisions a second of processor time, at a table of random bots.


def measure_bot(entrant: Entrant, game: Game[Any], players: int, seconds: float) -> float:
    """Return the decisions a second of a bot in seat 0; at least one match is played."""
    spent = [0.0]
    timed = replace(entrant, bot=_timed(entrant.bot, spent)) if isinstance(entrant.bot, type) else entrant
    seats = [timed, *[UNIFORM] * (players - 1)]
    names = tuple(each.name for each in seats)
    began, decisions, number = perf_counter(), 0, 0
    while not number or perf_counter() - began < seconds:
        number += 1
        record = play(MatchSpec.single(f"bench-{number}", game.name, {}, number, names), game, seats)
        decisions += record.decisions[0]
        if timed is entrant:  # a bot in a separate process: by the clock if its processor time is not known
            spent[0] += (record.cpu or record.time)[0]
    return decisions / spent[0] if spent[0] else 0.0


def _timed(cls: type[Bot], spent: list[float]) -> type[Bot]:
    """Return the same bot, which adds the processor time of its methods to `spent`."""

    def timed(name: str) -> Callable[..., Any]:
        method = getattr(cls, name)

        @wraps(method)
        def call(*given: Any) -> Any:
            began = process_time()
            try:
                return method(*given)
            finally:
                spent[0] += process_time() - began

        return call

    # Only its own methods: a bot that observes nothing is not given events.
    own = [name for name in ("start", "observe", "choose", "finish") if getattr(cls, name) is not getattr(Bot, name)]
    return type(cls.__name__, (cls,), {name: timed(name) for name in own})
