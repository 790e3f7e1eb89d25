"""Which bots are told apart where results decide who plays next and when to stop: claims that hold at any time.

Claims come from bets, as in betting.py. Who sits at the next table is chosen from the past only; so if one bot is not
the better of two, the wealth of those who bet on it does not grow on average, whoever meets whom and whenever one
stops. The mean of several such wealths does not grow either. What is bet on:

- `AnytimeClaims`: the duplicate sets in which two bots met, by the share of the matches in which the one finished ahead
  of the other (a tie is half of one). This asks nothing of how tables are chosen.
- `EvenRounds`: half of the wealth on that, and half on all sets of two bots, whomever they met, by the difference of
  the shares of the table that they finished ahead of in a round. This needs rounds in which lots alone decide who of a
  group sits with whom, so that the opponents of one bot are as likely to be those of another; to order many bots it
  needs far fewer matches.

All claims of a run together are wrong in at most 1 - level of all runs:

- Pairs. A pair can be claimed wrongly in two ways, a pair that was claimed rightly in one. So with P pairs of which C
  are claimed, wealth of (2P - C) / (1 - level) is enough: were a claim wrong, the mean wealth of all bets that are in
  truth unfavourable would have been 1 / (1 - level) at that time, which comes to pass in so many runs at most. A claim
  stays: the greatest wealth that a bet ever had counts.
- The best. Each bot has one gambler who bets against it at every table where it sits, on the rival there who has been
  refuted least. Against a bot that nobody beats that does not pay. Who is left when all others are refuted is the best,
  if there is a best one. Were several bots level at the top, all of them but one would have to be refuted, and the mean
  of their wealths would be at least half of what each needs: wealth of 2 / (1 - level) is enough for any number of
  bots. Where everybody is beaten by somebody nobody is the best; so the one that is left must also have met all others
  and have been ahead of each at least half of the time.

A run that is about the best bot, or about some of the pairs, spends ABOUT of the doubt on that, the rest on all pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import combinations
from math import exp, log

from harness.core.format import GamePlan, Plan
from harness.core.types import GameRecord
from harness.ratings.betting import FRACTIONS
from harness.ratings.evidence import pairs
from harness.ratings.intervals import LEVEL
from harness.ratings.joint_beliefs import Meetings

ABOUT = 0.8
"""The part of the doubt that goes to what a run is about."""
NEVER = Meetings(0, 0.0, 0.0)
Claim = tuple[str, str]
"""The better and the worse bot."""


class Gamblers:
    """They bet that a mean is above one half: one for each fraction, and that for each kind of bets."""

    __slots__ = ("growths", "peak")

    def __init__(self, kinds: int = 1) -> None:
        self.growths = [(0.0,) * len(FRACTIONS)] * kinds
        self.peak = 0.0
        """The logarithm of the most that they have ever had together."""

    def bet(self, value: float, kind: int = 0) -> None:
        """Takes in a value from 0 to 1."""
        grown = tuple([had + more for had, more in zip(self.growths[kind], growth(value), strict=True)])
        self.growths[kind] = grown
        if max(grown) > self.peak:  # together they never have more than the richest of them
            self.peak = max(self.peak, self.wealth)

    @property
    def wealth(self) -> float:
        """The logarithm of what they have together now."""
        every = [each for kind in self.growths for each in kind]
        best = max(every)
        return best + log(sum([exp(each - best) for each in every]) / len(every))


@lru_cache(maxsize=10_000)
def growth(value: float) -> tuple[float, ...]:
    """By how much a value makes the logarithm of each fraction's wealth grow."""
    return tuple(log(1 + fraction * (2 * value - 1)) for fraction in FRACTIONS)


