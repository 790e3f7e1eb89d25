from __future__ import annotations

from itertools import islice
from math import log, sqrt
from random import Random

import pytest

from harness.core.errors import UsageError
from harness.core.types import Fault, GameRecord, ranks_of
from harness.ratings.betting import Bets, enough
from harness.ratings.comparison import Question, compare, specs
from harness.ratings.shared_deals import SetSpread

DUEL = Question("a", "b", "sim", {})


def thurstone(edge, seed, taste=0.0):
    """An executor whose bot "a" is better by `edge`; a deal suits one of the bots by `taste`."""

    def play(matches):
        for spec in matches:
            luck = Random(spec.seed)
            suits = {name: luck.gauss(0, taste) for name in sorted(spec.seats)}
            rng = Random(f"{seed}/{spec.id}/{spec.seed}")
            played = [suits[name] + edge * (name == "a") + rng.gauss(0, 1) for name in spec.seats]
            yield played_as(spec, [round(1000 * one) for one in played])

    return play


def played_as(spec, scores, faults=()):
    return GameRecord(
        spec.id, spec.index, spec.set, spec.game, "1", spec.options, spec.seed, spec.seats, tuple(scores),
        ranks_of(scores), "played", (), (1,) * len(scores), faults=tuple(faults),
    )  # fmt: skip


EDGE_55 = 0.1777  # finishes ahead in 55%: the normal quantile of 0.55 times the root of 2


# --- betting -------------------------------------------------------------------------------------


def test_wealth_of_one_gambler_multiplies_by_what_was_staked(monkeypatch):
    monkeypatch.setattr("harness.ratings.betting.FRACTIONS", (0.5,))
    bets = Bets()
    for value in (1.0, 1.0, 0.0):
        bets.add(value)
    # At m = 1/2 a stake of one half wins a half with a 1 and loses a half with a 0.
    assert bets.above(0.5) == pytest.approx(log(1.5 * 1.5 * 0.5))
    assert bets.below(0.5) == pytest.approx(log(0.5 * 0.5 * 1.5))


def test_the_interval_holds_just_the_means_that_are_not_refuted():
    bets, rng = Bets(), Random(2)
    for _ in range(300):
        bets.add(rng.choice((0.0, 0.5, 1.0, 1.0)))
    low, high = bets.interval(0.95)
    assert low < 0.625 < high
    assert bets.above(low + 1e-6) < enough(0.95) <= bets.above(low - 1e-6)
    assert bets.below(high - 1e-6) < enough(0.95) <= bets.below(high + 1e-6)


def test_values_that_are_all_the_same_give_an_interval():
    bets = Bets()
    for _ in range(20):
        bets.add(1.0)
    low, high = bets.interval(0.95)
    assert 0.7 < low < 1
    assert high == 1


@pytest.mark.parametrize(("sequences", "slack"), [(100, 3), pytest.param(1000, 0, marks=pytest.mark.slow)])
def test_the_interval_covers_the_truth_at_all_times_together(sequences, slack):
    missed = 0
    for seed in range(sequences):
        bets, rng = Bets(), Random(seed)
        for _ in range(150):
            bets.add((rng.random() < 0.7) / 2 + (rng.random() < 0.7) / 2)
            if bets.above(0.7) >= enough(0.95) or bets.below(0.7) >= enough(0.95):
                missed += 1
                break
    assert missed / sequences <= 0.05 + slack * sqrt(0.05 * 0.95 / sequences)


# --- sets ----------------------------------------------------------------------------------------


def test_a_set_is_one_deal_with_the_bots_changed_over():
    first, second = islice(specs(DUEL), 2)
    assert first.seats == second.seats[::-1]
    assert (first.seed, first.set) == (second.seed, second.set)
    assert [spec.index for spec in islice(specs(DUEL), 4)] == [0, 1, 2, 3]


def test_with_company_everybody_sits_everywhere_and_the_two_change_over():
    question = Question("a", "b", "sim", {}, ("c", "d"))
    matches = list(islice(specs(question), question.set_size))
    assert len({spec.set for spec in matches}) == len({spec.seed for spec in matches}) == 1
    seatings = {spec.seats for spec in matches}
    assert len(seatings) == 8
    for seats in seatings:
        assert tuple({"a": "b", "b": "a"}.get(name, name) for name in seats) in seatings
    for seat in range(4):
        assert sorted(spec.seats[seat] for spec in matches) == sorted("abcd" * 2)


def test_deals_of_their_own_are_all_different():
    question = Question("a", "b", "sim", {}, shared=False)
    assert len({spec.seed for spec in islice(specs(question), 100)}) == 100


# --- verdicts ------------------------------------------------------------------------------------


def test_a_clear_difference_is_found_soon():
    verdict = compare(DUEL, thurstone(1.5, 1))
    assert verdict.answer == "better"
    assert verdict.sets < 40
    assert verdict.low > 0.5
    assert verdict.elo > 0
    assert compare(Question("b", "a", "sim", {}), thurstone(1.5, 1)).answer == "worse"


def test_the_answer_does_not_depend_on_the_order_in_which_matches_end():
    def in_batches(matches):
        rng = Random(5)
        played = thurstone(0.4, 3)(matches)
        while batch := list(islice(played, 37)):
            yield from rng.sample(batch, len(batch))

    assert compare(DUEL, in_batches) == compare(DUEL, thurstone(0.4, 3))


