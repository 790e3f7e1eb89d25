"""Play single matches from Python, and step through recorded ones."""

from __future__ import annotations

import warnings
from bdb import BdbQuit
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

from harness.core.action import View
from harness.core.bot import DecisionNotes
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.records import Fault, GameRecord, Isolation, MatchSpec, Value
from harness.core.table import Table, columns
from harness.executors.base import Job, Roster, isolated
from harness.executors.retry import play_with_retry
from harness.match.faults import Limits
from harness.match.replay import Position, narrate_match, positions, stream
from harness.match.stdio import capturing_output
from harness.match.stepper import EXTERNAL, MatchStepper, interruptible
from harness.output.progress import Debugger
from harness.output.tables import grid_text
from harness.output.text import warn_about_isolation
from harness.plugins.entrants import Entrant
from harness.plugins.features import ASK_BOT, MATCH_FRAME, load_object
from harness.plugins.registry import Registry
from harness.runs.request import SAFE_BITS, BotLike, RunRequest, draw_seed
from harness.runs.setup import installed, seats_for

if TYPE_CHECKING:
    from harness.ask.answers import Asked


class Match:
    """A match that was played, with its result and everything that happened in it.

    In a notebook it is shown with the drawn table, to be stepped through (with the extra `report`).
    """

    def __init__(self, game: Game[Any], record: GameRecord, notes: Sequence[DecisionNotes] = ()) -> None:
        self.game, self.record = game, record
        self.notes = tuple(notes)
        """Notes of the bots: `decision`, `seat` and what was `said`."""

    @property
    def id(self) -> str:
        """The id of the match in its run."""
        return self.record.id

    @property
    def bots(self) -> tuple[str, ...]:
        """The name of the bot in each seat."""
        return self.record.seats

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of each seat."""
        return self.record.scores

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each seat: 1 is best, ties share a rank, a bot that failed is last."""
        return self.record.ranks

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of bots: seat, kind, decision and error message."""
        return self.record.faults

    def story(self, seat: int | None = None) -> str:
        """Return the match in words; with a `seat`, include the table that it saw at each of its decisions."""
        self._check_seat(seat)
        return "\n".join(narrate_match(self.game, self.record, seat, self.notes))

    def replay(self, seat: int | None = None) -> Iterator[dict[str, object]]:
        """Return everything that happened as JSON-ready data, with a `seat` also its view at each of its decisions.

        docs/replay.md has the schema.
        """
        self._check_seat(seat)
        return stream(self.game, self.record, self.notes, seat)

    def positions(self, seat: int | None = None) -> list[Position]:
        """Return the decisions of the match, or of one seat: view, legal actions and the chosen action."""
        self._check_seat(seat)
        return [one for one in positions(self.game, self.record, self.notes) if seat in (None, one.seat)]

    def ask(
        self,
        bot: BotLike,
        *,
        decision: int | None = None,
        fault: bool = False,
        worst: bool = False,
        seat: int | str | None = None,
        isolate: Isolation = "auto",
    ) -> Asked:
        """Ask a bot, the one that played or another, what it chooses now, and return its answers.

        By default it is asked at every decision of the `seat`. Choose a single one with `decision` (its number),
        `fault` (where the bot of the seat failed) or `worst` (the decision with the highest estimated cost).

        Examples:
            >>> asked = play_match("el-paso", ["skittish", "diehard"], seed=7).ask("skittish:stars=4")
            >>> first = asked.differences[0]
            >>> first.position.decision, str(first.position.chosen), str(first.now)
            (4, 'leave', 'stay')
        """
        registry, limits = installed_here(isolate), BotLimits(0.0, isolate=isolate)
        asked: Asked = load_object(ASK_BOT)(
            bot, self.game, self.record, self.notes, registry, limits,
            decision=decision, fault=fault, worst=worst, seat=seat,
        )  # fmt: skip
        return asked

    def _check_seat(self, seat: int | None) -> None:
        if seat is not None and seat not in range(len(self.bots)):
            raise UsageError(f"{self.id} has seats 0 to {len(self.bots) - 1}, not {seat}.")

    def view(self, decision: int) -> View:
        """Return the view of the seat that made this decision."""
        for one in positions(self.game, self.record):
            if one.decision == decision:
                return one.view
        raise UsageError(f"{self.id} has decisions 0 to {len(self.record.actions) - 1}, not {decision}.")

    def _table(self, table_format: str) -> str:
        failed = {fault.seat: fault.kind for fault in self.faults}
        order = sorted(range(len(self.bots)), key=lambda seat: (self.ranks[seat], seat))
        head = columns("text", "rank", "bot", "score", *(["fault"] if failed else []))
        rows = [
            [self.ranks[seat], self.bots[seat], self.scores[seat], failed.get(seat, "")][: len(head)] for seat in order
        ]
        return grid_text(Table(self.id, head, rows), table_format)

    def __repr__(self) -> str:
        return f"{self.game.title}, {self.id}\n\n{self._table('simple')}"

    def _repr_html_(self) -> str:
        frame = ""
        with suppress(ModuleNotFoundError):  # without the extra [report] there is only the table
            frame = load_object(MATCH_FRAME)(self.game, self.record)
        return f"<h4>{escape(self.game.title)}, {escape(self.id)}</h4>{self._table('html')}{frame}"


def installed_here(isolate: Isolation = "auto", strict: bool = False) -> Registry:
    """Return all installed plugins, and warn about each broken one; raise PluginError instead if `strict`."""
    registry = installed(isolate, strict)
    for problem in registry.problems:
        warnings.warn(problem, stacklevel=3)  # points at the user's call of an API function
    return registry


def play_match(
    game: str,
    bots: Sequence[BotLike],
    *,
    seed: int | None = None,
    options: Mapping[str, Value] | None = None,
    move_time: float = 0.0,
    isolate: Isolation = "auto",
) -> Match:
    """Play one match in this process and return it.

    `bots` are given in the order of the seats: names, classes, or functions `(view, actions) -> action`. The same seed
    and bots give the same match; without a `seed`, a random one is used.

    Examples:
        >>> match = play_match("el-paso", ["outlaw", "diehard"], seed=7)
        >>> match.bots, match.scores
        (('outlaw', 'diehard'), (37, 26))
        >>> match.positions()[0].view.phase
        'play'
    """
    rules, seats = seat_entrants(installed_here(isolate), game, bots, options, seed, move_time, isolate)
    entrants = [entrant for entrant in seats if entrant is not None]
    if len(entrants) < len(seats):
        raise UsageError("None is not a bot. Use harness.step_match to answer for a seat yourself.")
    spec = single_match(rules, [entrant.name for entrant in entrants], seed)
    notes: list[DecisionNotes] = []
    roster = Roster({game: rules}, {entrant.name: entrant for entrant in entrants})
    try:
        with Debugger() as debugger, capturing_output(spec) as status, interruptible() as audit:
            record = play_with_retry(Job(spec), roster, Limits(move_time), status, audit, notes)
    finally:
        roster.close()
    if debugger.quit:
        raise BdbQuit
    return Match(rules, record, notes)


def step_match(
    game: str,
    bots: Sequence[BotLike | None],
    *,
    seed: int | None = None,
    options: Mapping[str, Value] | None = None,
    isolate: Isolation = "auto",
) -> MatchStepper:
    """Deal one match and return it before its first decision, to be played step by step.

    `bots` are given in the order of the seats, as in `play_match`; None is a seat for which you answer. There are no
    time limits.

    Examples:
        >>> match = step_match("el-paso", ["outlaw", None], seed=7)
        >>> match.advance(), match.seat, match.legal[0].text
        (True, 1, 'play bank 1')
        >>> match.answer(match.legal[0])
        >>> while match.advance():
        ...     match.answer(match.legal[-1])
        >>> match.record().scores
        (51, 4)
    """
    rules, entrants = seat_entrants(installed_here(isolate), game, bots, options, seed, 0.0, isolate)
    spec = single_match(rules, [EXTERNAL if entrant is None else entrant.name for entrant in entrants], seed)
    return MatchStepper(spec, rules, entrants)


def single_match(rules: Game[Any], names: Sequence[str], seed: int | None) -> MatchSpec:
    """Return a match that belongs to no schedule; without a seed, a random deal."""
    dealt = draw_seed(SAFE_BITS) if seed is None else seed
    return MatchSpec.single(f"{rules.name}-1.1.1", rules.name, rules.settings, dealt, names)


def seat_entrants(
    registry: Registry,
    game: str,
    bots: Sequence[BotLike | None],
    options: Mapping[str, Value] | None,
    seed: int | None,
    move_time: float,
    isolate: Isolation,
) -> tuple[Game[Any], list[Entrant | None]]:
    """Return the game, and an entrant for each seat that has a bot."""
    bots = tuple(bots.items()) if isinstance(bots, Mapping) else bots
    if isinstance(bots, str) or not isinstance(bots, Sequence):
        raise UsageError(f"The bots of a match are a list, one for each seat, not {bots!r}.")
    named = tuple(bot for bot in bots if bot is not None)
    asked = RunRequest(
        games=(game,), bots=named, options=dict(options or {}), seed=seed, move_time=move_time, isolate=isolate
    )
    rules = registry.game(game).configure(asked.options)
    # Before bots are entered, which may start processes.
    seats_for(rules, len(bots))
    entrants = registry.entrants(named)
    if len(entrants) > len(named):
        raise UsageError("One of the files has several bots; say which one is meant: path/to/bot.py::NAME.")
    by_name = {entrant.name: entrant for entrant in entrants}
    for entrant in entrants:
        if not entrant.plays(game):
            raise UsageError(entrant.refusal(rules))
        if by_name[entrant.name].bot is not entrant.bot:
            raise UsageError(f"Two different bots are called {entrant.name}: give one of them another name.")
    warn_about_isolation(by_name, isolate)
    playing = isolated(Roster({game: rules}, by_name), BotLimits(move_time, memory=0, isolate=isolate)).entrants
    seated = iter(entrants)
    return rules, [None if bot is None else playing[next(seated).name] for bot in bots]
