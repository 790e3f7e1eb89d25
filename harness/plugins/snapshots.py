"""Copies of a bot's files, for sandboxes, nodes and leagues; also of programs and of imported packages."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from harness.core.compiled import LIBRARY, library_path
from harness.core.errors import PluginError, UsageError
from harness.core.files import MAX_DATA_BYTES, MAX_TEXT_BYTES, UnreadableFile, read_regular_file
from harness.core.options import NO_FILES
from harness.plugins.bot_files import OURS, bot_file, declared_file, digest_of_files, sources_of, syntax_nodes
from harness.plugins.entrants import BotDescription, Entrant

if TYPE_CHECKING:
    from importlib.metadata import Distribution

# Snapshots: copies of all files of a bot, in a folder that is named by their digest.
#
# A sandboxed bot sees its snapshot instead of its folder. So it can read nothing else in that folder, and it stays as
# it was entered, whatever its author does to the files meanwhile.


RUN_FILE = "run.json"
"""A folder with this file is that of a run; the file holds the seed, which no bot may see."""
_READ_ONLY, _RUNNABLE = 0o444, 0o555
_WORDS_OF_RUNS = (
    (b'"plan":', b'"entrants":', b'"seed":'),
    (b'"seats":', b'"actions":', b'"seed":'),
    (b'{"match":', b'"notes":'),
)
"""Words that occur together in run.json, in records, or in the notes of bots."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a bot, as they were read."""

    files: Mapping[str, bytes]
    """By their paths in the snapshot."""
    start: str = ""
    """The file or package to load: a path in the snapshot."""
    runnable: frozenset[str] = frozenset()
    """The files that are executable."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links within the snapshot, and their targets relative to their folders."""

    @property
    def digest(self) -> str:
        """Return the digest of its files and links."""
        links = {f"link:{name}": target.encode() for name, target in self.links.items()}
        return digest_of_files({**self.files, **links})

    @property
    def name(self) -> str:
        """Return the name of its folder."""
        return self.digest.partition(":")[2]

    def write(self, home: str) -> Path:
        """Write it into a folder below `home` that all users may read, and return that; it is written only once."""
        return write_once(Path(home, self.name), self.files, self.runnable, self.links)


def write_once(
    place: Path, files: Mapping[str, bytes], runnable: Collection[str] = (), links: Mapping[str, str] = NO_FILES
) -> Path:
    """Write these files and links into the folder `place`, readable for all users, and return it.

    It appears complete or not at all. If it exists it is not written again: it is named by the digest of its content.
    """
    if place.exists():
        return place
    # In the same folder, because a rename is only atomic within one file system.
    half = Path(tempfile.mkdtemp(prefix="half-", dir=place.parent))
    try:
        for name, content in files.items():
            file = half / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(_RUNNABLE if name in runnable else _READ_ONLY)
        for name, target in links.items():
            (half / name).parent.mkdir(parents=True, exist_ok=True)
            (half / name).symlink_to(target)
        for folder in (half, *(path for path in half.rglob("*") if path.is_dir() and not path.is_symlink())):
            folder.chmod(0o755)  # mkdtemp makes a folder that only its owner can read
        half.rename(place)
    except OSError:
        if not place.is_dir():  # otherwise another process has written the same one meanwhile
            raise
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return place


def bot_snapshot(path: str, sources: Mapping[str, bytes], data: Iterable[str] = ()) -> Snapshot:
    """Return a snapshot of a bot in a file or package: its texts as they were loaded, and its data files."""
    file = bot_file(path)
    folder = file.parent
    package = f"{folder.name}/" if file.name == "__init__.py" else ""
    files = {package + name: content for name, content in sources.items()}
    try:
        files |= {package + name: read_regular_file(data_file(path, name), MAX_DATA_BYTES) for name in data}
    except UnreadableFile as error:
        raise PluginError(f"{path}: a data file that it declares cannot be read: {error}.") from error
    return Snapshot(files, package.rstrip("/") or file.name)


def data_file(path: str, name: str) -> Path:
    """Return the data file that a bot in `path` declares under this name; raises PluginError if it may not have it.

    The file is copied to where the bot may read it, so an untrusted bot must not get a file that is not its own.
    """
    folder, file = bot_file(path).parent, declared_file(path, name)
    inside = file.relative_to(folder)
    if any(part.startswith(".") for part in inside.parts):
        raise PluginError(f"{path} declares {name!r}, but no bot may read hidden files.")
    folders = (folder.joinpath(*inside.parts[:depth]) for depth in range(len(inside.parts)))
    if any(map(is_run_folder, folders)) or is_linked_to_run(file):
        raise PluginError(f"{path} declares {name!r}, which belongs to a run: no bot may read that.")
    return file


