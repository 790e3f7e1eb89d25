"""arena analyse: a game whose luck and skill are known, the rules that come up, and the command."""

from __future__ import annotations

import json

import pytest

from harness import UsageError, analyse
from harness.analysis.profile import distribution
from harness.analysis.run import analyse_game, read_analysis
from harness.analysis.tables import percent
from harness.core.errors import StoreError
from harness.plugins.registry import Registration
from harness.runs.request import RunRequest
from harness.runs.setup import installed
from tests.analysis.known_game import BOTS, Known
from tests.support.cli import arena


def analysed(matches=1_500, search="", bots=tuple(BOTS), **request):
    registry = installed()
    registry.games["known"] = Registration(Known, "these tests", "1")
    asked = RunRequest(games=("known",), bots=bots, workers=0, seed=1, **request)
    return analyse_game(asked, registry, matches, search, quiet=True)


def shares(found):
    return {name: getattr(found.shares, name) for name in ("bots", "deals", "seats", "rest")}


@pytest.mark.parametrize(
    ("options", "source"), [({"skill": 100}, "bots"), ({"deal": 100}, "deals"), ({"seat": 100}, "seats")]
)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_of_skill_of_luck_or_of_seats_is_all_of_that(options, source, players):
    found = analysed(300, options=options, players=players)
    for name, one in shares(found).items():
        # By chance, some seat is luckier in these deals.
        margin = 0.1 if {name, source} == {"deals", "seats"} or name == source == "deals" else 0.02
        assert one.value == pytest.approx(float(name == source), abs=margin), name


def test_a_mixed_game_has_the_shares_that_follow_from_its_rules():
    """With two seats a result is 1/2 or -1/2. A share of the deals decided in a way gives that share of the mean, so
    its square of the variance; what a deal decides by itself is the deal's alone."""
    found = analysed(8_000, options={"skill": 50, "deal": 20, "seat": 20}, players=2)
    # A deal that the seat decides gives seat 1 its result in all tables: 0.2 of the variance with that of the seat. And
    # chance that depends on the players favours a seat in one of the 12 seatings of a deal as in none of the others.
    truth = {"bots": 0.5**2 * bots_in_company(), "deals": 0.2 + 0.2 - 0.2**2 + 0.1 / 12, "seats": 0.2**2}
    truth["rest"] = 1 - sum(truth.values())
    for name, one in shares(found).items():
        # Four intervals of 95% rarely hold all four: twice as wide, they do.
        assert 2 * (one.low - one.value) <= truth[name] - one.value <= 2 * (one.high - one.value), name
        assert one.high - one.low < 0.1, name


def bots_in_company():
    """At each table of two different strengths, one always wins: their whole variance is that of the bots."""
    return 1.0


def test_the_same_seed_gives_the_same_analysis_and_workers_do_not_matter():
    asked = {"players": 2, "matches": 60, "search": "", "quiet": True}
    field = ["skittish", "random"]
    assert analyse("el-paso", field, workers=0, **asked) == analyse("el-paso", field, workers=2, **asked)


def test_large_fields_have_tables_drawn_at_random():
    found = analysed(200, options={"skill": 100}, bots=(*BOTS, *[(f"again{n}", bot) for n, bot in enumerate(BOTS)]))
    assert not found.all_tables
    assert found.players == 4
    assert found.shares.bots.value > 0.8
    assert {line.bot for line in found.spread} == set(found.bots)


def test_rules_are_counted_by_events_and_those_that_never_come_up_are_named():
    found = analysed(216, players=2, options={"skill": 100})  # each table equally often
    used = {rule.rule: (rule.matches, rule.times) for rule in found.profile.rules}
    assert used["KN-1"] == (1.0, 2.0)
    assert used["KN-2"] == (0.5, 0.5)
    assert used["KN-3"] == (0.0, 0.0)
    assert found.profile.uncounted_rules == ("KN-4",)
    text = repr(found)
    assert "KN-3" in text
    assert "Never in" in text
    assert "No event shows these rules: KN-4." in text


def test_length_choices_and_ties_are_those_of_the_game():
    found = analysed(120, players=3, options={"skill": 100}, bots=(BOTS[1], ("same", BOTS[1]), BOTS[0]))
    profile = found.profile
    assert profile.decisions.mean == 3
    [say] = profile.choices
    assert (say.phase, say.decisions, say.forced, say.legal.mean, say.legal.most) == ("say", 3, 0, 4, 4)
    assert profile.ties == 1
    assert profile.tied_pairs == pytest.approx(1 / 3)
    assert profile.endings == {"skill": 1.0}


def test_the_search_bot_is_measured_apart_from_the_field():
    found = analysed(60, "flat-mc:iterations=2", players=2, options={"skill": 100})
    assert found.search == "flat-mc:iterations=2"
    assert found.search not in found.bots
    [line] = [line for line in found.spread if line.bot == found.search]
    assert line.matches == 16


def test_it_needs_two_players_and_bots_that_play_the_game():
    with pytest.raises(UsageError, match="at least 1 match"):
        analysed(0)
    with pytest.raises(UsageError):
        analyse("el-paso", ["tycoon", "random"], workers=0, quiet=True)
    with pytest.raises(UsageError, match="tycoon"):
        analyse("el-paso", search="tycoon", workers=0, quiet=True)


@pytest.mark.parametrize("game", ["el-paso", "gnadenlos", "x-pasch"])
def test_every_event_that_a_bundled_game_declares_for_a_rule_exists(game):
    """A misspelt kind would count nothing: each rule that the bundled bots often reach comes up."""
    found = analyse(game, matches=48, search="", workers=0, quiet=True)
    rare = {
        "el-paso": {"EP-23", "EP-26"},
        "gnadenlos": {"GN-9", "GN-10", "GN-23", "GN-27", "GN-40"},
        "x-pasch": {"XP-18", "XP-20", "XP-21"},
    }
    assert {rule.rule for rule in found.profile.rules if not rule.times} <= rare[game]
    assert all(rule.text for rule in found.profile.rules)


def test_the_command_prints_tables_and_json_and_writes_the_same_data(tmp_path):
    asked = ("analyse", "el-paso", "--players", "2", "--bot", "skittish", "--bot", "random", "--matches", "48",
             "--search", "", "--workers", "0", "--quiet")  # fmt: skip
    out = tmp_path / "el-paso.json"
    done = arena(*asked, "--out", str(out))
    assert "El Paso, 2 players: where results come from" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    data = json.loads(arena(*asked, "--json").stdout)
    assert data == json.loads(out.read_text())
    assert data["shares"].keys() == {"bots", "deals", "seats", "rest", "bots_in_seats"}
    assert data["schema"] == 1
    assert read_analysis(out).to_dict() == data


def test_a_file_that_is_not_an_analysis_is_refused(tmp_path):
    path = tmp_path / "x.json"
    with pytest.raises(StoreError, match="cannot be read"):
        read_analysis(path)
    path.write_text('{"game": 1}')
    with pytest.raises(StoreError, match="is not an analysis"):
        read_analysis(path)


def test_small_helpers():
    assert [percent(value) for value in (0.5, 0.004, 0.0996, -0.01, 0.0)] == ["50%", "0.4%", "10%", "0%", "0%"]
    assert distribution([]).most == 0
    assert (distribution(list(range(1, 12))).low, distribution(list(range(1, 12))).high) == (2, 10)
