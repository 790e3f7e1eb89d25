"""Sets a table as a rule needs it. Figures that may be retuned are taken from the game's components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engines.gnadenlos import SKILL, Adventurer, EventCard, Gnadenlos, GnadenlosState, Iou
from engines.gnadenlos.payday import BLOCK
from harness import Chance
from tests.support.luck import RiggedChance

GAME = Gnadenlos.configure()
EXPERIENCED = Gnadenlos.configure({"variant": "experienced"})
FIGURES = GAME.figures
GOAL = FIGURES.road.fields
COLUMNS = FIGURES.payday.columns
LAST_STEP = FIGURES.undertaker.steps
RUSH = next(card for card in GAME.event_cards if card.kind == "gold rush")
NOON = EventCard("high noon")
CHEAT = EventCard("cheating")


def ranked(kind: str, *places: int) -> list[Adventurer]:
    """Different adventurers for an event of this kind: place 0 has the highest value, equal places equal values."""
    skill = SKILL[kind]
    values = sorted({card[skill] for card in GAME.adventurers}, reverse=True)
    cards = {place: [card for card in GAME.adventurers if card[skill] == values[place]] for place in set(places)}
    return [cards[place].pop() for place in places]


def idle(seats: int, each: int) -> tuple[tuple[Adventurer, ...], ...]:
    """Crews of this size that play no part in the test."""
    return tuple(GAME.adventurers[seat * each : (seat + 1) * each] for seat in range(seats))


def ious(colour: int, *values: int) -> tuple[Iou, ...]:
    return tuple(sorted(Iou(value, colour) for value in values))


def table(
    players: int = 4,
    game: Gnadenlos = GAME,
    luck: Mapping[tuple[str | int, ...], Any] | Chance | None = None,
    **parts: Any,
) -> GnadenlosState:
    """A new game with parts of it replaced; replaced hands, crews and markets are known to all unless it is said."""
    chance = luck if isinstance(luck, Chance) else RiggedChance(luck or {})
    state = game.new(players, chance, [])
    logged(state).clear()
    # A new game is already at its first choice: take that back.
    state.number, state.undertaker, state.event, state.queue = 1, 0, None, ()
    state.event_pile, state.events_seen = game.event_cards, ()
    for part in ("hands", "crews", "market"):
        if part in parts:
            parts.setdefault(f"known_{part}", parts[part])
    if "market" in parts or "hands" in parts:
        parts.setdefault("unseen_ious", ())
    for name, value in parts.items():
        setattr(state, name, value)
    return state


def at_event(card: EventCard, laid: Sequence[Adventurer | None], **parts: Any) -> GnadenlosState:
    """Every seat holds the adventurer it is going to lay (None: no adventurer) and this event has been turned."""
    parts.setdefault("crews", tuple(() if one is None else (one,) for one in laid))
    state = table(len(laid), **parts)
    if "event_pile" not in parts:
        state.event_pile = (card, *(other for other in GAME.event_cards if other != card))
    state._turn()
    return state


def turned_up(card: EventCard, laid: Sequence[Adventurer | None], **parts: Any) -> GnadenlosState:
    """The same, and all have laid: if there is something to steal, the first thief is asked."""
    state = at_event(card, laid, **parts)
    while state.phase == "lay":
        state.apply(GAME.table.lay[laid[state.seat]])
    return state


def carry_out(card: EventCard, laid: Sequence[Adventurer | None], **parts: Any) -> GnadenlosState:
    """The same, and all thieves steal."""
    state = turned_up(card, laid, **parts)
    while state.phase == "steal":
        steal(state)
    return state


def steal(state: GnadenlosState) -> None:
    state.apply(state.legal[1])


def leave_it(state: GnadenlosState) -> None:
    state.apply(state.game.table.steal[0])


def at_fame(players: int = 4, **parts: Any) -> GnadenlosState:
    """The start player is about to buy fame; nobody has an adventurer unless it is said."""
    parts.setdefault("crews", ((),) * players)
    state = table(players, **parts)
    state._ask("fame", state.start)
    return state


def at_hiring(players: int = 4, **parts: Any) -> GnadenlosState:
    """Fame has been left alone; adventurers are turned up."""
    state = at_fame(players, **parts)
    buy(state, 0)
    return state


def at_payday(market: Sequence[Iou], *columns: int, players: int = 4, **parts: Any) -> GnadenlosState:
    """The turn ends without hiring; if the market is full, the die shows these columns (from 1)."""
    parts.setdefault("luck", dice(*columns))
    parts.setdefault("crews", idle(players, 3))
    state = at_fame(players, market=tuple(market), **parts)
    buy(state, 0)
    return state


def dice(*columns: int, payday: int = 1, number: int = 1) -> dict[tuple[str | int, ...], tuple[int, ...]]:
    """Luck: what the die shows on a payday of turn `number` (0 is the last payday); then always the last one."""
    faces = [column - 1 for column in columns]
    return {("payday", number, payday, 0): tuple(faces + faces[-1:] * (BLOCK - len(faces)))}


def full(players: int = 4, *rest: Iou) -> tuple[Iou, ...]:
    """A market of just as many rows as players, all IOUs of value 0 of seat 0; `rest` replaces its end."""
    return (Iou(0, 0),) * (players * COLUMNS - len(rest)) + rest


def buy(state: GnadenlosState, gold: int) -> None:
    state.apply(state.game.table.buy[gold])


def bid(state: GnadenlosState, *paid: Iou) -> None:
    pay = state.game.table.pay[tuple(sorted(paid))]
    state.apply(state.game.table.bid[pay.total])
    state.apply(pay)


def hire(state: GnadenlosState, adventurer: Adventurer) -> None:
    state.apply(state.game.table.hire[adventurer])


def pass_all(state: GnadenlosState) -> None:
    """Everybody keeps their gold to the end of the game."""
    while state.phase == "last fame":
        buy(state, 0)


def texts(state: GnadenlosState) -> list[str]:
    return [str(action) for action in state.legal]


def logged(state: GnadenlosState, kind: str | None = None) -> list[Any]:
    """The log, or the entries of one kind."""
    assert state.log is not None
    return state.log if kind is None else [event.data for event in state.log if event.kind == kind]
