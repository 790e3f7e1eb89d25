"""What a bot is, whatever version it says it has: a digest of its source, and of the data that it declares."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from inspect import getsource, isfunction
from pathlib import Path
from types import CodeType
from typing import Any

from harness.core.errors import PluginError
from harness.core.options import digest_of
from harness.core.plain_files import UnfitFile, read_plain
from harness.plugins.bot_files import bot_file, digest_of_files

LARGEST_DATA = 1 << 30
"""Bytes of all data files of a bot together."""


def file_digest(path: str, sources: Mapping[str, bytes], data: tuple[str, ...] = ()) -> str:
    """Of a bot in a file: the file with the modules beside it that it imports, and the data files that it declares."""
    folder = bot_file(path).parent
    files, room = {}, LARGEST_DATA
    for name in data:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise PluginError(f"{path} says that it reads {name!r}, which is no file in its folder.")
        try:
            content = read_plain(file, room)
        except UnfitFile as error:
            raise PluginError(f"{path} says that it reads {name!r}: {error}.") from error
        room -= len(content)
        files[f"data:{name}"] = content
    return digest_of_files({**sources, **files})


def class_digest(cls: type[Any]) -> str:
    """Of a class that was imported: all files of its package; its own source if it is in none."""
    module = sys.modules.get(cls.__module__)
    top = sys.modules.get(cls.__module__.partition(".")[0])
    file = getattr(top, "__file__", None) or getattr(module, "__file__", None)
    if cls.__module__ == "__main__" or "<" in cls.__qualname__ or not file or not Path(file).is_file():
        return source_digest(cls)
    return _package_digest(file)


@cache
def _package_digest(file: str) -> str:
    """All files of the package that begins with this one; of a single module, this one."""
    place = Path(file)
    if place.name != "__init__.py":
        return digest_of_files({place.name: place.read_bytes()})
    folder = place.parent
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return digest_of_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def source_digest(thing: Any) -> str:
    """Of a class or function that was typed somewhere, or of its code where Python does not know the source."""
    try:
        return digest_of(getsource(thing))
    except (OSError, TypeError):
        functions = [thing] if isfunction(thing) else [each for each in vars(thing).values() if isfunction(each)]
        return digest_of("\n".join(_code_text(each.__code__) for each in functions))


def _code_text(code: CodeType) -> str:
    constants = [_code_text(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return " ".join([code.co_name, code.co_code.hex(), *code.co_names, *constants])
