"""Plays a match of X-Pasch again from its replay lines and objects wherever they differ from the rules.

Written from docs/rules/x-pasch.md, docs/games/x-pasch.md and docs/replay.md alone. It imports nothing of arena, so that
a rule misread there is not misread here too. Luck (the deck, the faces rolled) and the actions taken are believed, as
far as they are possible; everything else is worked out here and compared.
"""

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

Json = dict[str, Any]
Dice = tuple[int, ...]

FACES = range(1, 7)  # XP-2
KINDS = ("found", "place", "move", "draw")  # XP-8, in this order
EVENT_KEYS = {"type", "event", "to", "data"}
CHOICE_KEYS = {"type", "decision", "seat", "kind", "forced", "by", "legal", "taken"}


class Disagreement(Exception):
    """The lines say one thing, the rules another."""


def check(lines: Iterable[Json]) -> None:
    """Play the match of `arena replay RUN MATCH --json` again; raise `Disagreement` at the first difference."""
    script = Script(lines)
    try:
        Match(script).play()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Disagreement(f"line {script.at}: cannot be read: {error!r}") from error


# The printed lines


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def signature(action: Json) -> Json:
    """What an action does: its kind and the fields of its kind."""
    return {key: value for key, value in action.items() if key not in ("code", "text")}


class Script:
    """The lines, read one after the other, each against what must come now."""

    def __init__(self, lines: Iterable[Json]) -> None:
        self.at = 0
        self._lines = iter(lines)
        self._decision = 0
        self._codes: dict[str, int] = {}
        self._meanings: dict[int, str] = {}
        self.stand_ins: set[int] = set()

    def same(self, what: str, printed: object, expected: object) -> None:
        if canonical(printed) != canonical(expected):
            raise Disagreement(f"line {self.at}: {what} is {canonical(printed)}, by the rules {canonical(expected)}")

    def true(self, what: str, holds: bool) -> None:
        if not holds:
            raise Disagreement(f"line {self.at}: {what}")

    def line(self, kind: str, keys: set[str]) -> Json:
        self.at += 1
        line = next(self._lines, None)
        if line is None:
            raise Disagreement(f"line {self.at}: missing; there should be a {kind}")
        self.same("type of line", line["type"], kind)
        self.same(f"keys of {kind}", sorted(line), sorted(keys))
        return line

    def over(self) -> None:
        self.at += 1
        self.true("something follows the end", next(self._lines, None) is None)

    def chance(self, name: str, to: str | list[int] = "all") -> Json:
        """An event whose facts are luck."""
        line = self.line("event", EVENT_KEYS)
        self.same("event", line["event"], name)
        self.same(f"who sees {name}", line["to"], to)
        data: Json = line["data"]
        return data

    def event(self, name: str, to: str | list[int] = "all", **data: object) -> None:
        """An event whose facts follow from what was before."""
        self.same(name, self.chance(name, to), data)

    def choice(self, seat: int, kind: str, legal: list[Json]) -> Json:
        """A choice between exactly these actions, in this order; returns the one taken."""
        line = self.line("choice", CHOICE_KEYS)
        self.same("seat of choice", line["seat"], seat)
        self.same("kind of choice", line["kind"], kind)
        self.same("legal", [signature(action) for action in line["legal"]], legal)
        self._asked(line, forced=len(legal) == 1)
        for action in line["legal"]:
            self._coded(action)
        by_code = {action["code"]: signature(action) for action in line["legal"]}
        self.true("two legal actions of one code", len(by_code) == len(legal))
        self.true("taken is not legal", line["taken"] in by_code)
        return by_code[line["taken"]]

    def _asked(self, line: Json, forced: bool) -> None:
        """A choice with a single legal action is carried out without asking and is not a decision."""
        self.same("forced", line["forced"], forced)
        self.same("decision", line["decision"], None if forced else self._decision)
        self._decision += not forced
        if forced:
            self.same("by", line["by"], "rules")
        elif line["by"] == "stand-in":
            self.stand_ins.add(line["seat"])
        else:  # once a bot has failed, it never plays again
            self.same("by", line["by"], "stand-in" if line["seat"] in self.stand_ins else "bot")

    def _coded(self, action: Json) -> None:
        """One action has one code and one code one action, all through the match."""
        code = action["code"]
        self.true("code is not a number", type(code) is int)
        self.true("text is empty", bool(action["text"].strip()))
        meaning = canonical(signature(action))
        self.same(f"code of {meaning}", code, self._codes.setdefault(meaning, code))
        self.same(f"meaning of code {code}", meaning, self._meanings.setdefault(code, meaning))


# The components


