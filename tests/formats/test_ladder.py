from collections import Counter
from itertools import pairwise
from random import Random

import pytest

from harness.core.errors import UsageError
from harness.core.plan import Plan
from harness.core.records import GameRecord
from harness.core.rng import Chance
from harness.formats.ladder import MAX_BOTS, Knowledge, around, contenders, random_tables
from harness.ratings.anytime import AnytimeClaims, JointPosterior, PairSums
from harness.runs.scheduler import simulated_record
from tests.support.schedules import follow

from .support import even, game, names, of_games, plan, play, scheduled, sets_of, spread
from .worlds import World, drawn, kendall, ladder

SURE = 0.95


def newcomer(bots: int, seats: int, candidates: tuple[str, ...] = ("bot00",), **settings: object) -> Plan:
    deals = int(str(settings.pop("deals", 1)))
    return of_games((game(bots, seats),), deals, 1, "ladder", candidates, goal="newcomer", **settings)


def known(sets: dict[tuple[int, int], float], bots: int, each: int = 40) -> JointPosterior:
    """Beliefs after so many sets of each pair, of which the first won this share."""
    beliefs = JointPosterior(bots)
    for _ in range(10):
        beliefs.fit({pair: PairSums(each, each * share, each * share) for pair, share in sets.items()}, 2)
    return beliefs


# What is played.


def test_without_until_separated_a_ladder_plays_one_round_for_each_deal() -> None:
    for goal in ("best", "order"):
        asked = plan(7, 3, "ladder", deals=5, goal=goal)
        rounds, outcomes = play(asked)
        assert [len(sets_of(specs)) for specs in rounds] == [3] * 5
        assert sum(map(len, rounds)) == scheduled(asked).count() == 45
        assert "at a level of 95% after 45 matches" in outcomes["game"].note
        assert sorted(outcomes["game"].standing) == sorted(names(7))


def test_the_table_lists_separated_and_open_pairs_of_each_bot() -> None:
    asked = plan(5, 2, "ladder", deals=60, goal="best")
    luck, records = Chance(1), []

    def results(specs):
        records.extend(simulated_record(spec, even(5, 0.8), luck) for spec in specs)
        return records[-len(specs) :]

    going = follow(scheduled(asked), results)
    with pytest.raises(StopIteration) as end:
        while True:
            next(going)
    ended, whole = end.value.value["game"], scheduled(asked).outcomes(records)["game"]
    assert whole.note == ended.note
    [table] = whole.tables
    told = AnytimeClaims.for_plan(asked.games[0], scheduled(asked).plan)
    for record in records:
        told.add(record)
    claims = told.claims()
    assert claims
    for line in table.rows:
        others = {*line["better than"], *line["worse than"], *line["not significant"]}
        assert others == set(names(5)) - {line["bot"]}
        assert {(line["bot"], worse) for worse in line["better than"]} <= claims
        assert line["may be best"] == (line["bot"] in told.contenders())
    half = scheduled(asked).outcomes(records[: len(records) // 2])["game"]
    assert half.note == ""
    assert f"after {len(records) // 2} matches" in half.open


def test_the_number_of_tables_of_a_round_can_be_set() -> None:
    for goal in ("best", "order"):
        rounds, _ = play(plan(6, 3, "ladder", deals=3, tables=8, goal=goal))
        assert [len(sets_of(specs)) for specs in rounds] == [8] * 3


def test_every_set_has_its_own_deal_and_even_seats() -> None:
    for asked in (*(plan(7, 3, "ladder", deals=12, goal=goal) for goal in ("best", "order")), newcomer(7, 3, deals=12)):
        rounds, _ = play(asked, even(7, 0.2))
        every = [spec for specs in rounds for spec in specs]
        assert len({spec.seed for spec in every}) == len(sets_of(every))
        for name in names(7):
            assert spread(Counter(spec.seats.index(name) for spec in every if name in spec.seats), range(3)) == 0


def test_the_count_is_unknown_or_limited_with_until_separated() -> None:
    assert scheduled(plan(4, 2, "ladder", until_separated=0.9)).count() is None
    assert scheduled(plan(4, 2, "ladder", until_separated=0.9, max_matches=101)).count() == 100
    assert scheduled(plan(4, 2, "ladder", deals=10, max_matches=20)).count() == 20
    assert scheduled(plan(4, 2, "ladder", deals=10, max_matches=10**6)).count() == 40


@pytest.mark.parametrize("probability", [0.5, 1.0, 1.5, 95.0])
def test_invalid_probabilities_are_refused(probability: float) -> None:
    with pytest.raises(UsageError, match=r"above 0.5 and below 1|from 0 to 1"):
        scheduled(plan(4, 2, "ladder", until_separated=probability))


def test_a_limit_below_one_duplicate_set_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 4 matches for one duplicate set; at most 3 are allowed"):
        scheduled(plan(4, 4, "ladder", max_matches=3))


def test_candidates_and_the_goal_newcomer_go_together() -> None:
    with pytest.raises(UsageError, match="goal newcomer needs one or more candidates"):
        scheduled(plan(4, 2, "ladder", goal="newcomer"))
    with pytest.raises(UsageError, match="for the goal newcomer only, not for order"):
        scheduled(of_games((game(4, 2),), 1, 1, "ladder", ("bot00",)))
    with pytest.raises(UsageError, match="Choose from: best, newcomer, order"):
        scheduled(plan(4, 2, "ladder", goal="first"))


def test_a_field_that_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="201 bots are too many for a ladder of game; 200 are the most"):
        scheduled(plan(MAX_BOTS + 1, 2, "ladder"))


# Who sits where.


def test_for_the_goal_order_random_tables_mix_all_bots_of_a_group() -> None:
    met: Counter[frozenset[int]] = Counter()
    luck = Random(1)
    for _ in range(1000):
        for table in random_tables([[0, 1, 2, 3], [4, 5]], 2, 3, luck):
            met[frozenset(table)] += 1
    assert met[frozenset((4, 5))] == 1000
    assert len(met) == 7
    assert all(270 < met[frozenset(pair)] < 400 for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)))


