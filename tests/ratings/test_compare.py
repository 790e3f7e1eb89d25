from __future__ import annotations

from itertools import islice
from math import log, sqrt
from random import Random

import pytest

from harness.core.errors import UsageError
from harness.core.format import GamePlan, Outcome, Plan
from harness.core.types import Fault, GameRecord, ranks_of
from harness.ratings.betting import Bets, enough
from harness.ratings.comparison import MARGIN, Question, SequentialTest, duplicate_set
from harness.ratings.shared_deals import SetSpread
from harness.runs.questions import verdicts
from harness.schedule import FORMATS, Schedule

DUEL = Question("a", "b", "sim", {})


def plan_of(question):
    """A run that asks this question, as `arena compare` makes it."""
    table = (question.one, question.other, *question.company)
    asked = {"margin": question.margin, "own-deals": not question.shared, "thorough": question.thorough}
    game = GamePlan(question.game, "1", question.settings, len(table), table)
    return Plan((game,), question.most, question.seed, "compare", asked, candidates=table[:2])


def compare(question, play, seen=None):
    """Plays the run by its schedule, to its end, and reads the verdict from its records."""
    plan, records = plan_of(question), [] if seen is None else seen

    def results(asked):
        played = list(play(asked))
        records.extend(played)
        return played

    for _ in Schedule(plan, FORMATS).follow(results):
        pass
    [verdict] = verdicts(plan, records)
    return verdict


def specs(question):
    return [spec for number in range(1, question.most + 1) for spec in duplicate_set(question, number)]


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
    seen = []
    verdict = compare(DUEL, thurstone(0.4, 3), seen)
    assert verdicts(plan_of(DUEL), Random(5).sample(seen, len(seen))) == [verdict]


@pytest.mark.parametrize(("edge", "margin"), [(1.5, MARGIN), (0.4, MARGIN), (0.0, 0.15), (-0.3, 0.0), (0.1, 0.1)])
@pytest.mark.parametrize("company", [(), ("c",)])
def test_what_is_played_at_once_ends_where_a_look_after_every_set_would_have_stopped(edge, margin, company):
    """The pieces are as long as they can be, and no set is played that the answer does not need."""
    question = Question("a", "b", "sim", {}, company, most=400, margin=margin)
    seen, lengths = [], []

    def counted(asked):
        lengths.append(len(asked) // question.set_size)
        return thurstone(edge, 1)(asked)

    verdict = compare(question, counted, seen)
    test = SequentialTest(question)
    while not test.over:
        test.add(list(thurstone(edge, 1)(duplicate_set(question, test.sets + 1))))
    assert test.verdict() == verdict
    assert len(seen) == verdict.matches == question.set_size * verdict.sets
    assert lengths[0] == 9  # what bets at these odds need at least
    assert len(lengths) < verdict.sets / 3 + 9


def test_a_comparison_cut_anywhere_is_led_back_by_its_records_and_says_its_verdict():
    seen, schedule = [], Schedule(plan_of(DUEL), FORMATS)
    verdict = compare(DUEL, thurstone(0.5, 1), seen)
    assert schedule.outcomes(reversed(seen)) == {"sim": Outcome(note="a is better than b.")}
    assert verdict.sentence == "a is better than b."
    ids = [record.id for record in seen]
    for cut in (0, 1, 17, 18, 25, len(seen) - 1):
        asked, ended = schedule.led_by(seen[:cut])
        assert ended == {}
        assert [spec.id for spec in asked] == ids[: len(asked)]
        assert len(asked) > cut


@pytest.mark.parametrize(
    ("players", "candidates", "said"),
    [(3, ("a",), "two bots"), (3, ("a", "b", "c"), "two bots"), (2, ("a", "b"), "all its 3 bots"), (3, (), "two bots")],
)
def test_a_plan_of_something_else_is_refused(players, candidates, said):
    plan = Plan((GamePlan("sim", "1", {}, players, ("a", "b", "c")),), 9, 1, "compare", candidates=candidates)
    with pytest.raises(UsageError, match=said):
        Schedule(plan, FORMATS)


def test_a_comparison_goes_on_with_more_sets_as_if_it_had_been_asked_for_them():
    """Its first sets and their places stay, also beside a second game."""
    short, long = (
        Plan(
            tuple(GamePlan(name, "1", {}, len(bots), tuple(bots)) for name, bots in (("sim", "ab"), ("other", "abc"))),
            deals=most,
            seed=1,
            format="compare",
            settings={"thorough": thorough},
            candidates=("a", "b"),
        )
        for most, thorough in ((5, False), (40, True))
    )
    played = [], []
    for plan, specs in zip((short, long), played, strict=True):
        for asked in Schedule(plan, FORMATS).follow(lambda asked: list(thurstone(0.5, 1)(asked))):
            specs.extend(asked)
    assert len(played[1]) == 40 * (2 + 6)
    assert sorted(spec.index for spec in played[1]) == list(range(40 * (2 + 6)))
    assert set(map(str, played[0])) < set(map(str, played[1]))


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
    plan, records = plan_of(DUEL), list(thurstone(0.0, 1)(islice(specs(DUEL), 9)))
    assert verdicts(plan, records[:7])[0].matches == 6
    assert verdicts(plan, records[:1]) == []
    assert verdicts(plan, records[2:]) == []
    assert verdicts(plan, records[:4] + records[5:])[0].matches == 4  # a stopped run may have later sets, too


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
