"""Installed packages as wheels: made for nodes that lack them or have other versions, unpacked and imported there."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import re
import sys
import sysconfig
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from email import message_from_bytes
from hashlib import sha256
from importlib.metadata import Distribution, distributions
from inspect import getmodulename
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from stat import S_IFREG
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from harness.core.compiled import LIBRARY, library_path
from harness.core.errors import UsageError
from harness.core.files import MAX_DATA_BYTES, UnreadableFile, read_regular_file
from harness.plugins.snapshots import editable_modules, project_of, write_once

PURE = "py3-none-any"
"""Tag of wheels for any Python 3 on any machine."""

# Wheels of installed packages, for nodes that lack them or have other versions.
#
# Sent are the distributions of games and bots, and Arena itself; their requirements (such as numpy) must be installed
# on the node. A distribution is sent as it runs here: the files in pip's RECORD, edited or not, and for an editable
# install all files of its packages. Building a wheel instead would need the build tools of the package, which may be
# missing, and would leave files in the author's folder. Scripts in bin/, files outside of site-packages and bytecode
# are not sent.


_INSTALLATION_FILES = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json", "RECORD.jws", "RECORD.p7s")
"""Files of a .dist-info folder that describe this installation, or are written again."""
_READ_BYTES = 1 << 16
_BINARY_MAGIC = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""First bytes of binaries: Linux, Windows, macOS for one and for several architectures."""


def wheels_for(modules: Iterable[str]) -> dict[str, bytes]:
    """Return a wheel for each distribution that owns these modules, as file name -> content; the same bytes each time.

    Raise UsageError for a module that no installed distribution owns. The file of the module decides: a folder on
    PYTHONPATH may hide an installed package of the same name.
    """
    installed = list(_installed_packages())
    wanted = {}
    for module in sorted(set(modules)):
        file = _module_file(module)
        owner = next((each for each in installed if file and each.owns(module, file)), None)
        if owner is None:
            raise UsageError(
                f"{module} ({file or 'without a file'}) cannot be sent to other machines: it belongs to no "
                f"package that pip has installed. Install its folder (pip install, not -e), or enter the bot's file."
            )
        wanted[owner.site, owner.distribution.name] = owner
    return dict(sorted(map(_wheel, wanted.values())))