def is_linked_to_run(file: Path) -> bool:
    """Return whether a file is a hard link to a file of a run.

    Package managers use hard links, too, so the content decides.
    """
    try:
        if file.stat().st_nlink < 2:
            return False
        with file.open("rb") as opened:
            head = opened.read(1 << 16)
    except OSError:
        return False  # the caller gets the error when it reads the file
    return any(all(word in head for word in words) for words in _WORDS_OF_RUNS)


def is_run_folder(folder: Path) -> bool:
    """Return whether a folder is that of a run."""
    return (folder / RUN_FILE).exists()


def declared_in(path: str, sources: Mapping[str, bytes]) -> list[str]:
    """Return the existing data files that a bot's texts declare as literals, `files = ("weights.npz",)`.

    A bot may read its data while it is loaded, so this must be known before it is loaded, without running anything.
    """
    found = dict.fromkeys(name for text in sources.values() for name in _declared(text))
    folder = bot_file(path).parent
    return [name for name in found if (folder / name).is_file()]


def _declared(text: bytes) -> Iterator[str]:
    for cls in syntax_nodes(text):
        for line in cls.body if isinstance(cls, ast.ClassDef) else ():
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == "files" for target in targets):
                value = getattr(line, "value", None)
                for item in value.elts if isinstance(value, ast.Tuple | ast.List) else ():
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield item.value


# Bundles: bots as they are shipped to workers, sandboxes, nodes and the stores of leagues.


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bot as data. Its code is loaded only where it plays; reading a bundle runs nothing of a bot in a file."""

    entrant: Entrant
    """An installed bot with its class, which is sent by name; otherwise with a description of it."""
    files: Snapshot | None = None
    """All files of a bot in a file; None if the receiver can read them where they are, or needs none."""


def make_bundle(entrant: Entrant, with_files: bool = True) -> Bundle:
    """Return the bundle of a bot; without its data files if the receiver reads them where they are."""
    if not entrant.isolated and not entrant.sources:
        return Bundle(entrant)
    described = replace(entrant, bot=BotDescription.of_bot(entrant.bot))
    if entrant.isolated:
        # Its own process has its files. Arena's processes must not have code that is not to run in them.
        return Bundle(replace(described, sources={}, consulted=()))
    files = bot_snapshot(entrant.source, entrant.sources, entrant.bot.files) if with_files else None
    return Bundle(described, files)


def unpack_bundle(bundle: Bundle, home: str) -> Entrant:
    """Return the entrant of a bundle; its files, if it has any, are written into a folder below `home`."""
    if bundle.files is None:
        return bundle.entrant
    return replace(bundle.entrant, source=str(bundle.files.write(home) / bundle.files.start))


# Files of a program that was entered by a command: those that the command names, and those that these list.
#
# A program cannot be asked what it reads before it runs, and its code does not show it. So the rule is simple: it has
# the files and folders that are words of its command. A Python file also has the modules beside it that it imports, a
# JavaScript file its package.json. Any file may have a list beside it, `bot.js.files` beside `bot.js`, of what else it
# needs from its folder.


LIST = ".files"
"""Suffix of the list beside a file."""
MAX_FILES, MAX_TOTAL_BYTES = 20_000, 1 << 30
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts")
_LIBRARIES = ("lib", "lib64", "libexec", "conf")
"""Folders of an installed program beside its `bin` folder."""
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""A folder with one of these is an environment, which holds nothing but installed programs."""


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """A command, and which of its files are copied."""

    argv: tuple[str, ...]
    """The command with absolute paths."""
    own: tuple[int, ...]
    """Positions of the words that name files or folders of the program itself."""
    typed: bool = True
    """Whether the executable counts for the digest: it was named by its path, or there is nothing else."""

    @property
    def installed(self) -> tuple[str, ...]:
        """Return the installed files that the executable needs; none if it is copied."""
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
        """Return the digest of the files that the command names and of those that belong to them."""
        first = 0 if self.typed else 1
        named = [number for number, word in enumerate(self.argv) if number >= first and Path(word).is_file()]
        places = {f"{number}:{Path(self.argv[number]).name}": Path(self.argv[number]) for number in named}
        words, top = {*places.values()}, self._top()
        more = [file for file in self._all() if file not in words and file.is_file()]
        places |= {f"with:{file.relative_to(top).as_posix()}": file for file in more}
        files, room = dict[str, bytes](), MAX_TOTAL_BYTES
        for name, file in places.items():
            files[name] = _read(file, room)
            room -= len(files[name])
        return digest_of_files(files)

    def snapshot(self) -> Snapshot:
        """Return a copy of its own files, which keep their relative paths."""
        files, links, runnable = dict[str, bytes](), dict[str, str](), set[str]()
        top = self._top()
        for file in self._all():
            name = file.relative_to(top).as_posix()
            if file.is_symlink() and not file.readlink().is_absolute():
                links[name] = str(file.readlink())
                continue
            files[name] = _read(file, MAX_TOTAL_BYTES)
            if file.stat().st_mode & 0o100:
                runnable.add(name)
        return Snapshot(files, "", frozenset(runnable), links)

    def moved(self, place: Path) -> tuple[str, ...]:
        """Return the command for the copy in this folder."""
        top = self._top()
        return tuple(
            str(place / Path(word).relative_to(top)) if number in self.own else word
            for number, word in enumerate(self.argv)
        )

    def _top(self) -> Path:
        """Return the folder that holds all its own files."""
        named = [Path(self.argv[number]) for number in self.own]
        return Path(os.path.commonpath([one if one.is_dir() else one.parent for one in named])) if named else Path("/")

    def _all(self) -> list[Path]:
        found = sorted({file for number in self.own for file in _belonging(Path(self.argv[number]))})
        if len(found) > MAX_FILES or sum(file.stat().st_size for file in found if file.is_file()) > MAX_TOTAL_BYTES:
            raise UsageError(
                f"The program {self.argv[self.own[0]]} has more than {MAX_FILES:,} files or "
                f"{MAX_TOTAL_BYTES >> 20} MB: name fewer of them."
            )
        return found


