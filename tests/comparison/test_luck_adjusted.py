"""Comparisons that take luck out: the same when continued and on any number of workers, true shares, few errors."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import harness
from harness.comparison import format as comparison_format
from harness.comparison import sampling_units
from harness.comparison.format import judges_of, verdicts
from harness.comparison.run import prepare_comparison, question_settings
from harness.comparison.sampling_units import ADJUSTED_RANGE, MAX_LUCK
from harness.comparison.sequential_test import SequentialTest
from harness.core.errors import UsageError
from harness.core.records import GameRecord
from harness.match.referee import play
from harness.ratings.betting import MIXTURE_WEIGHTS, WIDE_MIXTURE_WEIGHTS, ConfidenceSequence, log_threshold
from harness.runs.request import RunRequest
from harness.runs.setup import installed
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from tests.comparison.test_sequential_test import asked, played_as, units
from tests.support.cli import arena
from tests.support.schedules import follow

CLOSE = ("compare", "skittish:stars=4", "skittish:stars=5", "--game", "el-paso", "--bot", "random", "--luck-adjusted")
EQUAL = {
    "el-paso": ("one=skittish", "other=skittish"),
    "gnadenlos": ("one=debtor", "other=debtor", "miser"),
    "x-pasch": ("one=hustler", "other=hustler", "raider"),
}


def prepared(game, table, seed=1, most=24, way=None, thorough=False):
    """A comparison whose luck is taken out, ready to be played in this process."""
    one, other, *company = table
    request = RunRequest(games=(game,), bots=tuple(company), seed=seed, deals=most)
    settings = question_settings(None, way, thorough)
    return prepare_comparison(one, other, request, installed(), settings, luck_adjusted=True)


def played(setup):
    """All that its schedule asks for."""
    records: list[GameRecord] = []

    def results(specs):
        records.extend(play(spec, setup.games[spec.game], setup.roster.seats(spec)) for spec in specs)
        return records[-len(specs) :]

    for _ in follow(setup.schedule, results):
        pass
    return records


def results_in(name):
    records = RunFolder.open(Path("results", name)).records()
    return sorted((record.without_timing() for record in records), key=lambda record: record.index)


@pytest.mark.parametrize(("way", "first", "most"), [("auto", 3, 7), ("pairs", 2, 5)])
def test_the_result_is_the_same_after_a_resume_and_for_any_number_of_workers(way, first, most):
    whole = arena(*CLOSE, "--way", way, "--most", most, "--workers", 2, "--name", "whole").stdout
    begun = arena(*CLOSE, "--way", way, "--most", first, "--workers", 0, "--name", "parts").stdout
    assert arena("compare", "--resume", "parts", "--workers", 0).stdout == begun
    assert arena("compare", "--resume", "parts", "--most", most, "--workers", 0).stdout == whole
    assert "adjusted for luck;" in whole
    assert results_in("whole") == results_in("parts")


def test_a_luck_adjusted_comparison_is_stored_as_a_normal_run():
    found = harness.compare("diehard", "random", games="el-paso", seed=1, luck_adjusted=True, workers=0, name="duel")
    assert found[0].answer == "better"
    assert "luck_adjusted=True" in found.run.info.command
    assert found[0].question.luck in found.run.info.plan.settings["luck"]
    assert found.run.outcome()["el-paso"].note == "diehard is better than random at a table of two."
    assert "diehard is better than random at a table of two." in arena("tournament", "--resume", "duel").stderr
    arena("verify", "duel")
    again = harness.compare(resume="results/duel", workers=0)
    assert list(again) == list(found)


def test_adjusted_shares_and_intervals_are_on_the_scale_of_finishing_ahead():
    setup = prepared("el-paso", EQUAL["el-paso"], most=20, thorough=True)
    [verdict] = verdicts(setup.plan, played(setup), judges_of(setup.plan, setup.games))
    assert 0 <= verdict.low <= verdict.ahead <= verdict.high <= 1
    assert 0 < abs(verdict.ahead - verdict.as_played) < 0.2
    assert verdict.luck_saved is not None


def test_adjusted_values_are_scaled_back_to_shares_of_finishing_ahead():
    def judged(share):
        test = SequentialTest(
            asked(luck="x", way="own-deals", most=4000), lambda *_: 0.5 + (share - 0.5) / ADJUSTED_RANGE
        )
        for spec in units(test.spec, "match", 4000):
            if test.over:
                break
            test.add_unit([played_as(spec, (1, 1))])
        return test.verdict()

    won, equal, nearly = judged(1.0), judged(0.5), judged(0.54)
    assert (won.answer, equal.answer, nearly.answer) == ("better", "equal", "better")
    assert (won.ahead, equal.ahead, nearly.ahead) == pytest.approx((1, 0.5, 0.54))
    assert 0.46 < equal.low < equal.ahead < equal.high < 0.54
    assert nearly.low > 0.5
    assert won.as_played == 0.5


def test_mixture_weights_for_adjusted_values_sum_to_one():
    assert sum(WIDE_MIXTURE_WEIGHTS) == pytest.approx(sum(MIXTURE_WEIGHTS)) == pytest.approx(1)
    assert ADJUSTED_RANGE == 1 + 2 * MAX_LUCK


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.52, 1.0])
def test_no_answer_is_found_before_the_end_of_a_predicted_batch(value):
    test = SequentialTest(asked(luck="x", way="own-deals", most=3000), lambda *_: value)
    specs = iter(units(test.spec, "match", 3000))
    while not test.over:
        for left in reversed(range(test.next_batch(500))):
            test.add_unit([played_as(next(specs), (1, 1))])
            assert test.answer == "unknown" or not left
    assert test.answer != "unknown"


def test_expected_shares_use_only_earlier_deals(monkeypatch):
    seen = []

    def spied(_game, record, _judge, expected, _seats, **_more):
        seen.append((record.set, tuple(expected)))
        return 0.5

    monkeypatch.setattr(sampling_units, "bounded_score", spied)
    setup = prepared("el-paso", ("outlaw", "random"), most=8, way="pairs")
    played(setup)
    first, second, third = seen[:2], seen[2:4], seen[4:6]
    assert {expected for _, expected in first} == {(0.5, 0.5)}
    for unit in (second, third):
        (name, one), (same, other) = unit
        assert name == same
        assert one == pytest.approx(other[::-1])  # the first match of a deal says nothing about the second
        assert one != (0.5, 0.5)


def test_a_changed_value_function_is_refused_on_resume(monkeypatch):
    arena(*CLOSE, "--most", 3, "--workers", 0, "--name", "a")
    [digest] = [each.partition(":")[2] for each in RunFolder.open(Path("results/a")).info.plan.settings["luck"].split()]
    real = comparison_format.value_function_of

    def other(game, given):
        function = real(game, given)
        return msgspec.structs.replace(function, trees=function.trees[1:])

    monkeypatch.setattr(comparison_format, "value_function_of", other)
    for force in ((), ("--force",)):
        said = arena("compare", "--resume", "a", *force, code=2).stderr
        assert digest in said
        assert "keeps its value function" in said
    run = RunFolder.open(Path("results/a"))
    assert verdicts(run.info.plan, run.records()) == []  # no judge, no claim
    assert boards_of(run)


def test_unsupported_options_and_games_are_refused(monkeypatch):
    said = arena("compare", "outlaw", "random", "--bot", "diehard", "--way", "gauntlet", "--luck-adjusted", code=2)
    assert "in the way gauntlet" in said.stderr
    assert "leave out --luck-adjusted" in arena("compare", "--resume", "a", "--luck-adjusted", code=2).stderr
    registry = installed()
    monkeypatch.setattr(type(registry.game("el-paso").configure()), "value_data", lambda _self: "")
    with pytest.raises(UsageError, match="El Paso has no value function"):
        prepared("el-paso", ("outlaw", "random"))
    both = [word for bot in ("outlaw", "random") for word in ("--bot", bot, "--candidate", bot)]
    said = arena("tournament", "--game", "el-paso", *both, "--format", "compare:luck=el-paso:x", code=2)
    assert "El Paso has no value function" in said.stderr


def wealth(game, seed, matches):
    """What bets on either of two equal bots have grown to at most, each counting half."""
    setup = prepared(game, EQUAL[game], seed=seed, most=matches, thorough=True)
    judge = judges_of(setup.plan, setup.games)[game].pair_score()
    bets, most = ConfidenceSequence(WIDE_MIXTURE_WEIGHTS), float("-inf")
    for record in played(setup):
        bets.add_value(judge(record, "one", "other"))
        most = max(most, bets.log_wealth_above(0.5), bets.log_wealth_below(0.5))
    return most


def test_equal_bots_are_not_separated_in_a_few_short_runs():
    assert sum(wealth("el-paso", seed, 16) >= log_threshold(0.95) for seed in range(6)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("game", EQUAL)
def test_equal_bots_are_rarely_separated(game):
    answers = []
    for seed in range(30):
        setup = prepared(game, EQUAL[game], seed=seed, most=120)
        answers += [
            verdict.answer for verdict in verdicts(setup.plan, played(setup), judges_of(setup.plan, setup.games))
        ]
    assert sum(answer in ("better", "worse") for answer in answers) <= 4