def test_for_the_goal_best_mostly_contenders_play() -> None:
    beliefs = known({(0, 1): 0.5, (0, 2): 0.9, (1, 2): 0.9, (0, 3): 0.95, (1, 3): 0.95, (2, 3): 0.6}, 4)
    sat = Counter(bot for table in contenders(beliefs, 2, 200, Random(1), range(4), [[0] * 4] * 4) for bot in table)
    assert sat[0] + sat[1] > 390


def test_excluded_bots_only_fill_tables_and_are_met_evenly() -> None:
    tables = contenders(JointPosterior(6), 3, 8, Random(1), [4], [[0] * 6 for _ in range(6)])
    assert all(table[0] == 4 for table in tables)
    assert spread(Counter(bot for table in tables for bot in table[1:]), (0, 1, 2, 3, 5)) <= 1


def test_an_unlucky_bot_is_tried_again() -> None:
    """The best of six loses its first two sets by bad luck."""
    found = 0
    for seed in range(10):
        world, luck = World([0.8, 0.0, 0.0, 0.0, 0.0, 0.0], 2), Random(seed)
        knowledge = Knowledge(game(6, 2), plan(6, 2, "ladder", goal="best", until_separated=0))
        deal = 0
        for other in world.names[1:3]:
            deal += 1
            knowledge.add_match(("bot00", other), (2, 1), f"game-0.{deal}", deal, 0)
            knowledge.add_match((other, "bot00"), (1, 2), f"game-0.{deal}", deal, 0)
        knowledge.tables(1, luck)
        assert knowledge.order()[-1] == "bot00"
        for round_ in range(1, 150):
            for table in knowledge.tables(3, luck):
                deal += 1
                for seats, ranks in world.play(table, luck):
                    knowledge.add_match(seats, ranks, f"game-{round_}.{deal}", deal, round_)
        knowledge.tables(1, luck)
        found += knowledge.order()[0] == "bot00"
    assert found >= 7


def test_a_newcomer_plays_at_every_table_mostly_with_bots_of_similar_strength() -> None:
    pairs = {(0, 1): 0.05, (0, 2): 0.1, (0, 3): 0.5, (0, 4): 0.9, (0, 5): 0.95}
    tables = around(known(pairs, 6), 2, 100, Random(1), [0], set())
    assert {table[0] for table in tables} == {0}
    assert Counter(table[1] for table in tables)[3] > 80
    settled = around(known(pairs, 6), 2, 100, Random(1), [0], {frozenset((0, 3))})
    assert Counter(table[1] for table in settled)[3] == 0


