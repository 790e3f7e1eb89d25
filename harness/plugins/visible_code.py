"""What Python code a process of its own may read: what is installed, and of everything else single packages.

A package that is installed in place (`pip install -e`) lies in somebody's checkout, beside whatever else is there.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from harness.core.compiled import LIBRARY, library
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
    if (compiled := library(ROOT)) is not None:
        packages[LIBRARY] = str(compiled)
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
    return {
        name: spec.origin
        for distribution in distributions()
        for name, spec in specs_in_place(distribution).items()
        if spec.origin is not None
    }


def project_of(distribution: Distribution) -> Path | None:
    """The folder that a distribution is developed in, if it is installed in place."""
    about = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not about.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(about.get("url", "")).path))


def specs_in_place(distribution: Distribution) -> dict[str, ModuleSpec]:
    """The packages and modules that Python finds in the folder that a distribution is developed in, if there is one."""
    project = project_of(distribution)
    if project is None:
        return {}
    names = (distribution.read_text("top_level.txt") or "").split() or [
        *(start.parent.name for start in (*project.glob("*/__init__.py"), *project.glob("src/*/__init__.py"))),
        *(re.split(r"[.:\s]", point.value)[0] for point in distribution.entry_points),
    ]
    found = {}
    for name in names:
        spec = find_spec(name) if name.isidentifier() else None
        places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        if spec is not None and any(Path(place).is_relative_to(project) for place in places):
            found[name] = spec
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