@dataclass(frozen=True)
class Company:
    """XP-1: a requirement (a number, a pair, or either), an income and a founding bonus."""

    company: int
    card: int
    number: int | None
    pair: str | None
    income: int
    founding: int

    def met_by(self, dice: Dice) -> bool:
        """XP-9: the number by adding up, the k-pasch by two dice, the x-pasch by two or three equal ones (XP-3)."""
        if self.number is not None and sum(dice) == self.number:
            return True
        if self.pair is None or len(dice) < 2 or len(set(dice)) > 1:
            return False
        return self.pair == "x" or (len(dice) == 2 and str(dice[0]) == self.pair)


def printed(row: Json) -> str:
    """What is printed on a card."""
    return canonical([row["number"], row["pair"], row["income"], row["founding"]])


def in_order(ways: Iterable[Dice]) -> list[Dice]:
    """Ways to use dice, each once: by how many dice, then by the dice."""
    return sorted(set(ways), key=lambda way: (len(way), way))


class Figures:
    """What the first line says about the game, once it agrees with itself."""

    def __init__(self, script: Script) -> None:
        keys = {"type", "schema", "id", "game", "rules", "options", "seed", "players", "seats", "components"}
        first = script.line("match", keys)
        script.same("schema", first["schema"], 1)
        script.same("game", first["game"], "x-pasch")
        self.players: int = first["players"]
        script.true("not 3 to 6 players", 3 <= self.players <= 6)
        script.same("number of seats", len(first["seats"]), self.players)
        parts = first["components"]
        self.rounds: int = parts["rounds"]
        script.same("rounds (XP-21)", self.rounds, 100)
        self.hand_at_start: int = parts["game"]["hand_at_start"]
        self.hand_limit: int = parts["game"]["hand_limit"]
        self.triple_members: int = parts["game"]["triple_members"]
        self.dice: int = parts["game"]["dice"]
        self.members: int = parts["members"]["per_player"]
        self.target: int = first["options"]["target"] or parts["game"]["target"]  # XP-22
        script.same("target", parts["target"], self.target)
        self.companies = [self._company(script, row) for row in parts["companies"]]
        prints = [printed(row) for row in parts["companies"]]
        script.same("deck", sorted(printed(row) for row in parts["deck"]["cards"]), sorted(prints))
        for number, one in enumerate(self.companies):  # cards printed alike go by the lowest number of their print
            script.same("company and card", [one.company, one.card], [number, prints.index(prints[number])])

    def _company(self, script: Script, row: Json) -> Company:
        ways = row["ways"]
        company = Company(**{key: value for key, value in row.items() if key != "ways"})
        possible = [way for count in range(1, self.dice + 1) for way in combinations_with_replacement(FACES, count)]
        script.same(f"ways of #{company.company}", ways, [way for way in in_order(possible) if company.met_by(way)])
        script.true(f"income of #{company.company} is over 9 (XP-1)", 0 <= company.income <= 9)
        return company


# The game


@dataclass
class Turn:
    """What a player's turn remembers until it is over."""

    seat: int
    dice: list[int]
    stage: str = KINDS[0]  # the kind used last: earlier kinds are closed (XP-8)
    founded: set[int] = field(default_factory=set)
    from_supply: Counter[int] = field(default_factory=Counter)

    def ways(self) -> list[Dice]:
        """Every way to use some of the dice that are left; equal faces are not told apart (XP-2)."""
        counts = range(1, len(self.dice) + 1)
        return in_order(way for count in counts for way in combinations(sorted(self.dice), count))

    def use(self, kind: str, dice: Iterable[int]) -> None:
        self.stage = kind
        for die in dice:
            self.dice.remove(die)


def is_triple(dice: Dice) -> bool:
    """XP-3: three equal dice."""
    return len(dice) == 3 and len(set(dice)) == 1


