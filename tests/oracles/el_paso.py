"""Plays a match of El Paso again by docs/rules/el-paso.md, from what was drawn and chosen, and checks all the rest.

It shares nothing with arena: it knows the rules, the format of docs/replay.md and the events of docs/games/el-paso.md.
Where those pages leave an order open (who turns up or loses first), any order is accepted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Json = dict[str, Any]
BySite = list[list[int]]

NAMES = ["bank", "saloon", "gold_mine", "cattle", "hotel", "horses"]  # EP-1, in the order of their numbers
SALOON, CATTLE = NAMES.index("saloon"), NAMES.index("cattle")
TOWNS = ["Deadwood", "Cheyenne", "Abilene", "Santa Fe", "San Diego", "Tombstone", "El Paso"]  # EP-4

SHERIFFS, ALL_LEFT, EMPTY = "sheriffs", "everyone has left", "nothing to plunder"  # EP-24: why a town is over


class Disagreement(Exception):
    """The match is not what the rules say."""


class Tile(NamedTuple):
    site: int
    value: int


Card = Tile  # written the same way


def same(one: object, other: object) -> bool:
    """Equal as JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def by_site(tiles: Iterable[Tile]) -> BySite:
    ordered = sorted(tiles)
    return [[tile.value for tile in ordered if tile.site == site] for site in range(len(NAMES))]


class Record:
    """The lines of a match, read one after the other and compared with what has to come."""

    def __init__(self, lines: Iterable[Json]) -> None:
        self._lines = list(lines)
        self._at = 0
        self._decisions = 0
        self._codes: dict[Any, str] = {}
        self._actions: dict[str, tuple[Any, Any]] = {}
        self.stand_ins: set[int] = set()

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            raise Disagreement(f"line {self._at}: {message}")

    def require_same(self, what: str, found: object, due: object) -> None:
        self.require(same(found, due), f"{what} is {json.dumps(found)}, by the rules {json.dumps(due)}")

    def line(self, kind: str, keys: str) -> Json:
        """Read the next line, which must be of this type and have these keys."""
        self.require(self._at < len(self._lines), f"the record ends where a line {kind!r} is due")
        line = self._lines[self._at]
        self._at += 1
        self.require(line.get("type") == kind, f"{json.dumps(line)[:200]} where a line {kind!r} is due")
        self.require_same(f"keys of line {kind!r}", sorted(line), sorted(["type", *keys.split()]))
        self.require(kind != "end" or self._at == len(self._lines), "lines after the end")
        return line

    def luck(self, event: str, keys: str, to: object = "all") -> Json:
        """Read an event whose data the rules leave to chance, at least in part."""
        line = self.line("event", "event to data")
        data: Json = line["data"]
        self.require(line["event"] == event, f"{line['event']!r} {json.dumps(data)} where {event!r} is due")
        self.require_same(f"{event!r} was seen by", line["to"], to)
        self.require_same(f"facts of {event!r}", sorted(data), sorted(keys.split()))
        return data

    def event(self, event: str, to: object = "all", **due: object) -> None:
        """Read an event of which the rules say everything."""
        self.require_same(f"{event!r}", self.luck(event, " ".join(due), to), due)

    def choice(self, seat: int, kind: str, actions: list[Json]) -> Json:
        """Read a choice between exactly these actions, in this order, and return the one that was taken."""
        line = self.line("choice", "decision seat kind forced by legal taken")
        self.require_same("choice of", [line["seat"], line["kind"]], [seat, kind])
        legal = [{key: action[key] for key in action if key not in ("code", "text")} for action in line["legal"]]
        self.require_same("legal list", legal, actions)
        for action, entry in zip(actions, line["legal"], strict=True):
            self._name(action, entry["code"], entry["text"])
        self._who_chose(line, seat, forced=len(actions) == 1)
        codes = [entry["code"] for entry in line["legal"]]
        self.require(line["taken"] in codes, f"code {line['taken']} is not in the legal list")
        return actions[codes.index(line["taken"])]

    def _name(self, action: Json, code: object, text: object) -> None:
        """An action has one code and one text in the whole match, and a code has one action."""
        key = json.dumps(action, sort_keys=True)
        self.require(same(self._codes.setdefault(code, key), key), f"code {code} stands for two actions")
        self.require(self._actions.setdefault(key, (code, text)) == (code, text), f"{key} has two names")
        self.require(isinstance(text, str) and bool(text), f"{key} has no text")

    def _who_chose(self, line: Json, seat: int, *, forced: bool) -> None:
        """A forced choice is not a decision; the others are counted. Once a stand-in, always a stand-in."""
        self.require_same("forced", line["forced"], forced)
        self.require_same("decision", line["decision"], None if forced else self._decisions)
        self._decisions += not forced
        if line["by"] == "stand-in":
            self.stand_ins.add(seat)
        who = "stand-in" if seat in self.stand_ins else "bot"
        self.require_same("by", line["by"], "rules" if forced else who)


