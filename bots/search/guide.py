"""Playouts in which every seat plays as a bot that knows the game would."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from mypy_extensions import mypyc_attr

from bots.search.playout import Playout
from harness import Action, Bot, Game, IllegalAction, State, View


@mypyc_attr(allow_interpreted_subclasses=True)
class Guide(Playout):
    """One bot in all seats. It gets what a seat would see in the imagined game, and nothing else."""

    __slots__ = ("_bots", "_choosers")

    def __init__(self, bot: type[Bot], game: Game[Any], players: int, rng: Random) -> None:
        self._bots = [_started(bot, game, seat, players, rng) for seat in range(players)]
        self._choosers: list[Callable[[Any, Sequence[Action]], Action]] = [seated.choose for seated in self._bots]

    def begin(self) -> None:
        """Start the bots again: they may have kept plans from the last game."""
        for bot in self._bots:
            bot.start()

    def pick(self, state: State[Any], legal: tuple[Action, ...]) -> Action:
        """Return what the bot does in this seat."""
        return self._ask(state.view(state.seat), legal)

    def advise(self, view: View, legal: Sequence[Action]) -> Action:
        """Return what the bot does with this view, without having seen the game so far."""
        self._bots[view.seat].start()
        return self._ask(view, legal)

    def _ask(self, view: View, legal: Sequence[Action]) -> Action:
        action = self._choosers[view.seat](view, legal)
        if action not in legal:
            raise IllegalAction(f"The guide chose {action!s}, which is not legal in the game that was imagined.")
        return action


def _started(bot: type[Bot], game: Game[Any], seat: int, players: int, rng: Random) -> Bot:
    """Return the bot with its default options, started; its luck is the searching bot's own."""
    defaults = {option.name: option.default for option in bot.options}
    seated = bot().seated(game, seat, players, rng.getrandbits(48), defaults)
    seated.__dict__["rng"] = rng
    seated.start()
    return seated
