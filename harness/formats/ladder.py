"""Ladder: choose tables by the results so far, so that the goal is reached with few matches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, repeat
from random import Random

from harness.core.errors import UsageError
from harness.core.plan import DuplicateSet, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.records import GameRecord, Option
from harness.core.rng import Chance
from harness.core.table import Table
from harness.formats.common import longer_ladder
from harness.formats.gauntlet import sides
from harness.formats.round_robin import MAX_TABLES_ASKED
from harness.ratings.anytime import AnytimeClaims, Claim, JointPosterior, RandomRoundClaims
from harness.ratings.statistics import LEVEL

# The table of a ladder: for each bot, the bots it is separated from and those still open.


MAX_NAMED_BOTS = 4
"""Maximum of bots named in a line of text; the others are counted. JSON has all of them."""
LEGEND = (
    "The order is the ladder's estimate. Better than, worse than: significant differences; these claims hold for any "
    "choice of tables and whenever the run stops. Not significant: the other bots."
)


def knowledge_table(
    order: Sequence[str], claimed: Collection[Claim], about: Collection[str], contenders: Collection[str] | None
) -> Table:
    """Return a table with a line for each bot, the probably strongest first; only for the bots `about`, if not empty.

    `contenders` are the bots that may still be the best; None unless the goal of the ladder is the best bot.
    """
    rows: list[Sequence[object]] = []
    data = []
    for place, name in enumerate(order, 1):
        if about and name not in about:
            continue
        behind = [worse for better, worse in claimed if better == name]
        before = [better for better, worse in claimed if worse == name]
        still = [other for other in order if other not in (name, *behind, *before)]
        may_be_best = [] if contenders is None else ["yes" if name in contenders else "no"]
        rows.append((place, name, *may_be_best, len(behind), len(before), _named(still)))
        fact = {} if contenders is None else {"may be best": name in contenders}
        data.append(
            {"guess": place, "bot": name, **fact, "better than": sorted(behind), "worse than": sorted(before),
             "not significant": still}
        )  # fmt: skip
    best = () if contenders is None else ("may be best",)
    headers = ("guess", "bot", *best, "better than", "worse than", "not significant")
    return Table("significant differences", headers, rows, data, keys=2, legend=LEGEND)


def _named(names: Sequence[str]) -> str:
    if len(names) <= MAX_NAMED_BOTS:
        return ", ".join(names) or "none"
    return f"{', '.join(names[: MAX_NAMED_BOTS - 1])} and {len(names) - MAX_NAMED_BOTS + 1} more"


# Choice of tables for each goal, by the current beliefs about the strengths of the bots.


MAX_DRAWS = 5
"""Maximum of samples of strengths for one table of contenders."""
MUCH = 1e9
"""Larger than any difference of strengths."""
Seating = list[int]


def contenders(
    beliefs: JointPosterior, seats: int, tables: int, luck: Random, left: Sequence[int], met: Sequence[Sequence[int]]
) -> list[Seating]:
    """Return tables that help find the best bot among those `left`, by top-two Thompson sampling.

    Each table has the best bots of several samples of strengths, so an unlucky bot is tried again as long as it may be
    the best. If fewer bots are left than there are seats, the table is filled with the bots that its first bot has met
    least; `met` has the number of sets of each pair.
    """
    found: list[Seating] = []
    meetings = [list(row) for row in met]
    while len(found) < tables:
        table: Seating = []
        for _ in range(MAX_DRAWS):
            drawn = beliefs.sample(luck)
            best = max(left, key=drawn.__getitem__)
            if best not in table:
                table.append(best)
            if len(table) == min(seats, len(left)):
                break
        by_strength = sorted(set(left) - set(table), key=lambda bot: -drawn[bot])
        seldom = meetings[table[0]]
        others = sorted(set(range(beliefs.bots)) - set(left), key=lambda bot: (seldom[bot], -drawn[bot]))
        table += [*by_strength, *others][: seats - len(table)]
        for bot in table:
            seldom[bot] += 1
        found.append(table)
    return found


def random_tables(groups: Sequence[Sequence[int]], seats: int, tables: int, luck: Random) -> list[Seating]:
    """Return tables for the goal order: random tables within each group, so that all of it meet the same opponents."""
    found: list[Seating] = []
    while len(found) < tables:
        drawn = []
        for group in groups:
            mixed = luck.sample(list(group), len(group))
            drawn += [mixed[at : at + seats] for at in range(0, len(mixed) - seats + 1, seats)]
        luck.shuffle(drawn)
        found += drawn
    return found[:tables]


def around(
    beliefs: JointPosterior,
    seats: int,
    tables: int,
    luck: Random,
    about: Sequence[int],
    known: Collection[frozenset[int]],
) -> list[Seating]:
    """Return tables for the goal newcomer: each newcomer in turn meets the bots it is hardest to compare with.

    These are, in random order, the bots that are better in one sample of strengths and worse in another; then the bots
    nearest in strength; last the bots whose order relative to the newcomer is `known`.
    """
    found: list[Seating] = []
    for number in range(tables):
        newcomer, first, second = about[number % len(about)], beliefs.sample(luck), beliefs.sample(luck)

        # Defaults bind the values of this pass of the loop, which a closure would not.
        def rank(bot: int, me: int = newcomer, first: list[float] = first, second: list[float] = second) -> float:
            if frozenset((me, bot)) in known:
                return MUCH + luck.random()
            clear = (first[bot] > first[me]) == (second[bot] > second[me])
            return 1 + abs(first[bot] - first[me]) if clear else luck.random()

        found.append(
            [newcomer, *sorted((bot for bot in range(beliefs.bots) if bot != newcomer), key=rank)[: seats - 1]]
        )
    return found


# The schedule: rounds of tables chosen for the goal, until it is reached or no matches are left.


MAX_BOTS = 200
"""Maximum of bots: the covariance of all strengths is computed in each round."""


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one round of tables at a time, each table with its own deal; the outcome lists what is known and open."""
    knowledge = Knowledge(game, plan)
    played = deal = 0
    for number, room in enumerate(_rooms(game, plan), 1):
        tables: list[DuplicateSet] = []
        for table in knowledge.tables(room, luck.rng("ladder", game.name, number)):
            deal += 1
            place = len(tables) + 1
            tables.append(DuplicateSet(number, place, (deal,), game.seating(table, luck, number, place)))
        for record in (yield tables):
            knowledge.add(record)
            played += 1
        if plan.number("until-separated") and knowledge.reached:
            break
    return knowledge.outcome(played)


