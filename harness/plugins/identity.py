"""What a bot is, whatever version it says it has: a digest of its source, and of the data that it declares."""

from __future__ import annotations

import ast
import sys
from collections.abc import Hashable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from inspect import getsource, isclass, isfunction
from pathlib import Path
from types import CodeType
from typing import Any

from harness.core.compiled import is_compiled_twin
from harness.core.errors import PluginError
from harness.core.options import digest_of
from harness.core.plain_files import LARGEST_DATA, UnfitFile, read_plain
from harness.plugins.bot_files import bot_file


def digest_of_files(files: Mapping[str, bytes]) -> str:
    """What identifies these files: their names and contents."""
    total = sha256()
    for name, content in sorted(files.items()):
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return "sha256:" + total.hexdigest()[:16]


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


def consulted_in(sources: Mapping[str, bytes]) -> list[str]:
    """The bots that these texts ask for by name: `bot_named("outlaw")`."""
    found: dict[str, None] = {}
    for text in sources.values():
        with suppress(SyntaxError, ValueError):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                    if called == "bot_named" and isinstance(node.args[0].value, str):
                        found[node.args[0].value] = None
    return list(found)


@cache
def _package_digest(file: str) -> str:
    """All files of the package that begins with this one; of a single module, this one."""
    place = Path(file)
    if place.name != "__init__.py":
        return digest_of_files({place.name: place.read_bytes()})
    folder = place.parent
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not is_compiled_twin(path)  # the same bot, quicker
    ]
    return digest_of_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def source_digest(thing: Any) -> str:
    """Of a class or function that was typed somewhere: its source, and what it leans on in the place where that was.

    That is other functions and classes there, what closures hold, and plain values; not what cannot be told apart from
    run to run.
    """
    told: dict[Hashable, str] = {}
    _tell(thing, told)
    return digest_of("\n".join(told.values()))


def _tell(thing: Any, told: dict[Hashable, str]) -> None:
    if id(thing) in told:
        return
    told[id(thing)] = _text_of(thing)
    functions = [thing] if isfunction(thing) else [_plain(each) for each in vars(thing).values()]
    for function in filter(isfunction, functions):
        for name, value in sorted(_leans_on(function).items()):
            if getattr(value, "__module__", None) == function.__module__ and (isfunction(value) or isclass(value)):
                _tell(value, told)
            elif isinstance(value, _SIMPLE):
                told[id(function), name] = f"{name} = {_value_text(value)}"
            elif hasattr(value, "tobytes") and hasattr(value, "dtype"):  # an array: the weights of a network, perhaps
                told[id(function), name] = f"{name} = {value.dtype} {sha256(value.tobytes()).hexdigest()}"
    for base in getattr(thing, "__bases__", ()):
        if base.__module__ == thing.__module__:
            _tell(base, told)


_SIMPLE = (bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset)


def _plain(member: Any) -> Any:
    """The function behind a method of a class."""
    return getattr(member, "__func__", None) or getattr(member, "fget", None) or member


def _leans_on(function: Any) -> dict[str, Any]:
    """The names that a function uses from outside, with what they mean now."""
    code = function.__code__
    names, waiting = set(code.co_names), list(code.co_consts)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, CodeType):
            names |= set(inner.co_names)
            waiting += inner.co_consts
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # it is empty yet
            found[name] = cell.cell_contents
    return found


def _value_text(value: Any) -> str:
    """A plain value; the order of a set is not one of its properties."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_value_text, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_value_text(key)}: {_value_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_value_text, value))})"
    return repr(value) if isinstance(value, _SIMPLE) else type(value).__qualname__


def _text_of(thing: Any) -> str:
    try:
        return getsource(thing)
    except (OSError, TypeError):
        functions = [thing] if isfunction(thing) else [each for each in vars(thing).values() if isfunction(each)]
        return "\n".join(_code_text(each.__code__) for each in functions)


def _code_text(code: CodeType) -> str:
    constants = [_code_text(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return " ".join([code.co_name, code.co_code.hex(), *code.co_names, *constants])
