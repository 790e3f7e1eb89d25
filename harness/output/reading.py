"""What a table says in plain sentences: who won, by how much, how sure that is, and who failed."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from statistics import NormalDist

from harness.output.display_names import short
from harness.ratings import LEVEL, Interval, Leaderboard, Overall

POWER = 0.8
"""How likely it is that so many deals will do as are said to."""
MOST_TIMES = 20
"""A run of so many times the deals is nothing to be promised."""
WRONG = f"such claims are wrong in at most {round(100 * (1 - LEVEL))} of 100 runs"
MOST_NAMED = 3
"""Bots that a sentence names; the others are counted."""


def summary(board: Leaderboard) -> list[str]:
    """Who won, by how much and how sure that is, and who failed: never more than is claimed."""
    sentences = [_winner(board)] if len(board.standings) > 1 else []
    failed = [(one.line.bot, one.line.faults, one.line.matches) for one in board.standings if one.line.faults]
    return [*sentences, *faults_sentence(failed)]


def overall_summary(overall: Overall) -> list[str]:
    """The same over several games, about those who play them all."""
    ranked = [line for line in overall.lines if line.place is not None]
    sentences = []
    if len(ranked) > 1:
        first, second = ranked[:2]
        open_to = [line.bot for line in ranked[1:] if line.best == 1]
        told = f"{_short(first.bot)} did best of the {len(ranked):,} bots that play every game: on average it finishes "
        told += f"ahead of {share(first.ahead)} of its opponents{_gap(first.ahead, second.ahead, second.bot)}."
        sentences.append(told + (f" But {_listed(open_to)} may be as good or better." if open_to else ""))
    return sentences


def faults_sentence(failed: Sequence[tuple[str, int, int]]) -> list[str]:
    """Who failed how often, most often first; nothing if nobody did."""
    if not failed:
        return []
    worst = sorted(failed, key=lambda one: (-one[1], one[0]))
    told = [f"{_short(bot)} in {faults:,} of {matches:,} matches" for bot, faults, matches in worst[:MOST_NAMED]]
    more = len(worst) - MOST_NAMED
    if more > 0:
        told.append(f"{more:,} other bot{'' if more == 1 else 's'} too")
    return [f"FAULTS: {', '.join(told)}. Who fails in a match comes last in it."]


def _winner(board: Leaderboard) -> str:
    first, second = board.standings[:2]
    rivals = [one.line.bot for one in board.standings[1:] if one.best == 1]
    name = _short(first.line.bot)
    much = f"finishes ahead of {share(first.ahead)} of its opponents"
    if board.seated or board.anytime:  # it did not meet everybody alike: what it shows is worked out
        much = f"would finish ahead of {share(first.ahead)} of the field, corrected for whom it met"
    if first.best > 1:
        none = "" if rivals else " No bot can be the best: each one finishes behind some other."
        return f"{name} comes first in this table: it {much}. But another bot is better where they met.{none}"
    if not rivals:
        beaten = all((first.line.bot, one.line.bot) in board.told_apart for one in board.standings[1:])
        certain = "is told apart from every other bot" if beaten else "is the only one that can be the best"
        gap = _gap(first.ahead, second.ahead, second.line.bot)
        return f"{name} won: it {much}{gap}, and it {certain}; {WRONG}."
    told = f"{name} came first, but {_listed(rivals)} may be as good or better. It {much}"
    if second.line.bot in rivals:
        told += f", {_short(second.line.bot)} of {share(second.ahead)}"
        if first.sure is not None:
            told += f". That {name} is better than {_short(second.line.bot)} is {sureness(first.sure)} sure"
    return f"{told}. {_more_deals(board)}".rstrip()


def _more_deals(board: Leaderboard) -> str:
    """How many more deals would tell the first two apart: only where what was seen is enough to say so."""
    found = board.fit
    first, second = board.standings[:2]
    met = board.ratings.evidence.have_met(first.line.number, second.line.number)
    if board.anytime or not met:
        return ""  # more deals of this run would not settle it
    seen = found.difference(first.line.number, second.line.number) if found else None
    pairs = len(board.standings) * (len(board.standings) - 1) / 2
    if board.seated or seen is None or not seen.error or seen.value < seen.error:
        return "More deals will tell."
    needed = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / pairs) + NormalDist().inv_cdf(POWER)
    times = (needed * seen.error / seen.value) ** 2
    if times > MOST_TIMES or second.best > 1:
        return "More deals will tell."
    many = f"{times:.0f} times as many" if times >= 2 else "twice as many"
    return f"If the first two differ as much as it looks, about {many} deals will tell them apart."


def share(interval: Interval | None) -> str:
    """`"71% (64% to 78%)"`, `"100% (at least 94%)"`."""
    if interval is None:
        return "an unknown share"
    value, low, high = interval
    told = f"{100 * value:.0f}%"
    if not (isfinite(low) and isfinite(high)):
        return told
    if high >= 1:
        return f"{told} (at least {100 * low:.0f}%)"
    if low <= 0:
        return f"{told} (at most {100 * high:.0f}%)"
    return f"{told} ({100 * low:.0f}% to {100 * high:.0f}%)"


def sureness(chance: float) -> str:
    """Never 100%: nothing that was measured is certain."""
    return "more than 99.9%" if chance > 0.999 else f"{chance:.1%}" if chance > 0.99 else f"{chance:.0%}"


def _gap(first: Interval | None, second: Interval | None, name: str) -> str:
    if first is None or second is None:
        return ""
    points = 100 * (first.value - second.value)
    if points < 0.5:
        return f", hardly more than {_short(name)}"
    return f", {points:.0f} point{'' if round(points) == 1 else 's'} more than {_short(name)}"


def _listed(bots: Sequence[str]) -> str:
    named = [_short(bot) for bot in bots[: MOST_NAMED if len(bots) <= MOST_NAMED else MOST_NAMED - 1]]
    more = len(bots) - len(named)
    if more:
        return f"{', '.join(named)} and {more:,} others"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def _short(bot: str) -> str:
    return short(bot, 30)
