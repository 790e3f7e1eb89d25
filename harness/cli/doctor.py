"""arena doctor."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence

import click

SHOWN = 5
"""What got through is named up to so many."""
COUNTED = {"cgroup": ", counted by the kernel (cgroup v2)", "arena": ", counted by arena (no cgroup v2 to use)"}


@click.command("doctor", short_help="Find out what this machine can enforce against a stranger's bot.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """Find out what this machine can enforce against a stranger's bot.

    A program is run as --isolate runs bots, and tries to get away with what a bot must not do. The exit code is 1 if
    something cannot be enforced: then --isolate=strict refuses to run here.

    \b
    arena doctor
    arena doctor --json
    """
    from harness.sandbox.doctor import probe

    found = probe()
    kept = all(guarantee.enforced for guarantee in found)
    if as_json:
        data = {guarantee.name: guarantee.enforced for guarantee in found}
        through = {guarantee.name: guarantee.through for guarantee in found if guarantee.through}
        by = {guarantee.name: guarantee.by for guarantee in found if guarantee.by}
        click.echo(json.dumps({"strict": kept, "enforced": data, "through": through, "by": by}, indent=2))
    else:
        click.echo(f"Python {platform.python_version()}, {platform.system()} {platform.release()}. An isolated bot:")
        for guarantee in found:
            click.echo(f"  {'yes' if guarantee.enforced else 'NO ':3}  {guarantee.text}{COUNTED.get(guarantee.by, '')}")
            if guarantee.through:
                click.echo(f"       got through: {_listed(guarantee.through)}")
        click.echo(_advice(kept))
    if not kept:
        click.get_current_context().exit(1)


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN} more (--json lists them)" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


def _advice(kept: bool) -> str:
    if kept:
        return "--isolate=strict runs here."
    if sys.platform != "linux":
        return "Isolation is at its full strength on Linux only. Run strangers' bots there, or in a virtual machine."
    return (
        "--isolate=strict refuses to run here. Most of it needs user namespaces (often forbidden inside containers) or "
        "Landlock (Linux 5.13 or newer); see docs/security.md."
    )
