"""The kit passes a sound game and finds what is wrong with a broken one: one bug at a time."""

from __future__ import annotations

import pytest

from harness.conformance import Trial, check_game
from harness.conformance.laws import LAWS
from harness.core.errors import ConformanceError
from tests.conformance.hearts import Hearts

FOUND_BY = {
    "hand told to all": "seats_learn_no_more_than_views_show",
    "stock told to all": "seats_learn_no_more_than_views_show",
    "pass told to all": "imagined_states_fit_what_was_seen",
    "forgets its gift": "imagined_states_fit_what_was_seen",
    "forgets voids": "imagined_states_fit_what_was_seen",
    "luck omits the round": "luck_is_drawn_once_for_each_name",
    "die omits the round": "luck_is_drawn_once_for_each_name",
    "deals hands anew": "redealt_states_look_the_same",
    "features of one seat": "features_are_numbers",
    "luck of its own": "the_same_deal_plays_the_same",
    "clones share": "clones_are_independent",
    "illegal is played": "illegal_actions_change_nothing",
    "legal twice": "legal_lists_are_sound",
    "mutable view": "views_are_values",
    "imagines other points": "imagined_states_fit_the_view",
    "events are no data": "events_are_data",
    "no ending": "games_end_with_scores",
    "fields are no data": "actions_are_a_fixed_table",
}
SINCE = (
    "imagined_states_are_possible",
    "seats_learn_no_more_than_views_show",
    "imagined_states_fit_what_was_seen",
    "luck_is_drawn_once_for_each_name",
    "luck_does_not_depend_on_play",
)
"""Laws for what all the others pass."""


def keeps(law, game, players, seed):
    try:
        law(Trial(game, players, seed))
    except Exception:
        return False
    return True


def test_the_game_without_bugs_passes():
    check_game(Hearts.configure(), seeds=(1, 2))


@pytest.mark.parametrize("bug", FOUND_BY)
def test_each_bug_is_found(bug):
    """With no more than the deals that `check_game` tries."""
    game = Hearts.configure({"bug": bug})
    laws = {law.__name__: law for law in LAWS}
    trials = [(players, seed) for players in (4, 3, 2) for seed in (1, 2, 3)]
    assert not all(keeps(laws[FOUND_BY[bug]], game, *trial) for trial in trials)
    if FOUND_BY[bug] in SINCE:
        others = [law for name, law in laws.items() if name not in SINCE]
        assert all(keeps(law, game, 3, 1) for law in others)


@pytest.mark.parametrize(
    ("bug", "said"),
    [
        ("hand told to all", "seat 0 learns something about hands[1] that its view hides"),
        ("pass told to all", "The events that it saw last: "),
        ("forgets its gift", "Put what a seat knows from play into its view, and let imagine keep to it"),
        ("luck omits the round", "The luck 'deck' is drawn before choice"),
    ],
)
def test_the_error_message_says_what_failed_and_where(bug, said):
    with pytest.raises(ConformanceError) as complaint:
        check_game(Hearts.configure({"bug": bug}))
    assert said in str(complaint.value)
