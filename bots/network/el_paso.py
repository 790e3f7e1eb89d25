"""Descriptions of the actions of El Paso as small whole numbers for a network."""

from __future__ import annotations

from collections.abc import Sequence

from engines.el_paso import SITES, Carry, Draw, ElPaso, ElPasoView, Leave, Play, Sell, Site
from harness import Action

NEEDED = {Site.SALOON: "six", Site.CATTLE: "brand"}
"""The face that a roll must show (EP-15)."""
PARTS = 16
FOLLOWING = 3
"""How many of the next towns an action looks at."""


def describe(game: ElPaso, view: ElPasoView, actions: Sequence[Action]) -> list[list[int]]:
    """Return the numbers of each action; how many there are depends on the kind of the action."""
    table = _Table(game, view)
    return [table.numbers(action) for action in actions]


class _Table:
    """Values that all actions of one decision share."""

    def __init__(self, game: ElPaso, view: ElPasoView) -> None:
        self.game, self.view = game, view
        self.here = game.sites_of[view.town]
        self.mine = view.my_tiles
        self.dice = game.dice - view.stars
        self.limit = view.limit or view.groups + 1
        self.values = sorted([value for site in self.here for value in self.mine[site]], reverse=True)
        """The tiles that gain by being carried on, best first."""
        self.rivals = [
            hand
            for seat, hand in enumerate(view.hands)
            if seat != view.seat and not view.left[seat] and seat not in view.leaving
        ]
        self.tops = [stack[0] if stack else 0 for stack in view.stacks]
        self.open = [self.chance(site) for site in SITES]
        self.lures = [(chance * top) ** 2 for chance, top in zip(self.open, self.tops, strict=True)]
        """How much each site attracts, roughly."""

    def chance(self, site: Site) -> int:
        """Return the chance that the next roll allows this site to be plundered, in sixteenths (EP-15)."""
        if site not in NEEDED:
            return PARTS
        faces = self.game.figures.dice.faces
        rolls: int = len(faces) ** self.dice
        others: int = (len(faces) - faces.count(NEEDED[site])) ** self.dice
        return PARTS * (rolls - others) // rolls

    def duel(self, site: Site, value: int) -> tuple[list[int], int]:
        """Return who could take a tile before this card, and what it can be expected to bring, in sixteenths."""
        view, stack, hand = self.view, self.view.stacks[site], self.view.hand[site]
        held = [cards for cards in self.rivals if cards[site]]
        sure = sum([max(cards[site]) > value for cards in held])
        hidden = [cards[site].count(0) for cards in held]
        seen = {*view.discards[site], *view.piles[site], *hand, *[card for hand in view.hands for card in hand[site]]}
        unseen = [card for card in self.game.figures.cards.values if card not in seen]
        higher, count = sum([card > value for card in unseen]), max(1, len(unseen))
        risk = 0
        for cards, secret in zip(held, hidden, strict=True):
            all_lures = sum([lure * len(there) for lure, there in zip(self.lures, cards, strict=True)])
            above = sum([card > value for card in cards[site]]) * count + secret * higher
            risk += PARTS * above * self.lures[site] // (count * max(1, all_lures))
        gains = [self.gain(site, tile) for tile in (*stack[:2], 0, 0)[:2]]
        first, second = max(0, PARTS - risk), min(PARTS, risk)
        brings = self.open[site] * (first * gains[0] + second * gains[1]) // PARTS if stack else 0
        numbers = [
            len(held),
            sure,
            sum(hidden),
            sum([secret > 0 for secret in hidden]),
            higher,
            8 * higher // count,
            risk,
            stack[sure] if len(stack) > sure else 0,
            gains[0],
            gains[1],
            brings,
        ]
        return numbers, brings

    def gain(self, site: Site, tile: int) -> int:
        """Return what a tile adds to mine: sold, or carried on instead of the one that gains least."""
        if not tile or site not in self.here:
            return tile
        least = self.values[self.limit - 1] if len(self.values) >= self.limit else 0
        return max(tile // self.game.figures.towns[self.view.town].rate, tile - least)

    def numbers(self, action: Action) -> list[int]:
        """Return the numbers of an action; none for staying in town, whose worth is listed with that of leaving."""
        match action:
            case Play():
                return self.play(action.site, action.value)
            case Draw():
                return self.draw(action.site)
            case Carry():
                return self.carry(action.site, action.value)
            case Leave():
                return self.leave()
            case Sell():
                return [self.limit - sum(map(len, self.view.carried)), *self.values[:3], *[0] * (3 - len(self.values))]
            case _:
                return []

    def site(self, site: Site) -> list[int]:
        """Return which site it is, what lies there, and where it is found later."""
        stack, town = self.view.stacks[site], self.view.town
        later = [site in sites for sites in self.game.sites_of[town + 1 : town + 1 + FOLLOWING]]
        return [
            *[int(site == each) for each in SITES],
            *map(int, later),
            *[0] * (FOLLOWING - len(later)),
            int(site in self.here),
            len(stack),
            *stack[:4],
            *[0] * (4 - len(stack)),
            sum(stack),
            self.tops[site] - max([top for other, top in enumerate(self.tops) if other != site]),
            self.open[site],
        ]

    def play(self, site: Site, value: int) -> list[int]:
        """Return who could take a tile before this card, and what it brings."""
        hand = self.view.hand[site]
        numbers, _ = self.duel(site, value)
        return [
            *self.site(site),
            value,
            len(hand),
            sum([card > value for card in hand]),
            len(self.rivals),
            *numbers,
            self.dice,
            self.view.town,
        ]

    def draw(self, site: Site) -> list[int]:
        """Return what a card of this site is good for."""
        view = self.view
        pile, hand = view.piles[site], view.hand[site]
        return [
            *self.site(site),
            len(hand),
            max(hand, default=0),
            len(pile),
            pile[0] if pile else 0,
            len(view.discards[site]),
            len(self.rivals),
            sum([bool(cards[site]) for cards in self.rivals]),
            self.dice,
            view.town,
        ]

    def carry(self, site: Site, value: int) -> list[int]:
        """Return what the tile is worth compared with the others that could be carried on."""
        view = self.view
        others = sum([count > value for count in self.values])
        room = self.limit - sum(map(len, view.carried))
        return [*self.site(site)[: len(SITES) + FOLLOWING + 1], value, room, others, room - others, view.town]

    def leave(self) -> list[int]:
        """Return what is at risk, what leaving now and one round later brings, and what there is to win."""
        view, rate = self.view, self.game.figures.towns[self.view.town].rate
        elsewhere = sum([sum(tiles) for site, tiles in enumerate(self.mine) if site not in self.here])
        total = sum(self.values)
        now, later, last = [
            kept + (total - kept) // rate for kept in [sum(self.values[: self.limit + more]) for more in range(3)]
        ]
        reach = sorted([stack[0] for stack, cards in zip(view.stacks, view.hand, strict=True) if stack and cards])
        best = sorted(
            [self.duel(site, max(view.hand[site]))[1] for site in SITES if view.stacks[site] and view.hand[site]]
        )
        return [
            self.dice,
            view.town,
            rate,
            self.limit,
            elsewhere,
            len(self.values),
            total,
            now,
            now + elsewhere,
            later - now,
            last - now,
            len(self.rivals),
            len(view.leaving),
            len(view.queue),
            reach[-1] if reach else 0,
            reach[-2] if len(reach) > 1 else 0,
            len(reach),
            best[-1] if best else 0,
            best[-2] if len(best) > 1 else 0,
            max(map(max, [stack for stack in view.stacks if stack]), default=0),
            sum(map(len, view.stacks)),
            view.round,
            max([money for seat, money in enumerate(view.money) if seat != view.seat]) - view.money[view.seat],
        ]
