"""The oracle of X-Pasch agrees with whole matches of arena, and would object if anything in them were wrong."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from tests.oracles.x_pasch import Disagreement, check

Json = dict[str, Any]
Lines = list[Json]
Play = Callable[..., list[Lines]]

# What the bots of our own like best, in this order; now and then they do anything.
LIKES = {
    "Digger": ["reroll", "draw", "swap", "found"],
    "Mover": ["move", "place", "found", "draw"],
    "Late": ["found", "place", "move", "draw", "swap"],
    "Packer": ["place", "found", "draw", "keep"],
    "Builder": ["reroll", "found", "draw", "swap"],
    "Breeder": ["found", "draw", "keep"],
}
BOT = """
class {name}(Bot):
    def choose(self, view, actions):
        for kind in {likes}:
            liked = [action for action in actions if action.kind == kind]
            if liked and self.rng.random() < 0.85:
                return self.rng.choice(liked)
        return self.rng.choice(actions)
"""
IDLE = """
class {name}(Bot):
    def choose(self, view, actions):
        return self.rng.choice(actions) if self.rng.random() < 0.03 else actions[-1]
"""
FAILING = """
class {name}(Bot):
    def choose(self, view, actions):
        if self.rng.random() < 0.1:
            raise ValueError("enough")
        return self.rng.choice(actions)
