"""What Python code a process of its own may read: what is installed, and of everything else single packages.

A package that is installed in place (`pip install -e`) lies in somebody's checkout, beside whatever else is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from harness.plugins.bot_files import OURS, sources_of

ROOT = Path(__file__).parents[2]
"""The folder that has `harness` in it."""


class VisibleCode(NamedTuple):
    """Code that a process may read, and import."""

    readable: frozenset[str]
    """Files and folders."""
    packages: dict[str, str]
    """Packages and modules that no folder of installed ones holds: name -> the file that it begins with."""


def visible_code(classes: Iterable[type] = ()) -> VisibleCode:
    """All that is installed, arena's own packages, and the packages or modules that these classes are from."""
    packages = {name: str(ROOT / name / "__init__.py") for name in OURS} | _in_place()
    readable = _installed()
    for cls in classes:
        packages |= _modules_of(cls)
    for file in packages.values():
        readable.add(str(Path(file).parent) if Path(file).name == "__init__.py" else file)
    return VisibleCode(frozenset(readable), packages)


def _installed() -> set[str]:
    """Python itself, and the folders of its path that packages are installed in."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    return prefixes | {path for path in sys.path if path and _holds_packages(Path(path))}


def _holds_packages(folder: Path) -> bool:
    named = folder.name in ("site-packages", "dist-packages")
    try:
        return folder.is_dir() and (named or next(folder.glob("*.dist-info"), None) is not None)
    except PermissionError:  # the folder that we are in may be below one that we may not enter
        return False


@cache
def _in_place() -> dict[str, str]:
    """The packages that are installed in place: name -> where it begins."""
    found = {}
    for distribution in distributions():
        about = json.loads(distribution.read_text("direct_url.json") or "{}")
        if not about.get("dir_info", {}).get("editable"):
            continue
        project = Path(unquote(urlsplit(about.get("url", "")).path))
        names = (distribution.read_text("top_level.txt") or "").split() or [
            start.parent.name for start in (*project.glob("*/__init__.py"), *project.glob("src/*/__init__.py"))
        ]
        for name in names:
            spec = find_spec(name) if name.isidentifier() else None
            if spec is not None and spec.origin is not None and Path(spec.origin).is_relative_to(project):
                found[name] = spec.origin
    return found


def _modules_of(cls: type) -> dict[str, str]:
    """The package that a class is from; of a single module, with the modules beside it that it imports."""
    top = cls.__module__.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:  # a namespace has no file of its own
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        return {cls.__module__: file} if file else {}
    start = Path(file).resolve()
    if start.name == "__init__.py":
        return {top: str(start)}
    found = {top: str(start)}
    for name in sources_of(str(start)):
        beginning = name.partition("/")[0]
        found[beginning.removesuffix(".py")] = str(
            start.parent / (beginning if beginning.endswith(".py") else f"{beginning}/__init__.py")
        )
    return found
