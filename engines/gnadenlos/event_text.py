"""Gnadenlos!'s events as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from engines.gnadenlos.cards import Adventurer, EventCard, Iou
from harness import Event

if TYPE_CHECKING:
    from engines.gnadenlos.game import Gnadenlos

RULES_BEHIND = {
    "lay": ("GN-13", "GN-14", "GN-16", "GN-17", "GN-19", "GN-20", "GN-21"),
    "steal": ("GN-17", "GN-18", "GN-25", "GN-32"),
    "fame": ("GN-22", "GN-33"),
    "bid": ("GN-25", "GN-26", "GN-28", "GN-29", "GN-30", "GN-31"),
    "pay": ("GN-25", "GN-17", "GN-29", "GN-32"),
    "hire": ("GN-28", "GN-14"),
    "last fame": ("GN-38", "GN-39"),
}
"""What to read before each kind of choice."""

RULE_EVENTS: dict[str, str | Callable[[str, dict[str, Any]], bool]] = {
    "GN-9": "pairs",
    "GN-10": "no event",
    "GN-11": lambda kind, data: kind == "event" and not data["carried_out"],
    "GN-12": "undertaker",
    "GN-13": "laid",
    "GN-15": "all equal",
    "GN-16": "gold",
    "GN-17": "stolen",
    "GN-18": "market closed up",
    "GN-19": lambda kind, data: kind == "discarded" and data["why"] == "shot",
    "GN-20": "hat",
    "GN-21": lambda kind, data: kind == "discarded" and data["why"] == "best",
    "GN-22": lambda kind, data: kind == "fame" and bool(data["paid"]),
    "GN-23": "no hiring",
    "GN-24": "offers",
    "GN-25": "bid",
    "GN-27": "no bid",
    "GN-28": "hired",
    "GN-29": "to market",
    "GN-30": "bid back",
    "GN-31": lambda kind, data: kind == "payday" and not data["last"],
    "GN-32": "die",
    "GN-33": "vulture",
    "GN-34": "returned",
    "GN-36": "ending",
    "GN-37": lambda kind, data: kind == "payday" and bool(data["last"]),
    "GN-40": lambda kind, data: kind == "over" and data["ending"] == "truncated",
}
"""Which event shows a rule at work. GN-11: the last event card of the pile is turned. GN-33: a player cannot pay."""


Data = dict[str, Any]
Names = Sequence[str]


def event_text(game: Gnadenlos, event: Event, names: Names) -> str:
    """Return the event as a sentence."""
    return _SENTENCES[event.kind](game, event.data, names)


def _set_up(_game: Gnadenlos, data: Data, names: Names) -> str:
    return (
        f"{data['players']} players with {data['gold']} gold each stand on field {data['field']} "
        f"({data['variant']} game). {names[data['start']]} holds the revolver."
    )


def _adventurers(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"The pile of adventurers lies, from the top: {_crew(data['order'])}."


def _events_shuffled(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return "The event cards are shuffled" + (" into a new pile." if data["shuffle"] else ".")


def _events(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"The event cards lie, from the top: {', '.join(str(EventCard(*card)) for card in data['order'])}."


def _dealt(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} is dealt {_crew(data['adventurers'])}."


def _first_market(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"Into the market go, face down and shuffled: {_ious(data['ious'], names)}."


def _market_order(_game: Gnadenlos, data: Data, names: Names) -> str:
    places = [_iou(iou, names) for iou in data["ious"]]
    return f"The market is, place by place: {', '.join(places)}."


def _pairs(_game: Gnadenlos, data: Data, _names: Names) -> str:
    pairs = [f"{number}: {_crew(pair)}" for number, pair in enumerate(data["pairs"], 1)]
    return f"Pairs are turned up: {'; '.join(pairs)}."


def _turn(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"Turn {data['number']}: {names[data['start']]} holds the revolver."


def _no_event(_game: Gnadenlos, _data: Data, _names: Names) -> str:
    return "Too few have an adventurer: there is no event."


def _event(_game: Gnadenlos, data: Data, _names: Names) -> str:
    card = EventCard(*data["card"])
    if not data["carried_out"]:
        return f"The last event card is turned, {card}: it is not carried out."
    return f"The event is {card}."


def _undertaker(game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"The undertaker takes step {data['step']} of {game.figures.undertaker.steps}."


def _laid(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} lays an adventurer face down."


def _shown(_game: Gnadenlos, data: Data, names: Names) -> str:
    shown = [f"{names[seat]} {Adventurer(*adventurer)}" for seat, adventurer in data["laid"]]
    return f"The adventurers are turned up: {', '.join(shown)}."


def _all_equal(_game: Gnadenlos, _data: Data, _names: Names) -> str:
    return "All are equally good: nothing happens."


def _gold(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} finds {data['found']} gold and has {data['gold']} now."


def _market_too_short(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"Nobody may take an IOU: {data['wanted']} could be taken, the market has {data['size']}."


def _theft(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} " + ("steals from the market." if data["steals"] else "might steal, and does not.")


def _stolen(game: Gnadenlos, data: Data, names: Names) -> str:
    what = "an IOU that nobody knows" if data["iou"] is None else f"the IOU {_iou(data['iou'], names)}"
    return f"{names[data['seat']]} takes {what} from the market ({_place(game, data['place'])})."


def _stolen_secret(game: Gnadenlos, data: Data, names: Names) -> str:
    return f"The IOU that {names[data['seat']]} took from {_place(game, data['place'])} is {_iou(data['iou'], names)}."


def _market_closed_up(game: Gnadenlos, data: Data, _names: Names) -> str:
    moves = [f"{_place(game, source)} to {_place(game, target)}" for source, target in data["moves"]]
    return f"The market closes up to {data['size']} IOUs" + (f": {'; '.join(moves)}." if moves else ".")


def _hat(_game: Gnadenlos, data: Data, names: Names) -> str:
    way = "forward" if data["to"] > data["from"] else "back"
    if data["to"] == data["from"]:
        return f"The hat of {names[data['seat']]} stays on field {data['to']}."
    return f"The hat of {names[data['seat']]} moves {way} from field {data['from']} to {data['to']}."


def _discarded(_game: Gnadenlos, data: Data, names: Names) -> str:
    why = "was shot" if data["why"] == "shot" else "was best and is spent"
    return f"{names[data['seat']]} loses {Adventurer(*data['adventurer'])}: it {why}."


def _fame(_game: Gnadenlos, data: Data, names: Names) -> str:
    if not data["paid"]:
        return f"{names[data['seat']]} buys no fame."
    return f"{names[data['seat']]} buys {data['paid']} fame: field {data['field']}, {data['gold']} gold left."


def _no_hiring(_game: Gnadenlos, _data: Data, _names: Names) -> str:
    return "Nobody is hired in this turn."


def _discard_shuffled(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"The discarded adventurers are shuffled into a new pile of {data['size']}."


def _offers(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"For hire: {_crew(data['adventurers'])}."


def _bid(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} bids {data['total']}: {_ious(data['ious'], names)}."


def _no_bid(_game: Gnadenlos, data: Data, names: Names) -> str:
    hand = _ious(data["hand"], names)
    return f"{names[data['seat']]} cannot make a new sum, bids nothing and shows its IOUs: {hand}."


def _hired(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} hires {_crew(data['adventurers'])}."


def _to_market(game: Gnadenlos, data: Data, names: Names) -> str:
    ious, place = _ious(data["ious"], names), _place(game, data["place"])
    return f"The bid of {names[data['seat']]} goes to the market: {ious}, from {place}."


def _bid_back(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} hires nobody and takes its bid back: {_ious(data['ious'], names)}."


def _payday(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return "The last payday!" if data["last"] else "Payday!"


def _die(game: Gnadenlos, data: Data, names: Names) -> str:
    if data["iou"] is None:
        return f"The die shows {data['column']}: that column is empty, payday ends."
    return f"The die shows {data['column']}: {_iou(data['iou'], names)} is due ({_place(game, data['place'])})."


def _paid(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} pays {data['paid']} and has {data['gold']} gold left."


def _broke(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} has only {data['gold']} gold and cannot pay."


def _vulture(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} takes vulture number {data['vultures']} and falls back to field {data['field']}."


def _returned(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"Back into the hand of {names[data['seat']]}: {_ious(data['ious'], names)}."


def _lost(_game: Gnadenlos, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} has lost: its hat leaves the road."


_CAUSES = {
    "vultures": "somebody has too many vultures",
    "undertaker": "the undertaker has arrived",
    "goal": "a hat is at the goal",
    "truncated": "too many turns were played",
}


def _ending(_game: Gnadenlos, data: Data, _names: Names) -> str:
    return f"The game is ending: {_CAUSES[data['cause']]}."


def _over(game: Gnadenlos, data: Data, names: Names) -> str:
    final = ", ".join(f"{names[seat]} {game.score_text(score)}" for seat, score in enumerate(data["scores"]))
    return f"The game is over: {_CAUSES[data['ending']]}. Scores: {final}."


_SENTENCES: dict[str, Callable[[Gnadenlos, Data, Names], str]] = {
    "set-up": _set_up,
    "adventurers": _adventurers,
    "events shuffled": _events_shuffled,
    "events": _events,
    "dealt": _dealt,
    "first market": _first_market,
    "market order": _market_order,
    "pairs": _pairs,
    "turn": _turn,
    "no event": _no_event,
    "event": _event,
    "undertaker": _undertaker,
    "laid": _laid,
    "shown": _shown,
    "all equal": _all_equal,
    "gold": _gold,
    "market too short": _market_too_short,
    "theft": _theft,
    "stolen": _stolen,
    "stolen secret": _stolen_secret,
    "market closed up": _market_closed_up,
    "hat": _hat,
    "discarded": _discarded,
    "fame": _fame,
    "no hiring": _no_hiring,
    "discard shuffled": _discard_shuffled,
    "offers": _offers,
    "bid": _bid,
    "no bid": _no_bid,
    "hired": _hired,
    "to market": _to_market,
    "bid back": _bid_back,
    "payday": _payday,
    "die": _die,
    "paid": _paid,
    "broke": _broke,
    "vulture": _vulture,
    "returned": _returned,
    "lost": _lost,
    "ending": _ending,
    "over": _over,
}


def _crew(adventurers: Iterable[list[int]]) -> str:
    return ", ".join(str(Adventurer(*adventurer)) for adventurer in adventurers)


def _iou(iou: list[int], names: Names) -> str:
    value, debtor = iou
    return f"{value} of {names[debtor]}"


def _ious(ious: Iterable[list[int]], names: Names) -> str:
    """Return IOUs debtor by debtor: "1+3 of miser, 2 of debtor"."""
    by_debtor = sorted((Iou(*iou) for iou in ious), key=lambda iou: (iou.colour, iou.value))
    texts = [
        f"{'+'.join(str(iou.value) for iou in group)} of {names[debtor]}"
        for debtor, group in groupby(by_debtor, key=lambda iou: iou.colour)
    ]
    return ", ".join(texts) or "none"


def _place(game: Gnadenlos, place: int) -> str:
    """Return a place of the market as the table shows it (GN-7)."""
    row, column = divmod(place, game.figures.payday.columns)
    return f"row {row + 1}, column {column + 1}"
