"""arena matches, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

import harness
from harness.core.errors import UnknownName
from harness.core.records import Fault, GameRecord
from harness.match.referee import ranks_with_faults
from tests.ratings.simulate import record
from tests.support.cli import arena
from tests.support.forgery import bent, write_records

TABLES = [
    ("sim-1", (50, 10), ()),
    ("sim-2", (30, 31), ()),
    ("sim-3", (20, 40), ()),
    ("sim-4", (25, 25), ()),
    ("sim-5", (40, 60), (Fault(1, "exception", 4, "b.py:3 in choose: x\nKeyError: 'y'"),)),
    ("sim-6", (41, 60), (Fault(1, "disqualified", 0, "disqualified after 1 fault, the last in sim-5"),)),
]


@pytest.fixture
def run():
    """A run of random against diehard whose records are replaced by known ones."""
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "diehard", "--deals", 1, "--name", "a", "-q")
    lines = []
    for index, (name, scores, faults) in enumerate(TABLES):
        made = record(("random", "diehard"), scores, index=index, game="el-paso", faults=faults, decisions=(index, 1))
        ranked = msgspec.structs.replace(made, id=name, ranks=ranks_with_faults(scores, faults))
        lines.append(ranked)
    write_records(Path("results/a"), lines[::-1])
    return "a"


def listed(*asked):
    return [json.loads(line) for line in arena("matches", "a", *asked, "--json").stdout.splitlines()]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((), "123456"),
        (("--bot", "random", "--won"), "1456"),
        (("--bot", "random", "--lost"), "23"),
        (("--faults",), "5"),
        (("--faults", "--bot", "random"), ""),
        (("--close",), "4"),
        (("--close", "--bot", "diehard"), "4"),
        (("--sort", "margin"), "423156"),
        (("--sort", "score"), "163524"),
        (("--sort", "score", "--bot", "random"), "165243"),
        (("--sort", "length", "--limit", 2), "65"),
        (("--reverse", "--limit", 1), "6"),
        (("--game", "el-paso", "--limit", 0), "123456"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("run")
def test_matches_are_filtered_by_the_given_conditions(asked, found):
    assert "".join(line["match"][-1] for line in listed(*asked)) == found


@pytest.mark.usefixtures("run")
def test_each_match_is_listed_with_its_margin_winner_and_faults(monkeypatch):
    lines = {line["match"]: line for line in listed()}
    assert lines["sim-1"]["margin"] == 40
    assert lines["sim-5"]["margin"] is None
    assert lines["sim-5"]["faults"] == [
        {"bot": "diehard", "seat": 1, "kind": "exception", "cause": "KeyError at b.py:3", "decision": 4}
    ]
    monkeypatch.setenv("COLUMNS", "200")
    said = " ".join(arena("matches", "a").stdout.split())
    for told in (
        "random won by 40",
        "shared by all",
        "diehard failed at 4: KeyError at b.py:3",
        "diehard disqualified",
    ):
        assert told in said


@pytest.mark.usefixtures("run")
def test_the_margin_of_a_bot_is_measured_to_the_best_other_bot():
    made = record(("random", "diehard", "other"), (10, 50, 49), game="el-paso")
    write_records(Path("results/a"), [made])
    assert [listed(*bot)[0]["margin"] for bot in ((), ("--bot", "random"), ("--bot", "diehard"))] == [1, 40, 1]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--bot", "diehart"), "Did you mean 'diehard'?"),
        (("--game", "el-pasta"), "Did you mean 'el-paso'?"),
        (("--lost",), "Name it with --bot"),
        (("--won",), "Name it with --bot"),
        (("--won", "--lost", "--bot", "random"), "both won and lost"),
        (("--sort", "size"), "'schedule', 'margin'"),
        (("--limit", -1), "--limit"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("run")
def test_invalid_filters_are_refused_with_a_hint(asked, said):
    assert said in " ".join(arena("matches", "a", *asked, code=2).stderr.split())


@pytest.mark.usefixtures("run")
def test_a_long_list_is_cut_and_fits_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ("skittish:stars=3,other=17", "diehard", "random", "ismcts:iterations=500")
    made = [record(names, (1, 20, 300, 4000), index=index, game="el-paso") for index in range(60)]
    write_records(Path("results/a"), made)
    said = arena("matches", "a")
    assert "40 more of 60 are beyond the limit. --limit 0 lists all." in said.stderr
    assert said.stdout.count("sim-1.1.") == 20
    assert max(map(len, said.stdout.splitlines())) <= 80
    assert "No match fits." in arena("matches", "a", "--faults").stderr


@pytest.mark.usefixtures("run")
def test_listing_matches_does_not_parse_actions():
    """A run of a hundred thousand matches is searched in a second or two: most of a record is its actions."""
    path = Path("results/a/games.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(bent(line, b'"actions":[]', b'"actions":"none of this is read"') for line in lines))
    assert len(listed()) == len(TABLES)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(path.read_bytes().splitlines()[0], type=GameRecord)


def test_a_bot_can_be_selected_by_its_file(tmp_path):
    bot = tmp_path / "mine.py"
    bot.write_text("from harness import Bot\nclass Mine(Bot):\n    def choose(self, v, a):\n        return a[0]\n")
    arena("tournament", "--game", "el-paso", "--bot", bot, "--bot", "random", "--deals", 1, "--name", "a")
    assert len(listed("--bot", bot)) == len(listed("--bot", "mine")) == 2


@pytest.mark.usefixtures("run")
def test_matches_can_be_filtered_from_python():
    run = harness.open_run("a")
    assert [one.match for one in run.matches("random", lost=True)] == ["sim-2", "sim-3"]
    table = run.matches(sort="margin", limit=2)
    assert (len(table), table.total) == (2, 6)
    assert "4 more of 6" in repr(table)
    assert "<table>" in table._repr_html_()
    with pytest.raises(UnknownName, match="condition for matches"):
        run.matches(losst=True)
