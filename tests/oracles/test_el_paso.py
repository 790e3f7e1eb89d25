"""Matches of El Paso, played and printed by the command line, agree with the rules; tampered ones do not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.main import main

from .el_paso import Disagreement, check

Json = dict[str, Any]
Lines = list[Json]

FIELD = ["diehard", "skittish:stars=4", "random", "skittish:stars=1", "skittish:stars=3"]
EDITIONS = ["de", "nl", "bg"]


def arena(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--results", str(folder)])
    assert done.exit_code == 0, done.output
    return done.stdout


def matches(folder: Path, edition: str, players: int, *more: str) -> list[Lines]:
    """Play one deal in every seating and print three matches at most."""
    entrants = [word for name in FIELD[:players] for word in ("--bot", name)]
    setting = ["--game", "el-paso", "--option", f"edition={edition}", "--players", str(players + more.count("--bot"))]
    arena(
        folder,
        "tournament",
        *setting,
        *entrants,
        *more,
        "--deals",
        "1",
        "--seed",
        "3",
        "--name",
        "run",
        "-q",
        "--workers",
        "0",
    )
    ids = [json.loads(line)["id"] for line in (folder / "run" / "games.jsonl").read_text().splitlines()]
    prints = [arena(folder, "replay", "run", name, "--json") for name in ids[:3]]
    return [[json.loads(line) for line in text.splitlines()] for text in prints]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return matches(tmp_path_factory.mktemp("good"), "de", 4)[0]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("edition", EDITIONS)
def test_matches_agree_with_the_rules(tmp_path: Path, edition: str, players: int) -> None:
    for lines in matches(tmp_path, edition, players):
        assert (lines[0]["options"]["edition"], lines[0]["players"]) == (edition, players)
        check(lines)


def write_small_box(parts: Json, path: Path) -> None:
    """Two tiles and five cards a site: towns are soon empty (EP-23), and draws are often forced (EP-17)."""
    tiles = {site: values[1:3] for site, values in parts["tiles"].items() if site != "source"}
    tables = {"[dice]": parts["dice"], "[cards]": parts["cards"] | {"values": [1, 2, 3, 4, 5]}}
    tables["[tiles]"] = tiles | {"source": "reconstructed"}
    tables |= {f"[editions.{name}]": rules for name, rules in parts["editions"].items()}
    blocks = [*tables.items(), *(("[[towns]]", town) for town in parts["towns"])]
    text = [line for head, facts in blocks for line in (head, *(f"{k} = {json.dumps(v)}" for k, v in facts.items()))]
    path.write_text("\n".join(text) + "\n")


@pytest.mark.parametrize("edition", EDITIONS)
def test_matches_with_few_tiles_and_cards_agree_with_the_rules(tmp_path: Path, good: Lines, edition: str) -> None:
    write_small_box(good[0]["components"], tmp_path / "small.toml")
    played = matches(tmp_path, edition, 5, "--option", f"components={tmp_path / 'small.toml'}")
    assert any(line["forced"] for lines in played for line in lines if line["type"] == "choice")
    for lines in played:
        check(lines)


def test_a_match_of_bots_that_fail_agrees_with_the_rules(tmp_path: Path) -> None:
    clumsy = tmp_path / "clumsy.py"
    clumsy.write_text(
        "from harness import Bot\nclass Clumsy(Bot):\n    def choose(self, view, actions):\n"
        "        return actions[0] if view.town < 2 else None\n"
    )
    lines = matches(tmp_path, "bg", 3, "--bot", str(clumsy))[0]
    assert any(line.get("by") == "stand-in" for line in lines)
    check(lines)


@pytest.mark.parametrize("edition", ["nl", "bg"])
def test_a_match_of_one_edition_disagrees_with_the_rules_of_another(good: Lines, edition: str) -> None:
    lines = copy.deepcopy(good)
    lines[0]["options"]["edition"] = lines[0]["components"]["edition"] = edition
    with pytest.raises(Disagreement):
        check(lines)


def facts(lines: Lines, event: str, suits: Callable[[Json], object] = bool) -> Json:
    """The data of the first such event."""
    return next(line["data"] for line in lines if line.get("event") == event and suits(line["data"]))


def event(lines: Lines, kind: str) -> Json:
    return next(line for line in lines if line.get("event") == kind)


def choice(lines: Lines, kind: str) -> Json:
    return next(line for line in lines if line["type"] == "choice" and line["kind"] == kind)


def add(holder: Any, key: Any, amount: int = 1) -> None:
    holder[key] += amount


def put(holder: Any, key: Any, value: Any) -> None:
    holder[key] = value


def other_face(lines: Lines, face: str, instead: str) -> None:
    faces = facts(lines, "roll", lambda data: face in data["faces"])["faces"]
    faces[faces.index(face)] = instead


def fail_the_winner(lines: Lines) -> None:
    lines[-1]["faults"].append({"seat": lines[-1]["ranks"].index(1), "kind": "timeout", "decision": 0, "detail": ""})


def take_another(lines: Lines, kind: str) -> None:
    line = choice(lines, kind)
    line["taken"] = next(entry["code"] for entry in line["legal"] if entry["code"] != line["taken"])


def two_values(data: Json) -> bool:
    """More than one card was laid or turned over."""
    return len(data["values" if "values" in data else "order"]) > 1


def draw_the_same_tile_often(lines: Lines) -> None:
    drawn = facts(lines, "town")["drawn"]
    drawn[:] = [drawn[0]] * len(drawn)


def bury(stacks: list[list[int]]) -> None:
    """Turn the first stack of different values upside down."""
    next(stack for stack in stacks if len(set(stack)) > 1).reverse()


TAMPERS: dict[str, Callable[[Lines], None]] = {
    "a score": lambda m: add(m[-1]["scores"], 0),
    "a rank": lambda m: add(m[-1]["ranks"], 0),
    "a winner whose bot failed": fail_the_winner,
    "an ending": lambda m: put(m[-1], "ending", "truncated"),
    "a printed figure": lambda m: add(m[0]["components"]["editions"]["de"], "tiles_per_town"),
    "a rate": lambda m: add(m[0]["components"]["towns"][0], "rate"),
    "a legal answer removed": lambda m: choice(m, "answer")["legal"].pop(),
    "a legal card removed": lambda m: choice(m, "play")["legal"].pop(),
    "a legal tile removed": lambda m: choice(m, "carry")["legal"].pop(),
    "a legal pile removed": lambda m: choice(m, "draw")["legal"].pop(),
    "a legal tile twice": lambda m: choice(m, "carry")["legal"].append(choice(m, "carry")["legal"][-1]),
    "a legal list in another order": lambda m: choice(m, "play")["legal"].reverse(),
    "a code for two actions": lambda m: put(choice(m, "play")["legal"][0], "code", 0),
    "an action not in the list": lambda m: put(choice(m, "play"), "taken", -1),
    "another answer taken": lambda m: take_another(m, "answer"),
    "another card taken": lambda m: take_another(m, "play"),
    "another pile taken": lambda m: take_another(m, "draw"),
    "a free choice called forced": lambda m: put(choice(m, "play"), "forced", True),
    "a stand-in for nobody": lambda m: put(choice(m, "play"), "by", "stand-in"),
    "a decision not counted": lambda m: add(choice(m, "draw"), "decision"),
    "a wrong next seat": lambda m: put(choice(m, "answer"), "seat", (choice(m, "answer")["seat"] + 1) % 4),
    "a pile that is no permutation": lambda m: put(facts(m, "pile")["order"], 0, facts(m, "pile")["order"][1]),
    "a pile in another order": lambda m: facts(m, "pile")["order"].reverse(),
    "a hand not dealt": lambda m: put(facts(m, "hand")["cards"][0], 1, 9),
    "one tile too few": lambda m: facts(m, "town")["drawn"].pop(),
    "tiles not in the bag": draw_the_same_tile_often,
    "a stack upside down": lambda m: bury(facts(m, "town")["stacks"]),
    "a wrong lookout": lambda m: add(facts(m, "town"), "lookout"),
    "an answer not given": lambda m: put(facts(m, "answer"), "leaves", not facts(m, "answer")["leaves"]),
    "a wrong group": lambda m: add(facts(m, "leave"), "group"),
    "a wrong limit": lambda m: add(facts(m, "leave"), "limit"),
    "a sale off by one": lambda m: add(facts(m, "sale", lambda data: data["paid"]), "paid"),
    "money off by one": lambda m: add(facts(m, "sale"), "money"),
    "a tile neither carried nor sold": lambda m: max(facts(m, "sale", lambda data: any(data["sold"]))["sold"]).pop(),
    "a card not played": lambda m: add(facts(m, "cards")["cards"][0], "value"),
    "a die without that face": lambda m: other_face(m, "brand", "skull"),
    "a star that was no star": lambda m: other_face(m, "brand", "star"),
    "a star too few": lambda m: other_face(m, "star", "six"),
    "a star not counted": lambda m: add(facts(m, "roll"), "stars", -1),
    "a loot value": lambda m: add(facts(m, "loot"), "value"),
    "a looter": lambda m: put(facts(m, "loot"), "seat", (facts(m, "loot")["seat"] + 1) % 4),
    "a tile kept from the sheriffs": lambda m: max(facts(m, "sheriffs", lambda d: any(d["lost"]))["lost"]).pop(),
    "a player the sheriffs missed": lambda m: m.remove(event(m, "sheriffs")),
    "a discard laid lowest first": lambda m: facts(m, "discard", two_values)["values"].reverse(),
    "a discard turned over shuffled": lambda m: facts(m, "turned-over", two_values)["order"].reverse(),
    "a pile not turned over": lambda m: m.remove(event(m, "turned-over")),
    "somebody who does not draw": lambda m: facts(m, "drawing-order")["seats"].pop(),
    "a hidden card told": lambda m: put(facts(m, "draw"), "value", facts(m, "card")["value"]),
    "a known card hidden": lambda m: put(facts(m, "draw", lambda data: data["value"]), "value", 0),
    "a card not drawn": lambda m: add(facts(m, "card"), "value"),
    "a town over for no reason": lambda m: put(facts(m, "town-over"), "why", "nothing to plunder"),
    "a tile left in town forgotten": lambda m: max(facts(m, "town-over", lambda d: any(d["left"]))["left"]).pop(),
    "a final sale off by one": lambda m: add(facts(m, "final-sale"), "money"),
    "a pile all can see": lambda m: put(event(m, "pile"), "to", "all"),
    "a pile one seat can see": lambda m: put(event(m, "pile"), "to", [0]),
    "a hand all can see": lambda m: put(event(m, "hand"), "to", "all"),
    "a drawn card all can see": lambda m: put(event(m, "card"), "to", "all"),
    "a drawn card shown to two": lambda m: event(m, "card")["to"].append(9),
    "loot not all can see": lambda m: put(event(m, "loot"), "to", [0]),
    "an event missing": lambda m: m.remove(event(m, "laid")),
    "an event twice": lambda m: m.insert(m.index(event(m, "loot")), event(m, "loot")),
    "a fact too many": lambda m: put(facts(m, "laid"), "value", 1),
    "no end": lambda m: put(m, slice(-1, None), []),
    "a line after the end": lambda m: m.append(m[-1]),
    "a line of another kind": lambda m: put(m[20], "type", "remark"),
}


@pytest.mark.parametrize("what", TAMPERS)
def test_a_tampered_match_disagrees(good: Lines, what: str) -> None:
    lines = copy.deepcopy(good)
    TAMPERS[what](lines)
    assert lines != good
    with pytest.raises(Disagreement):
        check(lines)


def test_the_untampered_match_agrees_with_the_rules(good: Lines) -> None:
    check(good)
