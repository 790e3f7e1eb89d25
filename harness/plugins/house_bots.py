"""House bots: who sits down where a table has more seats than bots were named."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count as numbers
from itertools import islice

from harness.core.errors import UsageError
from harness.plugins.registry import Registry

LEAST_LIKED = "random"
"""The bot whom nobody wants to play against: it comes after all others that are as quick."""


def house_bots(registry: Registry, game: str, count: int, taken: Collection[str] = ()) -> list[str]:
    """So many bots to enter for this game besides those `taken` (names of entrants), the same ones each time.

    Quick ones come before slow ones, and those made for the game before those for any game. Where that does not
    fill the table, they come again under names of their own: `random-2=random`. So any game can be filled.
    """
    names = list(islice(_in_order(registry, game, taken), count))
    if len(names) < count:
        raise UsageError(f"No installed bot plays {game}, so nobody can fill the table; name the bots with --bot.")
    return names


def _in_order(registry: Registry, game: str, taken: Collection[str]) -> Iterator[str]:
    def suits(name: str) -> tuple[bool, bool, bool, str]:
        bot = registry.bots[name].cls
        return not bot.by_default, not bot.games, name == LEAST_LIKED, name

    # Bots of files that were named are those of whoever named them: what they did not enter stays out.
    installed = (name for name, offer in registry.bots.items() if not offer.source.endswith(".py"))
    ranked = sorted((n for n in installed if game in (registry.bots[n].cls.games or (game,))), key=suits)
    yield from (name for name in ranked if name not in taken)
    quick = [name for name in ranked if registry.bots[name].cls.by_default] or ranked
    for number in numbers(2) if quick else ():
        again = ((f"{name}-{number}", name) for name in quick)
        yield from (f"{own}={name}" for own, name in again if own not in taken)
