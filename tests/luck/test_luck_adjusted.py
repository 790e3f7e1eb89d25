from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from statistics import fmean

import msgspec
import pytest

from harness import open_run
from harness.comparison.sampling_units import bounded_score
from harness.core.action import ahead_of, compare_to_others, default_features
from harness.core.errors import StoreError, UsageError
from harness.core.game import Game
from harness.core.records import GameRecord, shares_ahead
from harness.core.rng import Chance
from harness.core.tree_ensemble import DEPTH, TreeEnsemble
from harness.core.value_function import (
    TrainingInfo,
    Tree,
    ValueFunction,
    Valuer,
    feature_rows,
    read_value_function,
    value_function_of,
)
from harness.luck import adjustment
from harness.luck import run as value_learning
from harness.luck.adjustment import MAX_COEFFICIENT, ControlCoefficients, ExpectedShares, adjust_results
from harness.plugins.registry import load
from harness.ratings.betting import ConfidenceSequence, log_threshold
from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import leaderboard
from tests.luck.luck_gains import PAIRS, entrant, measure
from tests.luck.luck_gains import _match as match_of
from tests.support.cli import arena

GAMES = ("el-paso", "gnadenlos", "x-pasch")


def game(name="el-paso", **options):
    return load().game(name).configure(options)


def of_el_paso(rules="1", features=None, trees=(), **options):
    width = features or 1 + len(feature_rows(game().new(2, Chance(1)))[0])
    settings = {**game().settings, **options}
    return ValueFunction(
        "el-paso", rules, settings, width, ("play",), TrainingInfo(("random",), (2,), 7, 1, 0.0), trees
    )


def record(number, seats="ab", ranks=(1, 2), seed=None):
    seed = number if seed is None else seed
    return GameRecord(
        f"m{number}", number, "s", "sim", "1", {}, seed, tuple(seats), tuple(-rank for rank in ranks), ranks, "over",
        (), (1,) * len(seats),
    )  # fmt: skip


@pytest.fixture
def small_lessons(monkeypatch):
    """Learning as it is, but with few trees, tried in few matches."""
    monkeypatch.setattr(value_learning, "TREES", 12)
    monkeypatch.setattr(value_learning, "TRIED", 4)


@pytest.fixture
def run():
    bots = ("--bot", "random", "--bot", "skittish", "--bot", "diehard")
    arena("tournament", "--game", "el-paso", "--players", 2, "--deals", 2, "--name", "a", *bots)
    return Path("results/a")


# --- value functions ------------------------------------------------------------------------------------


def test_a_tree_adds_the_leaf_selected_by_its_thresholds():
    tree = Tree((0, 1, 1, 0), (1.5, 0.0, 2.0, 9.0), tuple(number / 100 for number in range(1 << DEPTH)))
    valuer = Valuer(of_el_paso(features=3, trees=(tree,)))
    added_up = TreeEnsemble(tree.features, tree.thresholds, tree.leaves)
    for row in ([2.0, 1.0, 0.5], [0.0, 3.0, 0.5], [9.5, -1.0, 0.95], [1, 0, 0.5]):  # both ways to add up are one
        assert valuer.guess(row) == min(1.0, max(0.0, row[-1] + added_up.total(row)))
    assert valuer.guess([2.0, 1.0, 0.5]) == pytest.approx(0.5 + 0.03)  # yes, yes, no, no
    assert valuer.guess([0.0, 3.0, 0.5]) == pytest.approx(0.5 + 0.06)  # no, yes, yes, no
    assert valuer.guess([9.5, -1.0, 0.95]) == 1.0  # a share, whatever the trees say


@pytest.mark.parametrize("name", GAMES)
def test_every_bundled_game_has_a_matching_value_function(name):
    function = value_function_of(game(name), {})
    assert function.mismatch(game(name)) == ""
    assert function.lesson.matches >= 5_000
    assert function.lesson.explained > 0.15
    state = game(name).new(3, Chance(5))
    shares = Valuer(function).shares(state, [0.5] * 3)
    assert sum(shares) == pytest.approx(1.5)


def test_the_last_seat_of_a_finished_match_has_a_low_value():
    state, rng = game().new(3, Chance(5)), Random(1)
    while state.legal:
        state.step(rng.choice(state.legal))
    order = sorted(state.scores())
    [last] = [seat for seat in range(3) if state.scores()[seat] == order[0]][:1]
    assert Valuer(of_el_paso()).shares(state, [0.5] * 3)[last] < 0.5


def test_a_value_function_for_other_rules_or_options_is_refused():
    function = of_el_paso()
    assert "other options than edition=nl" in function.mismatch(game(edition="nl"))
    assert "version 1 of the rules" in of_el_paso().mismatch(game("gnadenlos"))
    with pytest.raises(UsageError, match=r"takes 3 numbers for each seat.*Learn it again"):
        value_function_of(game(), {"el-paso": of_el_paso(features=3)})
    with pytest.raises(StoreError, match=r"here is not a value function.*arena learn-values"):
        read_value_function("{}", "here")


