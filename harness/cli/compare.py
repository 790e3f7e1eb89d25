"""arena compare."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.playing import executor_for, limits_asked, playing_options, seed_asked
from harness.cli.progress import Progress
from harness.cli.shared import load_plugins, parse_options, strict_option
from harness.cli.signals import Stopper

if TYPE_CHECKING:
    from harness.core.types import GameRecord, MatchSpec
    from harness.ratings.comparison import Question, Verdict
    from harness.ratings.shared_deals import Gain
    from harness.runs.run_setup import RunSetup

FEW_SETS = 50
"""With fewer sets than this, what sharing deals is worth is not known well enough to be told to a person."""


@click.command("compare", short_help="Find out whether one bot is better than another.")
@click.argument("one")
@click.argument("other")
@click.option("--game", "games", multiple=True, help="The game; may be repeated. Default: all that both play.")
@click.option("--bot", "company", multiple=True, metavar="BOT", help="Who else sits at the table; may be repeated.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the game.")
@click.option("--seed", type=click.IntRange(min=0, max=2**63), help="The luck. Default: drawn, and printed.")
@click.option(
    "--most", type=click.IntRange(min=1), default=2000, show_default=True, help="Give up after so many duplicate sets."
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, max=0.5, max_open=True),
    default=0.03,
    show_default=True,
    help="A share of finishing ahead this near to one half is no difference.",
)
@click.option("--own-deals", is_flag=True, help="A deal of its own for each match of a set, instead of one for all.")
@click.option("--thorough", is_flag=True, help="Play on to --most sets when the answer is known: a narrower interval.")
@playing_options
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@strict_option
def command(**asked: Any) -> None:
    """Find out whether ONE bot is better than the OTHER: which of them finishes ahead when both sit at a table?

    Duplicate sets are played (one deal, everybody in every seat) until the answer is known. It may be looked at after
    every set and is still wrong in at most 5 of 100 comparisons: see docs/ratings.md.

    \b
    arena compare skittish:stars=3 skittish --game el-paso
    arena compare my_bot.py diehard --bot random --bot skittish
    """
    from harness.runs.questions import questions

    asked |= limits_asked(asked) | {"seed": seed_asked(asked)}
    registry = load_plugins(asked["strict"], asked["isolate"])
    chosen, setup = questions(
        registry,
        asked["one"],
        asked["other"],
        company=asked["company"],
        games=asked["games"],
        options=parse_options(asked["options"]),
        seed=asked["seed"],
        most=asked["most"],
        margin=asked["margin"],
        shared=not asked["own_deals"],
        thorough=asked["thorough"],
    )
    verdicts = []
    with Stopper() as stopper:
        for question in chosen:
            if not stopper.stopped:
                verdicts.append(_ask(question, setup, stopper, asked))
                if not asked["as_json"]:
                    click.echo("\n".join(_sentences(verdicts[-1])) + "\n")
    if asked["as_json"]:
        click.echo(json.dumps([_data(verdict) for verdict in verdicts], indent=2))
    if asked["strict"] and any(verdict.faults for verdict in verdicts):
        click.get_current_context().exit(1)


def _ask(question: Question, setup: RunSetup, stopper: Stopper, asked: dict[str, Any]) -> Verdict:
    from harness.executors import Job
    from harness.ratings.comparison import compare

    with (
        redirect_stdout(sys.stderr),  # what bots print goes to stderr: stdout belongs to the verdict
        Progress(f"{question.game} matches", None, asked["quiet"]) as progress,
        executor_for(setup.table, asked, lambda: stopper.stopped) as executor,
    ):

        def play(specs: Iterable[MatchSpec]) -> Iterator[GameRecord]:
            return (record for record, _ in executor.run(map(Job, specs)))

        return compare(question, play, progress.seen)


def _sentences(verdict: Verdict) -> Iterator[str]:
    from harness.ratings.comparison import POWER

    question = verdict.question
    table = ", ".join((question.one, question.other, *question.company))
    yield f"{question.game} ({table}): {verdict.sets:,} sets, {verdict.matches:,} matches"
    one, other = question.one, question.other
    yield {
        "better": f"{one} is better than {other}.",
        "worse": f"{one} is worse than {other}.",
        "equal": f"{one} and {other} are equal, give or take {question.margin:.1%} of the matches.",
        "unknown": f"{one} and {other} are not told apart by {verdict.sets:,} sets; --most allows more.",
    }[verdict.answer]
    elo = "" if verdict.elo is None else f", {verdict.elo:+.0f} Elo"
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


def _data(verdict: Verdict) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(verdict)
    saved = {"saved_ahead": verdict.ahead_gain.saved, "saved_score": verdict.score_gain.saved}
    return {**data, "elo": verdict.elo, **saved}
