"""Packages sent as wheels to a Python that lacks them, or has another version of them, and played there."""

from __future__ import annotations

import csv
import json
import pickle
import subprocess
import sys
import sysconfig
import tracemalloc
import venv
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from inspect import getsource
from io import BytesIO, StringIO
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from packaging.tags import parse_tag, sys_tags
from packaging.utils import parse_wheel_filename

from harness.cluster import wheels as cluster_wheels
from harness.cluster.wheels import (
    PURE,
    UnfitWheel,
    import_first,
    recorded_hash,
    tag_here,
    unpack_wheels,
    wheels_for,
)
from harness.core.compiled import LIBRARY
from harness.core.errors import UsageError
from tests.support.packages import PYPROJECT, install

ROOT = Path(__file__).parents[2]
DEPENDENCIES = sysconfig.get_path("purelib")
COMPILED = LIBRARY + EXTENSION_SUFFIXES[0]
CONTENTS = """
packages = ["{name}", "{name}.deeper"]
package-data = {{ "*" = ["*.txt", "*.sh"] }}

[project.scripts]
{name} = "{name}:arena_bots"
"""
BOT = '''
from pathlib import Path

import harness
from {name}.deeper import WORD

class {name}(harness.Bot):
    """Does what stands in its file."""

    games = ("el-paso",)

    def choose(self, view, actions):
        return actions[-1 if Path(__file__).with_name("word.txt").read_text() == WORD else 0]

@harness.hookimpl
def arena_bots():
    return [{name}]
'''
PLAY = """
from importlib.metadata import entry_points
from harness import play_match
from harness.plugins.registry import load

def play(bots, isolate="off"):
    import harness
    offers = load().bots
    return {
        "files": [harness.__file__, *(sys.modules[offers[bot].cls.__module__].__file__ for bot in bots)],
        "versions": {point.name: point.dist.version for point in entry_points(group="arena") if point.name in bots},
        "digests": [offers[bot].source_digest for bot in bots],
        "actions": list(play_match("el-paso", [*bots, "random"], seed=7, isolate=isolate).record.actions),
    }
"""
DRIVER = f"""
import pickle, site, sys
site.addsitedir(sys.argv[1])
{PLAY}
from harness.cluster.wheels import wheels_for
played = play(["plain", "placed"])
wheels = wheels_for(["harness.cli", "plain", "placed.deeper"])
sys.stdout.buffer.write(pickle.dumps((wheels, played)))
"""
NODE = f"""
from __future__ import annotations
import importlib, importlib.util, json, pickle, sys
from inspect import getmodulename
from pathlib import Path
{getsource(UnfitWheel)}
{getsource(import_first)}
folder, bots, isolate = pickle.load(sys.stdin.buffer)
import_first(Path(folder))
{PLAY}
print(json.dumps({{"folder": str(folder), **play(bots, isolate)}}))
"""


def write_project(folder: Path, name: str, version: str, word: str) -> Path:
    package = folder / name
    (package / "deeper").mkdir(parents=True)
    about = PYPROJECT.format(name=f"{name}-pack", version=version, module=name, contents=CONTENTS.format(name=name))
    (folder / "pyproject.toml").write_text(about)
    (package / "__init__.py").write_text(BOT.format(name=name))
    (package / "deeper" / "__init__.py").write_text("WORD = 'last'\n")
    (package / "word.txt").write_text(word)
    (package / "run.sh").write_text("#!/bin/sh\n")
    (package / "run.sh").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """What a driver has installed, one package in place, the wheels that it makes of it, and a node's Python."""
    root = tmp_path_factory.mktemp("machines")
    placed = write_project(root / "new" / "placed", "placed", "2.0", "last")
    (placed / "placed" / "program").write_bytes(b"\x7fELF of nobody knows what")
    (placed / COMPILED).write_bytes(b"")  # where a compiler leaves what several modules have in common
    plain = write_project(root / "new" / "plain", "plain", "2.0", "last")
    install(root / "site", plain, "-e", placed)
    command = [sys.executable, "-P", "-c", DRIVER, str(root / "site")]
    wheels, played = pickle.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S301
    packs = {name: wheel for name, wheel in wheels.items() if not name.startswith("arena_harness-")}
    assert len(wheels) == 3
    return SimpleNamespace(root=root, wheels=wheels, packs=packs, played=played)


