"""Names that strangers chose, made fit for a place: short for a chart, safe for a file."""

from __future__ import annotations

import re
from hashlib import sha256

SHORT = 22
LONGEST_FILE_NAME = 60
_PLAIN = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_FILE_NAME - 1}}}")
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)\d")
"""Names that some systems keep for devices, whatever the ending of the file."""


def visible(name: str) -> str:
    """The name without characters that cannot be printed or that turn the text around them about."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)


def short(name: str, most: int = SHORT) -> str:
    """The name as it fits beside a chart; a long one keeps its two ends, since options come last."""
    name = visible(name)
    if len(name) <= most:
        return name
    head = (most - 1) * 2 // 3
    return f"{name[:head]}\N{HORIZONTAL ELLIPSIS}{name[head + 1 - most :]}"


def file_name(name: str) -> str:
    """A file name for this name: equal names get equal ones, different names different ones, on any system."""
    if _PLAIN.fullmatch(name) and not _DEVICES.fullmatch(name):
        return name
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    kept = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: LONGEST_FILE_NAME - 20].rstrip("-")
    return f"{kept or 'bot'}.{digest}"  # the dot keeps it apart from every plain name
