"""The modules that mypyc may compile, whether they were compiled, and what classes need for it."""

from __future__ import annotations

import json
import os
from functools import cache
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES
from inspect import isfunction
from pathlib import Path
from typing import Any, TypeVar

# The list of compiled modules, and whether they were compiled from the sources that are here.
#
# `ARENA_COMPILE=1 pip install .` compiles them with mypyc (setup.py). The sources stay beside the compiled modules,
# which Python prefers; without a compiler, or with another Python, the sources run and give the same records.


HOT_MODULES = {
    "bots": "broker flat_mc hustler ismcts miser outlaw",
    "bots/search": "base caution guide judge mast playout race rewards tree",
    "engines/el_paso": "choices features game imagine leaving plunder state table town values",
    "engines/gnadenlos": "bags bids choices events features game hiring imagine market payday setup state table",
    "engines/x_pasch": "boards cards choices dice features game imagine state tables uses",
    "harness/core": "rng game tree_ensemble",
    "harness/match": "referee",
}
"""The hot modules of each folder, by profile: rules, luck, referee, search, and the experts that guide it.

They define no msgspec structs, dataclasses or named tuples: mypyc silently loses what makes them frozen. Their
attributes, arguments and constants are typed (`Final`), because only typed values become fast C code. Classes that
plugins subclass are marked with `mypyc_attr(allow_interpreted_subclasses=True)`: without it, compiled code would ignore
methods that an interpreted subclass overrides.
"""

LIBRARY = "arena__mypyc"
"""The extension module that holds all compiled code; the others are stubs that import from it."""

MANIFEST = "harness/core/compiled.json"
"""Written by the build: the digest of each module's source at that moment."""

ROOT = Path(__file__).parents[2]


@cache
def hot_modules() -> tuple[str, ...]:
    """Return the paths of the hot modules, relative to the root."""
    return tuple(f"{folder}/{name}.py" for folder, names in HOT_MODULES.items() for name in names.split())


def is_hot(file: str) -> bool:
    """Return whether a file of a traceback is a hot module: its path is relative if compiled, and absolute if not."""
    return file.removeprefix(f"{ROOT}{os.sep}").replace(os.sep, "/") in hot_modules()


def source_digests(root: Path = ROOT) -> dict[str, str]:
    """Return the current digests of the hot modules' sources."""
    return {module: sha256((root / module).read_bytes()).hexdigest() for module in hot_modules()}


def compiled_modules(root: Path = ROOT) -> list[str]:
    """Return the hot modules that run in compiled form here."""
    stems = {module: root / module.removesuffix(".py") for module in hot_modules()}
    return [
        module for module, stem in stems.items() if any(Path(f"{stem}{end}").exists() for end in EXTENSION_SUFFIXES)
    ]


def stale_modules(root: Path = ROOT) -> list[str]:
    """Return the hot modules whose compiled code is not from the source that is here; empty if nothing is compiled.

    Edits of these would change nothing. Compiled modules call each other inside the library, so one whose stub was
    deleted still runs, as it was.
    """
    if library_path(root) is None and not compiled_modules(root):
        return []
    try:
        made_from = dict(json.loads((root / MANIFEST).read_text()))
    except (OSError, ValueError, TypeError):
        return list(hot_modules())
    now, there = source_digests(root), set(compiled_modules(root))
    return [module for module in hot_modules() if module not in there or made_from.get(module) != now[module]]


def library_path(root: Path = ROOT) -> Path | None:
    """Return the file that holds the compiled code; None if nothing is compiled."""
    return next((root / (LIBRARY + end) for end in EXTENSION_SUFFIXES if (root / (LIBRARY + end)).exists()), None)


def build_form() -> str:
    """Return "pure Python", "compiled", or the problem with the compiled modules."""
    if library_path() is None and not compiled_modules():
        return "pure Python"
    if old := stale_modules():
        return f"compiled, but {len(old)} of {len(hot_modules())} modules not from the sources that are here"
    return "compiled"


# Support for classes that may be compiled while plain Python classes inherit from them. This module itself is always
# interpreted.


T = TypeVar("T")


def attribute_names(thing: object) -> list[str]:
    """Return the names of an object's attributes, whether its classes keep them in slots, a `__dict__` or compiled."""
    kept = {name for cls in type(thing).__mro__ for name in _kept_by(cls)} | set(getattr(thing, "__dict__", ()))
    return [name for name in sorted(kept) if hasattr(thing, name)]


def _kept_by(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__") or cls.__dict__.get("__mypyc_attrs__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    private = f"_{cls.__name__.lstrip('_')}"  # Python's name mangling of names that begin with two underscores
    return tuple(
        private + name if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    )


def new_instance(cls: type[T]) -> T:
    """Return an object of this class without any attributes: for pickles and copies."""
    return cls.__new__(cls)


def get_state(thing: object) -> Any:
    """Return what a pickle or a copy of an object must contain: the result of its `__getstate__`, or all attributes."""
    if isfunction(type(thing).__getstate__):  # written by an author: those of Python and mypyc are not functions
        return thing.__getstate__()
    return {name: getattr(thing, name) for name in attribute_names(thing)}
