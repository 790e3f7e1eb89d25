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

from harness.core.errors import PluginError, UsageError, reason_of
from harness.core.files import MAX_DATA_BYTES, UnreadableFile, read_regular_file
from harness.core.options import digest_of

# Bots in files: which files belong to a bot, and an import that keeps versions of a bot separate.
#
# Two versions of a bot may each have a `helpers.py` beside them. So every bot's file is imported as a separate package:
# what it, or a module beside it, imports from its folder becomes a submodule of that package, at import and in the
# middle of a match alike. Python's import hooks do not know which module imports. `__import__` does, so these modules
# get builtins with another `__import__`.


OURS = ("harness", "engines", "bots")
"""Names that always mean Arena's own packages, even if a bot has modules of that name beside it."""
MAX_SOURCE_BYTES = 1 << 26
"""Limit for all modules of a bot in a file together."""
_MODULE = "arena_file_"
_START = "__init__.py"


def bot_file(path: str) -> Path:
    """Return the file to import for a path: the file itself, or the `__init__.py` of a package."""
    place = Path(path)
    file = (place / _START if place.is_dir() else place).resolve()
    if not file.is_file():
        raise UsageError(f"There is no file {path}.")
    return file


def sources_of(path: str, untrusted: bool = False) -> dict[str, bytes]:
    """Return a bot's file and the modules beside it that it imports anywhere: path relative to its folder -> content.

    They are read, not run. A package has all of its modules. A link of another user that leads out of the folder is
    refused: that user may not be allowed to read what this process can. If the bot is `untrusted`, every such link is:
    links that were unpacked from an archive belong to this user.
    """
    file = bot_file(path)
    folder, found, room = file.parent, dict[str, bytes](), MAX_SOURCE_BYTES
    waiting = [one for one in sorted(folder.rglob("*.py")) if one.is_file()] if file.name == _START else [file]
    while waiting:
        one = waiting.pop()
        name = one.relative_to(folder).as_posix()
        if name not in found:
            leads_out = not one.resolve().is_relative_to(folder)
            if leads_out and untrusted:
                raise UsageError(f"Cannot read {one}: a link leads out of the folder of an untrusted bot.")
            if leads_out and one.is_symlink() and hasattr(os, "geteuid") and one.lstat().st_uid != os.geteuid():
                raise UsageError(f"Cannot read {one}: another user's link leads out of the folder.")
            try:
                found[name] = read_regular_file(one, room)
            except UnreadableFile as error:
                raise UsageError(f"Cannot read {one}: {error}.") from error
            room -= len(found[name])
            waiting += _imported_by(folder, one, found[name])
    return dict(sorted(found.items()))


def syntax_nodes(text: bytes) -> Iterator[ast.AST]:
    """Yield the nodes of the syntax tree of a Python file; none if it cannot be parsed, which its import reports."""
    with suppress(SyntaxError, ValueError):
        yield from ast.walk(ast.parse(text))


def _imported_by(folder: Path, file: Path, text: bytes) -> Iterator[Path]:
    for node in syntax_nodes(text):
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
    """Yield the existing files of `a.b.c`."""
    if words[0] in OURS:
        return
    for depth in range(1, len(words) + 1):
        place = folder.joinpath(*words[:depth])
        yield from (file for file in (place.with_name(place.name + ".py"), place / _START) if file.is_file())