class LadderTracker:
    """Computes the results of a ladder from its records."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self._knowledge, self._played = Knowledge(game, plan), 0
        self._most, self._seats = count(game, plan), game.players
        self._stops = bool(plan.number("until-separated"))

    def add(self, record: GameRecord) -> None:
        """Add a match."""
        self._knowledge.add(record)
        self._played += 1

    def outcome(self) -> Outcome:
        """Return what is known and what is open; the note is final only after the last match."""
        if not self._played:
            return Outcome(open="No match has been played.")
        ended = self._knowledge.outcome(self._played)
        if self._most is not None and self._played >= self._most // self._seats * self._seats:
            return ended
        if self._stops and self._knowledge.reached:
            return ended
        return replace(ended, note="", open=ended.note)


class Knowledge:
    """Beliefs and claims of a ladder about its bots: beliefs choose the tables, claims decide when it ends.

    Claims hold whenever the ladder stops. Beliefs are estimates; they also give the order of the bots.
    """

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self.claims = AnytimeClaims.for_plan(game, plan)
        self.level = plan.number("until-separated") or LEVEL
        self.goal, self.candidates = str(plan.settings["goal"]), sides(game, plan)[1]
        self._names, self._seats = game.entrants, game.players
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._beliefs = JointPosterior(len(self._names))
        self._claimed: set[Claim] = set()
        # Claims and beliefs are computed only when they are needed: many matches are added in between.
        self._claims_current = self._beliefs_current = True

    def add(self, record: GameRecord) -> None:
        """Add a match."""
        self.add_match(record.seats, record.ranks, record.set, record.seed, record.round)

    def add_match(self, seats: Sequence[str], ranks: tuple[int, ...], set_: str, seed: int, round_: int) -> None:
        """Add a match by its fields."""
        self.claims.add_match(seats, ranks, set_, seed, round_)
        self._claims_current = False

    def _update_claims(self) -> None:
        """Update the claims if matches were added; call it between two deals."""
        if not self._claims_current:
            self._claims_current, self._beliefs_current = True, False
            self._claimed = self.claims.claims(self.level)

    def beliefs(self) -> JointPosterior:
        """Return the current beliefs about the strengths."""
        self._update_claims()
        if not self._beliefs_current:
            numbers = self._numbers
            met = {(numbers[one], numbers[other]): sets for (one, other), sets in self.claims.meetings.items()}
            self._beliefs.fit(met, self._seats)
            self._beliefs_current = True
        return self._beliefs

    def tables(self, count: int, luck: Random) -> list[list[str]]:
        """Return the tables of a round."""
        self._update_claims()
        numbers, claims = self._numbers, self.claims
        if isinstance(claims, RandomRoundClaims):
            groups = [[numbers[name] for name in group] for group in claims.groups]
            found = random_tables(groups, self._seats, count, luck)
        elif self.goal == "best":
            found = self._tables_of_contenders(count, luck)
        else:
            known = {frozenset((numbers[one], numbers[other])) for one, other in self._claimed}
            about = [numbers[name] for name in self.candidates]
            found = around(self.beliefs(), self._seats, count, luck, about, known)
        return [[self._names[bot] for bot in table] for table in found]

    def _tables_of_contenders(self, count: int, luck: Random) -> list[list[int]]:
        left = [self._numbers[name] for name in self.claims.contenders(self.level)]
        met = [[self.claims.sets_met(one, other) for other in self._names] for one in self._names]
        return contenders(self.beliefs(), self._seats, count, luck, left or range(len(self._names)), met)

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        self._update_claims()
        if self.goal == "best" and len(self._names) > 2:
            return not self.claims.contenders(self.level) or self.claims.best_bot(self.level) is not None
        return not self.open_pairs()

    def open_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs that the goal needs to be separated and that are not yet.

        These are neighbours in the order or, for the goal newcomer, pairs with a candidate.
        """
        if self.goal == "newcomer":
            return self.claims.open_pairs(self.level)
        return [pair for pair in pairwise(self.order()) if not self._claimed & {pair, pair[::-1]}]

    def order(self) -> list[str]:
        """Return the bots, the probably strongest first."""
        return [self._names[bot] for bot in self.beliefs().ranked()]

    def outcome(self, played: int) -> Outcome:
        """Return what is known and what is open after `played` matches, as a sentence and a table."""
        self._update_claims()
        may_be = self.claims.contenders(self.level) if self.goal == "best" and len(self._names) > 2 else None
        table = knowledge_table(self.order(), self._claimed, self.candidates, may_be)
        return Outcome(tuple(self.order()), self.sentence(played), (table,))

    def sentence(self, played: int) -> str:
        """Return what is known and what is open after `played` matches, as one or more sentences."""
        self._update_claims()
        after = f"after {played:,} matches" if played != 1 else "after 1 match"
        at = f"at a level of {100 * self.level:g}%"
        if self.goal == "newcomer":
            return " ".join(self._placed(name, at, after) for name in self.candidates)
        if self.goal == "best" and len(self._names) > 2:
            return self._about_best(at, after)
        if close := self.open_pairs():
            pairs = "; ".join(" and ".join(pair) for pair in close)
            return f"Neighbours without a significant difference {at} {after}: {pairs}."
        return f"The order is known {after}: each bot is significantly better than the next, {at}."

    def _about_best(self, at: str, after: str) -> str:
        if best := self.claims.best_bot(self.level):
            return f"{best} is the best bot: it is significantly better than all others {at} {after}."
        left = [name for name in self.order() if name in self.claims.contenders(self.level)]
        if not left:
            return f"No bot is the best: {after} each one is significantly worse than some other, {at}."
        if len(left) == 1:
            return (
                f"If any bot is the best it is {left[0]}, {at} {after}; it has not yet met all others and finished "
                "ahead of each at least half of the time."
            )
        return f"The best bot is not known {at} {after}: it may be {either(left)}."

    def _placed(self, name: str, at: str, after: str) -> str:
        behind = [worse for better, worse in self._claimed if better == name]
        before = [better for better, worse in self._claimed if worse == name]
        bots = len(self._names)
        first, last = 1 + len(before), bots - len(behind)
        if first == last:
            return f"{name} has place {first} of {bots} {at} {after}."
        still = [other for other in self.order() if other != name and other not in behind and other not in before]
        return (
            f"{name} has place {first} to {last} of {bots} {at} {after}: it is significantly better than "
            f"{len(behind)} bots and worse than {len(before)}; not known: {', '.join(still)}."
        )


