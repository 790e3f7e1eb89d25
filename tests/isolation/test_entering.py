"""Programs and files on the command line: names, options, mistakes, and code that must not run in arena's process."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from harness.core.errors import PluginError, UsageError
from harness.executors.base import SandboxLoader
from harness.isolation import doctor, entrants
from harness.isolation.launch import with_absolute_paths
from harness.plugins.entrants import check_distinct
from harness.plugins.registry import Registry, load
from tests.isolation.support import HOSTILE
from tests.support.cli import arena

GOOD = f"{sys.executable} -S {HOSTILE / 'leaves_children.py'}"


def connected(isolate: str = "off") -> Registry:
    registry = load()
    registry.outside = SandboxLoader(isolate)
    return registry


def test_a_program_gets_its_name_from_its_file_or_from_the_user():
    registry = connected()
    [plain] = registry.entrants([f"cmd:{GOOD}"])
    assert (plain.name, plain.spec) == ("leaves_children", f"leaves_children=cmd:{GOOD}")
    assert plain.plays("el-paso")
    assert not plain.plays("x-pasch")
    assert plain.version.startswith("sha256:")
    [named] = registry.entrants([f"fast:level=3,mode=x=cmd:{GOOD} --x=1"])
    assert named.name == "fast:level=3,mode=x"
    assert named.settings == {"level": "3", "mode": "x"}
    [again] = registry.entrants([named.spec])
    assert (again.name, again.spec, again.version) == (named.name, named.spec, named.version)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cmd:", "names no program"),
        ("cmd:no-such-program x", "no program 'no-such-program'"),
        ("cmd:sh 'x", "cannot be read"),
        ("cmd:sh -c 'exit 3'", "exit code 3"),
        ("cmd:sh -c 'echo rubbish; read x'", "no message"),
        ("""cmd:sh -c 'echo \\{\\"type\\":\\"hello\\",\\"protocol\\":99\\}; read x'""", "speaks protocol 99"),
        ("a:b=cmd:sh", "'b' is not an option"),
    ],
)
def test_an_invalid_program_argument_is_refused_with_a_clear_message(text, says):
    with pytest.raises(UsageError, match=says):
        connected().entrants([text])


def test_a_registry_that_can_start_no_process_says_so(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import harness\nclass Mine(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n"
    )
    registry = Registry()
    with pytest.raises(UsageError, match="program, which cannot be entered here"):
        registry.entrants([f"cmd:{GOOD}"])
    assert [entrant.name for entrant in registry.entrants([str(tmp_path / "mine.py")])] == ["mine"]


def test_a_file_is_not_loaded_in_arenas_process_when_isolated(tmp_path):
    bot = tmp_path / "sly.py"
    bot.write_text(
        "import harness, sys\n"
        "sys.modules['harness'].hacked = True\n"
        "class Sly(harness.Bot):\n"
        "    games = ('el-paso',)\n"
        "    options = (harness.Option('x', 1, 'a number', kind='int'),)\n"
        "    def choose(self, view, actions): return actions[self.settings['x'] % 2]\n"
    )
    import harness

    registry = connected("on")
    [entrant] = registry.entrants([f"{bot}::sly:x=2"])
    assert (entrant.name, entrant.settings) == ("sly:x=2", {"x": 2})
    assert not hasattr(harness, "hacked")
    arena("tournament", "--game", "el-paso", "--deals", 1, "--isolate", "--bot", f"{bot}::sly:x=2", "--bot", "random",
          "--results", tmp_path, "--name", "r", "--strict", "--workers", 1)  # fmt: skip
    assert not hasattr(harness, "hacked")


def test_a_load_error_has_the_same_message_when_isolated(tmp_path):
    (tmp_path / "bad.py").write_text("class Sly(:\n")
    registry = connected("on")
    with pytest.raises(PluginError, match=r"bad\.py.*syntax error in bad\.py, line 1"):
        registry.entrants([str(tmp_path / "bad.py")])


def test_a_program_that_buffers_its_answer_gets_advice(tmp_path, monkeypatch):
    (tmp_path / "slow.awk").write_text('{ print "{}" }')
    monkeypatch.setattr(entrants, "IsolationPolicy", partial(entrants.IsolationPolicy, start_time=0.4))
    with pytest.raises(UsageError, match=r"had not said hello after .* flush stdout after each line"):
        connected("off").entrants([f"cmd:awk -f {tmp_path / 'slow.awk'}"])


def test_the_program_behind_a_shim_is_started(tmp_path, monkeypatch):
    """A shim needs its manager and all that belongs to it, which a sandbox hides."""
    real, shim = tmp_path / "versions" / "bin" / "python9", tmp_path / "shims" / "python9"
    manager = tmp_path / "manager"
    for file, text in ((real, ""), (manager, f"echo {real}"), (shim, f'exec "{manager}" exec "$program" "$@"')):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    assert with_absolute_paths(["python9", "-S"]) == (str(real), "-S")
    manager.write_text("#!/bin/sh\nexit 1\n")
    assert with_absolute_paths(["python9", "-S"]) == (str(shim), "-S")


def test_a_file_that_looks_like_a_shim_runs_nothing(tmp_path, monkeypatch):
    """Entering a program that came with a config file or a run must not start what the file names."""
    monkeypatch.chdir(tmp_path)
    shim, evil = Path("shims", "bot"), Path("evil")
    shim.parent.mkdir()
    for file, text in ((evil, "touch owned"), (shim, 'exec "./evil" exec "$program"')):
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    for word in ("shims/bot", "./shims/bot", str(shim.absolute())):
        assert with_absolute_paths([word]) == (str(shim.absolute()),)
    assert not Path("owned").exists()


def test_two_programs_with_the_same_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text(
            f"import sys\nsys.path.insert(0, {str(HOSTILE)!r})\nimport polite\npolite.play()\n"
        )
    commands = [f"cmd:{sys.executable} -S {tmp_path / folder / 'bot.py'}" for folder in ("a", "b")]
    with pytest.raises(UsageError, match="bot is entered twice"):
        check_distinct(connected().entrants(commands))


def test_a_run_with_a_program_can_be_recorded_and_resumed(tmp_path):
    bot = f"deep:level=2=cmd:{GOOD}"
    game = ("tournament", "--game", "el-paso", "--results", tmp_path, "--workers", 1)
    arena(*game, "--deals", 2, "--bot", bot, "--bot", "random", "--isolate", "--name", "r", "--strict")
    folder = tmp_path / "r"
    [entrant] = [
        one for one in json.loads((folder / "run.json").read_text())["entrants"] if one["source"] != "arena-harness"
    ]
    assert entrant["spec"] == bot
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "games.jsonl").write_bytes(b"".join(lines[:1]))
    arena("tournament", "--resume", folder, "--workers", 1, "--isolate")
    assert len((folder / "games.jsonl").read_bytes().splitlines()) == len(lines)
    arena("verify", folder)


def kept():
    return all(guarantee.enforced for guarantee in doctor.probe())


def test_strict_refuses_what_the_machine_cannot_enforce(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "probe", lambda: [doctor.Guarantee("network", "there is no network", False)])
    said = arena("tournament", "--isolate=strict", "--deals", 1, "--results", tmp_path, code=2).stderr
    assert "does not enforce that there is no network" in said
    assert "arena doctor" in said


@pytest.mark.skipif(os.getuid() != 0, reason="only root turns into somebody else")
def test_root_runs_a_bot_from_a_private_folder_and_from_a_private_file(tmp_path):
    """The bot is another user then, and sees a copy."""
    if not kept():
        pytest.skip("this machine cannot enforce everything: see arena doctor")
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    bot = private / "mine.py"
    bot.write_text("import harness\nclass Mine(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n")
    match = ("tournament", "--game", "el-paso", "--isolate=strict", "--deals", 1, "--results", tmp_path, "--workers", 1,
             "--bot", "random", "--bot", bot)  # fmt: skip
    arena(*match, "--strict", "--name", "one")
    bot.chmod(0o600)
    arena(*match, "--strict", "--name", "two")


def test_doctor_says_what_is_enforced():
    data = json.loads(arena("doctor", "--json", code=0 if kept() else 1).stdout)
    assert data["strict"] == all(data["enforced"].values())
    assert data["enforced"]["memory"]
    assert set(data["enforced"]) == set(doctor.GUARANTEES)
    assert "memory has a limit" in arena("doctor", code=0 if kept() else 1).stdout


def test_a_command_with_spaces_in_its_path(tmp_path):
    script = tmp_path / "a bot.sh"
    script.write_text('read x; echo \'{"type":"hello","protocol":1,"name":"shell","version":"7"}\'; read x\n')
    [entrant] = connected().entrants([f"cmd:sh {shlex.quote(str(script))}"])
    assert (entrant.name, entrant.version) == ("a-bot", "7")
    assert entrant.plays("anything")


def test_a_dry_run_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir(mode=0o711)
    tmp_path.chmod(0o711)
    (tmp_path / "mine.py").write_text(
        "import harness\nclass Mine(harness.Bot):\n    def choose(self, view, actions): return actions[0]\n"
    )
    said = arena("tournament", "--game", "el-paso", "--dry-run", "--deals", 1, "--isolate",
                 "--bot", tmp_path / "mine.py", "--bot", f"cmd:{GOOD}")  # fmt: skip
    assert "A match takes about" in said.stdout
    assert list((tmp_path / "temporary").iterdir()) == []