@pytest.fixture(scope="module")
def other_node(tmp_path_factory):
    """A Python that has arena, and other versions of the packages, one of them in place."""
    root = tmp_path_factory.mktemp("other")
    venv.create(root / "env", with_pip=False)
    [site] = (root / "env" / "lib").glob("python*/site-packages")
    placed = write_project(root / "placed", "placed", "1.0", "first")
    install(site, write_project(root / "plain", "plain", "1.0", "first"), "-e", placed)
    (site / "also.pth").write_text(f"{DEPENDENCIES}\n{ROOT}\n")
    return [str(root / "env" / "bin" / "python")]


def play_there(node: list[str], wheels: dict[str, bytes], home: Path, bots: list[str], isolate: str = "off"):
    order = pickle.dumps((str(unpack_wheels(wheels, home)), bots, isolate))
    env = {"PYTHONPATH": DEPENDENCIES} if "-S" in node else {}
    done = subprocess.run([*node, "-P", "-c", NODE], input=order, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def check_played_as_shipped(shipped, there):
    assert [file for file in there["files"] if not Path(file).is_relative_to(there["folder"])] == []
    assert there["versions"] == {"plain": "2.0", "placed": "2.0"}
    assert {key: there[key] for key in ("digests", "actions")} == {
        key: shipped.played[key] for key in ("digests", "actions")
    }


def test_a_python_without_arena_plays_with_the_shipped_packages(shipped, tmp_path):
    there = play_there([sys.executable, "-S"], shipped.wheels, tmp_path / "home", ["plain", "placed"])
    check_played_as_shipped(shipped, there)


def test_shipped_packages_take_precedence_over_other_installed_versions(shipped, other_node, tmp_path):
    there = play_there(other_node, shipped.wheels, tmp_path, ["plain", "placed"])
    check_played_as_shipped(shipped, there)
    own = play_there(other_node, {}, tmp_path, ["plain", "placed"])
    assert own["versions"] == {"plain": "1.0", "placed": "1.0"}
    assert own["actions"] != there["actions"]


def test_isolated_bots_use_the_shipped_packages_too(shipped, other_node, tmp_path):
    there = play_there(other_node, shipped.packs, tmp_path, ["plain", "placed"], "on")
    assert not Path(there["files"][0]).is_relative_to(there["folder"])  # arena is the node's own
    assert there["actions"] == shipped.played["actions"]


def test_pip_installs_the_same_files_from_the_wheels_as_unpack_wheels(shipped, tmp_path):
    packs = shipped.packs
    for name, wheel in packs.items():
        (tmp_path / name).write_bytes(wheel)
    target, folder = tmp_path / "target", unpack_wheels(packs, tmp_path / "home")
    install(target, *(tmp_path / name for name in packs))
    of_pip = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}
    installed = {
        path: data for path, data in tree(target).items() if path.name not in of_pip and path.parts[0] != "bin"
    }
    sent = {path: data for path, data in tree(folder).items() if path.name not in of_pip}
    assert sent == installed
    abouts = {"plain_pack-2.0.dist-info", "placed_pack-2.0.dist-info"}
    assert {path.parts[0] for path in sent} == {"plain", "placed", COMPILED, *abouts}
    assert Path("placed/program") in sent  # pip would not know of it, but it is there when the package plays here
    assert (folder / "plain" / "run.sh").stat().st_mode & 0o777 == 0o555
    assert (folder / "plain" / "word.txt").stat().st_mode & 0o777 == 0o444