class AnytimeClaims:
    """What may be claimed of some bots, from the matches so far, in schedule order."""

    KINDS = 1
    """Kinds of bets on a pair, with equal wealth at the beginning."""

    def __init__(self, names: Sequence[str], about: Collection[frozenset[str]] = (), best: bool = False) -> None:
        """`about` are the pairs that the run is about, all of them if none are named; `best`: it is about the best."""
        self.names = tuple(names)
        every = list(map(frozenset, combinations(names, 2)))
        self.about = frozenset(about) or frozenset(every)
        self._best = best and len(names) > 2  # of two bots the better one is the best
        rest = len(every) - len(self.about)
        self._doubt = 1 - ABOUT if self._best else 1.0
        """The part of the doubt that goes to pairs."""
        self._shares = (ABOUT if rest else 1.0) / max(1, len(self.about)), (1 - ABOUT) / max(1, rest)
        """Of that, what goes to each pair that the run is about, and to each other one."""
        self._bets: dict[Claim, Gamblers] = {}
        self.meetings: dict[tuple[str, str], Meetings] = {}
        """For each pair that has met, in the order of their names, what came of it for the first of the two."""
        self._against = {name: Gamblers() for name in names}
        self._unit: dict[Claim, tuple[float, int, int]] = {}
        """The deal being played: for each pair the sum of its values, how many, and 0 if both sat in the same seats."""
        self._set, self._seed, self._settled = "", -1, False

    @classmethod
    def of(cls, game: GamePlan, plan: Plan) -> AnytimeClaims:
        """What may be claimed in a run with this plan, before its first match."""
        goal, chosen = plan.settings.get("goal"), set(plan.candidates)
        if goal == "order":
            return EvenRounds(game.entrants, game.players, plan.number("until-separated") or LEVEL)
        every = list(map(frozenset, combinations(game.entrants, 2)))
        if goal is None and chosen:  # a comparison
            return cls(game.entrants, [pair for pair in every if pair <= chosen])
        return cls(game.entrants, [pair for pair in every if pair & chosen], goal == "best")

    def add(self, record: GameRecord) -> None:
        """Takes in one match."""
        self.see(record.seats, record.ranks, record.set, record.seed)

    def see(self, seats: Sequence[str], ranks: tuple[int, ...], set_: str, seed: int) -> None:
        """Takes in a match. Those of one set or of one deal that follow each other are one piece of luck."""
        if set_ != self._set and seed != self._seed:
            self._settle()
            self._settled = False
        self._set, self._seed = set_, seed
        if self._settled or len(set(seats)) < len(seats):
            return  # the luck of this deal has been seen before, or a bot met itself
        unit = self._unit
        for left, right, share in pairs(ranks):
            one, other, seated = seats[left], seats[right], (1 << 20 * left) - (1 << 20 * right)
            if one > other:
                one, other, share, seated = other, one, 1 - share, -seated
            had = unit.get((one, other))
            unit[one, other] = (share, 1, seated) if had is None else (had[0] + share, had[1] + 1, had[2] + seated)

    def _settle(self) -> None:
        """Pays the bets on a deal. Where it was cut off, and the seats of a pair were not even, it says nothing."""
        values: dict[Claim, float] = {}
        for (one, other), (ahead, met, uneven) in self._unit.items():
            if not uneven:
                values[one, other], values[other, one] = ahead / met, 1 - ahead / met
                sets, sum_, squares = self.meetings.get((one, other), NEVER)
                value = ahead / met
                self.meetings[one, other] = Meetings(sets + 1, sum_ + value, squares + value * value)
        self._unit = {}
        if values:
            self._pay(values)

    def _pay(self, values: dict[Claim, float]) -> None:
        for pair, value in values.items():
            self._bet(pair, value)
        if self._best:
            self._bet_against(values)

    def _bet(self, pair: Claim, value: float, kind: int = 0) -> None:
        gamblers = self._bets.get(pair)
        if gamblers is None:
            gamblers = self._bets[pair] = Gamblers(self.KINDS)
        gamblers.bet(value, kind)

    def _bet_against(self, values: dict[Claim, float]) -> None:
        against = self._against
        sit = sorted({name for pair in values for name in pair}, key=lambda name: (against[name].wealth, name))
        lost = []
        for name in sit:
            rival = next((each for each in sit if (each, name) in values), None)
            if rival:
                lost.append((name, values[rival, name]))
        for name, value in lost:
            against[name].bet(value)

    def claims(self, level: float = LEVEL) -> set[Claim]:
        """The pairs (better, worse) that may all be claimed; to be asked between two deals."""
        self._close()
        best, told = self.best(level), self._told_apart(level)
        return told | {(best, name) for name in self.names if name != best} if best else told

    def best(self, level: float = LEVEL) -> str | None:
        """The bot that is better than all others, if the run is about that and it is known."""
        left = self.contenders(level)
        if not self._best or len(left) != 1:
            return None
        shown = all(self._ahead(left[0], other) >= 0.5 for other in self.names if other != left[0])
        return left[0] if shown else None

    def _ahead(self, one: str, other: str) -> float:
        """The share of the matches in which the one finished ahead of the other; 0 if they have not met."""
        sets, ahead, _ = self.meetings.get((min(one, other), max(one, other)), NEVER)
        return 0.0 if not sets else (ahead if one < other else sets - ahead) / sets

    def contenders(self, level: float = LEVEL) -> list[str]:
        """Who may still be the best."""
        self._close()
        needed, beaten = log(2 / (1 - level) / ABOUT), {worse for _, worse in self._told_apart(level)}
        return [name for name in self.names if self._against[name].peak < needed and name not in beaten]

    def open_pairs(self, level: float = LEVEL) -> list[tuple[str, str]]:
        """The pairs that the run is about and that are not told apart."""
        told = set(map(frozenset, self.claims(level)))
        return [pair for pair in combinations(self.names, 2) if frozenset(pair) in self.about - told]

    def sets(self, one: str, other: str) -> int:
        """In how many whole sets these two have met."""
        return self.meetings.get((min(one, other), max(one, other)), NEVER).sets

    def _close(self) -> None:
        self._settle()
        self._settled = True

    def _told_apart(self, level: float) -> set[Claim]:
        doubt, about = self._doubt * (1 - level), self.about
        shares = {pair: self._shares[frozenset(pair) not in about] for pair in self._bets}
        ranked = sorted(
            ((gamblers.peak + log(shares[pair]), pair) for pair, gamblers in self._bets.items()), reverse=True
        )
        claimed: set[Claim] = set()
        left = 2.0
        for worth, pair in ranked:
            if pair[::-1] in claimed or not self.sets(*pair):
                continue
            if worth < log(left / doubt):
                break
            claimed.add(pair)
            left -= shares[pair]
        return claimed


