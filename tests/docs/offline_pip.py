"""`pip install` for tests: no network, but only what was asked for, and what that requires, becomes importable.

    python -m tests.docs.offline_pip PYTHON install -e "./sprinter[test]"

Packages are taken from the environment of the tests; a folder is built and installed by pip itself. So a page that
uses something it has not told its reader to install fails as it would fail the reader.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

QUIET = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--root-user-action=ignore")


def bring(python: Path, texts: Iterable[str]) -> None:
    """Makes requirements, and what they require, importable for a Python of a virtual environment."""
    [site] = (python.parents[1] / "lib").glob("python*/site-packages")
    for found in _all_of(texts):
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            source, target = Path(str(found.locate_file(top))), site / top
            if source.is_dir():
                shutil.copytree(source, target, copy_function=_link, dirs_exist_ok=True)
            elif not target.exists():
                _link(str(source), str(target))


def _all_of(texts: Iterable[str]) -> Iterator[Distribution]:
    """The distributions that these requirements mean, directly and indirectly."""
    waiting = [(Requirement(text), "") for text in texts]
    done: set[tuple[str, str]] = set()
    while waiting:
        wanted, extra = waiting.pop()
        if (wanted.name, str(wanted.extras)) in done or not (
            wanted.marker is None or wanted.marker.evaluate({"extra": extra})
        ):
            continue
        done.add((wanted.name, str(wanted.extras)))
        try:
            found = distribution(wanted.name)
        except PackageNotFoundError:
            sys.exit(f"ERROR: No matching distribution found for {wanted}")
        yield found
        for text in found.requires or ():
            waiting += [(Requirement(text), each) for each in ("", *wanted.extras)]


def _link(source: str, target: str) -> None:
    if Path(target).exists():
        return
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def main(python: str, *words: str) -> None:
    """What `pip` does when a person types it."""
    assert words[0] == "install", "pages use nothing else of pip"
    for word in words[1:]:
        if word.startswith("-"):
            continue
        folder, _, extras = word.partition("[")
        if not folder.startswith((".", "/")):
            bring(Path(python), [word])
            continue
        project = tomllib.loads((Path(folder) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extra_names = [name for name in re.split(r"[\],\s]+", extras) if name]
        needs = [*project.get("dependencies", ()), *(_extra(project, name) for name in extra_names)]
        bring(Path(python), [text for each in needs for text in ([each] if isinstance(each, str) else each)])
        options = [each for each in words[1:] if each.startswith("-")]
        pip = [sys.executable, "-m", "pip", "--python", python, "install", *options, folder, *QUIET]
        if code := subprocess.run(pip).returncode:
            sys.exit(code)


def _extra(project: dict[str, dict[str, list[str]]], name: str) -> list[str]:
    with suppress(KeyError):
        return project["optional-dependencies"][name]
    sys.exit(f"ERROR: there is no extra {name!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
