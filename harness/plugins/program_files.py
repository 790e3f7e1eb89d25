"""What belongs to a program that was entered by a command: the files that the command names, and what they list.

A program is not asked what it reads before it runs, and nobody can see it in its code. So the rule is short: it has
the files and folders that are words of its command; a Python file also has the modules beside it that it imports, one
of JavaScript its package.json; and any file may have a list beside it, `bot.js.files` beside `bot.js`, of what else it
needs from its folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.plain_files import UnfitFile, read_plain
from harness.plugins.bot_files import sources_of
from harness.plugins.identity import digest_of_files
from harness.plugins.snapshots import Snapshot, is_linked_to_a_run, is_of_a_run

LIST = ".files"
"""What stands behind the name of a file in the name of the list beside it."""
MOST_FILES, MOST_BYTES = 20_000, 1 << 30
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts")
_LIBRARIES = ("lib", "lib64", "libexec", "conf")
"""What an installed program has beside its `bin` folder."""
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What makes a folder an environment, which holds installed programs and nothing else."""


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """A command, what of it is copied, and what it needs to read where it is."""

    argv: tuple[str, ...]
    """The command with absolute paths."""
    own: tuple[int, ...]
    """Which of its words name files or folders that are the program's own."""
    typed: bool = True
    """Whether the program that is run was named by its place, or is all there is: then it is part of what this is."""

    @property
    def installed(self) -> tuple[str, ...]:
        """What the program that is run needs of the place that it is installed in; none if it is copied."""
        if 0 in self.own:
            return ()
        found = set[Path]()
        for program in _links(Path(self.argv[0])):
            home = program.parents[1] if program.parent.name == "bin" else None
            whole = home is not None and any((home / name).exists() for name in _ENVIRONMENT)
            if home is not None:
                found |= {home} if whole else {home / name for name in _LIBRARIES}
            found.add(program)
        return tuple(sorted(str(path) for path in found if path.exists()))

    def digest(self) -> str:
        """What identifies the program: the files that its command names, and those that come with them."""
        first = 0 if self.typed else 1
        named = [number for number, word in enumerate(self.argv) if number >= first and Path(word).is_file()]
        files = {f"{number}:{Path(self.argv[number]).name}": Path(self.argv[number]).read_bytes() for number in named}
        words, top = {Path(self.argv[number]) for number in named}, self._top()
        more = [file for file in self._all() if file not in words and file.is_file()]
        return digest_of_files(files | {f"with:{file.relative_to(top).as_posix()}": file.read_bytes() for file in more})

    def snapshot(self) -> Snapshot:
        """A copy of what is its own; files keep their places to each other."""
        files, links, runnable = dict[str, bytes](), dict[str, str](), set[str]()
        top = self._top()
        for file in self._all():
            name = file.relative_to(top).as_posix()
            if file.is_symlink() and not file.readlink().is_absolute():
                links[name] = str(file.readlink())
                continue
            try:
                files[name] = read_plain(file, MOST_BYTES)
            except UnfitFile as error:
                raise UsageError(f"Cannot read {file}: {error}.") from error
            if file.stat().st_mode & 0o100:
                runnable.add(name)
        return Snapshot(files, "", frozenset(runnable), links)

    def moved(self, place: Path) -> tuple[str, ...]:
        """The command for the copy in this folder."""
        top = self._top()
        return tuple(
            str(place / Path(word).relative_to(top)) if number in self.own else word
            for number, word in enumerate(self.argv)
        )

    def _top(self) -> Path:
        """The folder that all of it is in."""
        named = [Path(self.argv[number]) for number in self.own]
        return Path(os.path.commonpath([one if one.is_dir() else one.parent for one in named])) if named else Path("/")

    def _all(self) -> list[Path]:
        found = sorted({file for number in self.own for file in _belonging(Path(self.argv[number]))})
        if len(found) > MOST_FILES or sum(file.stat().st_size for file in found if file.is_file()) > MOST_BYTES:
            raise UsageError(
                f"The program {self.argv[self.own[0]]} comes with more than {MOST_FILES:,} files or "
                f"{MOST_BYTES >> 20} MB: name fewer of them."
            )
        return found


def program_files(words: Sequence[str], argv: Sequence[str], system: Sequence[str]) -> ProgramFiles:
    """What belongs to a command: `words` as they were typed, `argv` with absolute paths.

    `system` are the folders that every program sees.
    """
    visible = [Path(path) for path in system]
    own = []
    for number, word in enumerate(argv):
        path = Path(word)
        if not path.is_absolute() or not (path.is_file() or path.is_dir()):
            continue
        if any(path.is_relative_to(folder) for folder in visible):
            continue
        if number == 0 and (os.sep not in words[0] or path.parent.name == "bin"):
            continue  # it is installed, and stays where it is
        if number and not Path(words[number]).exists():
            continue
        own.append(number)
    return ProgramFiles(tuple(argv), tuple(own), os.sep in words[0] or len(argv) == 1)


def _links(path: Path) -> Iterator[Path]:
    """A program, and what it leads to if it is a link, step by step."""
    for _ in range(40):
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def _belonging(place: Path) -> Iterator[Path]:
    """The files of a word: itself or its tree, the modules that it imports, and what its list names."""
    if place.is_dir():
        yield from _tree(place)
        return
    yield place
    if place.suffix == ".py":
        yield from (place.parent / name for name in sources_of(str(place)))
    package = place.with_name("package.json")
    if place.suffix in _JAVASCRIPT and package.is_file():  # it says what kind of modules these are
        yield package
    listed = place.with_name(place.name + LIST)
    if listed.is_file():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            name = line.strip()
            if name and not name.startswith("#"):
                yield from _listed(listed, name)


def _listed(listed: Path, name: str) -> Iterator[Path]:
    folder = listed.parent
    there = folder / name
    if not there.resolve().is_relative_to(folder.resolve()) or not there.exists():
        raise UsageError(f"{listed} lists {name!r}, which is nothing in its folder.")
    if any(part.startswith(".") and part != "." for part in Path(name).parts):
        raise UsageError(f"{listed} lists {name!r}: hidden files are no program's.")
    if there.is_dir():
        yield from _tree(there)
    elif is_of_a_run(there.parent) or is_linked_to_a_run(there):
        raise UsageError(f"{listed} lists {name!r}, which belongs to a run: no bot may see that.")
    else:
        yield there


def _tree(folder: Path) -> Iterator[Path]:
    """All files below a folder, except those of runs; links that lead out of it are left out."""
    for private in (Path.home(), Path.cwd()):
        if private.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"A program cannot have all of {folder}, where your own files are: name a folder of its own."
            )
    for path, folders, files in os.walk(folder):
        if is_of_a_run(Path(path)):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted([*files, *(each for each in folders if Path(path, each).is_symlink())]):
            file = Path(path, name)
            inside = file.resolve().is_relative_to(folder.resolve())
            if inside and (file.is_file() or file.is_symlink()) and not is_linked_to_a_run(file):
                yield file