def either(names: Sequence[str]) -> str:
    """Return the names separated by commas, with "or" before the last one."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def tables_per_round(game: GamePlan, plan: Plan) -> int:
    """Return the requested number of tables per round, or enough for every bot to sit once."""
    return plan.whole("tables") or -(-len(game.entrants) // game.players)


def _rooms(game: GamePlan, plan: Plan) -> Iterator[int]:
    """Yield the number of tables of each round while matches are left; endlessly if there is no limit."""
    tables, most = tables_per_round(game, plan), count(game, plan)
    if most is None:
        yield from repeat(tables)
        return
    left = most // game.players
    while left:
        yield min(tables, left)
        left -= min(tables, left)


def stages(game: GamePlan, plan: Plan) -> int | None:
    """Return the number of rounds; None if results decide when the ladder ends."""
    most = count(game, plan)
    if most is None or plan.number("until-separated"):
        return None
    return -(-most // (tables_per_round(game, plan) * game.players))


def sizes(game: GamePlan, plan: Plan) -> Iterator[int] | None:
    """Return the number of matches of each round; None if results decide when the ladder ends."""
    if plan.number("until-separated"):
        return None
    return (tables * game.players for tables in _rooms(game, plan))


def count(game: GamePlan, plan: Plan) -> int | None:
    """Return the maximum of matches: a round for each deal, and at most max-matches; None if only results end it."""
    ends = [] if plan.number("until-separated") else [plan.deals * tables_per_round(game, plan) * game.players]
    if plan.whole("max-matches"):
        ends.append(plan.whole("max-matches") // game.players * game.players)
    return min(ends, default=None)


def check(game: GamePlan, plan: Plan) -> None:
    """Raise UsageError if the candidates do not fit the goal, an option is invalid, or there are too many bots."""
    sure, most = plan.number("until-separated"), plan.whole("max-matches")
    newcomer = plan.settings["goal"] == "newcomer"
    if newcomer and not plan.candidates:
        raise UsageError("A ladder with the goal newcomer needs one or more candidates.", fix="candidates")
    if newcomer and not sides(game, plan)[1]:
        raise UsageError(f"None of the candidates ({', '.join(plan.candidates)}) plays {game.name}.")
    if plan.candidates and not newcomer:
        raise UsageError(f"A ladder has candidates for the goal newcomer only, not for {plan.settings['goal']}.")
    if sure and not 0.5 < sure < 1:
        raise UsageError(f"until-separated is a confidence level above 0.5 and below 1, not {sure:g}.")
    if 0 < most < game.players:
        raise UsageError(
            f"{game.name} at tables of {game.players} needs at least {game.players} matches for one duplicate set; "
            f"at most {most} are allowed."
        )
    if len(game.entrants) > MAX_BOTS:
        raise UsageError(
            f"{len(game.entrants):,} bots are too many for a ladder of {game.name}; {MAX_BOTS} are the most. "
            f"A swiss can make the field smaller."
        )


LADDER = Format(
    "ladder",
    "the most informative tables, by the results so far, for finding the best bot, the order, or a newcomer's place",
    rounds,
    count,
    adaptive=True,
    anytime=True,
    check=check,
    options=(
        Option(
            "goal",
            "order",
            "what to find out: the best bot, the whole order, or the place of the candidates",
            choices=("best", "order", "newcomer"),
        ),
        Option(
            "tables", 0, "tables of a round; 0 seats everyone once", kind="int", minimum=0, maximum=MAX_TABLES_ASKED
        ),
        Option(
            "until-separated",
            0.0,
            "continue until the goal is reached with this probability; 0 is off",
            kind="float",
            minimum=0,
            maximum=1,
        ),
        Option("max-matches", 0, "play no more matches of one game than this; 0 is no limit", kind="int", minimum=0),
    ),
    candidates=True,
    track=LadderTracker,
    stages=stages,
    sizes=sizes,
    extend=lambda plan, asked: longer_ladder(plan, asked, sizes),
)
