"""Search with a guide: a bot that knows the game plays the imagined ones, and is asked first."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from bots.flat_mc import FlatMc
from bots.ismcts import Ismcts
from bots.search import base
from bots.search.base import SearchBot
from bots.search.caution import unless_refuted
from bots.search.guide import Guide
from engines import arena_games
from harness import Action, Bot, Chance, Game, IllegalAction, bot_named
from harness.core.records import Option
from tests.bots.nim import Nim, NimView
from tests.bots.support import seated, some_states

BOTS = pytest.mark.parametrize("bot", [FlatMc, Ismcts])
QUICK = {"el-paso": "diehard", "gnadenlos": "miser", "x-pasch": "founder"}
GAMES = pytest.mark.parametrize("game", [cls.configure() for cls in arena_games()], ids=lambda game: str(game.name))


class Hasty(Bot):
    """Takes one stone, always, and notes what happens to it."""

    options = (Option("nerve", 3, "", kind="int"),)
    begun = 0
    seen: list[int]

    def start(self) -> None:
        Hasty.begun += 1
        self.seen = []

    def choose(self, view: NimView, actions: Sequence[Action]) -> Action:
        assert view.seat == view.turn == self.seat
        self.seen.append(view.pile)
        assert self.seen == sorted(self.seen, reverse=True), "a game that it has not been told to begin"
        return actions[0]


class Cheat(Bot):
    """Always takes three."""

    def choose(self, view: NimView, actions: Sequence[Action]) -> Action:
        return self.game.actions[2]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> type[Hasty]:
    monkeypatch.setattr(base, "bot_named", {"hasty": Hasty}.__getitem__)
    return Hasty


@BOTS
@GAMES
def test_the_hidden_part_of_the_true_state_changes_nothing(bot: type[SearchBot], game: Game[Any]) -> None:
    for state in some_states(game, game.max_players, 5, 3):
        view, rng = state.view(state.seat), Random(1)
        decisions = set()
        for world in (state, game.imagine(view, rng), game.imagine(view, rng)):
            seen = world.view(state.seat)
            player = seated(bot, game, seen, game.max_players, iterations=20, guide=QUICK[game.name])
            decisions.add(player.choose(seen, world.legal))
        assert len(decisions) == 1


@GAMES
def test_with_one_iteration_the_guide_decides(game: Game[Any]) -> None:
    name = QUICK[game.name]
    for state in some_states(game, game.min_players, 3, 20):
        view = state.view(state.seat)
        alone = Guide(bot_named(name), game, game.min_players, Random(1)).advise(view, state.legal)
        searching = seated(Ismcts, game, view, game.min_players, iterations=1, guide=name)
        assert searching.choose(view, state.legal) is alone


# Flat search sees the win in one; that four stones must be left takes a tree, in which the rival learns better.
@pytest.mark.parametrize(("bot", "pile"), [(FlatMc, 2), (Ismcts, 2), (Ismcts, 3), (Ismcts, 6), (Ismcts, 7)])
def test_search_finds_what_the_guide_misses(hasty: type[Hasty], bot: type[SearchBot], pile: int) -> None:
    view, game = NimView(0, 0, "take", pile, 2, -1), Nim.configure()
    chosen = seated(bot, game, view, iterations=400, guide="hasty").choose(view, game.actions[:pile])
    assert chosen.code + 1 == pile % 4


def test_the_guide_starts_again_with_every_imagined_game(hasty: type[Hasty]) -> None:
    view = NimView(0, 0, "take", 30, 2, -1)
    searching = seated(Ismcts, Nim.configure(), view, iterations=25, guide="hasty")
    hasty.begun = 0
    searching.choose(view, Nim.configure().actions)
    assert hasty.begun >= 2 * 25  # both seats in every playout; and when it is asked for advice in the tree


def test_the_guide_has_its_own_default_options() -> None:
    guide = Guide(Hasty, Nim.configure(), 2, Random(1))
    assert [bot.settings for bot in guide._bots] == [{"nerve": 3}] * 2


def test_a_guide_that_breaks_the_rules_is_named() -> None:
    game = Nim.configure({"pile": 50})
    guide = Guide(Cheat, game, 2, Random(1))
    assert guide.play(game.new(2, Chance(1)), 3) == [(0, game.actions[2]), (1, game.actions[2]), (0, game.actions[2])]
    with pytest.raises(IllegalAction, match="The guide chose take 3"):
        guide.play(game.imagine(NimView(0, 0, "take", 2, 2, -1), Random(1)), 0)


def test_the_guides_advice_is_followed_unless_an_action_is_significantly_better() -> None:
    one, two, three = Nim.configure().actions
    # The standard error of a difference between a hundred tries each is 10 * sqrt(2 / 100), about 1.4.
    even = {one: (500.0, 100), two: (600.0, 100), three: (0.0, 0)}
    assert unless_refuted(one, even, 10.0) is one
    assert unless_refuted(one, even, 5.0) is two
    assert unless_refuted(two, even, 5.0) is two
    assert unless_refuted(three, even, 5.0) is three  # never tried, never refuted
    clear = {one: (500.0, 100), two: (700.0, 100), three: (65.0, 10)}
    assert unless_refuted(one, clear, 1.0) is two
    assert unless_refuted(one, clear | {three: (71.0, 10)}, 1.0) is two  # it looks better, and is less certain
