"""Whose file a bot is: one's own is loaded in this process, a stranger's is not unless somebody says so.

One's own is what nobody else can replace: the file, every folder above it, every link on the way, and all that it could
import from its folder, also in the middle of a match and by a name that stands in no text. Root's count as one's own
for everybody: root can do everything here without a bot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from errno import ELOOP
from functools import cache
from importlib.machinery import all_suffixes
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISVTX, S_IWGRP, S_IWOTH
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.core.records import Isolation

ROOT_USER = ROOT_GROUP = 0
UNTRUSTED_SUFFIX = ".stranger"
"""How the mark ends that stands beside a copy of a stranger's files."""
MOST_BESIDE = 20_000
"""Entries of folders beside a bot that are looked at; whoever keeps more there gives his bot a folder of its own."""
MOST_LINKS = 40
_START, _CACHE, _ACCESS_LIST = "__init__", "__pycache__", "system.posix_acl_access"


def untrusted_reason(files: Iterable[Path]) -> str:
    """Why these files are not one's own, in words; empty if they are.

    Somebody else's is a file that belongs to another user or that others may write to, and one in or below a folder of
    which that is true, unless the folder lets everybody replace only what is his own (the sticky bit). A group may
    write to one's own if nobody else is in it: many systems give each user a group alone.
    """
    if not hasattr(os, "geteuid"):  # a system without such owners
        return ""
    judge = cache(_whose)
    for file in files:
        try:
            if why := _marked(file):
                return why
            if why := _on_the_way(file, judge):
                return why
        except OSError as error:
            return f"the owner of {file.name} cannot be told ({error.strerror})"
    return ""


def mark_untrusted(folder: Path, why: str) -> None:
    """Notes beside a folder, which is a copy of one's own, that what is in it was somebody else's."""
    folder.with_name(folder.name + UNTRUSTED_SUFFIX).write_text(why + "\n", encoding="utf-8")


def _marked(file: Path) -> str:
    """What a mark says that stands beside a folder in which the file is."""
    for folder in Path(Path.cwd(), file).parents:
        mark = folder.with_name(folder.name + UNTRUSTED_SUFFIX) if folder.name else None
        if mark is not None and mark.is_file():
            return mark.read_text(encoding="utf-8", errors="replace").strip() or "a mark says so"
    return ""


def untrusted_folder_reason(file: Path) -> str:
    """Why what a bot in this file could import from its folder is not all one's own; empty if it is.

    Nobody else may put a module there, so the sticky bit is not enough for this folder.
    """
    if not hasattr(os, "geteuid"):
        return ""
    try:
        if others := _who_else_may_write(file.parent):
            return f"{others} may put modules beside {file.name}"
        for number, (entry, can_import) in enumerate(_beside(file)):
            if number >= MOST_BESIDE:
                return f"more lies beside {file.name} than can be looked through: give it a folder of its own"
            place = Path(entry.path)
            why = can_import and (_on_the_way(place, _whose) if entry.is_symlink() else _whose(place))
            if why:
                return f"beside {file.name}, {why}"
    except OSError as error:
        return f"what lies beside {file.name} cannot be told ({error.strerror})"
    return ""


def _beside(file: Path) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Everything in a bot's folder, with whether the bot could import it, or what was compiled of it.

    Folders are gone into after they are given, if they are packages. One that is none becomes none unless its owner
    wants it; in a package each folder is one.
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
    """Why something on the way to a file is somebody else's."""
    return next(filter(None, map(judge, _steps(file))), "")


def _steps(file: Path) -> Iterator[Path]:
    """All that the system looks at to find a file: folders, links, the file."""
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
        if links > MOST_LINKS:
            raise OSError(ELOOP, os.strerror(ELOOP))
        target = step.readlink()
        here = Path("/") if target.is_absolute() else here
        waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def _whose(place: Path) -> str:
    """Why a file, a folder or a link is somebody else's by itself; empty if it is one's own."""
    about = place.lstat()
    is_folder = S_ISDIR(about.st_mode)
    named = f"the folder {place}" if is_folder else place.name
    if about.st_uid not in (os.geteuid(), ROOT_USER):
        return f"{named} belongs to {_name_of_user(about.st_uid)}"
    if S_ISLNK(about.st_mode) or (is_folder and about.st_mode & S_ISVTX):
        return ""  # a link is made anew, not written; and what is in such a folder is looked at by itself
    others = _who_else_may_write(place)
    return f"{others} may write to {named}" if others else ""


def _who_else_may_write(place: Path) -> str:
    """Others than the owner who may, in words."""
    about = place.stat()
    if about.st_mode & S_IWOTH:
        return "everybody"
    if not about.st_mode & S_IWGRP:
        return ""
    if hasattr(os, "listxattr") and _ACCESS_LIST in os.listxattr(place):  # the group's bits then stand for all on it
        return "a list of other users"
    return "" if _is_alone_in(about.st_gid) else f"the group {_name_of_group(about.st_gid)}"


def _is_alone_in(group: int) -> bool:
    """Whether this is a group of this user's own, which has his name or number, or root's."""
    import grp  # there is none on Windows

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
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _name_of_group(group: int) -> str:
    import grp

    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)


def is_confined(untrusted: str, isolate: Isolation) -> bool:
    """Whether a bot plays in a process without rights; `untrusted` says why it is somebody else's, if it is."""
    return isolate in ("on", "strict") or (isolate != "off" and bool(untrusted))
