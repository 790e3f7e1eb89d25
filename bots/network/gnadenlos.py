"""Descriptions of the actions of Gnadenlos! as small whole numbers for a network."""

from __future__ import annotations

from collections.abc import Sequence

from engines.gnadenlos import SKILL, Adventurer, Bid, Buy, Gnadenlos, GnadenlosView, Hire, Lay, Pay, Steal, TakePair
from harness import Action

IN_A_BID = 3
"""IOUs at most (GN-25)."""
OFFERED = 3
"""Adventurers that are offered at most (GN-24)."""


def describe(game: Gnadenlos, view: GnadenlosView, actions: Sequence[Action]) -> list[list[int]]:
    """Return the numbers of each action; how many there are depends on the kind of the action."""
    table = _Table(game, view)
    return [table.numbers(action) for action in actions]


class _Table:
    """Values that all actions of one decision share."""

    def __init__(self, game: Gnadenlos, view: GnadenlosView) -> None:
        self.game, self.view, me = game, view, view.seat
        secret = view.secret_ious
        unknown = view.market.count(None)
        mine = sum([iou.value for iou in secret if iou.colour == me])
        self.debt = view.debt(me) + (unknown * mine + len(secret) // 2) // max(1, len(secret))
        """What I owe in the market, the hidden part as it is on average."""
        self.to_payday = view.players * game.columns - len(view.market)
        self.others = sorted([iou.value for iou in view.hand if iou.colour != me], reverse=True)
        """The other players' debts that I hold."""
        self.paper = sum(self.others[:IN_A_BID])
        self.offers = sorted([_worth(offer) for offer in view.offers], reverse=True)
        self.best = [max([card[skill] for card in view.crew], default=0) for skill in range(3)]

    def numbers(self, action: Action) -> list[int]:
        """Return the numbers of an action."""
        match action:
            case Lay():
                return self.lay(action.adventurer)
            case Steal():
                return [action.ious, *self.money(0)]
            case Buy():
                return [action.gold, *self.money(action.gold)]
            case Bid():
                return self.bid(action.total)
            case Pay():
                own = [iou.value for iou in action.ious if iou.colour == self.view.seat]
                others = [iou.value for iou in action.ious if iou.colour != self.view.seat]
                return [len(action.ious), len(own), sum(own), len(others), sum(others), others.count(0)]
            case Hire():
                return self.hire((action.adventurer,))
            case TakePair():
                return self.hire(self.view.pairs[action.pair])
            case _:
                return []

    def money(self, spent: int) -> list[int]:
        """Return how I stand when this much gold is spent, and how soon a payday may come."""
        view, me = self.view, self.view.seat
        left, fame = view.gold[me] - spent, view.fame[me] + spent
        first = max([field for seat, field in enumerate(view.fame) if seat != me])
        return [
            left,
            left - self.debt,
            self.debt,
            self.to_payday,
            view.vultures[me],
            self.game.goal - fame,
            fame - first,
            max(view.vultures),
            self.game.undertaker_steps - view.undertaker,
            sum([iou is None for iou in view.market]),
        ]

    def lay(self, adventurer: Adventurer) -> list[int]:
        """Return what the rivals may lay against it, and what it is worth to keep."""
        view, event = self.view, self.view.event
        assert event is not None, "adventurers are laid for an event"
        skill = SKILL[event.kind]
        value, me = adventurer[skill], view.seat
        mine = [card[skill] for card in view.crew]
        rivals = [crew for seat, crew in enumerate(view.crews) if seat != me and crew]
        best = [max([card[skill] for card in crew if card is not None], default=0) for crew in rivals]
        hidden = [crew.count(None) for crew in rivals]
        secret = [card[skill] for card in view.secret_adventurers]
        return [
            *[int(skill == each) for each in range(3)],
            event.first,
            value,
            *adventurer,
            _worth(adventurer),
            sum([each > value for each in mine]),
            sum([each < value for each in mine]),
            len(mine),
            sum([each > value for each in best]),
            sum([each == value for each in best]),
            sum([each < value for each in best]),
            max(best, default=0),
            value - max(best, default=0),
            sum([count > 0 for count in hidden]),
            sum(hidden),
            8 * sum([each > value for each in secret]) // max(1, len(secret)),
            8 * sum([each == value for each in secret]) // max(1, len(secret)),
            self.game.forward[view.fame[me]],
            *self.money(0),
        ]

    def bid(self, total: int) -> list[int]:
        """Return what the sum costs, how many rivals it beats so far, and the adventurer that it gets then."""
        view = self.view
        made = [each for each in view.totals if each is not None]
        above = sum([each > total for each in made])
        own = max(0, total - self.paper)
        offers = [*self.offers, 0, 0]
        return [
            total,
            own,
            self.paper,
            above,
            len(made) - above,
            len(view.queue),
            offers[min(above, OFFERED)],
            *[*self.offers, 0, 0, 0][:OFFERED],
            max(0, own - max(0, view.gold[view.seat] - self.debt)),
            len(view.crew),
            *self.best,
            *self.money(0),
        ]

    def hire(self, adventurers: Sequence[Adventurer]) -> list[int]:
        """Return what the adventurers add to mine."""
        skills = [max([card[skill] for card in adventurers], default=0) for skill in range(3)]
        worth = sum(map(_worth, adventurers))
        return [
            *skills,
            worth,
            worth - (self.offers[0] if self.offers else 0),
            *[skill - best for skill, best in zip(skills, self.best, strict=True)],
            len(self.view.crew),
            self.game.forward[self.view.fame[self.view.seat]],
        ]


def _worth(adventurer: Adventurer) -> int:
    """Return a rough worth: high skills win far more often than middling ones."""
    return sum([skill * skill * skill for skill in adventurer]) // 10
