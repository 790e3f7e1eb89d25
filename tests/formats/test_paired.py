"""Candidates against one field on the same deals: what is claimed of them is right as often as it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import inf
from random import Random

import pytest

from harness.core.records import GameRecord, ranks_of
from harness.formats.gauntlet import PairedResults, spread_within

Noise = Callable[[Random], float]
NOISES: dict[str, Noise] = {
    "normal": lambda rng: rng.gauss(0, 1),
    "heavy": lambda rng: rng.gauss(0, 1) / max(0.05, rng.random()) ** 0.5,
    "boom or bust": lambda rng: 4.0 if rng.random() < 0.2 else rng.gauss(-1, 0.2),
    "many ties": lambda rng: float(rng.choice((0, 0, 0, 1))),
}


def gauntlet(
    rng: Random, field: int, seats: int, deals: int, strengths: Mapping[str, float], noise: Noise, shared: float = 1.0
) -> PairedResults:
    """Candidates of these strengths at all tables of a field; `shared` is the luck of a deal that comes to whoever sits
    in the candidate's place, beside that of each match."""
    results = PairedResults(list(strengths), seats)
    others = [f"field{number}" for number in range(field)]
    level = {name: 0.6 * (number - field / 2) for number, name in enumerate(others)}
    seed = 0
    for _ in range(deals):
        for table in combinations(others, seats - 1):
            seed += 1
            luck = {(turn, name): shared * noise(rng) for turn in range(seats) for name in ("?", *table)}
            for candidate, strength in strengths.items():
                for turn in range(seats):
                    bots = [candidate, *table]
                    at = bots[turn:] + bots[:turn]
                    known = level | {candidate: strength}
                    lucky = [luck[turn, "?" if name == candidate else name] for name in at]
                    scores = tuple(
                        round(1000 * (known[name] + its + noise(rng))) for name, its in zip(at, lucky, strict=True)
                    )
                    results.add(record(seed, turn, tuple(at), scores))
    return results


def record(seed: int, turn: int, seats: tuple[str, ...], scores: tuple[int, ...]) -> GameRecord:
    return GameRecord(
        id=f"g-{seed}.{turn}", index=0, set=f"g-{seed}", game="g", rules="", options={}, seed=seed, seats=seats,
        scores=scores, ranks=ranks_of(scores), ending="", actions=(), decisions=(0,) * len(seats),
    )  # fmt: skip


CASES = [
    # field, seats, deals, candidates
    (3, 2, 10, 3),
    (3, 3, 4, 3),
    (4, 4, 10, 2),
    (4, 3, 2, 4),
    (1, 2, 20, 2),
    (5, 4, 2, 5),
    (6, 2, 1, 3),
]


def measured(case: tuple[int, int, int, int], noise: str, runs: int) -> tuple[float, float]:
    """The share of runs with a wrong claim, and how often the interval of a difference holds the truth: nought."""
    field, seats, deals, candidates = case
    wrong = held = seen = 0
    for seed in range(runs):
        rng = Random(f"paired {case} {noise} {seed}")
        equal = {f"c{number}": 0.3 for number in range(candidates)}
        pairs = gauntlet(rng, field, seats, deals, equal, NOISES[noise]).differences()
        wrong += any(pair.significant for pair in pairs)
        held += sum(bool(pair.ahead and pair.ahead.low <= 0 <= pair.ahead.high) for pair in pairs)
        seen += len(pairs)
    return wrong / runs, held / seen


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_equal_candidates_are_separated_in_at_most_5_of_100_runs(case: tuple[int, int, int, int], noise: str) -> None:
    wrong, held = measured(case, noise, 400)
    assert wrong <= 0.05 + 0.03  # and what luck may add to 5% of 400
    assert held >= 0.92


def test_equal_candidates_are_rarely_separated() -> None:
    wrong, held = measured((3, 2, 10, 3), "normal", 60)
    assert wrong <= 0.1
    assert held >= 0.92


