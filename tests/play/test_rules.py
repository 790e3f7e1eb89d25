"""The rules come with the games, and each choice knows its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import Chance, Game
from harness.play.person import all_rules, find_rules, rules_for_phase
from tests.play.support import GAMES, game, talk
from tests.support.games import label, variants

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", GAMES)
def test_the_page_that_is_installed_is_the_one_in_docs(name):
    installed = ROOT / "engines" / name.replace("-", "_") / "data" / "rules.md"
    page = ROOT / "docs" / "rules" / f"{name}.md"
    assert installed.read_bytes() == page.read_bytes(), f"copy {page} to {installed}"
    assert game(name).rules_text() == page.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "count"), [("el-paso", 28), ("gnadenlos", 41), ("x-pasch", 23)])
def test_all_numbered_rules_are_found_with_their_full_text(name, count):
    rules = all_rules(game(name))
    assert [int(number.partition("-")[2]) for number in rules] == list(range(1, count + 1))
    assert all(rule.text.endswith((".", ")", "`).")) for rule in rules.values()), rules


def test_the_text_of_a_rule_ends_at_the_next_rule():
    rule = all_rules(game())["EP-9"].text
    assert rule.startswith("Stay or leave. From the lookout's seat clockwise")
    assert rule.endswith('"every player who wants to plunder").')
    assert "EP-10" not in rule


@pytest.mark.parametrize("played", variants(), ids=label)
def test_every_phase_lists_its_rules(played):
    phases = set()
    for seed in range(10):
        state = played.new(played.min_players, Chance(seed))
        rng = Chance(seed).rng("choices")
        while state.legal:
            phases.add(state.phase)
            state.step(rng.choice(state.legal))
    assert phases == set(played.rules_behind)
    for phase, numbers in played.rules_behind.items():
        assert tuple(rule.number for rule in rules_for_phase(played, phase)) == numbers


def test_rules_are_found_by_number_or_by_word():
    assert [rule.number for rule in find_rules(game(), "ep-14")] == ["EP-14"]
    assert [rule.number for rule in find_rules(game(), "14")] == ["EP-14"]
    assert "EP-25" in [rule.number for rule in find_rules(game(), "Lookout")]
    assert find_rules(game(), "spaceship") == []


def test_a_game_without_rules_says_so(monkeypatch):
    played = type(game())
    monkeypatch.setattr(played, "rules_behind", {})
    assert "No rule is listed for this choice" in talk("rule", "1!")[0].said
    monkeypatch.setattr(played, "rules_text", Game.rules_text)
    assert "El Paso has no text of its rules." in talk("?", "1!")[0].said


def test_a_person_reads_rules_at_the_prompt():
    console, _ = talk("rule", "rule 14", "rule spaceship", "rule the", "1!")
    assert "EP-12 Every player in town lays one raid card" in console.said
    assert "EP-14 Sheriffs. If all five dice" in console.said
    assert "No rule of El Paso contains 'spaceship'." in console.said
    assert "More rules with 'the': EP-" in console.said