def test_the_error_for_a_game_without_a_value_function_suggests_learn_values(monkeypatch):
    monkeypatch.setattr(type(game()), "value_data", Game.value_data)
    with pytest.raises(UsageError, match=r"El Paso has no value function") as error:
        value_function_of(game(), {})
    assert (error.value.fix, error.value.data) == ("learn-values", {"game": "el-paso"})


def test_default_features_work_for_every_game():
    assert compare_to_others((3, 1, 2), 0) == (3, 1, 1.5)
    assert ahead_of((3, 1, 3), 0) == 0.75
    for name in GAMES:
        state = game(name).new(3, Chance(1))
        rows = default_features([state.view(seat) for seat in range(3)], state.scores())
        assert len({len(row) for row in rows}) == 1
        assert len({tuple(row) for row in rows}) == 3


def test_learning_is_repeatable_and_explains_some_variance(small_lessons):
    bots = load().entrants(["random", "skittish", "diehard"])
    once, again = (value_learning.learn(game(), bots, (2,), 200, 5) for _ in range(2))
    assert msgspec.json.encode(once) == msgspec.json.encode(again)
    assert once.lesson.explained > 0
    assert "play" in once.phases  # the dice are rolled after it


# --- how much is taken out ------------------------------------------------------------------------------


def test_the_coefficient_is_near_1_if_luck_explains_results_and_near_0_if_not():
    good, useless = ControlCoefficients(), ControlCoefficients()
    rng = Random(1)
    for number in range(300):
        luck = rng.uniform(-0.3, 0.3)
        good.add_match(record(number), {"dice": [luck, -luck]}, [luck, -luck])
        noise = rng.uniform(-0.3, 0.3)
        useless.add_match(record(number), {"dice": [luck, -luck]}, [noise, -noise])
    assert good.coefficient(-1, "dice", "a") > 0.95
    assert useless.coefficient(-1, "dice", "a") < 0.2
    assert good.coefficient(-1, "cards", "a") == pytest.approx(adjustment.PRIOR_COEFFICIENT)


def test_the_coefficient_uses_only_other_deals_and_is_limited():
    coefficients = ControlCoefficients()
    before = coefficients.coefficient(3, "dice", "a")
    for number in range(50):
        coefficients.add_match(record(number, seed=3), {"dice": [0.1, -0.1]}, [9.0, -9.0])
    assert coefficients.coefficient(3, "dice", "a") == pytest.approx(before)
    assert coefficients.coefficient(4, "dice", "a") == MAX_COEFFICIENT


def test_adjusted_results_do_not_depend_on_the_number_of_workers(monkeypatch):
    monkeypatch.setattr(adjustment, "MIN_POOL_MATCHES", 2)
    registry = load()
    bots = registry.entrants(["random", "skittish"])
    records = [match_of(game(), bots, number) for number in range(6)]
    functions = {"el-paso": value_function_of(game(), {})}
    alone, shared = (
        adjust_results(given, {"el-paso": game()}, functions, workers)
        for given, workers in ((records, 1), (records[::-1], 2))
    )
    assert alone == shared
    assert all(sum(shares) == pytest.approx(1.0) for shares in alone.values())


# --- what comes of it -----------------------------------------------------------------------------------


def test_the_luck_adjusted_leaderboard_changes_only_skill_and_claims(run):
    plain = json.loads(arena("leaderboard", "a", "-f", "json").stdout)["el-paso"]
    adjusted = json.loads(arena("leaderboard", "a", "-f", "json", "--luck-adjusted").stdout)["el-paso"]
    unlike = {key for one, other in zip(plain, adjusted, strict=True) for key in one if one[key] != other[key]}
    assert unlike == {"skill", "sigma", "cautious"}  # so few deals have no intervals
    text = " ".join(arena("leaderboard", "a", "--luck-adjusted").stdout.split())
    digest = value_function_of(game(), {}).digest
    assert re.search(rf"Luck-adjusted: .*{digest} for el-paso, learned from 8,000 other matches", text)
    assert re.search(r"as narrow as those of \d\.\d\d times as many matches|It did not pay here", text)
    table = open_run("a").leaderboard(luck_adjusted=True)["el-paso"]
    assert table.rows == adjusted


def test_adjusted_shares_narrow_the_intervals_of_skills_and_the_factor_says_by_how_much():
    """Half of each result is luck that the adjustment knows."""
    plain, adjusted, rng = GameCounts(), GameCounts(), Random(1)
    for number in range(400):
        luck = rng.choice((-0.4, 0.4))
        won = rng.random() < 0.6 + luck
        played = record(number, ranks=(1, 2) if won else (2, 1))
        plain.add(played)
        adjusted.add(played, (won - luck, 1 - won + luck))
    before, after = leaderboard(plain), leaderboard(adjusted)
    assert [one.bot for one in after.standings] == ["a", "b"]
    assert after.standings[0].skill.value == pytest.approx(before.standings[0].skill.value, abs=0.5)
    factor = value_learning.sample_size_factor(before, after)
    assert 2 < factor < 4  # the variance falls from 0.24 to 0.08
    widths = [one.skill.reach for one in (before.standings[0], after.standings[0])]
    assert (widths[0] / widths[1]) ** 2 == pytest.approx(factor)


