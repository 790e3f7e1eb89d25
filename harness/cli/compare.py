"""arena compare."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.parameter_types import BOT, GAME
from harness.cli.shared import given, load_plugins, options_option, playing_options, seed_option, strict_option
from harness.output.terminal import Progress

if TYPE_CHECKING:
    from harness.ratings.comparison import Verdict

PLAYING = ("workers", "move_time", "game_time", "memory", "threads", "isolate")
"""Options of all commands that let bots play, which are fields of a RunRequest."""


@click.command("compare", short_help="Find out whether one bot is better than another.")
@click.argument("one", type=BOT)
@click.argument("other", type=BOT)
@click.option(
    "--game", "games", type=GAME, multiple=True, help="The game; may be repeated. Default: all that both play."
)
@click.option(
    "--bot", "company", type=BOT, multiple=True, metavar="BOT", help="Who else sits at the table; may be repeated."
)
@options_option
@seed_option
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
    from harness.output.terminal import StopSignal
    from harness.output.verdict_text import verdict_sentences
    from harness.runs.questions import answer, questions
    from harness.runs.request import RunRequest

    request = RunRequest(bots=asked["company"], **given(asked, "games", "options", "seed", "strict", *PLAYING))
    chosen, setup = questions(
        asked["one"],
        asked["other"],
        request,
        load_plugins(request.strict, request.isolate),
        most=asked["most"],
        margin=asked["margin"],
        shared=not asked["own_deals"],
        thorough=asked["thorough"],
    )
    verdicts = []
    with StopSignal() as stop:
        for question in chosen:
            if stop():
                break
            with (
                redirect_stdout(sys.stderr),  # what bots print goes to stderr: stdout belongs to the verdict
                Progress(f"{question.game} matches", None, asked["quiet"]) as progress,
            ):
                verdict = answer(question, setup, request.limits, request.workers, stop, progress.seen)
            verdicts.append(verdict)
            if not asked["as_json"]:
                click.echo("\n".join(verdict_sentences(verdict)) + "\n")
    if asked["as_json"]:
        click.echo(json.dumps([_data(verdict) for verdict in verdicts], indent=2))
    if asked["strict"] and any(verdict.faults for verdict in verdicts):
        click.get_current_context().exit(1)


def _data(verdict: Verdict) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(verdict)
    saved = {"saved_ahead": verdict.ahead_gain.saved, "saved_score": verdict.score_gain.saved}
    return {**data, "elo": verdict.elo, **saved}
