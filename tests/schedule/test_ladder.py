from collections import Counter
from itertools import pairwise

import pytest
from msgspec.structs import replace

from harness.core.chance import Chance
from harness.core.errors import UsageError
from harness.core.format import Plan
from harness.schedule.ladder import most_telling
from harness.schedule.simulation import simulated_record
from harness.schedule.stopping import RepeatedLooks, SkillBeliefs

from .support import even, names, plan, play, scheduled, sets_of, spread

SURE = 0.95


def plain_round_robin(asked: Plan, strengths: dict[str, float]) -> int:
    """Matches after which a round-robin, looked at as a ladder is, tells neighbours apart as surely."""
    luck, skills, before = Chance(asked.seed), SkillBeliefs(asked.games[0].entrants), 0
    looks = RepeatedLooks(SURE, len(skills.names))
    for spec in scheduled(asked).matches():
        deal = int(spec.id.split("-")[1].split(".")[0])
        if deal != before and before and looks.due(spec.index) and not skills.undecided(looks.level()):
            return spec.index
        before = deal
        skills.add(simulated_record(spec, strengths, luck))
    raise AssertionError("the round-robin was too short")


@pytest.mark.parametrize(("bots", "seats", "gap"), [(6, 2, 0.4), (5, 3, 0.3), (6, 4, 0.3)])
def test_it_separates_bots_that_differ_and_saves_matches(bots: int, seats: int, gap: float) -> None:
    strengths = even(bots, gap)
    right = pairs = spent = plain = 0
    for seed in range(8):
        asked = plan(bots, seats, "ladder", seed=seed, until_separated=SURE)
        rounds, outcomes = play(asked, strengths)
        standing = outcomes["game"].standing
        right += sum(strengths[better] > strengths[worse] for better, worse in pairwise(standing))
        pairs += bots - 1
        spent += sum(map(len, rounds))
        plain += plain_round_robin(plan(bots, seats, deals=10**4, seed=seed), strengths)
        assert (
            f"told apart with 95%, repeated looks allowed for, after {sum(map(len, rounds)):,} matches"
            in outcomes["game"].note
        )
    assert right / pairs >= SURE
    assert spent < plain


def test_the_saving_that_is_claimed_is_near_the_true_one() -> None:
    claimed = true = 0
    for seed in range(8):
        _, outcomes = play(plan(6, 2, "ladder", seed=seed, until_separated=SURE), even(6, 0.4))
        claimed += int(outcomes["game"].note.split("taken about ")[1].split(", so")[0].replace(",", ""))
        true += plain_round_robin(plan(6, 2, deals=10**4, seed=seed), even(6, 0.4))
    assert 0.6 < claimed / true < 1.6


def test_the_close_ones_play_more_than_those_who_are_clear() -> None:
    strengths = dict(zip(names(6), (-6.0, -4.0, 0.0, 0.1, 4.0, 6.0), strict=True))
    rounds, _ = play(plan(6, 2, "ladder", deals=150), strengths)
    played = Counter(name for specs in rounds for spec in specs for name in spec.seats)
    assert min(played["bot02"], played["bot03"]) > 2 * max(played[name] for name in ("bot00", "bot01", "bot05"))


def test_equal_bots_end_at_the_most_matches_and_are_named() -> None:
    asked = plan(4, 4, "ladder", until_separated=0.9999, max_matches=403)
    rounds, outcomes = play(asked)
    assert sum(map(len, rounds)) == scheduled(asked).count() == 400
    assert "After 400 matches still not told apart with 99.99%" in outcomes["game"].note
    assert " and " in outcomes["game"].note


def test_without_a_probability_it_plays_a_round_for_each_deal() -> None:
    asked = plan(7, 3, "ladder", deals=5)
    rounds, outcomes = play(asked)
    assert [len(sets_of(specs)) for specs in rounds] == [3] * 5
    assert sum(map(len, rounds)) == scheduled(asked).count() == 45
    assert outcomes["game"].note == ""
    assert sorted(outcomes["game"].standing) == sorted(names(7))


def test_the_tables_of_a_round_may_be_asked_for() -> None:
    rounds, _ = play(plan(6, 3, "ladder", deals=3, tables=8))
    assert [len(sets_of(specs)) for specs in rounds] == [8] * 3


def test_every_set_has_a_deal_of_its_own_and_even_seats() -> None:
    rounds, _ = play(plan(7, 3, "ladder", deals=20), even(7, 0.2))
    every = [spec for specs in rounds for spec in specs]
    assert len({spec.seed for spec in every}) == len(sets_of(every))
    for name in names(7):
        assert spread(Counter(spec.seats.index(name) for spec in every if name in spec.seats), range(3)) == 0


def test_nobody_is_left_out_of_the_first_round() -> None:
    for bots in (4, 7, 9, 12):
        tables = most_telling(SkillBeliefs(names(bots)), 3, -(-bots // 3), Chance(1), "game", 1)
        assert len({name for table in tables for name in table}) == bots


def test_only_the_results_can_tell_how_long_it_goes_on() -> None:
    assert scheduled(plan(4, 2, "ladder", until_separated=0.9)).count() is None
    assert scheduled(plan(4, 2, "ladder", until_separated=0.9, max_matches=101)).count() == 100
    assert scheduled(plan(4, 2, "ladder", deals=10, max_matches=20)).count() == 20
    assert scheduled(plan(4, 2, "ladder", deals=10, max_matches=10**6)).count() == 40


@pytest.mark.parametrize("probability", [0.5, 1.0, 1.5, 95.0])
def test_probabilities_that_mean_nothing_are_refused(probability: float) -> None:
    with pytest.raises(UsageError, match=r"above 0.5 and below 1|from 0 to 1"):
        scheduled(plan(4, 2, "ladder", until_separated=probability))


def test_a_limit_below_one_duplicate_set_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 4 matches for one duplicate set; at most 3 are allowed"):
        scheduled(plan(4, 4, "ladder", max_matches=3))


def test_bots_that_have_not_played_are_not_told_apart_however_far_the_others_are() -> None:
    asked = plan(6, 2, "ladder", tables=1, until_separated=0.51)
    for seed in range(5):
        rounds, _ = play(replace(asked, seed=seed), even(6, 50))
        assert {name for specs in rounds for spec in specs for name in spec.seats} == set(names(6))


def test_equal_bots_are_seldom_told_apart_however_often_one_looks() -> None:
    stopped = 0
    for seed in range(60):
        rounds, _ = play(plan(2, 2, "ladder", seed=seed, until_separated=SURE, max_matches=600))
        stopped += sum(map(len, rounds)) < 600
    assert stopped <= 60 * 0.05 + 3 * (60 * 0.05 * 0.95) ** 0.5
