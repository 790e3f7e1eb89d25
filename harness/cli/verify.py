"""The `arena verify` command."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.cli.options import (
    RUN,
    check_bot_options,
    load_plugins,
    make_ready,
    note,
    note_warnings,
    open_folder,
    results_option,
    say,
    show,
    verify_options,
)
from harness.core.errors import printable
from harness.output.outcome import stale_tables
from harness.output.progress import at_terminal, shown_work
from harness.plugins.registry import Registry
from harness.runs.signing import SignatureFinding, check_signature, signable_run, trusted_keys
from harness.runs.store import RunFolder
from harness.runs.verify import MAX_MISSING, Findings, check_run, differences
from harness.runs.verify_bots import BotFindings, check_bots

SHOWN = 20


@click.command("verify")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--sample", type=click.IntRange(min=1), help="Play only about this many records again, evenly spread.")
@verify_options("run")
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
    check_bot_options(ask_bots, isolate, workers)
    trusted = trusted_keys(keys)
    if ask_bots:
        make_ready(workers, None)  # before plugins are loaded
    # Isolated by default, whatever the run did: the run and its bots may be untrusted.
    registry = load_plugins(isolate=isolate or "on") if ask_bots else load_plugins()  # type: ignore[arg-type]  # click has checked
    opened = [open_folder(results, name) for name in runs]
    checked = []
    for run in opened:
        found = _check(run, registry, sample, ask_bots, isolate or "on", workers)
        signed = check_signature(signable_run(run), trusted)
        note_warnings(run.warnings)
        checked.append(_data(run, found, signed, bool(trusted)))
        if not as_json:
            _show(run, found, signed)
        # A sandboxed bot lacks files and the network: a bot that played without a sandbox may need them to decide the
        # same.
        if found.bots and found.bots.problems and isolate != "off" and run.info.limits.get("isolate") == "off":
            note("They played in arena's own process: if you trust them, --isolate off asks them there.")
    for run, data in zip(opened[1:], checked[1:], strict=True):
        unlike = data["differs"] = differences(opened[0], run)
        data["fine"] = data["fine"] and not unlike
        if not as_json:
            first = opened[0].folder
            same = f"differs from {first} in {len(unlike)} records" if unlike else f"equals {first}"
            say(f"{run.folder}: {same}, timing aside.")
            _list(unlike)
    if as_json:
        show(json.dumps(checked, indent=2))
    if not all(data["fine"] for data in checked):
        click.get_current_context().exit(1)


def _check(
    run: RunFolder, registry: Registry, sample: int | None, bots: bool, isolate: str, workers: int | None
) -> Findings:
    with shown_work():
        found = check_run(run, registry, sample)
        found.problems += stale_tables(run, registry.formats, found.verified)
    if not bots:
        return found
    with at_terminal("asked again", found.replayed, False, workers) as (stop, progress):
        found.bots = check_bots(run, registry, isolate, workers, found.every, found.broken, stop, progress.step)
    return found


def _show(run: RunFolder, found: Findings, signed: SignatureFinding) -> None:
    verdict = "all fit" if not found.problems else f"{len(found.problems)} problems"
    more = " or more" if len(found.missing) == MAX_MISSING else ""
    missing = f", {len(found.missing)}{more} of the schedule are missing" if found.missing else ""
    say(f"{run.folder}: {found.records} records, {found.replayed} played again: {verdict}{missing}. {signed}")
    show_uncovered(signed)
    if found.bots is None:
        faults = f" and caused {found.taken} fault{'s' * (found.taken > 1)}" if found.taken else ""
        say(f"  Not checked: whether bots chose these moves{faults}. Use --bots.")
    if not found.finished:
        say(f"  The run is not complete. Continue with: arena tournament --resume {run.folder}")
    _list(found.problems)
    _list([f"{match} is missing." for match in found.missing] if found.finished else [])
    if found.bots is not None:
        show_bots(run.folder, found.bots)


def show_uncovered(signed: SignatureFinding, besides: tuple[str, ...] = ()) -> None:
    """Print what the signature does not cover; without a good one, `besides` could have been rewritten, too."""
    if signed.state != "good":
        say(f"  Not checked without a good signature: {', '.join((*signed.uncovered, *besides))}.")
    elif signed.added:
        say(f"  Not covered by the signature, because it was added later: {', '.join(signed.added)}.")
    if signed.aside:
        say(f"  Not covered by signatures: {', '.join(signed.aside)}, which is what bots have printed.")


def show_bots(folder: Path, asked: BotFindings) -> None:
    """Print what the bots of a run, or of an era, answered when they were asked again."""
    verdict = "the bots decide as recorded" if asked.fine else f"{len(asked.problems)} decisions are not the bots'"
    if not asked.problems and not asked.fine:
        verdict = "not everything could be confirmed"
    stopped = " before it was stopped" if asked.stopped else ""
    say(f"{folder}: {asked.asked} matches asked again{stopped}: {verdict}.")
    _list([f"{name} is a person, whose moves are not asked about." for name in asked.people])
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
    return {
        "run": str(run.folder),
        "fine": found.fine and signed.is_fine(wanted),
        "finished": found.finished,
        "records": found.records,
        "replayed": found.replayed,
        "missing": found.missing,
        "problems": found.problems,
        "signature": signature_data(signed),
        "uncovered": signed.uncovered,
        "taken_faults": found.taken,
        "bots": found.bots and asdict(found.bots),
    }


def signature_data(signed: SignatureFinding) -> dict[str, Any]:
    """Return what --json prints about a signature."""
    return {name: getattr(signed, name) for name in ("state", "key", "signed", "why", "added")}


def _list(problems: list[str]) -> None:
    for problem in problems[:SHOWN]:
        say(f"  {printable(problem)}")
    if len(problems) > SHOWN:
        say(f"  and {len(problems) - SHOWN} more")
