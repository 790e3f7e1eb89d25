"""Wheels of what is installed here, for machines that lack it or have another version.

Sent are the distributions that games and bots are from, and arena's own; what they require (numpy, say) is not sent:
it must be installed there. A distribution is sent as it runs here: the files that pip has noted in its RECORD, edited
or not, and of one that is installed in place (`pip install -e`) all files of its packages. To build the latter anew
would need the tools that it was built with, which a plain environment has not, and would leave their work in the
author's folder. Programs in bin/ and files outside of the folder of packages stay here, and so does bytecode.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from stat import S_IFREG
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from harness.core.compiled import LIBRARY, library
from harness.core.errors import UsageError
from harness.core.plain_files import LARGEST_DATA, UnfitFile, read_plain
from harness.plugins.visible_code import project_of, specs_in_place
from harness.plugins.wheel_unpacking import PURE, recorded_hash, tag_here

_OF_THE_INSTALLATION = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json", "RECORD.jws", "RECORD.p7s")
"""What a .dist-info holds that is true of this installation alone, or is written anew."""
_MACHINE_CODE = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How libraries and programs begin: of Linux, of Windows, and of macOS for one processor and for several."""


def wheels_for(modules: Iterable[str]) -> dict[str, bytes]:
    """A wheel for each distribution that these modules are from: file name -> content, the same bytes each time.

    Raises UsageError for a module that no installed distribution has. It is the file that decides: a folder on
    PYTHONPATH may hide an installed package of the same name.
    """
    installed = list(_all_installed())
    wanted = {}
    for module in sorted(set(modules)):
        file = _file_of(module)
        owner = next((each for each in installed if file and each.owns(module, file)), None)
        if owner is None:
            raise UsageError(
                f"{module} ({file or 'without a file'}) cannot be sent to other machines: no package that pip has "
                f"installed here has it. Install the folder that it is in (pip install, without -e), or enter a bot by "
                f"its file."
            )
        wanted[owner.site, owner.distribution.name] = owner
    return dict(sorted(map(_wheel, wanted.values())))


class _Installed(NamedTuple):
    """A distribution as it is installed."""

    distribution: Distribution
    record: str
    """What pip has noted of its files."""
    site: Path
    """The folder of packages that it is in."""
    in_place: Mapping[str, Sequence[Path]]
    """Of one that is installed in place: its packages and modules, and where each lies."""

    def owns(self, module: str, file: Path) -> bool:
        """Whether this file is the distribution's, as that of a module."""
        if file.is_relative_to(self.site) and f"\n{file.relative_to(self.site).as_posix()}," in self.record:
            return True
        places = self.in_place.get(module.partition(".")[0], ())
        return any(file.resolve().is_relative_to(place) for place in places)

    def files(self) -> Iterator[tuple[str, Path]]:
        """All that belongs into a wheel: the path in there, and the file."""
        for listed in self.distribution.files or ():
            of_the_finder = len(listed.parts) == 1 and ("editable" in listed.name or listed.suffix == ".pth")
            about = len(listed.parts) == 2 and listed.parts[0].endswith(".dist-info")
            outside = listed.is_absolute() or ".." in listed.parts
            if not (outside or (self.in_place and of_the_finder) or (about and listed.name in _OF_THE_INSTALLATION)):
                yield listed.as_posix(), self.site / listed
        for place in chain.from_iterable(self.in_place.values()):
            for path in (place, *place.rglob("*")):
                yield path.relative_to(place.parent).as_posix(), path


def _all_installed() -> Iterator[_Installed]:
    for distribution in distributions():
        record = distribution.read_text("RECORD")
        if record is not None:  # what builders leave in the author's folder has none
            site = Path(str(distribution.locate_file(""))).absolute()
            yield _Installed(distribution, f"\n{record}", site, _places_in_place(distribution))


def _places_in_place(distribution: Distribution) -> dict[str, list[Path]]:
    project = project_of(distribution)
    if project is None:
        return {}
    found = {}
    for name, spec in specs_in_place(distribution).items():
        places = map(Path, spec.submodule_search_locations or [spec.origin or ""])
        found[name] = [place.resolve() for place in places if place.is_relative_to(project)]
    if (compiled := library(project)) is not None:  # which the compiled modules lead to
        found[LIBRARY] = [compiled.resolve()]
    return found


def _file_of(module: str) -> Path | None:
    if module == "__main__":  # what runs here, or was typed into a notebook: nobody can import it elsewhere
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):  # it is not there, or was made by hand
            return None
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file).absolute() if file else None


def _wheel(installed: _Installed) -> tuple[str, bytes]:
    """A wheel of a distribution: its file name and content."""
    paths = {name: path for name, path in installed.files() if "__pycache__" not in name and path.is_file()}
    contents = {name: _read(path) for name, path in paths.items()}
    runnable = {name for name, path in paths.items() if path.stat().st_mode & 0o111}
    about = next(name.partition("/")[0] for name in contents if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
    native = any(content.startswith(_MACHINE_CODE) for content in contents.values())
    tag = tag_here() if native else PURE
    pure = str(not native).lower()
    contents[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    contents = dict(sorted(contents.items(), key=lambda item: (item[0].startswith(about), item[0])))
    contents[f"{about}/RECORD"] = _record(contents, f"{about}/RECORD")
    return f"{about.removesuffix('.dist-info')}-{tag}.whl", _zipped(contents, runnable)


def _read(path: Path) -> bytes:
    try:
        return read_plain(path, LARGEST_DATA)
    except UnfitFile as error:
        raise UsageError(f"{path} cannot be sent to other machines: {error}.") from error


def _record(contents: Mapping[str, bytes], itself: str) -> bytes:
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows((name, recorded_hash(content), len(content)) for name, content in contents.items())
    rows.writerow((itself, "", ""))
    return text.getvalue().encode()


def _zipped(contents: Mapping[str, bytes], runnable: set[str]) -> bytes:
    archive = BytesIO()
    with ZipFile(archive, "w") as wheel:
        for name, content in contents.items():
            entry = ZipInfo(name)  # of 1980, as long as nobody says otherwise
            entry.create_system = 3
            entry.external_attr = (S_IFREG | (0o755 if name in runnable else 0o644)) << 16
            wheel.writestr(entry, content, ZIP_DEFLATED)
    return archive.getvalue()
