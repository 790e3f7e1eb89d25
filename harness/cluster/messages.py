"""What is sent between driver and nodes: messages, facts about a node's code, bots, packages as wheels."""

from __future__ import annotations

import csv
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from shutil import which
from stat import S_IFREG
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import dill
import msgspec
from msgspec import Struct

from harness._version import VERSION
from harness.core.bot import Bot
from harness.core.compiled import LIBRARY, library_path
from harness.core.errors import ArenaError, UsageError, reason_of
from harness.core.files import MAX_DATA_BYTES, UnreadableFile, read_regular_file
from harness.core.game import Game
from harness.core.options import BotLimits
from harness.core.table import Table
from harness.executors.base import Job, Roster, WorkerLoss
from harness.executors.worker import dumps
from harness.isolation.entrants import RemoteEntrant, SessionPool, files_of_command
from harness.output.tables import grid_text
from harness.plugins.bot_files import class_digest
from harness.plugins.entrants import Entrant
from harness.plugins.snapshots import Bundle, editable_modules, make_bundle, project_of, unpack_bundle
from harness.plugins.wheel_unpacking import PURE, recorded_hash, tag_here

# Messages between the driver and the agents on its nodes.


PROTOCOL = 1
"""Version of these messages; an agent refuses a driver with another version."""


class NodeSetup(Struct, frozen=True, kw_only=True):
    """What a node needs to play matches of a run."""

    protocol: int = PROTOCOL
    python: str
    """The Python that every node must have; another one must not unpickle the roster."""
    roster: bytes
    """See `pack_for_nodes`."""
    limits: BotLimits
    workers: int
    """Worker processes on each node; 0 is one for each thread of its Dask worker."""


class NodeFacts(Struct, frozen=True, kw_only=True):
    """What a node reports about itself before it plays."""

    same: dict[str, str]
    """What must be equal on all machines: versions and digests, by subject."""
    host: str = ""
    workers: int = 1
    """Worker processes on it."""
    form: str = ""
    """Whether Arena is compiled there: the records are the same either way."""
    lacking: tuple[str, ...] = ()
    """What it does not enforce against confined bots, as sentences."""
    problem: str = ""
    """Why it cannot play."""


class Batch(Struct, frozen=True, tag="batch"):
    """Matches to play."""

    number: int
    jobs: list[Job]


class StopPlaying(Struct, frozen=True, tag="stop"):
    """Finish the matches that are being played, and start no other."""


class BatchDone(Struct, frozen=True, kw_only=True, tag="done"):
    """The result of a batch."""

    number: int
    lines: list[tuple[bytes, bytes]] = []
    """For each finished match its lines for games.jsonl and notes.jsonl."""
    given_up: list[str] = []
    losses: list[WorkerLoss] = []
    logs: dict[str, bytes] = {}
    """What isolated bots printed since the last batch, by log file."""


class Alive(Struct, frozen=True, tag="alive"):
    """Heartbeat of an agent that has nothing else to report."""


encode_message = msgspec.msgpack.Encoder().encode
decode_setup = msgspec.msgpack.Decoder(NodeSetup).decode
decode_facts = msgspec.msgpack.Decoder(NodeFacts).decode
decode_order = msgspec.msgpack.Decoder(Batch | StopPlaying).decode
decode_done = msgspec.msgpack.Decoder(BatchDone).decode
decode_report = msgspec.msgpack.Decoder(BatchDone | Alive).decode


# Rosters for other machines: installed classes by name, bots in files with all their files, programs by command,
# classes of a notebook pickled.
#
# Bundles for workers on the same machine leave out data files; here they are sent along.


OTHER_MACHINES = "other machines"


class UnpackedRoster(NamedTuple):
    """A roster on a node, without what could not be loaded."""

    roster: Roster
    missing: dict[str, str]
    """Why parts could not be loaded, by subject: `bot sprinter`, `game el-paso`."""


