"""Who owns the files of a bot: an untrusted bot is not loaded in this process unless the user says so.

A bot is trusted if no other user can replace what it loads: its file, every folder above it, every link on the way, and
everything that it could import from its folder, even in the middle of a match and under a computed name. Files of root
are trusted: root needs no bot to do something here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from errno import ELOOP
from functools import cache
from hashlib import sha256
from importlib.machinery import all_suffixes
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISVTX, S_IWGRP, S_IWOTH

from harness.core.errors import printable
from harness.core.files import Folder, UnreadableFile, read_regular_file, user_cache

# Windows has no `geteuid` either, and everything is trusted there; Pyodide has one user, so nothing is untrusted.
if sys.platform != "win32" and sys.platform != "emscripten":
    import grp
    import pwd

ROOT_USER = ROOT_GROUP = 0
UNTRUSTED_SUFFIX = ".stranger"
"""Suffix of the file that marks the folder beside it as a copy of untrusted files."""
MAX_CHECKED_ENTRIES = 20_000
"""Entries of folders beside a bot that are checked; with more of them the bot is untrusted."""
MAX_LINKS = 40
MAX_MARK_BYTES = 1 << 10
_START, _CACHE, _ACCESS_LIST = "__init__", "__pycache__", "system.posix_acl_access"


def untrusted_reason(files: Iterable[Path]) -> str:
    """Return why these files are untrusted, as a clause; empty if they are trusted.

    A file is untrusted if it belongs to another user or if others may write to it, and if that is true of a folder
    above it. A folder in which users may only replace their own files (sticky bit) is trusted. So is a file to which a
    group may write that has no other member: many systems give each user such a group.
    """
    if not hasattr(os, "geteuid"):  # the system has no such owners
        return ""
    judge = cache(_whose)  # the files have most of the folders above them in common
    for file in files:
        try:
            if why := _marked(file):
                return why
            if why := _on_the_way(file, judge):
                return why
        except OSError as error:
            return f"the owner of {file.name} is unknown ({error.strerror})"
    return ""


def mark_untrusted(folder: Path, why: str) -> None:
    """Note beside a folder that it is a copy of untrusted files: the copy itself belongs to this user."""
    Folder(folder.parent).write(folder.name + UNTRUSTED_SUFFIX, f"{why}\n".encode(errors="replace"))


def _marked(file: Path) -> str:
    """Return the text of the mark beside a folder that the file is in; empty if there is none."""
    for folder in Path(Path.cwd(), file).parents:
        mark = folder.with_name(folder.name + UNTRUSTED_SUFFIX) if folder.name else None
        if mark is not None and os.path.lexists(mark):
            text = b""
            with suppress(OSError):  # a link, a pipe or a long file marks the folder, but its text is not shown
                text = Folder(mark.parent).read(mark.name, MAX_MARK_BYTES)
            return printable(text.decode(errors="replace").strip()) or "a mark says so"
    return ""


def untrusted_folder_reason(file: Path) -> str:
    """Return why something that a bot in this file could import from its folder is untrusted; empty if nothing is."""
    if not hasattr(os, "geteuid"):
        return ""
    try:
        # Any user can add a module to a folder with the sticky bit, so that does not help here.
        if others := _other_writers(file.parent):
            return f"{others} may put modules next to {file.name}"
        # Everything is counted, even files that cannot be imported: a huge folder must not delay the start.
        for number, (entry, can_import) in enumerate(_beside(file)):
            if number >= MAX_CHECKED_ENTRIES:
                return f"there are too many files next to {file.name}: give it a separate folder"
            place = Path(entry.path)
            why = can_import and (_on_the_way(place, _whose) if entry.is_symlink() else _whose(place))
            if why:
                return f"next to {file.name}, {why}"
    except OSError as error:
        return f"the files next to {file.name} cannot be read ({error.strerror})"
    return ""


def _beside(file: Path) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Yield everything in a bot's folder, and whether the bot could import it (or its bytecode).

    Packages are searched, too. Other folders are not: only their owner can turn them into packages. Inside a package
    each folder can be imported.
    """
    modules = tuple(all_suffixes())
    waiting, seen = [(file.parent, file.stem == _START)], set[tuple[int, int]]()
    while waiting:
        folder, whole = waiting.pop()
        about = folder.stat()
        if (about.st_dev, about.st_ino) in seen:  # links may lead in circles
            continue
        seen.add((about.st_dev, about.st_ino))
        with os.scandir(folder) as entries:
            for entry in entries:
                is_package = entry.name.isidentifier() and entry.is_dir()
                yield entry, is_package or entry.name.endswith(modules)
                begins = (Path(entry.path, _START + ending) for ending in modules)
                if is_package and (whole or entry.name == _CACHE or any(start.exists() for start in begins)):
                    waiting.append((Path(entry.path), True))