@dataclass(frozen=True)
class Town:
    name: str
    rate: int
    sites: list[int]


@dataclass(frozen=True)
class Box:
    """The figures of the game, from the first line."""

    dice: int
    faces: list[str]
    cards: list[int]
    tiles: list[Tile]
    towns: list[Town]
    tiles_per_town: int  # EP-7
    asks_first: bool  # EP-9
    keeps_tiles: bool  # EP-21, EP-24: into the bag, not into the box
    empty_means_two: bool  # EP-23


def open_box(record: Record, head: Json) -> Box:
    """Read the components; those of the standard box must be the printed ones."""
    parts, edition = head["components"], head["options"]["edition"]
    record.require_same("edition of the components", parts["edition"], edition)
    record.require_same("sites", parts["sites"], NAMES)
    if not head["options"]["components"]:
        check_print(record, parts)
    rules = parts["editions"][edition]
    return Box(
        dice=parts["dice"]["count"],
        faces=parts["dice"]["faces"],
        cards=parts["cards"]["values"],
        tiles=[Tile(site, value) for site, name in enumerate(NAMES) for value in parts["tiles"][name]],
        towns=[Town(t["name"], t["rate"], sorted(NAMES.index(name) for name in t["sites"])) for t in parts["towns"]],
        tiles_per_town=rules["tiles_per_town"],
        asks_first=rules["may_leave_in_first_round"],
        keeps_tiles=rules["tiles_return_to"] == "bag",
        empty_means_two=rules["carry_when_empty"] == "two",
    )


def check_print(record: Record, parts: Json) -> None:
    """EP-1 to EP-4, and what the three sheets say differently: EP-7, EP-9, EP-21, EP-23."""
    record.require_same("raid cards", parts["cards"]["values"], list(range(1, 9)))
    record.require_same("tiles of a site", [len(parts["tiles"][name]) for name in NAMES], [6] * 6)
    record.require_same("number of dice", parts["dice"]["count"], 5)
    record.require_same("faces", sorted(parts["dice"]["faces"]), ["brand", "brand", "six", "six", "star", "star"])
    record.require_same("towns", [town["name"] for town in parts["towns"]], TOWNS)
    keys = ("tiles_per_town", "may_leave_in_first_round", "tiles_return_to", "carry_when_empty")
    found = {edition: [rules[key] for key in keys] for edition, rules in parts["editions"].items()}
    due = {
        "de": [20, False, "bag", "next_group"],
        "nl": [20, True, "box", "next_group"],
        "bg": [18, True, "bag", "two"],
    }
    record.require_same("editions", found, due)


@dataclass
class Pile:
    face_down: list[int]  # top first
    discard: list[int] = field(default_factory=list)  # first-laid first
    known: bool = False  # EP-28: it was a discard


@dataclass
class Player:
    hand: list[Card] = field(default_factory=list)
    tiles: list[Tile] = field(default_factory=list)
    money: int = 0


