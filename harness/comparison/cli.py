"""The command arena compare.

Imports are inside functions so that `arena compare --help` and usage errors stay fast.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from shlex import join
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli.options import (
    BOT,
    RUN,
    given,
    load_plugins,
    make_ready,
    note,
    open_folder,
    print_faults,
    request_options,
    say,
    show,
)
from harness.comparison import NOT_COMPARED
from harness.core.options import BotLimits, run_options

if TYPE_CHECKING:
    from harness.comparison.sequential_test import Verdict
    from harness.runs.monitor import FaultGroups
    from harness.runs.store import RunFolder

FIXED = {
    "one": "the bots", "company": "--bot", "games": "--game", "options": "--option", "seed": "--seed",
    "margin": "--margin", "way": "--way", "luck_adjusted": "--luck-adjusted", "name": "--name",
}  # fmt: skip
"""Parameters that define a comparison, with their names for messages. They cannot be combined with --resume."""


@click.command("compare")
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
    help="Another bot at the table; may be repeated. Default: as many bundled bots as the game needs.",
)
@click.option("--most", type=click.IntRange(min=1), help="Stop after this many matches. Default: 6000.")
@click.option(
    "--margin",
    type=click.FloatRange(min=0, max=0.5, max_open=True),
    help="The bots count as equally good if each finishes ahead in at most one half of the matches plus this share. "
    "Default: 0.03.",
)
@click.option(
    "--way",
    type=click.Choice(["auto", "pairs", "own-deals", "gauntlet"]),
    help="Play each deal twice with the seats of the two exchanged, have a deal for each match, or let the two take "
    "turns against the others without meeting. Default: auto, the better one of the first two, by a pilot.",
)
@click.option("--thorough", is_flag=True, help="Continue to --most after the answer is known, for a narrower interval.")
@click.option(
    "--luck-adjusted",
    is_flag=True,
    help="Subtract the estimated luck from each result. Needs fewer matches, but 0.1 s more for each: useful for slow "
    "bots, such as bots that search or have learned.",
)
@click.option(
    "--resume",
    type=RUN,
    metavar="RUN",
    help="Continue the comparison in this folder, with more matches if --most or --thorough is given.",
)
@click.option("--force", is_flag=True, help="With --resume: continue although bots or rules have changed.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no notes.")
def command(
    one: str | None,
    other: str | None,
    company: tuple[str, ...],
    most: int | None,
    margin: float | None,
    way: str | None,
    thorough: bool,
    luck_adjusted: bool,
    resume: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Find out whether ONE bot is better than the OTHER: which of them finishes ahead when both sit at a table?

    They play until the answer is known. Either each deal is played twice, with the seats of the two exchanged, or each
    match has its own deal, whichever needs fewer matches. The answer is wrong in at most 5 of 100 comparisons: see
    docs/ratings.md. The matches are saved as a run under results/. After Ctrl-C, continue with --resume.

    \b
    arena compare skittish:stars=3 skittish --game el-paso
    arena compare my_bot.py diehard --bot random --bot skittish
    arena compare my_bot.py diehard --bot random --way gauntlet
    arena compare ismcts diehard --game el-paso --luck-adjusted
    arena compare --resume results/mine --most 4000
    """
    from harness.comparison.run import create_comparison, play_comparison, question_settings, reopen_comparison
    from harness.comparison.sampling_units import MAX_MATCHES
    from harness.runs.request import RunRequest
    from harness.runs.setup import resumed_limits, seeded

    typed = given(options)
    # In a comparison, the field `deals` is the maximum number of matches.
    request = RunRequest(bots=company, deals=most or MAX_MATCHES, **typed)
    make_ready(request.workers, request.threads, elsewhere=bool(request.cluster))
    if resume:
        question = {"one": one, "company": company, "margin": margin, "way": way}
        _refuse_fixed({**options, **question, "luck_adjusted": luck_adjusted or None})
        run = open_folder(options["results"], resume)
        limits = resumed_limits(run, {name: typed[name] for name in run_options(BotLimits) if name in typed}, force)
        setup = reopen_comparison(run, load_plugins(request.strict, limits.isolate), force, most, thorough)
    elif one is None or other is None:
        raise click.UsageError("Which two bots? Name both: arena compare ONE OTHER; 'arena bots' lists them.")
    else:
        # The recorded command line includes a drawn seed, so that it plays the same matches again.
        drawn = [] if request.seed is not None else ["--seed", str((request := seeded(request)).seed)]
        registry = load_plugins(request.strict, request.isolate)
        settings = question_settings(margin, way, thorough)
        line = join(["arena", *sys.argv[1:], *drawn])
        run, setup = create_comparison(one, other, request, registry, line, settings, luck_adjusted)
        limits = request.limits
    for warning in setup.warnings:
        note(f"Warning: {warning}")
    complete, faults, found = play_comparison(run, setup, limits, request, quiet)
    _show(run, found, complete, faults, as_json, quiet)
    if not complete or (request.strict and any(verdict.faults for verdict in found)):
        click.get_current_context().exit(1)


def _refuse_fixed(options: Mapping[str, object]) -> None:
    """Raise click.UsageError if options are given that cannot be combined with --resume."""
    fixed = [name for key, name in FIXED.items() if options[key] not in (None, ())]
    if fixed:
        raise click.UsageError(f"--resume continues a comparison with its own options; leave out {', '.join(fixed)}.")


def _show(
    run: RunFolder, found: list[Verdict], complete: bool, faults: FaultGroups, as_json: bool, quiet: bool
) -> None:
    from harness.comparison.run import NOTHING_YET, verdict_sentences

    if as_json:
        computed = [{"sentence": one.sentence, "elo": one.elo, "run": str(run.folder)} for one in found]
        data = [msgspec.to_builtins(one) | more for one, more in zip(found, computed, strict=True)]
        show(json.dumps(data, indent=2))
    for verdict in found if not as_json else ():
        say("\n".join(verdict_sentences(verdict)) + "\n")
    for warning in dict.fromkeys(run.warnings):
        note(f"Warning: {warning}")
    if not found:
        note(NOTHING_YET)
    if not complete:
        note(f"Not complete. Continue with: arena compare --resume {run.folder}")
    if quiet:
        return
    print_faults(run, faults)
    if complete and any(verdict.answer == "unknown" for verdict in found):
        note(f"More matches: arena compare --resume {run.folder} --most {2 * run.info.plan.deals}")
    note(f"Records and leaderboard: {run.folder}")
