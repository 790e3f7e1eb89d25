"""Lets Python import packages by name that lie in folders which the process may not look into."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any


class _PackageFinder:
    def __init__(self, packages: Mapping[str, str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Where a module begins, if it is one of ours."""
        file = self.packages.get(name)
        if file is None:
            return None
        inside = [str(Path(file).parent)] if Path(file).name == "__init__.py" else None
        return spec_from_file_location(name, file, submodule_search_locations=inside)


def find_packages(packages: Mapping[str, str]) -> None:
    """From now on these are found as well, after all that Python finds by itself: name -> file that it begins with."""
    finder: Any = _PackageFinder(packages)
    sys.meta_path.append(finder)
