"""A Gnadenlos! expert: prices adventurers, reads the rivals' crews, and keeps what the next payday may ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import prod
from random import Random

from engines.gnadenlos import (
    CHEATING,
    GOLD_RUSH,
    HIGH_NOON,
    SKILL,
    Adventurer,
    Bid,
    Buy,
    EventCard,
    Gnadenlos,
    GnadenlosView,
    Hire,
    Lay,
    Pay,
    TakePair,
)
from harness import Action, Bot

# Worth is counted in fields of fame. Most figures were found by playing, some are guesses.
GOLD = 0.6  # a gold piece kept: it can buy a field later, if a payday does not take it
IOU = 0.7  # each gold of debt taken on: not all of it is ever called in
OVERDRAWN = 0.5  # what it costs in addition when I could not pay it, and as much again for each vulture I have
STOLEN = 1.2  # an IOU taken from the market: others' paper is money, my own is a debt less
USES = 1.6  # events that an adventurer decides before it is gone
RELEASE = 0.6  # the share of an adventurer's worth that is lost when it wins and is discarded
SHARP = 3  # how much more often a high skill wins than a middling one
SHREWD = 0.7  # how often a rival lays its best card rather than any
HIGH_BID = 8  # hardly anybody bids more
A_TURN = 5  # IOUs that a turn adds to the market
VULTURE = (5, 8, 20)  # going broke with no vulture yet, with one, with two
PAYDAYS = 60  # paydays imagined to see what is called in


class Broker(Bot):
    """Buys the adventurers that will earn most for their paper, and spends what the market will not call in."""

    games = ("gnadenlos",)
    game: Gnadenlos

    def choose(self, view: GnadenlosView, actions: Sequence[Action]) -> Action:
        """What is worth most, in fields of fame."""
        return max(actions, key=lambda action: self._worth(view, action))

    def _worth(self, view: GnadenlosView, action: Action) -> float:
        match action:
            case Lay():
                return self._laid(view, action.adventurer)
            case Buy():
                return action.gold if view.cause else self._bought(view, action.gold)
            case Bid():
                return self._bid(view, action.total)
            case Pay():  # others' paper first, then few IOUs: they bring payday nearer
                return sum(iou.value + 1 for iou in action.ious if iou.colour != self.seat) - 0.1 * len(action.ious)
            case Hire():
                return self._earns(view, action.adventurer)
            case TakePair():
                return sum(self._earns(view, adventurer) for adventurer in view.pairs[action.pair])
            case _:
                return 0.0

    def _earns(self, view: GnadenlosView, adventurer: Adventurer) -> float:
        """What an adventurer will bring, over all events that may come."""
        cards = self.game.event_cards
        total = 0.0
        for card in cards:
            wins = (adventurer[SKILL[card.kind]] / 6) ** SHARP
            total += wins * self._prize(view, card) + 0.3 * (1 - wins) * card.second
        return USES * total / len(cards)

    def _prize(self, view: GnadenlosView, card: EventCard) -> float:
        """What winning an event alone brings."""
        return {GOLD_RUSH: card.first, HIGH_NOON: 2 * STOLEN, CHEATING: self.game.forward[view.my_fame]}[card.kind]

    def _laid(self, view: GnadenlosView, adventurer: Adventurer) -> float:
        """What this adventurer brings in the event, over all that the rivals may lay."""
        assert view.event is not None, "adventurers are laid for an event"
        mine = adventurer[SKILL[view.event.kind]]
        lost = RELEASE * self._earns(view, adventurer)
        rivals = [self._lays(view, seat) for seat in range(view.players) if seat != self.seat and view.crews[seat]]
        return sum(
            prod(chance for _, chance in case)
            * self._result(view, view.event, mine, [skill for skill, _ in case], lost)
            for case in product(*rivals)
        )

    def _result(self, view: GnadenlosView, card: EventCard, mine: int, others: list[int], lost: float) -> float:
        """GN-15 to GN-21 for me."""
        highest, lowest = max(others), min(others)
        if mine == highest == lowest:
            return 0.0
        if mine >= highest:
            shared = mine == highest and card.kind == HIGH_NOON
            return self._prize(view, card) / (2 if shared else 1) - lost
        if card.kind == GOLD_RUSH:
            return 0.0 if any(mine < other < highest for other in others) else card.second
        if mine > lowest:
            return 0.0
        return -lost if card.kind == HIGH_NOON else self.game.back[view.my_fame]

    def _lays(self, view: GnadenlosView, seat: int) -> list[tuple[int, float]]:
        """How likely a rival lays each skill: from the crew that all know, and what its secret cards may be."""
        assert view.event is not None, "adventurers are laid for an event"
        skill = SKILL[view.event.kind]
        crew = view.crews[seat]
        known = [adventurer[skill] for adventurer in crew if adventurer is not None]
        hidden = len(crew) - len(known)
        best = max(known, default=0)
        chances = dict.fromkeys(range(7), 0.0)
        for value in known:
            chances[value] += (1 - SHREWD) / len(crew)
        if hidden:
            secret = [adventurer[skill] for adventurer in view.secret_adventurers]
            for value in secret:
                chances[value] += (1 - SHREWD) * hidden / len(crew) / len(secret)
                chances[max(best, value)] += SHREWD / len(secret)
        else:
            chances[best] += SHREWD
        return [(value, chance) for value, chance in chances.items() if chance]

    def _bought(self, view: GnadenlosView, gold: int) -> float:
        """Fame now against what the next payday may call in from the rest."""
        left = view.my_gold - gold
        ends = view.my_fame + gold >= self.game.figures.road.fields  # a payday follows at once (GN-37)
        soon = 1.0 if ends else self._payday_soon(view)
        paid = broke = 0.0
        for debts in self._called_in(view):
            rest: float = left
            for debt in debts:
                if debt > rest:
                    broke += 1 / PAYDAYS
                    break
                rest -= debt
            paid += (left - rest) / PAYDAYS
        vulture = VULTURE[min(view.vultures[self.seat], len(VULTURE) - 1)]
        return gold + GOLD * (left - soon * paid) - soon * broke * vulture

    def _called_in(self, view: GnadenlosView) -> Iterator[list[float]]:
        """My debts in the order in which imagined paydays turn them up."""
        secret = view.secret_ious
        mine = sum(iou.value for iou in secret if iou.colour == self.seat) / max(1, len(secret))
        debts = [mine if iou is None else iou.value * (iou.colour == self.seat) for iou in view.market]
        for turned in paydays(len(debts), self.game.figures.payday.columns):
            yield [debts[place] for place in turned]

    def _payday_soon(self, view: GnadenlosView) -> float:
        """From 1, when it may be this turn, down: later ones leave time to earn."""
        full = view.players * self.game.figures.payday.columns
        turns = (full - len(view.market)) / A_TURN
        return max(0.0, 1 - max(0.0, turns - 1) / (2 * view.players))

    def _bid(self, view: GnadenlosView, total: int) -> float:
        """The adventurer that this sum may get me, less what it costs, over all that may be bid after it."""
        offers = view.pairs or [(adventurer,) for adventurer in view.offers]
        prizes = sorted((sum(self._earns(view, card) for card in offer) for offer in offers), reverse=True)
        above = sum(made > total for made in view.totals if made is not None)
        outbid = min(0.95, max(0.05, 1 - (total + 0.5) / HIGH_BID))
        ahead = [1.0]  # the chances that so many of those to come bid more
        for _ in view.queue:
            pairs = zip((*ahead, 0.0), (0.0, *ahead), strict=True)
            ahead = [stays * (1 - outbid) + up * outbid for stays, up in pairs]
        return sum(
            chance * (prize - self._cost(view, total)) for chance, prize in zip(ahead, prizes[above:], strict=False)
        )

    def _cost(self, view: GnadenlosView, total: int) -> float:
        """What a bid costs if it is taken: others' paper is free, my own the dearer the less I could pay it."""
        others = sorted((iou.value for iou in view.hand if iou.colour != self.seat), reverse=True)[:3]
        own = max(0, total - sum(others))
        overdrawn = min(own, max(0, view.debt(self.seat) + own - view.my_gold))
        return IOU * own + OVERDRAWN * (1 + view.vultures[self.seat]) * overdrawn


@cache
def paydays(size: int, columns: int) -> list[tuple[int, ...]]:
    """Which places a payday turns up in a market of this size if everybody can pay, for a number of imagined ones."""
    luck = Random(0)  # the same for everybody, always: no part of a match
    return [tuple(_turned(size, columns, luck)) for _ in range(PAYDAYS)]


def _turned(size: int, columns: int, luck: Random) -> Iterator[int]:
    """GN-32, GN-33: the outermost of the column rolled, until a column has none."""
    outermost = {place % columns: place for place in range(size)}
    while (place := outermost.get(int(luck.random() * columns), -1)) >= 0:
        yield place
        outermost[place % columns] -= columns
