"""Unpacks wheels that were sent to this machine, and makes Python import them before everything else.

It uses the standard library only: its text is sent to machines on which Arena is missing or has another version.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import re
import shutil
import sys
import sysconfig
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping
from email import message_from_bytes
from hashlib import sha256
from inspect import getmodulename
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from zipfile import ZipFile

PURE = "py3-none-any"
"""Tag of wheels for any Python 3 on any machine."""
NOTHING: Mapping[str, str] = MappingProxyType({})
_READ_ONLY, _RUNNABLE = 0o444, 0o555


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
    home.mkdir(parents=True, exist_ok=True)
    return write_once(home / total.hexdigest()[:16], files, runnable)


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


def write_once(
    place: Path, files: Mapping[str, bytes], runnable: Collection[str] = (), links: Mapping[str, str] = NOTHING
) -> Path:
    """Write these files and links into the folder `place`, readable for all users, and return it.

    It appears complete or not at all. If it exists it is not written again: it is named by the digest of its content.
    """
    if place.exists():
        return place
    # In the same folder, because a rename is only atomic within one file system.
    half = Path(tempfile.mkdtemp(prefix="half-", dir=place.parent))
    try:
        for name, content in files.items():
            file = half / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(_RUNNABLE if name in runnable else _READ_ONLY)
        for name, target in links.items():
            (half / name).parent.mkdir(parents=True, exist_ok=True)
            (half / name).symlink_to(target)
        for folder in (half, *(path for path in half.rglob("*") if path.is_dir() and not path.is_symlink())):
            folder.chmod(0o755)  # mkdtemp makes a folder that only its owner can read
        half.rename(place)
    except OSError:
        if not place.is_dir():  # otherwise another process has written the same one meanwhile
            raise
    finally:
        shutil.rmtree(half, ignore_errors=True)
    return place


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
            files = {entry.filename: archive.read(entry) for entry in entries}
        [record] = [path for path in files if re.fullmatch(r"[^/]+\.dist-info/RECORD", path)]
        said = {row[0]: row[1] for row in csv.reader(files[record].decode().splitlines()) if row[0] != record}
        tags = message_from_bytes(files[record.removesuffix("RECORD") + "WHEEL"]).get_all("Tag", [])
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


def _stays_inside(path: str) -> bool:
    """Return whether a file of a wheel stays inside of the folder that it is unpacked to."""
    words = path.split("/")
    # The .data folder of a wheel has files that an installer puts elsewhere, such as scripts.
    return not {"", ".", ".."}.intersection(words) and not re.search(r"[\\:\0]", path) and words[0][-5:] != ".data"
