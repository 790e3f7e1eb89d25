"""What a bot says of itself is a stranger's data: nothing of it is shown, read or kept that was not checked."""

from __future__ import annotations

import json
import os
import sys

import pytest

from harness.core.errors import ArenaError, PluginError, UsageError
from harness.executors.base import SandboxLoader
from harness.isolation.entrants import IsolationPolicy
from harness.plugins.registry import Registry
from tests.support.cli import arena
from tests.support.waiting import within

FORGER = """
import json, os, stat
import harness

class Honest(harness.Bot):
    def choose(self, view, actions): return actions[0]

line = json.dumps([json.loads(%r)]).encode() + b"\\n"
for number in range(3, 64):  # arena's way out is one of these, and it is ours to write to before arena's code does
    try:
        if stat.S_ISFIFO(os.fstat(number).st_mode):
            os.write(number, line)
    except OSError:
        pass
"""
HONEST = {"name": "forged", "version": "1", "games": [], "options": [], "doc": "", "files": []}
FILE = {"help": "", "kind": "file"}
FORGED = [
    ({"name": "a\x1b[31mb"}, "is called"),
    ({"name": "a\nb"}, "is called"),
    ({"name": "<script>alert(1)</script>"}, "is called"),
    ({"name": "b\u202etob"}, "is called"),
    ({"name": "b\u200bot"}, "is called"),
    ({"name": "x" * 101}, "is called"),
    ({"name": ""}, "is called"),
    ({"version": "1\x1b]0;mine\x07"}, "version is"),
    ({"version": "1\nrandom  2"}, "version is"),
    ({"version": "<script>"}, "version is"),
    ({"version": "9" * 400}, "version is"),
    ({"games": ["el-paso\x1b[2J"]}, "games is"),
    ({"games": ["g"] * 1000}, "games is"),
    ({"games": 5}, "cannot be loaded"),
    ({"options": [{"name": "a=b", "default": 1, "help": ""}]}, "an option is called"),
    ({"options": [{"name": "a", "default": 1e400, "help": ""}]}, "cannot be loaded|default or choice"),
    ({"options": [{"name": "a", "default": 10**40, "help": "", "kind": "int"}]}, "cannot be loaded|default or choice"),
    ({"options": [{"name": "a", "default": "x", "help": "", "kind": "int"}]}, "own default"),
    ({"options": [{"name": "a", "default": "x\x1b", "help": ""}]}, "default or choice"),
    ({"options": [{"name": "a", "default": 1, "help": "", "kind": "shell"}]}, "cannot be loaded"),
    ({"options": [{"name": "a", "default": 1, "help": "", "choices": list(range(999))}]}, "has the choices"),
    ({"options": [{"name": "a", "default": "/etc/shadow", **FILE}]}, "may only read files that the user has named"),
    ({"options": [{"name": "a", "default": "/dev/zero", **FILE}]}, "may only read files that the user has named"),
    ({"files": ["/etc/shadow"]}, "files in its folder"),
    ({"files": ["/dev/zero"]}, "files in its folder"),
    ({"files": ["../secret"]}, "files in its folder"),
    ({"files": ["leads_out"]}, "not a file in its folder"),
    ({"files": ["pipe"]}, "not a file in its folder"),
    ({"files": ["zero"]}, "not a file in its folder"),
    ({"files": ["."]}, "not a file in its folder"),
    ({"files": ["a\nb"]}, "files is"),
]


def registry() -> Registry:
    return Registry(outside=SandboxLoader("on"))


def forger(tmp_path, said):
    folder = tmp_path / "theirs"
    folder.mkdir()
    (tmp_path / "secret").write_text("nobody's business")
    (folder / "leads_out").symlink_to("../secret")
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    (folder / "bot.py").write_text(FORGER % json.dumps(HONEST | said))
    return str(folder / "bot.py")


class Forger:
    """In place of a sandboxed process: has answered what the file would write into the pipe."""

    def __init__(self, said):
        self.line = json.dumps([HONEST | said]).encode()

    def exchange(self, *_):
        return self.line

    def kill(self):
        pass


SANDBOXED = {str(said) for said, _ in (FORGED[0], FORGED[21], FORGED[-2])}
"""One of each kind comes out of a sandbox; the same bytes of the others need none."""


@pytest.mark.parametrize(("said", "refused"), FORGED, ids=[str(said)[:40] for said, _ in FORGED])
def test_a_forged_description_is_refused_with_a_printable_message(tmp_path, said, refused, monkeypatch):
    path = forger(tmp_path, said)
    if str(said) not in SANDBOXED:
        monkeypatch.setattr(IsolationPolicy, "start", lambda *_: Forger(said))
    with within(), pytest.raises(PluginError, match=refused) as told:
        registry().entrants([path])
    assert str(told.value).isprintable()
    assert "business" not in str(told.value)


