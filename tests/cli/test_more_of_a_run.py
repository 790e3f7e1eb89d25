"""More of a run: more deals, more rounds, bots that come late; what stays as it was, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

import harness
from harness.plugins.features import FORMATS
from harness.runs.store import RunFolder
from tests.support.cli import arena
from tests.support.forgery import edit_info, records_of, write_records
from tests.support.run_folders import records, table

BOTS = ("--bot", "random", "--bot", "skittish", "--bot", "diehard")
FIELD = ("tournament", "--game", "el-paso", "--seed", 7, "--workers", 0, "--quiet")
LATE = """
from harness import Bot

class Late(Bot):
    name = "late"

    def choose(self, view, actions):
        return actions[{place}]
"""


def play(name, *asked, bots=BOTS):
    return arena(*FIELD, *bots, *asked, "--name", name)


def extend(name, *asked, code=0):
    return arena("tournament", "--resume", name, "--workers", 0, *asked, code=code)


def late_file(name="late.py", place=-1):
    Path(name).write_text(LATE.format(place=place))
    return name


def matches_played(name):
    """Everything about the matches but what they are called and where they stand."""
    return sorted((one.seed, one.seats, one.scores, one.actions) for one in records(name).values())


def rows(*args):
    found = json.loads(arena("leaderboard", *args, "-f", "json").stdout)
    return {row["bot"]: row for row in next(iter(found.values()))}


def test_extending_deals_gives_the_same_run_as_starting_with_them():
    both = ("--game", "x-pasch", "--bot", "founder", "--bot", "raider", "--players", 3)
    play("a", *both, "--deals", 2)
    play("b", *both, "--deals", 5)
    said = extend("a", "--deals", 5).stderr
    assert "The run is extended (5 deals instead of 2): 30 matches instead of 12." in said
    assert records("a") == records("b")
    assert table("a") == table("b")
    assert "equals results/b" in arena("verify", "b", "a").stdout
    assert arena("verify", "a").exit_code == 0
    one, other = (replace(harness.open_run(name).request(), file=None) for name in "ab")
    assert one == other


def test_a_late_bot_plays_all_deals_with_every_other_bot_and_old_records_stay():
    play("a", "--players", 2, "--deals", 2)
    before = records("a")
    said = extend("a", "--bot", late_file(), "--deals", 3).stderr
    assert "(3 deals instead of 2; late joined): 36 matches instead of 12." in said
    assert {name: one for name, one in records("a").items() if name in before} == before
    assert {row["matches"] for row in rows("a").values()} == {18}  # three deals with three others, twice each
    assert arena("verify", "a").exit_code == 0
    again = extend("a", "--bot", "late.py", "--deals", 3).stderr  # as somebody types who was interrupted
    assert "late is in this run already." in again
    assert len(records("a")) == 36
    extend("a", "--deals", 4)
    assert len(records("a")) == 48
    arena("verify", "a")


def test_a_late_gauntlet_candidate_gets_the_same_result_as_from_the_start():
    # Bots that draw no lots: theirs are those of the match, by its name.
    bots = [part for place in range(3) for part in ("--bot", f"bot{place}={late_file(f'bot{place}.py', place - 1)}")]
    late_file(place="len(actions) // 2")
    asked = ("--format", "gauntlet", "--candidate", "bot1", "--players", 2, "--deals", 4)
    play("a", *asked, bots=bots)
    extend("a", "--bot", "late.py", "--candidate", "late.py")
    assert "late is in this run already." in extend("a", "--bot", "late.py", "--candidate", "late.py").stderr
    play("b", *asked, "--candidate", "late", bots=(*bots, "--bot", "late.py"))
    assert matches_played("a") == matches_played("b")
    assert records("a") != records("b")  # they have other names
    assert table("a") == table("b")  # deals that were played at different times are rated together
    assert Path("results/a/outcome.md").read_text() == Path("results/b/outcome.md").read_text()
    arena("verify", "a")


def test_an_unfinished_run_can_be_extended_and_resumed():
    play("a", "--deals", 4)
    play("b", "--deals", 6)
    folder = Path("results/a")
    write_records(folder, records_of(folder)[:5], sealed=False)
    edit_info(folder, lambda raw: raw | {"finished": "", "records": ""})
    extend("a", "--deals", 6)
    assert records("a") == records("b")


def test_a_swiss_is_extended_by_rounds_and_a_comparison_by_matches():
    play("a", "--format", "swiss:rounds=2", "--players", 2, "--deals", 1)
    play("b", "--format", "swiss:rounds=4", "--players", 2, "--deals", 1)
    said = extend("a", "--format", "swiss:rounds=4").stderr
    assert "The run is extended (rounds=4): 8 matches instead of 4." in said
    assert records("a") == records("b")
    arena("compare", "skittish", "skittish:stars=3", "--game", "el-paso", "--most", 8, "--seed", 3, "--workers", 0,
          "--name", "c", "--thorough")  # fmt: skip
    extend("c", "--deals", 12)
    assert len(records("c")) == 12
    arena("verify", "a")
    arena("verify", "c")


def test_extending_a_run_invalidates_its_signature(monkeypatch):
    pytest.importorskip("cryptography")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").resolve()))
    arena("sign", "--new-key")
    play("a", "--deals", 1)
    arena("sign", "a")
    said = extend("a", "--deals", 2).stderr
    assert "Its signature is no longer valid. Sign it again: arena sign results/a" in said
    assert "BAD" in arena("verify", "a", code=1).stdout
    arena("sign", "a")
    arena("verify", "a")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--deals", 1), "results/a has 2 deals; it can get more, not 1."),
        (("--bot", "founder"), "founder cannot play el-paso."),
        (("--bot", "diehard=skittish"), "There is a diehard in results/a already, and it is another bot"),
        (("--bot", "v2=skittish", "--bot", "v2=diehard"), "v2 is entered twice"),
        (("--bot", "skittish:stars=3", "--candidate", "skittish:stars=3"), "Candidates are for gauntlet"),
        (("--candidate", "skittish"), "skittish cannot become a candidate"),
        (("--format", "swiss"), "is a round-robin; its format cannot change"),
        (("--format", "round-robin:tables=2", "--deals", 4), "they stay as they are"),
        (("--deals", 4, "--seed", 2), "leave out --seed."),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_an_invalid_extension_is_refused_and_changes_nothing(asked, said):
    play("a", "--deals", 2)
    before = Path("results/a/run.json").read_bytes()
    assert said in " ".join(extend("a", *asked, code=2).stderr.split())
    assert Path("results/a/run.json").read_bytes() == before


def test_a_knockout_cannot_be_extended():
    play("a", "--format", "knockout", "--players", 2, "--deals", 1)
    assert "A knockout cannot be extended" in extend("a", "--deals", 2, code=2).stderr


def test_runs_of_a_format_without_extend_cannot_be_extended(monkeypatch):
    silent = dataclasses.replace(FORMATS["round-robin"], extend=None)
    monkeypatch.setitem(FORMATS, "round-robin", silent)
    play("a", "--deals", 1)
    assert "does not say how its runs could be extended" in extend("a", "--deals", 2, code=2).stderr
    assert "as large as that already" in extend("a", "--deals", 1).stderr


def test_changed_records_block_an_extension():
    play("a", "--deals", 2)
    folder = Path("results/a")
    write_records(folder, records_of(folder)[:-1], sealed=False)
    assert "not the records that the run was finished with" in extend("a", "--deals", 3, code=2).stderr


def test_extending_a_run_with_a_changed_bot_is_refused():
    late_file()
    play("a", "--deals", 1, bots=(*BOTS, "--bot", "late.py"))
    late_file(place=0)
    assert "cannot be continued: the bot late is version" in extend("a", "--deals", 2, code=2).stderr


def test_an_extension_by_another_process_is_not_overwritten():
    play("a", "--deals", 1)
    mine, theirs = RunFolder.open(Path("results/a")), RunFolder.open(Path("results/a"))
    theirs.extend(theirs.info.plan, extended=("theirs",))
    with pytest.raises(harness.ArenaError, match="changed by another process"):
        mine.extend(mine.info.plan)


def test_the_report_contains_the_commands_of_extensions():
    play("a", "--deals", 1)
    harness.tournament(resume="a", deals=2, workers=0, quiet=True)
    arena("report", "a")
    said = unescape(Path("results/a/report.html").read_text())
    assert "\nharness.tournament(resume='a', deals=2, workers=0)</pre>" in said


def test_a_class_can_join_a_run_late_from_python():
    class Last(harness.Bot):
        def choose(self, view, actions):
            return actions[-1]

    class First(harness.Bot):
        def choose(self, view, actions):
            return actions[0]

    harness.tournament("el-paso", ["random", First], deals=1, workers=0, name="a", players=2)
    run = harness.tournament(bots=[First, Last, "skittish"], deals=2, resume="a", workers=0, quiet=True)
    assert [entrant.name for entrant in run.info.entrants] == ["random", "first", "last", "skittish"]
    assert run.complete
    assert len(run) == 2 * 6 * 2
    assert run.verify().fine
    with pytest.raises(harness.UsageError, match="it can get more, not 1"):
        harness.tournament(bots=[First, Last], resume="a", deals=1)
