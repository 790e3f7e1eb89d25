"""A Gnadenlos! expert: prices adventurers, reads the rivals' crews, and keeps what the next payday may ask for."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate
from math import fsum
from random import Random
from typing import Any, Final

from mypy_extensions import mypyc_attr

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
from harness import Action, Bot, Option

# Worth is counted in fields of fame. Most figures were found by playing, some are guesses.
GOLD: Final = 0.6  # a gold piece kept: it can buy a field later, if a payday does not take it
IOU: Final = 0.7  # each gold of debt taken on: not all of it is ever called in
OVERDRAWN: Final = 0.5  # what it costs in addition when I could not pay it, and as much again for each vulture I have
STOLEN: Final = 1.2  # an IOU taken from the market: others' paper is money, my own is a debt less
USES: Final = 1.6  # events that an adventurer decides before it is gone
RELEASE: Final = 0.6  # the share of an adventurer's worth that is lost when it wins and is discarded
SHARP: Final = 3  # how much more often a high skill wins than a middling one
SHREWD: Final = 0.7  # how often a rival lays its best card rather than any
HIGH_BID: Final = 8  # higher bids are rare
A_TURN: Final = 5  # IOUs that a turn adds to the market
VULTURE: Final = (5, 8, 20)  # going broke with no vulture yet, with one, with two
PAYDAYS: Final = 60  # paydays imagined to see what is called in

BEST: Final = 6  # no skill is higher (GN-2)
IN_A_BID: Final = 3  # IOUs at most (GN-25)
REMEMBERED: Final = 5_000  # crews of rivals; many differ only while cards are hidden

Paydays = list[tuple[tuple[float, ...], int]]
"""My debts in the order in which imagined paydays turn them up, and on how many of them they do so."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Broker(Bot[GnadenlosView]):
    """Buys the adventurers that will earn most for their paper, and spends what the market will not call in."""

    games = ("gnadenlos",)
    options = (Option("explain", False, "note the reason for each choice", kind="bool"),)
    game: Gnadenlos

    def choose(self, view: GnadenlosView, actions: Sequence[Any]) -> Action:
        """Return what is worth most, in fields of fame."""
        worths = self._worths(view, actions)
        best: Action = actions[worths.index(max(worths))]
        if self.settings.get("explain"):
            self.note(_reason(view, actions, worths))
        return best

    def _worths(self, view: GnadenlosView, actions: Sequence[Any]) -> list[float]:
        """Return the worth of each action: in a phase all are of one kind, and what they share is worked out once."""
        phase = view.phase
        if phase == "lay":
            return self._lays(view, actions)
        if phase == "bid":
            return self._bids(view, actions)
        if phase == "pay":
            return self._pays(actions)
        if phase == "fame":
            return self._buys(view, actions)
        if phase == "hire":
            return self._hires(view, actions)
        if phase == "steal":  # always: even with all rivals overdrawn it did no worse than leaving it
            return [STOLEN * steal.ious for steal in actions]
        return [float(buy.gold) for buy in actions]  # the last purchases

    def _earns(self, view: GnadenlosView) -> dict[Adventurer, float]:
        """Return what each adventurer will bring me, over all events that may come."""
        return earnings(self.game, self.game.forward[view.my_fame])

    def _lays(self, view: GnadenlosView, lays: Sequence[Lay]) -> list[float]:
        """Return what each adventurer brings in the event, over all that the rivals may lay."""
        assert view.event is not None, "adventurers are laid for an event"
        skill = SKILL[view.event.kind]
        rivals = self._rivals(view, skill)
        earns = self._earns(view)
        worths: list[float] = []
        for lay in lays:
            brings, discarded = self._result(view, view.event, lay.adventurer[skill], rivals)
            worths.append(brings - discarded * RELEASE * earns[lay.adventurer])
        return worths

    def _result(self, view: GnadenlosView, card: EventCard, mine: int, rivals: list[Laying]) -> tuple[float, float]:
        """Return what this skill can be expected to bring, and the chance that it is discarded (GN-15 to GN-21)."""
        all_same = none_above = 1.0
        for rival in rivals:
            all_same *= rival.exactly[mine]  # then nothing happens
            none_above *= rival.at_most[mine]
        wins = none_above - all_same
        if card.kind == GOLD_RUSH:
            second = 0.0  # some have the same higher skill, all others none above mine
            for higher in range(mine + 1, BEST + 1):
                none_between = 1.0
                for rival in rivals:
                    none_between *= rival.at_most[mine] + rival.exactly[higher]
                second += none_between - none_above
            return wins * card.first + second * card.second, wins
        none_below = alone = 1.0
        for rival in rivals:
            none_below *= rival.at_least[mine]
            alone *= rival.at_most[mine - 1]
        loses = none_below - all_same
        if card.kind == HIGH_NOON:
            return (wins + alone) * STOLEN, wins + loses
        forward, back = self.game.forward, self.game.back
        field = view.my_fame
        return wins * forward[field] + loses * back[field], wins

    def _rivals(self, view: GnadenlosView, skill: int) -> list[Laying]:
        """Return what each rival may lay: from the crew that all know, and what its secret cards may be."""
        secret: tuple[int, ...] = ()
        rivals: list[Laying] = []
        for seat, crew in enumerate(view.crews):
            if crew and seat != self.seat:
                known = sorted([adventurer[skill] for adventurer in crew if adventurer is not None])
                hidden = len(crew) - len(known)
                if hidden and not secret:
                    secret = tuple([adventurer[skill] for adventurer in view.secret_adventurers])
                rivals.append(laying(tuple(known), hidden, secret if hidden else ()))
        return rivals

    def _buys(self, view: GnadenlosView, buys: Sequence[Buy]) -> list[float]:
        """Return the worth of fame now, less what the next payday may call in from the rest of the gold."""
        vulture = VULTURE[min(view.vultures[self.seat], len(VULTURE) - 1)]
        payday_soon = self._payday_soon(view)
        gold, to_goal = view.my_gold, self.game.figures.road.fields - view.my_fame
        called_in = self._called_in(view)
        settled = 0.0  # what I pay on paydays that I can pay
        worths: list[float] = []
        for buy in reversed(buys):  # from the least gold left: a payday that it can pay need not be looked at again
            spent = buy.gold
            left = gold - spent
            whole, part, called_in = _paid(left, called_in)
            settled += whole
            paydays_broke = 0
            for _, times in called_in:
                paydays_broke += times
            broke = paydays_broke / PAYDAYS
            soon = 1.0 if spent >= to_goal else payday_soon  # at the goal a payday follows at once (GN-37)
            worths.append(spent + GOLD * (left - soon * (settled + part)) - soon * broke * vulture)
        worths.reverse()
        return worths

    def _called_in(self, view: GnadenlosView) -> Paydays:
        """Return what the next payday may call in from me; many of those imagined come to the same."""
        debts = self._debts(view)
        times: dict[tuple[float, ...], int] = {}
        for turned in paydays(len(debts), self.game.figures.payday.columns):
            called: list[float] = []
            for place in turned:
                debt = debts[place]
                if debt:
                    called.append(debt)
            key = tuple(called)
            times[key] = times.get(key, 0) + 1
        return list(times.items())

    def _debts(self, view: GnadenlosView) -> list[float]:
        """Return what I owe at each place of the market; a secret IOU may be any that I have not seen."""
        secret, me = view.secret_ious, self.seat
        mine = sum([value for value, colour in secret if colour == me])
        unknown = mine / max(1, len(secret))
        debts: list[float] = []
        for iou in view.market:
            if iou is None:
                debts.append(unknown)
            else:
                value, colour = iou
                debts.append(float(value) if colour == me else 0.0)
        return debts

    def _payday_soon(self, view: GnadenlosView) -> float:
        """Return a weight from 1, if payday may be this turn, down: later paydays leave time to earn."""
        full = view.players * self.game.figures.payday.columns
        turns = (full - len(view.market)) / A_TURN
        return max(0.0, 1 - max(0.0, turns - 1) / (2 * view.players))

    def _bids(self, view: GnadenlosView, bids: Sequence[Bid]) -> list[float]:
        """Return the adventurer that each sum may get me, less what it costs, over all that may be bid after it."""
        earns = self._earns(view)
        offers = view.pairs or [(adventurer,) for adventurer in view.offers]
        prizes = sorted([fsum([earns[card] for card in offer]) for offer in offers], reverse=True)
        made = [total for total in view.totals if total is not None]
        values = [value for value, colour in view.hand if colour != self.seat]
        values.sort()
        others = sum(values[-IN_A_BID:])
        spare = view.my_gold - view.debt(self.seat)
        overdraft = OVERDRAWN * (1 + view.vultures[self.seat])
        later, places = len(view.queue), len(prizes)
        worths: list[float] = []
        for bid in bids:
            total = bid.total
            own = max(0, total - others)  # others' paper is free; my own costs more the less I could pay it
            cost = IOU * own + (overdraft * min(own, own - spare) if own > spare else 0.0)
            place = 0
            for other in made:
                if other > total:
                    place += 1
            worth = 0.0
            for chance in overtaken(total, later):
                if place >= places:
                    break
                worth += chance * (prizes[place] - cost)
                place += 1
            worths.append(worth)
        return worths

    def _pays(self, pays: Sequence[Pay]) -> list[float]:
        """Return the preference for others' paper, then for few IOUs: more bring payday nearer."""
        worths: list[float] = []
        for pay in pays:
            free = 0
            for value, colour in pay.ious:
                if colour != self.seat:
                    free += value + 1
            worths.append(free - 0.1 * len(pay.ious))
        return worths

    def _hires(self, view: GnadenlosView, hires: Sequence[Hire] | Sequence[TakePair]) -> list[float]:
        """Return what each adventurer or pair will bring."""
        earns = self._earns(view)
        return [
            earns[hire.adventurer] if isinstance(hire, Hire) else fsum([earns[card] for card in view.pairs[hire.pair]])
            for hire in hires
        ]