def tree(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_only_wheels_with_compiled_code_are_tied_to_a_platform(shipped, monkeypatch, tmp_path):
    tags = {name.partition("-")[0]: parse_wheel_filename(name)[3] for name in shipped.wheels}
    assert tags["plain_pack"] == parse_tag(PURE)
    assert tags["placed_pack"] == parse_tag(tag_here()) <= set(sys_tags())
    monkeypatch.setattr(cluster_wheels, "tag_here", lambda: "cp311-cp311-macosx_11_0_arm64")
    unpack_wheels({name: wheel for name, wheel in shipped.wheels.items() if name.startswith("plain")}, tmp_path)
    with pytest.raises(UnfitWheel, match=rf"compiled parts for {tag_here()}, .* install placed_pack here instead"):
        unpack_wheels(shipped.packs, tmp_path)


def test_compiled_modules_work_after_they_are_shipped(tmp_path):
    wheels = wheels_for(["msgspec"])
    assert [parse_wheel_filename(name)[3] for name in wheels] == [parse_tag(tag_here())]
    folder = unpack_wheels(wheels, tmp_path)
    code = "import msgspec; print(msgspec._core.__file__, msgspec.json.decode(b'7'))"
    there = [sys.executable, "-S", "-P", "-c", code]
    said = subprocess.run(there, env={"PYTHONPATH": str(folder)}, check=True, capture_output=True, text=True).stdout
    assert said.startswith(str(folder))
    assert said.endswith(" 7\n")


def test_the_same_installation_gives_the_same_bytes(monkeypatch, shipped):
    monkeypatch.syspath_prepend(shipped.root / "site")
    assert wheels_for(["plain", "plain"]) == {
        name: wheel for name, wheel in shipped.wheels.items() if name.startswith("plain")
    }


def test_modules_that_belong_to_no_installed_package_are_refused(monkeypatch, shipped, tmp_path):
    (tmp_path / "loose.py").touch()
    (tmp_path / "plain.py").touch()  # which hides the installed one
    monkeypatch.syspath_prepend(shipped.root / "site")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("loose", "plain", "nowhere.at.all", "__main__", "sys"):
        with pytest.raises(UsageError, match=rf"^{module} \(.*pip install"):
            wheels_for(["harness", module])


def test_wheels_unpacked_by_several_threads_at_once_are_stored_once(shipped, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: unpack_wheels(shipped.wheels, tmp_path / "a" / "home"), range(4)))
    assert list((tmp_path / "a" / "home").iterdir()) == list(folders)
    other = unpack_wheels(dict(list(shipped.wheels.items())[1:]), tmp_path / "a" / "home")
    assert other not in folders


def with_files(wheel: bytes, changes: dict[str, bytes | None], recorded: bool = True) -> bytes:
    """A wheel with some files added, changed, or taken out."""
    with ZipFile(BytesIO(wheel)) as archive:
        files: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    [record] = [name for name in files if name.endswith("RECORD")]
    files |= changes
    kept = {name: data for name, data in files.items() if data is not None}
    if recorded:
        rows = StringIO()
        csv.writer(rows).writerows((name, recorded_hash(data), len(data)) for name, data in kept.items())
        kept[record] = rows.getvalue().encode()
    changed = BytesIO()
    with ZipFile(changed, "w") as archive:
        for name, data in kept.items():
            archive.writestr(name, data)
    return changed.getvalue()


@pytest.mark.parametrize(
    ("changes", "recorded", "says"),
    [
        ({"plain/word.txt": b"other"}, False, "plain/word.txt is not what its RECORD says"),
        ({"plain/more.py": b""}, False, "plain/more.py is not what its RECORD says"),
        ({"plain/word.txt": None}, False, "plain/word.txt is not what its RECORD says"),
        ({"../evil.py": b""}, True, "called '../evil.py', which would not be in the folder"),
        ({"/evil.py": b""}, True, "called '/evil.py'"),
        ({"plain/../../evil.py": b""}, True, "which would not be in the folder"),
        ({"c:\\evil.py": b""}, True, "which would not be in the folder"),
        ({"plain_pack-2.0.data/scripts/evil": b""}, True, "which would not be in the folder"),
        ({"plain_pack-2.0.dist-info/RECORD": None}, False, "damaged, or no wheel"),
        ({"plain_pack-2.0.dist-info/WHEEL": None}, True, "damaged, or no wheel"),
        ({"plain_pack-2.0.dist-info/WHEEL": b"Wheel-Version: 1.0\n"}, True, "compiled parts for an unknown platform"),
    ],
)
def test_wheels_with_invalid_contents_are_refused(shipped, tmp_path, changes, recorded, says):
    name = "plain_pack-2.0-py3-none-any.whl"
    unpack_wheels({name: with_files(shipped.wheels[name], {"plain/more.py": b""})}, tmp_path / "good")
    with pytest.raises(UnfitWheel) as refused:
        unpack_wheels({name: with_files(shipped.wheels[name], changes, recorded)}, tmp_path / "bad")
    assert says in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


