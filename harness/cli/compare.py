"""arena compare."""

from __future__ import annotations

import json
import sys
from shlex import join
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.parameter_types import BOT, GAME, RUN
from harness.cli.shared import (
    chosen_cluster,
    given,
    load_plugins,
    make_ready,
    note,
    options_option,
    playing_options,
    results_option,
    resumed,
    seed_option,
    strict_option,
    tell_faults,
)

if TYPE_CHECKING:
    from harness.ratings.comparison import Verdict
    from harness.runs.fault_groups import FaultGroups
    from harness.runs.run_setup import RunSetup
    from harness.runs.store import RunFolder

REQUESTED = (
    "games", "options", "seed", "strict", "name", "workers", "cluster", "ship", "move_time", "game_time", "clock",
    "memory", "threads", "isolate", "keep_processes", "ponder",
)  # fmt: skip
"""Options that are fields of a RunRequest."""
FIXED = {
    "one": "the bots", "company": "--bot", "games": "--game", "options": "--option", "seed": "--seed",
    "margin": "--margin", "indifference": "--indifference", "way": "--way", "luck_adjusted": "--luck-adjusted",
    "name": "--name",
}  # fmt: skip
"""What a comparison is: a resumed one has it already."""


@click.command("compare", short_help="Find out whether one bot is better than another.")
@click.argument("one", type=BOT, required=False)
@click.argument("other", type=BOT, required=False)
@click.option(
    "--game", "games", type=GAME, multiple=True, help="The game; may be repeated. Default: all that both play."
)
@click.option(
    "--bot",
    "company",
    type=BOT,
    multiple=True,
    metavar="BOT",
    help="Who else sits at the table; may be repeated. Default: as many house bots as the game needs.",
)
@options_option
@seed_option
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
@click.option("--name", help="Name of the folder that keeps the matches. Default: the time.")
@click.option(
    "--resume",
    type=RUN,
    metavar="RUN",
    help="Continue the comparison in this folder; --most and --thorough let it have more matches.",
)
@click.option("--force", is_flag=True, help="With --resume: go on although bots or rules have changed.")
@playing_options
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
@strict_option
@results_option
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
    from harness.output.tables import write_leaderboard
    from harness.output.verdict_text import announcement
    from harness.output.watched_run import play_watched
    from harness.ratings.question import Question
    from harness.runs.questions import verdicts

    cluster = chosen_cluster(asked)
    make_ready(asked["workers"], asked["threads"], elsewhere=bool(cluster.address))
    run, setup, limits = _resume(asked) if asked["resume"] else _create(asked)
    for warning in setup.warnings:
        note(f"Warning: {warning}")
    for game in () if asked["quiet"] else setup.plan.games:
        for line in announcement(Question.of(game, setup.plan)):
            note(line)
    complete, faults = play_watched(run, setup, limits, asked["workers"], asked["quiet"], cluster)
    write_leaderboard(run)
    found = verdicts(setup.plan, run.records(), setup.judges)
    _show(run, found, complete, faults, asked)
    if not complete or (asked["strict"] and any(verdict.faults for verdict in found)):
        click.get_current_context().exit(1)


def _create(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup, dict[str, Any]]:
    from harness.ratings.question import MOST_MATCHES
    from harness.runs.questions import create_comparison, question_settings
    from harness.runs.request import RunRequest
    from harness.runs.run_setup import seeded

    if asked["other"] is None:
        raise click.UsageError("Which two bots? Name both: arena compare ONE OTHER; 'arena bots' lists them.")
    asked_for = RunRequest(
        bots=asked["company"],
        deals=asked["most"] or MOST_MATCHES,
        results=str(asked["results"]),
        **given(asked, *REQUESTED),
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


def _resume(asked: dict[str, Any]) -> tuple[RunFolder, RunSetup, dict[str, Any]]:
    from harness.runs.questions import reopen_comparison

    fixed = [
        option
        for key, option in FIXED.items()
        if asked[key] is not None and asked[key] is not False and asked[key] != ()
    ]
    if fixed:
        raise click.UsageError(f"--resume continues a comparison as it was asked for; leave out {', '.join(fixed)}.")
    run, limits = resumed(asked)
    registry = load_plugins(asked["strict"], limits["isolate"])
    return run, reopen_comparison(run, registry, asked["force"], asked["most"], asked["thorough"]), limits


def _show(run: RunFolder, found: list[Verdict], complete: bool, faults: FaultGroups, asked: dict[str, Any]) -> None:
    from harness.output.verdict_text import verdict_sentences
    from harness.runs.questions import counted

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
        note(f"More {counted(plan)}: arena compare --resume {run.folder} --most {2 * plan.deals}")
    note(f"Records and leaderboard: {run.folder}")


def _data(verdict: Verdict, run: RunFolder) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(verdict)
    gains = {"saved_ahead": verdict.ahead_gain, "saved_score": verdict.score_gain}
    saved = {name: gain and gain.saved for name, gain in gains.items()}
    return {**data, "sentence": verdict.sentence, "elo": verdict.elo, **saved, "run": str(run.folder)}
