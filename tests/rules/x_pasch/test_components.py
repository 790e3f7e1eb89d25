"""What is in the box (XP-1 to XP-3, XP-22) and which boxes are refused."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from engines.x_pasch import Found, Place, XPasch
from engines.x_pasch.dice import FACES, all_dice, is_triple, meets
from harness import BadComponents, BadOption, Chance, read_data_file
from tests.rules.x_pasch.scenario import at_table, company, legal

BOX = read_data_file("engines.x_pasch", "x_pasch.toml")


def test_xp1_there_are_55_companies_with_a_requirement_an_income_of_at_most_9_and_a_bonus(game: XPasch) -> None:
    assert len(game.companies) == 55
    for c in game.companies:
        assert c.number is not None or c.pair is not None
        assert 1 <= c.income <= 9
        assert c.founding >= 1
        assert c.ways


def test_xp1_every_card_of_the_file_is_a_company(game: XPasch) -> None:
    printed = Counter((c.number, c.pair, c.income, c.founding) for c in game.figures.deck.cards)
    assert printed == Counter((c.number, c.pair, c.income, c.founding) for c in game.companies)


def test_xp1_identical_cards_are_one_card_in_hand_and_two_companies_on_the_table(game: XPasch) -> None:
    twin = next(c for c in game.companies if c.card != c.company)
    first = game.companies[twin.card]
    assert (first.number, first.pair, first.income, first.founding) == (
        twin.number,
        twin.pair,
        twin.income,
        twin.founding,
    )
    dice = next(way for way in first.ways if len(way) == 1 or way[0] == way[-1])
    rolled = (*dice, *dice)[:3] if len(dice) == 1 else (*dice, dice[0] % 6 + 1)[:3]
    state = at_table(rolled, hand=[first, twin])
    assert len(legal(state, Found, card=first.card, dice=dice)) == 1
    state.apply(legal(state, Found, card=first.card, dice=dice)[0])
    assert state.table == (first.company,)
    assert state.hands[0] == (first.card,)


def test_xp1_the_second_identical_card_becomes_a_separate_company(game: XPasch) -> None:
    twin = next(c for c in game.companies if c.card != c.company)
    first = game.companies[twin.card]
    dice = min(first.ways, key=len)
    state = at_table(dice, boards={first: (0, 1, 0)}, hand=[first])
    state.apply(legal(state, Found, card=first.card, dice=dice)[0])
    assert state.table == (first.company, first.company + 1)


def test_xp2_each_player_has_all_members_and_dice_differ_only_by_face(game: XPasch) -> None:
    state = game.new(6, Chance(1))
    assert state.supply == (game.figures.members.per_player,) * 6
    assert len(state.dice) == 3
    six = company(game, number=6)
    state = at_table((6, 6, 1), boards={six: (0, 0, 0)})
    assert len(legal(state, Place, company=six.company, dice=(6,))) == 1


def test_xp3_a_pasch_is_two_dice_of_its_face_an_x_pasch_two_or_three_equal_ones() -> None:
    for face in FACES:
        assert [dice for dice in all_dice() if meets(dice, None, str(face))] == [(face, face)]
    any_pair = [dice for dice in all_dice() if meets(dice, None, "x")]
    assert any_pair == [(face,) * count for count in (2, 3) for face in FACES]


def test_xp3_a_triple_is_three_equal_dice() -> None:
    assert [dice for dice in all_dice() if is_triple(dice)] == [(face,) * 3 for face in FACES]


def test_xp22_the_target_is_an_option_with_the_default_of_the_components_file(game: XPasch) -> None:
    assert game.tables.target == game.figures.game.target
    assert XPasch.configure({"target": 40}).tables.target == 40
    with pytest.raises(BadOption, match="target"):
        XPasch.configure({"target": 1001})


def test_another_components_file_can_be_used(tmp_path: Path) -> None:
    other = tmp_path / "box.toml"
    other.write_text(BOX.replace("target = 120", "target = 90"), encoding="utf-8")
    game = XPasch.configure({"components": str(other)})
    assert game.tables.target == 90
    assert XPasch.configure({"components": str(other), "target": 30}).tables.target == 30


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ('  { pair = "x", income = 4, founding = 2 },\n', "", "length >= 55 - at `$.deck.cards`"),
        ("dice = 3", "dice = 4", "<= 3 - at `$.game.dice`"),
        ("target = 120", "target = 0", ">= 1 - at `$.game.target`"),
        ("hand_at_start = 3", "hand_at_start = 10", "<= 9 - at `$.game.hand_at_start`"),
        ("hand_at_start = 3", "hand_at_start = -1", ">= 0 - at `$.game.hand_at_start`"),
        ("hand_limit = 5", "hand_limit = 2", "hand_limit (2) is below hand_at_start (3) - at `$.game`"),
        ("triple_members = 5", "triple_members = 0", ">= 1 - at `$.game.triple_members`"),
        ("per_player = 38", "per_player = 0", ">= 1 - at `$.members.per_player`"),
        ("{ number = 1, income = 3", "{ income = 3", "neither a number nor a pair - at `$.deck.cards[0]`"),
        ("{ number = 1, income = 3", "{ number = 19, income = 3", "<= 18 - at `$.deck.cards[0].number`"),
        ("{ number = 1, income = 3", "{ number = 1, income = 10", "<= 9 - at `$.deck.cards[0].income`"),
        ("income = 3, founding = 1 }", "income = 3, founding = 0 }", ">= 1 - at `$.deck.cards[0].founding`"),
        ('pair = "1"', 'pair = "7"', "Invalid enum value '7' - at `$.deck.cards[30].pair`"),
        ("{ number = 1, income = 3", "{ nummer = 1, income = 3", "nummer"),
        ("per_player = 38", "per_player = 3", "`deck.cards[28].founding` is 4, a player has 3 members"),
        ("per_player = 38", f"per_player = {2**40}", "<= 99 - at `$.members.per_player`"),
        ("target = 120", "target = 1001", "<= 1000 - at `$.game.target`"),
        ("hand_limit = 5", "hand_limit = 56", "<= 55 - at `$.game.hand_limit`"),
        ("[members]", "[member]", "member"),
        ("[members]", "[members", "not TOML"),
    ],
)
def test_an_invalid_components_file_is_refused_with_the_reason(
    tmp_path: Path, was: str, becomes: str, says: str
) -> None:
    assert was in BOX
    broken = tmp_path / "box.toml"
    broken.write_text(BOX.replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(BadComponents, match=re.escape(says)):
        XPasch.configure({"components": str(broken)})


def test_the_description_holds_every_figure(game: XPasch) -> None:
    told = game.components()
    assert told["target"] == game.tables.target
    assert told["rounds"] == 100
    companies = told["companies"]
    assert isinstance(companies, list)
    assert [c["income"] for c in companies] == [c.income for c in game.companies]


def test_actions_are_numbered_and_have_unique_texts(game: XPasch) -> None:
    assert [action.code for action in game.actions] == list(range(len(game.actions)))
    assert len({action.text for action in game.actions}) == len(game.actions)
