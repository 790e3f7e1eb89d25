"""`arena doctor`: what this machine can enforce against untrusted bots, and how Arena is installed."""

from __future__ import annotations

import json
import platform
import sys
import textwrap
from collections.abc import Sequence

import click
from msgspec import to_builtins

from harness.cli.options import note, show
from harness.core.compiled import build_form, stale_modules
from harness.core.table import Table, columns
from harness.executors.base import default_workers, load_cluster
from harness.isolation.doctor import probe
from harness.output.tables import grid_text
from harness.output.text import WIDTH
from harness.plugins.features import CLUSTER_CHECKUP

SHOWN = 5
"""Maximum number of listed items; --json prints all."""
COUNTED = {
    "cgroup": ", which the kernel enforces for all its processes together (cgroup v2)",
    "process": ", which Arena checks every 25 ms, because there is no cgroup v2 to use; with --isolate=strict a bot "
    "has a single process, and the kernel enforces its limit",
    "arena": ", which Arena checks every 25 ms, because there is no cgroup v2 to use",
}

WORKERS = (
    "Workers: {workers} by default, one for each core. Bots that wait for a network or a GPU leave the cores idle: "
    "try --workers with 4 to 8 for each core."
)


@click.command("doctor")
@click.option(
    "--cluster",
    metavar="CLUSTER",
    help="Ask every node of a Dask cluster instead: what it has, and what it can enforce. An address, local:4, ...",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(cluster: str | None, as_json: bool) -> None:
    """Report what this machine, or each node of a cluster, can enforce against untrusted bots.

    A program runs in the sandbox of --isolate and tries to do what a bot must not do. The exit code is 1 if
    something cannot be enforced: then --isolate=strict refuses to run here. It is also 1 if compiled modules of arena
    do not match their sources, or if a node has another version of Python or arena.

    \b
    arena doctor
    arena doctor --json
    arena doctor --cluster tcp://10.0.0.1:8786
    """
    if cluster:
        return _cluster(cluster, as_json)
    # Probed, not looked up: what a kernel, a container and a security module allow together is known only by trying.
    found, old = probe(), stale_modules()
    kept = all(guarantee.enforced for guarantee in found)
    if as_json:
        data = {guarantee.name: guarantee.enforced for guarantee in found}
        through = {guarantee.name: guarantee.through for guarantee in found if guarantee.through}
        by = {guarantee.name: guarantee.by for guarantee in found if guarantee.by}
        show(
            json.dumps(
                {"strict": kept, "enforced": data, "through": through, "by": by, "form": build_form(), "stale": old},
                indent=2,
            )
        )
    else:
        show(f"Python {platform.python_version()}, {platform.system()} {platform.release()}. An isolated bot:")
        for guarantee in found:
            answer, how = "yes" if guarantee.enforced else "NO ", COUNTED.get(guarantee.by, "")
            _show_wrapped(f"{guarantee.text}{how}", f"  {answer}  ")
            if guarantee.through:
                _show_wrapped(f"got through: {_listed(guarantee.through)}", "       ")
        _show_wrapped(_advice(kept))
        show(f"Arena itself: {build_form()}.")
        _show_wrapped(WORKERS.format(workers=default_workers()))
        for module in old:
            show(f"  {module} was compiled from another source than the one that is here.")
        if old:
            show("Compile again (ARENA_COMPILE=1 pip install .), or delete all compiled files of arena,")
            show("arena__mypyc among them: they reach each other there.")
    if not kept or old:
        click.get_current_context().exit(1)
    return None


def _cluster(named: str, as_json: bool) -> None:
    checkup = load_cluster(CLUSTER_CHECKUP)
    found = checkup.diagnose_cluster(named, note)
    if as_json:
        show(json.dumps([{**to_builtins(one), "same": one.same} for one in found], indent=2))
    else:
        rows = [
            [
                one.node,
                one.host,
                one.threads,
                one.python.rpartition(" ")[2],
                f"{one.arena.partition(' ')[0]} {one.form.partition(' ')[0]}",
                "yes" if one.same else "NO",
                one.problem or _listed(one.lacking) or "-",
            ]
            for one in found
        ]
        head = columns("text", "node", "host", "threads", "python", "arena", "as here", "not enforced")
        show(grid_text(Table("nodes", head, rows)))
        show(f"\nHere: {checkup.python_here()}, arena {checkup.arena_here()}.")
    if not all(one.same and one.enforced and not one.lacking for one in found):
        click.get_current_context().exit(1)


def _show_wrapped(text: str, first: str = "") -> None:
    indent = " " * len(first)
    show(textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False))


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - SHOWN} more (--json lists them)" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


def _advice(kept: bool) -> str:
    if kept:
        return "--isolate=strict runs here."
    if sys.platform != "linux":
        return "Isolation is at its full strength on Linux only. Run untrusted bots there, or in a virtual machine."
    return (
        "--isolate=strict refuses to run here. Most of it needs user namespaces (often forbidden inside containers) or "
        "Landlock (Linux 5.13 or newer); see docs/security.md."
    )
