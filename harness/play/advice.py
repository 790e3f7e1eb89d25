"""Who else is at the table: the bots that sit down with a person, and the one that gives hints."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from harness.core.action import Action
from harness.core.bot import Bot
from harness.core.errors import ArenaError, UsageError
from harness.core.game import Game
from harness.core.types import Event
from harness.core.view import View
from harness.plugins.entrants import Entrant
from harness.plugins.house_bots import LEAST_LIKED, house_bots
from harness.plugins.registry import Registry

STRONG = ("ismcts", "flat-mc")
"""Bots that give good hints in any game, the best first."""
COMPANY = 3
"""Opponents that sit down by themselves, at most."""


class NoHint(ArenaError):
    """The bot that was asked for a hint has none; the text says why."""


def opponents(registry: Registry, game: type[Game[Any]], asked: Sequence[str]) -> list[str]:
    """The bots to play against: those asked for, and others as far as the game needs them (or if none was named)."""
    entrants = registry.entrants(asked)
    for entrant in entrants:
        _check_plays(entrant, game.name)
    named = {entrant.name for entrant in entrants}
    needed = max(0, game.min_players - 1 - len(named))
    if asked:
        return [*asked, *house_bots(registry, game.name, needed, named)]
    welcome = min(COMPANY, game.max_players - 1)
    made_for_it = [bot for bot in registry.bots.values() if bot.cls.by_default and game.name in bot.cls.games]
    return house_bots(registry, game.name, max(needed, min(welcome, len(made_for_it))))


def _check_plays(entrant: Entrant, game: str) -> None:
    if not entrant.plays(game):
        raise UsageError(f"{entrant.name} does not play {game}; 'arena bots --game {game}' lists those that do.")


def hint_bot(registry: Registry, game: str, asked: str | None) -> Entrant | None:
    """The bot to ask for hints: the one named, else the strongest that plays the game; None if only luck is left."""
    if asked is not None:
        entrants = registry.entrants([asked])
        if len(entrants) != 1:
            raise UsageError(f"{asked} has {len(entrants)} bots; name one for hints: {asked}::NAME.")
        _check_plays(entrants[0], game)
        return entrants[0]
    names = [*STRONG, *sorted(registry.bots)]
    for name in names:
        if name in registry.bots and name != LEAST_LIKED:
            [entrant] = registry.entrants([name])
            if entrant.plays(game):
                return entrant
    return None


def hint(
    adviser: Entrant,
    game: Game[Any],
    view: View,
    players: int,
    actions: Sequence[Action],
    past: Sequence[Event],
    seed: int,
) -> Action:
    """What the bot would do in this place, knowing what the person knows and no more."""
    luck = random.getstate()
    try:
        bot = adviser.seat(game, view.seat, players, seed)
        bot.start()
        if type(bot).observe is not Bot.observe:
            bot.observe(past)
        return actions[actions.index(bot.choose(view, actions))]
    except KeyboardInterrupt:
        raise NoHint(f"{adviser.name} was interrupted.") from None
    except BaseException as error:  # a hint is not worth a match, whatever the bot raises
        raise NoHint(f"{adviser.name} failed: {type(error).__name__}: {error}") from error
    finally:
        random.setstate(luck)  # bots at the table may use the global generator: asking must not change their play
