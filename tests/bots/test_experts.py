"""The experts know the answer where a person would, never fail, and beat the characters of their game."""

from __future__ import annotations

from importlib import resources
from itertools import product
from time import process_time
from typing import Any

import pytest
from msgspec.structs import replace

from bots.broker import Broker, paydays
from bots.debtor import Debtor
from bots.hustler import Hustler
from bots.miser import Miser
from bots.outlaw import Outlaw
from bots.tycoon import Tycoon, reach
from engines.el_paso import SITES, ElPaso, Leave, Play, Site, Stay
from engines.gnadenlos import Buy, Gnadenlos, Iou
from engines.x_pasch import Place, XPasch
from harness import Bot, Chance, Game
from harness.conformance.bot_check import check_bot
from harness.core.records import MatchSpec
from harness.match import referee
from harness.match.referee import play
from harness.plugins.entrants import Entrant, enter
from harness.plugins.registry import load

CHARACTERS = {
    "el-paso": ["diehard", "skittish"],
    "gnadenlos": ["debtor", "miser"],
    "x-pasch": ["founder", "raider"],
}
EXPERTS = {"el-paso": ["outlaw"], "gnadenlos": ["broker"], "x-pasch": ["tycoon", "hustler"]}
SETTINGS = [
    ("el-paso", {"edition": "de"}),
    ("el-paso", {"edition": "nl"}),
    ("el-paso", {"edition": "bg"}),
    ("gnadenlos", {"variant": "basic"}),
    ("gnadenlos", {"variant": "experienced"}),
    ("x-pasch", {"target": 120}),
    ("x-pasch", {"target": 30}),
]
MAX_MS = 2


def seated(bot: type[Bot], game: Game[Any], players: int, seat: int = 0) -> Any:
    player = enter(bot, {}, "", "", "").seat(game, seat, players, 1)
    player.start()
    return player


def records(game: Game[Any], entrants: list[Entrant], deals: int):
    """Every deal once with each rotation of the seats."""
    for seed in range(deals):
        for turn in range(len(entrants)):
            seats = entrants[turn:] + entrants[:turn]
            names = tuple(entrant.name for entrant in seats)
            yield play(MatchSpec(f"{seed}.{turn}", 0, "", game.name, dict(game.settings), seed, names), game, seats)


def shares(game: str, expert: str, players: int, deals: int) -> dict[str, float]:
    """How often an expert finishes ahead of each character, ties counting half, and what it costs in ms."""
    entrants = load().entrants([expert, *CHARACTERS[game], "random"])[:players]
    ahead = dict.fromkeys([entrant.name for entrant in entrants if entrant.name != expert], 0.0)
    seconds = decisions = matches = 0.0
    for record in records(load().game(game).configure(), entrants, deals):
        assert not record.faults
        mine = record.seats.index(expert)
        seconds, decisions, matches = seconds + record.time[mine], decisions + record.decisions[mine], matches + 1
        for name, score in zip(record.seats, record.scores, strict=True):
            if name != expert:
                ahead[name] += (record.scores[mine] > score) + 0.5 * (record.scores[mine] == score)
    return {name: count / matches for name, count in ahead.items()} | {"ms": 1000 * seconds / decisions}


@pytest.mark.parametrize(
    ("game", "expert", "least"),
    [
        ("el-paso", "outlaw", 0.9),
        ("gnadenlos", "broker", 0.65),
        ("x-pasch", "tycoon", 0.58),
        ("x-pasch", "hustler", 0.58),
    ],
)
def test_an_expert_beats_every_character_and_is_quick(game, expert, least, monkeypatch):
    monkeypatch.setattr(referee, "perf_counter", process_time)  # the bot's own time, whatever else the machine does
    found = shares(game, expert, 4, 20)
    assert found.pop("ms") < MAX_MS
    assert min(found.values()) > least, found