def test_equal_candidates_with_different_variance_are_rarely_separated() -> None:
    """Three times the spread of the other, and both finish ahead of exactly half of an even field."""
    wrong = 0
    for seed in range(60):
        rng = Random(f"unlike {seed}")
        results = PairedResults(["calm", "wild"], 2)
        for deal in range(20):
            for name, spread in (("calm", 1.0), ("wild", 3.0)):
                for turn in range(2):
                    seats = (name, "field") if turn == 0 else ("field", name)
                    mine, other = round(1000 * rng.gauss(0, spread)), round(1000 * rng.gauss(0, 1))
                    results.add(record(deal, turn, seats, (mine, other) if turn == 0 else (other, mine)))
        wrong += any(pair.significant for pair in results.differences())
    assert wrong <= 7


def test_a_better_candidate_is_found_and_the_interval_covers_the_true_difference() -> None:
    strengths = {"good": 0.8, "fair": 0.3}
    truth = gauntlet(Random("truth"), 3, 2, 1500, strengths, NOISES["normal"]).differences()[0]
    assert truth.ahead
    told = held = 0
    for seed in range(60):
        [pair] = gauntlet(Random(f"better {seed}"), 3, 2, 15, strengths, NOISES["normal"]).differences()
        told += pair.significant and pair.better == "good"
        assert pair.ahead
        sign = 1 if pair.better == "good" else -1
        held += abs(sign * pair.ahead.value - truth.ahead.value) <= pair.ahead.reach
    assert told >= 15
    assert held >= 54


def test_pairing_gains_precision_only_with_shared_luck() -> None:
    strengths = {"one": 0.3, "two": 0.3}
    much = gauntlet(Random("much"), 3, 2, 200, strengths, NOISES["normal"], shared=3.0).differences()[0].worth
    none = gauntlet(Random("none"), 3, 2, 200, strengths, NOISES["normal"], shared=0.0).differences()[0].worth
    assert much
    assert none
    assert much > 2
    assert 0.8 < none < 1.25


def test_a_deal_counts_once_every_candidate_has_played_it_in_every_seat() -> None:
    results = PairedResults(["a", "b"], 2)
    for name in "ab":
        for turn, seats in enumerate(((name, "x"), ("x", name))):
            assert results.sets == 0
            results.add(record(1, turn, seats, (1, 0)))
    assert results.sets == 1
    results.add(record(2, 0, ("x", "y"), (1, 0)))  # none of the candidates
    results.add(record(3, 0, ("a", "x"), (1, 0)))
    assert results.sets == 1
    [pair] = results.differences()
    assert pair.ahead == (0.0, -inf, inf)
    assert not pair.significant


def test_differences_between_repeated_tables_do_not_count_as_variance() -> None:
    apart = spread_within([10.0, 11.0, 0.0, 1.0], [0, 0, 1, 1])
    assert apart.variance == pytest.approx(2.0)
    together = spread_within([10.0, 11.0, 0.0, 1.0], [0, 1, 2, 3])
    assert together.variance > 100
    assert together.freedom == pytest.approx(3)
    one_left = spread_within([10.0, 11.0, 5.0], [0, 0, 1])
    assert one_left.sets == 3
    assert one_left.freedom == pytest.approx(2)


def test_two_deals_with_the_same_difference_are_not_significant() -> None:
    results = PairedResults(["a", "b"], 2)
    for deal in range(2):
        for name, scores in (("a", (1, 0)), ("b", (0, 1))):
            results.add(record(deal, 0, (name, "x"), scores))
            results.add(record(deal, 1, ("x", name), scores[::-1]))
    [pair] = results.differences()
    assert pair.ahead
    assert pair.ahead.value == 1
    assert pair.ahead.low < 0
    assert not pair.significant
    assert pair.worth is None


def test_a_candidate_is_compared_with_each_opponent() -> None:
    results = PairedResults(["a"], 3)
    for deal in range(3):
        for turn in range(3):
            bots = ["a", "weak", "strong"]
            seats = tuple(bots[turn:] + bots[:turn])
            scores = {"a": 5, "weak": 2, "strong": 9}
            results.add(record(deal, turn, seats, tuple(scores[name] for name in seats)))
    hard, easy = results.against("a")
    assert (hard.bot, easy.bot) == ("strong", "weak")
    assert hard.matches == 9
    assert hard.ahead
    assert easy.score
    assert hard.ahead.value == 0
    assert easy.score.value == 3
    [line] = results.lines()
    assert line.ahead
    assert line.ahead.value == 0.5