def test_a_learned_value_function_can_be_used_for_the_leaderboard(run, small_lessons):
    said = arena("learn-values", "el-paso", "--matches", 100, "--bot", "random", "--players", 2, "--out", "mine.json")
    assert re.search(r"mine.json: value function [0-9a-f]{12}. .* it explains -?\d+%", said.stderr)
    text = " ".join(arena("leaderboard", "a", "--luck-adjusted", "--values", "mine.json").stdout.split())
    assert "learned from 100 other matches" in text
    assert open_run("a").leaderboard(luck_adjusted=True, values=["mine.json"])["el-paso"].rows


@pytest.mark.parametrize(
    "tree", [[[-5] * 4, 4, 16], [[999] * 4, 4, 16], [[0], 4, 16], [[0] * 4, 3, 16], [[0] * 4, 4, 5]]
)
def test_a_file_with_impossible_trees_is_not_a_value_function(tree):
    features, thresholds, leaves = tree
    whole = json.loads(game().value_data()) | {"trees": [[features, [0.0] * thresholds, [0.0] * leaves]]}
    with pytest.raises(StoreError, match="there is not a value function"):
        read_value_function(json.dumps(whole), "there")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--luck-adjusted", "--bot", "random"), "for the leaderboard alone"),
        (("--luck-adjusted", "--show", "pairs"), "for the leaderboard alone"),
        (("--values", "results/a/run.json"), "give both"),
        (("--luck-adjusted", "--values", "results/a/run.json"), "is not a value function"),
    ],
)
def test_incompatible_options_are_refused(given, said, run):
    assert said in arena("leaderboard", "a", *given, code=2).stderr


def test_an_unsupported_number_of_players_is_refused():
    assert "2 to 5 players, not 9" in arena("learn-values", "el-paso", "--players", 9, code=2).stderr


# --- what it gains --------------------------------------------------------------------------------------

LEAST = {"el-paso": 1.4, "gnadenlos": 1.2, "x-pasch": 1.2}


def test_luck_adjustment_saves_matches_in_el_paso():
    """The short form: the least that chance leaves of a saving of 1.7 in so few deals."""
    assert measure(PAIRS[1], 50).saved > 1.15


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_luck_adjustment_saves_matches_and_intervals_keep_their_coverage(name):
    gains = [measure(pair, 1_200) for pair in PAIRS if pair.game == name]
    runs = sum(gain.runs for gain in gains)
    assert fmean([gain.saved for gain in gains]) >= LEAST[name]
    assert 0.92 <= sum(gain.held * gain.runs for gain in gains) / runs <= 0.98
    assert all(abs(gain.moved) < 4 for gain in gains)


def bounded(pair, first, count):
    """Bounded values of a bot against itself: results of `count` matches without their luck."""
    registry = load()
    played = game(pair.game)
    function = value_function_of(played, {})
    judge, book = Valuer(function), ExpectedShares()
    table = [entrant(registry, name) for name in (pair.one, pair.other)]
    for number in range(first, first + count):
        one = match_of(played, table, number)
        expected = book.expect_then_add(one)
        seats = one.seats.index(table[0].name), one.seats.index(table[1].name)
        yield (
            shares_ahead(one.ranks)[seats[0]],
            bounded_score(played, one, judge, expected, seats, phases=function.phases),
        )


def test_bounded_values_are_valid_input_for_a_confidence_sequence():
    values = list(bounded(PAIRS[1], 0, 30))
    bets = ConfidenceSequence()
    for _, value in values:
        assert 0 <= value <= 1
        bets.add_value(value)
    assert len(bets.counts) > 5
    assert max(bets.log_wealth_above(0.5), bets.log_wealth_below(0.5)) < log_threshold(0.999)
    assert fmean([played for played, _ in values]) != fmean([value for _, value in values])


@pytest.mark.slow
def test_equal_bots_are_rarely_separated_by_bounded_values():
    pair = PAIRS[1]._replace(one="outlaw", other="twin=outlaw")
    told = 0
    for start in range(60):
        bets = ConfidenceSequence()
        for _, value in bounded(pair, 1000 * start, 100):
            bets.add_value(value)
            if max(bets.log_wealth_above(0.5), bets.log_wealth_below(0.5)) >= log_threshold(0.95):
                told += 1
                break
    assert told <= 6


def test_a_file_of_values_that_is_not_regular_or_too_large_is_refused(tmp_path):
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 33)  # sparse: it takes no space
    for path in (tmp_path / "large.json", Path("/dev/zero")):
        with pytest.raises(StoreError, match=r"cannot be read: it (has more than|is not a regular file)"):
            value_learning.read_values([path])
