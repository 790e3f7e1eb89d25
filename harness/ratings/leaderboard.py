"""The claims of a leaderboard: each bot's line with its intervals, its rank and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from harness.ratings.intervals import Interval, mean, share
from harness.ratings.plackett_luce import Strengths, fit
from harness.ratings.ratings import AHEAD, MATCHES, SCORE, BotRating, Ratings
from harness.ratings.significance import compact_letters, confidence, reach, told_apart

ELO = 400 / log(10)
"""Elo points in one unit of a logarithm of strengths."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a leaderboard."""

    line: BotRating
    place: int
    """1, 2, 3, ... in the order of the table: what an organiser announces."""
    best: int
    """The best and the worst place that is not ruled out."""
    worst: int
    groups: tuple[str, ...]
    """Letters: two bots that share one are not told apart, two that share none are."""
    sure: float | None
    """How sure we are that it is better than the next line; None where nothing can be said."""
    score: Interval | None
    ahead: Interval | None
    """The share of the table that it finishes ahead of."""
    strength: float
    """Plackett-Luce, in Elo points around the field's average."""
    strength_place: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The bots of one game, best first, with all that is claimed about them."""

    title: str
    ratings: Ratings = field(compare=False)
    standings: list[Standing]
    notes: list[str]
    """What a reader should know about them, in sentences."""
    told_apart: frozenset[tuple[str, str]] = frozenset()
    """All pairs (better, worse) that are claimed, together."""


def leaderboards(rated: Mapping[str, Ratings]) -> list[Leaderboard]:
    """A leaderboard for each of these ratings, fitted once: everything that is printed is made from it."""
    return [leaderboard(ratings, title) for title, ratings in rated.items()]


def leaderboard(ratings: Ratings, title: str = "") -> Leaderboard:
    """What these ratings say, and how sure that is."""
    lines = ratings.standing()
    evidence = ratings.evidence
    strengths = fit(evidence.deals, len(lines))
    better = told_apart(strengths)
    table = [line.number for line in lines]
    letters = compact_letters(table, better)
    by_strength = sorted(table, key=lambda number: -strengths.values[number])
    standings = []
    for place, line in enumerate(lines):
        number = line.number
        best, worst = reach(number, len(lines), better)
        below = table[place + 1] if place + 1 < len(lines) else None
        sums = [deal.bots[number] for deal in evidence.deals if number in deal.bots]
        standings.append(
            Standing(
                line,
                place=place + 1,
                best=best,
                worst=worst,
                groups=letters[number],
                sure=None
                if below is None or not evidence.have_met(number, below)
                else confidence(strengths, number, below),
                score=mean([(one[MATCHES], one[SCORE]) for one in sums]),
                ahead=share([(one[MATCHES], one[AHEAD]) for one in sums]),
                strength=ELO * strengths.values[number],
                strength_place=by_strength.index(number) + 1,
            )
        )
    names = {line.number: line.bot for line in lines}
    return Leaderboard(
        title,
        ratings,
        standings,
        _notes(lines, strengths, by_strength, len(evidence.deals)),
        frozenset((names[one], names[other]) for one, other in better),
    )


def _notes(lines: Sequence[BotRating], strengths: Strengths, by_strength: Sequence[int], deals: int) -> list[str]:
    notes = []
    if deals == 1 and len(lines) > 1:
        notes.append("All matches are of one deal: nothing can be said about other deals. Play more (--deals).")
    if len(lines) > 1 and by_strength[0] != lines[0].number:
        first = next(line for line in lines if line.number == by_strength[0])
        sure = confidence(strengths, first.number, lines[0].number)
        how = "" if sure is None else f" ({sure:.0%} sure)"
        notes.append(
            f"Warning: the ratings put {lines[0].bot} first, but the Plackett-Luce fit of all matches at once "
            f"puts {first.bot} first{how}: more deals will tell."
        )
    notes += [
        f"{line.bot} was disqualified and lost {line.disqualified:,} of its {line.matches:,} matches without playing: "
        "they count, in last place, but not as faults."
        for line in lines
        if line.disqualified
    ]
    return notes
