"""Several games together: which bots are ranked, by what, and what is claimed."""

from __future__ import annotations

from random import Random

import pytest

from harness.output.leaderboard import overall_tables
from harness.ratings.leaderboard import leaderboard, overall
from harness.ratings.skill import chance_ahead
from tests.ratings.simulate import count_records, record
from tests.ratings.simulate_runs import Field, run


def several(*worlds, deals=12, seed=1, **more):
    """A leaderboard for each world, a game each."""
    return [
        leaderboard(run(world, seed + place, deals=deals, **more), f"game{place}") for place, world in enumerate(worlds)
    ]


def of_games(*records, **more):
    return [leaderboard(count_records(one)["sim"], f"game{place}", **more) for place, one in enumerate(records)]


def test_a_single_game_has_no_overall_ranking():
    assert overall_tables(several(Field([0, 0]))) == []


def test_bots_are_ranked_by_the_mean_of_their_fitted_chances():
    boards = several(Field([0.0, 1.0, 2.0]), Field([2.0, 1.0, 0.0]), Field([0.0, 1.0, 2.0]))
    found = overall(boards)
    for line in found.lines:
        chances = []
        for board in boards:
            skills = {one.bot: board.fit.mu[one.totals.number] for one in board.standings}
            chances += [chance_ahead(skills[line.bot] - skills[bot]) / 2 for bot in skills if bot != line.bot]
        assert line.chance.value == pytest.approx(sum(chances) / 3)
        assert line.chance.low < line.chance.value < line.chance.high
        assert line.matches == sum(board.counts.totals[line.bot].matches for board in boards)
    assert [line.bot for line in found.lines] == ["bot2", "bot1", "bot0"]
    assert [line.place for line in found.lines] == [1, 2, 3]
    assert found.lines[0].places == {"game0": 1, "game1": 3, "game2": 1}
    assert found.notes == []


def test_every_game_has_the_same_weight_however_many_matches_it_had():
    long = several(Field([0.0, 1.0]), deals=60)[0]
    short = leaderboard(run(Field([1.0, 0.0]), 9, deals=8), "game1")
    for line in overall([long, short]).lines:
        numbers = [board.counts.totals[line.bot].number for board in (long, short)]
        assert line.chance.value == pytest.approx((long.fit.chances[numbers[0]] + short.fit.chances[numbers[1]]) / 2)


def test_only_bots_that_play_all_games_have_a_place():
    boards = several(Field([0.0, 1.0, 2.0]), Field([0.0, 1.0]))
    found = overall(boards)
    assert [(line.bot, line.place, line.chance is None) for line in found.lines] == [
        ("bot1", 1, False), ("bot0", 2, False), ("bot2", None, True),
    ]  # fmt: skip
    assert found.lines[2].places == {"game0": 1}
    assert (found.lines[2].best, found.lines[2].worst) == (None, None)
    assert found.notes == ["Only bots that play all 2 games have a place; bot2 does not."]
    assert all("bot2" not in pair for pair in found.significant_pairs)


def test_a_sentence_names_the_best_only_of_three_bots_or_more():
    [two] = overall_tables(several(Field([0.0, 1.0, 2.0]), Field([0.0, 1.0])))
    [three] = overall_tables(several(Field([0.0, 1.0, 2.0]), Field([0.0, 1.0, 2.0])))
    assert two.summary == []
    assert three.summary[0].startswith("bot2 did best of the 3 bots that play every game")


def test_a_note_says_if_no_bot_plays_all_games():
    one = [record("ab", (turn % 2, 1), index=turn, seed=turn) for turn in range(6)]
    two = [record("cd", (turn % 2, 1), index=turn, seed=turn) for turn in range(6)]
    found = overall(of_games(one, two))
    assert all(line.place is None for line in found.lines)
    assert found.notes == ["No bot plays all 2 games, so there is no order over all of them."]
    three = [record("ad", (turn % 2, 1), index=turn, seed=turn) for turn in range(6)]
    assert overall(of_games(one, three)).notes[0].startswith("Only a plays all 2 games")


def test_bots_that_never_met_in_one_game_are_not_separated():
    """Two that beat everybody and everything, but each other only in one game."""
    both = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ab", "ac", "bc"] * 30)]
    apart = [record(pair, (1, 0), index=turn, seed=turn) for turn, pair in enumerate(["ac", "bc"] * 30)]
    found = overall(of_games(both, apart))
    assert found.significant_pairs == {("a", "c"), ("b", "c")}
    assert [(line.best, line.worst) for line in found.lines] == [(1, 2), (1, 2), (3, 3)]


def test_lower_variance_alone_does_not_make_a_bot_better():
    """Of two bots alike in all games, one with fewer faults of chance used to win in 97.5% of runs."""
    claimed = 0
    for seed in range(40):
        calm = Field([0.0, 0.0, -0.5], luck=["normal", "triple", "normal"])
        claimed += ("bot0", "bot1") in overall(several(calm, calm, seed=1000 * seed)).significant_pairs
    assert claimed <= 4


def test_intervals_of_means_over_games_cover_the_truth():
    worlds = [Field([0.0, 0.3, 0.6]), Field([0.4, 0.0, 0.2]), Field([0.0, 0.0, 1.0], luck=["heavy"])]
    inside = wrong = 0
    for seed in range(60):
        boards = several(*worlds, seed=1000 * seed)
        truth = dict.fromkeys(worlds[0].bots, 0.0)
        for world, board in zip(worlds, boards, strict=True):
            skills = world.true_skills(board.counts)
            for bot in truth:
                others = [other for other in skills if other != bot]
                truth[bot] += sum(chance_ahead(skills[bot] - skills[other]) for other in others) / len(others) / 3
        found = overall(boards)
        inside += sum(line.chance.low <= truth[line.bot] <= line.chance.high for line in found.lines)
        wrong += any(truth[better] <= truth[worse] for better, worse in found.significant_pairs)
    assert 0.90 <= inside / 180 <= 0.99
    assert wrong <= 7


def test_an_unfinished_or_adaptive_run_makes_no_claims_over_games():
    rng = Random(1)
    sets = [[record("ab", (1, rng.random() < 0.1), index=turn, seed=turn) for turn in range(30)] for _ in range(2)]
    assert overall(of_games(*sets)).significant_pairs == {("a", "b")}
    assert overall(of_games(*sets, end=0)).significant_pairs == frozenset()
    found = overall(of_games(*sets, design="anytime"))
    assert found.significant_pairs == frozenset()
    assert found.lines[0].chance.high == float("inf")
    assert overall(of_games(*sets, design="seated")).significant_pairs == frozenset()