def test_several_newcomers_take_turns() -> None:
    rounds, outcomes = play(newcomer(6, 3, ("bot00", "bot05"), deals=10))
    sets = [table for specs in rounds for table in sets_of(specs).values()]
    assert all(table & {"bot00", "bot05"} for table in sets)
    assert sum("bot00" in table for table in sets) >= 10 <= sum("bot05" in table for table in sets)
    assert "bot00 has place 1 to 6 of 6" in outcomes["game"].note
    assert "bot05 has place 1 to 6 of 6" in outcomes["game"].note


# What it says.


def test_a_ladder_for_the_order_ends_when_neighbours_are_separated() -> None:
    asked = plan(4, 2, "ladder", until_separated=SURE)
    rounds, outcomes = play(asked, even(4, 1.5))
    matches = sum(map(len, rounds))
    assert outcomes["game"].standing == names(4)[::-1]
    assert outcomes["game"].note == (
        f"The order is known after {matches:,} matches: each bot is significantly better than the next, "
        "at a level of 95%."
    )


def test_a_ladder_for_the_best_ends_when_the_best_bot_is_known() -> None:
    rounds, outcomes = play(plan(5, 2, "ladder", goal="best", until_separated=SURE), even(5, 1.5))
    assert outcomes["game"].standing[0] == "bot04"
    assert outcomes["game"].note == (
        "bot04 is the best bot: it is significantly better than all others at a level of 95% "
        f"after {sum(map(len, rounds)):,} matches."
    )


def test_a_ladder_for_a_newcomer_ends_when_its_place_is_known() -> None:
    asked = newcomer(5, 2, ("bot02",), until_separated=SURE)
    rounds, outcomes = play(asked, even(5, 1.5))
    assert outcomes["game"].note == f"bot02 has place 3 of 5 at a level of 95% after {sum(map(len, rounds)):,} matches."


@pytest.mark.parametrize("goal", ["best", "order"])
def test_a_ladder_of_equal_bots_ends_at_max_matches_and_names_them(goal: str) -> None:
    asked = plan(4, 4, "ladder", until_separated=0.9999, max_matches=403, goal=goal)
    rounds, outcomes = play(asked)
    assert sum(map(len, rounds)) == scheduled(asked).count() == 400
    note, standing = outcomes["game"].note, outcomes["game"].standing
    if goal == "best":
        listed = f"{', '.join(standing[:-1])} or {standing[-1]}"
        assert note == f"The best bot is not known at a level of 99.99% after 400 matches: it may be {listed}."
    else:
        assert note.startswith("Neighbours without a significant difference at a level of 99.99% after 400 matches: ")
        assert " and ".join(standing[:2]) in note


def test_for_two_bots_the_goals_best_and_order_give_the_same_result() -> None:
    for goal in ("best", "order"):
        _, outcomes = play(plan(2, 2, "ladder", until_separated=SURE, goal=goal), even(2, 1.0))
        assert outcomes["game"].standing == ("bot01", "bot00")
        assert "The order is known" in outcomes["game"].note


# Whether it holds.

WORLDS = {
    "equal": ((0,) * 6, {}),
    "tastes": ((0,) * 6, {"taste": 2.0}),
    "spreads": ((0,) * 6, {"spreads": (1.0, 3.0, 1.0, 3.0, 0.3, 1.0)}),
    "boom or bust": ((0,) * 6, {"boom": (0, 3)}),
    "two levels": ((0.5, 0.5, 0.5, 0, 0, 0), {}),
    "one better": ((0.3, 0, 0, 0, 0, 0), {}),
}


def false_claims(kind: str, goal: str, seats: int, matches: int, seeds: range) -> int:
    """Runs with a wrong claim; every second one stops as soon as its goal is reached."""
    skills, more = WORLDS[kind]
    world = World(skills, seats, **more)  # type: ignore[arg-type]  # what each world is like
    wrong = 0
    for seed in seeds:
        played = ladder(world, goal, matches, seed, SURE if seed % 2 else 0.0)
        wrong += bool(world.wrong(played.claims))
    return wrong


def most(runs: int) -> float:
    """Wrong runs at 5%, and three deviations."""
    return 0.05 * runs + 3 * (0.05 * 0.95 * runs) ** 0.5


