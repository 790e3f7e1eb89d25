"""Whether a name means the same bot in several runs: by the digest of its source, and by its options."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

from harness.core.errors import UsageError
from harness.plugins.bot_spec import named
from harness.runs.store import EntrantInfo, RunFolder

COMMAND = "cmd:"


def check_same_bots(runs: Sequence[RunFolder], besides: Collection[str] = ()) -> None:
    """Refuses runs in which one name stands for two bots, unless that name is `besides` the question."""
    known: dict[str, tuple[EntrantInfo, RunFolder]] = {}
    for run in runs:
        for bot in run.info.entrants:
            old, where = known.setdefault(bot.name, (bot, run))
            differs = difference(old, bot)
            if differs and bot.name not in besides:
                raise UsageError(
                    f"{bot.name} is not the same bot in {where.folder} and in {run.folder} ({differs}). Rate the runs "
                    f"apart, leave it out (arena leaderboard ... --without {bot.name}), or have versions play under "
                    f"names of their own (--bot v2={bot.name})."
                )


def difference(one: EntrantInfo, other: EntrantInfo) -> str:
    """In what two entrants of one name differ; empty if they are the same bot. Where it lies does not matter. An older
    arena did not know digests: then versions must do."""
    if one.digest and other.digest:
        if one.digest != other.digest:
            return f"its source is {one.digest} and {other.digest}"
    elif one.version != other.version:
        return f"version {one.version} and {other.version}"
    first, second = _typed(one.spec), _typed(other.spec)
    return f"entered as {first} and {second}" if first != second else ""


def _typed(spec: str) -> str:
    """What was entered, without where it lies and the name that was given to it."""
    if COMMAND in spec:
        command = spec.partition(COMMAND)[2]
        try:
            return shlex.join(Path(word).name or word for word in shlex.split(command))
        except ValueError:
            return command
    return named(spec)[1].rpartition("::")[2]