REASONS = {
    "lay": "It counts what an adventurer wins in this event, over all that the rivals may lay.",
    "steal": "An IOU from the market is money, or a debt less.",
    "fame": "It counts fields now and gold kept, less what the next payday may call in.",
    "bid": "It counts the adventurers that the bid may get, less what it costs.",
    "hire": "It counts what they will bring in the events to come.",
}


def _reason(view: GnadenlosView, actions: Sequence[Any], worths: Sequence[float]) -> str:
    """Return why the best action is chosen."""
    if view.phase == "pay":
        return "The paper of others costs me nothing, and fewer IOUs in the market keep payday away."
    if view.phase == "last fame":
        return "Gold is worth nothing after the end."
    (most, _), (second, other), *_ = sorted(zip(worths, map(str, actions), strict=True), reverse=True)
    return f"Worth {most:.1f} fields of fame, and the next best, {other}, {second:.1f}. {REASONS[view.phase]}"


@cache
def earnings(game: Gnadenlos, forward: int) -> dict[Adventurer, float]:
    """Return what each adventurer will bring, over all events that may come, where a cheat moves so far."""
    return {adventurer: _earned(game, adventurer, forward) for adventurer in game.adventurers}


def _earned(game: Gnadenlos, adventurer: Adventurer, forward: int) -> float:
    total = 0.0
    for card in game.event_cards:
        wins = (adventurer[SKILL[card.kind]] / 6) ** SHARP
        prize = {GOLD_RUSH: card.first, HIGH_NOON: 2 * STOLEN, CHEATING: forward}[card.kind]
        total += wins * prize + 0.3 * (1 - wins) * card.second
    return USES * total / len(game.event_cards)


