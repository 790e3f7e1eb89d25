"""Everything a player can do, as typed actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engines.x_pasch.dice import Dice
from harness import Action


@dataclass(frozen=True, eq=False, slots=True)
class Reroll(Action):
    """Roll a die of this face again: the second chance (XP-7)."""

    kind: ClassVar[str] = "reroll"

    face: int
    """The face that the die shows now."""


@dataclass(frozen=True, eq=False, slots=True)
class Keep(Action):
    """Leave the dice (XP-7) or the hand (XP-16) as they are."""

    kind: ClassVar[str] = "keep"


@dataclass(frozen=True, eq=False, slots=True)
class Found(Action):
    """Lay a card from the hand on the table with these dice (XP-9); with a triple it may be any card (XP-13)."""

    kind: ClassVar[str] = "found"

    card: int
    """The card, by the lowest number of the companies that are printed alike."""
    dice: Dice
    """The dice that are used."""


@dataclass(frozen=True, eq=False, slots=True)
class Place(Action):
    """Put members on a company with these dice: one for each (XP-11), or more with a triple (XP-13)."""

    kind: ClassVar[str] = "place"

    company: int
    """The company, by its number."""
    dice: Dice
    """The dice that are used."""
    members: int
    """How many members go there, if the supply has them (XP-18)."""


@dataclass(frozen=True, eq=False, slots=True)
class Move(Action):
    """Move a member from one company to another (XP-14). It takes any die: faces no longer count afterwards."""

    kind: ClassVar[str] = "move"

    source: int
    """The company that the member leaves."""
    target: int
    """The company that it goes to."""


@dataclass(frozen=True, eq=False, slots=True)
class Draw(Action):
    """Draw a card (XP-15). It takes any die: faces no longer count afterwards."""

    kind: ClassVar[str] = "draw"


@dataclass(frozen=True, eq=False, slots=True)
class Stop(Action):
    """Leave the other dice unused (XP-8)."""

    kind: ClassVar[str] = "stop"


@dataclass(frozen=True, eq=False, slots=True)
class Swap(Action):
    """Put this card under the pile and take the top one (XP-16)."""

    kind: ClassVar[str] = "swap"

    card: int
    """The card that goes, as in `hand`."""
