"""A comparison in words: what to expect of it, and its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite

from harness.ratings.comparison import Verdict
from harness.ratings.expected import DIFFERENCES, matches_if_ahead, matches_if_equal, rounded
from harness.ratings.pilot import PILOT_MATCHES, PILOT_PAIRS
from harness.ratings.question import Question, Unit
from harness.ratings.shared_deals import Gain

FEW_PAIRS = 50
"""With fewer than this, what exchanging seats is worth is not known well enough to be told to a person."""


def announcement(question: Question) -> Iterator[str]:
    """What will be played, and how many matches that may take, in sentences."""
    if question.former:
        return
    yield f"{question.game}: {_way(question)}"
    shares = [each for each in DIFFERENCES if each > question.within]
    cases = {"if the two are equal": matches_if_equal(question)}
    if question.way != "gauntlet":
        cases |= {f"if one finishes ahead in {0.5 + each:.0%}": matches_if_ahead(question, each) for each in shares}
    else:
        cases |= {f"if they are {200 * each:.0f} points apart": matches_if_ahead(question, each) for each in shares}
    told = ", ".join(f"{_about(needed)} {case}" for case, needed in cases.items())
    savings = [
        *(["sharing deals"] if question.way != "own-deals" else []),
        *(["its value function"] if question.luck else []),
    ]
    fewer = f"; fewer where {' or '.join(savings)} takes luck out" if savings else ""
    stop = f"; --most stops at {question.most:,}" if max(cases.values()) > question.most else ""
    if question.luck:
        yield f"Luck is taken out of each result, by the value function {question.luck}."
    yield f"Matches to expect: {told}{fewer}{stop}."


def _about(needed: float) -> str:
    return f"about {rounded(needed):,}" if isfinite(needed) else "without end"


def _way(question: Question) -> str:
    one, other = question.one, question.other
    if question.way == "gauntlet":
        return f"{one} and {other} take turns at one place of the same table, on the same deals."
    if question.way == "own-deals":
        return "each match has a deal of its own."
    if question.way == "pairs":
        return f"{one} and {other} play each deal twice, with their seats exchanged."
    return (
        f"a pilot of {PILOT_MATCHES} matches with deals of their own, and {PILOT_PAIRS} deals played twice, with {one} "
        f"and {other} exchanged; then whichever tells more. All matches count."
    )


def verdict_sentences(verdict: Verdict) -> Iterator[str]:
    """What was found about two bots at one game, in sentences."""
    question = verdict.question
    one, other = question.one, question.other
    table = ", ".join((one, other, *question.company))
    yield f"{question.game} ({table}): {_matches(verdict.matches)} {_kinds(verdict.units)}"
    yield verdict.sentence
    yield _how_much(verdict)
    if verdict.answer != "unknown":
        yield _how_sure(verdict)
    if verdict.pilot:
        yield _chosen(verdict)
    if verdict.luck_saved is not None and verdict.matches >= FEW_PAIRS:
        yield _without_luck(verdict.luck_saved)
    if verdict.ahead_gain and verdict.units.get("pair", verdict.units.get("set", 0)) >= FEW_PAIRS:
        yield _worth(verdict.ahead_gain)
    for name, count in sorted(verdict.faults.items()):
        yield f"{name} failed in {_matches(count)}."


def _matches(count: int) -> str:
    return f"{count:,} match{'es' if count != 1 else ''}"


_NAMES: dict[Unit, tuple[str, str]] = {
    "match": ("with a deal of its own", "with deals of their own"),
    "pair": ("pair with seats exchanged", "pairs with seats exchanged"),
    "turns": ("deal that each played in turn", "deals that each played in turn"),
    "set": ("set", "sets"),
}


def _kinds(units: Mapping[Unit, int]) -> str:
    if list(units) == ["match"]:
        return _NAMES["match"][units["match"] != 1]
    return f"({', '.join(f'{count:,} {_NAMES[unit][count != 1]}' for unit, count in units.items())})"


def _how_much(verdict: Verdict) -> str:
    one, other = verdict.question.one, verdict.question.other
    if verdict.shares:
        mine, theirs = verdict.shares
        low, high = 200 * (verdict.low - 0.5), 200 * (verdict.high - 0.5)
        return (
            f"{one} finishes ahead of {mine:.1%} of the others at the table, {other} of {theirs:.1%}: a difference of "
            f"{100 * (mine - theirs):+.1f} points (95% interval {low:+.1f} to {high:+.1f})."
        )
    elo = "" if verdict.elo is None else f", {verdict.elo:+.0f} Elo"
    interval = f"95% interval {verdict.low:.1%} to {verdict.high:.1%}"
    told = f"{one} finishes ahead of {other} in {verdict.ahead:.1%} of the matches ({interval}){elo}"
    return f"{told}." if verdict.as_played is None else f"{told}, luck taken out; as played in {verdict.as_played:.1%}."


def _how_sure(verdict: Verdict) -> str:
    question = verdict.question
    if not question.indifference:
        return "Such an answer is wrong in at most 5 of 100 comparisons."
    least = f"{100 * question.indifference * (2 if question.way == 'gauntlet' else 1):.3g} points"
    return (
        f"The question was: a difference of {least} or more, or none? Either answer is wrong in about 5 of 100 "
        f"comparisons; of a smaller difference either may be said."
    )


def _chosen(verdict: Verdict) -> str:
    pilot = verdict.pilot
    assert pilot
    went = "pairs went on" if pilot.pairs else "matches with deals of their own went on"
    seen = f"{pilot.split} of {PILOT_PAIRS} pairs were split, {pilot.twice} won twice by the same bot"
    if verdict.question.luck:
        seen += ", luck taken out"
    return f"In the pilot {seen}: {went}."


def _without_luck(saved: float) -> str:
    if saved > 0:
        return f"Luck taken out saves {saved:.0%} of the matches, by how results vary."
    return f"Luck taken out did not pay: results vary by {-saved:.0%} more."


def _worth(gain: Gain) -> str:
    if gain.saved is None:
        return "On shared deals nothing varies."
    saved = f"save {gain.saved:.0%} of the matches" if gain.saved > 0 else f"cost {-gain.saved:.0%} more matches"
    return f"Shared deals {saved}: variance {gain.shared:.4g}, with deals of their own {gain.unshared:.4g}."