def test_no_more_is_played_than_is_needed():
    seen = []
    verdict = compare(DUEL, thurstone(1.5, 1), seen.append)
    assert len(seen) == verdict.matches == 2 * verdict.sets


def test_identical_bots_without_luck_of_their_own_are_equal():
    def by_seat(matches):
        for spec in matches:
            rng = Random(spec.seed)
            yield played_as(spec, [rng.randrange(100) for _ in spec.seats])

    verdict = compare(Question("a", "b", "sim", {}, ("c",)), by_seat)
    assert verdict.answer == "equal"
    assert verdict.ahead == 0.5
    assert verdict.fixed_size is None
    assert verdict.ahead_gain.saved == pytest.approx(1)


def test_it_gives_up_at_the_last_set():
    verdict = compare(Question("a", "b", "sim", {}, most=30), thurstone(0.0, 2))
    assert (verdict.answer, verdict.sets) == ("unknown", 30)
    assert verdict.low < 0.5 < verdict.high


def test_a_thorough_comparison_plays_on_and_narrows_the_interval():
    quick, thorough = (
        compare(Question("a", "b", "sim", {}, most=400, thorough=on), thurstone(1.0, 4)) for on in (False, True)
    )
    assert quick.answer == thorough.answer == "better"
    assert thorough.sets == 400
    assert thorough.high - thorough.low < quick.high - quick.low


def test_the_fixed_size_is_the_textbook_s():
    verdict = compare(Question("a", "b", "sim", {}, most=500, thorough=True), thurstone(0.3, 4))
    variance, difference = verdict.ahead_gain.shared, verdict.ahead - 0.5
    assert verdict.fixed_size == pytest.approx(2 * 7.849 * variance / difference**2, abs=2)


def test_faults_are_told():
    def failing(matches):
        for spec in matches:
            yield played_as(
                spec, [1 if name == "a" else 0 for name in spec.seats], [Fault(spec.seats.index("b"), "crash", 0)]
            )

    verdict = compare(DUEL, failing)
    assert verdict.faults == {"b": verdict.matches}


def test_a_half_finished_set_is_left_out():
    verdict = compare(DUEL, lambda matches: islice(thurstone(0.0, 1)(matches), 7))
    assert verdict.matches == 6
    with pytest.raises(UsageError, match="No set was finished"):
        compare(DUEL, lambda matches: islice(thurstone(0.0, 1)(matches), 1))


@pytest.mark.parametrize("company", [("a",), ("c", "c")])
def test_everybody_at_the_table_is_different(company):
    with pytest.raises(UsageError, match="must be different"):
        compare(Question("a", "b", "sim", {}, company), thurstone(0.0, 1))


@pytest.mark.parametrize("taste", [0.0, 0.7])
@pytest.mark.parametrize(("runs", "most", "slack"), [(25, 300, 3), pytest.param(400, 2000, 0, marks=pytest.mark.slow)])
def test_equal_bots_are_called_better_in_at_most_5_of_100_runs(runs, most, slack, taste):
    question = [Question("a", "b", "sim", {}, seed=seed, most=most) for seed in range(runs)]
    wrong = sum(compare(one, thurstone(0.0, one.seed, taste)).answer in ("better", "worse") for one in question)
    assert wrong / runs <= 0.05 + slack * sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(("runs", "slack"), [(12, 3), pytest.param(400, 0, marks=pytest.mark.slow)])
def test_a_bot_that_finishes_ahead_in_55_of_100_is_found_in_80_of_100_runs(runs, slack):
    found = [compare(Question("a", "b", "sim", {}, seed=seed), thurstone(EDGE_55, seed)).answer for seed in range(runs)]
    assert found.count("better") / runs >= 0.8 - slack * sqrt(0.8 * 0.2 / runs)


# --- what shared deals are worth -----------------------------------------------------------------


def test_the_gain_is_the_covariance_that_sharing_brings():
    rng = Random(1)
    opposite, alike, isolated = SetSpread(2), SetSpread(2), SetSpread(2)
    for _ in range(4000):
        luck = rng.gauss(0, 1)
        opposite.add((luck + rng.gauss(0, 1), -luck + rng.gauss(0, 1)))
        alike.add((luck + rng.gauss(0, 1), luck + rng.gauss(0, 1)))
        isolated.add((rng.gauss(0, 1), rng.gauss(0, 1)))
    assert opposite.gain().saved == pytest.approx(0.5, abs=0.05)
    assert alike.gain().saved == pytest.approx(-0.5, abs=0.08)
    assert isolated.gain().saved == pytest.approx(0, abs=0.05)


def test_a_seat_s_luck_that_is_dealt_again_to_the_other_cancels():
    def seat_luck(matches):
        for spec in matches:
            deal, own = Random(spec.seed), Random(spec.id)
            yield played_as(spec, [round(100 * (deal.gauss(0, 3) + own.gauss(0, 1))) for _ in spec.seats])

    question = Question("a", "b", "sim", {}, most=400, margin=0.0)
    verdict = compare(question, seat_luck)
    assert verdict.ahead_gain.saved > 0.5
    assert verdict.score_gain.saved == pytest.approx(0.9, abs=0.05)
