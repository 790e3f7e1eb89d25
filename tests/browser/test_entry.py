"""What the page calls: a person's match, records checked by the rules, typed bots."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness.browser.entry import CALLS, call, opened
from harness.match.replay import HUMAN
from harness.runs.store import RunFolder
from tests.browser.support import unpacked_wheels
from tests.support.cli import arena

GAMES = ("el-paso", "gnadenlos", "x-pasch")
ENTRY = "harness.browser.entry"
LEARNED_FIRST = json.dumps([{"game": "el-paso", "bots": ["learned"], "seat": 1, "seed": 1}, []])
FORBIDDEN = ("runs", "ratings", "executors", "output", "cli", "api", "isolation")


class Caller:
    """Calls the entry as the worker does."""

    def __init__(self):
        self.page = opened()
        self.reports = []

    def answer(self, name, *arguments):
        return json.loads(call(self.page, name, json.dumps(arguments), self.reports.append))

    def __call__(self, name, *arguments):
        answer = self.answer(name, *arguments)
        assert "error" not in answer, answer
        return answer["result"]


@pytest.fixture(scope="module")
def page():
    return Caller()


def played(page, game, bots=(), seat=0, seed=7, until=10_000, choices=()):
    """A match of a person who takes the last of the legal actions."""
    table = page("start", {"game": game, "bots": bots, "seat": seat, "seed": seed}, choices)
    taken = list(choices)
    while not table["over"] and len(taken) < until:
        taken.append(table["legal"][-1]["code"])
        table |= page("choose", taken[-1])
    return table, taken


def test_the_page_loads_nothing_but_engines_bots_core_match_and_plugins(tmp_path):
    # From the wheels, so that a module they lack is missed here and not in a browser.
    packages = unpacked_wheels(tmp_path)
    code = (
        f"import sys, json; sys.path.insert(0, {str(packages)!r});"
        # The finder of an editable install would find modules that the wheel lacks.
        "sys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder).lower()];"
        f"from {ENTRY} import call, opened; page = opened(); page.about();"
        # The learned bot, which has the first choice here, reads views as numbers.
        f"table = call(page, 'start', {LEARNED_FIRST!r}, print);"
        "assert 'error' not in table, table;"
        "import harness; print(json.dumps([harness.__file__, *sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    where, *loaded = json.loads(done.stdout)
    assert where.startswith(str(packages))
    assert ENTRY in loaded
    assert "harness.adapters.encoding" in loaded  # otherwise it failed, and its choices were drawn
    assert not [name for name in loaded if name.startswith(tuple(f"harness.{package}" for package in FORBIDDEN))]
    assert not {"trueskill", "multiprocess", "dill", "click", "tabulate"}.intersection(loaded)


@pytest.mark.parametrize("game", GAMES)
def test_a_finished_match_is_a_run_that_verify_and_replay_accept(page, game, tmp_path, monkeypatch):
    table, _ = played(page, game, seat=1)
    for name, text in page("run_files").items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    [record] = RunFolder.open(tmp_path).records()
    assert record.seats[1] == HUMAN
    assert [table["scores"][seat] for seat in range(len(record.seats))]
    done = arena("verify", tmp_path, "--bots", "--isolate", "off", "--workers", "0")
    assert done.exit_code == 0, done.output
    assert "the bots decide as recorded" in done.output
    assert "human is a person" in done.output
    assert arena("replay", tmp_path, record.id, "--seat", "1").exit_code == 0


def test_a_saved_match_continues_as_it_was_left(page):
    table, choices = played(page, "el-paso", ["outlaw"], until=9)
    again, _ = played(page, "el-paso", ["outlaw"], until=9, choices=choices)
    assert again["view"] == table["view"]
    assert again["legal"] == table["legal"]


def test_choices_that_do_not_fit_are_refused_in_a_sentence(page):
    answer = page.answer("start", {"game": "el-paso", "bots": ["outlaw"], "seat": 0, "seed": 1}, [10_000])
    assert "does not continue as it was saved" in answer["error"]


def test_the_person_sees_only_what_its_seat_may_know(page):
    table = page("start", {"game": "el-paso", "bots": ["outlaw"], "seat": 0, "seed": 3})
    assert table["view"]["seat"] == table["seat"]
    assert "state" not in table


def test_a_true_record_is_true_and_a_tampered_one_says_where_it_differs(page):
    played(page, "el-paso", ["diehard"])
    line = page("run_files")["games.jsonl"]
    assert page("verify", line)["true"] is True
    record = json.loads(line)
    other = {**record, "scores": [score + 1 for score in record["scores"]]}
    found = page("verify", json.dumps(other))
    assert found["true"] is False
    assert "scores" in found["why"]
    cut = {**record, "actions": record["actions"][:-1]}
    assert page("verify", json.dumps(cut))["true"] is False
    assert page("verify", "{}")["true"] is False
    assert page("verify", json.dumps({**record, "game": "chess"}))["true"] is None
    fault = {"seat": 9, "kind": "crash", "decision": 0}
    for change in ({"seed": -1}, {"faults": [fault]}, {"seats": [], "scores": [], "ranks": [], "decisions": []}):
        assert page("verify", json.dumps({**record, **change}))["why"].startswith("This is not a record")


def test_a_hint_is_a_legal_action_and_changes_nothing(page):
    table = page("start", {"game": "x-pasch", "bots": ["founder", "raider"], "seat": 0, "seed": 3})
    advice = page("hint")
    assert advice["action"] in table["legal"]
    assert isinstance(advice["reasons"], list)
    assert page("hint") == advice


@pytest.mark.parametrize("game", GAMES)
def test_the_example_of_each_game_plays_and_is_documented(page, game):
    about = page("reference", game)
    assert all(text for _, _, text in about["view"])
    names = [name for name, _, _ in about["view"]]
    assert sorted(names) == sorted(set(names))
    assert not any("Annotated" in kind for _, kind, _ in about["view"])
    assert all(each["about"] for each in about["actions"])
    page.reports.clear()
    found = page("try_bot", game, about["example"], 12, 1, [])
    assert found["matches"] == 12
    assert page.reports == list(range(1, 13))
    assert found["faults"] == []
    assert all(share["low"] <= share["share"] <= share["high"] for share in found["shares"])


def test_a_typed_bot_that_cannot_be_loaded_names_the_line(page):
    answer = page.answer("try_bot", "el-paso", "from harness import Bot\n\nclass A(Bot:\n", 10, 1, [])
    assert answer["line"] == 3
    answer = page.answer("try_bot", "el-paso", "x = 1\ny = x / 0\n", 10, 1, [])
    assert answer["line"] == 2
    assert "ZeroDivisionError" in answer["error"]
    assert page.answer("try_bot", "el-paso", "x = 1\n", 10, 1, [])["error"]


def test_a_typed_bot_that_fails_names_the_line_and_stops_early(page):
    source = page("reference", "el-paso")["example"].replace("        stay, leave = actions", "        stay, leave = 1")
    assert "stay, leave = 1" in source.replace("    ", "").replace("stay, leave = 1", "stay, leave = 1")
    lines = source.splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.strip() == "stay, leave = 1")
    found = page("try_bot", "el-paso", source, 50, 1, [])
    assert [fault["line"] for fault in found["faults"]] == [line] * 3
    assert found["matches"] < 50


def test_a_typed_bot_becomes_the_package_of_new_bot(page, tmp_path):
    source = (
        page("reference", "el-paso")["example"]
        .replace("class MyBot", "class NightOwl")
        .replace("[MyBot]", "[NightOwl]")
    )
    name, files = page("package", "el-paso", source)
    assert name == "night-owl"
    assert files["night_owl_bot.py"].strip() == source.strip()
    assert "from night_owl_bot import NightOwl" in files["test_night_owl_bot.py"]
    without = source[: source.index("@hookimpl")].replace(", hookimpl", "")
    _, files = page("package", "el-paso", without)
    assert "return [NightOwl]" in files["night_owl_bot.py"]
    assert "from harness import hookimpl" in files["night_owl_bot.py"]


def test_only_the_calls_of_the_page_can_be_called(page):
    assert "error" in page.answer("registry")
    assert all(hasattr(page.page, name) for name in CALLS)
