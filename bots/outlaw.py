"""An El Paso expert: weighs the risk of the next roll against what its loot is worth in the towns ahead."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import fsum

from mypy_extensions import mypyc_attr

from engines.el_paso import SITES, Carry, Draw, ElPaso, ElPasoView, Leave, Play, Site, Stay
from harness import Action, Bot, Option

NEEDED = {Site.SALOON: "six", Site.CATTLE: "brand"}  # EP-15

# Most figures were found by playing, some are guesses.
SURVIVES = 0.85  # the chance that a tile comes safely through the next town
GOES_ON = 0.6  # the chance that it finds room among those carried on from there
FOLLOWS = 0.4  # the chance that a rival leaves before me if I stay now: the next to go may carry more
SECOND_CARD = 0.4  # what another card of a site is worth when I hold one already
NEXT_TOWN = 0.5  # what a card that waits for the next town is worth, relative to one that I can play at once
ABSENT = 0.05  # how much a site without tiles attracts others

NEVER = float("-inf")
REMEMBERED = 1 << 14  # sets of cards that are kept in mind as bits: most come up again soon

Cards = tuple[int, ...]
"""What is public of a rival's cards of one site: the value, or 0 where it is hidden (EP-28)."""
Hand = tuple[Cards, ...]
"""Cards by site."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Outlaw(Bot[ElPasoView]):
    """Stays while the next tile is worth the risk to all it holds, and carries on what sells best down the road."""

    games = ("el-paso",)
    options = (Option("explain", False, "note the reason for each choice", kind="bool"),)
    game: ElPaso

    def start(self) -> None:
        """Look up what is the same in every match of this game."""
        self.tables = tables(self.game)
        self.carried_on = self.tables.carried_on

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """Return what brings most, as far as it can be counted."""
        action = self.best(view, actions)
        if self.settings.get("explain"):
            self.note(reason(self.tables, view, action))
        return action

    def best(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """Return the best action of this phase."""
        phase = view.phase
        if phase == "answer":
            wanted = Leave if leaves(self.tables, view) else Stay
            return next(action for action in actions if isinstance(action, wanted))
        if phase == "play":
            return best_play(self.tables, view, actions)
        if phase == "draw":
            return best_draw(self.tables, view, actions)
        return first_to_carry(self.tables, view, actions)


def reason(tables: Tables, view: ElPasoView, action: Action) -> str:
    """Return why I choose so, in points."""
    if isinstance(action, (Stay, Leave)):
        now, stay, safe, least = if_leaving(tables, view)
        raid = Raid(tables, view, least)
        more = max([raid.loot(site, card) for site, cards in enumerate(view.hand) for card in cards], default=0.0)
        return (
            f"If I leave now, my tiles are worth about {now:.1f}. One more round makes it about {stay + more:.1f} if "
            f"the sheriffs stay away ({safe:.0%} likely): {safe * (stay + more):.1f} on average."
        )
    if isinstance(action, Play):
        raid = Raid(tables, view, least_of(gains_of(tables.gain[view.town], view.tiles[view.seat]), view.groups + 1))
        return (
            f"This card should bring in {raid.loot(action.site, action.value):.1f}, the most of my cards: "
            f"the site opens with {raid.opens[action.site]:.0%}, and others may take its tiles before me."
        )
    if isinstance(action, Draw):
        stack, waits = view.stacks[action.site], tables.next_town[view.town][action.site]
        here = f"its top tile here is {stack[0]}" if stack else "it has no tiles here"
        then = f"a card for the next town is worth {waits:.1f}" if waits else "the next town does not have it"
        return f"A card of this site helps most: {here}, and {then}."
    if isinstance(action, Carry):
        gain = tables.gain[view.town][action.site] * action.value
        return f"This tile is worth about {gain:.1f} more if I carry it on than if I sell it here."
    return "No other tile is worth more if I carry it on."


def leaves(tables: Tables, view: ElPasoView) -> bool:
    """Return whether I own more now than I can expect after one more round, whichever card I play in it."""
    now, stay, safe, least = if_leaving(tables, view)
    if safe * stay >= now:
        return False
    raid = Raid(tables, view, least)
    for site in range(len(view.hand)):
        for card in view.hand[site]:
            if safe * (stay + raid.loot(site, card)) >= now:
                return False
    return True


def if_leaving(tables: Tables, view: ElPasoView) -> tuple[float, float, float, float]:
    """Return what I own if I leave now, what I own after one more round without new tiles, the chance that the sheriffs
    stay away, and what another tile must gain to be carried on."""
    seat, town, limit = view.seat, view.town, view.groups + 1  # EP-18
    mine, sale, leaving = view.tiles[seat], tables.sale[town], view.leaving
    gains = gains_of(tables.gain[town], mine)
    sold = 0.0
    for site in range(len(mine)):
        if mine[site]:
            sold += sale[site] * sum(mine[site])
    now = sold + fsum(gains[:limit])
    if leaving:
        limit += 1
    stay = sold + fsum(gains[:limit])
    if not leaving and len(gains) > limit and view.left.count(0) > 1:
        stay += FOLLOWS * gains[limit]
    safe = 1 - tables.sheriffs[view.stars]  # if they come I own nothing
    return now, stay, safe, least_of(gains, limit)


def best_play(tables: Tables, view: ElPasoView, actions: Sequence[Action]) -> Action:
    """Return the card that can be expected to bring most."""
    gains = gains_of(tables.gain[view.town], view.tiles[view.seat])
    raid = Raid(tables, view, least_of(gains, view.groups + 1))
    best, most = actions[0], NEVER
    for action in actions:
        if isinstance(action, Play):
            loot = raid.loot(action.site, action.value)
            if loot > most:
                best, most = action, loot
    return best


def best_draw(tables: Tables, view: ElPasoView, actions: Sequence[Action]) -> Action:
    """Return the site whose card is worth most: for the tile on top here, and for the next town."""
    town = view.town
    gains = gains_of(tables.gain[town], view.tiles[view.seat])
    least = least_of(gains, view.groups + 1)
    opens, waits = tables.opens[view.stars], tables.next_town[town]
    sale, carried_on = tables.sale[town], tables.carried_on[town]
    best, most = actions[0], NEVER
    for action in actions:
        if isinstance(action, Draw):
            site = action.site
            need, stack, held = waits[site], view.stacks[site], len(view.hand[site])
            if stack:
                need += opens[site] * max(sale[site] * stack[0], carried_on[site] * stack[0] - least)
            if held:
                need *= tables.again[held]
            if need > most:
                best, most = action, need
    return best


def first_to_carry(tables: Tables, view: ElPasoView, actions: Sequence[Action]) -> Action:
    """Return the first, in the order of asking, of the tiles that gain most by being carried on."""
    gain, mine, carried = tables.gain[view.town], view.tiles[view.seat], view.carried
    carries = [action for action in actions if isinstance(action, Carry) and gain[action.site] > 0]
    gains: list[float] = []
    for carry in carries:  # as many tiles as there are like this one that the leaver has not decided on
        copies = mine[carry.site].count(carry.value) - carried[carry.site].count(carry.value)
        gains += [gain[carry.site] * carry.value] * copies
    gains.sort(reverse=True)
    least = least_of(gains, view.limit - sum(map(len, carried)))
    for carry in carries:
        if gain[carry.site] * carry.value >= least:
            return carry
    return actions[0]


class Raid:
    """What my cards can be expected to bring in the next round of plunder."""

    __slots__ = ("_adds", "_rivals", "_shares", "_unseen", "least", "lures", "opens", "tables", "view")

    def __init__(self, tables: Tables, view: ElPasoView, least: float) -> None:
        self.tables, self.view, self.least = tables, view, least
        self.opens: list[float] = tables.opens[view.stars]
        """The chance that each site can be plundered."""
        by_top, stacks = tables.lures[view.stars], view.stacks
        self.lures: list[float] = [by_top[site][stacks[site][0] if stacks[site] else 0] for site in range(len(stacks))]
        """How much each site attracts."""
        self._rivals: list[Hand] = []
        """The hands of those who will play against me."""
        self._shares: list[float] = []
        """How much all cards of a rival attract it."""
        left, leaving, me, hands = view.left, view.leaving, view.seat, view.hands
        for seat in range(len(left)):
            if not left[seat] and seat != me and seat not in leaving:
                total, hand = 0.0, hands[seat]
                for site in range(len(hand)):
                    if hand[site]:
                        total += self.lures[site] * len(hand[site])
                if total:
                    self._rivals.append(hand)
                    self._shares.append(total)
        self._adds: list[list[float] | None] = [None] * len(stacks)
        self._unseen = [-1] * len(stacks)

    def loot(self, site: int, card: int) -> float:
        """Return what I can expect from a stack: the more play a higher card, the deeper into it I get."""
        adds = self._adds[site]
        if adds is None:
            adds = self._adds[site] = self._worths(site)
        if not adds:
            return 0.0
        reached = adds  # what I get if none, one, two ... of the rivals not looked at yet play a higher card
        for at in range(len(self._rivals)):
            cards = self._rivals[at][site]
            if not cards:
                continue
            higher = 0.0
            for value in cards:
                if not value:
                    higher += self._hidden(site, card)
                elif value > card:
                    higher += 1
            higher *= self.lures[site] / self._shares[at]
            reached = [reached[i] + higher * (reached[i + 1] - reached[i]) for i in range(len(reached) - 1)]
        return self.opens[site] * reached[0]

    def _worths(self, site: int) -> list[float]:
        """Return what each tile within reach would add to mine: sold, or carried on instead of the one that gains
        least."""
        tables, town, stack = self.tables, self.view.town, self.view.stacks[site]
        if not stack:
            return []
        reach = 1  # each rival with cards of this site can take one before me
        for hand in self._rivals:
            if hand[site]:
                reach += 1
        sale, carried_on, least = tables.sale[town][site], tables.carried_on[town][site], self.least
        worths = [max(sale * tile, carried_on * tile - least) for tile in stack[:reach]]
        worths += [0.0] * (reach - len(worths))
        return worths

    def _hidden(self, site: int, card: int) -> float:
        """Return the chance that a hidden card of this site is a higher one."""
        unseen = self._unseen[site]
        if unseen < 0:
            view = self.view
            bits = self.tables.bits
            seen = bits(view.discards[site]) | bits(view.piles[site]) | bits(view.hand[site])
            for hand in view.hands:
                seen |= bits(hand[site])
            unseen = self._unseen[site] = self.tables.every & ~seen
        return (unseen & self.tables.above[card]).bit_count() / (unseen.bit_count() or 1)


class Tables:
    """All that depends on nothing but the town, the stars and the site."""

    def __init__(self, game: ElPaso) -> None:
        self.game = game
        self._bit = {value: 1 << rank for rank, value in enumerate(sorted(game.figures.cards.values))}
        self._bits: dict[Cards, int] = {}
        self.every = sum(self._bit.values())
        """The values of a site's cards, a bit each."""
        self.above = {card: sum(bit for value, bit in self._bit.items() if value > card) for card in self._bit}
        """The higher values, for each."""
        self.sale = [[1 / town.rate if town.has(site) else 1.0 for site in SITES] for town in game.figures.towns]
        """The price of each point of a tile, by town and site (EP-20)."""
        self.carried_on = self._carried_on()
        """The worth of each point of a tile that is carried on from a town, by town and site."""
        self.gain = [
            [later - now for later, now in zip(*town, strict=True)]
            for town in zip(self.carried_on, self.sale, strict=True)
        ]
        self.next_town = [[self._waits(town + 1, site) for site in SITES] for town in range(len(self.sale))]
        """The worth of a card for the town after this one, by town and site."""
        dice = range(game.figures.dice.count, -1, -1)
        self.sheriffs = [self._chance("star") ** left for left in dice]
        """The chance that the sheriffs come with the next roll, by stars."""
        self.opens = [[self._open(site, left) for site in SITES] for left in dice]
        """The chance that the next roll lets a site be plundered, by stars and site."""
        tiles = range(max(map(max, game.tiles)) + 1)
        self.lures = [[[(chance * (top or ABSENT)) ** 2 for top in tiles] for chance in opens] for opens in self.opens]
        """How much a site attracts others, by stars, site and the tile on top (0: none)."""
        self.again = [SECOND_CARD**held for held in range(len(self._bit) + 1)]
        """What is left of the need of a card when I hold this many of its site."""

    def bits(self, cards: Cards) -> int:
        """Return these values (0 is none), a bit each."""
        found = self._bits.get(cards)
        if found is None:
            if len(self._bits) > REMEMBERED:
                self._bits.clear()
            found = 0
            for card in cards:
                if card:
                    found |= self._bit[card]
            self._bits[cards] = found
        return found

    def _carried_on(self) -> list[list[float]]:
        towns = self.game.figures.towns
        worth = [[1.0] * len(SITES)]  # after the last town everything sells at its value (EP-27)
        for town in range(len(towns) - 1, 0, -1):
            there, sold = self.game.sites_of[town], 1 / towns[town].rate
            kept = [max(sold, GOES_ON * later + (1 - GOES_ON) * sold) for later in worth[0]]
            worth.insert(0, [SURVIVES * (kept[site] if site in there else 1.0) for site in SITES])
        return worth

    def _waits(self, town: int, site: Site) -> float:
        """Return the worth of a card that waits for this town."""
        if town == len(self.sale) or site not in self.game.sites_of[town]:
            return 0.0
        tiles = self.game.tiles[site]
        return NEXT_TOWN * self.carried_on[town][site] * sum(tiles) / len(tiles)

    def _open(self, site: Site, dice: int) -> float:
        """Return the chance that a roll of this many dice allows this site to be plundered (EP-15)."""
        return 1 - (1 - self._chance(NEEDED[site])) ** dice if site in NEEDED else 1.0

    def _chance(self, face: str) -> float:
        faces: tuple[str, ...] = self.game.figures.dice.faces
        return faces.count(face) / len(faces)


@cache
def tables(game: ElPaso) -> Tables:
    """Return the tables of a game, worked out once for all matches."""
    return Tables(game)


def gains_of(gain: Sequence[float], tiles: Hand) -> list[float]:
    """Return what tiles gain by being carried on, best first, without those that lose by it."""
    gains: list[float] = []
    for site in range(len(tiles)):
        if tiles[site] and gain[site] > 0:
            gains += [gain[site] * tile for tile in tiles[site]]
    if len(gains) > 1:
        gains.sort(reverse=True)
    return gains


def least_of(gains: Sequence[float], limit: int) -> float:
    """Return what the last of those carried gains: another tile takes its place; 0 while there is room for one more."""
    return gains[limit - 1] if len(gains) >= limit else 0.0
