"""What a shell offers while a command is being typed."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from harness.cli.main import main
from harness.cli.options import CompletedName
from harness.completion.names import listed_folders
from harness.plugins.features import COMMANDS
from tests.support.cli import arena
from tests.support.waiting import within

BASH = shutil.which("bash")
ARENA = Path(sys.executable).with_name("arena")
NAMED = {
    "bot", "bots", "candidates", "company", "event", "format", "game", "games", "hint_bot", "left_out", "one", "other",
    "resume", "run", "runs",
}  # fmt: skip
"""Parameters of commands that name something a shell can know."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with two bot files and two runs; names are kept outside it, for each test its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(tmp_path.name + "-caches")))
    (tmp_path / "old").mkdir()
    for place in ("sprinter.py", "old/sprinter.py", "notes.txt", "old/.hidden.py"):
        (tmp_path / place).write_text("")
    for number, run in enumerate(("first", "second")):
        (tmp_path / "results" / run).mkdir(parents=True)
        asked = tmp_path / "results" / run / "run.json"
        asked.write_text(f'{{"entrants": [{{"name": "{run}-bot"}}, {{"name": "random"}}]}}')
        os.utime(asked, (number, number))
    return tmp_path


def offered(line):
    """What is offered for the last word of a line, by its values; a folder that the shell lists ends with `/...`."""
    *args, incomplete = line.split(" ")[1:]
    items = ShellComplete(main, {}, "arena", "_ARENA_COMPLETE").get_completions(args, incomplete)
    return [f"{item.value}/..." if item.type == "dir" else item.value for item in items]


def test_command_names_are_completed_without_importing_commands():
    code = (
        "import sys; from click.shell_completion import ShellComplete; from harness.cli.main import main;"
        "found = ShellComplete(main, {}, 'arena', 'X').get_completions([], 're');"
        "print([item.value for item in found], sorted(name for name in sys.modules if name.startswith('harness.')))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    few = ["harness._version", "harness.cli", "harness.cli.main", "harness.plugins", "harness.plugins.features"]
    assert printed == f"['replay', 'report'] {few}\n"


def test_config_files_are_completed(folder):
    for place in ("event.toml", "old/event.toml"):
        (folder / place).write_text("")
    assert offered("arena tournament e") == ["event.toml"]
    assert offered("arena tournament old/") == ["old/event.toml"]
    assert offered("arena tournament ") == ["event.toml", "/..."]
    assert offered("arena tournament res") == ["res/..."]


def test_runs_are_completed_from_the_folder_in_arena_results(folder, monkeypatch):
    (folder / "results").rename(folder / "elsewhere")
    assert offered("arena leaderboard f") == []
    monkeypatch.setenv("ARENA_RESULTS", "elsewhere")
    assert offered("arena leaderboard f") == ["first"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_parameter_that_names_something_is_completed(command):
    found = main.get_command(click.Context(main), command)
    bare = [each.name for each in found.params if each.name in NAMED and not isinstance(each.type, CompletedName)]
    assert bare == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("arena tournament --game ", ["el-paso", "gnadenlos", "x-pasch"]),
        ("arena play x", ["x-pasch"]),
        ("arena tournament --bot sk", ["skittish"]),
        ("arena tournament --bot skittish --bot out", ["outlaw"]),
        ("arena check sp", ["sprinter.py"]),
        ("arena check o", ["outlaw", "o/..."]),
        ("arena check old/", ["old/sprinter.py"]),
        ("arena compare sprinter.py old/s", ["old/sprinter.py"]),
        ("arena tournament --bot v1=sk", ["v1=skittish"]),
        ("arena tournament --bot v1=o", ["v1=outlaw", "v1=old/"]),
        ("arena tournament --bot ismcts:g", ["ismcts:guide="]),
        ("arena tournament --bot ismcts:guide=ou", ["ismcts:guide=outlaw"]),
        ("arena tournament --bot ismcts:ms=5,re", ["ismcts:ms=5,reward="]),
        ("arena tournament --bot ismcts:reward=", ["ismcts:reward=score", "ismcts:reward=rank", "ismcts:reward=value"]),
        ("arena tournament --bot v2=ismcts:ms=5,ms", []),
        ("arena tournament --bot nobody:x", []),
        ("arena tournament --bot cmd:", []),
        ("arena tournament --format sw", ["swiss"]),
        ("arena tournament --format swiss:", ["swiss:rounds="]),
        ("arena leaderboard ", ["second", "first"]),
        ("arena verify first s", ["second"]),
        ("arena tournament --resume f", ["first"]),
        ("arena report old", ["old/..."]),
        ("arena leaderboard first --bot ", ["first-bot", "random"]),
        ("arena leaderboard nothing --bot ", []),
        ("arena tournament --isolate ", ["auto", "off", "on", "strict"]),
    ],
)
def test_names_of_games_bots_options_formats_and_runs_are_completed(line, expected):
    assert offered(line) == expected