@pytest.mark.parametrize(("game", "expert"), [("el-paso", "outlaw"), ("gnadenlos", "broker"), ("x-pasch", "tycoon")])
def test_an_expert_that_explains_itself_gives_a_reason_for_each_choice_and_decides_alike(game, expert):
    registry = load()
    rules, notes = registry.game(game).configure(), []
    spec = MatchSpec("1", 0, "", game, dict(rules.settings), 7, ("a", "b", "c"))
    rivals = registry.entrants(CHARACTERS[game][:2])
    quiet, explaining = registry.entrants([expert, f"explained={expert}:explain=true"])
    records = [play(spec, rules, [quiet, *rivals], notes=notes)]
    assert notes == []
    records.append(play(spec, rules, [explaining, *rivals], notes=notes))
    assert records[0].actions == records[1].actions
    assert len(notes) == records[1].decisions[0]
    assert all(len(note.said) == 1 and len(note.said[0]) < 300 for note in notes)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_the_expert_is_fit_with_any_options_and_any_number_of_players(name, options):
    registry = load()
    for expert in EXPERTS[name]:
        check_bot(registry.bots[expert].cls, [registry.game(name).configure(options)], only=[name]).demand()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_no_bundled_bot_of_the_default_field_ever_fails(name, options):
    registry = load()
    game = registry.game(name).configure(options)
    field = sorted(bot for bot, offer in registry.bots.items() if offer.cls.by_default)
    entrants = [entrant for entrant in registry.entrants(field) if entrant.plays(name)]
    for players, first in product(range(game.min_players, game.max_players + 1), range(len(entrants))):
        for record in records(game, (entrants[first:] + entrants * 2)[:players], 20):
            assert not record.faults


# Outlaw


def at_an_answer(stars: int, tiles: tuple[tuple[int, ...], ...]) -> tuple[ElPaso, Any]:
    """A view of a player who is asked to stay or leave, with so many stars and these tiles."""
    game = ElPaso.configure()
    state = game.new(3, Chance(4))
    while state.phase != "answer":
        state.step(state.legal[0])
    view = state.view(state.seat)
    owned = list(view.tiles)
    owned[view.seat] = tiles
    return game, replace(view, stars=stars, tiles=tuple(owned))


RICH = ((5, 4), (6,), (5,), (), (), ())
POOR: tuple[tuple[int, ...], ...] = ((),) * 6


@pytest.mark.parametrize(("stars", "tiles", "answer"), [(4, RICH, Leave), (0, RICH, Stay), (4, POOR, Stay)])
def test_outlaw_leaves_with_much_to_lose_and_stays_with_nothing(stars, tiles, answer):
    game, view = at_an_answer(stars, tiles)
    bot = seated(Outlaw, game, 3, view.seat)
    assert isinstance(bot.choose(view, game.table.answers), answer)


def test_outlaw_values_a_tile_by_the_towns_ahead():
    game = ElPaso.configure()
    bot = seated(Outlaw, game, 3)
    # Cheyenne has no gold mine, so gold from Deadwood sells there at its value; horses sell at a quarter.
    gold, horses = bot.carried_on[0][2], bot.carried_on[0][5]
    assert gold > horses > 1 / 4
    assert bot.carried_on[-1] == [1.0] * 6


def test_outlaw_plays_with_dice_that_never_open_the_saloon(tmp_path):
    file = tmp_path / "dry.toml"
    text = resources.files("engines.el_paso").joinpath("data/el_paso.toml").read_text(encoding="utf-8")
    file.write_text(text.replace('"six", "six"', '"brand", "brand"', 1), encoding="utf-8")
    game = ElPaso.configure({"components": str(file)})
    assert "six" not in game.figures.dice.faces
    state = game.new(2, Chance(4))
    while state.phase != "play":
        state.step(state.legal[0])
    view = state.view(state.seat)
    hands = [tuple((0, 0) if site == Site.SALOON else () for site in SITES)] * 2  # the rival is drawn nowhere
    view = replace(view, hands=tuple(hands), hand=((1,),) * len(SITES), stacks=((3, 5),) * len(SITES))
    plays = [action for action in game.actions if isinstance(action, Play) and action.value == 1]
    chosen = seated(Outlaw, game, 2, view.seat).choose(view, plays)
    assert isinstance(chosen, Play)
    assert chosen.site != Site.SALOON


# Tycoon


def test_reach_counts_what_a_roll_can_bring():
    by_hand = sum(6 in roll for roll in product(range(1, 7), repeat=3)) / 216
    assert reach(((6,),)) == pytest.approx(by_hand)
    assert reach(()) == 0
    assert reach(((1,), (1, 1))) > reach(((1,),)) > reach(((1, 1, 1),))


def test_tycoon_takes_the_lead_where_one_member_decides():
    game = XPasch.configure()
    state = game.new(3, Chance(1))
    twelve = next(c for c in game.companies if c.number == 12 and c.pair is None)
    three = next(c for c in game.companies if c.number == 3)
    view = replace(
        state.view(0),
        dice=(3, 6, 6),
        hand=(),
        hand_sizes=(0, 3, 3),
        table=(three.company, twelve.company),
        members=((0, 0, 0), (2, 3, 0)),
        placed=(0, 0),
        income=(0, twelve.income, 0),
        pile=len(game.companies) - 8,
    )
    bot = seated(Tycoon, game, 3)
    legal = game.imagine(view, bot.rng).legal
    first = bot.choose(view, legal)
    planned = [first, *bot.steps]
    assert {(action.company, action.dice) for action in planned if isinstance(action, Place)} == {
        (three.company, (3,)),
        (twelve.company, (6, 6)),
    }


