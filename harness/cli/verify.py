"""The `arena verify` command."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import RUN, load_plugins, make_ready, note, note_warnings, open_folder, results_option

# Functions import what they need: shell completion and --help load this file, and must not wait
# for the checks and the tables (0.35 s).
if TYPE_CHECKING:
    from harness.plugins.registry import Registry
    from harness.runs.signing import SignatureFinding
    from harness.runs.store import RunFolder
    from harness.runs.verify import Findings
    from harness.runs.verify_bots import BotFindings

SHOWN = 20


@click.command("verify", short_help="Play the records of a run again and compare.")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--sample", type=click.IntRange(min=1), help="Play only about this many records again, evenly spread.")
@click.option(
    "--bots", "ask_bots", is_flag=True, help="Ask the bots again, too, and compare every decision and every fault."
)
@click.option(
    "--isolate",
    type=click.Choice(["off", "on", "strict"]),
    help="With --bots: how they are kept, as in arena tournament. Default: on.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=0, max=1024),
    help="With --bots: processes that play; 0 plays in this one. Default: ARENA_WORKERS, or one for each core.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    help="A public key, or a file of keys: the run must be signed by one of them. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@results_option
def command(
    runs: tuple[str, ...],
    sample: int | None,
    ask_bots: bool,
    isolate: str | None,
    workers: int | None,
    keys: tuple[str, ...],
    as_json: bool,
    results: Path,
) -> None:
    """Replay the records of a run and compare scores, ranks and the legality of every action.

    Also checks the checksum of every record and the signature of the run, and lists scheduled matches that are missing.
    With --bots, the bots play all matches again in sandboxed processes. Further runs are also compared with the first
    one, except for times. The exit code is 1 if anything differs or is missing.

    \b
    arena verify my-run
    arena verify my-run --sample 100
    arena verify my-run --bots
    arena verify my-run --key ed25519:l3XyR...
    arena verify run-a run-b
    """
    from harness.runs.signing import check_signature, trusted_keys
    from harness.runs.verify import differences

    if not ask_bots and (isolate or workers is not None):
        raise click.UsageError("--isolate and --workers say how bots are asked again; add --bots.")
    trusted = trusted_keys(keys)
    if ask_bots:
        make_ready(workers, None)  # before plugins are loaded
    # Isolated by default, whatever the run did: the run and its bots may be untrusted.
    registry = load_plugins(isolate=isolate or "on") if ask_bots else load_plugins()  # type: ignore[arg-type]  # click has checked
    opened = [open_folder(results, name) for name in runs]
    told = []
    for run in opened:
        found = _check(run, registry, sample, ask_bots, isolate or "on", workers)
        signed = check_signature(run, trusted)
        note_warnings(run.warnings)
        told.append(_data(run, found, signed, bool(trusted)))
        if not as_json:
            _show(run, found, signed)
        if found.bots and found.bots.problems and isolate != "off" and run.info.limits.get("isolate") == "off":
            note("They played in arena's own process: if you trust them, --isolate off asks them there.")
    for run, data in zip(opened[1:], told[1:], strict=True):
        unlike = data["differs"] = differences(opened[0], run)
        data["fine"] = data["fine"] and not unlike
        if not as_json:
            first = opened[0].folder
            same = f"differs from {first} in {len(unlike)} records" if unlike else f"equals {first}"
            click.echo(f"{run.folder}: {same}, timing aside.")
            _list(unlike)
    if as_json:
        click.echo(json.dumps(told, indent=2))
    if not all(data["fine"] for data in told):
        click.get_current_context().exit(1)


def _check(
    run: RunFolder, registry: Registry, sample: int | None, bots: bool, isolate: str, workers: int | None
) -> Findings:
    from harness.output.outcome import stale_tables
    from harness.output.progress import Progress, at_terminal
    from harness.runs.verify import check_run

    with Progress("verify") as progress:
        found = check_run(run, registry, sample, progress.step)
    found.problems += stale_tables(run, registry.formats, found.verified)
    if not bots:
        return found
    from harness.runs.verify_bots import check_bots

    with at_terminal("asked again", found.replayed, False, workers) as (stop, progress):
        found.bots = check_bots(run, registry, isolate, workers, found.every, found.broken, stop, progress.step)
    return found


def _show(run: RunFolder, found: Findings, signed: SignatureFinding) -> None:
    verdict = "all fit" if not found.problems else f"{len(found.problems)} problems"
    missing = f", {len(found.missing)} of the schedule are missing" if found.missing else ""
    click.echo(f"{run.folder}: {found.records} records, {found.replayed} played again: {verdict}{missing}. {signed}")
    if signed.state != "good":
        click.echo(f"  Not covered without a good signature: {', '.join(signed.uncovered)}.")
    elif signed.added:
        click.echo(f"  Not covered by the signature, because it was added later: {', '.join(signed.added)}.")
    if signed.aside:
        click.echo(f"  Not covered by signatures: {', '.join(signed.aside)}, which is what bots have printed.")
    if found.bots is None:
        faults = f", and {found.taken} fault{'s' * (found.taken > 1)}" if found.taken else ""
        click.echo(f"  Taken as recorded: who chose the moves{faults}; --bots asks the bots.")
    if not found.finished:
        click.echo(f"  The run is not complete. Continue with: arena tournament --resume {run.folder}")
    _list(found.problems)
    _list([f"{match} is missing." for match in found.missing] if found.finished else [])
    if found.bots is not None:
        _show_bots(run, found.bots)


def _show_bots(run: RunFolder, asked: BotFindings) -> None:
    verdict = "the bots decide as recorded" if asked.fine else f"{len(asked.problems)} decisions are not the bots'"
    if not asked.problems and not asked.fine:
        verdict = "not everything could be confirmed"
    stopped = " before it was stopped" if asked.stopped else ""
    click.echo(f"{run.folder}: {asked.asked} matches asked again{stopped}: {verdict}.")
    _list([f"In this run {bot} is {what}." for bot, what in asked.given_names.items()])
    _list(asked.problems)
    _list([f"{bot} could not be asked: {why.removesuffix('.')}." for bot, why in asked.unasked.items()])
    _list(
        [
            f"{bot} is not repeatable: asked twice it decides differently, first in {where}."
            for bot, where in asked.unrepeatable.items()
        ]
    )
    _list(asked.unconfirmed)


def _data(run: RunFolder, found: Findings, signed: SignatureFinding, wanted: bool) -> dict[str, Any]:
    # Without --key a run need not be signed; with it, nothing may have been added after the signature.
    fine = signed.state in (("good",) if wanted else ("good", "unsigned", "not checked"))
    fine = fine and not (wanted and signed.added)
    return {
        "run": str(run.folder),
        "fine": found.fine and fine,
        "finished": found.finished,
        "records": found.records,
        "replayed": found.replayed,
        "missing": found.missing,
        "problems": found.problems,
        "signature": {name: getattr(signed, name) for name in ("state", "key", "signed", "why", "added")},
        "uncovered": signed.uncovered,
        "taken_faults": found.taken,
        "bots": found.bots and asdict(found.bots),
    }


def _list(problems: list[str]) -> None:
    for problem in problems[:SHOWN]:
        click.echo(f"  {problem}")
    if len(problems) > SHOWN:
        click.echo(f"  and {len(problems) - SHOWN} more")