def pack_for_nodes(roster: Roster) -> bytes:
    """Return the roster as bytes; raise UsageError if a part of it cannot be pickled."""
    # Each part is pickled separately, so that a node can report everything that it cannot load at once.
    games = {name: dumps(f"The game {name}", game, OTHER_MACHINES) for name, game in roster.games.items()}
    bots = {}
    for name, entrant in roster.entrants.items():
        if isinstance(entrant, RemoteEntrant):
            entrant = replace(
                entrant, sessions=SessionPool()
            )  # a session is a running process; the node starts its own
        bots[name] = dumps(f"The bot {name}", make_bundle(entrant), OTHER_MACHINES)
    return dumps("The roster", (games, bots), OTHER_MACHINES)


def unpack_for_node(packed: bytes, home: str) -> UnpackedRoster:
    """Return the roster on this node; files of bots are written into a folder below `home`."""
    packed_games, packed_bots = dill.loads(packed)  # noqa: S301 - access to the cluster already allows running code
    missing: dict[str, str] = {}
    games: dict[str, Game[Any]] = {}
    bundles: dict[str, Bundle] = {}
    kinds: tuple[tuple[str, dict[str, bytes], dict[str, Any]], ...]
    kinds = (("game", packed_games, games), ("bot", packed_bots, bundles))
    for kind, packed_parts, found in kinds:
        for name, data in packed_parts.items():
            try:
                found[name] = dill.loads(data)  # noqa: S301 - as above
            except BaseException as error:  # importing a plugin may raise anything
                missing[f"{kind} {name}"] = reason_of(error)
    entrants = {name: unpack_bundle(bundle, home) for name, bundle in bundles.items()}
    return UnpackedRoster(Roster(games, entrants), missing)


def installed_modules(roster: Roster) -> set[str]:
    """Return the modules that a node must have installed: those of games, of bots, and Arena's own."""
    bots = [one for one in roster.entrants.values() if not one.sources and not one.isolated]
    classes = [*map(type, roster.games.values()), *(cls for one in bots for cls in (one.cls, *one.consulted))]
    return {"harness"} | {cls.__module__ for cls in classes if not by_value(cls)}


def by_value(cls: type) -> bool:
    """Return whether a class is pickled by value: it is from a notebook or script, or was made by a function, so no
    other machine can import it."""
    found: object = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return cls.__module__ == "__main__" or found is not cls


# Environment check: versions and digests that must be equal on every node, and the differences.


SENT = "sent along"
"""Fact about a bot that is sent along."""
MISSING = "missing"
NO_FILES = "none of its files"
"""Fact about a program whose command names no existing file."""
MAX_VALUE_CHARS = 40
"""Longest value in a table; digests are shorter."""


class NodeDifference(NamedTuple):
    """A fact that differs between a node and this machine."""

    node: str
    what: str
    here: str
    there: str


def python_here() -> str:
    """Return the name and version of this Python; another one may give other records."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def arena_here() -> str:
    """Return the version of this Arena and the digest of its source."""
    return f"{VERSION} {class_digest(Roster)}"


def environment_facts(roster: Roster, missing: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the facts about this machine for a run; `missing` has the parts that could not be loaded, and why."""
    facts = {"python": python_here(), "arena": arena_here()}
    for name, game in roster.games.items():
        facts[f"game {name}"] = f"rules {game.version}, {_digest(type(game))}"
    for name, entrant in roster.entrants.items():
        facts[f"bot {name}"] = _entrant_fact(entrant)
    return facts | {what: f"{MISSING} ({why})" for what, why in (missing or {}).items()}


def differences(here: Mapping[str, str], node: str, facts: NodeFacts) -> list[NodeDifference]:
    """Return the differences between a node and this machine.

    With another Python nothing else is compared. Facts that a node with a problem did not report are skipped.
    """
    there = facts.same
    if there.get("python") != here["python"]:
        return [NodeDifference(node, "python", here["python"], there.get("python", MISSING))]
    found = ((what, ours, there.get(what, "" if facts.problem else MISSING)) for what, ours in here.items())
    return [NodeDifference(node, *one) for one in found if one[2] and one[1] != one[2]]


