"""Whose file a bot is: one's own is loaded in this process, a stranger's is not unless somebody says so."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISVTX, S_IWOTH

ROOT_USER = 0
"""Whoever is root can do everything here without a bot."""


def stranger_behind(files: Iterable[Path]) -> str:
    """Why these files are not one's own, in words; empty if they are.

    Somebody else's is a file that belongs to another user, that everybody may write to, or that lies in a folder in
    which everybody may replace it. A group may write to one's own: many systems give each user a group alone.
    """
    if not hasattr(os, "geteuid"):  # a system without such owners
        return ""
    ours = {os.geteuid(), ROOT_USER}
    for file in files:
        try:
            about, place = file.stat(), file.resolve().parent.stat()
        except OSError as error:
            return f"the owner of {file.name} cannot be told ({error.strerror})"
        if about.st_uid not in ours:
            return f"{file.name} belongs to {_name_of_user(about.st_uid)}"
        if about.st_mode & S_IWOTH:
            return f"everybody may write to {file.name}"
        if place.st_mode & S_IWOTH and not place.st_mode & S_ISVTX:
            return f"everybody may write to the folder of {file.name}"
    return ""


def _name_of_user(user: int) -> str:
    import pwd  # there is none on Windows

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