class Match:
    """One match, from the deal to the scores."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.figures = figures = Figures(script)
        self.seats = range(figures.players)
        self.hands: list[list[int]] = [[] for _ in self.seats]
        self.pile: deque[int] = deque()
        self.euros = [0 for _ in self.seats]
        self.supply = [figures.members for _ in self.seats]
        self.table: dict[int, list[int]] = {}  # members by seat on each company, in the order of founding

    def play(self) -> None:
        self.deal()
        reason = "truncated"  # XP-21, unless a round ends the game
        for number in range(1, self.figures.rounds + 1):
            if self.round(number):
                reason = "target"
                break
        self.script.event("end", reason=reason, scores=self.euros)
        self.result(reason)

    def deal(self) -> None:
        """XP-4: seat 0 gets the top cards, and so on; the rest is the pile."""
        each, cards = self.figures.hand_at_start, [one.card for one in self.figures.companies]
        self.script.event("deal", "all", players=len(self.seats), hand=each, pile=len(cards) - each * len(self.seats))
        luck = self.script.chance("deck", [])
        self.script.same("keys of deck", list(luck), ["cards"])
        self.script.same("cards of the deck", sorted(luck["cards"]), sorted(cards))
        self.pile.extend(luck["cards"])
        for seat in self.seats:
            self.hands[seat] = sorted(self.pile.popleft() for _ in range(each))
            self.script.event("hand", [seat], seat=seat, cards=self.hands[seat])

    def round(self, number: int) -> bool:
        """One turn of each seat, from 0; true when it ends the game (XP-6, XP-20)."""
        chance = self.second_chance()
        self.script.event("round", round=number, second_chance=chance)
        ending = False
        for seat in self.seats:
            self.income(seat)
            ending = ending or self.euros[seat] >= self.figures.target
            if not ending:  # after it the other seats of the round only collect
                self.turn(seat, chance == seat)
        return ending

    def second_chance(self) -> int | None:
        """XP-7: the one player with fewest euros, if alone."""
        poorest = [seat for seat in self.seats if self.euros[seat] == min(self.euros)]
        return poorest[0] if len(poorest) == 1 else None

    def leads(self, seat: int, company: int) -> bool:
        """XP-5: more members than every other player has."""
        members = self.table[company]
        return all(members[seat] > members[other] for other in self.seats if other != seat)

    def income(self, seat: int) -> None:
        """XP-5."""
        paid = [[one, self.figures.companies[one].income] for one in self.table if self.leads(seat, one)]
        self.euros[seat] += sum(income for _, income in paid)
        self.script.event("income", seat=seat, companies=paid, euros=self.euros[seat])

    def turn(self, seat: int, second_chance: bool) -> None:
        """XP-7 to XP-16, after the income."""
        turn = Turn(seat, self.roll(seat))
        if second_chance:
            self.reroll(turn)
        self.use_dice(turn)
        if len(self.hands[seat]) == self.figures.hand_limit and self.pile:  # XP-16, XP-17
            self.swap(seat)

    def roll(self, seat: int) -> list[int]:
        """XP-7: the faces are luck."""
        luck = self.script.chance("roll")
        dice: list[int] = luck["dice"]
        self.script.same("roll", luck, {"seat": seat, "dice": sorted(dice)})
        self.script.same("number of dice", len(dice), self.figures.dice)
        self.script.true("no such face", all(die in FACES for die in dice))
        return list(dice)

    def reroll(self, turn: Turn) -> None:
        """XP-7: one die of their choice once more, and the new face stays."""
        faces: list[Json] = [{"kind": "reroll", "face": face} for face in sorted(set(turn.dice))]
        taken = self.script.choice(turn.seat, "reroll", [*faces, {"kind": "keep"}])
        if taken["kind"] == "keep":
            self.script.event("keep", seat=turn.seat, what="dice")
            return
        luck = self.script.chance("reroll")
        face = luck["face"]
        self.script.true("no such face", face in FACES)
        turn.dice.remove(taken["face"])
        turn.dice = sorted([*turn.dice, face])
        self.script.same("reroll", luck, {"seat": turn.seat, "die": taken["face"], "face": face, "dice": turn.dice})

    def use_dice(self, turn: Turn) -> None:
        """XP-8: until the dice are used up or the player stops."""
        carry_out = {"found": self.found, "place": self.place, "move": self.move, "draw": self.draw}
        while turn.dice:
            taken = self.script.choice(turn.seat, "dice", list(self.legal(turn)))
            if taken["kind"] == "stop":
                self.script.event("stop", seat=turn.seat, dice=turn.dice)
                return
            carry_out[taken["kind"]](turn, taken)

    def legal(self, turn: Turn) -> Iterator[Json]:
        """XP-8: all actions of the kinds still open, and `stop`."""
        offers = {"found": self.foundings, "place": self.placings, "move": self.moves, "draw": self.draws}
        for kind in KINDS[KINDS.index(turn.stage) :]:
            yield from offers[kind](turn)
        yield {"kind": "stop"}

    def foundings(self, turn: Turn) -> Iterator[Json]:
        """XP-9; XP-13: a triple founds any card; XP-18: not without a member."""
        if not self.supply[turn.seat]:
            return
        for card, way in product(sorted(set(self.hands[turn.seat])), turn.ways()):
            if self.figures.companies[card].met_by(way) or is_triple(way):
                yield {"kind": "found", "card": card, "dice": list(way)}

    def found(self, turn: Turn, taken: Json) -> None:
        """XP-9: the founding bonus only. Twins on the table: the lowest number of the print that is not yet there."""
        card, dice = taken["card"], taken["dice"]
        twins = [one.company for one in self.figures.companies if one.card == card]
        company = next(one for one in twins if one not in self.table)
        self.hands[turn.seat].remove(card)
        self.table[company] = [0 for _ in self.seats]
        turn.founded.add(company)
        turn.use("found", dice)
        members, left = self.put(turn, company, self.figures.companies[company].founding)
        self.script.event("found", seat=turn.seat, card=card, company=company, dice=dice, members=members, supply=left)

    def placings(self, turn: Turn) -> Iterator[Json]:
        """XP-11, also on a company founded this turn (XP-12); nothing without a supply (XP-18)."""
        if not self.supply[turn.seat]:
            return
        for company, way in product(self.table, turn.ways()):
            for members in self.placeable(turn.seat, company, way):
                yield {"kind": "place", "company": company, "dice": list(way), "members": members}

    def placeable(self, seat: int, company: int, way: Dice) -> list[int]:
        """XP-11: a member for each die; XP-13: or five for a triple, if the supply lets that be more (XP-18)."""
        counts = [len(way)] if self.figures.companies[company].met_by(way) else []
        if is_triple(way) and not (counts and self.supply[seat] <= len(way)):
            counts.append(self.figures.triple_members)
        return counts

    def place(self, turn: Turn, taken: Json) -> None:
        company, dice = taken["company"], taken["dice"]
        turn.use("place", dice)
        members, left = self.put(turn, company, taken["members"])
        self.script.event("place", seat=turn.seat, company=company, dice=dice, members=members, supply=left)

    def put(self, turn: Turn, company: int, wanted: int) -> tuple[int, int]:
        """XP-18: members come from the supply, and if it holds fewer, what there is. Also says what is left."""
        members = min(wanted, self.supply[turn.seat])
        self.supply[turn.seat] -= members
        self.table[company][turn.seat] += members
        turn.from_supply[company] += members
        return members, self.supply[turn.seat]

    def moves(self, turn: Turn) -> Iterator[Json]:
        """XP-14."""
        for source, target in permutations(self.table, 2):
            if self.may_move(turn, source, target):
                yield {"kind": "move", "source": source, "target": target}

    def may_move(self, turn: Turn, source: int, target: int) -> bool:
        """XP-14: a member that did not come from the supply this turn, to where you sit, not uphill, nothing new."""
        movable = self.table[source][turn.seat] - turn.from_supply[source]
        downhill = self.figures.companies[target].income <= self.figures.companies[source].income
        return movable > 0 and self.table[target][turn.seat] > 0 and downhill and target not in turn.founded

    def move(self, turn: Turn, taken: Json) -> None:
        turn.use("move", [min(turn.dice)])
        self.table[taken["source"]][turn.seat] -= 1
        self.table[taken["target"]][turn.seat] += 1
        self.script.event("move", seat=turn.seat, source=taken["source"], target=taken["target"])

    def draws(self, turn: Turn) -> Iterator[Json]:
        """XP-15, XP-17."""
        if self.pile and len(self.hands[turn.seat]) < self.figures.hand_limit:
            yield {"kind": "draw"}

    def draw(self, turn: Turn, taken: Json) -> None:
        turn.use("draw", [min(turn.dice)])
        card = self.pile.popleft()
        self.hands[turn.seat].append(card)
        self.script.event("draw", seat=turn.seat, pile=len(self.pile))
        self.script.event("drawn", [turn.seat], seat=turn.seat, card=card)

    def swap(self, seat: int) -> None:
        """XP-16: one card under the pile, its top card into the hand."""
        cards: list[Json] = [{"kind": "swap", "card": card} for card in sorted(set(self.hands[seat]))]
        taken = self.script.choice(seat, "swap", [*cards, {"kind": "keep"}])
        if taken["kind"] == "keep":
            self.script.event("keep", seat=seat, what="hand")
            return
        put = taken["card"]
        self.hands[seat].remove(put)
        self.pile.append(put)
        took = self.pile.popleft()
        self.hands[seat].append(took)
        self.script.event("swap", seat=seat, pile=len(self.pile))
        self.script.event("swapped", [seat], seat=seat, put=put, took=took)

    def result(self, reason: str) -> None:
        """XP-20: score = euros; ranks come from the scores, but seats whose bot failed share the last rank."""
        line = self.script.line("end", {"type", "ending", "scores", "ranks", "faults"})
        failed = {fault["seat"] for fault in line["faults"]}
        self.script.true("a fault of nobody", failed <= set(self.seats))
        self.script.true("a stand-in played without a fault", self.script.stand_ins <= failed)
        standing = [(seat not in failed, 0 if seat in failed else self.euros[seat]) for seat in self.seats]
        ranks = [1 + sum(other > mine for other in standing) for mine in standing]
        self.script.same("ending", line["ending"], reason)
        self.script.same("scores", line["scores"], self.euros)
        self.script.same("ranks", line["ranks"], ranks)
        self.script.over()
