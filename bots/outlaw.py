"""An El Paso expert: weighs the risk of the next roll against what its loot is worth in the towns ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from operator import mul

from engines.el_paso import SITES, Carry, Draw, ElPaso, ElPasoView, Leave, Play, Site, Stay
from harness import Action, Bot

NEEDED = {Site.SALOON: "six", Site.CATTLE: "brand"}  # EP-15

# Most figures were found by playing, some are guesses.
SURVIVES = 0.85  # the chance that a tile comes safely through the next town
GOES_ON = 0.6  # the chance that it finds room among those carried on from there
FOLLOWS = 0.4  # the chance that somebody leaves before me if I stay now: the next to go may carry more
SECOND_CARD = 0.4  # what another card of a site is worth when I hold one already
NEXT_TOWN = 0.5  # what a card that waits for the next town is worth beside one that I can play at once
ABSENT = 0.05  # how much a site without tiles attracts others

Cards = Sequence[int]
"""What everybody knows of a rival's cards of one site: the value, or 0 where it is hidden (EP-28)."""


class Outlaw(Bot[ElPasoView]):
    """Stays while the next tile is worth the risk to all it holds, and carries on what sells best down the road."""

    games = ("el-paso",)
    game: ElPaso

    def start(self) -> None:
        """Looks up what is the same in every match of this game."""
        self.tables = tables(self.game)
        self.carried_on = self.tables.carried_on

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """What brings most, as far as it can be counted."""
        if view.phase == "answer":
            wanted = Leave if self._leaves(view) else Stay
            return next(action for action in actions if isinstance(action, wanted))
        if view.phase == "play":
            loots = list(self._loots(view, self._gains(view), view.next_limit))
            plays = [action for action in actions if isinstance(action, Play)]
            return max(plays, key=lambda play: loots[play.site][play.value])
        if view.phase == "draw":
            needs = self._needs(view)
            draws = [action for action in actions if isinstance(action, Draw)]
            return max(draws, key=lambda draw: needs[draw.site])
        return self._carry(view, actions)

    def _leaves(self, view: ElPasoView) -> bool:
        """Whether I own more now than I can expect after one more round, whichever card I play in it."""
        gains, limit = self._gains(view), view.next_limit
        sold = sum(map(mul, self.tables.sale[view.town], map(sum, view.my_tiles)))
        now = sold + sum(gains[:limit])
        if view.leaving:
            limit += 1
        mine = sold + sum(gains[:limit])
        if not view.leaving and view.left.count(0) > 1:
            mine += FOLLOWS * sum(gains[limit : limit + 1])
        safe = 1 - self.tables.sheriffs[view.stars]  # if they come I own nothing
        if safe * mine >= now:
            return False
        loots = self._loots(view, gains, limit)
        return not any(safe * (mine + loot) >= now for by_card in loots for loot in by_card.values())

    def _gains(self, view: ElPasoView) -> list[float]:
        """What my tiles gain by being carried on, best first, without those that lose by it."""
        by_site = zip(self.tables.gain[view.town], view.my_tiles, strict=True)
        return sorted([gain * tile for gain, tiles in by_site if gain > 0 for tile in tiles], reverse=True)

    def _loots(self, view: ElPasoView, gains: Sequence[float], limit: int) -> Iterator[dict[int, float]]:
        """What each of my cards can be expected to bring, one site after another."""
        opens, stacks, least = self.tables.opens[view.stars], view.stacks, _least(gains, limit)
        lures = [(opens[site] * (stack[0] if stack else ABSENT)) ** 2 for site, stack in enumerate(stacks)]
        rivals = self._rivals(view, lures)
        for site, cards in enumerate(view.hand):
            if not cards or not stacks[site]:
                yield dict.fromkeys(cards, 0.0)
                continue
            adds = self._adds(view, site, stacks[site], least)
            there = [(hand[site], lures[site] / total) for hand, total in rivals if hand[site] and total]
            unseen = self._unseen(view, site)
            yield {card: opens[site] * self._reach(card, adds, there, unseen) for card in cards}

    def _reach(
        self, card: int, adds: Sequence[float], rivals: Sequence[tuple[Cards, float]], unseen: frozenset[int]
    ) -> float:
        """What I can expect from a stack: the more play a higher card, the deeper into it I get.

        A rival is its cards of this site, and the chance that it plays a given one of them.
        """
        hidden = len(unseen & self.tables.above[card]) / (len(unseen) or 1)
        for cards, pull in rivals:
            higher = pull * sum([value > card if value else hidden for value in cards])
            adds = [here + higher * (below - here) for here, below in pairwise((*adds, 0.0))]
        return adds[0]

    def _rivals(self, view: ElPasoView, lures: Sequence[float]) -> list[tuple[Sequence[Cards], float]]:
        """The hands of those who will play against me, and how much all their cards attract them."""
        return [
            (hand, sum(map(mul, lures, map(len, hand))))
            for seat, hand in enumerate(view.hands)
            if not view.left[seat] and seat != self.seat and seat not in view.leaving
        ]

    def _unseen(self, view: ElPasoView, site: int) -> frozenset[int]:
        """The values of this site's cards that lie where I cannot see them."""
        hands = [hand[site] for hand in view.hands]
        return self.tables.values.difference(view.discards[site], view.piles[site], view.hand[site], *hands)

    def _adds(self, view: ElPasoView, site: int, tiles: Sequence[int], least: float) -> list[float]:
        """What each of these tiles would add to mine: sold, or carried on in place of the one that gains least."""
        sale, carried_on = self.tables.sale[view.town][site], self.carried_on[view.town][site]
        return [max(sale * tile, carried_on * tile - least) for tile in tiles]

    def _needs(self, view: ElPasoView) -> list[float]:
        """The worth of a card of each site: for the tile on top here, and for the next town."""
        opens, least = self.tables.opens[view.stars], _least(self._gains(view), view.next_limit)
        needs = []
        for site, need in enumerate(self.tables.next_town[view.town]):
            if top := view.stacks[site][:1]:
                need += opens[site] * self._adds(view, site, top, least)[0]
            needs.append(need * SECOND_CARD ** len(view.hand[site]))
        return needs

    def _carry(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """The first, in the order of asking, of the tiles that gain most by being carried on."""
        gain = self.tables.gain[view.town]
        carries = [action for action in actions if isinstance(action, Carry) and gain[action.site] > 0]
        gains = [gain[carry.site] * carry.value for carry in carries for _ in range(_copies(view, carry))]
        least = _least(sorted(gains, reverse=True), view.limit - sum(map(len, view.carried)))
        return next((carry for carry in carries if gain[carry.site] * carry.value >= least), actions[0])


class Tables:
    """All that depends on nothing but the town, the stars and the site."""

    def __init__(self, game: ElPaso) -> None:
        self.game = game
        self.values = frozenset(game.figures.cards.values)
        self.above = {card: frozenset(value for value in self.values if value > card) for card in self.values}
        self.sale = [[1 / town.rate if town.has(site) else 1.0 for site in SITES] for town in game.figures.towns]
        """What each point of a tile sells for, by town and site (EP-20)."""
        self.carried_on = self._carried_on()
        """What each point of a tile is worth that is carried on from a town, by town and site."""
        self.gain = [
            [later - now for later, now in zip(*town, strict=True)]
            for town in zip(self.carried_on, self.sale, strict=True)
        ]
        self.next_town = [[self._waits(town + 1, site) for site in SITES] for town in range(len(self.sale))]
        """What a card is worth for the town after this one, by town and site."""
        dice = range(game.figures.dice.count, -1, -1)
        self.sheriffs = [self._chance("star") ** left for left in dice]
        """The chance that the sheriffs come with the next roll, by stars."""
        self.opens = [[self._open(site, left) for site in SITES] for left in dice]
        """The chance that the next roll lets a site be plundered, by stars and site."""

    def _carried_on(self) -> list[list[float]]:
        towns = self.game.figures.towns
        worth = [[1.0] * len(SITES)]  # after the last town everything sells at its value (EP-27)
        for town in range(len(towns) - 1, 0, -1):
            there, sold = self.game.sites_of[town], 1 / towns[town].rate
            kept = [max(sold, GOES_ON * later + (1 - GOES_ON) * sold) for later in worth[0]]
            worth.insert(0, [SURVIVES * (kept[site] if site in there else 1.0) for site in SITES])
        return worth

    def _waits(self, town: int, site: Site) -> float:
        """The worth of a card that waits for this town."""
        if town == len(self.sale) or site not in self.game.sites_of[town]:
            return 0.0
        tiles = self.game.tiles[site]
        return NEXT_TOWN * self.carried_on[town][site] * sum(tiles) / len(tiles)

    def _open(self, site: Site, dice: int) -> float:
        """The chance that a roll of so many dice lets this site be plundered (EP-15)."""
        return 1 - (1 - self._chance(NEEDED[site])) ** dice if site in NEEDED else 1.0

    def _chance(self, face: str) -> float:
        faces: tuple[str, ...] = self.game.figures.dice.faces
        return faces.count(face) / len(faces)


@cache
def tables(game: ElPaso) -> Tables:
    """The tables of a game, worked out once for all matches."""
    return Tables(game)


def _least(gains: Sequence[float], limit: int) -> float:
    """What the last of those carried gains: another tile takes its place; 0 while there is room for one more."""
    return gains[limit - 1] if len(gains) >= limit else 0.0


def _copies(view: ElPasoView, carry: Carry) -> int:
    """How many tiles like this one the leaver has not decided on."""
    return view.my_tiles[carry.site].count(carry.value) - view.carried[carry.site].count(carry.value)
