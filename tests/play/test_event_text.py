"""Events in words: every event of every game, without a trace of raw data, and never more than it says."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from harness import Chance, Event, Game
from harness.match.replay import seat_names, sentences
from tests.play.support import GAMES, game
from tests.support.games import label, variants

DOCS = Path(__file__).parents[2] / "docs"
RAW = re.compile(r"[\[\]{}']|\bNone\b|\bTrue\b|\bFalse\b|  ")
DEALS = 12
NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Fay")


def events_of(played: Game) -> list[Event]:
    """What happens in some random matches with every number of players."""
    found = []
    for seed in range(DEALS):
        players = played.min_players + seed % (played.max_players - played.min_players + 1)
        log: list[Event] = []
        state, rng = played.new(players, Chance(seed), log), Random(seed)
        while state.legal:
            state.step(rng.choice(state.legal))
        found += log
    return found


@pytest.mark.parametrize("played", variants(), ids=label)
def test_every_event_is_a_sentence(played):
    for event in events_of(played):
        told = played.event_text(event, NAMES)
        assert not re.search(r"\b[Ss]eats?\b", told), told
        assert not RAW.search(told), told
        assert told[0].isupper() or told[0].isdigit(), told
        assert told.endswith((".", "!")), told


@pytest.mark.parametrize("name", GAMES)
def test_every_documented_event_has_its_own_sentence(name):
    page = (DOCS / "games" / f"{name}.md").read_text(encoding="utf-8")
    documented = set(
        re.findall(r"^\| `([a-z -]+)` \|", page.partition("## Events")[2].partition("\n## ")[0], re.MULTILINE)
    )
    told = {event.kind for event in events_of(game(name))}
    assert told <= documented
    tellers = import_module(f"engines.{name.replace('-', '_')}.event_text")._SENTENCES
    assert set(tellers) == documented


def test_el_paso_events_are_described_in_english():
    event_text = game().event_text
    nothing = [[]] * 6
    for kind, data, words in (
        ("answer", {"seat": 1, "leaves": True}, "Bob leaves."),
        ("draw", {"seat": 1, "site": 2, "value": 0}, "Bob draws a gold mine card."),
        ("draw", {"seat": 1, "site": 2, "value": 4}, "Bob draws gold mine 4, as all know."),
        ("leave", {"seats": [2], "group": 1, "limit": 1}, "Cleo goes as group 1, with up to 1 tile."),
        ("leave", {"seats": [2, 0], "group": 2, "limit": 2}, "Cleo and Ann go as group 2, with up to 2 tiles each."),
        ("sheriffs", {"seat": 0, "lost": [[2, 3], *nothing[1:]]}, "The sheriffs come: Ann loses bank 2 3."),
        (
            "sale",
            {"seat": 0, "carried": [[], [4], *nothing[2:]], "sold": [[1], *nothing[1:]], "paid": 1, "money": 9},
            "Ann carries saloon 4 and sells bank 1 for 1 nugget and has 9 now.",
        ),
        (
            "roll",
            {"faces": ["star", "six"], "stars": 4},
            "The lookout rolls star, six: 4 stars on the sheriff field.",
        ),
    ):
        assert event_text(Event(kind, data), NAMES) == words


def test_gnadenlos_events_are_described_in_english():
    event_text = game("gnadenlos").event_text
    for kind, data, words in (
        (
            "bid",
            {"seat": 0, "total": 6, "ious": [[1, 0], [2, 1], [3, 0]]},
            "Ann bids 6: 1+3 of Ann, 2 of Bob.",
        ),
        ("event", {"card": ["gold rush", 5, 3], "carried_out": True}, "The event is gold rush 5/3."),
        ("die", {"column": 2, "place": 7, "iou": [4, 2]}, "The die shows 2: 4 of Cleo is due (row 2, column 2)."),
        ("die", {"column": 2, "place": None, "iou": None}, "The die shows 2: that column is empty, payday ends."),
        ("theft", {"seat": 2, "steals": True}, "Cleo steals from the market."),
        ("theft", {"seat": 2, "steals": False}, "Cleo might steal, and does not."),
        (
            "stolen",
            {"seat": 1, "place": 0, "iou": None},
            "Bob takes an IOU that nobody knows from the market (row 1, column 1).",
        ),
        ("hat", {"seat": 1, "from": 1, "to": 1}, "The hat of Bob stays on field 1."),
        ("no event", {}, "Too few have an adventurer: there is no event."),
        ("all equal", {}, "All are equally good: nothing happens."),
        (
            "market too short",
            {"wanted": 2, "size": 1},
            "Nobody may take an IOU: 2 could be taken, the market has 1.",
        ),
        ("no bid", {"seat": 2, "hand": []}, "Cleo cannot make a new sum, bids nothing and shows its IOUs: none."),
        (
            "no bid",
            {"seat": 2, "hand": [[0, 2], [4, 1]]},
            "Cleo cannot make a new sum, bids nothing and shows its IOUs: 4 of Bob, 0 of Cleo.",
        ),
        ("shown", {"laid": [[2, [1, 2, 3]]]}, "The adventurers are turned up: Cleo 1/2/3."),
    ):
        assert event_text(Event(kind, data), NAMES) == words


def test_x_pasch_events_are_described_in_english():
    played = game("x-pasch")
    requirement = played.companies[47].requirement
    for kind, data, words in (
        ("roll", {"seat": 2, "dice": [1, 2, 5]}, "Cleo rolls 1 2 5."),
        (
            "place",
            {"seat": 0, "company": 47, "dice": [2, 2], "members": 1, "supply": 0},
            f"Ann puts 1 member on #47 ({requirement}) with 2+2; 0 left in the supply.",
        ),
        ("round", {"round": 3, "second_chance": 0}, "Round 3 begins. Ann has the second chance."),
        ("round", {"round": 1, "second_chance": None}, "Round 1 begins."),
        (
            "income",
            {"seat": 1, "companies": [[47, 4]], "euros": 9},
            f"Bob collects 4 euro (4 from #47 ({requirement})) and has 9 now.",
        ),
    ):
        assert played.event_text(Event(kind, data), NAMES) == words


def test_a_seat_reads_only_its_events_and_other_readers_see_the_audience():
    events = [
        Event("draw", {"seat": 0, "site": 0, "value": 0}),
        Event("card", {"seat": 0, "site": 0, "value": 3}, to=(0,)),
        Event("pile", {"site": 1, "order": [3, 1]}, to=()),
    ]
    assert sentences(game(), events, NAMES, 0) == ["Ann draws a bank card.", "Ann has drawn bank 3."]
    assert sentences(game(), events, NAMES, 1) == ["Ann draws a bank card."]
    assert sentences(game(), events, NAMES)[1:] == [
        "Ann has drawn bank 3.  (Ann only)",
        "The saloon pile lies, from the top: 3 1.  (hidden)",
    ]


def test_players_without_names_are_called_by_their_seats():
    assert game().event_text(Event("answer", {"seat": 1, "leaves": True})) == "seat 1 leaves."


def test_a_bot_in_several_seats_has_the_seat_in_its_names_and_the_reader_is_marked():
    assert seat_names(["miser", "debtor"]) == ["miser", "debtor"]
    assert seat_names(["random", "human", "random"], you=1) == ["random (seat 0)", "human (you)", "random (seat 2)"]


def test_a_game_without_event_text_shows_kind_and_data():
    assert Game.event_text(game(), Event("rain", {"inches": 3, "where": "here"})) == "rain: inches 3, where here"
    assert Game.event_text(game(), Event("sunset", {})) == "sunset"
    assert Game.event_text(game(), Event("bid", {"seat": 1, "dice": 3}), NAMES) == "bid: Bob, dice 3"
