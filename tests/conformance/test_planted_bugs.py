"""The kit passes a sound game and finds what is wrong with a broken one: one bug at a time."""

from __future__ import annotations

import pytest

from harness.conformance import LAWS, Trial, check_game
from tests.conformance.hearts import Hearts

FOUND_BY = {
    "hand told to all": "events_tell_no_more_than_views",
    "stock told to all": "events_tell_no_more_than_views",
    "pass told to all": "imagined_states_fit_what_was_seen",
    "forgets its gift": "imagined_states_fit_what_was_seen",
    "forgets voids": "imagined_states_fit_what_was_seen",
    "luck omits the round": "luck_is_drawn_once_for_each_name",
    "die omits the round": "luck_is_drawn_once_for_each_name",
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
NEW = ("events_tell_no_more_than_views", "imagined_states_fit_what_was_seen", "luck_is_drawn_once_for_each_name")


def broken_laws(bug, seeds=(1, 2, 3)):
    game = Hearts.configure({"bug": bug})
    broken = set()
    for players in range(game.min_players, game.max_players + 1):
        for law in LAWS:
            for seed in seeds:
                try:
                    law(Trial(game, players, seed))
                except Exception:
                    broken.add(law.__name__)
    return broken


def test_the_sound_game_passes():
    check_game(Hearts.configure(), seeds=range(1, 9))


@pytest.mark.parametrize("bug", FOUND_BY)
def test_each_bug_is_found(bug):
    broken = broken_laws(bug)
    assert FOUND_BY[bug] in broken
    if FOUND_BY[bug] in NEW:
        assert broken <= set(NEW)  # no other law would have found it
    with pytest.raises(Exception):  # noqa: B017 - a broken game may fail in any way
        check_game(Hearts.configure({"bug": bug}))
