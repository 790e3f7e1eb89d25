"""What a configured game works out once: the action table, and what each set of dice can do with each company."""

# mypyc compiles this module: plain classes with typed attributes, because it silently loses what makes structs and
# dataclasses frozen, and reads typed attributes like fields of a C struct.

from __future__ import annotations

from itertools import product
from typing import Any

from engines.x_pasch.actions import Draw, Found, Keep, Move, Place, Reroll, Stop, Swap
from engines.x_pasch.components import Company, Components, companies_of
from engines.x_pasch.dice import DICE, FACES, Dice, all_dice, interned, is_triple, parts, shown, without
from harness import Action, Game

Actions = tuple[Action, ...]
Ways = dict[Dice, Actions]


class Roll:
    """The uses of a set of unused dice."""

    __slots__ = ("again", "few", "found", "place", "rest", "triple")

    again: Actions
    """The dice that can be rolled again, and to keep them (XP-7)."""
    found: tuple[Actions, ...]
    """For each card, the ways to found it."""
    place: tuple[Actions, ...]
    """For each company, the ways to put members on it."""
    few: tuple[Actions, ...]
    """The same when the supply is so small that a triple's bonus adds nothing to its three dice (XP-18)."""
    rest: dict[Dice, Dice]
    """The dice that are left when some are used."""
    triple: bool

    def __init__(self, dice: Dice, again: Actions, found: list[Ways], place: list[Ways]) -> None:
        used = parts(dice)
        self.again = again
        self.rest = {part: interned(without(dice, part)) for part in used}
        self.found = tuple([_gathered(ways, used) for ways in found])
        self.place = tuple([_gathered(ways, used) for ways in place])
        self.triple = is_triple(dice)
        self.few = self.place
        if self.triple:
            self.few = tuple([_gathered({part: both[:1] for part, both in ways.items()}, used) for ways in place])


def _gathered(ways: Ways, used: list[Dice]) -> Actions:
    return tuple([action for part in used if part in ways for action in ways[part]])


class Tables:
    """The figures and the actions of a configured game, laid out for quick look-up."""

    __slots__ = (
        "actions", "companies", "deck", "draw_or_stop", "founding", "hand_at_start", "hand_limit", "incomes", "keep",
        "members", "moves", "only_stop", "rerolls", "rolls", "small_supply", "swaps", "target", "thrown",
    )  # fmt: skip

    def __init__(self, game: Game[Any], components: Components, target: int) -> None:
        self.target = target
        """Euros that end the game, by the option or the file (XP-6)."""
        self.hand_at_start = components.game.hand_at_start
        self.hand_limit = components.game.hand_limit
        self.members = components.members.per_player
        self.companies = companies_of(components)
        self.deck = tuple([company.card for company in self.companies])
        # Every card by the name it has in hands and in the pile.
        self.incomes = tuple([company.income for company in self.companies])
        self.founding = tuple([company.founding for company in self.companies])
        self.small_supply = min(DICE, components.game.triple_members)
        # With no more members than this a triple's bonus adds nothing to its three dice.

        table: list[Action] = []
        stop = game.add(table, Stop, "stop")
        self.only_stop: Actions = (stop,)
        self.draw_or_stop: Actions = (game.add(table, Draw, "draw a card"), stop)
        self.keep: Action = game.add(table, Keep, "keep")
        self.rerolls = {face: game.add(table, Reroll, f"re-roll a {face}", face) for face in FACES}
        swaps = {
            company.card: game.add(table, Swap, f"swap {_printed(company)}", company.card)
            for company in self.companies
            if company.card == company.company
        }
        self.swaps: Actions = tuple([swaps[card] for card in self.deck])
        # For each card; those printed alike share one.
        found = [_foundings(game, table, company) for company in self.companies]
        place = [_placings(game, table, company, components.game.triple_members) for company in self.companies]
        self.moves = tuple(_moves(game, table, source, self.companies) for source in self.companies)
        """`moves[source][target]`: the action that moves a member, or None where XP-14 never allows it."""
        self.rolls = {dice: Roll(dice, self._again(dice), found, place) for dice in all_dice()}
        """`rolls[dice]`: what unused dice can do; `.found[card]` and `.place[company]` are actions, `.rest[used]` is
        what is left of the dice."""
        self.thrown = tuple([interned(tuple(sorted(dice))) for dice in product(FACES, repeat=DICE)])
        # The dice as they lie, by what luck gives for them, read as the digits of a number.
        self.actions = tuple(table)

    def _again(self, dice: Dice) -> Actions:
        return (*[self.rerolls[face] for face in dict.fromkeys(dice)], self.keep)


def _foundings(game: Game[Any], table: list[Action], company: Company) -> dict[Dice, Actions]:
    if company.card != company.company:
        return {}  # in the hand it goes by the number of the first card printed alike
    triples = [interned((face,) * DICE) for face in FACES]
    return {
        dice: (game.add(table, Found, f"found {_printed(company)} with {shown(dice)}", company.card, dice),)
        for dice in dict.fromkeys((*company.ways, *triples))
    }


def _placings(game: Game[Any], table: list[Action], company: Company, triple_members: int) -> dict[Dice, Actions]:
    number, where = company.company, f"#{company.company} ({company.requirement})"
    ways: dict[Dice, Actions] = {
        dice: (game.add(table, Place, f"place {shown(dice)} on {where}", number, dice, len(dice)),)
        for dice in company.ways
    }
    for triple in (interned((face,) * DICE) for face in FACES):
        ordinary = ways.get(triple, ())
        if ordinary and triple_members == DICE:
            continue
        text = f"place triple {shown(triple)} on {where}"
        ways[triple] = (*ordinary, game.add(table, Place, text, number, triple, triple_members))
    return ways


def _moves(
    game: Game[Any], table: list[Action], source: Company, companies: tuple[Company, ...]
) -> tuple[Move | None, ...]:
    return tuple(
        game.add(
            table,
            Move,
            f"move #{source.company} ({source.requirement}) to #{target.company} ({target.requirement})",
            source.company,
            target.company,
        )
        if target is not source and target.income <= source.income
        else None
        for target in companies
    )


def _printed(company: Company) -> str:
    return f"{company.requirement} (income {company.income}, bonus {company.founding})"
