"""The `arena sign` command."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import RUN, note, open_folder, results_option
from harness.runs import signing
from harness.runs.setup import now


@click.command("sign", short_help="Vouch for a run with a key, so that others can check it.")
@click.argument("run", type=RUN, required=False)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of your key. Default: signing-key.pem in arena's folder of your settings.",
)
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
    told: dict[str, str]
    if run is not None:
        folder = open_folder(results, run)
        signed = signing.sign_run(folder, file, now())
        told = {"run": str(folder.folder), "key": signed.key, "signed": signed.signed, "signature": signed.signature}
        if not as_json:
            click.echo(f"{folder.folder}: signed by {signed.key}.")
            note(f"Anybody can check it: arena verify {folder.folder} --key {signed.key}")
    else:
        public = signing.new_key(file) if new_key else signing.public_key(file)
        told = {"key": public, "file": str(file)}
        if not as_json:
            click.echo(public)
        if new_key:
            note(f"Your key is in {file}: keep it to yourself. The line above is for everybody.")
    if as_json:
        click.echo(json.dumps(told, indent=2))
