"""The oracle of Gnadenlos! agrees with arena's matches, and notices when a single thing in them is wrong."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from tests.oracles.gnadenlos import Disagreement, check

Line = dict[str, Any]
TABLES = [("basic", 3), ("basic", 4), ("experienced", 3), ("experienced", 4)]
ENDINGS = {"vultures", "undertaker", "goal"}

BOTS = """
from harness import Bot

class Wild(Bot):
    def choose(self, view, actions):
        return self.rng.choice(actions)

class Least(Bot):
    def choose(self, view, actions):
        return actions[0]

class Modest(Bot):  # bids little and never buys fame
    def choose(self, view, actions):
        return actions[0] if actions[0].kind in ("buy", "bid") else self.rng.choice(actions)
"""

FAILING = """
from harness import Bot

class Crash(Bot):
    left = 5
    def choose(self, view, actions):
        self.left -= 1
        return actions[0] if self.left else 1 // 0

class Cheat(Bot):
    def choose(self, view, actions):
        return 987654
"""


def arena(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


class Run:
    """A tournament that was played, and its matches."""

    def __init__(self, folder: Path, bots: str, *arguments: str) -> None:
        (folder / "bots.py").write_text(bots)
        self.results = str(folder)
        own = ["--game", "gnadenlos", "--deals", "1", "--name", "run", "--results", self.results, "-q"]
        arena("tournament", *own, "--workers", "0", "--bot", str(folder / "bots.py"), *arguments)
        self.records = [json.loads(line) for line in (folder / "run" / "games.jsonl").read_text().splitlines()]

    def lines(self, match: str) -> list[Line]:
        printed = arena("replay", "run", match, "--json", "--results", self.results)
        return [json.loads(line) for line in printed.splitlines()]

    def of_each_ending(self, count: int) -> Iterator[list[Line]]:
        for ending in sorted({record["ending"] for record in self.records}):
            same = [record["id"] for record in self.records if record["ending"] == ending]
            yield from map(self.lines, same[:count])


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[list[Line]]]:
    played = {}
    for variant, players in TABLES:
        table = ["--option", f"variant={variant}", "--players", str(players)]
        bots = ["--bot", "random", "--bot", "debtor", "--bot", "miser"]
        run = Run(tmp_path_factory.mktemp("gnadenlos"), BOTS, *table, *bots)
        played[variant, players] = list(run.of_each_ending(2))
    return played


@pytest.mark.parametrize("table", TABLES)
def test_it_agrees_with_matches_of_every_table(matches, table):
    assert len(matches[table]) >= 3
    for lines in matches[table]:
        assert (lines[0]["options"]["variant"], lines[0]["players"]) == table
        check(lines)


def test_the_matches_end_in_every_way(matches):
    assert {lines[-1]["ending"] for played in matches.values() for lines in played} == ENDINGS


def test_it_ranks_bots_that_failed_last(tmp_path):
    run = Run(tmp_path, FAILING, "--bot", "random", "--bot", "miser", "--players", "4")
    lines = run.lines(run.records[0]["id"])
    assert len({fault["seat"] for fault in lines[-1]["faults"]}) == 2
    check(lines)
    first = lines[-1]["ranks"]
    with pytest.raises(Disagreement, match="ranks"):
        check([*lines[:-1], lines[-1] | {"ranks": first[1:] + first[:1]}])


def toml(fact: object) -> str:
    if isinstance(fact, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(value)}" for key, value in fact.items()) + "}"
    return "[" + ", ".join(map(toml, fact)) + "]" if isinstance(fact, list) else json.dumps(fact)


def seldom(components: dict[str, Any]) -> str:
    """So few adventurers and IOUs that there are too few to hire (GN-24), to bid (GN-27) and to steal (GN-17)."""
    file = {key: value for key, value in components.items() if isinstance(value, dict) or key == "zones"}
    skills = [[6, 3, 1], [3, 6, 1], [1, 3, 6], [2, 2, 2], [3, 3, 3], [4, 4, 4], [6, 3, 1], [3, 6, 1]]
    file["adventurers"] = components["adventurers"] | {"skills": skills}
    file["ious"] = components["ious"] | {"counts": {"0": 1, "1": 2, "2": 1}}
    file["start"] = components["start"] | {"market_ious": [1]}
    file["events"] = components["events"] | {"gold_rush": [[3, 1]], "high_noon": 5, "cheating": 1}
    return "".join(f"{key} = {toml(value)}\n" for key, value in file.items())


@pytest.mark.parametrize("table", TABLES)
def test_it_agrees_if_adventurers_and_ious_run_short(matches, table, tmp_path):
    variant, players = table
    (tmp_path / "seldom.toml").write_text(seldom(matches[table][0][0]["components"]))
    options = ["--option", f"variant={variant}", "--option", f"components={tmp_path / 'seldom.toml'}"]
    run = Run(tmp_path, BOTS, *options, "--players", str(players), "--bot", "random")
    played = list(run.of_each_ending(2))
    events = [(line["event"], line["data"]) for lines in played for line in lines if line["type"] == "event"]
    assert any(event == "no bid" for event, _ in events)
    if players == 4:  # a components file has to have 8 adventurers, which seldom are too few for 3
        assert any(event == "offers" and len(data["adventurers"]) < players - 1 for event, data in events)
    for lines in played:
        check(lines)


def add(*path: str | int) -> Callable[[Line], None]:
    """Makes a number one more."""

    def change(line: Line) -> None:
        *way, last = path
        inner: Any = line
        for step in way:
            inner = inner[step]
        inner[last] += 1

    return change


def happened(event: str, **facts: object) -> Callable[[Line], bool]:
    return lambda line: line.get("event") == event and facts.items() <= line["data"].items()


def chose(kind: str) -> Callable[[Line], bool]:
    return lambda line: line["type"] == "choice" and line["kind"] == kind and not line["forced"]


def last(line: Line) -> bool:
    return line["type"] == "end"


def other_answer(line: Line) -> None:
    [line["taken"]] = {action["code"] for action in line["legal"]} - {line["taken"]}


ONE = {"code": -1, "text": "steal one", "kind": "steal", "ious": 1}

TAMPERINGS: dict[str, tuple[Callable[[Line], bool], Callable[[Line], object]]] = {
    "a score": (last, add("scores", 0)),
    "a rank": (last, add("ranks", 1)),
    "the ending": (last, lambda line: line.update(ending="truncated")),
    "a score of the last event": (happened("over"), add("data", "scores", 0)),
    "a sum that could not be bid any more": (chose("bid"), lambda line: line["legal"].pop(0)),
    "a way to pay": (chose("pay"), lambda line: line["legal"].pop()),
    "the order of the ways to pay": (chose("pay"), lambda line: line["legal"].reverse()),
    "an adventurer that could not be laid": (chose("lay"), lambda line: line["legal"].pop(0)),
    "the order of the adventurers": (chose("hire"), lambda line: line["legal"].reverse()),
    "fame that could not be bought": (chose("fame"), lambda line: line["legal"].pop()),
    "a code given twice": (chose("fame"), lambda line: line["legal"][0].update(code=line["legal"][1]["code"])),
    "a code that changes": (chose("last fame"), add("legal", 0, "code")),
    "an action that is not legal": (chose("lay"), lambda line: line.update(taken=-1)),
    "the next seat": (chose("bid"), lambda line: line.update(seat=(line["seat"] + 1) % 3)),
    "a choice said to be forced": (chose("lay"), lambda line: line.update(forced=True)),
    "the number of a decision": (chose("hire"), add("decision")),
    "the start player": (happened("turn", number=2), add("data", "start")),
    "gold found": (happened("gold"), add("data", "found")),
    "gold in hand": (happened("gold"), add("data", "gold")),
    "a hat's field": (happened("hat"), add("data", "to")),
    "a market place": (happened("to market"), add("data", "place")),
    "an IOU in the market": (happened("to market"), add("data", "ious", 0, 0)),
    "a thief who could not leave it": (chose("steal"), lambda line: line["legal"].pop(0)),
    "a thief who could not steal": (chose("steal"), lambda line: line["legal"].pop()),
    "a thief who could take more": (chose("steal"), add("legal", 1, "ious")),
    "a thief who took one of two": (chose("steal"), lambda line: line["legal"].insert(1, ONE)),
    "another thief": (chose("steal"), lambda line: line.update(seat=(line["seat"] + 1) % 3)),
    "a thief said to be forced": (chose("steal"), lambda line: line.update(forced=True)),
    "what a thief has chosen": (chose("steal"), other_answer),
    "what a thief has answered": (
        happened("theft"),
        lambda line: line["data"].update(steals=not line["data"]["steals"]),
    ),
    "an answer that was hidden": (happened("theft"), lambda line: line.update(to=[line["data"]["seat"]])),
    "a theft that the market was too short for": (
        chose("steal"),
        lambda line: line.update(type="event", event="market too short", to="all", data={"wanted": 2, "size": 1}),
    ),
    "a place stolen from": (happened("stolen"), add("data", "place")),
    "how the market closes up": (happened("market closed up"), add("data", "size")),
    "a die's column": (happened("die"), lambda line: line["data"].update(column=line["data"]["column"] % 6 + 1)),
    "a die of seven": (happened("die"), lambda line: line["data"].update(column=7)),
    "a debt paid": (happened("paid"), add("data", "paid")),
    "a vulture": (happened("vulture"), add("data", "vultures")),
    "the undertaker's step": (happened("undertaker"), add("data", "step")),
    "who was shot": (happened("discarded", why="shot"), lambda line: line["data"].update(why="best")),
    "a seventh card carried out": (
        happened("event", carried_out=False),
        lambda line: line["data"].update(carried_out=1),
    ),
    "a pile that all could see": (happened("adventurers"), lambda line: line.update(to="all")),
    "a secret told to all": (happened("stolen secret"), lambda line: line.update(to="all")),
    "a secret told to nobody": (happened("stolen secret"), lambda line: line.update(to=[])),
    "a stolen set-up IOU shown": (happened("stolen", iou=None), lambda line: line["data"].update(iou=[1, 0])),
    "a deal seen by another": (happened("dealt"), lambda line: line.update(to=[0, 1])),
    "a bid that was hidden": (happened("bid"), lambda line: line.update(to=[0])),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_it_notices_a_single_change(matches, name):
    meant, change = TAMPERINGS[name]
    lines = next(lines for played in matches.values() for lines in played if any(map(meant, lines)))
    at = next(number for number, line in enumerate(lines) if meant(line))
    changed = copy.deepcopy(lines)
    change(changed[at])
    assert changed != lines
    with pytest.raises(Disagreement):
        check(changed)


def shared_thefts(matches) -> Iterator[tuple[list[Line], list[int], int]]:
    """Where several may steal: the lines of a match, where each thief answers, and where the theft ends."""
    for lines in (lines for played in matches.values() for lines in played):
        asked = [at for at, line in enumerate(lines) if line["type"] == "choice" and line["kind"] == "steal"]
        while asked:
            ends = next(at for at in range(asked[0], len(lines)) if happened("discarded")(lines[at]))
            answers = [at for at in asked if at < ends]
            asked = asked[len(answers) :]
            if len(answers) > 1:
                yield lines, answers, ends


def test_it_notices_thieves_that_answer_in_another_order(matches):
    found = 0
    for lines, (first, second, *_), _ in shared_thefts(matches):
        ends = next(
            at for at in range(second + 1, len(lines)) if not lines[at].get("event", "").startswith(("theft", "stolen"))
        )
        changed = copy.deepcopy([*lines[:first], *lines[second:ends], *lines[first:second], *lines[ends:]])
        numbers = [line["decision"] for line in lines if line["type"] == "choice"]
        for line, number in zip([line for line in changed if line["type"] == "choice"], numbers, strict=True):
            line["decision"] = number
        with pytest.raises(Disagreement, match="who chooses what"):
            check(changed)
        found += 1
    assert found > 3


def test_it_notices_a_draw_that_waits_for_the_next_answer(matches):
    found = 0
    for lines, (first, second, *_), _ in shared_thefts(matches):
        if lines[first + 1]["data"]["steals"]:
            drawn = lines[first + 2 : second]
            changed = [*lines[: first + 2], *lines[second : second + 2], *drawn, *lines[second + 2 :]]
            with pytest.raises(Disagreement, match="what happens"):
                check(changed)
            found += 1
    assert found > 1


def test_it_notices_gaps_that_are_filled_before_all_have_answered(matches):
    found = 0
    for lines, (first, second, *_), ends in shared_thefts(matches):
        if lines[first + 1]["data"]["steals"]:
            closed = next(at for at in range(second, ends) if happened("market closed up")(lines[at]))
            changed = [*lines[:second], lines[closed], *lines[second:closed], *lines[closed + 1 :]]
            with pytest.raises(Disagreement, match="type of line"):
                check(changed)
            found += 1
    assert found > 1


@pytest.mark.parametrize("table", TABLES)
def test_it_notices_a_missing_line_a_repeated_line_and_a_wrong_audience(matches, table):
    lines = matches[table][0]
    for at in random.Random(1).sample(range(len(lines)), 12):
        with pytest.raises(Disagreement):
            check([*lines[:at], *lines[at + 1 :]])
        with pytest.raises(Disagreement):
            check([*lines[:at], lines[at], *lines[at:]])
        if lines[at]["type"] == "event":
            with pytest.raises(Disagreement):
                check([*lines[:at], lines[at] | {"to": [0]}, *lines[at + 1 :]])


def test_it_says_where_lines_are_not_of_the_documented_form(matches):
    lines = matches["basic", 3][0]
    with pytest.raises(Disagreement, match="line 2: not of the documented form"):
        check([lines[0], {"type": "event"}])