def test_runs_are_completed_from_the_folder_of_the_results_option(folder):
    (folder / "results").rename(folder / "elsewhere")
    assert offered("arena replay --results elsewhere ") == ["second", "first"]


HOSTILE = ("a$(touch x)", "a;touch x", "a`touch x`", "a\nopen,b", "a\x1b[31m", "-a", "a b", "a*", "a&", "a|b", "a>b")


def test_names_that_a_shell_would_act_on_are_not_completed(folder):
    for name in HOSTILE:
        shutil.copytree("results/first", f"results/{name}")
        Path(name).mkdir()
        Path(f"{name}.py").touch()
        Path(f"{name}.toml").touch()
    asked = [{"name": name} for name in (*HOSTILE, "fine")]
    Path("results/first/run.json").write_text(json.dumps({"entrants": asked}))
    assert offered("arena leaderboard first --bot ") == ["fine"]
    assert {*offered("arena leaderboard ")} == {"first", "second"}
    assert offered("arena tournament a") == offered("arena check ./a") == offered("arena check ./-") == []
    assert listed_folders("", "a") == listed_folders("", "-") == []


def test_a_broken_plugin_prints_nothing_during_completion(monkeypatch, capfd):
    def broken():
        print("something", file=sys.stderr)  # noqa: T201 - as an import would
        raise RuntimeError("broken")

    monkeypatch.setattr("harness.plugins.registry.load", broken)
    assert offered("arena tournament --bot sk") == []
    assert capfd.readouterr() == ("", "")


def test_completing_names_loads_only_plugins():
    code = (
        "import sys; from click.shell_completion import ShellComplete; from harness.cli.main import main;"
        "found = ShellComplete(main, {}, 'arena', 'X').get_completions(['tournament', '--bot'], 'sk');"
        "print([item.value for item in found]);"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('harness.')} & "
        "{'executors', 'sandbox', 'runs', 'output', 'play', 'api', 'bench', 'conformance'})"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "['skittish']\nset()\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_each_shell_is_printed(shell, monkeypatch):
    printed = arena("completion", shell).stdout
    assert f"_ARENA_COMPLETE={shell}_complete" in printed
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    assert arena("completion").stdout == printed


def test_an_unknown_shell_is_refused(monkeypatch):
    assert "bash" in arena("completion", "csh", code=2).stderr
    monkeypatch.delenv("SHELL", raising=False)
    assert "Which shell? Choose from: bash, zsh, fish." in arena("completion", code=2).stderr


@pytest.mark.skipif(not BASH, reason="no bash on this machine")
@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("leaderboard se", "leaderboard second "),
        ("tournament --bot skit", "tournament --bot skittish "),
        ("tournament --bot v1=skit", "tournament --bot v1=skittish "),
        ("tournament --bot=skit", "tournament --bot=skittish "),
        ("tournament --bot ismcts:gui", "tournament --bot ismcts:guide="),
        ("tournament --bot v2=old/s", "tournament --bot v2=old/sprinter.py "),
        ("check ol", "check old/"),
    ],
)
def test_tab_completes_a_command_line_in_bash(typed, becomes, folder):
    """The line goes to a program that shows what it was given, once the shell has completed it."""
    (folder / "rc").write_text(
        f'PS1="" PS2=""\nset +o history\nbind "set enable-bracketed-paste off"\nbind "set bell-style none"\n'
        f'PATH="{ARENA.parent}:$PATH"\neval "$(arena completion bash)"\n'
        # Enter shows the line as it stands, instead of having it carried out.
        'shown() { printf "%s" "$READLINE_LINE" > line.part; mv line.part line; exit; }\nbind -x \'"\\C-x": shown\'\n'
    )
    parent, child = pty.openpty()
    try:
        shell = subprocess.Popen(
            [BASH, "--noprofile", "--rcfile", "rc", "-i"],
            stdin=child, stdout=child, stderr=child, cwd=folder, start_new_session=True,
            env={**os.environ, "TERM": "dumb", "INPUTRC": os.devnull},
        )  # fmt: skip
        os.close(child)
        os.write(parent, f"arena {typed}\t\x18".encode())
        with within():
            while shell.poll() is None and not (folder / "line").exists():
                with suppress(OSError):  # the shell has gone, and its terminal with it
                    os.read(parent, 1024)
            shell.wait()
    finally:
        os.close(parent)
    assert (folder / "line").read_text() == f"arena {becomes}"
