"""The kit finds every planted bug of two tiny games, and passes the games without bugs, whatever the seed.

`--slow` repeats that: 20 trials for each bug, 200 seeds for each sound game.
"""

from __future__ import annotations

import pytest

from harness.conformance import LAWS, Trial
from harness.core.errors import ConformanceError
from tests.conformance.small_games import GAMES, Dice, Kuhn
from tests.support.games import REGISTRY

BY_NAME = {law.__name__: law for law in LAWS}
BUGS = [(name, bug) for name, (_, bugs) in GAMES.items() for bug in bugs]
SOUND = {"kuhn": Kuhn, "dice": Dice, **{name: offer.cls for name, offer in REGISTRY.games.items()}}


def complaint(name, bug, seed, law=None):
    """What the law that should find a bug says in one trial; "" if it finds nothing."""
    game, bugs = GAMES[name]
    try:
        BY_NAME[law or bugs[bug]](Trial(game.configure({"bug": bug}), 2, seed))
    except ConformanceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_each_bug_is_found(name, bug):
    assert complaint(name, bug, 1)


@pytest.mark.parametrize("name", GAMES)
def test_the_games_without_bugs_pass(name):
    for law in LAWS:
        law(Trial(SOUND[name].configure(), 2, 1))


def test_a_counter_of_shuffles_is_not_knowledge():
    """After the second shuffle of Gnadenlos! the counter differs from that of all imagined states."""
    BY_NAME["imagined_states_are_possible"](Trial(SOUND["gnadenlos"].configure(), 3, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_each_bug_is_found_in_every_trial(name, bug):
    assert [seed for seed in range(1, 21) if not complaint(name, bug, seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_sound_games_pass_for_every_seed(name):
    game = SOUND[name].configure()
    tables = range(game.min_players, game.max_players + 1)
    alarms = []
    for seed in range(1, 201):
        for law in LAWS:
            try:
                law(Trial(game, tables[seed % len(tables)], seed))
            except ConformanceError as error:
                alarms.append((seed, law.__name__, str(error)))
    assert alarms == []


@pytest.mark.parametrize(
    ("name", "bug", "says"),
    [
        (
            "kuhn",
            "card event to all",
            ["At the deal", "seat 0 learns something about cards[1]", "card 2.card", "to all"],
        ),
        ("kuhn", "bet event has the card", ["After choice", "learns something about cards[", "The event was says"]),
        ("kuhn", "view shows both cards", ["At the deal", "the view of seat", "shows in cards["]),
        ("kuhn", "no bet against a king", ["Choice", "the legal list of seat", "is pass"]),
        ("kuhn", "imagines an ace", ["makes impossible states", "is 4"]),
        ("dice", "imagines three dice", ["makes impossible states", "umber of items in cups[1] is 3"]),
        (
            "dice",
            "view has points above their bound",
            ["Choice 0, seat 0, 'bid'", "DiceView.points does not fit its type", "(99, 0)", "between 0 and 6"],
        ),
        ("dice", "view names a seat that does not exist", ["DiceView.bidder does not fit its type", "no seat 2"]),
        ("dice", "bounds of scores are too narrow", ["is not between 0 and 0, as score_bounds() says"]),
        ("dice", "more decisions than declared", ["choices, and max_decisions() says 3"]),
        ("dice", "luck has the bid in its name", ["The luck 'cup'", "such as 'cup/2/0/"]),
    ],
)
def test_a_message_says_what_leaked_to_whom_and_when(name, bug, says):
    said = complaint(name, bug, 1)
    assert [part for part in says if part not in said] == []
