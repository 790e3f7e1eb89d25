"""Plays a match of Gnadenlos! again from its printed lines, by docs/rules/gnadenlos.md alone.

Luck and choices are taken from the lines (docs/replay.md, docs/games/gnadenlos.md); what follows from them is worked
out here and must stand there word for word. Nothing of arena is imported: a misreading there is not repeated here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from tests.oracles.gnadenlos_lines import Disagreement, Script

Adventurer = tuple[int, ...]  # gold, gun, cards
Iou = tuple[int, int]  # value, colour
Card = tuple[str, int, int]  # event, first, second

SKILL = {"gold rush": 0, "high noon": 1, "cheating": 2}  # GN-14


def check(lines: Iterable[dict[str, Any]]) -> None:
    """Raise Disagreement unless the lines of a match are what the rules make of its luck and choices."""
    script = Script(lines)
    try:
        Match(script).play()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Disagreement(f"line {script.number}: not of the documented form: {error!r}") from error


@dataclass
class Player:
    """What belongs to a seat."""

    gold: int
    field: int
    ious: list[Iou]
    adventurers: list[Adventurer]
    vultures: int = 0
    lost: bool = False


class Slip(NamedTuple):
    """An IOU in the market; `secret` while it has lain there face down since GN-7 (GN-41)."""

    iou: Iou
    secret: bool = False


class Bid(NamedTuple):
    """What a seat laid for an adventurer; without a total it could not bid (GN-27)."""

    seat: int
    total: int | None
    ious: list[Iou]


class Match:
    """The table."""

    def __init__(self, script: Script) -> None:
        self.script = script
        head = script.next("match")
        self.figures: dict[str, Any] = head["components"]
        self.variant = head["options"]["variant"]
        self.seats = int(head["players"])
        script.agree("schema and game", [head["schema"], head["game"]], [1, "gnadenlos"])
        script.agree("seats", len(head["seats"]), self.seats)
        script.agree("variant of the components", self.figures["variant"], self.variant)
        self.goal = int(self.figures["road"]["fields"])
        self.columns = int(self.figures["payday"]["columns"])
        self.players = [self._new_player(seat) for seat in range(self.seats)]
        self.market: list[Slip | None] = []
        self.pile: list[Adventurer] = []
        self.discard: list[Adventurer] = [tuple(skills) for skills in self.figures["adventurers"]["skills"]]
        self.cards: list[Card] = []
        self.reshuffles = self.shuffles = self.undertaker = self.start = 0

    def _new_player(self, seat: int) -> Player:
        """GN-1, GN-3, GN-6."""
        counts = self.figures["ious"]["counts"].items()
        ious = [(int(value), seat) for value, count in counts for _ in range(count)]
        return Player(self.figures["start"]["gold"], self.figures["road"]["start"], ious, [])

    def round(self) -> list[int]:
        """The seats clockwise from the start player."""
        return [(self.start + step) % self.seats for step in range(self.seats)]

    def play(self) -> None:
        self.set_up()
        for number in range(1, self.figures["most_turns"] + 1):
            self.start = (number - 1) % self.seats
            self.script.event("turn", number=number, start=self.start)
            if ending := self.turn():
                self.close(ending)
                self.result(ending)
                return
        self.result("truncated")  # GN-40

    def turn(self) -> str | None:
        """The cause when the game ends in it; the rest of the turn is dropped (GN-36)."""
        ending = self.event_phase() or self.buy_fame(self.start, "fame", self.figures["most_fame"])
        if ending is None:
            self.hiring()
            ending = self.paydays()
        return ending

    # Set-up
    def set_up(self) -> None:
        start = self.figures["start"]
        each = {"gold": start["gold"], "field": self.figures["road"]["start"]}
        self.script.event("set-up", players=self.seats, start=0, variant=self.variant, **each)
        self.shuffle_adventurers()
        self.shuffle_events()
        hands = [[self.pile.pop(0) for _ in range(start["adventurers"])] for _ in range(self.seats)]
        if self.variant == "experienced":
            self.auction_of_pairs([sorted(pair) for pair in hands])
            return
        for seat, hand in enumerate(hands):  # GN-6
            self.players[seat].adventurers = hand
            self.script.event("dealt", [seat], seat=seat, adventurers=sorted(hand))
        self.first_market(start["market_ious"])

    def first_market(self, values: Sequence[int]) -> None:
        """GN-7."""
        ious = sorted((value, seat) for value in values for seat in range(self.seats))
        for value, seat in ious:
            self.players[seat].ious.remove((value, seat))
        self.script.event("first market", ious=ious)
        order = self.script.shuffled("market order", "ious", ious)
        self.market = [Slip(iou, secret=True) for iou in order]

    def auction_of_pairs(self, pairs: list[list[Adventurer]]) -> None:
        """GN-9: everybody gets a pair and pays."""
        self.script.event("pairs", pairs=pairs)
        bids = self.bidding()
        left = dict(enumerate(pairs))
        for bid in bids:
            different = {tuple(pair): place for place, pair in reversed(left.items())}  # equal pairs are one choice
            legal = [{"kind": "take pair", "pair": place} for place in sorted(different.values())]
            taken = self.script.choice(bid.seat, "hire", legal)
            self.hire(bid.seat, left.pop(taken["pair"]))
        for bid in bids:
            self.to_market(bid)

    def shuffle_adventurers(self) -> None:
        """The discard becomes the pile (GN-6: at first, all adventurers)."""
        self.pile = self.script.shuffled("adventurers", "order", self.discard, reshuffle=self.reshuffles)
        self.discard = []
        self.reshuffles += 1

    def shuffle_events(self) -> None:
        """GN-8, GN-11: always all of them."""
        kinds = self.figures["events"]
        cards = [("gold rush", first, second) for first, second in kinds["gold_rush"]]
        cards += [("high noon", 0, 0)] * kinds["high_noon"] + [("cheating", 0, 0)] * kinds["cheating"]
        self.script.event("events shuffled", shuffle=self.shuffles)
        self.cards = self.script.shuffled("events", "order", cards, shuffle=self.shuffles)
        self.shuffles += 1

    # 1. Event
    def event_phase(self) -> str | None:
        if sum(bool(player.adventurers) for player in self.players) < 2:  # GN-10
            self.script.event("no event")
            return None
        card, undertaken = self.turn_card()
        if not self.cards and not undertaken:  # GN-11: the last of the pile
            self.shuffle_events()
            card, undertaken = self.turn_card()
        if undertaken:  # GN-11, GN-12
            return "undertaker"
        laid = self.lay()
        value = {seat: adventurer[SKILL[card[0]]] for seat, adventurer in laid.items()}
        if len(set(value.values())) == 1:  # GN-15
            self.script.event("all equal")
            return None
        self.carry_out(card, value, laid)
        return "goal" if any(player.field == self.goal for player in self.players) else None

    def turn_card(self) -> tuple[Card, bool]:
        """The top card, and whether the undertaker has taken his last step with it (GN-11, GN-12)."""
        card = self.cards.pop(0)
        self.script.event("event", card=card, carried_out=bool(self.cards))
        if card[0] != "high noon":
            return card, False
        self.undertaker += 1
        self.script.event("undertaker", step=self.undertaker)
        return card, self.undertaker == self.figures["undertaker"]["steps"]

    def lay(self) -> dict[int, Adventurer]:
        """GN-13, from the start player."""
        laid: dict[int, Adventurer] = {}
        for seat in self.round():
            hand = sorted(set(self.players[seat].adventurers))
            if hand:
                taken = self.script.choice(seat, "lay", [{"kind": "lay", "adventurer": one} for one in hand])
                laid[seat] = tuple(taken["adventurer"])
                self.script.event("laid", seat=seat)
        self.script.event("shown", laid=list(laid.items()))
        return laid

    def carry_out(self, card: Card, value: dict[int, int], laid: dict[int, Adventurer]) -> None:
        """Everybody's part in order from the start player."""
        ranked = sorted(set(value.values()), reverse=True)
        best, second, worst = ([seat for seat in value if value[seat] == ranked[at]] for at in (0, 1, -1))
        if card[0] == "gold rush":
            self.find_gold(best, card[1])
            self.find_gold(second, card[2])
        elif card[0] == "high noon":
            self.steal(best)
            self.put_away(worst, laid, "shot")  # GN-19
        else:
            self.cheat(best, worst)
        self.put_away(best, laid, "best")  # GN-21

    def find_gold(self, seats: list[int], found: int) -> None:
        """GN-16."""
        for seat in seats:
            self.players[seat].gold += found
            self.script.event("gold", seat=seat, found=found, gold=self.players[seat].gold)

    def steal(self, thieves: list[int]) -> None:
        """GN-17, GN-18."""
        each = 2 if len(thieves) == 1 else 1
        if len(self.market) < each * len(thieves):
            self.script.event("market too short", wanted=each * len(thieves), size=len(self.market))
            return
        for seat in thieves:
            taken = self.script.choice(seat, "steal", [{"kind": "steal", "ious": ious} for ious in (0, each)])
            self.script.event("theft", seat=seat, steals=taken["ious"] == each)
            for _ in range(taken["ious"]):
                self.draw_from_market(seat)
        if None in self.market:
            self.close_up()

    def draw_from_market(self, seat: int) -> None:
        place = self.script.luck("stolen", "place")
        slip = self.market[place] if place in range(len(self.market)) else None
        if slip is None:
            raise Disagreement(f"line {self.script.number + 1}: no IOU lies on place {place}")
        self.market[place] = None
        self.players[seat].ious.append(slip.iou)
        self.script.event("stolen", seat=seat, place=place, iou=None if slip.secret else slip.iou)
        if slip.secret:  # GN-41
            self.script.event("stolen secret", [seat], seat=seat, place=place, iou=slip.iou)

    def close_up(self) -> None:
        """GN-18: the last card of the list into the first gap, until there is none."""
        moves = []
        while None in self.market:
            last = self.market.pop()
            if last is not None:
                gap = self.market.index(None)
                self.market[gap] = last
                moves.append((len(self.market), gap))
        self.script.event("market closed up", moves=moves, size=len(self.market))

    def cheat(self, best: list[int], worst: list[int]) -> None:
        """GN-20."""
        zones = [next(zone for zone in self.figures["zones"] if hat.field <= zone["last"]) for hat in self.players]
        steps = [(seat, zones[seat]["forward"]) for seat in best] + [(seat, -zones[seat]["back"]) for seat in worst]
        for seat, step in steps:
            player = self.players[seat]
            before, player.field = player.field, min(max(player.field + step, 1), self.goal)
            self.script.event("hat", **{"seat": seat, "from": before, "to": player.field})

    def put_away(self, seats: list[int], laid: dict[int, Adventurer], why: str) -> None:
        for seat in seats:
            self.players[seat].adventurers.remove(laid[seat])
            self.discard.append(laid[seat])
            self.script.event("discarded", seat=seat, adventurer=laid[seat], why=why)

    # 2. Buying fame
    def buy_fame(self, seat: int, kind: str, most: int) -> str | None:
        """GN-22, GN-38."""
        player = self.players[seat]
        most = min(most, player.gold, self.goal - player.field)
        taken = self.script.choice(seat, kind, [{"kind": "buy", "gold": gold} for gold in range(most + 1)])
        player.gold -= taken["gold"]
        player.field += taken["gold"]
        self.script.event("fame", seat=seat, paid=taken["gold"], gold=player.gold, field=player.field)
        return "goal" if player.field == self.goal else None

    # 3. Hiring
    def hiring(self) -> None:
        few = len(self.players[self.start].adventurers) < self.figures["hires_below"]
        offers = self.turn_up() if few else []  # GN-23
        if not offers:
            self.script.event("no hiring")
            return
        self.script.event("offers", adventurers=offers)
        bids = self.bidding()
        hired = bids[: len(offers)]  # GN-30: one adventurer fewer than players
        for bid in hired:  # GN-28
            legal = [{"kind": "hire", "adventurer": one} for one in dict.fromkeys(offers)]
            taken = self.script.choice(bid.seat, "hire", legal)
            offers.remove(taken["adventurer"])
            self.hire(bid.seat, [taken["adventurer"]])
        for bid in bids:
            if bid in hired:
                self.to_market(bid)
            elif bid.total is not None:  # GN-24, GN-30
                self.players[bid.seat].ious += bid.ious
                self.script.event("bid back", seat=bid.seat, ious=bid.ious)

    def turn_up(self) -> list[Adventurer]:
        """GN-24."""
        offers: list[Adventurer] = []
        while len(offers) < self.seats - 1 and (self.pile or self.discard):
            if not self.pile:
                self.script.event("discard shuffled", size=len(self.discard))
                self.shuffle_adventurers()
            offers.append(self.pile.pop(0))
        return offers

    def bidding(self) -> list[Bid]:
        """GN-25..GN-27: the bids from the highest to the lowest, then those who could not bid."""
        bids: list[Bid] = []
        for seat in self.round():
            bids.append(self.bid(seat, {bid.total for bid in bids}))
        made = [bid for bid in bids if bid.total is not None]
        return sorted(made, key=lambda bid: -(bid.total or 0)) + [bid for bid in bids if bid.total is None]

    def bid(self, seat: int, taken: set[int | None]) -> Bid:
        hand = sorted(self.players[seat].ious)
        sizes = range(1, self.figures["most_ious"] + 1)
        ways = [way for size in sizes for way in sorted(set(combinations(hand, size)))]
        totals = sorted({worth(way) for way in ways} - taken)
        if not totals:
            self.script.event("no bid", seat=seat, hand=hand)
            return Bid(seat, None, [])
        total = self.script.choice(seat, "bid", [{"kind": "bid", "total": total} for total in totals])["total"]
        legal = [{"kind": "pay", "ious": way, "total": total} for way in ways if worth(way) == total]
        ious = list(self.script.choice(seat, "pay", legal)["ious"])
        for iou in ious:
            self.players[seat].ious.remove(iou)
        self.script.event("bid", seat=seat, total=total, ious=ious)
        return Bid(seat, total, ious)

    def hire(self, seat: int, adventurers: list[Adventurer]) -> None:
        self.players[seat].adventurers += adventurers
        self.script.event("hired", seat=seat, adventurers=adventurers)

    def to_market(self, bid: Bid) -> None:
        """GN-29; who could not bid lays nothing (GN-27)."""
        if bid.total is not None:
            self.script.event("to market", seat=bid.seat, place=len(self.market), ious=bid.ious)
            self.market += [Slip(iou) for iou in bid.ious]

    # Payday
    def paydays(self) -> str | None:
        """GN-31, GN-35."""
        while len(self.market) // self.columns >= self.seats:
            self.payday(last=False)
            if any(player.lost for player in self.players):
                return "vultures"
        return None

    def payday(self, last: bool) -> None:
        self.script.event("payday", last=last)
        turned: dict[int, Iou] = {}
        while self.roll(turned):
            pass
        for seat, player in enumerate(self.players):  # GN-34
            back = sorted(iou for iou in turned.values() if iou[1] == seat)
            if back:
                player.ious += back
                self.script.event("returned", seat=seat, ious=back)
        for place in turned:
            self.market[place] = None
        if turned:
            self.close_up()
        for seat, player in enumerate(self.players):  # GN-36, GN-37
            if player.vultures >= self.figures["payday"]["vultures_to_lose"]:
                player.lost = True
                self.script.event("lost", seat=seat)

    def roll(self, turned: dict[int, Iou]) -> bool:
        """GN-32, GN-33: whether the payday goes on."""
        column = self.script.luck("die", "column")
        if column not in range(1, self.columns + 1):
            raise Disagreement(f"line {self.script.number + 1}: the die has no {column}")
        places = [place for place in range(column - 1, len(self.market), self.columns) if place not in turned]
        slip = self.market[places[-1]] if places else None
        if slip is None:
            self.script.event("die", column=column, place=None, iou=None)
            return False
        self.script.event("die", column=column, place=places[-1], iou=slip.iou)
        turned[places[-1]] = slip.iou
        return self.settle(*slip.iou)

    def settle(self, value: int, debtor: int) -> bool:
        player = self.players[debtor]
        if player.gold >= value:
            player.gold -= value
            self.script.event("paid", seat=debtor, paid=value, gold=player.gold)
            return True
        player.vultures += 1
        player.field = max(player.field - self.figures["payday"]["fields_lost_when_broke"], 1)
        self.script.event("broke", seat=debtor, paid=0, gold=player.gold)
        self.script.event("vulture", seat=debtor, vultures=player.vultures, field=player.field)
        return False

    # End
    def close(self, cause: str) -> None:
        self.script.event("ending", cause=cause)
        if cause != "vultures":  # GN-37
            self.payday(last=True)
        for seat in self.round():  # GN-38
            if not self.players[seat].lost:
                self.buy_fame(seat, "last fame", self.figures["most_last_fame"])

    def result(self, ending: str) -> None:
        """GN-39; a failed bot is ranked last."""
        scores = [0 if player.lost else 1000 * player.field + player.gold for player in self.players]
        self.script.event("over", ending=ending, scores=scores)
        end = self.script.next("end")
        self.script.agree("ending and scores", [end["ending"], end["scores"]], [ending, scores])
        failed = {fault["seat"] for fault in end["faults"]}
        worth_of = [-1 if seat in failed else score for seat, score in enumerate(scores)]
        self.script.agree("ranks", end["ranks"], [1 + sum(other > own for other in worth_of) for own in worth_of])
        if not self.script.stand_ins <= failed:
            raise Disagreement(f"stand-ins played for {self.script.stand_ins}, but faults name {failed}")
        self.script.agree("how many lines", len(self.script.lines), self.script.number)


def worth(ious: Iterable[Iou]) -> int:
    """The sum of a bid (GN-26)."""
    return sum(value for value, _ in ious)
