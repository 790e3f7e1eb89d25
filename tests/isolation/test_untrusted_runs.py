"""A run folder may come from a stranger: what it says takes no bot out of confinement, and has no file read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import harness
from harness.isolation import doctor
from harness.output import text
from harness.runs.reader import GAMES
from harness.runs.resume import enter_again
from harness.runs.setup import installed, isolation_of_run
from harness.runs.store import RUN, RunFolder
from tests.support.cli import arena
from tests.support.forgery import edit_info

PROGRAM = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{"type": "ready", "id": asked.get("id")}}
    if asked["type"] == "hello":
        answer = {{"type": "hello", "protocol": 1}}
    elif asked["type"] == "new-game":
        print("SEES", os.path.exists({secret!r}), file=sys.stderr, flush=True)
    elif asked["type"] == "choose":
        answer = {{"type": "choice", "id": asked["id"], "code": asked["legal"][0]}}
    print(json.dumps(answer), flush=True)
"""
MINE = """
import harness, os
class Mine(harness.Bot):
    games = ("el-paso",)
    options = (harness.Option("book", "", "A book.", kind="file"),)
    def choose(self, view, actions):
        print("PROCESS", os.getpid())
        return actions[0]
"""
by_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
reads = pytest.mark.skipif(
    not next(each.enforced for each in doctor.probe() if each.name == "reading"),
    reason="this machine cannot keep a program from reading: see arena doctor",
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.py").write_text(MINE)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "secret").write_text("secret")
    (tmp_path / "their").mkdir()
    (tmp_path / "their" / "program.py").write_text(PROGRAM.format(secret=str(tmp_path / "private" / "secret")))
    text._lacking.cache_clear()
    return tmp_path


@pytest.fixture
def begun():
    """A run of a program in which a match is still to be played."""
    command = f"cmd:{sys.executable} -S their/program.py"
    arena("tournament", "--game", "el-paso", "--bot", command, "--bot", "random", "--deals", 1, "--workers", 0,
          "--name", "a", "-q")  # fmt: skip
    return half("a")


def half(name: str) -> Path:
    """Takes the second match out of a run of two, and its logs; says in its run.json that bots are not confined."""
    folder = Path("results", name)
    (folder / GAMES).write_text((folder / GAMES).read_text().splitlines(keepends=True)[0])
    edit_info(folder, lambda raw: {**raw, "finished": "", "records": "", "limits": {**raw["limits"], "isolate": "off"}})
    for log in folder.glob("logs/*"):
        log.unlink()
    return folder


def seen(folder: Path) -> set[str]:
    """What the program has seen in the matches since."""
    said = "".join(log.read_text() for log in folder.glob("logs/*"))
    return {line.partition("SEES ")[2] for line in said.splitlines() if "SEES" in line}


@reads
def test_run_json_cannot_turn_isolation_off(begun):
    said = " ".join(arena("tournament", "--resume", "a", "--workers", 0, "-q").stderr.split())
    assert seen(begun) == {"False"}
    assert "results/a/run.json says isolate=off, but its bots are isolated as with isolate=auto" in said
    assert "If you trust them, say isolate=off when you continue the run" in said
    arena("verify", "a")


@reads
def test_the_user_can_turn_isolation_off_when_resuming(begun):
    said = arena("tournament", "--resume", "a", "--workers", 0, "--isolate=off").stderr
    assert seen(begun) == {"True"}
    assert "run.json says" not in said


@reads
def test_run_json_cannot_turn_isolation_off_in_python_either(begun, capsys):
    harness.tournament(resume="a", workers=0)
    assert seen(begun) == {"False"}
    assert "says isolate=off" in " ".join(capsys.readouterr().err.split())
    half("a")
    harness.tournament(resume="a", workers=0, isolate="off", quiet=True)
    assert seen(begun) == {"True"}


@reads
def test_run_json_cannot_turn_isolation_off_for_a_comparison_either(capsys):
    command = f"cmd:{sys.executable} -S their/program.py"
    arena("compare", command, "random", "--game", "el-paso", "--most", 2, "--workers", 0, "--name", "c", "-q")
    for continued in (
        lambda: arena("compare", "--resume", "c", "--workers", 0),
        lambda: harness.compare(resume="c", workers=0, quiet=True),
    ):
        folder = half("c")
        continued()
        assert seen(folder) == {"False"}
    folder = half("c")
    harness.compare(resume="c", workers=0, quiet=True, isolate="off")
    assert seen(folder) == {"True"}


def test_the_isolation_that_is_typed_when_resuming_applies():
    arena("tournament", "--game", "el-paso", "--bot", "skittish", "--bot", "random", "--deals", 1, "--workers", 0,
          "--name", "a", "-q")  # fmt: skip
    arena("tournament", "--resume", "a", "--workers", 0, "--isolate=on")
    arena("tournament", "--resume", "a", "--workers", 0, "--isolate=off")
    edit_info(Path("results/a"), lambda raw: {**raw, "limits": {**raw["limits"], "isolate": "off"}})
    said = arena("tournament", "--resume", "a", "--workers", 0).stderr
    assert "run.json says" not in said  # nobody is a stranger: there is no difference
    refused = arena("tournament", "--resume", "a", "--workers", 0, "--memory", 1, code=2).stderr
    assert "The run was started with memory=4096" in refused


@pytest.mark.parametrize(
    "limits", [{"isolate": "none"}, {"isolate": 5}, {"memory": "much"}, {"clock": "sundial"}, {"move_time": -1}]
)
def test_invalid_limits_in_run_json_are_refused(begun, limits):
    edit_info(begun, lambda raw: {**raw, "limits": {**raw["limits"], **limits}})
    said = arena("tournament", "--resume", "a", "--workers", 0, code=2).stderr
    assert "results/a/run.json was not written by arena: " in said
    assert seen(begun) == set()


@by_root
def test_all_bots_are_isolated_if_run_json_belongs_to_another_user():
    arena("tournament", "--game", "el-paso", "--bot", "own/mine.py", "--bot", "random", "--deals", 1, "--workers", 0,
          "--name", "a", "-q")  # fmt: skip
    folder = half("a")
    os.chown(folder / RUN, 12345, 12345)
    assert isolation_of_run(RunFolder.open(folder)) == "on"
    said = " ".join(arena("tournament", "--resume", "a", "--workers", 0, "--show-output").stderr.split())
    assert "says isolate=off, but its bots are isolated as with isolate=on" in said
    assert f"PROCESS {os.getpid()}" not in said
    half("a")
    os.chown(folder / RUN, 12345, 12345)
    again = arena("tournament", "--resume", "a", "--workers", 0, "--isolate=off", "--show-output")
    assert f"PROCESS {os.getpid()}" in again.stderr


def test_a_path_in_run_json_is_not_read(begun):
    Path("book.txt").write_text("e4")
    arena("tournament", "--game", "el-paso", "--bot", "own/mine.py::mine:book=book.txt", "--bot", "random", "--deals",
          1, "--workers", 0, "--name", "b", "-q")  # fmt: skip
    Path("book.txt").unlink()
    folder = half("b")
    arena("tournament", "--resume", "b", "--workers", 0, "-q")  # the text is kept
    run = RunFolder.open(folder)
    [mine] = [entrant for entrant in run.info.entrants if entrant.name.startswith("mine")]
    digest = mine.spec.partition("book=")[2]
    edit_info(
        folder,
        lambda raw: {
            **raw, "finished": "", "records": "",
            "entrants": [{**one, "spec": one["spec"].replace(digest, "private/secret")} for one in raw["entrants"]],
        },
    )  # fmt: skip
    said = arena("tournament", "--resume", "b", "--workers", 0, "--force", code=2).stderr
    assert "no content is kept for private/secret" in said
    registry = installed()
    assert enter_again(run, registry, [mine])[0].contents == {digest: "e4"}
    [typed] = registry.entrants(["own/mine.py::mine:book=private/secret"])  # by somebody, afterwards
    assert list(typed.contents.values()) == ["secret"]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_run_whose_plan_names_an_unknown_bot_is_refused_with_a_one_line_message(begun, force):
    path = begun / RUN
    path.write_text(
        path.read_text().replace('"random"', '"../../pwn"').replace('"spec":"../../pwn"', '"spec":"random"')
    )
    said = arena("tournament", "--resume", begun, "--workers", 1, *force, code=2).stderr
    assert "cannot be continued, not even by force: the plan in run.json has the bots '../../pwn', but" in said
    assert len(said.splitlines()) == 1
