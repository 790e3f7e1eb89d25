"""Every text of a run or league may come from other people: no output contains its control characters or its markup."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.core.errors import ArenaError, printable
from harness.core.records import with_sum
from harness.output.leaderboard import leaderboard_tables
from harness.output.outcome import FormatResults, results_of
from harness.output.tables import FORMATS, escape_json, escape_text, text_of
from harness.runs.setup import formats_of
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder
from harness.serve.live_run import LiveRun, place_of
from tests.fuzz.formats import RAW
from tests.serve.support import reading
from tests.support.cli import arena
from tests.support.games import REGISTRY

NASTY = "\x1b]0;owned\x07\x1b[31m\u202e\u2066\n=FORGED<script>alert(1)</script>|`*[a](b)@everyone\x9b\x7f"
NOTING = """
import harness
class Noting(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        self.note({"why": "because"})
        return actions[0]
"""
FIXED = ("game", "games", "rules", "settings", "options", "limits", "format", "design", "kind", "layout", "digest")
"""Keys whose texts are not changed in the run of an installed game: with another text it could not be replayed."""


def hostile(tree, fixed=()):
    """The same data with a nasty ending of every text, except below these keys."""
    if isinstance(tree, dict):
        return {key: value if key in fixed else hostile(value, fixed) for key, value in tree.items()}
    if isinstance(tree, list):
        return [hostile(each, fixed) for each in tree]
    return tree + NASTY if isinstance(tree, str) else tree


def make_hostile(folder: Path, fixed=()):
    """Changes the texts of all files of a run or a league."""
    for path in [*folder.rglob("*.json"), *folder.rglob("*.jsonl")]:
        if path.name == "run.json":
            info = json.loads(path.read_bytes())
            changed = hostile(info, fixed)
            for game, before in zip(changed["plan"]["games"], info["plan"]["games"], strict=True):
                game["entrants"] = hostile(before["entrants"])
            changed["machine"] = {key + NASTY: value + NASTY for key, value in info["machine"].items()}
            path.write_text(json.dumps(changed))
        elif path.suffix == ".jsonl":
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            for line in lines:
                line.pop("sum", None)
            changed = [json.dumps(hostile(line, (*fixed, "what", "at")), separators=(",", ":")) for line in lines]
            summed = [with_sum(line.encode()) if path.name != "notes.jsonl" else line.encode() for line in changed]
            path.write_bytes(b"".join(line + b"\n" for line in summed))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`known`: a run of an installed game with hostile texts; `unknown`: one in which every text is hostile."""
    home = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        Path("noting.py").write_text(NOTING)
        arena("tournament", "--game", "el-paso", "--bot", "noting.py", "--bot", "random", "--deals", 2, "--workers", 0,
              "--name", "known", "--seed", 1, "-q")  # fmt: skip
        games = Path("results/known/games.jsonl")
        first, *others = games.read_bytes().splitlines(keepends=True)
        record = json.loads(first)
        record.pop("sum")
        fault = {"seat": 0, "kind": "exception", "decision": 3, "detail": "a.py:3 in choose: x\nValueError: no"}
        record |= {"faults": [{**fault, "phase": "plunder"}], "ranks": [2, 1]}
        games.write_bytes(with_sum(json.dumps(record, separators=(",", ":")).encode()) + b"\n" + b"".join(others))
        shutil.copytree("results/known", "results/unknown")
        make_hostile(Path("results/known"), FIXED)
        make_hostile(Path("results/unknown"))
        arena("league", "init", "l", "--game", "el-paso", "--seed", 17, "--players", 2)
        arena("league", "add", "outlaw", "skittish", "-L", "l", "--author", "a", "--team", "t")
        arena("league", "run", "--matches", 6, "--workers", 0, "--quiet", "-L", "l")
        arena("league", "retire", "skittish", "--reason", "bored", "-L", "l")
        shutil.copytree("l", "m")
        make_hostile(Path("l"), (*FIXED, "name", "bot", "plans"))
        make_hostile(Path("m"), FIXED)
    return home


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(text):
    """No control character, and no line that begins where a text had a line end; errors continue with two spaces."""
    found = RAW.search(text) or re.search(r"^(?!  =)\W{0,20}=FORGED", text, re.MULTILINE)
    assert not found, repr(text[max(0, found.start() - 200) : found.end() + 50])


def shown(*words):
    # With color=True click removes no escapes.
    result = CliRunner().invoke(main, [str(word) for word in words], color=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    check(result.output)
    return result.output


COMMANDS = (
    "leaderboard RUN", "leaderboard RUN --wide", "leaderboard RUN --show pairs", "leaderboard RUN --sequential",
    "leaderboard RUN --show format", "matches RUN", "matches RUN --json", "matches RUN --faults", "replay RUN 0 --all",
    "replay RUN 0 --json", "replay RUN nothing", "verify RUN", "verify RUN --json", "verify RUN --bots --workers 0",
    "ask random RUN 0", "ask random RUN 0 --json", "tournament --resume results/RUN --workers 0", "play --resume RUN",
    "compare --resume RUN", "tournament --resume results/RUN --force --workers 0", "tournament results/RUN --dry-run",
    "tournament results/RUN --save again.toml", "leaderboard RUN other", "sign RUN",
    "export RUN --to csv --table matches --table seats",
)  # fmt: skip


@pytest.mark.parametrize("run", ["known", "unknown"])
def test_no_command_prints_control_characters_of_a_run(folder, run):
    outputs = {command: shown(*command.replace("RUN", run).split()) for command in COMMANDS}
    if run == "known":  # the other one is refused by most commands
        for command in ("leaderboard RUN", "matches RUN", "replay RUN 0 --all", "verify RUN", "ask random RUN 0"):
            assert "owned" in outputs[command], outputs[command]


@pytest.mark.parametrize("league", ["l", "m"])
def test_no_command_prints_control_characters_of_a_league(folder, league):
    for command in ("show", "show --table-format json", "verify", "history outlaw --no-decisions", "run --matches 1"):
        shown("league", *command.split(), "-L", league)


def test_every_table_format_escapes_what_it_would_act_on(folder):
    run = RunFolder.open(folder / "results/known")
    tables = leaderboard_tables(boards_of(run), (), {}, True, run.info.entrants)
    for table_format in FORMATS:
        text = text_of(tables, table_format)
        for each in (text, FormatResults.text(results_of(run, formats_of(run, REGISTRY)), table_format)):
            check(each)
            if table_format == "html":
                assert "<script" not in each
            elif table_format in ("github", "pipe"):
                assert not re.search(r"(?<!\\)(<script|`(?!``)|\[a)", each), each
        if table_format in ("github", "pipe"):
            lines = [line for line in text.splitlines() if line.startswith("|")]
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
        elif table_format == "csv":
            assert {row["bot"][0] for row in csv.DictReader(text.splitlines())} <= set("nr")


def test_a_record_of_a_game_that_the_run_does_not_play_does_not_reach_a_header(folder):
    games = folder / "results/known/games.jsonl"
    first, *others = games.read_bytes().splitlines(keepends=True)
    record = json.loads(first)
    del record["sum"]
    forged = with_sum(json.dumps(record | {"game": NASTY}, separators=(",", ":")).encode()) + b"\n"
    games.write_bytes(b"".join([forged, *others]))
    for table_format in FORMATS:
        shown("leaderboard", "known", "--table-format", table_format)
    assert "which the run does not play" in shown("leaderboard", "known", "--luck-adjusted")


def test_pages_and_files_of_a_site_have_no_control_characters_and_no_foreign_markup(folder):
    shown("report", "known")
    shown("publish", "known", "--to", "site")
    files = [folder / "results/known/report.html", *(path for path in Path("site").rglob("*") if path.is_file())]
    assert len(files) > 5
    for path in files:
        if path.suffix == ".png":
            continue  # pixels
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        assert not RAW.search(text), path
        if path.suffix in (".html", ".xml"):
            assert "<script>alert" not in text, path


def test_the_live_page_sends_no_control_characters_and_no_foreign_markup(folder):
    for run in ("known", "unknown"):
        place = place_of(folder / "results" / run)
        assert place is not None
        live = LiveRun(place, REGISTRY)
        sent = b"\n".join([*live.read_updates().values(), live.matches(0)])
        sent += b"".join(b"\n" + (live.match(each) or b"{}") for each in getattr(live, "_ids", ()))
        check(sent.decode())
        for line in sent.splitlines():
            fields = json.loads(line)
            assert "<script" not in fields.get("html", "")
        with reading({NASTY: place}) as page:
            listed = page.get("/").body.decode()
            check(listed)
            assert "<script>alert" not in listed


def test_errors_and_json_keep_no_control_characters():
    assert str(ArenaError(f"a{NASTY}")).startswith("a?]0;owned??[31m??\n=FORGED")
    data = escape_json(json.dumps([NASTY, "\U000e0001", "é"], ensure_ascii=False).encode())
    assert json.loads(data) == [NASTY, "\U000e0001", "é"]
    assert data.decode().isprintable()
    assert printable("a\nb\x1b\tc", keep="\n\t") == "a\nb?\tc"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\uff1d1+1"])
def test_cells_that_a_spreadsheet_would_compute_are_quoted(text):
    assert escape_text(text, "csv")[0] in "'?"
    assert escape_text(text, "tsv")[0] in "'?"
