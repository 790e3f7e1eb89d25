"""arena compare, and its verdict in words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from math import isfinite
from shlex import join
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.options import (
    BOT,
    RUN,
    chosen_cluster,
    given,
    load_plugins,
    make_ready,
    note,
    request_options,
    resumed,
    tell_faults,
)
from harness.comparison.sampling_units import PILOT_MATCHES, PILOT_PAIRS, ComparisonSpec, Unit
from harness.comparison.sequential_test import (
    ANNOUNCED_DIFFERENCES,
    SharedDealGain,
    Verdict,
    matches_if_different,
    matches_if_equal,
    two_digits,
)

if TYPE_CHECKING:
    from harness.core.options import BotLimits
    from harness.match.faults import FaultGroups
    from harness.runs.setup import RunSetup
    from harness.runs.store import RunFolder


# arena compare.


NOT_COMPARED = ("bots", "candidates", "deals", "format", "max_faults", "players")
"""Options of a run that a comparison decides itself, or has under another name."""
FIXED = {
    "one": "the bots", "company": "--bot", "games": "--game", "options": "--option", "seed": "--seed",
    "margin": "--margin", "indifference": "--indifference", "way": "--way", "luck_adjusted": "--luck-adjusted",
    "name": "--name",
}  # fmt: skip
"""What a comparison is: a resumed one has it already."""


@click.command("compare", short_help="Find out whether one bot is better than another.")
@click.argument("one", type=BOT, required=False)
@click.argument("other", type=BOT, required=False)
@request_options(
    NOT_COMPARED,
    games="The game; may be repeated. Default: all that both play.",
    name="Name of the folder that keeps the matches. Default: the time.",
)
@click.option(
    "--bot",
    "company",
    type=BOT,
    multiple=True,
    metavar="BOT",
    help="Who else sits at the table; may be repeated. Default: as many house bots as the game needs.",
)
@click.option("--most", type=click.IntRange(min=1), help="Give up after so many matches. Default: 6000.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, max=0.5, max_open=True),
    help="A share of finishing ahead this near to one half is no difference. Default: 0.03.",
)
@click.option(
    "--indifference",
    type=click.FloatRange(min=0, max=0.5, min_open=True, max_open=True),
    help="Ask only whether there is a difference of at least this: needs fewer matches for bots that are nearly equal.",
)
@click.option(
    "--way",
    type=click.Choice(["auto", "pairs", "own-deals", "gauntlet"]),
    help="Play each deal twice with the seats of the two exchanged, have a deal for each match, or let the two take "
    "turns against the others without meeting. Default: auto, the better one of the first two, by a pilot.",
)
@click.option("--thorough", is_flag=True, help="Play on to --most when the answer is known: a narrower interval.")
@click.option(
    "--luck-adjusted",
    is_flag=True,
    help="Take out of each result what luck gave: fewer matches, at a tenth of a second each. It pays for slow bots, "
    "such as those that search or have learned.",
)
@click.option(
    "--resume",
    type=RUN,
    metavar="RUN",
    help="Continue the comparison in this folder; --most and --thorough let it have more matches.",
)
@click.option("--force", is_flag=True, help="With --resume: go on although bots or rules have changed.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(**asked: Any) -> None:
    """Find out whether ONE bot is better than the OTHER: which of them finishes ahead when both sit at a table?

    They play until the answer is known, and not longer: deals twice with the seats of the two exchanged, or each match
    with a deal of its own, whichever tells more. The answer is wrong in at most 5 of 100 comparisons: see
    docs/ratings.md. The matches are kept as a run under results/; Ctrl-C loses nothing, --resume goes on.

    \b
    arena compare skittish:stars=3 skittish --game el-paso
    arena compare my_bot.py diehard --bot random --bot skittish
    arena compare my_bot.py diehard --bot random --way gauntlet
    arena compare ismcts diehard --game el-paso --luck-adjusted
    arena compare --resume results/mine --most 4000
    """
    from harness.comparison.format import judges_of, verdicts
    from harness.comparison.sampling_units import ComparisonSpec
    from harness.output.leaderboard import write_leaderboard
    from harness.output.progress import play_watched

    cluster = chosen_cluster(asked)
    make_ready(asked["workers"], asked["threads"], elsewhere=bool(cluster.address))
    run, setup, limits = _resume(asked) if asked["resume"] else _create(asked)
    for warning in setup.warnings:
        note(f"Warning: {warning}")
    for game in () if asked["quiet"] else setup.plan.games:
        for line in announcement(ComparisonSpec.from_plan(game, setup.plan)):
            note(line)
    complete, faults = play_watched(run, setup, limits, asked["workers"], asked["quiet"], cluster)
    write_leaderboard(run)
    found = verdicts(setup.plan, run.records(), judges_of(setup.plan, setup.games))
    _show(run, found, complete, faults, asked)
    if not complete or (asked["strict"] and any(verdict.faults for verdict in found)):
        click.get_current_context().exit(1)


def _create(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup, BotLimits]:
    from harness.comparison.run import create_comparison, question_settings
    from harness.comparison.sampling_units import MAX_MATCHES
    from harness.runs.request import RunRequest
    from harness.runs.setup import seeded

    if asked["other"] is None:
        raise click.UsageError("Which two bots? Name both: arena compare ONE OTHER; 'arena bots' lists them.")
    asked_for = RunRequest(
        bots=asked["company"],
        deals=asked["most"] or MAX_MATCHES,
        **given(asked),
    )
    request = seeded(asked_for)
    drawn = [] if asked_for.seed is not None else ["--seed", str(request.seed)]
    run, setup = create_comparison(
        asked["one"],
        asked["other"],
        request,
        load_plugins(request.strict, request.isolate),
        join(["arena", *sys.argv[1:], *drawn]),
        question_settings(asked["margin"], asked["indifference"], asked["way"], asked["thorough"]),
        asked["luck_adjusted"],
    )
    return run, setup, request.limits


def _resume(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup, BotLimits]:
    from harness.comparison.run import reopen_comparison

    fixed = [
        option
        for key, option in FIXED.items()
        if asked[key] is not None and asked[key] is not False and asked[key] != ()
    ]
    if fixed:
        raise click.UsageError(f"--resume continues a comparison as it was asked for; leave out {', '.join(fixed)}.")
    run, limits = resumed(asked)
    registry = load_plugins(asked["strict"], limits.isolate)
    return run, reopen_comparison(run, registry, asked["force"], asked["most"], asked["thorough"]), limits


def _show(run: RunFolder, found: list[Verdict], complete: bool, faults: FaultGroups, asked: dict[str, Any]) -> None:

    plan = run.info.plan
    if asked["as_json"]:
        click.echo(json.dumps([_data(verdict, run) for verdict in found], indent=2))
    for verdict in found if not asked["as_json"] else ():
        click.echo("\n".join(verdict_sentences(verdict)) + "\n")
    for warning in dict.fromkeys(run.warnings):
        note(f"Warning: {warning}")
    if not found:
        note("Nothing is finished yet: there is nothing to compare.")
    if not complete:
        note(f"Not complete. Continue with: arena compare --resume {run.folder}")
    if asked["quiet"]:
        return
    tell_faults(run, faults)
    if complete and any(verdict.answer == "unknown" for verdict in found):
        note(f"More matches: arena compare --resume {run.folder} --most {2 * plan.deals}")
    note(f"Records and leaderboard: {run.folder}")


def _data(verdict: Verdict, run: RunFolder) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(verdict)
    gains = {"saved_ahead": verdict.ahead_gain, "saved_score": verdict.score_gain}
    saved = {name: gain and gain.saved for name, gain in gains.items()}
    return {**data, "sentence": verdict.sentence, "elo": verdict.elo, **saved, "run": str(run.folder)}


# A comparison in words: what to expect of it, and its verdict.


FEW_PAIRS = 50
"""With fewer than this, what exchanging seats is worth is not known well enough to be told to a person."""


def announcement(question: ComparisonSpec) -> Iterator[str]:
    """What will be played, and how many matches that may take, in sentences."""
    yield f"{question.game}: {_way(question)}"
    shares = [each for each in ANNOUNCED_DIFFERENCES if each > question.within]
    cases = {"if the two are equal": matches_if_equal(question)}
    if question.way != "gauntlet":
        cases |= {f"if one finishes ahead in {0.5 + each:.0%}": matches_if_different(question, each) for each in shares}
    else:
        cases |= {f"if they are {200 * each:.0f} points apart": matches_if_different(question, each) for each in shares}
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
    return f"about {two_digits(needed):,}" if isfinite(needed) else "without end"


def _way(question: ComparisonSpec) -> str:
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
    if verdict.ahead_gain and verdict.units.get("pair", 0) >= FEW_PAIRS:
        yield _worth(verdict.ahead_gain)
    for name, count in sorted(verdict.faults.items()):
        yield f"{name} failed in {_matches(count)}."


def _matches(count: int) -> str:
    return f"{count:,} match{'es' if count != 1 else ''}"


_NAMES: dict[Unit, tuple[str, str]] = {
    "match": ("with a deal of its own", "with deals of their own"),
    "pair": ("pair with seats exchanged", "pairs with seats exchanged"),
    "turns": ("deal that each played in turn", "deals that each played in turn"),
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


def _worth(gain: SharedDealGain) -> str:
    if gain.saved is None:
        return "On shared deals nothing varies."
    saved = f"save {gain.saved:.0%} of the matches" if gain.saved > 0 else f"cost {-gain.saved:.0%} more matches"
    return f"Shared deals {saved}: variance {gain.shared:.4g}, with deals of their own {gain.unshared:.4g}."