"""
TABLES = [
    (60, ["random", "founder", "raider"]),
    (0, ["founder", "Late", "Mover"]),
    (1000, ["Idle1", "Idle2", "Idle3"]),
    (60, ["random", "founder", "raider", "Mover"]),
    (60, ["random", "Fails1", "Late", "Fails2"]),
    (150, ["Late", "Digger", "Packer", "Mover", "raider"]),
    (25, ["random", "founder", "raider", "Late", "Mover", "Idle1"]),
    (200, ["Builder", "Breeder", "Late", "Digger", "founder", "Mover"]),
]


def arena(*words: str) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def bot_class(name: str) -> str:
    template = {"Idle": IDLE, "Fail": FAILING}.get(name[:4], BOT)
    return template.format(name=name, likes=LIKES.get(name))


def matches(folder: Path, target: int, names: list[str], *more: str) -> Iterator[Lines]:
    """One deal in every seating, as the lines of `arena replay --json`."""
    bots = [word for name in names if name.islower() for word in ("--bot", name)]
    ours = [bot_class(name) for name in names if not name.islower()]
    if ours:
        (folder / "crowd.py").write_text("from harness import Bot\n" + "".join(ours))
        bots += ["--bot", str(folder / "crowd.py")]
    where = ["--results", str(folder)]
    rest = ["--option", f"target={target}", "--players", str(len(names)), "--deals", "1", "--name", "run", "-q"]
    rest += ["--workers", "0"]
    arena("tournament", "--game", "x-pasch", *where, *rest, *bots, *more)
    for record in (folder / "run" / "games.jsonl").read_text().splitlines():
        printed = arena("replay", "run", json.loads(record)["id"], "--json", *where)
        yield [json.loads(line) for line in printed.splitlines()]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> list[Lines]:
    """Two matches of each table."""
    played = [matches(tmp_path_factory.mktemp("table"), target, names) for target, names in TABLES]
    return [lines for table in played for lines, _ in zip(table, range(2), strict=False)]


def events(lines: Lines, name: str) -> Lines:
    return [line for line in lines if line["type"] == "event" and line["event"] == name]


def choices(lines: Lines, kind: str) -> Lines:
    """The choices of that kind between several actions."""
    return [line for line in lines if line["type"] == "choice" and line["kind"] == kind and not line["forced"]]


def test_matches_of_every_size_follow_the_rules(good: list[Lines]) -> None:
    for lines in good:
        check(lines)
    assert {lines[0]["players"] for lines in good} == {3, 4, 5, 6}
    assert {lines[-1]["ending"] for lines in good} == {"target", "truncated"}
    assert any(len(lines[-1]["faults"]) > 1 for lines in good)
    happened = [(line["event"], line["data"]) for lines in good for line in lines if line["type"] == "event"]
    kinds = "deal deck hand round income roll reroll keep found place move draw drawn stop swap swapped end"
    assert {name for name, _ in happened} == set(kinds.split())
    assert any(name == "draw" and data["pile"] == 0 for name, data in happened)  # XP-17
    assert any(name == "found" and data["company"] != data["card"] for name, data in happened)  # twins


def with_components(parts: Json, folder: Path, names: list[str]) -> list[Lines]:
    """Checked matches with other figures."""
    (folder / "other.toml").write_text(toml(parts))
    played = list(matches(folder, 120, names, "--option", f"components={folder / 'other.toml'}"))
    for lines in played:
        check(lines)
    return played


def test_matches_with_few_members_follow_the_rules(good: list[Lines], tmp_path: Path) -> None:
    parts = copy.deepcopy(good[0][0]["components"])
    parts["members"]["per_player"] = 5
    played = with_components(parts, tmp_path, ["Packer", "Mover", "Late"])
    put = [line["data"] for lines in played for line in events(lines, "place")]
    assert any(data["members"] < len(data["dice"]) for data in put)  # XP-18
    assert any(data["supply"] == 0 for data in put)


def test_triples_with_few_members_follow_the_rules(good: list[Lines], tmp_path: Path) -> None:
    parts = copy.deepcopy(good[0][0]["components"])
    parts["members"]["per_player"] = 5
    cards = [{"number": 1, "income": 1, "founding": 1}, {"pair": "x", "income": 1, "founding": 1}]
    parts["deck"]["cards"] = [cards[at % 2] for at in range(55)]
    offers: set[tuple[int, ...]] = set()
    for lines in with_components(parts, tmp_path, ["Idle1", "Idle2", "Idle3"]):
        for line in choices(lines, "dice"):
            offers.update(offers_for_a_triple(line["legal"]).values())
    assert offers == {(3,), (5,), (3, 5)}  # XP-13: only five where the company is not met; XP-18: only three


def offers_for_a_triple(legal: list[Json]) -> dict[int, tuple[int, ...]]:
    """The numbers of members that three equal dice may put on each company."""
    offers: dict[int, tuple[int, ...]] = {}
    for action in legal:
        if action["kind"] == "place" and len(action["dice"]) == 3 and len(set(action["dice"])) == 1:
            offers[action["company"]] = (*offers.get(action["company"], ()), action["members"])
    return offers


def toml(parts: Json) -> str:
    blocks = [("[game]", parts["game"]), ("[members]", parts["members"]), ("[deck]", {"source": "reconstructed"})]
    blocks += [("[[deck.cards]]", {key: card[key] for key in card if card[key]}) for card in parts["deck"]["cards"]]
    return "".join(f"{head}\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in rows.items()) for head, rows in blocks)


# The oracle can fail. Each of these changes one thing in the lines of a good match.


def a_score(lines: Lines) -> None:
    lines[-1]["scores"][0] += 1


def a_rank(lines: Lines) -> None:
    lines[-1]["ranks"].reverse()


def the_ending(lines: Lines) -> None:
    lines[-1]["ending"] = events(lines, "end")[0]["data"]["reason"] = "truncated"


def an_unpunished_fault(lines: Lines) -> None:
    winner = lines[-1]["ranks"].index(1)
    lines[-1]["faults"] = [{"seat": winner}]


def a_stand_in_without_a_fault(lines: Lines) -> None:
    last = [line for line in lines if line.get("by") == "bot"][-1]
    last["by"] = "stand-in"


def a_legal_action_gone(lines: Lines) -> None:
    line = next(line for line in choices(lines, "dice") if line["legal"][0]["code"] != line["taken"])
    del line["legal"][0]


def a_legal_action_too_many(lines: Lines) -> None:
    legal = choices(lines, "dice")[0]["legal"]
    legal.insert(0, {**legal[0], "code": 999_999, "dice": [6, 6, 6]})


def legal_actions_in_another_order(lines: Lines) -> None:
    choices(lines, "dice")[0]["legal"].reverse()


def legal_swaps_in_another_order(lines: Lines) -> None:
    legal = choices(lines, "swap")[0]["legal"]
    legal[0], legal[1] = legal[1], legal[0]


def a_code_twice(lines: Lines) -> None:
    line = choices(lines, "dice")[0]
    line["legal"][0]["code"] = line["legal"][1]["code"]


def a_code_with_two_meanings(lines: Lines) -> None:
    first, *_, last = (
        action for line in choices(lines, "dice") for action in line["legal"] if action["kind"] == "place"
    )
    assert first["code"] != last["code"]
    last["code"] = first["code"]


def an_illegal_action_taken(lines: Lines) -> None:
    choices(lines, "dice")[0]["taken"] = 999_999


def another_action_taken(lines: Lines) -> None:
    line = choices(lines, "dice")[0]
    line["taken"] = next(action["code"] for action in line["legal"] if action["code"] != line["taken"])


def a_choice_of_another_seat(lines: Lines) -> None:
    line = choices(lines, "dice")[0]
    line["seat"] = (line["seat"] + 1) % lines[0]["players"]


def a_forced_choice_as_a_decision(lines: Lines) -> None:
    line = next(line for line in lines if line.get("forced"))
    line.update(forced=False, by="bot")


def a_die_of_a_turn_that_uses_none(lines: Lines) -> None:
    turn = next(at for at, line in enumerate(lines) if line.get("event") == "roll" and lines[at + 2]["event"] == "stop")
    dice = lines[turn]["data"]["dice"]
    dice[0] = dice[0] - 1 or dice[1]
    dice.sort()


def a_seat_out_of_turn(lines: Lines) -> None:
    incomes = [at for at, line in enumerate(lines) if line.get("event") == "income"]
    lines[incomes[0]], lines[incomes[1]] = lines[incomes[1]], lines[incomes[0]]


def a_last_collection_gone(lines: Lines) -> None:
    assert [line.get("event") for line in lines[-4:-1]] == ["income", "income", "end"]
    del lines[-3]


def two_cards_of_the_deck(lines: Lines) -> None:
    cards = events(lines, "deck")[0]["data"]["cards"]
    other = next(at for at, card in enumerate(cards) if card != cards[0] and at >= lines[0]["players"])
    cards[0], cards[other] = cards[other], cards[0]


def a_line_after_the_end(lines: Lines) -> None:
    lines.append(lines[-1])


def no_end(lines: Lines) -> None:
    del lines[-1]


def the_target(lines: Lines) -> None:
    lines[0]["options"]["target"] += 1


def a_way_to_meet_a_company(lines: Lines) -> None:
    lines[0]["components"]["companies"][8]["ways"].pop()


TAMPERINGS = [
    a_score,
    a_rank,
    the_ending,
    an_unpunished_fault,
    a_stand_in_without_a_fault,
    a_legal_action_gone,
    a_legal_action_too_many,
    legal_actions_in_another_order,
    legal_swaps_in_another_order,
    a_code_twice,
    a_code_with_two_meanings,
    an_illegal_action_taken,
    another_action_taken,
    a_choice_of_another_seat,
    a_forced_choice_as_a_decision,
    a_die_of_a_turn_that_uses_none,
    a_seat_out_of_turn,
    a_last_collection_gone,
    two_cards_of_the_deck,
    a_line_after_the_end,
    no_end,
    the_target,
    a_way_to_meet_a_company,
]


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda tamper: tamper.__name__)
def test_the_oracle_rejects_a_tampered_match(tamper: Callable[[Lines], None], good: list[Lines]) -> None:
    objected = 0
    for lines in good:
        if objected == 2:
            break
        changed = copy.deepcopy(lines)
        try:
            tamper(changed)
        except (AssertionError, StopIteration, IndexError, ValueError):
            continue  # nothing of the kind in this match
        if changed == lines:
            continue
        with pytest.raises(Disagreement):
            check(changed)
        objected += 1
    assert objected


def another(value: Any) -> Any:
    """A value of the same form that is not the same."""
    if isinstance(value, list):
        return [*value[:-1], another(value[-1])] if value else [0]
    if isinstance(value, str):
        return value + "?"
    return 0 if value is None else value + 1


def test_the_oracle_rejects_a_wrong_value_in_any_kind_of_event(good: list[Lines]) -> None:
    seen: set[tuple[str, str]] = set()
    for lines in good:
        for at, line in enumerate(lines):
            for key in line.get("data", {}):
                if line["event"] == "roll" and key == "dice":
                    continue  # luck, unless it leads to something impossible: see above
                if (line["event"], key) not in seen:
                    seen.add((line["event"], key))
                    wrong = {**line, "data": {**line["data"], key: another(line["data"][key])}}
                    with pytest.raises(Disagreement):
                        check([*lines[:at], wrong, *lines[at + 1 :]])
    assert len(seen) > 40


def test_the_oracle_rejects_a_wrong_audience_of_any_kind_of_event(good: list[Lines]) -> None:
    seen: set[str] = set()
    for lines in good:
        for at, line in enumerate(lines):
            if line["type"] == "event" and line["event"] not in seen:
                seen.add(line["event"])
                for to in ("all", [], [0, 1]):
                    if to != line["to"]:
                        with pytest.raises(Disagreement, match="who sees"):
                            check([*lines[:at], {**line, "to": to}])
    assert len(seen) == 17
