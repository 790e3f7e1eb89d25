"""Search bots at the table: offered by name, without faults, and stronger than chance."""

from __future__ import annotations

from typing import Any

import pytest

import bots
from bots.flat_mc import FlatMc
from bots.ismcts import Ismcts
from bots.random import Random
from bots.search.base import SearchBot
from engines import arena_games
from harness import Bot, Game, GameRecord, MatchSpec
from harness.match.referee import play
from harness.plugins.entrants import enter

GAMES = pytest.mark.parametrize("game", [cls.configure() for cls in arena_games()], ids=lambda game: str(game.name))


def match(game: Game[Any], seats: list[type[Bot]], seed: int, iterations: int) -> GameRecord:
    entrants = [
        enter(bot, {"iterations": iterations} if issubclass(bot, SearchBot) else {}, "", "", "") for bot in seats
    ]
    spec = MatchSpec(str(seed), 0, "1", game.name, dict(game.settings), seed, tuple(e.name for e in entrants))
    return play(spec, game, entrants)


def test_the_search_bots_are_offered_and_their_common_base_is_not() -> None:
    offered = {bot.name: bot for bot in bots.arena_bots()}
    assert offered["ismcts"] is Ismcts
    assert offered["flat-mc"] is FlatMc
    assert SearchBot not in offered.values()
    assert not Ismcts.by_default


@GAMES
def test_a_full_table_plays_without_faults_and_repeatably(game: Game[Any]) -> None:
    seats: list[type[Bot]] = [Ismcts, FlatMc, *[Random] * (game.max_players - 2)]
    first, second = (match(game, seats, seed=5, iterations=3) for _ in "12")
    assert not first.faults
    assert first.without_timing() == second.without_timing()


@pytest.mark.slow
@GAMES
@pytest.mark.parametrize("bot", [FlatMc, Ismcts])
def test_a_little_search_beats_random_play(bot: type[Bot], game: Game[Any]) -> None:
    wins = 0
    for deal in range(4):
        for seat in range(game.min_players):
            seats: list[type[Bot]] = [Random] * game.min_players
            seats[seat] = bot
            wins += match(game, seats, deal, iterations=50).ranks[seat] == 1
    assert wins >= 4 * game.min_players - 3