def load_file(path: str, sources: Mapping[str, bytes] | None = None, prints: TextIO | None = None) -> ModuleType:
    """Import a bot's file or package and return the module; `sources` are its texts, if the files may have changed.

    What it prints goes to stderr, or to `prints`: it is not our output.
    """
    file = bot_file(path)
    home = _Home(file, sources_of(path) if sources is None else sources)
    for known in [name for name in sys.modules if name == home.name or name.startswith(f"{home.name}.")]:
        del sys.modules[known]  # it may be of an earlier version
    spec = spec_from_file_location(
        home.name, file, loader=_BotLoader(home.name, str(file), home), submodule_search_locations=[str(home.folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[home.name] = module
    _FINDER.homes[home.name] = home
    if _FINDER not in sys.meta_path:
        # First: Python's own finder would find modules beside the bot, too, but with a loader that reads the files
        # again and writes bytecode.
        sys.meta_path.insert(0, _FINDER)
    try:
        with redirect_stdout(prints or sys.stderr):
            spec.loader.exec_module(module)
    except BaseException as error:  # a bot file may raise anything when imported
        sys.modules.pop(home.name, None)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise PluginError(f"{path} cannot be loaded: {reason_of(error, home.folder)}.") from error
    return module


class _Home:
    """The folder of a bot's file, and the imports from it."""

    def __init__(self, file: Path, sources: Mapping[str, bytes]) -> None:
        self.file, self.folder, self.sources, self.whole = file, file.parent, sources, file.name == _START
        called = self.folder.name if self.whole else file.stem
        # The digest of the path keeps files of the same name in different folders separate.
        self.name = f"{_MODULE}{re.sub(r'[^0-9a-zA-Z]', '_', called)}_{sha256(str(file).encode()).hexdigest()[:12]}"
        self.builtins = {**vars(builtins), "__import__": self._import}
        self._known: dict[str, str | None] = {}

    def kept(self, path: str) -> bytes | None:
        """Return the text of a file in this folder that belongs to the bot; None for other files."""
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
        """Return the name under which a module beside the bot is imported; None for other modules."""
        if top not in self._known:
            self._known[top] = self._look_for(top)
        return self._known[top]

    def _look_for(self, top: str) -> str | None:
        if top in OURS:
            return None
        if self.whole:
            return self.name if top == self.folder.name else None
        spec = PathFinder.find_spec(top, [str(self.folder)])
        if spec is None or spec.origin is None:  # a folder without __init__.py is not a module
            return None
        if Path(spec.origin).resolve() == self.file and PathFinder.find_spec(top) is not None:
            return None  # a bot in torch.py that imports torch means the library
        loaded = vars(sys.modules[top]).get("__file__") if top in sys.modules else None
        if loaded and Path(loaded).resolve() == Path(spec.origin).resolve():
            return None  # it is an installed package, too, and must not be loaded twice
        return f"{self.name}.{top}"


class _BotLoader(SourceFileLoader):
    """Loads a bot's modules from the texts that were read first, and writes no bytecode beside them."""

    def __init__(self, name: str, path: str, home: _Home) -> None:
        super().__init__(name, path)
        self.home = home

    def get_data(self, path: str) -> bytes:
        """Return the text of a module."""
        kept = self.home.kept(str(path))
        return super().get_data(path) if kept is None else kept

    def path_stats(self, path: str) -> Any:
        """Raise OSError, so that no old bytecode is used for a source that was edited in the same second."""
        raise OSError(f"no bytecode is kept for {path}")

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with imports that search beside it first."""
        vars(module)["__builtins__"] = self.home.builtins
        super().exec_module(module)


class _BotFinder:
    """Finds the modules beside loaded bots' files: by their full names, and by plain names for code that imports on
    behalf of a bot (`importlib.import_module`, pickle). The call stack shows which bot that is."""

    def __init__(self) -> None:
        self.homes: dict[str, _Home] = {}

    def find_spec(self, name: str, path: Sequence[str] | None, _target: object = None) -> ModuleSpec | None:
        """Return what Python's own finder returns, with our loader for Python files."""
        home = self.homes.get(name.partition(".")[0])
        if home is None:
            return ModuleSpec(name, _PlainNameLoader()) if self.meant_by(name) else None
        spec = PathFinder.find_spec(name, path) if path is not None else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and spec.origin is not None:
            spec.loader = _BotLoader(name, spec.origin, home)
        return spec

    def meant_by(self, name: str) -> ModuleType | None:
        """Return the module beside the bot on the call stack that has this plain name; None if there is none."""
        top, _, rest = name.partition(".")
        if top in OURS or top in sys.stdlib_module_names:
            return None
        # From the inside out: the innermost bot is the one on whose behalf something is imported.
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            home = self.homes.get(str(frame.f_globals.get("__name__", "")).partition(".")[0])
            if home is not None:
                inside = home.inside(top)
                return import_module(f"{inside}.{rest}" if rest else inside) if inside else None
        return None

    def by_plain_name(self, name: str) -> None:
        """Register a module beside a bot in sys.modules under its plain name, unless that is in use."""
        words = name.split(".")
        for depth in range(1, len(words) + 1):
            plain = ".".join(words[:depth])
            sys.modules.setdefault(plain, _PlainName(plain))


class _PlainName(ModuleType):
    """Stands for the modules of one name beside several bots: each bot sees its own."""

    def __getattr__(self, attribute: str) -> Any:
        module = _FINDER.meant_by(self.__name__)
        if module is None:
            raise AttributeError(f"{self.__name__} is next to a bot, and only that bot can use it")
        return getattr(module, attribute)


class _PlainNameLoader(Loader):
    """Loads a _PlainName."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return _PlainName(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is no code to run."""


_FINDER: Any = _BotFinder()


# Digests: they identify a bot by its source and its data files, whatever version it declares.


def digest_of_files(files: Mapping[str, bytes]) -> str:
    """Return the digest of files, by their names and contents."""
    total = sha256()
    for name, content in sorted(files.items()):
        # With its length it is unambiguous where each file ends.
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return "sha256:" + total.hexdigest()[:16]


def declared_file(path: str, name: str) -> Path:
    """Return the data file that a bot in `path` declares under this name; raises PluginError if it is not there."""
    folder = bot_file(path).parent
    file = (folder / name).resolve()
    if not file.is_relative_to(folder) or not file.is_file():
        raise PluginError(f"{path} declares {name!r}, which is not a file in its folder.")
    return file


def file_digest(path: str, sources: Mapping[str, bytes], data: tuple[str, ...] = ()) -> str:
    """Return the digest of a bot in a file: the file, the modules beside it that it imports, and its data files."""
    files, room = {}, MAX_DATA_BYTES
    for name in data:
        try:
            content = read_regular_file(declared_file(path, name), room)
        except UnreadableFile as error:
            raise PluginError(f"{path} declares {name!r}, which cannot be read: {error}.") from error
        room -= len(content)
        # The prefix keeps a data file from replacing a source of the same name.
        files[f"data:{name}"] = content
    return digest_of_files({**sources, **files})


def class_digest(cls: type[Any]) -> str:
    """Return the digest of an imported class: all files of its package, or its source if it is in no package."""
    module = sys.modules.get(cls.__module__)
    top = sys.modules.get(cls.__module__.partition(".")[0])
    file = getattr(top, "__file__", None) or getattr(module, "__file__", None)
    if cls.__module__ == "__main__" or "<" in cls.__qualname__ or not file or not Path(file).is_file():
        return source_digest(cls)
    return _package_digest(file)


def consulted_in(sources: Mapping[str, bytes]) -> list[str]:
    """Return the bots that these texts consult by name: `bot_named("outlaw")`."""
    found: dict[str, None] = {}
    for node in (node for text in sources.values() for node in syntax_nodes(text)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "bot_named" and isinstance(node.args[0].value, str):
                found[node.args[0].value] = None
    return list(found)


@cache  # all bots of a package have the same digest, and reading its files takes time
def _package_digest(file: str) -> str:
    """Return the digest of all files of the package with this `__init__.py`, or of a single module."""
    place = Path(file)
    if place.name != "__init__.py":
        return digest_of_files({place.name: place.read_bytes()})
    folder = place.parent
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not is_compiled_twin(path)  # the same code, compiled
    ]
    return digest_of_files({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def is_compiled_twin(path: Path) -> bool:
    """Return whether this file is the compiled form of a module whose source is beside it."""
    native = path.suffix in (".so", ".pyd")  # also one for another Python
    return native and path.with_name(path.name.partition(".")[0] + ".py").exists()


def source_digest(thing: Any) -> str:
    """Return the digest of a class or function from a notebook or script: its source, and what it uses there.

    That is other functions and classes, values in closures, and simple values; not objects whose text differs from run
    to run.
    """
    texts: dict[Hashable, str] = {}
    _collect_texts(thing, texts)
    return digest_of("\n".join(texts.values()))


def _collect_texts(thing: Any, texts: dict[Hashable, str]) -> None:
    if id(thing) in texts:
        return
    texts[id(thing)] = _text_of(thing)
    members = [thing] if isfunction(thing) else vars(thing).values()
    # Of a method or a property, its function.
    functions = [getattr(each, "__func__", None) or getattr(each, "fget", None) or each for each in members]
    for function in filter(isfunction, functions):
        for name, value in sorted(_used_names(function).items()):
            if getattr(value, "__module__", None) == function.__module__ and (isfunction(value) or isclass(value)):
                _collect_texts(value, texts)
            elif isinstance(value, _SIMPLE):
                texts[id(function), name] = f"{name} = {_value_text(value)}"
            elif hasattr(value, "tobytes") and hasattr(value, "dtype"):  # an array, such as the weights of a network
                texts[id(function), name] = f"{name} = {value.dtype} {sha256(value.tobytes()).hexdigest()}"
    for base in getattr(thing, "__bases__", ()):
        if base.__module__ == thing.__module__:
            _collect_texts(base, texts)


_SIMPLE = (bool, int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset)


def _used_names(function: Any) -> dict[str, Any]:
    """Return the global names and closure variables that a function uses, with their current values."""
    code = function.__code__
    names, waiting = set(code.co_names), list(code.co_consts)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, CodeType):
            names |= set(inner.co_names)
            waiting += inner.co_consts
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # not assigned yet
            found[name] = cell.cell_contents
    return found


def _value_text(value: Any) -> str:
    """Return a simple value as text; the order of a set does not count."""
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
