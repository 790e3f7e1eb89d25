"""A compact numeric encoding of a view: counts instead of padded lists.

What it merges: which adventurers are known in a hand beyond their number, and the sum and the best of each skill, but
for the seat's own; which adventurers are in the discard and which are unseen, beyond their number; the order of the
events seen; the colours of known IOUs in hands, but for the seat's own; which of its IOUs a seat has bid, beyond their
number and sum; the places of IOUs in the market beyond their columns, and their values beyond what each seat owes in a
column; and which gaps thieves have made, beyond their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.gnadenlos.actions import MAX_BID_IOUS
from engines.gnadenlos.cards import Adventurer, EventCard, Iou
from engines.gnadenlos.view import Theft
from harness import EncodingPart, Number

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos

SKILLS = Adventurer._fields


def encoding(game: Gnadenlos, players: int) -> tuple[EncodingPart | str, ...]:
    """Return the parts of the encoding."""
    return (
        "phase", "seat", "turn", "number", "start", "cause", _queue(players), "fame", "gold", "vultures", "undertaker",
        "event", _events_seen(game), "laid", "my_laid", _theft(players), _crew(game), _crews(game),
        *(("pairs",) if game.experienced else ()),
        "offers", "pile", _size("discard", len(game.adventurers)), _size("unseen_adventurers", len(game.adventurers)),
        "announced", _bids(game), _ious("hand", game, players), _hands(game), _market(game, players),
        _ious("unseen_ious", game, players),
    )  # fmt: skip


def _seats(players: int) -> list[str]:
    return ["me", *[f"+{place}" for place in range(1, players)]]


def _size(name: str, most: int) -> EncodingPart:
    def encode(items: tuple[object, ...]) -> Sequence[int]:
        return (len(items),)

    return EncodingPart(name, (name,), (Number(f"{name}.length", 0, most),), encode, cached=False)


def _queue(players: int) -> EncodingPart:
    """Return the place of each seat in the queue, from 1."""

    def encode(owner: int, queue: tuple[int, ...]) -> Sequence[int]:
        numbers = [0] * players
        for place, seat in enumerate(queue, start=1):
            numbers[seat - owner] = place
        return numbers

    numbers = tuple([Number(f"queue[{seat}]", 0, players) for seat in _seats(players)])
    return EncodingPart("queue", ("queue",), numbers, encode, relative=True)


def _events_seen(game: Gnadenlos) -> EncodingPart:
    """Return how many of each kind of event card were seen."""
    kinds = list(dict.fromkeys(game.event_cards))

    def encode(seen: tuple[EventCard, ...]) -> Sequence[int]:
        return [seen.count(kind) for kind in kinds]

    numbers = tuple([Number(f"seen {kind}", 0, game.event_cards.count(kind)) for kind in kinds])
    return EncodingPart("events_seen", ("events_seen",), numbers, encode)


def _theft(players: int) -> EncodingPart:
    """Return what was laid for a high noon, and for each seat: its place among the thieves, and its answer."""
    numbers = [Number("theft?", 0, 1), Number("gaps", 0, players)]
    for seat in _seats(players):
        numbers += [Number(f"shown[{seat}].{skill}", 0, 6) for skill in SKILLS]
        numbers += [
            Number(f"thief[{seat}]", 0, players),
            Number(f"asked[{seat}]", 0, 1),
            Number(f"stole[{seat}]", 0, 1),
        ]
    size = len(SKILLS) + 3

    def encode(owner: int, theft: Theft | None) -> Sequence[int]:
        found = [0] * len(numbers)
        if theft is None:
            return found
        found[:2] = 1, len(theft.gaps)
        for seat, adventurer in enumerate(theft.shown):
            if adventurer is not None:
                at = 2 + (seat - owner) % players * size
                found[at : at + len(SKILLS)] = adventurer
        for place, seat in enumerate(theft.thieves):
            at = 2 + (seat - owner) % players * size + len(SKILLS)
            asked = place < len(theft.answers)
            found[at : at + 3] = place + 1, int(asked), int(asked and theft.answers[place])
        return found

    return EncodingPart("theft", ("theft",), tuple(numbers), encode, relative=True)


def _crew(game: Gnadenlos) -> EncodingPart:
    """Return how many of each adventurer the seat has."""
    kinds = {kind: place for place, kind in enumerate(dict.fromkeys(game.adventurers))}

    def encode(crew: tuple[Adventurer, ...]) -> Sequence[int]:
        counts = [0] * len(kinds)
        for adventurer in crew:
            counts[kinds[adventurer]] += 1
        return counts

    numbers = tuple([Number(f"crew {kind}", 0, game.adventurers.count(kind)) for kind in kinds])
    return EncodingPart("crew", ("crew",), numbers, encode)


def _crews(game: Gnadenlos) -> EncodingPart:
    """Return for each seat how many adventurers it has, how many are known, and the sum and best of their skills."""
    most = len(game.adventurers)

    def encode(crew: tuple[Adventurer | None, ...]) -> Sequence[int]:
        known = [adventurer for adventurer in crew if adventurer is not None]
        skills = list(zip(*known, strict=True)) if known else [(0,)] * len(SKILLS)
        return [len(crew), len(known), *map(sum, skills), *map(max, skills)]

    numbers = [Number(".cards", 0, most), Number(".known", 0, most)]
    numbers += [Number(f".{skill} sum", 0, 6 * most) for skill in SKILLS]
    numbers += [Number(f".{skill} best", 0, 6) for skill in SKILLS]
    return EncodingPart("crews", ("crews",), tuple(numbers), encode, by_seat=True)


def _bids(game: Gnadenlos) -> EncodingPart:
    """Return for each seat whether it has bid or could not, the number of its IOUs, and their sum."""

    def encode(bid: tuple[Iou, ...] | None) -> Sequence[int]:
        return (0, 0, 0) if bid is None else (1, len(bid), sum([iou.value for iou in bid]))

    most = MAX_BID_IOUS * max(game.figures.ious.counts)
    numbers = (Number(".done", 0, 1), Number(".IOUs", 0, MAX_BID_IOUS), Number(".sum", 0, most))
    return EncodingPart("bids", ("bids",), numbers, encode, by_seat=True)


def _ious(name: str, game: Gnadenlos, players: int) -> EncodingPart:
    """Return how many IOUs there are of each value and colour."""
    values = {value: place for place, value in enumerate(sorted(game.figures.ious.counts))}

    def encode(owner: int, ious: tuple[Iou, ...]) -> Sequence[int]:
        counts = [0] * (len(values) * players)
        for value, colour in ious:
            counts[(colour - owner) % players * len(values) + values[value]] += 1
        return counts

    counts = game.figures.ious.counts
    numbers = [Number(f"{name}[{seat}] {value}", 0, counts[value]) for seat in _seats(players) for value in values]
    return EncodingPart(name, (name,), tuple(numbers), encode, relative=True)


def _hands(game: Gnadenlos) -> EncodingPart:
    """Return for each seat how many IOUs of each value are known in its hand, and how many are not."""
    values = {value: place for place, value in enumerate(sorted(game.figures.ious.counts))}
    most = sum(game.figures.ious.counts.values()) * game.max_players

    def encode(hand: tuple[Iou | None, ...]) -> Sequence[int]:
        counts = [0] * (len(values) + 1)
        for iou in hand:
            counts[-1 if iou is None else values[iou.value]] += 1
        return counts

    numbers = [Number(f" {value}", 0, most) for value in values]
    return EncodingPart("hands", ("hands",), (*numbers, Number(" unknown", 0, most)), encode, by_seat=True)


def _market(game: Gnadenlos, players: int) -> EncodingPart:
    """Return the size of the market and, for each column, the unknown IOUs and what each seat owes, with the number of
    its IOUs."""
    columns, ious = game.columns, sum(game.figures.ious.counts.values()) * players
    rows, best = -(-ious // columns), max(game.figures.ious.counts)
    size = 1 + 2 * players
    starts = [1 + place % columns * size for place in range(ious)]
    seats = [[1 + 2 * ((colour - owner) % players) for colour in range(players)] for owner in range(players)]

    def encode(owner: int, market: tuple[Iou | None, ...]) -> Sequence[int]:
        found = [0] * (1 + columns * size)
        found[0] = len(market)
        after = seats[owner]
        for at, iou in zip(starts, market):  # noqa: B905 - `strict` would take half of the time
            if iou is None:
                found[at] += 1
            else:
                value, colour = iou
                at += after[colour]
                found[at] += 1
                found[at + 1] += value
        return found

    numbers = [Number("market.length", 0, ious)]
    for column in range(1, columns + 1):
        numbers.append(Number(f"column {column} unknown", 0, rows))
        for seat in _seats(players):
            numbers += [Number(f"column {column}[{seat}] IOUs", 0, rows)]
            numbers += [Number(f"column {column}[{seat}] owed", 0, rows * best)]
    return EncodingPart("market", ("market",), tuple(numbers), encode, relative=True, cached=False)
