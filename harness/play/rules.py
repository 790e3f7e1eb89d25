"""Rules by their numbers, from the page that a game brings along."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from harness.core.game import Game

_ITEM = re.compile(r"^- ([A-Z]+-\d+) (.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


class Rule(NamedTuple):
    """One numbered rule."""

    number: str
    text: str


def all_rules(game: Game[Any]) -> dict[str, Rule]:
    """Every numbered rule of the game in the order of its page; none if it brings no page."""
    items = _ITEM.findall(game.rules_text())
    return {number: Rule(number, " ".join(text.split())) for number, text in items}


def behind(game: Game[Any], phase: str) -> list[Rule]:
    """The rules to read before a choice of this phase."""
    rules = all_rules(game)
    return [rules[number] for number in game.rules_behind.get(phase, ()) if number in rules]


def find(game: Game[Any], wanted: str) -> list[Rule]:
    """The rule of this number (`EP-9`, or just `9`), else all rules that mention the word."""
    rules = all_rules(game)
    numbered = [rule for rule in rules.values() if wanted.upper() in (rule.number, rule.number.rpartition("-")[2])]
    return numbered or [rule for rule in rules.values() if wanted.lower() in rule.text.lower()]
