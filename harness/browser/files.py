"""The files of the page: Python in WebAssembly, the packages it needs, scripts and styles; for any static web host."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from harness._version import VERSION
from harness.cluster.wheels import pack_wheel, wheels_for
from harness.core.errors import StoreError, UsageError
from harness.core.files import Folder, user_cache, writable_by_others, write_whole
from harness.plugins.bot_files import sources_of
from harness.plugins.discovery import DISTRIBUTION
from harness.plugins.registry import Registry

PYODIDE = "314"
"""Version of Pyodide: its Python decides which wheel of msgspec fits."""
MSGSPEC = ("--python-version", "3.14", "--implementation", "cp", "--abi", "cp314", "--platform",
           "pyemscripten_2026_0_wasm32")  # fmt: skip
COMPRESSED = "pyodide.asm.wasm"
"""Stored compressed, because many hosts do not compress it: 9.6 MB are 3.4 MB then."""
LOCK = "pyodide-lock.json"
"""Pyodide's list of packages on its own servers; the page gets none of these."""
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", COMPRESSED, "python_stdlib.zip", LOCK)
"""The files of Pyodide that the page loads."""
HARNESS = ("core", "match", "new_package", "plugins")
MODULES = {
    "adapters": ("__init__.py", "encoding.py", "fields.py"),
    "browser": ("__init__.py", "entry.py", "table.py", "workshop.py"),
    "play": ("__init__.py", "person.py"),
}
"""The parts of Arena that the page loads: all files of the packages above, and these modules of other packages."""


# Pyodide: from a folder, or fetched once by npm and pip.


class Runtime:
    """A folder with Pyodide and its wheel of msgspec, laid out as npm and pip leave it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "node_modules" / "pyodide"
        self.home = home if home.is_dir() else folder
        missing = [name for name in RUNTIME if not (self.home / name).is_file()]
        wheels = sorted((folder / "wheels").glob("msgspec-*.whl"))
        if missing or not wheels:
            raise UsageError(f"{folder} has no {(missing or ['wheels/msgspec-*.whl'])[0]} of Pyodide.", fix="pyodide")
        self.msgspec = wheels[-1]

    def read(self, name: str) -> bytes:
        """Return a file of Pyodide; of its lock file only what it says about itself."""
        content = (self.home / name).read_bytes()
        if name == LOCK:
            return json.dumps({"info": json.loads(content)["info"], "packages": {}}).encode()
        return content


def find_runtime(given: Path | None) -> Runtime:
    """Return the runtime in the `given` folder, or the cached one, which is fetched first if there is none."""
    if given is not None:
        return Runtime(given)
    folder = user_cache() / f"pyodide-{PYODIDE}"
    if not folder.is_dir():
        _fetch(folder)
    if writable_by_others(folder.stat()):  # what is in it would be published, and run in browsers
        raise UsageError(f"Another user may write to {folder}: delete it, and Arena fetches it again.")
    return Runtime(folder)


def _fetch(folder: Path) -> None:
    """Fetch Pyodide with npm and msgspec with pip."""
    npm = shutil.which("npm")
    if npm is None:
        raise UsageError("Python for browsers (Pyodide) is fetched with npm, which is not installed.", fix="pyodide")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        commands: list[list[str]] = [
            [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", made,
             f"pyodide@{PYODIDE}"],
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", *MSGSPEC,
             "--dest", f"{made}/wheels", "msgspec"],
        ]  # fmt: skip
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)  # noqa: S603 - no shell
            if done.returncode:
                reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
                what = f"{Path(command[0]).name}: {reason[0]}"
                raise UsageError(f"Pyodide could not be fetched with {what}.", fix="pyodide")
        Runtime(Path(made))  # whole, before another process sees it
        try:
            Path(made).rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster
                raise
        else:
            Path(made).mkdir()  # TemporaryDirectory deletes it


# The wheel of what the page needs from Arena.


def arena_wheel() -> tuple[str, bytes]:
    """Return the wheel of games, bots and the parts of `harness` that the page needs: its file name and content."""
    contents: dict[str, bytes] = {}
    for top in ("engines", "bots"):
        contents |= _tree(files(top), f"{top}/")
    harness = files("harness")
    for name in ("__init__.py", "_version.py", "py.typed"):
        contents[f"harness/{name}"] = (harness / name).read_bytes()
    for package in HARNESS:
        contents |= _tree(harness / package, f"harness/{package}/")
    contents |= {
        f"harness/{package}/{name}": (harness / package / name).read_bytes()
        for package, names in MODULES.items()
        for name in names
    }
    about = f"{DISTRIBUTION.replace('-', '_')}-{VERSION}.dist-info"
    points = [point for point in distribution(DISTRIBUTION).entry_points if point.group == "arena"]
    lines = ["[arena]", *(f"{point.name} = {point.value}" for point in points)]
    contents[f"{about}/entry_points.txt"] = "\n".join([*lines, ""]).encode()
    contents[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {VERSION}\n".encode()
    return pack_wheel(about, contents)


_NOT_SENT = {".pyc", ".so", ".pyd"}


def _tree(folder: Traversable, below: str) -> dict[str, bytes]:
    """Return the files of a package; no bytecode, and sources where there are compiled modules beside them."""
    found: dict[str, bytes] = {}
    for each in folder.iterdir():
        if each.is_dir():
            if each.name != "__pycache__":
                found |= _tree(each, f"{below}{each.name}/")
        elif Path(each.name).suffix not in _NOT_SENT:
            found[f"{below}{each.name}"] = each.read_bytes()
    return found


# What is published besides: the bundled games and bots always, others only if they are named.


def plugin_wheels(registry: Registry, names: Iterable[str]) -> dict[str, bytes]:
    """Return wheels of the packages that these bots or games come from; they must not have compiled parts."""
    modules = {registry.bots[name].cls.__module__ for name in names if name in registry.bots}
    modules |= {registry.games[name].cls.__module__ for name in names if name in registry.games}
    ours = {"harness", "engines", "bots"}
    wheels = wheels_for(module for module in modules if module.partition(".")[0] not in ours)
    for name in wheels:
        if not name.endswith("-none-any.whl"):
            raise UsageError(f"{name} has compiled parts, so it cannot run in a browser.")
    return wheels


def bot_sources(registry: Registry, typed: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the sources of bots in files: name -> file -> text, the file of the bot first."""
    found = {}
    for each in typed:
        for entrant in registry.entrants([each]):
            main = Path(entrant.ref.place).name
            # As if it were untrusted: what a link outside of its folder leads to must not reach a web site.
            sources = sources_of(entrant.ref.place, untrusted=True)
            ordered = sorted(sources, key=lambda name: name != main)
            try:
                found[entrant.name] = {name: sources[name].decode() for name in ordered}
            except UnicodeDecodeError as error:
                raise UsageError(f"A source of {each} cannot be published: it is not UTF-8 ({error}).") from error
    return found


