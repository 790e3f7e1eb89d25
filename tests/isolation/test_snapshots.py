"""What an isolated bot sees of the user's files: its own, and nothing that lies beside them."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from harness import open_run
from harness.core.errors import PluginError, UsageError
from harness.executors.base import SandboxLoader
from harness.isolation import confine, doctor
from harness.isolation.entrants import IsolationPolicy, files_of_command, isolate
from harness.plugins.registry import load
from harness.plugins.snapshots import Snapshot, bot_snapshot, visible_code
from tests.conftest import draw_seed
from tests.support.cli import arena

STRICT = all(guarantee.enforced for guarantee in doctor.probe())
ISOLATION = "strict" if STRICT else "on"
needs_all = pytest.mark.skipif(not STRICT, reason="this machine cannot enforce everything: see arena doctor")
RUN = ("tournament", f"--isolate={ISOLATION}", "--game", "el-paso", "--deals", 1, "--workers", 1)
PLAYS = "    def choose(self, view, actions): return actions[0]\n"
BURGLAR = """
import glob, json, os, socket, sys
from pathlib import Path
import harness

HERE = Path(__file__).parent

def tries(what):
    try:
        return str(what())
    except Exception as error:
        return None

def connect(path):
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(path)
        return "connected"

class Burglar(harness.Bot):
    def start(self):
        found = {
            "runs": [path for place in (HERE, ORIGINAL, ".") for path in glob.glob(f"{place}/results/*/run.json")],
            "run": tries(lambda: Path(ORIGINAL, "results", "theft", "run.json").read_text()),
            "home": tries(lambda: os.listdir(HOME)),
            "neighbour": tries(lambda: Path(ORIGINAL, "rival.py").read_text()),
            "copied": tries(lambda: (HERE / "rival.py").read_text()),
            "secret": tries(lambda: Path(ORIGINAL, "secret.txt").read_text()),
            "socket": tries(lambda: connect(f"{ORIGINAL}/door")),
            "seeds": [path for path in glob.glob("/proc/[0-9]*/cmdline") if b"987654" in Path(path).read_bytes()],
            "written": tries(lambda: (HERE / "new.txt").write_text("x")) or tries(lambda: Path(__file__).chmod(0o777)),
        }
        print("SPY " + json.dumps(found), file=sys.stderr)

    def choose(self, view, actions):
        return actions[0]