class Laying:
    """How likely a rival lays a skill, any up to it, and any from it on; each a list by skill."""

    __slots__ = ("at_least", "at_most", "exactly")

    def __init__(self, exactly: list[float]) -> None:
        self.exactly = exactly
        self.at_most = list(accumulate(exactly))
        self.at_least = list(accumulate(exactly[::-1]))[::-1]


@lru_cache(REMEMBERED)
def laying(known: tuple[int, ...], hidden: int, secret: tuple[int, ...]) -> Laying:
    """Return what a rival may lay who has these skills and `hidden` others, each any of the secret ones."""
    size = len(known) + hidden
    best = max(known, default=0)
    chances = [0.0] * (BEST + 1)
    for value in known:
        chances[value] += (1 - SHREWD) / size
    for value in secret:
        chances[value] += (1 - SHREWD) * hidden / size / len(secret)
        chances[max(best, value)] += SHREWD / len(secret)
    if not hidden:
        chances[best] += SHREWD
    return Laying(chances)


@cache
def overtaken(total: int, later: int) -> list[float]:
    """Return the chances that none, one, two ... of `later` players bid more than this."""
    outbid = min(0.95, max(0.05, 1 - (total + 0.5) / HIGH_BID))
    ahead = [1.0]
    for _ in range(later):
        pairs = zip((*ahead, 0.0), (0.0, *ahead), strict=True)
        ahead = [stays * (1 - outbid) + up * outbid for stays, up in pairs]
    return ahead


def _paid(gold: int, called_in: Paydays) -> tuple[float, float, Paydays]:
    """Return what I can be expected to pay in whole, what in part, and the paydays on which this much gold is not
    enough."""
    whole = part = 0.0
    broke: Paydays = []
    for payday in called_in:
        debts, times = payday
        rest = float(gold)
        for debt in debts:
            if debt > rest:
                broke.append(payday)
                part += times * (gold - rest) / PAYDAYS
                break
            rest -= debt
        else:
            whole += times * (gold - rest) / PAYDAYS
    return whole, part, broke


@cache
def paydays(size: int, columns: int) -> list[tuple[int, ...]]:
    """Return which places a payday turns up in a market of this size if all can pay, for a number of imagined
    ones."""
    luck = Random(0)  # always the same luck: it is not part of a match
    return [_turned(size, columns, luck) for _ in range(PAYDAYS)]


def _turned(size: int, columns: int, luck: Random) -> tuple[int, ...]:
    """Return the outermost place of the column rolled, again and again, until a column has none (GN-32, GN-33)."""
    outermost = {place % columns: place for place in range(size)}
    turned: list[int] = []
    while (place := outermost.get(int(luck.random() * columns), -1)) >= 0:
        turned.append(place)
        outermost[place % columns] -= columns
    return tuple(turned)
