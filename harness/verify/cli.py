"""The commands `arena verify` and `arena sign`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.cli.options import (
    RUN,
    check_bot_options,
    key_file_option,
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
from harness.core.records import Isolation
from harness.runs.store import RunFolder
from harness.verify import signing
from harness.verify.bots import BotFindings
from harness.verify.records import MAX_MISSING, Findings, differences, verify_run
from harness.verify.signing import SignatureFinding, check_signature, signable_run, trusted_keys

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
    isolate: Isolation | None,
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
    registry = load_plugins(isolate=isolate or "on") if ask_bots else load_plugins()
    opened = [open_folder(results, name) for name in runs]
    checked = []
    for run in opened:
        found = verify_run(run, registry, sample, ask_bots, isolate or "on", workers, quiet=False)
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


@click.command("sign")
@click.argument("run", type=RUN, required=False)
@key_file_option
@click.option("--new-key", is_flag=True, help="Make a key, and print the public one.")
@click.option("--show-key", is_flag=True, help="Print the public key: what others check your runs with.")
@click.option("--json", "as_json", is_flag=True, help="Print key and signature as JSON.")
@results_option
def sign_command(
    run: str | None, key: Path | None, new_key: bool, show_key: bool, as_json: bool, results: Path
) -> None:
    """Sign a RUN with an Ed25519 key: its run.json and every record.

    Create a key once, publish its public part, and sign the runs that you publish. The signature is a file in the run's
    folder, which 'arena verify' checks. Needs pip install 'arena-harness[sign]'.

    \b
    arena sign --new-key
    arena sign my-run
    arena verify my-run --key ed25519:l3XyR...
    """
    file = key or signing.default_key()
    if new_key + show_key + (run is not None) != 1:
        raise click.UsageError("Name one run to sign, or ask for --new-key or --show-key.")
    if run is not None:
        folder = open_folder(results, run)
        signed = signing.sign_run(folder, file)
        report_signature("run", folder.folder, signed, f"arena verify {folder.folder} --key {signed.key}", as_json)
        return
    public = signing.new_key(file) if new_key else signing.public_key(file)
    show(json.dumps({"key": public, "file": str(file)}, indent=2) if as_json else public)
    if new_key:
        note(f"Your key is in {file}: keep it to yourself. The line above is for everybody.")


def report_signature(kind: str, folder: Path, signed: signing.Signature, check: str, as_json: bool) -> None:
    """Print who has signed a run or a league, and what to type to check that."""
    if as_json:
        data = {"key": signed.key, "signed": signed.signed, "signature": signed.signature}
        show(json.dumps({kind: str(folder), **data}, indent=2))
    else:
        show(f"{folder}: signed by {signed.key}.")
        note(f"Anybody can check it: {check}")