def program_files(words: Sequence[str], argv: Sequence[str], system: Sequence[str]) -> ProgramFiles:
    """Return the files of a command: `words` as they were typed, `argv` with absolute paths.

    `system` are the folders that every program can read.
    """
    visible = [Path(path) for path in system]
    own = []
    for number, word in enumerate(argv):
        path = Path(word)
        if not path.is_absolute() or not (path.is_file() or path.is_dir()):
            continue
        if any(path.is_relative_to(folder) for folder in visible):
            continue
        # What is in a bin folder needs the libraries beside that folder, which cannot be copied file by file.
        if number == 0 and (os.sep not in words[0] or path.parent.name == "bin"):
            continue  # it is installed, and runs from where it is
        if number and not Path(words[number]).exists():
            continue
        own.append(number)
    return ProgramFiles(tuple(argv), tuple(own), os.sep in words[0] or len(argv) == 1)


def _links(path: Path) -> Iterator[Path]:
    """Yield a program, and the targets that it leads to if it is a symbolic link."""
    for _ in range(40):  # the limit of Linux
        yield path
        if not path.is_symlink():
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def _belonging(place: Path) -> Iterator[Path]:
    """Yield the files of a word: itself or its tree, the modules that it imports, and what its list names."""
    if place.is_dir():
        yield from _tree(place)
        return
    yield place
    if place.suffix == ".py":
        yield from (place.parent / name for name in sources_of(str(place)))
    package = place.with_name("package.json")
    if place.suffix in _JAVASCRIPT and package.is_file():  # it declares the kind of modules
        yield package
    listed = place.with_name(place.name + LIST)
    if listed.is_file():
        for line in _read(listed, MAX_TEXT_BYTES).decode(errors="replace").splitlines():
            name = line.strip()
            if name and not name.startswith("#"):
                yield from _listed(listed, name)


def _read(file: Path, most: int) -> bytes:
    try:
        return read_regular_file(file, most)
    except UnreadableFile as error:
        raise UsageError(f"Cannot read {file}: {error}.") from error