# The folder of the page.


ASSETS = ("index.html", "write.html", "verify.html", "sandbox.html", "page.css", "play.js", "write.js", "verify.js",
          "worker.js")  # fmt: skip


def page_files(
    registry: Registry, runtime: Runtime, with_source: Sequence[str] = (), in_site: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the page by name; it also has the bots of `with_source`: names, or Python files.

    `in_site`: the folder above it is a site of `arena publish`, which says how strong bots are and has records.
    """
    for name in with_source:
        if not name.endswith(".py") and name not in registry.bots and name not in registry.games:
            raise UsageError(f"There is no bot and no game {name!r} whose source could be published.")
    assets = files("harness.browser") / "assets"
    yield from ((name, (assets / name).read_bytes()) for name in ASSETS)
    shared = files("harness.report") / "assets"
    yield from ((name, (shared / name).read_bytes()) for name in ("style.css", "viewer.css", "drawing.js"))
    packed = plugin_wheels(registry, [name for name in with_source if not name.endswith(".py")])
    wheels = dict([arena_wheel(), *wheels_for(["mypy_extensions", "pluggy"]).items(), *packed.items()])
    wheels[runtime.msgspec.name] = runtime.msgspec.read_bytes()
    sizes = {}
    for name in RUNTIME:
        content = runtime.read(name)
        if name == COMPRESSED:
            name, content = f"{name}.gz", gzip.compress(content, mtime=0)
        sizes[f"python/{name}"] = len(content)
        yield f"python/{name}", content
    for name, content in wheels.items():
        sizes[f"python/{name}"] = len(content)
        yield f"python/{name}", content
    drawings = dict(_drawings(registry, wheels))
    for name, script in drawings.items():
        yield f"boards/{name}.js", script.encode()
    sources = bot_sources(registry, [name for name in with_source if name.endswith(".py")])
    about = {
        "arena": VERSION,
        "files": sizes,
        "boards": sorted(drawings),
        "bots": sources,
        "site": in_site,
    }
    yield "files.json", json.dumps(about, indent=1).encode() + b"\n"  # last: the page starts with it


def _drawings(registry: Registry, wheels: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the drawings of the games that are in these wheels."""
    packages = {name.partition("/")[0] for content in wheels.values() for name in _names(content)}
    for name, offer in sorted(registry.games.items()):
        script = offer.cls.configure().viewer_script()
        if script and offer.cls.__module__.partition(".")[0] in packages:
            yield name, f"{{\n{script}\n}}\n"  # a block: the drawings of several games use the same names


def _names(wheel: bytes) -> list[str]:
    with ZipFile(BytesIO(wheel)) as archive:
        return archive.namelist()


def write_page(
    to: Path, registry: Registry, runtime: Runtime, with_source: Sequence[str] = (), in_site: bool = False
) -> Path:
    """Write the page to a folder, and return its first file."""
    try:
        for name, content in page_files(registry, runtime, with_source, in_site):
            folder, _, file = name.rpartition("/")
            write_whole(Folder(to).make(folder), file, content)
    except OSError as error:
        raise StoreError(f"Cannot write {error.filename or to}: {error.strerror or error}.") from error
    return to / "index.html"


def publish_page(site: Path, registry: Registry, runtime: Path | None, with_source: Sequence[str]) -> None:
    """Add the page to a site, in the folder play/."""
    write_page(site / "play", registry, find_runtime(runtime), with_source, in_site=True)
