"""Dice as sorted tuples of faces: which sets there are, what is left of one, and what meets a requirement."""

# mypyc compiles this module: functions of typed values only; structs are in interpreted modules (core/compiled.py).

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from typing import Final

Dice = tuple[int, ...]
"""Faces in ascending order: dice of one face are the same at the table (XP-2)."""

DICE: Final = 3
FACES: Final[tuple[int, ...]] = (1, 2, 3, 4, 5, 6)
ANY_PAIR = "x"
"""How a components file names a pasch of any face."""


_SETS: Final[dict[Dice, Dice]] = {
    dice: dice for count in range(DICE + 1) for dice in combinations_with_replacement(FACES, count)
}


def all_dice() -> list[Dice]:
    """Return every set of up to three dice, the empty one first."""
    return list(_SETS)


def interned(dice: Dice) -> Dice:
    """Return the object that stands for these dice in every table: dicts find a key that is the same object sooner."""
    return _SETS[dice]


def parts(dice: Dice) -> list[Dice]:
    """Return every different way to take some of these dice, fewest first."""
    found = {interned(part) for count in range(1, len(dice) + 1) for part in combinations(dice, count)}
    return sorted(found, key=_fewest_first)


def _fewest_first(dice: Dice) -> tuple[int, Dice]:
    return len(dice), dice


def without(dice: Dice, used: Dice) -> Dice:
    """Return what is left of the dice when some are used."""
    left = list(dice)
    for face in used:
        left.remove(face)
    return tuple(left)


def is_triple(dice: Dice) -> bool:
    """Return whether these are three equal dice (XP-3)."""
    return len(dice) == DICE and len(set(dice)) == 1


def meets(dice: Dice, number: int | None, pair: str | None) -> bool:
    """Return whether the dice, all of them, meet a requirement in the ordinary way (XP-9)."""
    return sum(dice) == number or (pair is not None and _is_pasch(dice, pair))


def _is_pasch(dice: Dice, pair: str) -> bool:
    if pair == ANY_PAIR:
        return len(dice) >= 2 and len(set(dice)) == 1
    return dice == (int(pair), int(pair))


def shown(dice: Dice) -> str:
    """Return the dice as people write them: 3+5."""
    return "+".join(map(str, dice))
