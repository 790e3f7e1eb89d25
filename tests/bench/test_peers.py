"""Other programs are measured in environments of their own; what fails is said, and the others go on."""

from __future__ import annotations

import sys
from zipfile import ZipFile

import pytest

from harness.bench.cli import PEER_NAMES
from harness.bench.timing import (
    LOOPS,
    PEERS,
    LoopFailed,
    LoopProcess,
    Peer,
    SpeedPlan,
    peer_python,
    peers_folder,
    versus_peers,
)

LOOP = """
import tiddlywinks
print("a library that greets")
def prepare(workload):
    if workload == "croquet":
        raise ValueError("no mallets")
    return lambda seed: 2 + seed % 2
def versions():
    return {"tiddlywinks": tiddlywinks.VERSION}
"""
QUICK = SpeedPlan({"el-paso": 4}, pairs=2, seconds=0.1)


@pytest.fixture(scope="module")
def tiddlywinks(tmp_path_factory):
    """A program that is nowhere but in a wheel of its own, with its loop."""
    folder = tmp_path_factory.mktemp("peer")
    wheel = folder / "tiddlywinks-1.5-py3-none-any.whl"
    about = "tiddlywinks-1.5.dist-info"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("tiddlywinks.py", "VERSION = '1.5'\n")
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiddlywinks\nVersion: 1.5\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    loop = folder / "tiddlywinks_loop.py"
    loop.write_text(LOOP)
    return Peer("tiddlywinks", (str(wheel),), 1, ("winks", "croquet"), loop)


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def test_every_peer_has_a_loop_and_pinned_versions():
    assert tuple(PEERS) == PEER_NAMES
    assert {peer.loop for peer in PEERS.values()} == {
        path for path in LOOPS.glob("*.py") if path.stem not in ("__init__", "server", "arena", "arena_parts")
    }
    for peer in PEERS.values():
        assert peer.workloads
        assert all("==" in requirement for requirement in peer.requirements)


def test_loops_of_peers_do_not_import_arena():
    for peer in PEERS.values():
        assert "harness" not in peer.loop.read_text()


def test_the_page_has_figures_for_every_loop_in_its_pinned_version():
    page = (LOOPS.parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    for peer in PEERS.values():
        version = peer.requirements[0].partition("==")[2]
        for workload in peer.workloads:
            assert f"| {peer.name} {version} | {workload} |" in page


def test_a_peer_is_installed_once_and_a_failing_peer_does_not_stop_the_others(tiddlywinks, environments):
    told: list[str] = []
    missing = Peer("nowhere", ("arena-no-such-thing==1",), 1, ("any",), tiddlywinks.loop)
    rows, failed = versus_peers([missing, tiddlywinks], environments, QUICK, told.append)
    assert failed == ["nowhere", "tiddlywinks, croquet"]
    assert any(text.startswith("Warning: nowhere could not be installed (ERROR: ") for text in told)
    assert any("no mallets" in text for text in told)
    assert any(text.startswith("Installing ") and "about 1 MB" in text for text in told)
    [row] = rows
    assert (row.against, row.workload, row.game) == ("tiddlywinks", "winks", "el-paso")
    assert row.theirs.startswith("tiddlywinks 1.5, Python ")
    assert 0 < row.speed.ratio.low <= row.speed.ratio.median <= row.speed.ratio.high
    assert [path.name.rpartition("-")[0] for path in environments.iterdir()] == ["tiddlywinks"]

    again: list[str] = []
    python = peer_python(tiddlywinks, environments, again.append)
    assert python.startswith(str(environments))
    assert not again


def test_a_loop_is_measured_by_matches_and_output_of_a_library_is_ignored(tiddlywinks, environments):
    python = peer_python(tiddlywinks, environments, lambda _: None)
    with LoopProcess(python, tiddlywinks.loop, "winks") as loop:
        measured = loop.play(3, first=1)
        assert (measured.games, measured.choices) == (3, 8)
        longer = loop.play_for(0.05)
        assert longer.seconds >= 0.05
        assert 2 * longer.games <= longer.choices <= 3 * longer.games
        assert loop.finish() == "a library that greets\n"


def test_packages_of_arena_cannot_be_imported_in_the_environment_of_a_peer(tiddlywinks, environments, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(LOOPS.parents[2]))
    python = peer_python(tiddlywinks, environments, lambda _: None)
    with pytest.raises(LoopFailed, match="No module named 'harness'"):
        LoopProcess(python, LOOPS / "arena.py", "el-paso/4")


def test_a_missing_interpreter_gives_an_error_message(tmp_path):
    with pytest.raises(LoopFailed, match="cannot be started: No such file"):
        LoopProcess(str(tmp_path / "python"), LOOPS / "arena.py", "el-paso/4")


def test_an_environment_folder_that_cannot_be_created_gives_an_error_message(tiddlywinks, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LoopFailed, match="Cannot create an environment for tiddlywinks in"):
        peer_python(tiddlywinks, tmp_path / "file" / "folder", lambda _: None)


def test_environments_are_kept_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert peers_folder() == tmp_path / "arena" / "peers"


@pytest.mark.slow
@pytest.mark.parametrize("name", PEER_NAMES)
def test_the_real_peers_can_be_installed_and_measured(name, tmp_path, monkeypatch):
    for variable in ("PIP_NO_INDEX", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(variable)
    rows, failed = versus_peers([PEERS[name]], tmp_path, QUICK, print)
    assert not failed
    assert len(rows) == len(PEERS[name].workloads)
    assert all(f"Python {sys.version_info.major}." in row.theirs for row in rows)
