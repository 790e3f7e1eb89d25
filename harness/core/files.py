"""Open files that other people have named or may have placed: those of run and league folders, and data of bots.

A run folder may come from anywhere. Opening one of its files must not follow a link out of the folder, wait for a
pipe, write to a file that has another name elsewhere, or fill the memory.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import BinaryIO

from harness.core.errors import StoreError

MAX_DATA_BYTES = 1 << 30
"""Size of all data files of a bot together."""
MAX_TEXT_BYTES = 1 << 25
"""Size of a file that is read as a whole: run.json, a signature, a config file, a page of a site. Files of lines have
no such limit."""
MAX_LINE_BYTES = 1 << 24
"""Length of a line of games.jsonl, notes.jsonl or a journal."""
MAX_DEPTH = 30
"""Folders inside each other."""
PART = ".part"
"""The end of the name of a file that is being written."""

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_APPEND = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""For every file: no link, no waiting for the other end of a pipe, no terminal."""
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
_DESCRIPTORS = os.open in os.supports_dir_fd
"""Whether a file can be opened relative to an open folder; otherwise (Windows) each step is checked before it."""
_LINK = "it is a link, and Arena follows no links inside such a folder"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a run, a league or a site. The folder `root` may be reached through links; no step below it may be a
    link, and only regular files are opened.

    Names are relative to the folder, with slashes. Methods raise OSError with a reason in `strerror`, so a file that is
    refused is reported like a file without permission.
    """

    root: Path
    inside: str = ""
    """Its path below `root`: an era of a league is not a root, because the league's folder contains it."""

    @property
    def path(self) -> Path:
        """The path, for messages."""
        return self.root / self.inside

    def below(self, name: str) -> Folder:
        """Return a folder inside this one."""
        return Folder(self.root, f"{self.inside}/{name}".lstrip("/"))

    def open_to_read(self, name: str, buffer_bytes: int = 1 << 17) -> BinaryIO:
        """Open a file for reading."""
        return open(self._open(name, _READ), "rb", buffer_bytes)  # noqa: PTH123 - a descriptor

    def open_to_append(self, name: str, create: bool = False) -> int:
        """Return a descriptor for reading the file and appending to it."""
        return self._open(name, _APPEND | (os.O_CREAT if create else 0))

    def read(self, name: str, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
        """Return the content of a file."""
        with self.open_to_read(name) as file:
            return _read_limited(file, max_bytes)

    def write(self, name: str, data: bytes, mode: int = 0o666) -> None:
        """Replace a file atomically: a reader finds the old one or the new one, never a part. A link is replaced, and
        its target stays as it is."""
        with self._parent(name) as (at, last):
            # Nothing can be waiting under a random name, and O_EXCL refuses a file or link that exists.
            part = f"{last}.{os.urandom(8).hex()}{PART}"
            descriptor = os.open(part, _CREATE | _SAFE, mode, dir_fd=at)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123 - it is a descriptor
                    file.write(data)
                    file.flush()
                    # Before the rename: otherwise a power failure could leave an empty file under the final name.
                    os.fsync(descriptor)
                os.replace(part, last, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                with suppress(OSError):  # a partial file is of no use, and the disk may be full
                    os.unlink(part, dir_fd=at)
                raise

    def make(self, name: str = "") -> Folder:
        """Create a folder, and those above it, unless they exist; return it."""
        made = self.below(name) if name else self
        made.root.mkdir(parents=True, exist_ok=True)
        at = Folder(made.root)
        for step in filter(None, made.inside.split("/")):
            with at._parent(step) as (descriptor, last), suppress(FileExistsError):
                os.mkdir(last, dir_fd=descriptor)
            at = at.below(step)
        made.names()  # raises an error if a step is a link or no folder
        return made

    def names(self) -> list[str]:
        """Return the sorted names of everything in the folder."""
        with self._descend(self.inside.split("/")) as (at, path):
            if at is None:
                return sorted(os.listdir(path))  # noqa: PTH208 - below, it is a descriptor
            listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
            try:
                return sorted(os.listdir(listed))  # noqa: PTH208 - a descriptor
            finally:
                os.close(listed)

    def all_files(self, besides: str = "") -> Iterator[str]:
        """Yield the name of everything in the folder and its subfolders that is not a folder, except for the subfolder
        `besides`. A link to a folder is yielded and not followed."""
        if self.inside.count("/") > MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, f"it has more than {MAX_DEPTH} folders inside each other")
        for name in self.names():
            if not S_ISDIR(self.stat(name).st_mode):
                yield name
            elif name != besides:
                yield from (f"{name}/{inner}" for inner in self.below(name).all_files())

    def stat(self, name: str) -> os.stat_result:
        """Return the status of a file, or of a link in its place."""
        with self._parent(name) as (at, last):
            return os.stat(last, dir_fd=at, follow_symlinks=False)

    def has_file(self, name: str) -> bool:
        """Return whether there is anything under this name; opening it reports what is wrong with it."""
        try:
            self.stat(name)
        except OSError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Delete a file, or a link in its place, if there is one."""
        with self._parent(name) as (at, last), suppress(FileNotFoundError):
            os.unlink(last, dir_fd=at)

    def rename(self, name: str, new: str) -> None:
        """Rename a file in the folder itself, replacing one of the new name."""
        with self._parent(name) as (at, last), self._parent(new) as (_, last_new):
            os.replace(last, last_new, src_dir_fd=at, dst_dir_fd=at)

    def _open(self, name: str, flags: int) -> int:
        with self._parent(name) as (at, last):
            with suppress(FileNotFoundError):  # before opening it: opening a device may have an effect
                _check_regular(os.stat(last, dir_fd=at, follow_symlinks=False), flags)
            descriptor = os.open(last, flags | _SAFE, 0o666, dir_fd=at)
            try:
                _check_regular(os.fstat(descriptor), flags)  # it may have been replaced in between
            except OSError:
                os.close(descriptor)
                raise
            return descriptor

    @contextmanager
    def _parent(self, name: str) -> Iterator[tuple[int | None, str]]:
        """Yield the descriptor of the folder that contains a file, and the file's name in it.

        On systems without such descriptors: None and the path.
        """
        *steps, last = f"{self.inside}/{name}".split("/")
        if last in ("", ".", "..") or "\0" in last:
            raise OSError(errno.EINVAL, "it is not a valid file name")
        with self._descend(steps) as (at, path):
            yield at, last if at is not None else os.path.join(path, last)  # noqa: PTH118 - as os.open takes it

    @contextmanager
    def _descend(self, steps: list[str]) -> Iterator[tuple[int | None, str]]:
        """Yield the descriptor of a folder below the root, or None, and its path."""
        steps = list(filter(None, steps))
        path = self.root.joinpath(*steps)
        if {".", ".."}.intersection(steps):
            raise OSError(errno.EINVAL, "its name leads out of the folder")
        if not _DESCRIPTORS:
            for depth in range(len(steps)):
                if self.root.joinpath(*steps[: depth + 1]).is_symlink():
                    raise OSError(errno.ELOOP, _LINK)
            yield None, str(path)
            return
        at = os.open(self.root, _FOLDER)
        try:
            for step in steps:
                try:
                    inner = os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
                except NotADirectoryError:
                    if S_ISLNK(os.stat(step, dir_fd=at, follow_symlinks=False).st_mode):
                        raise OSError(errno.ELOOP, _LINK) from None
                    raise
                os.close(at)
                at = inner
            yield at, str(path)
        finally:
            os.close(at)


def write_whole(folder: Folder, name: str, data: bytes) -> None:
    """Replace a file atomically; raises StoreError if that fails."""
    try:
        folder.write(name, data)
    except OSError as error:
        raise cannot_write(folder.path / name, error) from error


def write_named_file(path: Path, data: bytes) -> None:
    """Replace a file that the user has named; raises StoreError if that fails."""
    write_whole(Folder(path.parent), path.name, data)


def cannot_write(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be written."""
    return StoreError(f"Cannot write to {path}: {error.strerror or error}.")


def cannot_read(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be read."""
    return StoreError(f"Cannot read {path}: {error.strerror or error}.")


def limited_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; raises OSError for one that is too long to be a line of Arena."""
    for line in iter(partial(file.readline, MAX_LINE_BYTES + 1), b""):
        if len(line) > MAX_LINE_BYTES:
            raise line_too_long()
        yield line


def line_too_long() -> OSError:
    """Return the error for a line that is too long."""
    return OSError(errno.EFBIG, f"it has a line of more than {MAX_LINE_BYTES:,} bytes")


def _check_regular(found: os.stat_result, flags: int) -> None:
    """Raise OSError unless this is a regular file that may be opened in this way."""
    if S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, _LINK)
    if not S_ISREG(found.st_mode):
        code = errno.EISDIR if S_ISDIR(found.st_mode) else errno.EINVAL
        raise OSError(code, "it is not a regular file")
    # Writing to it would change a file elsewhere. (After it was deleted, it has no links.)
    if found.st_nlink > 1 and flags & (os.O_WRONLY | os.O_RDWR):
        raise OSError(errno.EMLINK, "the file has another name elsewhere (a hard link); replace it by a copy")


MAX_SEARCHED_ENTRIES = 100_000
"""Entries of a folder that are searched for links."""


def user_cache() -> Path:
    """Return the folder for what Arena caches for this user; safe to delete."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "arena"


def writable_by_others(found: os.stat_result) -> bool:
    """Return whether another user owns a file or folder, or may write to it."""
    return hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or bool(found.st_mode & 0o022))


@dataclass(frozen=True, slots=True)
class UserCache:
    """Cached files of one kind, in a folder of this user's cache.

    What is read here is believed, so a file counts only if no other user may write to it or to its folder.
    """

    kind: str

    @property
    def path(self) -> Path:
        """The folder; one that cannot exist if the user has no home."""
        try:
            return user_cache() / self.kind
        except RuntimeError:
            return Path(os.devnull) / self.kind

    def read(self, name: str, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
        """Return the content of a file; raise OSError if there is none, or if another user may write to it."""
        # The open file is checked: its path could be replaced after a check.
        with Folder(self.path).open_to_read(name) as file:
            if any(map(writable_by_others, (os.fstat(file.fileno()), self.path.stat()))):
                raise PermissionError(errno.EPERM, "another user may write to it")
            return _read_limited(file, max_bytes)

    def write(self, name: str, data: bytes, max_files: int) -> None:
        """Write a file, and delete the oldest beyond this number. Where that is not possible, nothing is cached."""
        with suppress(OSError):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            Folder(self.path).write(name, data, mode=0o600)
            for old in sorted(self.path.iterdir(), key=os.path.getmtime)[:-max_files]:
                old.unlink(missing_ok=True)


class UnreadableFile(Exception):
    """A file that cannot be read; the text says why."""


def read_regular_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes. The user named it, so links are followed.

    Raise UnreadableFile for anything else: a device may have no end, and opening a pipe may block forever.
    """
    try:
        if not S_ISREG(path.stat().st_mode):  # before opening it: opening a device may have an effect
            raise UnreadableFile("it is not a regular file")
        with open(os.open(path, _READ | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123 - a descriptor
            if not S_ISREG(os.fstat(file.fileno()).st_mode):  # the file was replaced after `stat`
                raise UnreadableFile("it is not a regular file")
            return _read_limited(file, most)
    except OSError as error:
        raise UnreadableFile(error.strerror or str(error)) from error
    except ValueError:
        raise UnreadableFile("it is not a valid file name") from None


def _read_limited(file: BinaryIO, max_bytes: int) -> bytes:
    # The size first: a sparse file of any size takes no space on a disk.
    size = os.fstat(file.fileno()).st_size
    content = file.read(max_bytes + 1) if size <= max_bytes else b""
    if max(size, len(content)) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes")
    return content


def link_leading_out(folder: Path, home: Path) -> str:
    """Return the first symbolic link that leads out of `home`, "" if there is none.

    The folder is searched, and each folder that a link in it leads to. Raise OSError if they have more entries than
    MAX_SEARCHED_ENTRIES.
    """
    seen, reached = 0, [folder]
    for each in reached:  # grows
        for where, folders, files in os.walk(each):  # does not enter links to folders
            seen += len(folders) + len(files)
            if seen > MAX_SEARCHED_ENTRIES:
                raise OSError(errno.E2BIG, f"{folder} has more than {MAX_SEARCHED_ENTRIES:,} files")
            for path in (Path(where, name) for name in (*folders, *files)):
                if path.is_symlink():
                    target = path.resolve()
                    if not target.is_relative_to(home):
                        return str(path)
                    if target.is_dir() and target not in reached:
                        reached.append(target)
    return ""