class _InstalledPackage(NamedTuple):
    """An installed distribution."""

    distribution: Distribution
    record: str
    """Its RECORD file, which lists its files."""
    site: Path
    """Its site-packages folder."""
    editable: Mapping[str, Sequence[Path]]
    """The packages and modules of an editable install, and their paths."""

    def owns(self, module: str, file: Path) -> bool:
        """Return whether the file of this module belongs to the distribution."""
        if file.is_relative_to(self.site) and f"\n{file.relative_to(self.site).as_posix()}," in self.record:
            return True
        places = self.editable.get(module.partition(".")[0], ())
        return any(file.resolve().is_relative_to(place) for place in places)

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files for a wheel: the path inside of it, and the file."""
        for listed in self.distribution.files or ():
            of_the_finder = len(listed.parts) == 1 and ("editable" in listed.name or listed.suffix == ".pth")
            about = len(listed.parts) == 2 and listed.parts[0].endswith(".dist-info")
            outside = listed.is_absolute() or ".." in listed.parts
            if not (outside or (self.editable and of_the_finder) or (about and listed.name in _INSTALLATION_FILES)):
                yield listed.as_posix(), self.site / listed
        for place in chain.from_iterable(self.editable.values()):
            for path in (place, *place.rglob("*")):
                yield path.relative_to(place.parent).as_posix(), path


def _installed_packages() -> Iterator[_InstalledPackage]:
    for distribution in distributions():
        record = distribution.read_text("RECORD")
        if record is not None:  # metadata that build tools leave in a source folder has none
            site = Path(str(distribution.locate_file(""))).absolute()
            yield _InstalledPackage(distribution, f"\n{record}", site, _editable_locations(distribution))


def _editable_locations(distribution: Distribution) -> dict[str, list[Path]]:
    project = project_of(distribution)
    if project is None:
        return {}
    found = {}
    for name, spec in editable_modules(distribution).items():
        places = map(Path, spec.submodule_search_locations or [spec.origin or ""])
        found[name] = [place.resolve() for place in places if place.is_relative_to(project)]
    if (compiled := library_path(project)) is not None:  # the shared library of the compiled modules
        found[LIBRARY] = [compiled.resolve()]
    return found


def _module_file(module: str) -> Path | None:
    if module == "__main__":  # a script or a notebook: no other machine can import it
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):  # missing, or a module object without a spec
            return None
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file).absolute() if file else None


def _wheel(installed: _InstalledPackage) -> tuple[str, bytes]:
    """Return the file name and content of a distribution's wheel."""
    paths = {name: path for name, path in installed.files() if "__pycache__" not in name and path.is_file()}
    contents = {name: _read(path) for name, path in paths.items()}
    runnable = {name for name, path in paths.items() if path.stat().st_mode & 0o111}
    about = next(name.partition("/")[0] for name in contents if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
    return pack_wheel(about, contents, runnable)


def pack_wheel(about: str, contents: dict[str, bytes], runnable: Set[str] = frozenset()) -> tuple[str, bytes]:
    """Return the file name and content of a wheel with these files; `about` is its .dist-info folder.

    The same files give the same bytes.
    """
    # A wheel with binaries must carry the tag of this platform, so that another one refuses it.
    native = any(content.startswith(_BINARY_MAGIC) for content in contents.values())
    tag = tag_here() if native else PURE
    pure = str(not native).lower()
    contents[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    contents = dict(sorted(contents.items(), key=lambda item: (item[0].startswith(about), item[0])))
    record = StringIO()
    rows = csv.writer(record, lineterminator="\n")
    rows.writerows((name, recorded_hash(content), len(content)) for name, content in contents.items())
    rows.writerow((f"{about}/RECORD", "", ""))  # it cannot contain its own hash
    contents[f"{about}/RECORD"] = record.getvalue().encode()
    return f"{about.removesuffix('.dist-info')}-{tag}.whl", _zip(contents, runnable)


def _read(path: Path) -> bytes:
    try:
        return read_regular_file(path, MAX_DATA_BYTES)
    except UnreadableFile as error:
        raise UsageError(f"{path} cannot be sent to other machines: {error}.") from error


def _zip(contents: Mapping[str, bytes], runnable: Set[str]) -> bytes:
    archive = BytesIO()
    with ZipFile(archive, "w") as wheel:
        for name, content in contents.items():
            entry = ZipInfo(name)  # dated 1980 by default, so the bytes are the same each time
            # Unix: otherwise the permissions are ignored.
            entry.create_system = 3
            entry.external_attr = (S_IFREG | (0o755 if name in runnable else 0o644)) << 16
            wheel.writestr(entry, content, ZIP_DEFLATED)
    return archive.getvalue()


# Unpacking on a node.


class UnfitWheel(Exception):
    """A wheel that cannot be used here; the message is one sentence for the user."""


def unpack_wheels(wheels: Mapping[str, bytes], home: Path) -> Path:
    """Return a folder below `home` with the files of these wheels (file name -> content), for `import_first`.

    It is named by the digest of the wheels and written once, even if several processes do so. Raises UnfitWheel if a
    wheel is damaged, has paths outside of that folder or compiled parts for another Python or machine, or contradicts
    another wheel.
    """
    files, runnable, total = dict[str, bytes](), set[str](), sha256()
    for wheel, content in sorted(wheels.items()):
        total.update(f"{wheel}\0{len(content)}\0".encode() + content)
        inside, programs = _checked(wheel, content)
        if differing := [path for path in inside.keys() & files.keys() if inside[path] != files[path]]:
            raise UnfitWheel(f"{wheel} and another wheel disagree on {min(differing)}: they cannot be sent together.")
        files |= inside
        runnable |= programs
    try:
        home.mkdir(parents=True, exist_ok=True)
        return write_once(home / total.hexdigest()[:16], files, runnable)
    except OSError as error:  # a name that is too long, a file and a folder of the same name, a full disk
        raise UnfitWheel(f"{', '.join(sorted(wheels))} cannot be unpacked: {error.strerror or error}.") from error


def import_first(folder: Path) -> None:
    """Make Python find the packages in this folder, and their metadata, before all others.

    Raises UnfitWheel if another one is still found first: it has been imported already, or it is an editable install
    with a finder that comes before all folders (those of setuptools, hatch, flit and poetry do not).
    """
    folder = folder.absolute()
    sys.path[:] = [str(folder), *(path for path in sys.path if path != str(folder))]
    importlib.invalidate_caches()
    names = {top.name if top.is_dir() else getmodulename(top) or "" for top in folder.iterdir()} - {"__pycache__"}
    for name in sorted(filter(str.isidentifier, names)):
        spec = importlib.util.find_spec(name)
        places = [] if spec is None else [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
        if not places or not Path(places[0]).is_relative_to(folder):
            raise UnfitWheel(
                f"{name} was sent to this machine, but Python takes {places[0] if places else 'nothing'} for it: "
                f"uninstall that here, or install it without -e."
            )


def tag_here() -> str:
    """Return the tag of wheels with compiled parts for this Python on this machine."""
    implementation = {"cpython": "cp", "pypy": "pp"}.get(sys.implementation.name, sys.implementation.name)
    python = f"{implementation}{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-. ]", "_", sysconfig.get_platform())
    return f"{python}-{python}{getattr(sys, 'abiflags', '')}-{platform}"


def recorded_hash(content: bytes) -> str:
    """Return the hash of a file as a RECORD has it."""
    return "sha256=" + urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()


def _checked(wheel: str, content: bytes) -> tuple[dict[str, bytes], set[str]]:
    """Return the files of a wheel, and which of them are executable."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            _check_size(wheel, entries)
            files = {entry.filename: _read_entry(archive, entry) for entry in entries}
        [record] = [path for path in files if re.fullmatch(r"[^/]+\.dist-info/RECORD", path)]
        said = {row[0]: row[1] for row in csv.reader(files[record].decode().splitlines()) if row[0] != record}
        tags = message_from_bytes(files[record.removesuffix("RECORD") + "WHEEL"]).get_all("Tag", [])
    except UnfitWheel:
        raise
    except Exception as error:  # a damaged archive may raise anything
        raise UnfitWheel(f"{wheel} is damaged, or no wheel: {error}. Send it again.") from error
    for path in files:
        if not _stays_inside(path):
            raise UnfitWheel(f"{wheel} has a file called {path!r}, which would not be in the folder that it is for.")
    found = {path: recorded_hash(each) for path, each in files.items() if path != record}
    if wrong := [path for path in {**said, **found} if said.get(path) != found.get(path)]:
        raise UnfitWheel(f"{wheel} is damaged: {min(wrong)} is not what its RECORD says. Send it again.")
    if not {PURE, tag_here()}.intersection(tags):
        raise UnfitWheel(
            f"{wheel} has compiled parts for {', '.join(tags) or 'an unknown platform'}, but this Python needs "
            f"{tag_here()}: install {wheel.partition('-')[0]} here instead of sending it."
        )
    # The upper 16 bits of external_attr are the file mode of Unix.
    return files, {entry.filename for entry in entries if entry.external_attr >> 16 & 0o111}


def _check_size(wheel: str, entries: Sequence[ZipInfo]) -> None:
    """Raise UnfitWheel if a wheel would fill the memory: a small archive may unpack to any size."""
    if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in entries):
        # For other methods Python has no limit on what it unpacks at once.
        raise UnfitWheel(f"{wheel} is compressed in a way that wheels are not. Send it again.")
    if sum(entry.file_size for entry in entries) > MAX_DATA_BYTES:
        raise UnfitWheel(f"{wheel} would unpack to more than {MAX_DATA_BYTES:,} bytes.")


def _read_entry(archive: ZipFile, entry: ZipInfo) -> bytes:
    """Return a file of an archive, and unpack no more than the size that it declares: the size may be a lie."""
    with archive.open(entry) as file:
        return b"".join(iter(lambda: file.read(_READ_BYTES), b""))


def _stays_inside(path: str) -> bool:
    """Return whether a file of a wheel stays inside of the folder that it is unpacked to."""
    words = path.split("/")
    # The .data folder of a wheel has files that an installer puts elsewhere, such as scripts.
    return not {"", ".", ".."}.intersection(words) and not re.search(r"[\\:\0]", path) and words[0][-5:] != ".data"
