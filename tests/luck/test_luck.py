from __future__ import annotations

from math import fsum, sqrt
from random import Random
from statistics import fmean, stdev
from typing import NamedTuple

import pytest

from harness.comparison import sampling_units
from harness.comparison.sampling_units import MAX_LUCK, bounded_score
from harness.core.records import MatchSpec, shares_ahead
from harness.core.rng import Chance
from harness.luck.adjustment import DEAL, AlternativeChance, ExpectedShares, RecordedChance, luck_by_phase
from harness.match.referee import play
from harness.plugins.registry import load
from tests.luck import top_card
from tests.luck.top_card import BadTopCard, Script, TopCard

EVEN = (0.5, 0.5)


class Whim:
    """A value function without rhyme or reason: a number for each state and seat."""

    def shares(self, state, expected):
        rng = Random(repr([state.view(seat) for seat in range(state.players)]))
        return [rng.random() for _ in range(state.players)]


class Cheat:
    """Looks at what nobody has seen."""

    def shares(self, state, expected):
        hidden = Random(repr([getattr(state, name, None) for name in ("pile", "piles", "event_pile", "hands")]))
        return [hidden.random() * (seat + 1) for seat in range(state.players)]


class Huge:
    """Believes in scores, beyond measure, and in the first seat."""

    def shares(self, state, expected):
        return [1e6 * score + 1e9 * (seat == 0) for seat, score in enumerate(state.scores())]


class Sensible:
    """The order of the scores as things stand."""

    def shares(self, state, expected):
        scores = state.scores()
        return [sum([mine > other for other in scores]) / (len(scores) - 1) for mine in scores]


JUDGES = [Whim(), Cheat(), Huge(), Sensible()]


def named(judge):
    return type(judge).__name__


# --- a game whose luck can be gone through ------------------------------------------------------------


@pytest.mark.parametrize("judge", JUDGES, ids=named)
def test_adjustments_sum_to_zero_over_all_random_outcomes(judge, monkeypatch):
    script, game, taken = Script(monkeypatch), TopCard.configure(), {}
    for _ in script.all():
        for phase, luck in luck_by_phase(game, top_card.play(game, 1), judge, EVEN, 1).items():
            taken.setdefault(phase, []).append(luck)
    assert set(taken) == {DEAL, "bet", "take"}
    for lucks in taken.values():
        for seat in (0, 1):
            mine = [luck[seat] for luck in lucks]
            assert abs(fsum(mine)) <= 1e-12 * max(map(abs, mine)) * len(mine)
    assert any(luck[0] for lucks in taken.values() for luck in lucks)


@pytest.mark.parametrize(("kind", "orders", "sound"), [(TopCard, 2, True), (BadTopCard, 6, False)])
def test_redealing_cards_that_a_seat_has_seen_biases_the_adjustment(kind, orders, sound, monkeypatch):
    script, game, taken = Script(monkeypatch, range(orders)), kind.configure(), []
    for _ in script.all():
        record = top_card.play(game, 1)
        if record.actions[0] == 0:  # it bet on its card: what comes now is luck, the card is not
            taken.append(luck_by_phase(game, record, Sensible(), EVEN, 1)["bet"][0])
    assert (abs(fmean(taken)) < 1e-12) is sound


@pytest.mark.parametrize("judge", [Whim(), Huge(), Sensible()], ids=named)
def test_bounded_values_have_the_same_mean_as_the_results(judge, monkeypatch):
    monkeypatch.setattr(sampling_units, "VALUE_STEPS", 10**12)
    script, game, values, results = Script(monkeypatch), TopCard.configure(), [], []
    for _ in script.all():
        record = top_card.play(game, 1)
        values.append(bounded_score(game, record, judge, EVEN, (0, 1), alternatives=1))
        results.append(shares_ahead(record.ranks)[0])
    assert 0 <= min(values) < max(values) <= 1
    assert fmean(values) == pytest.approx((fmean(results) + MAX_LUCK) / (1 + 2 * MAX_LUCK), abs=1e-9)


