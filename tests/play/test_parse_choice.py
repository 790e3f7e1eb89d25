"""Which choice is meant by what was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.play.terminal import AmbiguousInput, parse_choice
from tests.play.support import GAMES, game


class Named:
    """Stands for an action: only its text matters here."""

    def __init__(self, text: str) -> None:
        self.text = text


def among(*texts: str):
    return [Named(text) for text in texts]


CARDS = among("play bank 5", "play saloon 7", "play gold mine 7", "play hotel 1", "play horses 7", "play horses 17")


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("1", "play bank 5"),
        ("6", "play horses 17"),
        ("\u0663", "play gold mine 7"),  # a three in another script is a three
        ("play bank 5", "play bank 5"),
        ("PLAY  Bank", "play bank 5"),
        ("gold", "play gold mine 7"),
        ("mine", "play gold mine 7"),
        ("hot", "play hotel 1"),
        ("g m", "play gold mine 7"),
        ("s 7", "play saloon 7"),
        ("horses 7", "play horses 7"),
        ("hors 17", "play horses 17"),
    ],
)
def test_a_number_or_words_that_match_one_choice_select_it(typed, text):
    assert parse_choice(typed, CARDS).text == text


def test_an_exact_match_beats_a_prefix_match():
    sums = among("bid 1", "bid 10", "bid 11")
    assert parse_choice("bid 1", sums).text == "bid 1"
    assert parse_choice("1", sums).text == "bid 1"
    assert parse_choice("bid 10", sums).text == "bid 10"
    assert parse_choice("2", sums).text == "bid 10"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("0", "numbers go from 1 to 6"),
        ("7", "numbers go from 1 to 6"),
        ("99999999999999999999", "numbers go from 1 to 6"),
        ("7 horses", "is not a choice here"),
        ("ho", "could be 'play hotel 1' or 'play horses 7' or 'play horses 17'"),
        ("play", "'play horses 17': type more"),
        ("play bnak 5", "Did you mean 'play bank 5'?"),
        ("-1", "is not a choice here"),
        ("castle", "words such as 'play bank 5'"),
        ("", "is not a choice here"),
    ],
)
def test_invalid_input_is_refused_with_the_valid_choices(typed, said):
    with pytest.raises(AmbiguousInput) as error:
        parse_choice(typed, CARDS)
    assert said in str(error.value)


@pytest.mark.parametrize("name", GAMES)
def test_every_action_of_a_game_can_be_chosen_by_its_text_among_all(name):
    actions = game(name).actions
    for action in actions[:: max(1, len(actions) // 300)]:
        assert parse_choice(action.text, actions) is action
        assert parse_choice(str(action.code + 1), actions) is action


@given(st.text(max_size=20))
def test_any_input_gives_a_choice_or_an_error_message(typed):
    try:
        assert parse_choice(typed, CARDS) in CARDS
    except AmbiguousInput as error:
        assert str(error).endswith((".", "help."))
