"""The leaderboard: its order, what it claims, and what it remarks."""

from __future__ import annotations

from math import inf, isfinite
from random import Random

import pytest

from harness.core.plan import Outcome
from harness.core.records import Fault
from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import CountsByGame, claim_level, in_order, leaderboard
from harness.ratings.skill import PairGraph, fit_skills, fitted_prior_sd
from harness.ratings.statistics import LEVEL
from tests.ratings.simulate import World, count_records, record, tournament
from tests.ratings.simulate_runs import Field, run, spaced


def board_of(records, **more):
    return leaderboard(count_records(records)["sim"], **more)


def shutouts(*pairs, deals=20):
    """The first bot of each pair wins every deal."""
    return [
        record(pair, (1, 0), index=turn * len(pairs) + place, seed=turn * len(pairs) + place)
        for turn in range(deals)
        for place, pair in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def counts():
    return count_records(tournament(World((0.0, 0.3, 0.6, 1.0), 3), 12, Random(3)))["sim"]


def test_places_follow_skill(counts):
    board = leaderboard(counts, "sim")
    assert board.title == "sim"
    assert [one.place for one in board.standings] == [1, 2, 3, 4]
    skills = [one.skill.value for one in board.standings]
    assert skills == sorted(skills, reverse=True)
    assert [one.totals for one in board.standings] == in_order(counts, board.fit.mu)
    assert sum(skills) / 4 == pytest.approx(25, abs=1e-5)


def test_figures_are_rounded_so_that_every_machine_writes_the_same(counts):
    for one in leaderboard(counts).standings:
        assert all(value == round(value, 6) for value in one.skill)
        assert one.skill.low < one.skill.value < one.skill.high
        assert one.sigma > 0


def test_equal_skills_are_ordered_by_share_and_then_by_name():
    played = [record("ba", (turn % 2, (turn + 1) % 2), index=turn, seed=turn) for turn in range(10)]
    assert [one.bot for one in board_of(played).standings] == ["a", "b"]


def test_identical_results_separate_bots_only_after_enough_deals():
    for deals, claimed in ((2, False), (4, False), (5, False), (7, True), (10, True)):
        assert bool(board_of(shutouts("ab", deals=deals)).significant_pairs) is claimed


def test_unequal_bots_are_separated_after_enough_deals():
    # Without this, never claiming anything would pass all simulated runs.
    board = leaderboard(run(Field(spaced(0.8, 6)), 1, players=3, deals=60))
    assert [one.bot for one in board.standings] == [f"bot{number}" for number in (5, 4, 3, 2, 1, 0)]
    assert [(one.best, one.worst) for one in board.standings] == [(place, place) for place in range(1, 7)]
    assert board.has_ranges


def test_bots_that_met_only_through_others_are_not_separated():
    board = board_of(shutouts("ab", "bc", deals=40))
    assert board.significant_pairs == {("a", "b"), ("b", "c")}
    assert [(one.best, one.worst) for one in board.standings] == [(1, 2), (2, 2), (2, 3)]


def test_groups_that_never_met_are_named_and_no_claim_links_them():
    board = board_of(shutouts("ab", "cd"))
    assert board.significant_pairs == {("a", "b"), ("c", "d")}
    (note,) = board.notes
    assert "a, b; c, d" in note
    assert {one.bot for one in board.standings[:2]} == {"a", "c"}


def test_a_large_group_is_named_by_its_first_bots():
    board = board_of(shutouts("ab", "bc", "cd", "de", "ef", "xy"))
    assert "a, b, c, d and 2 more; x, y" in board.notes[0]


def test_a_single_bot_has_no_notes_and_no_interval():
    board = board_of([record("a", (1,)), record("a", (2,), index=1)])
    assert board.notes == []
    (alone,) = board.standings
    assert alone.skill == (25.0, -inf, inf)
    assert (alone.sigma, alone.score, alone.place) == (None, None, 1)


def test_a_note_says_how_often_a_disqualified_bot_lost_without_playing():
    played = shutouts("ab", deals=10)
    played += [record("ab", (1, 0), index=10 + turn, seed=10 + turn, faults=(Fault(1, "disqualified", 0),))
               for turn in range(5)]  # fmt: skip
    assert board_of(played).notes == [
        "b was disqualified and lost 5 of its 15 matches without playing. They count as last places, but not as faults."
    ]


def test_a_bot_that_failed_in_every_match_is_marked():
    failed = [
        record("ab", (1, 0), index=turn, seed=turn, faults=(Fault(1, "illegal" if turn else "disqualified", 0),))
        for turn in range(6)
    ]
    first, last = board_of(failed).standings
    assert (first.bot, first.failed_always, last.failed_always) == ("a", False, True)


def test_mean_scores_have_intervals_over_deals():
    played = [record("ab", (3 + turn % 3, 1), index=turn, seed=turn) for turn in range(9)]
    first, last = board_of(played).standings
    assert first.score.value == pytest.approx(4)
    assert 0 < first.score.reach < 2
    assert last.score == (1, 1, 1)


# How often a run has ended.


def test_the_shares_of_the_error_of_all_ends_add_up_to_one():
    shares = [(1 - claim_level(end)) / (1 - LEVEL) for end in range(1, 5000)]
    assert shares[0] == pytest.approx(0.8)
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert sum(shares) <= 1


def test_an_unfinished_run_claims_nothing(counts):
    board = leaderboard(counts, end=0)
    assert leaderboard(counts).significant_pairs
    assert board.significant_pairs == frozenset()
    assert not board.claims_made
    assert not board.has_ranges
    assert {(one.best, one.worst) for one in board.standings} == {(None, None)}
    assert [one.skill for one in board.standings] == [one.skill for one in leaderboard(counts).standings]


def test_an_extended_run_needs_stronger_evidence_each_time():
    """Seven of seven deals have a p-value of 1.6%: enough at the first end, too little at the second."""
    seven = shutouts("ab", deals=7)
    assert board_of(seven, end=1).significant_pairs
    assert not board_of(seven, end=2).significant_pairs
    assert board_of(seven, end=2, level=0.95).significant_pairs
    assert board_of(shutouts("ab", deals=12), end=2).significant_pairs


# Formats in which results decide which bots meet, or when to stop.


def test_if_results_decide_the_seating_only_common_tables_are_tested():
    played = shutouts("ab", "bc", deals=12)
    assert board_of(played, design="seated").significant_pairs == {("a", "b"), ("b", "c")}
    lucky = [record("ab", (turn % 2, 0.5), index=turn, seed=turn) for turn in range(12)]
    lucky += [record(pair, (1, 0), index=20 + turn, seed=20 + turn) for turn, pair in enumerate(["ac", "cb"] * 12)]
    # a is far better than c, c than b, but a and b are level against each other.
    assert ("a", "b") in board_of(lucky).significant_pairs
    assert ("a", "b") not in board_of(lucky, design="seated").significant_pairs


def test_a_deal_with_several_tables_is_not_a_test_of_a_pair():
    """The deals of one round may be shared by tables: then the results of a pair are not independent of the others."""
    played = [record(pair, (1, 0), index=place, seed=place // 2) for place, pair in enumerate(["ab", "cd"] * 12)]
    assert board_of(played).significant_pairs
    assert board_of(played, design="seated").significant_pairs == frozenset()


def test_seated_formats_have_their_own_order_and_a_fitted_prior():
    counts = run(Field(spaced(0.2, 8)), 1, kind="knockout", deals=5)
    names = sorted(counts.totals)
    board = leaderboard(counts, design="seated", order=names)
    assert [one.bot for one in board.standings] == names
    assert board.by_format
    assert board.design == "seated"
    sd = fitted_prior_sd(counts.pairs, 8)
    assert board.fit.mu == fit_skills(PairGraph(counts.pairs, 8), prior_sd=sd).mu
    plain = leaderboard(counts)
    assert not plain.by_format
    assert max(plain.fit.mu) > max(board.fit.mu)


def test_bots_that_the_format_does_not_order_come_last():
    board = leaderboard(run(Field(spaced(0.2, 4)), 1, deals=5), order=["bot1", "bot0"])
    assert [one.bot for one in board.standings[:2]] == ["bot1", "bot0"]
    rest = [one.skill.value for one in board.standings[2:]]
    assert rest == sorted(rest, reverse=True)


def test_if_results_decide_when_to_stop_only_anytime_claims_are_made(counts):
    plain, board = leaderboard(counts), leaderboard(counts, design="anytime", anytime={("bot3", "bot0")})
    assert board.significant_pairs == {("bot3", "bot0")}
    assert {(one.bot, one.best, one.worst) for one in board.standings} == {
        ("bot3", 1, 3), ("bot2", 1, 4), ("bot1", 1, 4), ("bot0", 2, 4),
    }  # fmt: skip
    for one, other in zip(plain.standings, board.standings, strict=True):
        assert other.skill == (one.skill.value, -inf, inf)
        assert other.score == (one.score.value, -inf, inf)


class Claims:
    """Claims of a run with an anytime design, as a format has them."""

    def __init__(self):
        self.added = 0

    def add(self, record):
        self.added += 1

    def claims(self, level):
        return {("a", "b")} if self.added >= 3 else set()


class Tracker:
    """The result of a format: the last winner first."""

    def __init__(self):
        self.standing = ()

    def add(self, record):
        best = record.seats[record.ranks.index(1)]
        self.standing = (best, *(name for name in ("b", "a") if name != best))

    def outcome(self):
        return Outcome(standing=self.standing)


def test_boards_of_a_run_use_the_claims_and_the_order_of_its_format():
    claims = CountsByGame(design="anytime", anytime={"sim": Claims()})
    tracked = CountsByGame(design="seated", trackers={"sim": Tracker()})
    for one in shutouts("ab", deals=4):
        claims.add(one)
        tracked.add(one)
    tracked.add(record("ba", (1, 0), index=4, seed=4))
    assert claims.boards()[0].significant_pairs == {("a", "b")}
    (board,) = tracked.boards(end=0)
    assert [one.bot for one in board.standings] == ["b", "a"]
    assert board.by_format
    assert not board.claims_made
    assert not tracked.cacheable


def test_a_game_without_results_has_an_empty_leaderboard():
    board = leaderboard(GameCounts())
    assert board.standings == board.notes == []
    assert CountsByGame().boards() == []


def test_a_run_with_too_few_deals_has_skills_without_intervals():
    board = leaderboard(run(Field(spaced(0.3, 4)), 1, deals=2))
    assert not board.enough_deals
    assert all(isfinite(one.skill.value) and not isfinite(one.skill.reach) for one in board.standings)