class Match:
    def __init__(self, record: Record) -> None:
        self.record = record
        head = record.line("match", "schema id game rules options seed players seats components")
        record.require_same("schema and game", [head["schema"], head["game"]], [1, "el-paso"])
        record.require(head["players"] in range(2, 6), "El Paso is for 2 to 5 players")
        record.require_same("number of seats", len(head["seats"]), head["players"])
        self.box = open_box(record, head)
        self.players = [Player() for _ in range(head["players"])]
        self.piles: list[Pile] = []
        self.bag = Counter(self.box.tiles)
        self.town = self.box.towns[0]
        self.lookout = 0  # EP-6
        self.stacks: BySite = []
        self.in_town: list[int] = []
        self.groups = 0

    def play(self) -> None:
        self.deal()
        for number in range(len(self.box.towns)):
            self.open_town(number)
            why = self.plunder() if any(self.stacks) else EMPTY  # EP-26
            if why == EMPTY:  # EP-23
                self.leave(self.in_town, empty=True)
            self.close_town(number, why)
        self.final_sale()
        self.end()

    def from_lookout(self, seats: Iterable[int]) -> list[int]:
        """Seats clockwise from the lookout's, whether or not the lookout is among them."""
        return sorted(seats, key=lambda seat: (seat - self.lookout) % len(self.players))

    def deal(self) -> None:
        """EP-5."""
        for site in range(len(NAMES)):
            data = self.record.luck("pile", "site order", to=[])
            self.record.require_same("site of the pile", data["site"], site)
            self.record.require_same("cards of the pile", sorted(data["order"]), sorted(self.box.cards))
            self.piles.append(Pile(list(data["order"])))
        for seat, player in enumerate(self.players):
            player.hand = [Card(site, pile.face_down.pop(0)) for site, pile in enumerate(self.piles)]
            self.record.event("hand", to=[seat], seat=seat, cards=player.hand)

    def open_town(self, number: int) -> None:
        """EP-7, EP-8, EP-25."""
        self.town = self.box.towns[number]
        self.lookout = number % len(self.players)
        self.in_town = self.from_lookout(range(len(self.players)))
        self.groups = 0
        data = self.record.luck("town", "town name rate sites lookout drawn stacks")
        drawn = [Tile(site, value) for site, value in data["drawn"]]
        count = min(self.box.tiles_per_town, self.bag.total())
        self.record.require(len(drawn) == count, f"{len(drawn)} tiles drawn, not {count} (EP-7)")
        missing = Counter(drawn) - self.bag
        self.record.require(not missing, f"drawn, but not in the bag: {sorted(missing)} (EP-7, EP-21, EP-24)")
        stocked = [tile for tile in drawn if tile.site in self.town.sites]
        self.bag -= Counter(stocked)
        self.stacks = by_site(stocked)
        due = {"town": number, "name": self.town.name, "rate": self.town.rate, "sites": self.town.sites}
        due |= {"lookout": self.lookout, "drawn": drawn, "stacks": self.stacks}
        self.record.require_same("town", data, due)

    def plunder(self) -> str:
        """Rounds of plunder until the town is over; returns why (EP-24)."""
        asked, stars = self.box.asks_first, 0
        while True:
            if asked:  # EP-9
                self.leave(self.answers(), empty=False)
            asked = True
            if not self.in_town:  # EP-11
                return ALL_LEFT
            cards = self.lay_cards()
            faces = self.roll(stars)
            stars += faces.count("star")
            if stars == self.box.dice:
                self.sheriffs()
            else:
                self.loot(cards, faces)
            self.discard(cards)
            self.refill(cards)
            if stars == self.box.dice:
                return SHERIFFS
            if not any(self.stacks):  # EP-23
                return EMPTY

    def answers(self) -> list[int]:
        """EP-9: who leaves."""
        leavers = []
        for seat in self.in_town:
            answer = self.record.choice(seat, "answer", [{"kind": "stay"}, {"kind": "leave"}])
            leaves = answer["kind"] == "leave"
            self.record.event("answer", seat=seat, leaves=leaves)
            if leaves:
                leavers.append(seat)
        return leavers

    def leave(self, leavers: list[int], *, empty: bool) -> None:
        """EP-10, EP-18: those who leave in one round form one group."""
        if not leavers:
            return
        self.groups += 1
        limit = self.groups
        if empty and (self.groups == 1 or self.box.empty_means_two):  # EP-23, EP-26
            limit = 2
        self.record.event("leave", seats=leavers, group=self.groups, limit=limit)
        for seat in leavers:
            self.sell(seat, self.carry(seat, limit))
        self.in_town = [seat for seat in self.in_town if seat not in leavers]

    def carry(self, seat: int, limit: int) -> list[Tile]:
        """EP-19: tile by tile in the order of sites and values, so that each set is reached in one way only."""
        carried: list[Tile] = []
        later = sorted(self.players[seat].tiles)
        while later and len(carried) < limit:
            offers = [{"kind": "carry", "site": tile.site, "value": tile.value} for tile in sorted(set(later))]
            taken = self.record.choice(seat, "carry", [{"kind": "sell"}, *offers])
            if taken["kind"] == "sell":
                break
            tile = Tile(taken["site"], taken["value"])
            carried.append(tile)
            later = later[later.index(tile) + 1 :]
        return carried

    def sell(self, seat: int, carried: list[Tile]) -> None:
        """EP-20, EP-21: all but the carried tiles."""
        player = self.players[seat]
        sold = list((Counter(player.tiles) - Counter(carried)).elements())
        here = sum(tile.value for tile in sold if tile.site in self.town.sites)
        elsewhere = sum(tile.value for tile in sold if tile.site not in self.town.sites)
        paid = here // self.town.rate + elsewhere
        player.money += paid
        player.tiles = carried
        self.give_back(sold)
        lists = {"carried": by_site(carried), "sold": by_site(sold)}
        self.record.event("sale", seat=seat, paid=paid, money=player.money, **lists)

    def give_back(self, tiles: list[Tile]) -> None:
        """EP-21, EP-24: into the bag, or out of the game."""
        if self.box.keeps_tiles:
            self.bag.update(tiles)

    def lay_cards(self) -> dict[int, Card]:
        """EP-12: face down one after the other, turned up together."""
        cards = {}
        for seat in self.in_town:
            hand = self.players[seat].hand
            offers = [{"kind": "play", "site": card.site, "value": card.value} for card in sorted(hand)]
            taken = self.record.choice(seat, "play", offers)
            cards[seat] = Card(taken["site"], taken["value"])
            hand.remove(cards[seat])
            self.record.event("laid", seat=seat)
        turned_up = self.record.luck("cards", "cards")["cards"]
        due = [{"seat": seat, "site": card.site, "value": card.value} for seat, card in sorted(cards.items())]
        self.record.require_same("cards turned up", sorted(turned_up, key=lambda card: int(card["seat"])), due)
        return cards

    def roll(self, stars: int) -> list[str]:
        """EP-13: every free die."""
        data = self.record.luck("roll", "faces stars")
        faces: list[str] = data["faces"]
        self.record.require_same("dice rolled", len(faces), self.box.dice - stars)
        self.record.require(set(faces) <= set(self.box.faces), f"no die shows {faces}")
        self.record.require_same("stars on the sheriff field", data["stars"], stars + faces.count("star"))
        return faces

    def sheriffs(self) -> None:
        """EP-14: everybody in town loses all tiles; in which order they do is left open."""
        waiting = set(self.in_town)
        while waiting:
            data = self.record.luck("sheriffs", "seat lost")
            self.record.require(data["seat"] in waiting, f"seat {data['seat']} has nothing to do with the sheriffs")
            waiting.remove(data["seat"])
            player = self.players[data["seat"]]
            self.record.require_same("tiles lost", data["lost"], by_site(player.tiles))
            self.give_back(player.tiles)
            player.tiles = []

    def loot(self, cards: dict[int, Card], faces: list[str]) -> None:
        """EP-15: site by site, highest card first, as long as there are tiles."""
        needs = {SALOON: "six", CATTLE: "brand"}
        for site, stack in enumerate(self.stacks):
            if site in needs and needs[site] not in faces:
                continue
            raiders = sorted((card.value, seat) for seat, card in cards.items() if card.site == site)
            for _, seat in reversed(raiders):
                if stack:
                    tile = Tile(site, stack.pop(0))
                    self.players[seat].tiles.append(tile)
                    self.record.event("loot", seat=seat, site=site, value=tile.value)

    def discard(self, cards: dict[int, Card]) -> None:
        """EP-16: the highest is laid first."""
        for site, pile in enumerate(self.piles):
            values = sorted((card.value for card in cards.values() if card.site == site), reverse=True)
            if values:
                pile.discard += values
                self.record.event("discard", site=site, values=values)
                self.turn_over(site)

    def turn_over(self, site: int) -> None:
        """EP-17: a pile is replaced the moment it is empty and its discard is not."""
        pile = self.piles[site]
        if pile.discard and not pile.face_down:
            pile.face_down, pile.discard, pile.known = pile.discard, [], True
            self.record.event("turned-over", site=site, order=pile.face_down)

    def refill(self, cards: dict[int, Card]) -> None:
        """EP-17: in an order drawn by lot, each who played a card draws one."""
        order: list[int] = self.record.luck("drawing-order", "seats")["seats"]
        self.record.require_same("seats that draw", sorted(order), sorted(cards))
        for seat in order:
            offers = [{"kind": "draw", "site": site} for site, pile in enumerate(self.piles) if pile.face_down]
            site = self.record.choice(seat, "draw", offers)["site"]
            self.draw(seat, site)
            self.turn_over(site)

    def draw(self, seat: int, site: int) -> None:
        """EP-28: all know the value of a card that was on the discard, of another only the one who drew it."""
        pile = self.piles[site]
        value = pile.face_down.pop(0)
        self.players[seat].hand.append(Card(site, value))
        self.record.event("draw", seat=seat, site=site, value=value if pile.known else 0)
        if not pile.known:
            self.record.event("card", to=[seat], seat=seat, site=site, value=value)

    def close_town(self, number: int, why: str) -> None:
        """EP-24."""
        self.record.event("town-over", town=number, why=why, left=self.stacks)
        self.give_back([Tile(site, value) for site, stack in enumerate(self.stacks) for value in stack])

    def final_sale(self) -> None:
        """EP-27: 1:1."""
        for seat, player in enumerate(self.players):
            player.money += sum(tile.value for tile in player.tiles)
            self.record.event("final-sale", seat=seat, sold=by_site(player.tiles), money=player.money)

    def end(self) -> None:
        """EP-27 and the README of the rules: ranks by score, seats whose bot failed share the last one."""
        line = self.record.line("end", "ending scores ranks faults")
        scores = [player.money for player in self.players]
        failed = {fault["seat"] for fault in line["faults"]}
        self.record.require(failed <= set(range(len(scores))), "a fault of nobody at the table")
        self.record.require(self.record.stand_ins <= failed, "a stand-in for a bot that did not fail")
        self.record.require_same("ending", line["ending"], "finished")
        self.record.require_same("scores", line["scores"], scores)
        standing = [-1 if seat in failed else score for seat, score in enumerate(scores)]
        self.record.require_same("ranks", line["ranks"], [1 + sum(o > own for o in standing) for own in standing])


def check(lines: Iterable[Json]) -> None:
    """Play the match printed by `arena replay RUN MATCH --json` again; raise Disagreement where it breaks a rule."""
    record = Record(lines)
    try:
        Match(record).play()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        record.require(False, f"cannot be read: {error!r}")
