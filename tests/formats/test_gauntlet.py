from collections import Counter
from itertools import groupby
from math import comb
from typing import Any

import pytest
from msgspec.structs import replace

from harness import Chance
from harness.core.errors import UnknownName, UsageError
from harness.core.plan import GamePlan, Plan
from harness.core.records import GameRecord, MatchSpec, ranks_of
from harness.runs.scheduler import simulated_record
from tests.support.cli import arena

from .support import game, names, plan, scheduled, spread


@pytest.mark.parametrize("seats", range(2, 7))
def test_every_candidate_plays_every_table_of_the_field(seats: int) -> None:
    chosen = names(2)
    asked = plan(seats + 3, seats, "gauntlet", deals=2, candidates=chosen)
    specs = list(scheduled(asked).matches())
    assert len(specs) == scheduled(asked).count() == 2 * 2 * comb(seats + 1, seats - 1) * seats
    assert all(len(set(spec.seats) & set(chosen)) == 1 for spec in specs)
    assert spread(Counter(name for spec in specs for name in spec.seats), chosen) == 0
    for seat in range(seats):
        assert spread(Counter(spec.seats[seat] for spec in specs), chosen) == 0
        assert spread(Counter(spec.seats[seat] for spec in specs), names(seats + 3)[2:]) == 0


def test_all_candidates_get_the_same_seats_and_deals() -> None:
    chosen = ("bot01", "bot03")
    specs = scheduled(plan(7, 4, "gauntlet", deals=2, candidates=chosen)).matches()

    def places(candidate: str, specs: list[MatchSpec]) -> list[object]:
        return [
            (spec.seed, tuple("?" if name == candidate else name for name in spec.seats))
            for spec in specs
            if candidate in spec.seats
        ]

    every = list(specs)
    assert places(chosen[0], every) == places(chosen[1], every)


def test_a_large_field_is_sampled_in_balance() -> None:
    asked = plan(41, 4, "gauntlet", deals=2, candidates=("bot00",), tables=30)
    specs = list(scheduled(asked).matches())
    assert len(specs) == scheduled(asked).count() == 2 * 30 * 4
    assert spread(Counter(name for spec in specs for name in spec.seats), names(41)[1:]) <= 4  # one set of four


def test_a_gauntlet_needs_an_entered_candidate_and_enough_other_bots() -> None:
    with pytest.raises(UsageError, match="one or more candidates"):
        scheduled(plan(4, 2, "gauntlet"))
    with pytest.raises(UnknownName, match="Did you mean 'bot01'"):
        scheduled(plan(4, 2, "gauntlet", candidates=("bot1",)))
    with pytest.raises(UsageError, match="needs 3 other bots besides the candidates; there are 2"):
        scheduled(plan(4, 4, "gauntlet", candidates=names(2)))
    others = GamePlan("others", "1", {}, 2, ("x", "y"))
    with pytest.raises(UsageError, match=r"None of the candidates .* plays others"):
        scheduled(Plan((game(4, 2), others), 1, 1, "gauntlet", candidates=("bot01",)))


def test_matches_are_ordered_by_deal() -> None:
    specs = scheduled(plan(6, 3, "gauntlet", deals=3, candidates=names(2))).matches()
    deals = [Chance(1).derive("deal", "game", deal, table) for deal in (1, 2, 3) for table in range(1, 7)]
    assert [seed for seed, _ in groupby(spec.seed for spec in specs)] == deals


def recorded(asked: Plan, strengths: dict[str, float]) -> list[GameRecord]:
    """Records in which luck belongs to the deal and the seat, and not to the bot that sits there."""
    records = []
    for spec in scheduled(asked).matches():
        rng = Chance(spec.seed).rng("rotation", spec.id.rsplit(".", 1)[1])
        scores = tuple(round(1000 * (strengths.get(name, 0.0) + rng.gauss(0, 1))) for name in spec.seats)
        made = simulated_record(spec, strengths, Chance(1))
        records.append(replace(made, scores=scores, ranks=ranks_of(scores)))
    return records


def test_candidates_are_compared_deal_by_deal() -> None:
    asked = plan(6, 3, "gauntlet", deals=5, candidates=names(3))
    records = recorded(asked, {"bot01": 0.6, "bot02": 0.6})
    outcome = scheduled(asked).outcomes(records)["game"]
    field, pairs = outcome.tables
    assert {line["candidate"] for line in field.rows} == set(names(3))
    found: dict[Any, Any] = {(line["candidate"], line["other"]): line for line in pairs.rows}
    assert len(found) == 3
    # The same deals and the same strength: nothing is left between these two, and the weaker one is found out.
    twins = found.get(("bot01", "bot02")) or found["bot02", "bot01"]
    assert twins["ahead by"] == 0
    assert twins["significant"] is False
    for twin in ("bot01", "bot02"):
        assert found[twin, "bot00"]["significant"] is True
        assert found[twin, "bot00"]["pairing"] > 1.5
    assert outcome.note in (f"{twin} leads; it does significantly better than bot00." for twin in ("bot01", "bot02"))
    assert outcome.open == ""


def test_a_single_candidate_is_shown_against_each_opponent() -> None:
    asked = plan(5, 3, "gauntlet", deals=4, candidates=("bot02",))
    outcome = scheduled(asked).outcomes(recorded(asked, {"bot02": 0.5, "bot04": 4.0}))["game"]
    field, opponents = outcome.tables
    [line] = field.rows
    assert line["matches"] == scheduled(asked).count()
    assert opponents.rows[0]["opponent"] == "bot04", "the hardest comes first"
    assert {one["opponent"] for one in opponents.rows} == {"bot00", "bot01", "bot03", "bot04"}
    assert outcome.note.startswith("bot02 finishes ahead of ")


def test_the_note_names_the_better_of_two_candidates() -> None:
    asked = plan(4, 2, "gauntlet", deals=30, candidates=names(2))
    outcome = scheduled(asked).outcomes(recorded(asked, {"bot01": 1.5}))["game"]
    assert outcome.note.startswith(
        "bot01 does significantly better against this field than bot00: it finishes ahead of "
    )
    even = scheduled(asked).outcomes(recorded(asked, {}))["game"]
    assert even.note == "No difference between candidates is significant."


def test_with_many_candidates_text_shows_some_pairs_and_json_shows_all() -> None:
    asked = plan(16, 2, "gauntlet", deals=2, candidates=names(14))
    _, pairs = scheduled(asked).outcomes(recorded(asked, {}))["game"].tables
    assert len(pairs.rows) == 14 * 13 / 2
    assert len(pairs.cells) == 13 + 12
    assert pairs.notes == ["25 of 91 pairs: each with the best and with the next. The JSON has all."]


def test_the_differences_come_before_the_leaderboard_and_nothing_contradicts_them() -> None:
    asked = ("--game", "el-paso", "--players", 2, "--deals", 6, "--seed", 1, "--workers", 0)
    bots = ("--candidate", "outlaw", "--candidate", "skittish")
    played = arena("tournament", *asked, *bots, "--format", "gauntlet", "--name", "g").stdout
    for text in (played, arena("leaderboard", "g").stdout):
        assert text.index("differences between candidates") < text.index("place")
        assert "range" not in text
        assert " won." not in text
        assert " leads" not in text