def test_a_wheel_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    bomb = BytesIO()
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", bytes(600))
        archive.writestr("b.txt", bytes(600))
    monkeypatch.setattr(cluster_wheels, "MAX_DATA_BYTES", 1000)
    monkeypatch.setattr(ZipFile, "open", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(UnfitWheel, match="would unpack to more than 1,000 bytes"):
        unpack_wheels({"bomb-1.0-py3-none-any.whl": bomb.getvalue()}, tmp_path)


@pytest.mark.parametrize("method", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_a_wheel_that_lies_about_its_size_does_not_fill_the_memory(tmp_path, method):
    archive = BytesIO()
    with ZipFile(archive, "w") as made:
        made.writestr("a.txt", bytes(40_000_000), method)
    bomb = bytearray(archive.getvalue())
    central = bomb.rindex(b"PK\x01\x02")
    bomb[22:26] = bomb[central + 24 : central + 28] = (10).to_bytes(4, "little")  # the size before compression
    tracemalloc.start()
    try:
        with pytest.raises(UnfitWheel, match=r"damaged|compressed in a way"):
            unpack_wheels({"bomb-1.0-py3-none-any.whl": bytes(bomb)}, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["plain/" + 300 * "x", "plain", "plain/word.txt/more"])
def test_wheels_whose_files_cannot_be_written_are_refused(shipped, tmp_path, name):
    wheel = "plain_pack-2.0-py3-none-any.whl"
    with pytest.raises(UnfitWheel, match=f"{wheel} cannot be unpacked"):
        unpack_wheels({wheel: with_files(shipped.wheels[wheel], {name: b""}, recorded=True)}, tmp_path)
    assert not list(tmp_path.rglob("*.py"))


def test_truncated_and_conflicting_wheels_are_refused(shipped, tmp_path):
    name = "plain_pack-2.0-py3-none-any.whl"
    with pytest.raises(UnfitWheel, match="damaged, or no wheel"):
        unpack_wheels({name: shipped.wheels[name][:-100]}, tmp_path)
    other = with_files(shipped.wheels[name], {"plain/word.txt": b"other"})
    with pytest.raises(UnfitWheel, match=r"disagree on plain/word\.txt"):
        unpack_wheels({name: shipped.wheels[name], "twin-1.0-py3-none-any.whl": other}, tmp_path)
    unpack_wheels({name: shipped.wheels[name], "twin-1.0-py3-none-any.whl": shipped.wheels[name]}, tmp_path)


class _Stubborn:
    """Finds a package somewhere else before any folder is looked into, as some tools do that install in place."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.file) if name == self.file.stem else None


def test_a_module_that_python_finds_before_the_shipped_one_is_reported(monkeypatch, tmp_path):
    for name in ("stubborn", "harness"):
        (tmp_path / name / name).mkdir(parents=True)
        (tmp_path / name / name / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", list(sys.path))
    import_first(tmp_path / "stubborn")
    assert sys.path[0] == str(tmp_path / "stubborn")
    monkeypatch.setattr(sys, "meta_path", [_Stubborn(tmp_path / "elsewhere" / "stubborn.py"), *sys.meta_path])
    with pytest.raises(UnfitWheel, match=r"stubborn was sent .* Python takes .*elsewhere/stubborn.py .* uninstall"):
        import_first(tmp_path / "stubborn")
    with pytest.raises(UnfitWheel, match=r"harness was sent .* Python takes .*harness/__init__.py"):  # it is loaded
        import_first(tmp_path / "harness")
