"""What matches show about a game: decisions, choices, ties, and how often each rule comes up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from math import fsum, log10
from typing import Any

from msgspec import Struct

from harness.core.game import Game
from harness.core.records import GameRecord
from harness.match.replay import Replay
from harness.play.person import all_rules

MAX_RULE_CHARS = 60


class Distribution(Struct, frozen=True):
    """A number that differs from match to match, or from decision to decision."""

    mean: float
    low: float
    """Nine of ten are larger, or as large."""
    median: float
    high: float
    """Nine of ten are smaller, or as small."""
    most: float


class Choices(Struct, frozen=True):
    """One kind of choice."""

    phase: str
    decisions: float
    """In a match, on average: choices with at least two legal actions."""
    forced: float
    """Choices in a match with a single legal action, about which no bot is asked."""
    legal: Distribution
    """Number of legal actions at a decision."""


class RuleUse(Struct, frozen=True):
    """How often a rule comes up."""

    rule: str
    text: str
    """How it begins; empty if the game has no page of rules."""
    matches: float
    """Share of the matches in which it comes up."""
    times: float
    """How often it comes up in a match, on average."""


class Profile(Struct, frozen=True):
    """What matches show about a game."""

    replayed: int
    """Number of matches that were replayed for choices and rules; the rest is from all matches."""
    decisions: Distribution
    """Decisions in a match, of all seats together."""
    tree: float
    """Size of the game tree as a power of ten: the mean over matches of the sum of log10 of the legal actions."""
    choices: tuple[Choices, ...]
    ties: float
    """Share of the matches in which the first place is shared."""
    tied_pairs: float
    """Share of the pairs of seats that end with the same rank."""
    endings: dict[str, float]
    """Why matches ended, and in which share of them."""
    rules: tuple[RuleUse, ...]
    uncounted_rules: tuple[str, ...]
    """Rules on the game's page for which the game declares no events."""


def profile_of(game: Game[Any], records: Iterable[GameRecord], replayed: Iterable[GameRecord]) -> Profile:
    """Return what the records show; those to be `replayed` are among them, with their actions."""
    lengths, endings, shared, tied, pairs, matches = list[float](), Counter[str](), 0, 0, 0, 0
    for record in records:
        matches += 1
        lengths.append(sum(record.decisions))
        endings[record.ending] += 1
        shared += record.ranks.count(1) > 1
        for one, other in combinations(record.ranks, 2):
            pairs += 1
            tied += one == other
    walk = _Walk(game)
    for record in replayed:
        walk.add(record)
    texts = {rule.number: rule.text for rule in all_rules(game).values()}
    return Profile(
        replayed=walk.matches,
        decisions=distribution(lengths),
        tree=walk.tree / max(1, walk.matches),
        choices=walk.choices(),
        ties=shared / max(1, matches),
        tied_pairs=tied / max(1, pairs),
        endings={why: count / matches for why, count in endings.most_common()},
        rules=tuple(
            RuleUse(
                rule,
                shortened(texts.get(rule, ""), MAX_RULE_CHARS),
                walk.matches_with[rule] / max(1, walk.matches),
                walk.times[rule] / max(1, walk.matches),
            )
            for rule in game.rule_events
        ),
        uncounted_rules=tuple(number for number in texts if number not in game.rule_events),
    )


class _Walk:
    """Counts choices and rules while matches are replayed."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.matches, self.tree = 0, 0.0
        self.legal: dict[str, Counter[int]] = {}
        """Phase -> number of legal actions -> how often."""
        self.matches_with: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self.by_kind: dict[str, list[str]] = {}
        self.tests: dict[str, Callable[[str, dict[str, Any]], bool]] = {}
        for rule, shown_by in game.rule_events.items():
            if isinstance(shown_by, str):
                self.by_kind.setdefault(shown_by, []).append(rule)
            else:
                self.tests[rule] = shown_by

    def add(self, record: GameRecord) -> None:
        """Replay a match."""
        replay = Replay(self.game, record)
        while not replay.over:
            number = len(replay.state.legal)
            self.legal.setdefault(replay.state.phase, Counter())[number] += 1
            self.tree += log10(number)
            replay.step()
        replay.check_end()
        self.matches += 1
        here: Counter[str] = Counter()
        for event in replay.log:
            here.update(self.by_kind.get(event.kind, ()))
            here.update([rule for rule, shows in self.tests.items() if shows(event.kind, event.data)])
        self.times += here
        self.matches_with.update(here.keys())

    def choices(self) -> tuple[Choices, ...]:
        """Return the kinds of choices, the most frequent decision first."""
        found = []
        for phase, numbers in self.legal.items():
            forced = numbers.pop(1, 0)
            legal = distribution(list(numbers.elements()))
            found.append(Choices(phase, numbers.total() / self.matches, forced / self.matches, legal))
        return tuple(sorted(found, key=lambda each: (-each.decisions, each.phase)))


def distribution(values: list[float] | list[int]) -> Distribution:
    """Return the mean and the quantiles of these values; all 0 if there are none."""
    if not values:
        return Distribution(0.0, 0.0, 0.0, 0.0, 0.0)
    ordered = sorted(values)
    low, median, high = (float(ordered[round(share * (len(ordered) - 1))]) for share in (0.1, 0.5, 0.9))
    return Distribution(fsum(ordered) / len(ordered), low, median, high, float(ordered[-1]))


def shortened(text: str, max_chars: int) -> str:
    """Return the text, or as many of its first words as fit."""
    if len(text) <= max_chars:
        return text
    return text[: max_chars - 1].rpartition(" ")[0] + "\N{HORIZONTAL ELLIPSIS}"
