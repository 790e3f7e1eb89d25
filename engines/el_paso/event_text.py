"""El Paso's events as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from engines.el_paso.components import SITES
from harness import Event

if TYPE_CHECKING:
    from engines.el_paso.game import ElPaso

RULES_BEHIND = {
    "answer": ("EP-9", "EP-14", "EP-18", "EP-20"),
    "play": ("EP-12", "EP-13", "EP-15"),
    "carry": ("EP-19", "EP-20"),
    "draw": ("EP-17", "EP-16"),
}
"""What to read before each kind of choice."""

RULE_EVENTS: dict[str, str | Callable[[str, dict[str, Any]], bool]] = {
    "EP-7": "town",
    "EP-9": "answer",
    "EP-12": "laid",
    "EP-13": "roll",
    "EP-14": "sheriffs",
    "EP-15": "loot",
    "EP-16": "discard",
    "EP-17": "draw",
    "EP-18": "leave",
    "EP-19": lambda kind, data: kind == "sale" and any(data["carried"]),
    "EP-20": lambda kind, data: kind == "sale" and any(data["sold"]),
    "EP-22": lambda kind, data: kind == "cards" and len(data["cards"]) == 1,
    "EP-23": lambda kind, data: kind == "town-over" and data["why"] == "nothing to plunder",
    "EP-24": "town-over",
    "EP-26": lambda kind, data: kind == "town" and not any(data["stacks"]),
    "EP-27": "final-sale",
    "EP-28": lambda kind, data: kind == "draw" and bool(data["value"]),
}
"""Which event shows a rule at work. EP-22: one player alone plunders. EP-28: the drawn card is known to all."""


Data = dict[str, Any]
Names = Sequence[str]


def event_text(game: ElPaso, event: Event, names: Names) -> str:
    """Return the event as a sentence."""
    return _SENTENCES[event.kind](game, event.data, names)


def _pile(_game: ElPaso, data: Data, _names: Names) -> str:
    return f"The {_site(data['site'])} pile lies, from the top: {_row(data['order'])}."


def _hand(_game: ElPaso, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} is dealt {_listed(_card(*card) for card in data['cards'])}."


def _town(game: ElPaso, data: Data, names: Names) -> str:
    stocked = [f"{_site(site)} {_row(values)}" for site, values in enumerate(data["stacks"]) if values]
    foreign = len(data["drawn"]) - sum(map(len, data["stacks"]))
    back = f"; {foreign} of {len(data['drawn'])} tiles drawn go back" if foreign else ""
    return (
        f"{data['name']} opens (town {data['town'] + 1} of {len(game.figures.towns)}, {data['rate']}:1), "
        f"{names[data['lookout']]} is the lookout. In town: {', '.join(stocked) or 'nothing'}{back}."
    )


def _answer(_game: ElPaso, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} {'leaves' if data['leaves'] else 'stays'}."


def _leave(_game: ElPaso, data: Data, names: Names) -> str:
    seats, limit = data["seats"], data["limit"]
    leavers = _listed(names[seat] for seat in seats)
    go = f"{leavers} goes" if len(seats) == 1 else f"{leavers} go"
    each = " each" if len(seats) > 1 else ""
    return f"{go} as group {data['group']}, with up to {limit} {'tile' if limit == 1 else 'tiles'}{each}."


def _sale(_game: ElPaso, data: Data, names: Names) -> str:
    carried, sold = _tiles(data["carried"]), _tiles(data["sold"])
    if not carried and not sold:
        return f"{names[data['seat']]} has nothing to carry or to sell."
    carries = f"carries {carried}" if carried else ""
    sells = f"sells {sold} for {_nuggets(data['paid'])} and has {data['money']} now" if sold else ""
    return f"{names[data['seat']]} {' and '.join(filter(None, (carries, sells)))}."


def _laid(_game: ElPaso, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} lays a card face down."


def _cards(_game: ElPaso, data: Data, names: Names) -> str:
    shown = [f"{names[card['seat']]} {_card(card['site'], card['value'])}" for card in data["cards"]]
    return f"The cards are turned up: {', '.join(shown)}."


def _roll(_game: ElPaso, data: Data, _names: Names) -> str:
    stars = data["stars"]
    field = "one star" if stars == 1 else f"{stars or 'no'} stars"
    return f"The lookout rolls {', '.join(data['faces'])}: {field} on the sheriff field."


def _sheriffs(_game: ElPaso, data: Data, names: Names) -> str:
    return f"The sheriffs come: {names[data['seat']]} loses {_tiles(data['lost']) or 'nothing, for it has nothing'}."


def _loot(_game: ElPaso, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} takes {_card(data['site'], data['value'])}."


def _discard(_game: ElPaso, data: Data, _names: Names) -> str:
    return f"Laid on the {_site(data['site'])} discard: {_row(data['values'])}."


def _turned_over(_game: ElPaso, data: Data, _names: Names) -> str:
    return f"The {_site(data['site'])} discard becomes its pile, from the top: {_row(data['order'])}."


def _drawing_order(_game: ElPaso, data: Data, names: Names) -> str:
    seats = data["seats"]
    if len(seats) == 1:
        return f"{names[seats[0]]} alone draws a card."
    return f"Cards are drawn in this order: {', '.join(names[seat] for seat in seats)}."


def _draw(_game: ElPaso, data: Data, names: Names) -> str:
    if data["value"]:
        return f"{names[data['seat']]} draws {_card(data['site'], data['value'])}, as all know."
    return f"{names[data['seat']]} draws a {_site(data['site'])} card."


def _own_card(_game: ElPaso, data: Data, names: Names) -> str:
    return f"{names[data['seat']]} has drawn {_card(data['site'], data['value'])}."


def _town_over(game: ElPaso, data: Data, _names: Names) -> str:
    why = "the sheriffs are there" if data["why"] == "sheriffs" else data["why"]
    left = _tiles(data["left"])
    return f"{game.figures.towns[data['town']].name} is over: {why}." + (f" Left behind: {left}." if left else "")


def _final_sale(_game: ElPaso, data: Data, names: Names) -> str:
    sold = _tiles(data["sold"])
    sells = f"sells {sold} 1:1 and ends" if sold else "ends"
    return f"{names[data['seat']]} {sells} with {_nuggets(data['money'])}."


_SENTENCES: dict[str, Callable[[ElPaso, Data, Names], str]] = {
    "pile": _pile,
    "hand": _hand,
    "town": _town,
    "answer": _answer,
    "leave": _leave,
    "sale": _sale,
    "laid": _laid,
    "cards": _cards,
    "roll": _roll,
    "sheriffs": _sheriffs,
    "loot": _loot,
    "discard": _discard,
    "turned-over": _turned_over,
    "drawing-order": _drawing_order,
    "draw": _draw,
    "card": _own_card,
    "town-over": _town_over,
    "final-sale": _final_sale,
}


def _site(site: int) -> str:
    return SITES[site].label


def _card(site: int, value: int) -> str:
    return f"{_site(site)} {value}"


def _tiles(by_site: Sequence[Sequence[int]]) -> str:
    """Return tiles site by site: "bank 2 4, hotel 1"; "" for none."""
    return ", ".join(f"{_site(site)} {_row(values)}" for site, values in enumerate(by_site) if values)


def _row(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


def _listed(words: Iterable[str]) -> str:
    """Return words joined as people do: "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _nuggets(count: int) -> str:
    return "1 nugget" if count == 1 else f"{count} nuggets"
