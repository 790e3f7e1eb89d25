"""What arena loads before it does anything: by modules, for clocks depend on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.bench.records import STARTS, measure_start
from harness.completion import names as names_module
from harness.completion.names import installed_names

SAYS = (
    "import atexit, json, sys; atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr));"
    "sys.argv[0] = 'arena'; from harness.cli import run; run()"
)
HEAVY = {"bots", "dill", "engines", "importlib.metadata", "multiprocess", "pluggy", "tabulate", "trueskill"}
NOT_FOR_HELP = {*HEAVY, "msgspec", "subprocess", "harness.core", "harness.plugins.registry", "harness.runs"}
NOT_FOR_NAMES = {
    *HEAVY,
    "harness.plugins.registry",
    "harness.match",
    "harness.executors",
    "harness.ratings",
    "harness.schedule",
}
NOT_FOR_A_RUN_HERE = {
    "concurrent.futures", "cryptography", "dill", "jinja2", "matplotlib", "multiprocess", "numpy", "pandas",
    "harness.api", "harness.bench", "harness.conformance", "harness.isolation.entrants", "harness.executors.pool",
    "harness.play", "harness.protocol", "harness.comparison.run",
    "harness.ask", "harness.verify", "harness.isolation.process",
}  # fmt: skip


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    """Names are kept in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "arena" / "names"


@pytest.fixture
def calm(tmp_path, monkeypatch):
    """A Python that has loaded one module and looks for packages in one folder: nobody else writes there meanwhile, as
    other tests do where the modules of this process came from."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    here = SimpleNamespace(
        version=sys.version, executable=sys.executable, path=[str(plugins)], modules={"names": names_module}
    )
    monkeypatch.setattr(names_module, "sys", here)
    return plugins


def modules(code, *args, **variables):
    done = subprocess.run(
        [sys.executable, "-c", code, *args], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1])), done.stdout


def loaded(*args, **variables):
    return modules(SAYS, *args, PYTHONHASHSEED="0", **variables)


@pytest.fixture(scope="module")
def clicks():
    """What click loads, and what it needs to complete a word."""
    code = "import click, click.shell_completion, json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    found, _ = modules(code)
    return found


def test_help_loads_little_besides_click(clicks):
    found, printed = loaded("--help")
    assert "tournament" in printed
    assert found & NOT_FOR_HELP == set()
    assert len(found - clicks) < 20, sorted(found - clicks)


def test_arena_restarts_with_a_fixed_hash_seed_before_loading_click():
    code = "import json, sys, harness.cli; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    found, _ = modules(code)
    assert not {name for name in found if name.startswith("click")}
    assert {name for name in found if name.startswith("harness")} == {"harness", "harness.cli"}


def test_command_names_are_completed_without_loading_commands(clicks):
    found, printed = loaded(_ARENA_COMPLETE="zsh_complete", COMP_WORDS="arena tour", COMP_CWORD="1")
    assert "tournament" in printed
    assert found & NOT_FOR_HELP == set()
    assert len(found - clicks) < 20, sorted(found - clicks)


@pytest.mark.parametrize(("option", "begun", "completed"), [("--bot", "sk", "skittish"), ("--format", "sw", "swiss")])
def test_cached_names_are_completed_without_loading_plugins(option, begun, completed, clicks):
    asked = {"_ARENA_COMPLETE": "zsh_complete", "COMP_WORDS": f"arena tournament {option} {begun}", "COMP_CWORD": "3"}
    found, first = loaded(**asked)
    assert completed in first.splitlines()
    assert "engines" in found
    found, again = loaded(**asked)
    assert again == first
    assert found & NOT_FOR_NAMES == set()
    assert len(found - clicks) < 80, sorted(found - clicks)


def test_an_in_process_run_loads_no_sandbox_report_or_worker_modules(tmp_path):
    found, printed = loaded(
        "tournament", "--workers", "0", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", "1",
        "--results", str(tmp_path), "--quiet",
    )  # fmt: skip
    assert "skittish" in printed
    assert found & NOT_FOR_A_RUN_HERE == set()


def test_cached_names_are_refreshed_after_an_install_or_damage(calm, caches, monkeypatch):
    finds = []
    find = names_module._find
    monkeypatch.setattr(names_module, "_find", lambda: finds.append(1) or find())
    first = installed_names()
    assert "random" in first.bots and "el-paso" in first.games and "swiss" in first.formats
    assert installed_names() == first
    assert len(finds) == 1
    (calm / "new-1.0.dist-info").mkdir()  # somebody installs something
    os.utime(calm, ns=(1, 1))
    assert installed_names() == first
    assert len(finds) == 2
    [kept] = caches.iterdir()
    kept.write_text("{")  # somebody has damaged it
    assert installed_names() == first
    assert len(finds) == 3
    assert installed_names() == first
    assert len(finds) == 3


def test_names_are_found_without_a_writable_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "random" in installed_names().bots


def test_every_measured_startup_command_succeeds():
    measured = measure_start(rounds=1)
    assert all(each.keys() == STARTS.keys() and min(each.values()) > 0 for each in measured.values())


def test_names_are_not_cached_while_a_plugin_is_broken(calm, caches, monkeypatch):
    find = names_module._find
    monkeypatch.setattr(names_module, "_find", lambda: (find()[0], False))
    installed_names()
    assert not caches.exists()


def test_a_world_writable_names_cache_is_ignored(calm, caches):
    first = installed_names()
    [kept] = caches.iterdir()
    kept.write_text(kept.read_text().replace('"random"', '"planted"'))
    assert "planted" in installed_names().bots
    kept.chmod(0o666)
    assert installed_names() == first
