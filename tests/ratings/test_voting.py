"""Orders from votes and from tables of pairs, against OpenSpiel 2.0.2.

The figures come from `alpharank.compute([np.array(payoffs)], m=50, alpha=alpha)[2]` (open_spiel.python.egt) and from
`schulze.SchulzeVoting().run_election(profile)` (open_spiel.python.voting).
"""

from __future__ import annotations

import pytest

from harness.ratings.leaderboard import leaderboard, rate_records
from harness.ratings.overall import schulze
from harness.ratings.plackett_luce import alpha_rank
from tests.ratings.simulate import record

ROCK_PAPER_SCISSORS = [[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]]
BENT = [[0.5, 0.9, 0.4], [0.1, 0.5, 0.7], [0.6, 0.3, 0.5]]
FIVE = [
    [0.5, 0.495, 0.32, 0.321, 0.369],
    [0.505, 0.5, 0.642, 0.575, 0.536],
    [0.68, 0.358, 0.5, 0.531, 0.48],
    [0.679, 0.425, 0.469, 0.5, 0.689],
    [0.631, 0.464, 0.52, 0.311, 0.5],
]
SEVEN = [
    [0.5, 0.399, 0.485, 0.385, 0.646, 0.4, 0.41],
    [0.601, 0.5, 0.568, 0.579, 0.539, 0.588, 0.484],
    [0.515, 0.432, 0.5, 0.519, 0.619, 0.506, 0.589],
    [0.615, 0.421, 0.481, 0.5, 0.595, 0.308, 0.636],
    [0.354, 0.461, 0.381, 0.405, 0.5, 0.315, 0.312],
    [0.6, 0.412, 0.494, 0.692, 0.685, 0.5, 0.494],
    [0.59, 0.516, 0.411, 0.364, 0.688, 0.506, 0.5],
]
FOUR = [
    [0.5, 0.654, 0.451, 0.455],
    [0.346, 0.5, 0.389, 0.333],
    [0.549, 0.611, 0.5, 0.684],
    [0.545, 0.667, 0.316, 0.5],
]


@pytest.mark.parametrize(
    ("payoffs", "alpha", "known"),
    [
        (ROCK_PAPER_SCISSORS, 10, [1 / 3, 1 / 3, 1 / 3]),
        (BENT, 10, [0.36419896, 0.31501566, 0.32078538]),
        (BENT, 1, [0.53219063, 0.1751885, 0.29262087]),
        (FIVE, 1, [0.016002986, 0.88734604, 0.027728163, 0.05158401, 0.017338805]),
        (
            SEVEN,
            2,
            [0.0002343885, 0.74707898, 0.097846586, 0.032904302, 2.2158522e-05, 0.053400255, 0.068513332],
        ),
        (FOUR, 100, [0, 0, 1, 0]),
    ],
)
def test_alpha_rank_equals_openspiel(payoffs, alpha, known):
    assert alpha_rank(payoffs, alpha) == pytest.approx(known, rel=1e-6, abs=1e-12)


def test_alpha_rank_handles_large_alpha_and_a_single_bot():
    assert alpha_rank([[0.5]]) == [1.0]
    assert alpha_rank([[0.5, 1.0], [0.0, 0.5]], alpha=1e6) == pytest.approx([1, 0])


def places(votes):
    return [
        one.bot
        for one in schulze(
            [{bot: place for place, bot in enumerate(vote)} for vote, count in votes for _ in range(count)]
        )
    ]


@pytest.mark.parametrize(
    ("votes", "known"),
    [
        (  # the example in Schulze's paper
            [("ACBED", 5), ("ADECB", 5), ("BEDAC", 8), ("CABED", 3), ("CAEBD", 7), ("CBADE", 2), ("DCEBA", 7),
             ("EBADC", 8)],
            "EACBD",
        ),
        ([(vote, 1) for vote in ("dcba", "dbac", "dbac", "bacd", "dacb")], "dbac"),
        ([(vote, 1) for vote in ("cedfab", "cebdfa", "fcedab")], "cedfab"),
    ],
)  # fmt: skip
def test_schulze_equals_openspiel(votes, known):
    assert "".join(places(votes)) == known


def test_undecided_votes_give_shared_places():
    assert schulze([]) == []
    assert schulze([{"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 3}]) == [(1, "a"), (1, "b"), (3, "c")]
    circle = [{"a": 1, "b": 2, "c": 3}, {"b": 1, "c": 2, "a": 3}, {"c": 1, "a": 2, "b": 3}]
    assert [one.place for one in schulze(circle)] == [1, 1, 1]
    # e is above c (5 votes, back along c-d-e 4), both are level with a and d, all are above b.
    votes = ["ecdba", "dceab", "adbec", "aecdb", "ebcad", "adecb", "cdbae"]
    found = schulze([{bot: place for place, bot in enumerate(vote)} for vote in votes])
    assert found == [(1, "a"), (1, "d"), (1, "e"), (2, "c"), (5, "b")]


def test_the_alpha_rank_of_a_leaderboard_needs_every_pair_of_bots_to_have_met():
    met = [record("ab", (1, 0)), record("bc", (1, 0), index=1, seed=2)]
    assert leaderboard(rate_records(met)["sim"]).alpha_rank() is None
    circle = leaderboard(rate_records([*met, record("ca", (1, 0), index=2, seed=3)])["sim"]).alpha_rank()
    assert [one.share for one in circle] == pytest.approx([1 / 3] * 3)
    best = leaderboard(rate_records([*met, record("ca", (0, 1), index=2, seed=3)])["sim"]).alpha_rank()
    assert best[0].bot == "a"
    assert best[0].share > 0.99
