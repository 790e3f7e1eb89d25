"""The tables of an export: their columns, and the rows that a match gives to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from harness.core.game import Game
from harness.core.records import GameRecord, shares_ahead
from harness.match.replay import Replay

ColumnType = Literal[
    "text", "int64", "int32", "float64", "bool", "list of int32", "list of float32", "JSON"
]  # fmt: skip
ViewForm = Literal["encoded", "json", "none"]
"""How the views of decisions are exported."""


class ExportColumn(NamedTuple):
    """A column of an exported table."""

    name: str
    type: ColumnType
    text: str
    """Its meaning, for the documentation."""


MATCH = ExportColumn("match", "text", "The id of the match.")
TABLES: dict[str, tuple[ExportColumn, ...]] = {
    "matches": (
        MATCH,
        ExportColumn("index", "int64", "Its place in the schedule: sort by it, because matches end in any order."),
        ExportColumn("set", "text", "The duplicate set: matches of the same deal and bots, with the seats rotated."),
        ExportColumn("round", "int64", "Round of its game, from 1; 0 outside a schedule."),
        ExportColumn("table", "int64", "Number of its duplicate set in the round, from 1; 0 outside a schedule."),
        ExportColumn("game", "text", "The game."),
        ExportColumn("rules", "text", "Version of the rules."),
        ExportColumn("options", "JSON", "The options of the game."),
        ExportColumn("seed", "int64", "The deal: matches with the same seed have the same luck."),
        ExportColumn("players", "int32", "Number of seats."),
        ExportColumn("ending", "text", "Why it ended, in the game's word."),
        ExportColumn("decisions", "int64", "Decisions of all seats together."),
        ExportColumn("seconds", "float64", "Time that all bots thought."),
        ExportColumn("faults", "int32", "Faults of bots."),
    ),
    "seats": (
        MATCH,
        ExportColumn("seat", "int32", "The seat, from 0."),
        ExportColumn("bot", "text", "The name of the bot."),
        ExportColumn("score", "int64", "Its final score."),
        ExportColumn("rank", "int64", "Its rank: 1 is best, ties share a rank, a bot that failed is last."),
        ExportColumn("ahead", "float64", "The share of the others that it finished ahead of; a tie counts half."),
        ExportColumn("decisions", "int64", "Its decisions."),
        ExportColumn("seconds", "float64", "Time that it thought; empty if unknown."),
        ExportColumn("slowest", "float64", "Time of its slowest decision; empty if unknown."),
        ExportColumn("cpu", "float64", "Processor time of its processes; empty if it had none."),
        ExportColumn("fault", "text", "The kind of its first fault; empty if it had none."),
        ExportColumn("fault_decision", "int64", "The decision of the match at which that happened."),
    ),
    "decisions": (
        MATCH,
        ExportColumn("decision", "int32", "Its number in the match, from 0."),
        ExportColumn("seat", "int32", "The seat that decided."),
        ExportColumn("phase", "text", "The kind of choice."),
        ExportColumn("action", "int32", "The code of the chosen action."),
        ExportColumn("kind", "text", "The kind of the action."),
        ExportColumn("text", "text", "The action as text."),
        ExportColumn("legal", "list of int32", "The codes of all legal actions."),
        ExportColumn("stand_in", "bool", "Whether it was chosen at random because the bot had failed."),
        ExportColumn("score", "int64", "The score of this seat at the end of the match."),
        ExportColumn("ahead", "float64", "The share of the others that this seat finished ahead of."),
        ExportColumn(
            "view", "list of float32", "What the seat knew, encoded; JSON or left out if views are exported so."
        ),
    ),
    "events": (
        MATCH,
        ExportColumn("event", "int32", "Its number in the match, from 0; those of the deal are the first."),
        ExportColumn("decision", "int32", "How many decisions were made before it."),
        ExportColumn("kind", "text", "The kind of event."),
        ExportColumn("seats", "list of int32", "The seats that could see it; empty (no value) if all could."),
        ExportColumn("data", "JSON", "What happened: the game's page lists the kinds of events and their data."),
    ),
}
"""Every table with its columns."""
REPLAYED = ("decisions", "events")
"""Tables that need the game: its matches are replayed. There is one for each game and number of players."""

Row = tuple[Any, ...]
Encode = Callable[[Any], Any]
"""What `view` holds for a view."""


def match_row(record: GameRecord) -> Row:
    """Return the row of the table `matches`."""
    return (
        record.id,
        record.index,
        record.set,
        record.round,
        record.table,
        record.game,
        record.rules,
        as_json(record.options),
        record.seed,
        len(record.seats),
        record.ending,
        sum(record.decisions),
        sum(record.time),
        len(record.failures),
    )


def seat_rows(record: GameRecord) -> Iterator[Row]:
    """Yield the rows of the table `seats`."""
    ahead = shares_ahead(record.ranks)
    first = {fault.seat: fault for fault in reversed(record.faults)}
    for seat, bot in enumerate(record.seats):
        fault = first.get(seat)
        yield (
            record.id,
            seat,
            bot,
            record.scores[seat],
            record.ranks[seat],
            ahead[seat],
            record.decisions[seat],
            *[times[seat] if times else None for times in (record.time, record.slowest, record.cpu)],
            None if fault is None else fault.kind,
            None if fault is None else fault.decision,
        )


def replayed_rows(
    game: Game[Any], record: GameRecord, encode: Encode | None, wanted: Sequence[str]
) -> tuple[list[Row], list[Row]]:
    """Return the rows of the tables `decisions` and `events`, those that are wanted.

    Raise ReplayError if the record does not fit the rules; then no row of it is exported.
    """
    replay, ahead = Replay(game, record), shares_ahead(record.ranks)
    decisions: list[Row] = []
    events: list[Row] = []
    if "events" not in wanted:
        replay.state.log = None
    while True:
        for number in range(len(events), len(replay.log)):
            event = replay.log[number]
            seats = None if event.to is None else list(event.to)
            events.append((record.id, number, replay.decision, event.kind, seats, as_json(event.data)))
        if replay.over:
            break
        state = replay.state
        if len(state.legal) > 1 and "decisions" in wanted:
            seat, action = state.seat, replay.next_action()
            row = (
                record.id,
                replay.decision,
                seat,
                state.phase,
                action.code,
                action.kind,
                action.text,
                [each.code for each in state.legal],
                record.has_stand_in(seat, replay.decision),
                record.scores[seat],
                ahead[seat],
            )
            decisions.append(row if encode is None else (*row, encode(state.view(seat))))
        replay.step()
    replay.check_end()
    return decisions, events


def as_json(value: object) -> str:
    """Return a value as JSON in one line."""
    return msgspec.json.encode(value).decode()
