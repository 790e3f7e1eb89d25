"""Every law of the conformance kit, for every installed game, variant and player count."""

from __future__ import annotations

import pytest

from harness.conformance.coincidence import imagined_states_are_possible, seats_learn_no_more_than_views_show
from harness.conformance.information import Trial
from harness.conformance.laws import LAWS
from tests.support.games import label, variants

SURVEYS = (imagined_states_are_possible, seats_learn_no_more_than_views_show)
"""They try many deals for one seed."""
TABLES = [(game, players) for game in variants() for players in range(game.min_players, game.max_players + 1)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    ("game", "players"), TABLES, ids=lambda value: value if isinstance(value, int) else label(value)
)
def test_every_game_obeys_every_law(game, players, law):
    for seed in (1,) if law in SURVEYS else (1, 2):
        law(Trial(game, players, seed))
