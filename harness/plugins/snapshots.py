"""Snapshots: all that belongs to a bot, copied into a folder of its own, which is named by what is in it.

A bot in a process of its own sees its snapshot instead of the folder that it comes from. So it reads nothing else that
lies there, and it stays what it was when it was entered, whatever its author does to the files meanwhile.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.core.errors import PluginError
from harness.core.plain_files import LARGEST_DATA, UnfitFile, read_plain
from harness.plugins.bot_files import bot_file
from harness.plugins.identity import digest_of_files
from harness.plugins.wheel_unpacking import write_once

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
        files |= {package + name: read_plain(data_file(path, name), LARGEST_DATA) for name in data}
    except UnfitFile as error:
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
    if any(map(is_of_a_run, folders)) or is_linked_to_a_run(file):
        raise PluginError(f"{path} says that it reads {name!r}, which belongs to a run: no bot may see that.")
    return file


def is_linked_to_a_run(file: Path) -> bool:
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


def is_of_a_run(folder: Path) -> bool:
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