def test_tycoon_does_not_carry_a_plan_over_to_the_next_turn():
    game = XPasch.configure()
    state = game.new(3, Chance(5))
    bot = seated(Tycoon, game, 3)
    bot.choose(state.view(0), state.legal)
    bot.steps = [state.legal[-1]]  # a stop that was never asked for
    later = replace(state.view(0), round=2)
    bot.choose(later, game.imagine(later, bot.rng).legal)
    assert bot.round == 2


def test_tycoon_makes_a_new_plan_after_its_second_chance():
    game = XPasch.configure()
    state = game.new(3, Chance(5))
    bot = seated(Tycoon, game, 3)
    view = state.view(0)
    bot.round, bot.steps = view.round, [game.tables.draw_or_stop[1]]  # a stop left over from an earlier game's turn
    again = (*[game.tables.rerolls[face] for face in dict.fromkeys(view.dice)], game.tables.keep)
    bot.choose(replace(view, phase="reroll"), again)
    assert bot.steps == []


# Hustler


def at_the_twelve(**changes: Any) -> tuple[XPasch, int, Any]:
    """The game, its company that requires a twelve, and a view of seat 0, who is one member behind there."""
    game = XPasch.configure()
    twelve = next(company for company in game.companies if company.number == 12 and company.pair is None)
    view = replace(
        game.new(3, Chance(1)).view(0),
        dice=(3, 6, 6),
        hand=(),
        hand_sizes=(0, 3, 3),
        table=(twelve.company,),
        members=((2, 3, 0),),
        placed=(0,),
        income=(0, twelve.income, 0),
        pile=len(game.companies) - 7,
    )
    return game, twelve.company, replace(view, **changes)


def test_hustler_takes_the_lead_where_one_member_decides():
    game, twelve, view = at_the_twelve()
    bot = seated(Hustler, game, 3)
    chosen = bot.choose(view, game.imagine(view, bot.rng).legal)
    assert isinstance(chosen, Place)
    assert (chosen.company, chosen.dice) == (twelve, (6, 6))


@pytest.mark.parametrize(("dice", "again"), [((3, 6, 6), 3), ((6, 6, 6), None), ((1, 2, 2), 1)])
def test_hustler_rolls_again_what_it_does_not_need(dice, again):
    game, _, view = at_the_twelve(phase="reroll", dice=dice)
    actions = (*[game.tables.rerolls[face] for face in dict.fromkeys(dice)], game.tables.keep)
    wanted = game.tables.rerolls[again] if again else game.tables.keep
    assert seated(Hustler, game, 3).choose(view, actions) is wanted


# Broker


def test_an_imagined_payday_turns_up_the_outermost_of_a_column_first():
    for turned in paydays(18, 6):
        assert len(set(turned)) == len(turned)
        for column in range(6):
            rows = [place // 6 for place in turned if place % 6 == column]
            assert rows == list(range(2, 2 - len(rows), -1))
    assert paydays(0, 6) == [()] * len(paydays(0, 6))


@pytest.mark.parametrize(("vultures", "spends"), [(0, True), (2, False)])
def test_broker_keeps_its_gold_when_another_vulture_would_ruin_it(vultures, spends):
    game = Gnadenlos.configure()
    state = game.new(3, Chance(1))
    view = replace(
        state.view(0),
        phase="fame",
        turn=0,
        event=None,
        gold=(8, 8, 8),
        vultures=(vultures, 0, 0),
        market=(Iou(1, 0), Iou(2, 1), Iou(2, 0)) * 5,
    )
    bot = seated(Broker, game, 3)
    bought = bot.choose(view, game.table.buys[5])
    assert isinstance(bought, Buy)
    assert (bought.gold > 0) is spends


@pytest.mark.parametrize("bot", [Broker, Miser, Debtor])
def test_bots_steal_whenever_they_may(bot):
    game = Gnadenlos.configure()
    state = game.new(3, Chance(1))
    while state.phase != "steal":
        state.step(state.legal[0])
    assert seated(bot, game, 3, state.seat).choose(state.view(state.seat), state.legal) is state.legal[1]


def test_broker_pays_with_ious_of_other_players():
    game = Gnadenlos.configure()
    state = game.new(3, Chance(1))
    hand = tuple(sorted((Iou(3, 0), Iou(3, 1), Iou(4, 0))))
    view = replace(state.view(0), phase="pay", announced=3, hand=hand)
    bot = seated(Broker, game, 3)
    assert bot.choose(view, game.bids.ways(hand, 3)).ious == (Iou(3, 1),)
