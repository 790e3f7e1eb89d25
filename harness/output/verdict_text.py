"""The verdict of a comparison in words."""

from __future__ import annotations

from collections.abc import Iterator

from harness.ratings.comparison import POWER, Verdict
from harness.ratings.shared_deals import Gain

FEW_SETS = 50
"""With fewer sets than this, what sharing deals is worth is not known well enough to be told to a person."""


def verdict_sentences(verdict: Verdict) -> Iterator[str]:
    """What was found about two bots at one game, in sentences."""
    question = verdict.question
    table = ", ".join((question.one, question.other, *question.company))
    yield f"{question.game} ({table}): {verdict.sets:,} sets, {verdict.matches:,} matches"
    yield verdict.sentence
    elo = "" if verdict.elo is None else f", {verdict.elo:+.0f} Elo"
    one = question.one
    yield f"{one} finishes ahead in {verdict.ahead:.1%} (95% interval {verdict.low:.1%} to {verdict.high:.1%}){elo}."
    if verdict.fixed_size is not None:
        needed = f"{verdict.fixed_size:,} matches"
        yield f"A test of fixed size needs {needed} to find such a difference in {POWER:.0%} of cases."
    if question.shared and verdict.sets >= FEW_SETS:
        yield _worth("finishing ahead", verdict.ahead_gain)
        yield _worth("the difference of scores", verdict.score_gain)
    for name, count in sorted(verdict.faults.items()):
        yield f"{name} failed in {count:,} matches."


def _worth(what: str, gain: Gain) -> str:
    if gain.saved is None:
        return f"Shared deals: nothing varies in {what}."
    saved = f"save {gain.saved:.0%} of the matches" if gain.saved > 0 else f"cost {-gain.saved:.0%} more matches"
    return f"Shared deals {saved}: variance of {what} {gain.shared:.4g}, with unrelated deals {gain.unshared:.4g}."