def difference_table(found: Iterable[NodeDifference]) -> str:
    """Return the differences as a table."""
    rows = [[one.node, one.what, _shorten(one.here), _shorten(one.there)] for one in found]
    return grid_text(Table("differences", ("node", "what", "here", "there"), rows))


def remedy(found: Iterable[NodeDifference]) -> str:
    """Return what the user can do about the differences."""
    kinds = {one.what.partition(" ")[0] for one in found}
    steps = []
    if "python" in kinds:
        steps.append("start its Dask worker with the same Python")
    if kinds - {"python"}:
        steps.append("install the same versions there, or send yours along (programs must be there)")
    return f"To continue, {'; '.join(steps)}; or remove the node from the cluster."


def _entrant_fact(entrant: Entrant) -> str:
    if isinstance(entrant, RemoteEntrant) and entrant.launch.argv:
        return _program_fact(entrant.source)
    if entrant.sources:
        return SENT
    classes: tuple[type[Bot], ...] = (entrant.cls, *entrant.consulted)
    return ", ".join(dict.fromkeys(_digest(cls) for cls in classes))


def _program_fact(command: str) -> str:
    """Return the digest of the files that a command names.

    Its interpreter must exist, but versions of it may differ.
    """
    try:
        program = files_of_command(command)
        if which(program.argv[0]) is None:
            return f"{MISSING} (no {program.argv[0]})"
        return program.digest() if program.own else NO_FILES
    except (ArenaError, OSError) as error:
        return f"{MISSING} ({error})"


def _digest(cls: type) -> str:
    return SENT if by_value(cls) else class_digest(cls)


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 3] + "..."


# Wheels of installed packages, for nodes that lack them or have other versions.
#
# Sent are the distributions of games and bots, and Arena itself; their requirements (such as numpy) must be installed
# on the node. A distribution is sent as it runs here: the files in pip's RECORD, edited or not, and for an editable
# install all files of its packages. Building a wheel instead would need the build tools of the package, which may be
# missing, and would leave files in the author's folder. Scripts in bin/, files outside of site-packages and bytecode
# are not sent.


_INSTALLATION_FILES = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json", "RECORD.jws", "RECORD.p7s")
"""Files of a .dist-info folder that describe this installation, or are written again."""
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
            spec = find_spec(module)
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
    # A wheel with binaries must carry the tag of this platform, so that another one refuses it.
    native = any(content.startswith(_BINARY_MAGIC) for content in contents.values())
    tag = tag_here() if native else PURE
    pure = str(not native).lower()
    contents[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    contents = dict(sorted(contents.items(), key=lambda item: (item[0].startswith(about), item[0])))
    contents[f"{about}/RECORD"] = _record_file(contents, f"{about}/RECORD")
    return f"{about.removesuffix('.dist-info')}-{tag}.whl", _zip(contents, runnable)


def _read(path: Path) -> bytes:
    try:
        return read_regular_file(path, MAX_DATA_BYTES)
    except UnreadableFile as error:
        raise UsageError(f"{path} cannot be sent to other machines: {error}.") from error


def _record_file(contents: Mapping[str, bytes], itself: str) -> bytes:
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerows((name, recorded_hash(content), len(content)) for name, content in contents.items())
    rows.writerow((itself, "", ""))
    return text.getvalue().encode()


def _zip(contents: Mapping[str, bytes], runnable: set[str]) -> bytes:
    archive = BytesIO()
    with ZipFile(archive, "w") as wheel:
        for name, content in contents.items():
            entry = ZipInfo(name)  # dated 1980 by default, so the bytes are the same each time
            # Unix: otherwise the permissions are ignored.
            entry.create_system = 3
            entry.external_attr = (S_IFREG | (0o755 if name in runnable else 0o644)) << 16
            wheel.writestr(entry, content, ZIP_DEFLATED)
    return archive.getvalue()
