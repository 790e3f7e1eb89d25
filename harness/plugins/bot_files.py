"""The files of a bot: which they are, how they are loaded, and the digest that identifies them."""

from __future__ import annotations

import ast
import builtins
import os
import re
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getsource, isclass, isfunction
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TextIO

from harness.core.compiled import is_compiled_twin
from harness.core.errors import PluginError, UsageError, reason_of
from harness.core.files import MAX_DATA_BYTES, UnreadableFile, read_regular_file
from harness.core.options import digest_of

# Bots in files: what belongs to one, and an import that keeps the versions of a bot apart.
#
# Two versions of a bot may each have a `helpers.py` beside them. So every bot's file is imported as a package of its
# own: whatever it, or a module beside it, imports from its folder becomes a submodule of that package, at import and
# in the middle of a match alike. Python has no hook that knows who imports; what does know is `__import__`, which
# these modules get in builtins of their own.


OURS = ("harness", "engines", "bots")
"""Names that always mean arena's own packages, whatever lies beside a bot."""
MAX_SOURCE_BYTES = 1 << 26
"""Bytes of all modules of a bot in a file together."""
_MODULE = "arena_file_"
_START = "__init__.py"


def bot_file(path: str) -> Path:
    """The file that is imported for a path: the file itself, or the beginning of a package."""
    place = Path(path)
    file = (place / _START if place.is_dir() else place).resolve()
    if not file.is_file():
        raise UsageError(f"There is no file {path}.")
    return file


def sources_of(path: str) -> dict[str, bytes]:
    """A bot's file and the modules beside it that it imports, wherever in its code: path from its folder -> content.

    They are read, not run. A package has all of its modules. A link of somebody else that leads out of the folder is
    refused: whoever made it may not be able to read what this process can.
    """
    file = bot_file(path)
    folder, found, room = file.parent, dict[str, bytes](), MAX_SOURCE_BYTES
    waiting = [one for one in sorted(folder.rglob("*.py")) if one.is_file()] if file.name == _START else [file]
    while waiting:
        one = waiting.pop()
        name = one.relative_to(folder).as_posix()
        if name not in found:
            if one.is_symlink() and not one.resolve().is_relative_to(folder) and not _is_ours(one):
                raise UsageError(f"Cannot read {one}: somebody else's link leads out of the folder.")
            try:
                found[name] = read_regular_file(one, room)
            except UnreadableFile as error:
                raise UsageError(f"Cannot read {one}: {error}.") from error
            room -= len(found[name])
            waiting += _imported_by(folder, one, found[name])
    return dict(sorted(found.items()))


def _is_ours(link: Path) -> bool:
    return not hasattr(os, "geteuid") or link.lstat().st_uid == os.geteuid()


