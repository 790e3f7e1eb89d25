"""Search is right where the answer is known."""

from __future__ import annotations

from functools import cache

import pytest

from bots.flat_mc import FlatMc
from bots.ismcts import Ismcts
from bots.search.base import SearchBot
from harness import NOBODY
from tests.bots import kuhn, morra
from tests.bots.kuhn import Kuhn, KuhnView
from tests.bots.morra import Morra, MorraView
from tests.bots.nim import Nim, NimView
from tests.bots.support import seated

BOTS = pytest.mark.parametrize("bot", [FlatMc, Ismcts])


def taken(bot: type[SearchBot], pile: int, players: int, iterations: int, reward: str = "score") -> int:
    game = Nim.configure()
    view = NimView(0, 0, "take", pile, players, NOBODY)
    player = seated(bot, game, view, players, iterations=iterations, reward=reward)
    return player.choose(view, game.actions[:pile]).code + 1


@BOTS
@pytest.mark.parametrize("reward", ["score", "rank"])
@pytest.mark.parametrize("players", [2, 3, 6])
@pytest.mark.parametrize("pile", [2, 3])
def test_a_win_in_one_is_taken(bot: type[SearchBot], reward: str, players: int, pile: int) -> None:
    assert taken(bot, pile, players, iterations=60, reward=reward) == pile


@pytest.mark.parametrize("pile", [5, 6, 7, 9, 10, 11])
def test_ismcts_leaves_a_multiple_of_four_in_nim(pile: int) -> None:
    assert taken(Ismcts, pile, 2, iterations=2000) == pile % 4


def test_the_only_move_that_can_win_is_found_among_three_players() -> None:
    # Six stones: 3 leaves three for the next seat to take, 2 leaves four, of which the next seat must leave one to
    # three for the last. After 1 the next seat has lost anyway and may let either of the others win.
    assert taken(Ismcts, 6, 3, iterations=2000) == 1


def kuhn_view(card: int, said: str) -> KuhnView:
    seat = len(said) % 2
    return KuhnView(seat, seat, "bet", (card, None) if seat == 0 else (None, card), said)


@cache
def kuhn_policy(seed: int) -> dict[tuple[int, str], float]:
    """What ismcts does in each of the twelve situations of Kuhn poker."""
    game, policy = Kuhn.configure(), {}
    for card, said in kuhn.infosets():
        view = kuhn_view(card, said)
        bot = seated(Ismcts, game, view, seed=seed, iterations=5000)
        policy[card, said] = float(bot.choose(view, game.actions).code)
    return policy


def test_the_known_kuhn_poker_values_are_consistent() -> None:
    for bluff in (0.0, 1 / 6, 1 / 3):
        best = kuhn.equilibrium(bluff)
        assert kuhn.value((best, best)) == pytest.approx(float(kuhn.VALUE))
        assert kuhn.best_against(best, 0) == pytest.approx(-float(kuhn.VALUE))
        assert kuhn.best_against(best, 1) == pytest.approx(float(kuhn.VALUE))


@pytest.mark.parametrize("seed", range(3))
def test_ismcts_holds_the_value_of_kuhn_poker_against_a_perfect_player(seed: int) -> None:
    policy, perfect = kuhn_policy(seed), kuhn.equilibrium()
    assert kuhn.value((policy, perfect)) == pytest.approx(float(kuhn.VALUE), abs=0.02)
    assert kuhn.value((perfect, policy)) == pytest.approx(float(kuhn.VALUE), abs=0.02)


def test_ismcts_estimates_the_value_of_kuhn_poker() -> None:
    believed = 0.0
    for card in kuhn.CARDS:
        view = kuhn_view(card, "")
        root = seated(Ismcts, Kuhn.configure(), view, iterations=5000).search(view, Kuhn.configure().actions).node(view)
        # Rewards are how far ahead a seat is: twice what it wins.
        believed += sum(arm.total for arm in root.arms.values()) / root.visits / 2
    assert believed / len(kuhn.CARDS) == pytest.approx(float(kuhn.VALUE), abs=0.05)


def test_the_best_response_wins_at_most_a_sixth_against_ismcts_in_kuhn_poker() -> None:
    policy = kuhn_policy(0)
    assert kuhn.best_against(policy, 0) <= 1 / 6 + 1e-9
    assert kuhn.best_against(policy, 1) <= 1 / 6 + 1e-9


@BOTS
@pytest.mark.parametrize(
    ("card", "said", "right"),
    [(3, "b", "bet"), (3, "pb", "bet"), (1, "b", "pass"), (1, "pb", "pass"), (3, "p", "bet")],
)
def test_dominated_actions_of_kuhn_poker_are_avoided(bot: type[SearchBot], card: int, said: str, right: str) -> None:
    game, view = Kuhn.configure(), kuhn_view(card, said)
    assert str(seated(bot, game, view, iterations=500).choose(view, game.actions)) == right


@pytest.mark.parametrize("seed", range(4))
def test_a_hidden_simultaneous_choice_is_mixed_as_game_theory_says(seed: int) -> None:
    view = MorraView(0, 0, "show", (None, None), 0)
    root = (
        seated(Ismcts, Morra.configure(), view, seed=seed, iterations=10_000)
        .search(view, Morra.configure().actions)
        .node(view)
    )
    one, two = root.arms.values()
    assert one.pulls / root.visits == pytest.approx(float(morra.ONE_FINGER), abs=0.05)
    # Rewards are how far ahead a seat is: twice what it wins. An opponent who saw our hand would make this -6.
    assert (one.total + two.total) / root.visits / 2 == pytest.approx(float(morra.VALUE), abs=0.1)


def test_later_seats_of_a_simultaneous_choice_share_one_node_for_all_our_choices() -> None:
    view = MorraView(0, 0, "show", (None, None), 0)
    tree = seated(Ismcts, Morra.configure(), view, iterations=200).search(view, Morra.configure().actions)
    theirs = MorraView(1, 1, "show", (None, None), 1)
    assert tree.node(theirs).visits == tree.node(view).visits - 1  # the first visit of the root ends the way down
