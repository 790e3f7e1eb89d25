"""X-Pasch's events as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from engines.x_pasch.dice import shown
from harness import Event

if TYPE_CHECKING:
    from engines.x_pasch.game import XPasch

RULES_BEHIND = {
    "reroll": ("XP-7",),
    "dice": ("XP-8", "XP-9", "XP-11", "XP-13", "XP-14", "XP-15"),
    "swap": ("XP-16", "XP-10"),
}
"""What to read before each kind of choice."""

RULE_EVENTS: dict[str, str | Callable[[str, dict[str, Any]], bool]] = {
    "XP-5": lambda kind, data: kind == "income" and bool(data["companies"]),
    "XP-7": "reroll",
    "XP-9": "found",
    "XP-11": "place",
    "XP-13": lambda kind, data: kind in ("found", "place") and len(data["dice"]) == 3 and len(set(data["dice"])) == 1,
    "XP-14": "move",
    "XP-15": "draw",
    "XP-16": "swap",
    "XP-18": lambda kind, data: kind in ("found", "place") and not data["supply"],
    "XP-20": lambda kind, data: kind == "end" and data["reason"] == "target",
    "XP-21": lambda kind, data: kind == "end" and data["reason"] == "truncated",
}
"""Which event shows a rule at work. XP-5: there is something to collect. XP-13: three equal dice are used together.
XP-18: the last member leaves the supply."""


Data = dict[str, Any]
Names = Sequence[str]


def event_text(game: XPasch, event: Event, names: Names) -> str:
    """Return the event as a sentence."""
    return _SENTENCES[event.kind](game, event.data, names)


def _deal(_game: XPasch, data: Data, _names: Names) -> str:
    return f"{data['players']} players are dealt {_count(data['hand'], 'card')} each; {data['pile']} are in the pile."


def _deck(game: XPasch, data: Data, _names: Names) -> str:
    return f"The deck lies, from the top: {_cards(game, data['cards'])}."


def _hand(game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} is dealt {_cards(game, data['cards']) or 'nothing'}."


def _round(_game: XPasch, data: Data, names: Names) -> str:
    chance = data["second_chance"]
    return f"Round {data['round']} begins." + ("" if chance is None else f" {names[chance]} has the second chance.")


def _income(game: XPasch, data: Data, names: Names) -> str:
    paid = data["companies"]
    if not paid:
        return f"{names[data['seat']]} collects nothing and has {data['euros']} euro."
    from_where = ", ".join(f"{income} from {_company(game, company)}" for company, income in paid)
    total = sum(income for _, income in paid)
    return f"{names[data['seat']]} collects {total} euro ({from_where}) and has {data['euros']} now."


def _roll(_game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} rolls {_dice(data['dice'])}."


def _reroll(_game: XPasch, data: Data, names: Names) -> str:
    dice = _dice(data["dice"])
    return f"{names[data['seat']]} rolls a {data['die']} again: now a {data['face']}. The dice are {dice}."


def _keep(_game: XPasch, data: Data, names: Names) -> str:
    what = "the dice as they are" if data["what"] == "dice" else "all its cards"
    return f"{names[data['seat']]} keeps {what}."


def _found(game: XPasch, data: Data, names: Names) -> str:
    return (
        f"{names[data['seat']]} founds {_company(game, data['company'])} with {_used(data['dice'])}: "
        f"{_count(data['members'], 'member')} on it, {data['supply']} left in the supply."
    )


def _place(game: XPasch, data: Data, names: Names) -> str:
    return (
        f"{names[data['seat']]} puts {_count(data['members'], 'member')} on {_company(game, data['company'])} "
        f"with {_used(data['dice'])}; {data['supply']} left in the supply."
    )


def _move(game: XPasch, data: Data, names: Names) -> str:
    source, target = _company(game, data["source"]), _company(game, data["target"])
    return f"{names[data['seat']]} moves a member from {source} to {target}."


def _draw(_game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} draws a card; {data['pile']} are left in the pile."


def _drawn(game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} has drawn {_printed(game, data['card'])}."


def _stop(_game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} leaves {_used(data['dice'])} unused."


def _swap(_game: XPasch, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} puts a card under the pile and takes the top one."


def _swapped(game: XPasch, data: Data, names: Names) -> str:
    put, took = _printed(game, data["put"]), _printed(game, data["took"])
    return f"{names[data['seat']]} has put back {put} and taken {took}."


def _end(game: XPasch, data: Data, names: Names) -> str:
    why = f"{game.tables.target} euro are reached" if data["reason"] == "target" else "too many rounds were played"
    final = ", ".join(f"{names[seat]} {euros}" for seat, euros in enumerate(data["scores"]))
    return f"The game ends: {why}. Euros: {final}."


_SENTENCES: dict[str, Callable[[XPasch, Data, Names], str]] = {
    "deal": _deal,
    "deck": _deck,
    "hand": _hand,
    "round": _round,
    "income": _income,
    "roll": _roll,
    "reroll": _reroll,
    "keep": _keep,
    "found": _found,
    "place": _place,
    "move": _move,
    "draw": _draw,
    "drawn": _drawn,
    "stop": _stop,
    "swap": _swap,
    "swapped": _swapped,
    "end": _end,
}


def _company(game: XPasch, number: int) -> str:
    """Return a company on the table as the actions name it: "#47 (10/2-pasch)"."""
    return f"#{number} ({game.companies[number].requirement})"


def _printed(game: XPasch, card: int) -> str:
    """Return a card in a hand: it has no number yet."""
    company = game.companies[card]
    return f"{company.requirement} (income {company.income}, bonus {company.founding})"


def _cards(game: XPasch, cards: Iterable[int]) -> str:
    return ", ".join(game.companies[card].requirement for card in cards)


def _dice(dice: Iterable[int]) -> str:
    return " ".join(map(str, dice))


def _used(dice: list[int]) -> str:
    return shown(tuple(dice))


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
