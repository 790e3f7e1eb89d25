"""Tries a bot at everything it claims to play and says whether it is fit for a tournament.

from harness.conformance import check_bot

def test_my_bot_is_fit():
    check_bot(Sprinter).demand()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from harness.core.bot import Bot
from harness.core.errors import ConformanceError
from harness.core.game import Game
from harness.core.types import GameRecord, MatchSpec
from harness.executors import Executor, Job, Roster
from harness.executors.remote import RemoteEntrant, SessionPool
from harness.match.referee import play
from harness.match.time_limits import Limits
from harness.plugins.entrants import Entrant, enter, unknown_games

LIMITS = Limits(move_time=10.0)
SEEDS = (1, 2)
MOST_FAULTS = 20
"""Faults after which there is no point in looking for more."""
STAND_IN = "stand-in"
OpensExecutor = Callable[[Roster], Executor]


class StandIn(Bot):
    """Fills the other seats: takes any legal action."""

    name = STAND_IN

    def choose(self, view: Any, actions: Any) -> Any:
        """One of them."""
        return actions[int(self.rng.random() * len(actions))]


@dataclass(slots=True)
class BotReport:
    """What was found. A bot without problems is fit to play."""

    bot: str
    games: dict[str, list[int]] = field(default_factory=dict)
    """Which player counts of which games were played."""
    matches: int = 0
    decisions: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    """Seconds of the slowest decision."""
    memory: float | None = None
    """Megabytes at most, for a bot in a process of its own."""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What its author should know, though it is no fault."""

    @property
    def fit(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def demand(self) -> None:
        """Raises ConformanceError if anything is wrong."""
        if self.problems:
            raise ConformanceError(f"{self.bot} is not fit to play: " + " ".join(self.problems))


def check_bot(
    bot: type[Bot] | Entrant,
    games: Iterable[Game[Any]] | None = None,
    seeds: Sequence[int] = SEEDS,
    limits: Limits = LIMITS,
    only: Sequence[str] = (),
    executor: OpensExecutor | None = None,
) -> BotReport:
    """Plays every game that the bot claims at every player count, each match twice; what came of it.

    `games` are those there are, by default all that are installed; `only` leaves out the others. A class is played in
    this process, by default: what hangs or kills it is survived by entrants in processes of their own, and by an
    `executor` with workers, made for a roster. `arena check` has both.
    """
    entrant = bot if isinstance(bot, Entrant) else enter(bot, {}, "", "", "")
    offered = {game.name: game for game in (_installed() if games is None else games)}
    report = BotReport(entrant.name)
    report.problems += unknown_games([("It", entrant.bot)], offered)
    chosen = {name: game for name, game in offered.items() if entrant.plays(name) and (not only or name in only)}
    roster = Roster(chosen, {entrant.name: entrant, STAND_IN: enter(StandIn, {}, "", "", "")})
    matches = (
        spec
        for game in chosen.values()
        for players in range(game.min_players, game.max_players + 1)
        for spec in _matches(game, players, entrant.name, seeds)
    )
    specs = [structs.replace(spec, index=index) for index, spec in enumerate(matches)]
    report.games = {name: list(range(game.min_players, game.max_players + 1)) for name, game in chosen.items()}
    try:
        first = _play_all(specs, roster, limits, report, executor)
        # The other way round, in fresh processes: a bot whose play depends on what it played before is found out.
        second = _play_all(specs[::-1], roster, limits, report, executor)
    finally:
        roster.close()
    for spec in specs:
        _compare(spec, first.get(spec.id), second.get(spec.id), report)
    return report


def _installed() -> Iterator[Game[Any]]:
    from harness.plugins.registry import load

    for offer in load().games.values():
        game: Game[Any] = offer.cls.configure()
        yield game


def _matches(game: Game[Any], players: int, name: str, seeds: Sequence[int]) -> Iterator[MatchSpec]:
    """The bot in one seat after the other, and at the end in all seats."""
    for number, seed in enumerate(seeds):
        seats = [STAND_IN] * players
        seats[number % players] = name
        yield _spec(game, f"{game.name}, {players} players, seed {seed}", seed, seats)
    yield _spec(game, f"{game.name}, {players} players, against itself", seeds[0], [name] * players)


def _spec(game: Game[Any], what: str, seed: int, seats: list[str]) -> MatchSpec:
    return MatchSpec.single(what, game.name, game.settings, seed, seats)


def _play_all(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, report: BotReport, executor: OpensExecutor | None
) -> dict[str, GameRecord]:
    """The records of these matches; after too many faults the rest is left out."""
    entrant, records, faults = roster.entrants[report.bot], {}, 0
    for record in _played(specs, roster, limits, executor):
        records[record.id] = record
        mine = [seat for seat, name in enumerate(record.seats) if name == report.bot]
        report.matches += 1
        report.decisions += sum(record.decisions[seat] for seat in mine)
        report.seconds += sum(record.time[seat] for seat in mine)
        report.slowest = max(report.slowest, *(record.slowest[seat] for seat in mine))
        faults += len(record.faults)
        if faults > MOST_FAULTS:
            break
    if isinstance(entrant, RemoteEntrant):
        _look_at(entrant.sessions, report)
    return records


def _played(
    specs: Sequence[MatchSpec], roster: Roster, limits: Limits, executor: OpensExecutor | None
) -> Iterator[GameRecord]:
    if executor is None:
        for spec in specs:
            yield play(spec, roster.games[spec.game], roster.seats(spec), limits)
        return
    with executor(roster) as pool:
        for played in pool.run(map(Job, specs)):
            yield played.record


def _look_at(sessions: SessionPool, report: BotReport) -> None:
    """What its processes have used, and whether they stayed."""
    report.memory = max([report.memory or 0.0, *(program.process.peak_memory() for program in sessions.idle)])
    if sessions.unasked_exits:
        report.problems.append(
            "Its program ends after a match, unasked: it should wait for the next one, since start-up takes time."
        )
        sessions.unasked_exits = 0
    sessions.dismiss()


def _compare(spec: MatchSpec, once: GameRecord | None, again: GameRecord | None, report: BotReport) -> None:
    if once is None or again is None:
        return
    for fault in once.faults or again.faults:
        last = fault.detail.strip().splitlines()[-1:] or [""]
        report.problems.append(f"{spec.id}: {fault.kind} at decision {fault.decision}: {last[0]}")
    if not once.faults and not again.faults and once.without_timing() != again.without_timing():
        report.problems.append(f"{spec.id}: not repeatable: {_difference(once, again)}")


def _difference(one: GameRecord, other: GameRecord) -> str:
    for number, (a, b) in enumerate(zip(one.actions, other.actions, strict=False)):
        if a != b:
            return f"decision {number} was another one the second time, with the same seed."
    return f"the second time it ended otherwise ({len(one.actions)} decisions, then {len(other.actions)})."