@pytest.mark.parametrize("seats", [2, 4])
def test_equal_bots_are_rarely_separated(seats: int) -> None:
    for kind in ("equal", "boom or bust"):
        wrong = sum(false_claims(kind, goal, seats, 180, range(8)) for goal in ("best", "order", "newcomer"))
        assert wrong <= most(24)


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["best", "order", "newcomer"])
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("kind", WORLDS)
def test_claims_are_wrong_in_at_most_5_of_100_runs(kind: str, seats: int, goal: str) -> None:
    for matches, runs in ((180, 60), (500, 60), (1500, 12)):
        assert false_claims(kind, goal, seats, matches, range(runs)) <= most(runs)


@pytest.mark.parametrize("runs", [4, pytest.param(60, marks=pytest.mark.slow)], ids=["short", "full"])
def test_the_best_bot_is_separated_in_fewer_matches_than_with_random_tables(runs: int) -> None:
    spent = {True: 0, False: 0}
    for seed in range(runs):
        world = World([0.6, 0.3, 0.0, -0.3, -0.6, -0.9], 2)
        for plain in spent:
            spent[plain] += ladder(world, "best", 2000, seed, SURE, plain).matches
    assert spent[False] < 0.75 * spent[True]


@pytest.mark.parametrize("runs", [4, pytest.param(100, marks=pytest.mark.slow)], ids=["short", "full"])
def test_no_bot_is_called_the_best_if_every_bot_loses_to_another(runs: int) -> None:
    ended = [ladder(World([0.0] * 3, 2, cycle=0.3), "best", 1000, seed, SURE) for seed in range(runs)]
    assert sum(played.knowledge.claims.best_bot(SURE) is not None for played in ended) <= 0.05 * runs
    assert any("No bot is the best" in played.knowledge.sentence(played.matches) for played in ended)


@pytest.mark.slow
def test_each_goal_is_reached_at_least_as_well_as_by_a_round_robin_of_the_same_size() -> None:
    """Figures of docs/formats.md: the best is found more often, newcomers are placed better, orders are as good."""
    found, tau, error = Counter[bool](), Counter[bool](), Counter[bool]()
    for seed in range(100):
        for plain in (True, False):
            world = drawn(8, 0.3, 2, seed)
            best = world.names[max(range(8), key=world.skills.__getitem__)]
            found[plain] += ladder(world, "best", 560, seed, plain=plain).knowledge.order()[0] == best
            tau[plain] += kendall(ladder(world, "order", 560, seed, plain=plain).knowledge.order(), world)
            world = drawn(8, 0.4, 2, seed)
            place = sum(skill > world.skills[0] for skill in world.skills)
            order = ladder(world, "newcomer", 560, seed, plain=plain).knowledge.order()
            error[plain] += abs(order.index(world.names[0]) - place)
    assert found[False] > found[True]
    assert abs(tau[False] - tau[True]) < 100 * 0.05
    assert error[False] < error[True]


def test_the_leaderboard_makes_the_same_claims_from_the_records_alone() -> None:
    for asked in (
        plan(5, 2, "ladder", deals=40),
        plan(5, 3, "ladder", deals=20, goal="best"),
        newcomer(5, 2, deals=40),
    ):
        records: list[GameRecord] = []
        play(asked, even(5, 0.8), lambda record, into=records: into.append(record) or record)  # type: ignore[misc]
        settled = scheduled(asked).plan
        knowledge, later = Knowledge(settled.games[0], settled), AnytimeClaims.for_plan(settled.games[0], settled)
        round_ = ""
        for record in records:
            if record.set.rpartition(".")[0] != round_:
                knowledge.order()  # the ladder looks after every round, the table once
                round_ = record.set.rpartition(".")[0]
            knowledge.add(record)
            later.add(record)
        assert later.claims() == knowledge.claims.claims() != set()


def test_exactly_the_unequal_bots_are_separated() -> None:
    world = World([0.0, 0.0, 1.5, 3.0], 2)
    played = ladder(world, "order", 600, 1)
    assert played.claims == {(better, worse) for worse, better in [*pairwise(world.names)][1:]} | {
        ("bot02", "bot00"),
        ("bot03", "bot00"),
        ("bot03", "bot01"),
    }