def _imported_by(folder: Path, file: Path, text: bytes) -> Iterator[Path]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return  # whoever imports it will be told
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(folder, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = folder if not node.level else file.parents[min(node.level, len(file.parents)) - 1]
            if base.is_relative_to(folder):
                words = node.module.split(".") if node.module else []
                for alias in node.names:
                    yield from _modules(base, [*words, alias.name])


def _modules(folder: Path, words: Sequence[str]) -> Iterator[Path]:
    """The files behind `a.b.c`, as far as they are there."""
    if words[0] in OURS:
        return
    for depth in range(1, len(words) + 1):
        place = folder.joinpath(*words[:depth])
        yield from (file for file in (place.with_name(place.name + ".py"), place / _START) if file.is_file())


def load_file(path: str, sources: Mapping[str, bytes] | None = None, prints: TextIO | None = None) -> ModuleType:
    """Imports a bot's file, or a package of one; `sources` are its texts where they may have changed since.

    What it prints goes to stderr, or to `prints`: it is not our output.
    """
    file = bot_file(path)
    home = _Home(file, sources_of(path) if sources is None else sources)
    for known in [name for name in sys.modules if name == home.name or name.startswith(f"{home.name}.")]:
        del sys.modules[known]  # of an earlier version, perhaps
    spec = spec_from_file_location(
        home.name, file, loader=_BotLoader(home.name, str(file), home), submodule_search_locations=[str(home.folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[home.name] = module
    _FINDER.homes[home.name] = home
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    try:
        with redirect_stdout(prints or sys.stderr):
            spec.loader.exec_module(module)
    except BaseException as error:  # a bot file may raise anything when imported
        sys.modules.pop(home.name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(f"{path} cannot be loaded: {reason_of(error)}.") from error
    return module


class _Home:
    """The folder of a bot's file, as far as its own imports go."""

    def __init__(self, file: Path, sources: Mapping[str, bytes]) -> None:
        self.file, self.folder, self.sources, self.whole = file, file.parent, sources, file.name == _START
        called = self.folder.name if self.whole else file.stem
        self.name = f"{_MODULE}{re.sub(r'[^0-9a-zA-Z]', '_', called)}_{sha256(str(file).encode()).hexdigest()[:12]}"
        self.builtins = {**vars(builtins), "__import__": self._import}
        self._known: dict[str, str | None] = {}

    def kept(self, path: str) -> bytes | None:
        """The text of a file of this folder that belongs to the bot."""
        place = Path(path)
        if not place.is_relative_to(self.folder):
            return None
        return self.sources.get(place.relative_to(self.folder).as_posix())

    def _import(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002
        top, _, rest = name.partition(".")
        inside = self.inside(top) if level == 0 and top else None
        if inside is None:
            return builtins.__import__(name, globals, locals, fromlist, level)
        full = f"{inside}.{rest}" if rest else inside
        import_module(full)
        if isinstance(fromlist, list):  # not an import statement, but C code such as pickle: it looks in sys.modules
            _FINDER.by_plain_name(name)
        return builtins.__import__(full, globals, locals, fromlist, 0) if fromlist else sys.modules[inside]

    def inside(self, top: str) -> str | None:
        """The name under which a module beside the bot is imported; None for all others."""
        if top not in self._known:
            self._known[top] = self._look_for(top)
        return self._known[top]

    def _look_for(self, top: str) -> str | None:
        if top in OURS:
            return None
        if self.whole:
            return self.name if top == self.folder.name else None
        spec = PathFinder.find_spec(top, [str(self.folder)])
        if spec is None or spec.origin is None:  # a mere folder is no module
            return None
        if Path(spec.origin).resolve() == self.file and PathFinder.find_spec(top) is not None:
            return None  # a bot in torch.py that imports torch does not mean itself
        loaded = vars(sys.modules[top]).get("__file__") if top in sys.modules else None
        if loaded and Path(loaded).resolve() == Path(spec.origin).resolve():
            return None  # it is an installed package as well: there is one of it
        return f"{self.name}.{top}"


class _BotLoader(SourceFileLoader):
    """Reads a bot's modules from the texts that were kept, and leaves no bytecode beside them."""

    def __init__(self, name: str, path: str, home: _Home) -> None:
        super().__init__(name, path)
        self.home = home

    def get_data(self, path: str) -> bytes:
        """The text of a module."""
        kept = self.home.kept(str(path))
        return super().get_data(path) if kept is None else kept

    def path_stats(self, path: str) -> Any:
        """Says nothing: old bytecode is never used for a text that was edited in the same second."""
        raise OSError(f"no bytecode is kept for {path}")

    def exec_module(self, module: ModuleType) -> None:
        """Runs it, with imports that look beside it first."""
        vars(module)["__builtins__"] = self.home.builtins
        super().exec_module(module)


class _BotFinder:
    """Finds the modules beside the bots' files that have been loaded: by their full names, and for whoever asks by a
    plain name on behalf of a bot (`importlib.import_module`, a pickle), by looking who that is."""

    def __init__(self) -> None:
        self.homes: dict[str, _Home] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, _target: object = None) -> ModuleSpec | None:
        """As Python's own finder, with our loader for Python files."""
        home = self.homes.get(name.partition(".")[0])
        if home is None:
            return ModuleSpec(name, _PlainNameLoader()) if self.meant_by(name) else None
        spec = PathFinder.find_spec(name, path) if path is not None else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and spec.origin is not None:
            spec.loader = _BotLoader(name, spec.origin, home)
        return spec

    def meant_by(self, name: str) -> ModuleType | None:
        """The module that the bot in whose name somebody imports means by a plain name, if it lies beside it."""
        top, _, rest = name.partition(".")
        if top in OURS or top in sys.stdlib_module_names:
            return None
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            home = self.homes.get(str(frame.f_globals.get("__name__", "")).partition(".")[0])
            if home is not None:
                inside = home.inside(top)
                return import_module(f"{inside}.{rest}" if rest else inside) if inside else None
        return None

    def by_plain_name(self, name: str) -> None:
        """Lets a module beside a bot be found in sys.modules by its plain name, if that means nothing else."""
        words = name.split(".")
        for depth in range(1, len(words) + 1):
            plain = ".".join(words[:depth])
            sys.modules.setdefault(plain, _PlainName(plain))


class _PlainName(ModuleType):
    """Stands for the modules of one name beside several bots: each bot that looks sees its own."""

    def __getattr__(self, attribute: str) -> Any:
        module = _FINDER.meant_by(self.__name__)
        if module is None:
            raise AttributeError(f"{self.__name__} lies beside a bot: nobody else has it")
        return getattr(module, attribute)


class _PlainNameLoader(Loader):
    """Makes such a stand-in."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The stand-in."""
        return _PlainName(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


_FINDER: Any = _BotFinder()


# What a bot is, whatever version it says it has: a digest of its source, and of the data that it declares.


def digest_of_files(files: Mapping[str, bytes]) -> str:
    """What identifies these files: their names and contents."""
    total = sha256()
    for name, content in sorted(files.items()):
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return "sha256:" + total.hexdigest()[:16]


def file_digest(path: str, sources: Mapping[str, bytes], data: tuple[str, ...] = ()) -> str:
    """Of a bot in a file: the file with the modules beside it that it imports, and the data files that it declares."""
    folder = bot_file(path).parent
    files, room = {}, MAX_DATA_BYTES
    for name in data:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise PluginError(f"{path} says that it reads {name!r}, which is no file in its folder.")
        try:
            content = read_regular_file(file, room)
        except UnreadableFile as error:
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
