"""The `arena sign` command."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import RUN, key_file_option, note, open_folder, results_option, show
from harness.runs import signing
from harness.runs.store import now


@click.command("sign")
@click.argument("run", type=RUN, required=False)
@key_file_option
@click.option("--new-key", is_flag=True, help="Make a key, and print the public one.")
@click.option("--show-key", is_flag=True, help="Print the public key: what others check your runs with.")
@click.option("--json", "as_json", is_flag=True, help="Print key and signature as JSON.")
@results_option
def command(run: str | None, key: Path | None, new_key: bool, show_key: bool, as_json: bool, results: Path) -> None:
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
        signed = signing.sign_run(folder, file, now())
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