class EvenRounds(AnytimeClaims):
    """Claims from rounds in which lots decide who sits with whom, within groups that are not told apart."""

    KINDS = 2

    def __init__(self, names: Sequence[str], seats: int, level: float = LEVEL) -> None:
        """`seats` at a table; bots that are told apart with `level` need not meet any more."""
        super().__init__(names)
        self._table, self._level = seats, level
        self._round = self._paid = ""
        self._shares_ahead: dict[str, tuple[float, int]] = {}
        self.groups: list[list[str]] = [list(names)]
        """Those whom the lots of the next round seat together; others have no use for it."""

    def _pay(self, values: dict[Claim, float]) -> None:
        super()._pay(values)
        round_ = self._set.rpartition(".")[0]
        if round_ != self._round:
            self._pay_round()
            self._round = round_
        if round_ == self._paid:
            return
        table = sorted({one for one, _ in values})
        for name in table:
            ahead, sets = self._shares_ahead.get(name, (0.0, 0))
            share = sum([values[name, other] for other in table if other != name]) / (len(table) - 1)
            self._shares_ahead[name] = ahead + share, sets + 1

    def _pay_round(self) -> None:
        """Pays the bets on a round that is over, and makes the groups of the next one."""
        if not self._shares_ahead:
            return
        shares = {name: ahead / sets for name, (ahead, sets) in self._shares_ahead.items()}
        self._shares_ahead = {}
        for group in self.groups:
            for one, other in combinations([name for name in group if name in shares], 2):
                value = round(0.5 + (shares[one] - shares[other]) / 2, 9)
                self._bet((one, other), value, 1)
                self._bet((other, one), 1 - value, 1)
        self.groups = self._grouped()

    def _close(self) -> None:
        super()._close()
        self._pay_round()
        self._paid = self._round

    def _grouped(self) -> list[list[str]]:
        """Bots that are linked by pairs not told apart, with their neighbours where they are too few for a table."""
        told = self._told_apart(self._level)
        won = Counter(better for better, _ in told)
        left = sorted(self.names, key=lambda name: -won[name])
        groups: list[list[str]] = []
        while left:
            group = [left.pop(0)]
            for name in group:
                linked = [other for other in left if (name, other) not in told and (other, name) not in told]
                group += linked
                left = [other for other in left if other not in linked]
            groups.append(group)
        at = 0
        while at < len(groups):
            if 1 < len(groups[at]) < self._table:
                near = at + 1 if at + 1 < len(groups) else at - 1
                groups[min(at, near)] += groups.pop(max(at, near))
                at = min(at, near)
            else:
                at += 1
        return [group for group in groups if len(group) > 1] or [list(self.names)]
