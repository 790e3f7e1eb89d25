"""Several games together: who is ranked, by what, and what is claimed."""

from __future__ import annotations

from random import Random

import pytest

from harness.ratings.leaderboard import leaderboard, rate_records
from harness.ratings.overall import overall
from tests.ratings.simulate import record
from tests.ratings.simulate_runs import Field, run


def several(*worlds, deals=12, seed=1, **more):
    """A leaderboard for each world, a game each."""
    return [
        leaderboard(run(world, seed + place, deals=deals, **more), f"game{place}") for place, world in enumerate(worlds)
    ]


def of_games(*records):
    return [leaderboard(rate_records(one)["sim"], f"game{place}") for place, one in enumerate(records)]


def test_a_single_game_has_no_overall_ranking():
    assert overall(several(Field([0, 0]))) is None


def test_bots_are_ranked_by_their_mean_share_over_games():
    boards = several(Field([0.0, 1.0, 2.0]), Field([2.0, 1.0, 0.0]), Field([0.0, 1.0, 2.0]))
    found = overall(boards)
    for line in found.lines:
        shares = [one.ahead.value for board in boards for one in board.standings if one.line.bot == line.bot]
        assert line.ahead.value == pytest.approx(sum(shares) / 3)
        assert line.matches == sum(board.ratings.lines[line.bot].matches for board in boards)
    assert [line.bot for line in found.lines] == ["bot2", "bot1", "bot0"]
    assert [line.place for line in found.lines] == [1, 2, 3]
    assert found.lines[0].places == {"game0": 1, "game1": 3, "game2": 1}
    assert found.notes == []


def test_only_bots_that_play_all_games_have_a_place():
    boards = several(Field([0.0, 1.0, 2.0]), Field([0.0, 1.0]))
    found = overall(boards)
    assert [(line.bot, line.place, line.ahead is None) for line in found.lines] == [
        ("bot1", 1, False), ("bot0", 2, False), ("bot2", None, True),
    ]  # fmt: skip
    assert found.lines[2].places == {"game0": 1}
    assert found.notes == ["Only bots that play all 2 games have a place; bot2 does not."]
    assert all("bot2" not in pair for pair in found.significant_pairs)


def test_a_note_says_if_no_bot_plays_all_games():
    one = [record("ab", (turn % 2, 1), index=turn, seed=turn) for turn in range(6)]
    two = [record("cd", (turn % 2, 1), index=turn, seed=turn) for turn in range(6)]
    found = overall(of_games(one, two))
    assert all(line.place is None for line in found.lines)
    assert found.voted() == []
    assert found.notes == ["No bot plays all 2 games, so there is no order over all of them."]


def test_bots_that_never_met_in_one_game_are_not_separated():
    """Two that beat everybody and everything, but each other only in one game."""
    both = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ab", "ac", "bc"] * 30)]
    apart = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ac", "bc"] * 30)]
    found = overall(of_games(both, apart))
    assert found.significant_pairs == {("a", "c"), ("b", "c")}
    assert [(line.best, line.worst) for line in found.lines] == [(1, 2), (1, 2), (3, 3)]


def test_lower_variance_alone_does_not_make_a_bot_better():
    """Of two bots alike in all games, one with fewer faults of chance used to win in 97.5% of runs."""
    told = 0
    for seed in range(40):
        calm = Field([0.0, 0.0, -0.5], luck=["normal", "triple", "normal"])
        told += ("bot0", "bot1") in overall(several(calm, calm, seed=1000 * seed)).significant_pairs
    assert told <= 4


def test_intervals_of_means_over_games_cover_the_truth():
    worlds = [Field([0.0, 0.3, 0.6]), Field([0.4, 0.0, 0.2]), Field([0.0, 0.0, 1.0], luck=["heavy"])]
    truth = {f"bot{bot}": sum(world.true_beat_rates[bot] for world in worlds) / 3 for bot in range(3)}
    inside = wrong = 0
    for seed in range(60):
        found = overall(several(*worlds, seed=1000 * seed))
        inside += sum(line.ahead.low <= truth[line.bot] <= line.ahead.high for line in found.lines)
        wrong += any(truth[better] <= truth[worse] for better, worse in found.significant_pairs)
    assert 0.90 <= inside / 180 <= 0.99
    assert wrong <= 7


def test_each_game_has_one_vote_whatever_its_margin():
    boards = several(Field([0.0, 3.0]), Field([0.35, 0.0]), Field([0.35, 0.0]), deals=60)
    found = overall(boards)
    assert found.lines[0].bot == "bot1", "by the mean of shares"
    assert [one.bot for one in found.voted()] == ["bot0", "bot1"], "by two votes to one"


def test_an_adaptive_run_makes_no_claims_over_games():
    rng = Random(1)
    sets = [[record("ab", (rng.random(), 0.5), index=turn, seed=turn) for turn in range(30)] for _ in range(2)]
    boards = [leaderboard(rate_records(one)["sim"], str(place), anytime=()) for place, one in enumerate(sets)]
    found = overall(boards)
    assert found.significant_pairs == frozenset()
    assert found.lines[0].ahead.high == float("inf")
    assert "when to stop" in found.notes[0]