def _listed(listed: Path, name: str) -> Iterator[Path]:
    folder = listed.parent
    there = folder / name
    if not there.resolve().is_relative_to(folder.resolve()) or not there.exists():
        raise UsageError(f"{listed} lists {name!r}, which is not in its folder.")
    if any(part.startswith(".") and part != "." for part in Path(name).parts):
        raise UsageError(f"{listed} lists {name!r}, but no program may read hidden files.")
    if there.is_dir():
        yield from _tree(there)
    elif is_run_folder(there.parent) or is_linked_to_run(there):
        raise UsageError(f"{listed} lists {name!r}, which belongs to a run: no bot may read that.")
    else:
        yield there


def _tree(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder, except those of runs and links that lead out of the folder."""
    for private in (Path.home(), Path.cwd()):
        if private.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"A program cannot have all of {folder}, which contains your own files: use a separate folder."
            )
    for path, folders, files in os.walk(folder):
        if is_run_folder(Path(path)):
            folders.clear()  # os.walk only descends into the folders that are left in this list
            continue
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted([*files, *(each for each in folders if Path(path, each).is_symlink())]):
            file = Path(path, name)
            inside = file.resolve().is_relative_to(folder.resolve())
            if inside and (file.is_file() or file.is_symlink()) and not is_linked_to_run(file):
                yield file


# Python code that a sandboxed process may read: what is installed, and of everything else single packages.
#
# An editable package (`pip install -e`) is in a checkout, beside files that the process must not read.


ROOT = Path(__file__).parents[2]
"""The folder that contains `harness`."""


class VisibleCode(NamedTuple):
    """Code that a process may read and import."""

    readable: frozenset[str]
    """Files and folders."""
    packages: dict[str, str]
    """Packages and modules outside of such folders as site-packages: name -> its first file."""


def visible_code(classes: Iterable[type] = ()) -> VisibleCode:
    """Return all that is installed, Arena's own packages, and the packages or modules of these classes."""
    packages = {name: str(ROOT / name / "__init__.py") for name in OURS} | _in_place()
    if (compiled := library_path(ROOT)) is not None:
        packages[LIBRARY] = str(compiled)
    # Python itself, and the folders of its path with installed packages.
    readable = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    readable |= {path for path in sys.path if path and _holds_packages(Path(path))}
    for cls in classes:
        packages |= _modules_of(cls)
    for file in packages.values():
        readable.add(str(Path(file).parent) if Path(file).name == "__init__.py" else file)
    return VisibleCode(frozenset(readable), packages)


def _holds_packages(folder: Path) -> bool:
    named = folder.name in ("site-packages", "dist-packages")
    try:
        return folder.is_dir() and (named or next(folder.glob("*.dist-info"), None) is not None)
    except PermissionError:  # a folder above the current one may be closed to us
        return False


@cache
def _in_place() -> dict[str, str]:
    """Return the editable packages: name -> first file."""
    from importlib.metadata import distributions  # not at the top: see `discovery.entry_points`

    return {
        name: spec.origin
        for distribution in distributions()
        for name, spec in editable_modules(distribution).items()
        if spec.origin is not None
    }


def project_of(distribution: Distribution) -> Path | None:
    """Return the project folder of an editable distribution; None if it is not editable."""
    about = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not about.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(about.get("url", "")).path))


def editable_modules(distribution: Distribution) -> dict[str, ModuleSpec]:
    """Return the packages and modules that Python finds in the project folder of an editable distribution."""
    project = project_of(distribution)
    if project is None:
        return {}
    names = (distribution.read_text("top_level.txt") or "").split() or [
        *(start.parent.name for start in (*project.glob("*/__init__.py"), *project.glob("src/*/__init__.py"))),
        *(re.split(r"[.:\s]", point.value)[0] for point in distribution.entry_points),
    ]
    found = {}
    for name in names:
        spec = find_spec(name) if name.isidentifier() else None
        places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        if spec is not None and any(Path(place).is_relative_to(project) for place in places):
            found[name] = spec
    return found


def _modules_of(cls: type) -> dict[str, str]:
    """Return the package of a class; for a single module, include the modules of its folder that it imports."""
    top = cls.__module__.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:  # a namespace package has no file
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return {cls.__module__: file} if file else {}
    start = Path(file).resolve()
    found = {top: str(start)}
    if start.name != "__init__.py":
        for first in {name.partition("/")[0] for name in sources_of(str(start))}:
            module = start.parent / first
            found[module.stem] = str(module if module.suffix == ".py" else module / "__init__.py")
    return found
