"""The figures of the game as the data file has them; a file that breaks the game is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from msgspec import Meta, Struct

from engines.gnadenlos.cards import COLOURS, MAX_FIGURE, Skill
from engines.gnadenlos.state import MAX_TURNS
from harness import read_components

TITLE = "Gnadenlos!"

# Bounds that leave room for a box of another size, and keep matches as short as the printed ones: a file may come from
# anyone. Messages about them name the key.
MAX_GOLD = 999
"""A score is 1000 x field + gold (GN-39): with more gold it would count as a field."""
Figure = Annotated[int, Meta(ge=0, le=MAX_FIGURE)]
Positive = Annotated[int, Meta(ge=1, le=99)]
Copies = Annotated[int, Meta(ge=0, le=20)]
Source = Annotated[str, Meta(max_length=200)]


class Road(Struct, frozen=True, forbid_unknown_fields=True):
    """The road of fame (GN-1)."""

    fields: Positive
    """The goal, and so the number of fields."""
    start: Positive
    """The field on which the hats start."""
    source: Source = ""

    def __post_init__(self) -> None:
        if self.start >= self.fields:
            raise ValueError(f"the hats start on field {self.start} of a road of {self.fields}")


class Zone(Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of the road, up to and including field `last` (GN-1, GN-20)."""

    last: Positive
    """Its last field."""
    forward: Figure
    """Fields that a cheat moves forward from here (GN-20)."""
    back: Figure
    """Fields that a cheat who was caught moves back."""


class Events(Struct, frozen=True, forbid_unknown_fields=True):
    """The event cards (GN-4)."""

    gold_rush: Annotated[tuple[tuple[Figure, Figure], ...], Meta(max_length=20)]
    high_noon: Copies
    cheating: Copies
    source: Source = ""

    def __post_init__(self) -> None:
        if self.cards < 2:
            raise ValueError("at least two event cards are needed")

    @property
    def cards(self) -> int:
        """The number of event cards."""
        return len(self.gold_rush) + self.high_noon + self.cheating


class Undertaker(Struct, frozen=True, forbid_unknown_fields=True):
    """The undertaker's track (GN-5)."""

    steps: Positive
    source: Source = ""


class Ious(Struct, frozen=True, forbid_unknown_fields=True):
    """The IOUs of each colour: value -> how many (GN-3)."""

    # Every possible bid is an entry in the table of actions: more than eight values would swell it.
    counts: Annotated[dict[Figure, Annotated[int, Meta(ge=1, le=20)]], Meta(min_length=1, max_length=8)]
    """Value -> how many of each colour."""
    source: Source = ""


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that each player begins with (GN-6, GN-7)."""

    gold: Annotated[int, Meta(ge=0, le=MAX_GOLD)]
    """Gold of each player."""
    adventurers: Copies
    market_ious: Annotated[tuple[Figure, ...], Meta(max_length=20)]
    source: Source = ""


class Payday(Struct, frozen=True, forbid_unknown_fields=True):
    """The market's columns and what it costs to be broke (GN-7, GN-33, GN-36)."""

    columns: Annotated[int, Meta(ge=1, le=20)]
    fields_lost_when_broke: Figure
    vultures_to_lose: Positive
    source: Source = ""


class Adventurers(Struct, frozen=True, forbid_unknown_fields=True):
    """The adventurers as rows of gold, gun and card skill (GN-2)."""

    skills: Annotated[tuple[tuple[Skill, Skill, Skill], ...], Meta(max_length=100)]
    source: Source = ""


class Components(Struct, frozen=True, forbid_unknown_fields=True):
    """All figures of the game."""

    road: Road
    """The road of fame."""
    zones: Annotated[tuple[Zone, ...], Meta(min_length=1, max_length=20)]
    """The zones of the road, in order."""
    events: Events
    undertaker: Undertaker
    ious: Ious
    """The IOUs."""
    start: Start
    """The set-up."""
    payday: Payday
    adventurers: Adventurers

    def __post_init__(self) -> None:
        if any(zone.last >= after.last for zone, after in pairwise(self.zones)):
            raise ValueError("the zones (`zones`) are not in the order of the road")
        before_goal = self.road.fields - 1
        if self.zones[-1].last != before_goal:
            raise ValueError(f"the zones (`zones`) must end on field {before_goal}, the last before the goal")
        needed, there = max(2, self.start.adventurers) * len(COLOURS), len(self.adventurers.skills)
        if there < needed:
            raise ValueError(
                f"{len(COLOURS)} players need at least {needed} adventurers, `adventurers.skills` has {there}"
            )
        for value in self.start.market_ious:
            wanted, copies = self.start.market_ious.count(value), self.ious.counts.get(value, 0)
            if wanted > copies:
                raise ValueError(
                    f"{wanted} IOUs of value {value} go to the market (`start.market_ious`), a colour has {copies}"
                )
        if self.max_gold > MAX_GOLD:
            raise ValueError(
                f"with `start.gold`, the gold rushes of `events` and `undertaker.steps` a player may have "
                f"{self.max_gold:,} gold, a score has room for {MAX_GOLD} (GN-39)"
            )

    @property
    def max_gold(self) -> int:
        """The gold of a player who has most of every gold rush and never pays."""
        # The last card of a pile is not carried out (GN-11), and a turn has one event at most.
        piles = -(-MAX_TURNS // (self.events.cards - 1))
        if self.events.high_noon:
            # Every pile moves the undertaker by its high noons; his last step ends the game (GN-12).
            piles = min(piles, -(-self.undertaker.steps // self.events.high_noon))
        return self.start.gold + piles * sum(max(rush) for rush in self.events.gold_rush)


def load(text: str) -> Components:
    """Return the figures in this TOML text; raises BadComponents where they break the game."""
    return read_components(TITLE, text, Components)