def test_past_random_numbers_are_not_drawn_again():
    played = RecordedChance(3)
    first = played.number("dice", 1)
    other = AlternativeChance(4, played, "event", 0)
    assert other.number("dice", 1) != first
    played.mark_past()
    assert other.number("dice", 1) == first
    assert other.number("dice", 2) not in (
        Chance(3).number("dice", 2),
        AlternativeChance(4, played, "event", 1).number("dice", 2),
    )


# --- the games ------------------------------------------------------------------------------------------


class Table(NamedTuple):
    game: str
    bots: tuple[str, ...]


TABLES = [
    Table("el-paso", ("outlaw", "skittish:stars=3", "diehard")),
    Table("x-pasch", ("tycoon", "raider", "founder")),
    Table("gnadenlos", ("miser", "broker", "debtor")),
]


def matches(table, count, first=0):
    """Matches of these bots, in seats that change, each with a deal of its own."""
    registry = load()
    game = registry.game(table.game).configure()
    entrants = registry.entrants(table.bots)
    for number in range(first, first + count):
        turn = number % len(entrants)
        seats = entrants[turn:] + entrants[:turn]
        names = [entrant.name for entrant in seats]
        spec = MatchSpec.single(f"luck-{number}", table.game, game.settings, 5_000 + number, names, number)
        yield game, play(spec, game, seats)


def of_bot(record, name, values):
    return values[record.seats.index(name)]


def nought_on_average(values):
    """Whether the mean of these is nought as far as their spread tells; beyond four errors it would not be chance."""
    return abs(fmean(values)) <= 4 * stdev(values) / sqrt(len(values)) + 1e-12


class Bench:
    """All judges at once: the match is played again only once for all of them."""

    def shares(self, state, expected):
        return [share for judge in JUDGES for share in judge.shares(state, expected)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.game)
def test_luck_is_zero_on_average_for_any_value_function(table):
    found = {}
    for game, record in matches(table, 25):
        for phase, luck in luck_by_phase(game, record, Bench(), [0.5] * 3, 1).items():
            for number, judge in enumerate(JUDGES):
                shares = luck[3 * number : 3 * number + 3]
                found.setdefault((named(judge), phase), []).append(of_bot(record, table.bots[0], shares))
    assert {judge for (judge, _), lucks in found.items() if any(lucks)} >= {"Whim", "Cheat"}
    assert all(nought_on_average(lucks) for lucks in found.values() if len(lucks) > 10)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.game)
def test_the_luck_of_a_match_is_repeatable(table):
    [(game, record)] = matches(table, 1)
    once, again = (luck_by_phase(game, record, Whim(), [0.5] * 3, 2) for _ in range(2))
    assert once == again


# --- what was to be expected ----------------------------------------------------------------------------


def test_expected_shares_use_only_other_deals():
    book = ExpectedShares()
    for seed in (1, 2, 3):
        book.add_match(seed, ("a", "b", "c"), (1, 2, 3))
    before = book.shares(9, ("a", "b", "c"))
    assert before[0] > before[1] > before[2]
    assert sum(before) == pytest.approx(1.5)
    for _ in range(50):
        book.add_match(9, ("a", "b", "c"), (3, 2, 1))
    assert book.shares(9, ("a", "b", "c")) == pytest.approx(before)
    assert book.shares(8, ("a", "b", "c")) != pytest.approx(before)


def test_unknown_bots_and_a_bot_against_itself_have_even_expected_shares():
    book = ExpectedShares()
    assert book.shares(1, ("a", "b")) == [0.5, 0.5]
    book.add_match(1, ("a", "a"), (1, 2))
    assert book.shares(2, ("a", "a")) == [0.5, 0.5]
    assert book.shares(2, ("a",)) == [0.0]
