"""Copies of a bot's files, for sandboxes, nodes and leagues; also of programs and of imported packages."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from harness.core.compiled import LIBRARY, library_path
from harness.core.errors import PluginError, UsageError
from harness.core.files import MAX_DATA_BYTES, UnreadableFile, read_regular_file
from harness.plugins.bot_files import OURS, bot_file, digest_of_files, sources_of
from harness.plugins.entrants import BotDescription, Entrant
from harness.plugins.wheel_unpacking import write_once

# Snapshots: all that belongs to a bot, copied into a folder of its own, which is named by what is in it.
#
# A bot in a process of its own sees its snapshot instead of the folder that it comes from. So it reads nothing else
# that lies there, and it stays what it was when it was entered, whatever its author does to the files meanwhile.


OF_A_RUN = "run.json"
"""A folder with this file in it is a run's: its seed is in there."""
_IN_A_RUN = (
    (b'"plan":', b'"entrants":', b'"seed":'),
    (b'"seats":', b'"actions":', b'"seed":'),
    (b'{"match":', b'"notes":'),
)
"""What stands in run.json, in records, and in the notes of bots."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a bot, as they were read."""

    files: Mapping[str, bytes]
    """By their paths in the snapshot."""
    start: str = ""
    """What is loaded of it: a path in the snapshot."""
    runnable: frozenset[str] = frozenset()
    """Those that are programs."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Links within the snapshot, and where each leads from its folder."""

    @property
    def digest(self) -> str:
        """What identifies it."""
        links = {f"link:{name}": target.encode() for name, target in self.links.items()}
        return digest_of_files({**self.files, **links})

    @property
    def name(self) -> str:
        """What its folder is called."""
        return self.digest.partition(":")[2]

    def write(self, home: str) -> Path:
        """Writes it into a folder below `home`, for everybody to read; where that is. The same one is written once."""
        return write_once(Path(home, self.name), self.files, self.runnable, self.links)


def bot_snapshot(path: str, sources: Mapping[str, bytes], data: Iterable[str] = ()) -> Snapshot:
    """Of a bot in a file or a package: its texts as they were loaded, and the data files that it declares."""
    file = bot_file(path)
    folder = file.parent
    package = f"{folder.name}/" if file.name == "__init__.py" else ""
    files = {package + name: content for name, content in sources.items()}
    try:
        files |= {package + name: read_regular_file(data_file(path, name), MAX_DATA_BYTES) for name in data}
    except UnreadableFile as error:
        raise PluginError(f"{path}: a file that it says it reads cannot be read: {error}.") from error
    return Snapshot(files, package.rstrip("/") or file.name)


def data_file(path: str, name: str) -> Path:
    """The data file that a bot in `path` declares under this name; raises PluginError if it cannot have it.

    It is copied to where the bot may read it, so a stranger must not be able to name what is not his.
    """
    folder = bot_file(path).parent
    file = (folder / name).resolve()
    if not file.is_relative_to(folder) or not file.is_file():
        raise PluginError(f"{path} says that it reads {name!r}, which is no file in its folder.")
    inside = file.relative_to(folder)
    if any(part.startswith(".") for part in inside.parts):
        raise PluginError(f"{path} says that it reads {name!r}: hidden files are no bot's data.")
    folders = (folder.joinpath(*inside.parts[:depth]) for depth in range(len(inside.parts)))
    if any(map(is_run_folder, folders)) or is_linked_to_run(file):
        raise PluginError(f"{path} says that it reads {name!r}, which belongs to a run: no bot may see that.")
    return file


def is_linked_to_run(file: Path) -> bool:
    """Whether a file is another name (a hard link) for what is in a run's folder.

    Package managers give files several names, too, so it is what is in it that tells.
    """
    try:
        if file.stat().st_nlink < 2:
            return False
        with file.open("rb") as opened:
            head = opened.read(1 << 16)
    except OSError:
        return False  # whoever reads it will be told
    return any(all(word in head for word in words) for words in _IN_A_RUN)


def is_run_folder(folder: Path) -> bool:
    """Whether a folder is a run's."""
    return (folder / OF_A_RUN).exists()


def declared_in(path: str, sources: Mapping[str, bytes]) -> list[str]:
    """Data files that a bot's texts declare in plain words, `files = ("weights.npz",)`, as far as they are there.

    A file is loaded to be asked what it declares, and it may read its data when it is loaded: so this is found out
    beforehand, without running anything.
    """
    found = dict.fromkeys(name for text in sources.values() for name in _declared(text))
    folder = bot_file(path).parent
    return [name for name in found if (folder / name).is_file()]


