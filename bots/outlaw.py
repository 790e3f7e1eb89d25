"""An El Paso expert: weighs the risk of the next roll against what its loot is worth in the towns ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


class Outlaw(Bot):
    """Stays while the next tile is worth the risk to all it holds, and carries on what sells best down the road."""

    games = ("el-paso",)
    game: ElPaso

    def start(self) -> None:
        """Works out what a tile of each site is worth when it is carried on, town by town."""
        towns = self.game.figures.towns
        worth = [[1.0] * len(SITES)]  # after the last town everything sells at its value (EP-27)
        for town in range(len(towns) - 1, 0, -1):
            there, sold = self.game.sites_of[town], 1 / towns[town].rate
            kept = [max(sold, GOES_ON * later + (1 - GOES_ON) * sold) for later in worth[0]]
            worth.insert(0, [SURVIVES * (kept[site] if site in there else 1.0) for site in SITES])
        self.carried_on = worth

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """What brings most, as far as it can be counted."""
        if view.phase == "answer":
            now = self._worth(view, view.my_tiles, view.next_limit)
            wanted = Leave if now > self._staying(view) else Stay
            return next(action for action in actions if isinstance(action, wanted))
        if view.phase == "carry":
            return self._carry(view, actions)
        return max(actions, key=lambda action: self._use(view, action))

    def _use(self, view: ElPasoView, action: Action) -> float:
        """The worth of playing a card or drawing from a pile."""
        if isinstance(action, Play):
            return self._loot(view, action.site, action.value, view.next_limit)
        return self._need(view, action.site) if isinstance(action, Draw) else 0.0

    def _staying(self, view: ElPasoView) -> float:
        """What I can expect to own after one more round: nothing if the sheriffs come, else one more tile."""
        limit = view.next_limit + bool(view.leaving)
        mine = self._worth(view, view.my_tiles, limit)
        if len(view.in_town) > 1 and not view.leaving:
            mine += FOLLOWS * (self._worth(view, view.my_tiles, limit + 1) - mine)
        cards = [(site, value) for site in SITES for value in view.hand[site]]
        sheriffs = self._chance("star") ** (self.game.figures.dice.count - view.stars)
        return (1 - sheriffs) * (mine + max(self._loot(view, site, value, limit) for site, value in cards))

    def _worth(self, view: ElPasoView, tiles: Sequence[Sequence[int]], limit: int) -> float:
        """What these tiles bring to one who leaves now and may carry so many."""
        sold = sum(self._sale(view, site) * value for site in SITES for value in tiles[site])
        gains = sorted((self._gain(view, site) * value for site in SITES for value in tiles[site]), reverse=True)
        return sold + sum(gain for gain in gains[:limit] if gain > 0)

    def _sale(self, view: ElPasoView, site: Site) -> float:
        """What each point of a tile sells for here (EP-20)."""
        return 1 / self.game.figures.towns[view.town].rate if site in self.game.sites_of[view.town] else 1.0

    def _gain(self, view: ElPasoView, site: Site) -> float:
        """What each point of a tile gains by being carried on instead."""
        return self.carried_on[view.town][site] - self._sale(view, site)

    def _loot(self, view: ElPasoView, site: Site, card: int, limit: int) -> float:
        """What this card can be expected to bring: the more play a higher one, the deeper into the stack I get."""
        ahead = [1.0]  # the chances that so many others take a tile before me
        for seat in view.in_town:
            if seat != self.seat and seat not in view.leaving:
                higher = self._outplays(view, seat, site, card)
                ahead = [stays * (1 - higher) + up * higher for stays, up in _shifted(ahead)]
        in_reach = zip(ahead, view.stacks[site], strict=False)
        return self._open(view, site) * sum(chance * self._adds(view, site, tile, limit) for chance, tile in in_reach)

    def _adds(self, view: ElPasoView, site: Site, tile: int, limit: int) -> float:
        """What one more tile adds to the worth of mine."""
        tiles = list(view.my_tiles)
        tiles[site] = (*tiles[site], tile)
        return self._worth(view, tiles, limit) - self._worth(view, view.my_tiles, limit)

    def _open(self, view: ElPasoView, site: Site) -> float:
        """The chance that the roll lets this site be plundered (EP-15)."""
        if site not in NEEDED:
            return 1.0
        return 1 - (1 - self._chance(NEEDED[site])) ** (self.game.figures.dice.count - view.stars)

    def _chance(self, face: str) -> float:
        faces: tuple[str, ...] = self.game.figures.dice.faces
        return faces.count(face) / len(faces)

    def _outplays(self, view: ElPasoView, seat: int, site: Site, card: int) -> float:
        """The chance that a seat plays a higher card of this site; the sites of its cards are public (EP-28)."""
        cards = view.hands[seat]
        if not cards[site]:
            return 0.0
        lure = [(self._open(view, s) * max(view.stacks[s][:1], default=ABSENT)) ** 2 for s in SITES]
        known = {*view.discards[site], *view.piles[site], *view.hand[site]}.union(*(hand[site] for hand in view.hands))
        unseen = [value for value in self.game.figures.cards.values if value not in known]
        hidden = sum(value > card for value in unseen) / max(1, len(unseen))
        higher = sum(value > card if value else hidden for value in cards[site])
        return lure[site] * higher / sum(lure[s] * len(cards[s]) for s in SITES)

    def _carry(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        """The first, in the order of asking, of the tiles that gain most by being carried on."""
        room = view.limit - sum(map(len, view.carried))
        gains = {a: self._gain(view, a.site) * a.value for a in actions if isinstance(a, Carry)}
        wanted = [action for action, gain in gains.items() if gain > 0 for _ in range(_copies(view, action))]
        wanted.sort(key=gains.__getitem__, reverse=True)
        return min(wanted[:room], key=actions.index, default=actions[0])

    def _need(self, view: ElPasoView, site: Site) -> float:
        """The worth of a card of this site: for the tile on top here, and for the next town."""
        need = 0.0
        if not view.left[self.seat] and view.stacks[site]:
            need = self._open(view, site) * self._adds(view, site, view.stacks[site][0], view.next_limit)
        if view.town + 1 < len(self.carried_on) and site in self.game.sites_of[view.town + 1]:
            tiles = self.game.tiles[site]
            need += NEXT_TOWN * self.carried_on[view.town + 1][site] * sum(tiles) / len(tiles)
        return need * SECOND_CARD ** len(view.hand[site])


def _copies(view: ElPasoView, carry: Carry) -> int:
    """How many tiles like this one the leaver has not decided on."""
    return view.my_tiles[carry.site].count(carry.value) - view.carried[carry.site].count(carry.value)


def _shifted(chances: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Each chance with the one before it: what is left at a number, and what comes up from the number below."""
    return zip((*chances, 0.0), (0.0, *chances), strict=True)