def test_a_plausible_forged_description_is_accepted_and_the_bot_fails_in_play(tmp_path):
    path = forger(tmp_path, {"name": "forged", "doc": "one\x1b[31m\nline", "version": "7"})
    [entrant] = registry().entrants([path])
    assert (entrant.name, entrant.version) == ("forged", "7")
    assert entrant.bot.doc == "one?[31m\nline"
    arena("tournament", "--game", "el-paso", "--deals", 1, "--isolate", "--bot", path, "--bot", "random",
          "--results", tmp_path, "--name", "r", "--workers", 0)  # fmt: skip
    lines = (tmp_path / "r" / "games.jsonl").read_bytes().splitlines()
    assert all(json.loads(line)["faults"] for line in lines)
    (tmp_path / "r" / "games.jsonl").write_bytes(lines[0] + b"\n")
    arena("tournament", "--resume", tmp_path / "r", "--workers", 0)


@pytest.mark.parametrize(
    ("hello", "refused"),
    [
        ({"version": "1\x1b[31m"}, "version is"),
        ({"version": "1\n2"}, "version is"),
        ({"version": "<script>"}, "version is"),
        ({"games": ["a b"]}, "games is"),
        ({"games": ["a\u202eb"]}, "games is"),
        ({"wants": ["\x1b[31m"]}, "no message"),
        ({"protocol": 10**30}, "no message|speaks protocol"),
    ],
)
def test_a_program_with_an_invalid_hello_is_refused(tmp_path, hello, refused):
    line = json.dumps({"type": "hello", "protocol": 1, **hello})
    script = tmp_path / "program.py"
    script.write_text(f"input()\nprint({line!r}, flush=True)\ninput()\n")
    with pytest.raises(UsageError, match=refused) as told:
        registry().entrants([f"cmd:{sys.executable} -S {script}"])
    assert str(told.value).isprintable()


def test_a_programs_file_name_is_converted_to_a_valid_bot_name(tmp_path):
    script = tmp_path / "a<b>|c:d\u202e.py"
    script.write_text('input()\nprint(\'{"type":"hello","protocol":1}\', flush=True)\ninput()\n')
    [entrant] = registry().entrants([f"cmd:{sys.executable} -S '{script}'"])
    assert entrant.name == "a-b--c-d-"


def test_arena_follows_no_link_of_another_user_out_of_the_bots_folder(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can give a link to somebody else")
    (tmp_path / "secret.py").write_text("hidden = 1\n")
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "__init__.py").write_text("from pack import helper\n")
    os.mkfifo(folder / "pipe.py")  # nobody waits for it
    (folder / "helper.py").symlink_to(tmp_path / "secret.py")
    os.lchown(folder / "helper.py", 65534, 65534)
    with within(), pytest.raises(UsageError, match="link leads out of the folder"):
        registry().entrants([str(folder)])


BOOKISH = """
import harness
class Bookish(harness.Bot):
    games = ("el-paso",)
    options = (harness.Option("book", "", "what it knows by heart", kind="file"),)
    def choose(self, view, actions):
        self.note(self.file_option("book"))
        return actions[0]
"""


@pytest.mark.parametrize("how", [("--workers", 0), ("--workers", 1), ("--workers", 1, "--isolate")], ids=str)
def test_a_bot_gets_its_option_file_and_the_run_resumes_after_the_file_is_deleted(tmp_path, how):
    bot, book = tmp_path / "bookish.py", tmp_path / "book.txt"
    bot.write_text(BOOKISH)
    book.write_text("stay\n" * 20_000)
    arena("tournament", "--game", "el-paso", "--deals", 1, "--bot", f"{bot}:book={book}", "--bot", "random", *how,
          "--results", tmp_path, "--name", "r", "--strict")  # fmt: skip
    run = tmp_path / "r"
    assert list(json.loads((run / "run.json").read_text())["files"].values()) == ["stay\n" * 20_000]
    lines, noted = (run / "games.jsonl").read_bytes().splitlines(keepends=True), (run / "notes.jsonl").read_text()
    assert "stay" in noted
    book.unlink()
    (run / "games.jsonl").write_bytes(lines[0])
    arena("tournament", "--resume", run, *how[:2], "--strict")
    assert len((run / "games.jsonl").read_bytes().splitlines()) == len(lines)


@pytest.mark.parametrize("value", ["/dev/zero", "pipe", "folder", "big", "missing", "\x00"])
def test_an_option_reads_regular_files_of_bounded_size_only(tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bookish.py").write_text(BOOKISH)
    os.mkfifo("pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "big").write_bytes(b"x" * 1_000_001)
    with within(), pytest.raises(ArenaError, match=r"cannot read|null byte"):
        Registry().entrants([f"bookish.py:book={value}"])
