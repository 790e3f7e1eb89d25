"""How bots' processes are started: from a snapshot of what is theirs, with what is installed, and with nothing else."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from harness.core.errors import UsageError
from harness.plugins.program_files import LIST, ProgramFiles, program_files
from harness.plugins.visible_code import visible_code
from harness.sandbox.jail import SYSTEM
from harness.sandbox.launch import Launch, with_absolute_paths

_MISSES_A_FILE = re.compile(r"no such file|cannot find|can't open|not found|ENOENT|ModuleNotFound", re.IGNORECASE)


def python_launch(
    entry: str,
    request: Mapping[str, object],
    classes: Iterable[type] = (),
    place: Path | None = None,
    copied: bool = False,
) -> Launch:
    """A launch of Python that calls our function `entry` with `request`.

    It can import all that is installed, and the packages that `classes` are from; `place` is its bot's snapshot, and
    `copied` says that it forks a copy of itself for each match.
    """
    code = visible_code(classes)
    readable = {*code.readable, *([str(place)] if place else [])}
    return Launch(entry=entry, request=request, readable=tuple(sorted(readable)), packages=code.packages, copied=copied)


def files_of_command(command: str) -> ProgramFiles:
    """What belongs to a program, by its command."""
    words = shlex.split(command)
    return program_files(words, with_absolute_paths(words), SYSTEM)


def program_launch(program: ProgramFiles, home: str, confined: bool) -> Launch:
    """A launch of a program: confined, of its snapshot in the folder `home`; otherwise of the program where it is."""
    if not confined:
        return Launch(program.argv)
    if not program.own:
        return Launch(program.argv, readable=program.installed)
    place = program.snapshot().write(home)
    return Launch(program.moved(place), readable=(str(place), *program.installed))


def hint_of_program(program: ProgramFiles, failure: str) -> str:
    """What to do about a confined program that fails like this, if it looks as if a file were missing."""
    named = [Path(program.argv[number]).name for number in program.own]
    if not named or not _MISSES_A_FILE.search(failure):
        return ""
    return f" Isolated, it sees only the files that its command names: list what else it needs in {named[-1]}{LIST}."


def hint_of_bot(folder: Path, failure: str) -> str:
    """What to do about a bot that fails like this, if it looks for a file that lies beside it but is not its own."""
    for name in re.findall(r"['\"]([^'\"\n]+)['\"]", failure):
        if (folder / name).is_file():
            return f" {name} lies beside it; isolated, it sees what it declares: files = ({name!r},)."
    return ""


def private_folders(logs: str) -> tuple[str, ...]:
    """Where the operator's own files are, also when the system's folders hold them: here, at home, at the results."""
    found = [str(Path(logs).absolute().parents[1])] if logs else []
    for where in (Path.cwd, Path.home):
        with suppress(OSError, RuntimeError):  # this folder may be gone, and a daemon has no home
            found.append(str(where()))
    return tuple(found)


def check_unchanged(name: str, now: str, entered: str) -> None:
    """Refuses a bot whose files are not those that were entered."""
    if now != entered:
        raise UsageError(f"The files of {name} have been changed since it was entered: enter it again.")
