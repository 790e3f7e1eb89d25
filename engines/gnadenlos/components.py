"""The figures of the game as the data file has them; a file that breaks the game is refused."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from engines.gnadenlos.cards import COLOURS
from harness import BadComponents, read_components

TITLE = "Gnadenlos!"
MAX_IOU_VALUES = 8  # every possible bid is an entry in the table of actions: more values would swell it


class Road(Struct, frozen=True, forbid_unknown_fields=True):
    """The road of fame (GN-1)."""

    fields: int
    """The goal, and so the number of fields."""
    start: int
    source: str = ""


class Zone(Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of the road, up to and including field `last` (GN-1, GN-20)."""

    last: int
    forward: int
    back: int


class Events(Struct, frozen=True, forbid_unknown_fields=True):
    """The event cards (GN-4)."""

    gold_rush: tuple[tuple[int, int], ...]
    high_noon: int
    cheating: int
    source: str = ""


class Undertaker(Struct, frozen=True, forbid_unknown_fields=True):
    """The undertaker's track (GN-5)."""

    steps: int
    source: str = ""


class Ious(Struct, frozen=True, forbid_unknown_fields=True):
    """The IOUs of each colour: value -> how many (GN-3)."""

    counts: dict[int, int]
    source: str = ""


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """What each player begins with (GN-6, GN-7)."""

    gold: int
    adventurers: int
    market_ious: tuple[int, ...]
    source: str = ""


class Payday(Struct, frozen=True, forbid_unknown_fields=True):
    """The market's columns and what it costs to be broke (GN-7, GN-33, GN-36)."""

    columns: int
    fields_lost_when_broke: int
    vultures_to_lose: int
    source: str = ""


class Adventurers(Struct, frozen=True, forbid_unknown_fields=True):
    """The adventurers as rows of gold, gun and card skill (GN-2)."""

    skills: tuple[tuple[int, int, int], ...]
    source: str = ""


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """All figures of the game."""

    road: Road
    zones: tuple[Zone, ...]
    events: Events
    undertaker: Undertaker
    ious: Ious
    start: Start
    payday: Payday
    adventurers: Adventurers


def load(text: str) -> Components:
    """Return the figures in this TOML text; raises BadComponents where they break the game."""
    figures = read_components(TITLE, text, Components)
    _check_road(figures)
    _check_cards(figures)
    _check_ious(figures)
    payday = figures.payday
    _need(payday.columns >= 1, "the market needs at least one column")
    _need(payday.fields_lost_when_broke >= 0, "fields_lost_when_broke cannot be negative")
    _need(payday.vultures_to_lose >= 1, "vultures_to_lose must be at least 1")
    return figures


def _need(fine: bool, trouble: str) -> None:
    if not fine:
        raise BadComponents(f"{TITLE}'s components break the game: {trouble}.")


def _check_road(figures: Components) -> None:
    road, zones = figures.road, figures.zones
    _need(1 <= road.start < road.fields, f"the hats start on field {road.start} of a road of {road.fields}")
    _need(bool(zones), "there are no zones")
    _need(all(a.last < b.last for a, b in pairwise(zones)), "the zones are not in the order of the road")
    _need(
        zones[0].last >= 1 and zones[-1].last == road.fields - 1,
        f"the zones must end on field {road.fields - 1}, the last before the goal",
    )
    _need(all(zone.forward >= 0 and zone.back >= 0 for zone in zones), "a zone's forward and back cannot be negative")


def _check_cards(figures: Components) -> None:
    events, skills, seats = figures.events, figures.adventurers.skills, len(COLOURS)
    _need(events.high_noon >= 0 and events.cheating >= 0, "there cannot be fewer than no event cards")
    _need(len(events.gold_rush) + events.high_noon + events.cheating >= 2, "at least two event cards are needed")
    _need(all(gold >= 0 for rush in events.gold_rush for gold in rush), "a gold rush cannot bring less than nothing")
    _need(figures.undertaker.steps >= 1, "the undertaker's track needs at least one step")
    for row in skills:
        _need(all(1 <= skill <= 6 for skill in row), f"the adventurer {list(row)} has a skill that is not from 1 to 6")
    _need(figures.start.adventurers >= 0, "a player cannot start with fewer than no adventurers")
    needed = max(2, figures.start.adventurers) * seats
    _need(len(skills) >= needed, f"{seats} players need at least {needed} adventurers, there are {len(skills)}")


def _check_ious(figures: Components) -> None:
    counts, start = figures.ious.counts, figures.start
    _need(bool(counts), "there are no IOUs")
    _need(len(counts) <= MAX_IOU_VALUES, f"there may be at most {MAX_IOU_VALUES} different values of IOUs")
    _need(all(value >= 0 for value in counts), "an IOU cannot have a negative value")
    _need(all(count >= 1 for count in counts.values()), "each value of IOUs that is listed must be there at least once")
    _need(start.gold >= 0, "a player cannot start with less than no gold")
    for value in start.market_ious:
        wanted, there = start.market_ious.count(value), counts.get(value, 0)
        _need(wanted <= there, f"{wanted} IOUs of value {value} go to the market, a colour has {there}")