def _on_the_way(file: Path, judge: Callable[[Path], str]) -> str:
    """Return why something on the path to a file is untrusted; empty if nothing is."""
    return next(filter(None, map(judge, _steps(file))), "")


def _steps(file: Path) -> Iterator[Path]:
    """Yield all that the system reads to find a file: folders, links, the file."""
    here, waiting, links = Path("/"), [*reversed(Path(Path.cwd(), file).parts[1:])], 0
    yield here
    while waiting:
        part = waiting.pop()
        step = here.parent if part == ".." else here / part
        yield step
        if not step.is_symlink():
            here = step
            continue
        links += 1
        if links > MAX_LINKS:
            raise OSError(ELOOP, os.strerror(ELOOP))
        target = step.readlink()
        here = Path("/") if target.is_absolute() else here
        waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _whose(place: Path) -> str:
    """Return why a file, a folder or a link itself is untrusted; empty if it is trusted."""
    about = place.lstat()
    is_folder = S_ISDIR(about.st_mode)
    named = f"the folder {place}" if is_folder else place.name
    if about.st_uid not in (os.geteuid(), ROOT_USER):
        return f"{named} belongs to {_name_of_user(about.st_uid)}"
    if S_ISLNK(about.st_mode) or (is_folder and about.st_mode & S_ISVTX):
        return ""  # a link is replaced, never written; the files in such a folder are checked separately
    others = _other_writers(place)
    return f"{others} may write to {named}" if others else ""


def _other_writers(place: Path) -> str:
    """Return which users other than the owner may write there, in words; empty if there are none."""
    about = place.stat()
    if about.st_mode & S_IWOTH:
        return "everybody"
    if not about.st_mode & S_IWGRP:
        return ""
    # With an access list, the bits of the group are those of all users and groups on the list.
    if hasattr(os, "listxattr") and _ACCESS_LIST in os.listxattr(place):
        return "a list of other users"
    if _is_alone_in(about.st_gid):
        return ""
    try:
        return f"the group {grp.getgrgid(about.st_gid).gr_name}"
    except KeyError:
        return f"the group {about.st_gid}"


def _is_alone_in(group: int) -> bool:
    """Return whether a group has no member but this user, by its name or number, or is root's."""
    user = os.geteuid()
    if group == ROOT_GROUP:
        return True
    try:
        known = grp.getgrgid(group)
    except KeyError:
        return group == user
    own = _name_of_user(user)
    return (group == user or known.gr_name == own) and set(known.gr_mem) <= {own}


def _name_of_user(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


MAX_NOTED_BYTES = 1_000_000
NOTED = "played-here"
"""File in the cache folder with a digest for each bot file that was played in Arena's process."""


def played_for_the_first_time(files: Iterable[str]) -> list[str]:
    """Return those of these bot files that this user has not played in Arena's process before, and remember them."""
    try:
        place = user_cache() / NOTED
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = read_regular_file(place, MAX_NOTED_BYTES).split() if place.exists() else []
    except (OSError, RuntimeError, UnreadableFile):  # no home, or a file that is too large
        return list(files)
    digests = {file: sha256(os.fsencode(Path(file).resolve())).hexdigest()[:32].encode() for file in files}
    new = [file for file, digest in digests.items() if digest not in known]
    with suppress(OSError), place.open("ab") as file:  # if it cannot be written, the line is printed again next time
        file.writelines(digests[each] + b"\n" for each in new)
    return new