"""


@pytest.fixture
def contest(tmp_path, monkeypatch):
    """A folder as an organiser has it, which is the current one: bots, results, a file and a socket of his own."""
    folder = tmp_path / "contest"
    folder.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "diary").touch()
    for open_one in (tmp_path, folder, home):
        open_one.chmod(0o755)
    (folder / "rival.py").write_text(f"import harness\nclass Rival(harness.Bot):\n{PLAYS}")
    (folder / "secret.txt").write_text("my own")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(home))
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        Path("door").chmod(0o777)
        door.listen()
        yield folder


def entering(bot):
    registry = load()
    registry.outside = SandboxLoader("on")
    return registry.entrants([bot])


@needs_all
def test_a_sandboxed_bot_cannot_read_files_outside_its_snapshot(contest):
    places = f"ORIGINAL = {str(contest)!r}\nHOME = {str(contest.parent / 'home')!r}\n"
    Path("burglar.py").write_text(places + BURGLAR)
    arena(*RUN, "--bot", "burglar.py", "--bot", "rival.py", "--name", "theft", "--seed", 987654)
    told = [line.partition("SPY ")[2] for line in Path("results/theft/logs/burglar.log").read_text().splitlines()]
    [first, *_] = [json.loads(line) for line in told if line]
    assert {what: found for what, found in first.items() if found} == {}


def test_a_bot_can_read_its_modules_its_declared_data_and_installed_packages(contest):
    Path("deep").mkdir()
    Path("deep", "__init__.py").write_text("from deep.more import THREE\n")
    Path("deep", "more.py").write_text("THREE = 3\n")
    Path("helper.py").write_text("TWO = 2\n")
    Path("weights.txt").write_text("0.5")
    Path("honest.py").write_text(
        "import harness, msgspec\nfrom pathlib import Path\nimport helper\nfrom deep import THREE\n"
        "WEIGHT = float((Path(__file__).parent / 'weights.txt').read_text())\n"
        "class Honest(harness.Bot):\n    files = ('weights.txt',)\n"
        "    def choose(self, view, actions):\n"
        "        import helper as again\n"
        "        assert (again.TWO, THREE, WEIGHT) == (2, 3, 0.5)\n"
        "        return actions[0]\n"
    )
    Path("box").mkdir()
    Path("box", "data").mkdir()
    Path("box", "data", "w.txt").write_text("7")
    Path("box", "__init__.py").write_text(
        "import harness\nfrom pathlib import Path\nfrom box.sub import x\n"
        "SEVEN = int((Path(__file__).parent / 'data' / 'w.txt').read_text())\n"
        f"class Boxed(harness.Bot):\n    files = ('data/w.txt',)\n{PLAYS}"
    )
    Path("box", "sub.py").write_text("x = 1\n")
    said = arena(*RUN, "--bot", "honest.py", "--bot", "box", "--name", "fine", "--strict").stderr
    assert "fault" not in said
    arena("verify", "results/fine")


def test_reading_an_undeclared_file_is_reported_with_the_fix(contest):
    Path("early.py").write_text(
        "import harness\nfrom pathlib import Path\nX = (Path(__file__).parent / 'secret.txt').read_text()\n"
        f"class Early(harness.Bot):\n{PLAYS}"
    )
    with pytest.raises(PluginError, match=r"early.py cannot be loaded.*files = \('secret.txt',\)"):
        entering("early.py")
    Path("late.py").write_text(
        "import harness\nfrom pathlib import Path\nclass Late(harness.Bot):\n"
        "    def choose(self, view, actions): return (Path(__file__).parent / 'secret.txt').read_text()\n"
    )
    arena(*RUN, "--bot", "late.py", "--bot", "random", "--name", "late")
    record = json.loads(Path("results/late/games.jsonl").read_text().splitlines()[0])
    [fault] = record["faults"]
    assert "No such file or directory: 'secret.txt'" in fault["detail"]
    assert "an isolated bot sees the files that it declares" in fault["detail"]


def test_a_bot_cannot_declare_files_of_runs_hidden_files_or_files_elsewhere(contest):
    Path("results", "old").mkdir(parents=True)
    Path("results", "old", "run.json").write_text("{}")
    Path(".env").write_text("x")
    for name, says in (
        ("results/old/run.json", "belongs to a run"),
        (".env", "hidden"),
        ("../home/diary", "not a file in"),
    ):
        Path("greedy.py").write_text(f"import harness\nclass Greedy(harness.Bot):\n    files = ({name!r},)\n{PLAYS}")
        with pytest.raises(PluginError, match=says):
            entering("greedy.py")


def test_a_snapshot_keeps_the_files_as_they_were_when_the_bot_was_entered(tmp_path):
    bot = tmp_path / "mine.py"
    bot.write_text("first")
    snapshot = bot_snapshot(str(bot), {"mine.py": b"first"})
    bot.write_text("second")
    place = snapshot.write(str(tmp_path))
    assert (place / "mine.py").read_text() == "first"
    assert place.name == snapshot.name
    assert snapshot.write(str(tmp_path)) == place
    assert (place / "mine.py").stat().st_mode & 0o222 == 0
    assert Snapshot({"mine.py": b"second"}).name != snapshot.name


PROGRAM = "import json, sys, os\nimport tool\nopen(os.path.join(os.path.dirname(__file__), 'book.txt'))\ntool.play()\n"
TOOL = Path(__file__).with_name("hostile") / "polite.py"


def test_a_programs_snapshot_has_its_script_its_imports_and_its_listed_files(contest):
    shutil.copy(TOOL, "tool.py")
    Path("program.py").write_text(PROGRAM)
    Path("book.txt").write_text("e4")
    command = f"prog=cmd:{sys.executable} -S program.py"
    with pytest.raises(UsageError, match=r"list what else it needs in program\.py\.files"):
        entering(command)
    Path("program.py.files").write_text("# what it reads\nbook.txt\n")
    arena(*RUN, "--bot", command, "--bot", "random", "--name", "prog", "--strict")
    files = set(files_of_command(f"{sys.executable} -S program.py").snapshot().files)
    assert files == {"program.py", "tool.py", "book.txt"}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_node_programs_snapshot_has_its_listed_modules(contest):
    bot = Path(__file__).parents[2] / "docs" / "examples" / "bots" / "elpaso.js"
    Path("node_modules", "left").mkdir(parents=True)
    Path("node_modules", "left", "index.js").write_text("module.exports = 1;\n")
    Path("package.json").write_text('{"type": "commonjs"}')
    Path("bot.js").write_text("require('left');\n" + bot.read_text())
    # Node needs threads, which strict isolation allows only if there is a cgroup.
    run = (*RUN, "--isolate=on", "--bot", "cmd:node bot.js", "--bot", "random")
    said = arena(*run, code=2).stderr
    assert "cannot be entered" in said
    Path("bot.js.files").write_text("node_modules\n")
    arena(*run, "--strict", "--name", "node")
    files = set(files_of_command("node bot.js").snapshot().files)
    assert files == {"bot.js", "package.json", "node_modules/left/index.js"}


def test_a_program_cannot_list_files_of_runs_hidden_files_or_files_elsewhere(contest):
    Path("results", "old").mkdir(parents=True)
    Path("results", "old", "run.json").write_text("{}")
    Path("x.sh").touch()
    for name, says in (
        (".", "your own files"),
        ("results/old/run.json", "run"),
        ("../home", "not in its folder"),
        (".env", "not in its folder"),
    ):
        Path("x.sh.files").write_text(name)
        with pytest.raises(UsageError, match=says):
            files_of_command("sh x.sh").snapshot()
    Path("x.sh.files").write_text("results")
    assert set(files_of_command("sh x.sh").snapshot().files) == {"x.sh"}


def test_a_program_in_a_bin_folder_can_read_only_itself_and_its_libraries(contest):
    Path("bin").mkdir()
    Path("lib").mkdir()
    Path("bin", "tool").write_text("#!/bin/sh\n")
    Path("bin", "tool").chmod(0o755)
    assert set(files_of_command("bin/tool x").installed) == {str(contest / "bin" / "tool"), str(contest / "lib")}


def test_only_the_packages_of_an_editable_install_are_readable():
    root = Path(__file__).parents[2]
    code = visible_code()
    assert str(root) not in code.readable
    assert str(root / "engines") in code.readable
    assert code.packages["engines"] == str(root / "engines" / "__init__.py")
    assert not any(Path(path) == Path.cwd() or Path.cwd().is_relative_to(path) for path in code.readable)


def test_a_working_folder_inside_a_system_folder_is_not_readable(tmp_path, monkeypatch):
    for name in ("tool/bin", "contest/results", "contest/.venv/lib"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(confine, "SYSTEM_FOLDERS", (str(tmp_path),))
    contest = tmp_path / "contest"
    seen = confine.visible_paths([str(contest / ".venv")], [str(contest), "/"])
    mine = [path for path in seen if path.startswith(str(tmp_path))]
    assert mine == [str(contest / ".venv"), str(tmp_path / "tool")]


def test_a_short_seed_causes_a_warning_if_bots_are_isolated(contest):
    field = ("tournament", "--game", "el-paso", "--deals", 1, "--workers", 1, "--bot", "random", "--bot", "skittish")
    assert "a bot can find it by trial" in arena(*field, "--isolate=on", "--seed", 98765).stderr
    assert "find it by trial" not in arena(*field, "--isolate=on", "--seed", 2**47).stderr
    assert "find it by trial" not in arena(*field, "--isolate=off", "--seed", 98765).stderr


def test_a_drawn_seed_has_full_length_and_can_be_entered_again(contest, monkeypatch):
    monkeypatch.setattr("harness.runs.setup.draw_seed", draw_seed)
    field = ("tournament", "--game", "el-paso", "--deals", 1, "--workers", 1, "--bot", "random", "--bot", "skittish")
    said = arena(*field, "--isolate=on", "--name", "drawn").stderr
    assert "find it by trial" not in said
    seed = json.loads(Path("results/drawn/run.json").read_text())["plan"]["seed"]
    assert seed.bit_length() > 100
    arena(*field, "--seed", seed, "--name", "again")
    drawn, again = (open_run(f"results/{name}") for name in ("drawn", "again"))
    assert [one.without_timing() for one in drawn] == [one.without_timing() for one in again]
    arena("verify", "results/again")


def test_a_bot_is_refused_if_its_data_changed_after_it_was_entered(contest):
    Path("weights.txt").write_text("1")
    Path("mine.py").write_text(f"import harness\nclass Mine(harness.Bot):\n    files = ('weights.txt',)\n{PLAYS}")
    [entrant] = entering("mine.py")
    Path("weights.txt").write_text("2")
    with pytest.raises(UsageError, match="mine changed after it was entered"):
        isolate(entrant, IsolationPolicy("on"), {})


def test_a_hard_link_to_a_file_of_a_run_is_refused_and_other_links_are_allowed(contest):
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", 1, "--workers", 0,
          "--name", "old", "-q")  # fmt: skip
    Path("linked.py").write_text(f"import harness\nclass Linked(harness.Bot):\n    files = ('data.txt',)\n{PLAYS}")
    Path("program.py").write_text("")
    Path("program.py.files").write_text("data.txt\n")
    Path("store").mkdir()
    Path("store", "other.txt").write_text("weights")
    for file, refused in (
        ("results/old/run.json", True),
        ("results/old/games.jsonl", True),
        ("store/other.txt", False),  # package managers do so
    ):
        Path("data.txt").unlink(missing_ok=True)
        Path("data.txt").hardlink_to(file)
        if refused:
            with pytest.raises(PluginError, match="belongs to a run"):
                entering("linked.py")
            with pytest.raises(UsageError, match="belongs to a run"):
                files_of_command("python3 program.py").snapshot()
        else:
            entering("linked.py")
            assert files_of_command("python3 program.py").snapshot().files["data.txt"] == b"weights"
    Path("data.txt").unlink()
    Path("data").mkdir()
    Path("data", "run.txt").hardlink_to("results/old/run.json")
    Path("data", "other.txt").hardlink_to("store/other.txt")
    Path("program.py.files").write_text("data\n")
    assert "data/other.txt" in (taken := files_of_command("python3 program.py").snapshot().files)
    assert "data/run.txt" not in taken