def _declared(text: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return  # whoever imports it will be told
    for cls in ast.walk(tree):
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
    described = replace(entrant, bot=BotDescription.of(entrant.bot))
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


# What belongs to a program that was entered by a command: the files that the command names, and what they list.
#
# A program is not asked what it reads before it runs, and nobody can see it in its code. So the rule is short: it has
# the files and folders that are words of its command; a Python file also has the modules beside it that it imports,
# one of JavaScript its package.json; and any file may have a list beside it, `bot.js.files` beside `bot.js`, of what
# else it needs from its folder.


LIST = ".files"
"""What stands behind the name of a file in the name of the list beside it."""
MAX_FILES, MAX_TOTAL_BYTES = 20_000, 1 << 30
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
                files[name] = read_regular_file(file, MAX_TOTAL_BYTES)
            except UnreadableFile as error:
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
        if len(found) > MAX_FILES or sum(file.stat().st_size for file in found if file.is_file()) > MAX_TOTAL_BYTES:
            raise UsageError(
                f"The program {self.argv[self.own[0]]} comes with more than {MAX_FILES:,} files or "
                f"{MAX_TOTAL_BYTES >> 20} MB: name fewer of them."
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
    elif is_run_folder(there.parent) or is_linked_to_run(there):
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
        if is_run_folder(Path(path)):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted([*files, *(each for each in folders if Path(path, each).is_symlink())]):
            file = Path(path, name)
            inside = file.resolve().is_relative_to(folder.resolve())
            if inside and (file.is_file() or file.is_symlink()) and not is_linked_to_run(file):
                yield file


# What Python code a process of its own may read: what is installed, and of everything else single packages.
#
# A package that is installed in place (`pip install -e`) lies in somebody's checkout, beside whatever else is there.


ROOT = Path(__file__).parents[2]
"""The folder that has `harness` in it."""


class VisibleCode(NamedTuple):
    """Code that a process may read, and import."""

    readable: frozenset[str]
    """Files and folders."""
    packages: dict[str, str]
    """Packages and modules that no folder of installed ones holds: name -> the file that it begins with."""


def visible_code(classes: Iterable[type] = ()) -> VisibleCode:
    """All that is installed, arena's own packages, and the packages or modules that these classes are from."""
    packages = {name: str(ROOT / name / "__init__.py") for name in OURS} | _in_place()
    if (compiled := library_path(ROOT)) is not None:
        packages[LIBRARY] = str(compiled)
    readable = _installed()
    for cls in classes:
        packages |= _modules_of(cls)
    for file in packages.values():
        readable.add(str(Path(file).parent) if Path(file).name == "__init__.py" else file)
    return VisibleCode(frozenset(readable), packages)


def _installed() -> set[str]:
    """Python itself, and the folders of its path that packages are installed in."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    return prefixes | {path for path in sys.path if path and _holds_packages(Path(path))}


def _holds_packages(folder: Path) -> bool:
    named = folder.name in ("site-packages", "dist-packages")
    try:
        return folder.is_dir() and (named or next(folder.glob("*.dist-info"), None) is not None)
    except PermissionError:  # the folder that we are in may be below one that we may not enter
        return False


@cache
def _in_place() -> dict[str, str]:
    """The packages that are installed in place: name -> where it begins."""
    return {
        name: spec.origin
        for distribution in distributions()
        for name, spec in editable_modules(distribution).items()
        if spec.origin is not None
    }


def project_of(distribution: Distribution) -> Path | None:
    """The folder that a distribution is developed in, if it is installed in place."""
    about = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not about.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(about.get("url", "")).path))


def editable_modules(distribution: Distribution) -> dict[str, ModuleSpec]:
    """The packages and modules that Python finds in the folder that a distribution is developed in, if there is one."""
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
    """The package that a class is from; of a single module, with the modules beside it that it imports."""
    top = cls.__module__.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:  # a namespace has no file of its own
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return {cls.__module__: file} if file else {}
    start = Path(file).resolve()
    if start.name == "__init__.py":
        return {top: str(start)}
    found = {top: str(start)}
    for name in sources_of(str(start)):
        beginning = name.partition("/")[0]
        found[beginning.removesuffix(".py")] = str(
            start.parent / (beginning if beginning.endswith(".py") else f"{beginning}/__init__.py")
        )
    return found
