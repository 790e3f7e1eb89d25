"""Swiss: rounds in which bots of equal score meet, without avoidable repeats."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise
from math import fsum

from harness.core.plan import Format, GamePlan, Outcome, Plan, Rounds
from harness.core.records import Option
from harness.core.rng import Chance
from harness.core.table import Column, Table, columns
from harness.formats.common import RoundTracker, Tally, amount, batch_sizes, longer_swiss, play_round, still_to_play

# Tables of a swiss: the standing with its tie-breaks, and the opponents of each bot in each round.


MAX_DECIMALS = 4
STANDING = (
    "The standing is ordered by the share of points won. The mean share of the opponents met breaks ties, then the "
    "lot, the lower number first. A bot gets one point for each opponent that it finishes ahead of, one half for a "
    "tie. After rounds: the place after each round."
)
MEETINGS = "For example, 3,7 60%: the bot played those in places 3 and 7 and won 60% of the points of that round."


def _meetings(
    final: Sequence[str], places: Sequence[Mapping[str, int]], played: Sequence[Mapping[str, Tally]]
) -> Table:
    at = places[-1]
    data: list[Mapping[str, object]] = []
    rows: list[Sequence[object]] = []
    for bot in final:
        cells = []
        for number, (one, after) in enumerate(zip(played, places, strict=True), 1):
            mine = one.get(bot)
            met = sorted(mine.opponents, key=lambda other: at[other]) if mine else []
            cells.append(f"{','.join(str(at[other]) for other in met)} {mine.rate:.0%}" if mine else "bye")
            data.append(
                {"bot": bot, "round": number, "opponents": met, "points": mine.points if mine else None,
                 "most": mine.most if mine else 0, "place": after[bot]}
            )  # fmt: skip
        rows.append((at[bot], bot, *cells))
    by_round = columns("number", *(f"R{number}" for number in range(1, len(played) + 1)))
    return Table("round by round", ["#", "bot", *by_round], rows, data, keys=2, legend=MEETINGS)


def _rounds(played: Sequence[object]) -> str:
    return f"{len(played)} round{'s' * (len(played) > 1)}"


def _percents(values: Sequence[float]) -> list[str]:
    """Return shares in percent, with enough decimals to distinguish neighbours, but at most MAX_DECIMALS."""
    for decimals in range(1, MAX_DECIMALS):
        texts = [f"{value:.{decimals}%}" for value in values]
        if all(one != two or a == b for (one, two), (a, b) in zip(pairwise(texts), pairwise(values), strict=True)):
            return texts
    return [f"{value:.{MAX_DECIMALS}%}" for value in values]


# Seating of a round: neighbours in the standing sit together, and repeated meetings are avoided if possible.


Met = Mapping[frozenset[str], int]
"""Number of meetings of each pair of bots."""

MAX_SEARCH_STEPS = 20_000
"""Maximum of steps of the exact search in one block: it finishes for up to a dozen bots, and may give up for more."""
MAX_BLOCK_BOTS = 96
"""Maximum of bots searched together; a larger field is cut into blocks along the standing."""


def repeats(tables: Sequence[Sequence[str]], met: Met) -> int:
    """Return the number of earlier meetings that these tables repeat."""
    return sum(met.get(frozenset(pair), 0) for table in tables for pair in combinations(table, 2))


def seat_by_standing(standing: Sequence[str], seats: int, met: Met, steps: int = MAX_SEARCH_STEPS) -> list[list[str]]:
    """Return tables of `seats` bots along the standing, best first, with few repeated meetings.

    The number of repeats is minimal unless the search needs more than `steps` steps or several blocks.
    """
    tables = len(standing) // seats
    blocks = -(-len(standing) // MAX_BLOCK_BOTS)
    cuts = [seats * (tables * block // blocks) for block in range(blocks + 1)]
    return [table for start, end in pairwise(cuts) for table in _block(standing[start:end], seats, met, steps)]


def _block(standing: Sequence[str], seats: int, met: Met, steps: int) -> list[list[str]]:
    search = _Search(standing, seats, met, steps)
    for allowed in itertools.count():
        found = search.first_with(allowed)
        if found is not None:
            return found
        if search.steps <= 0:
            return _improved(standing, seats, met)
    raise AssertionError("every seating has some number of repeats")


@dataclass
class _Search:
    """Depth-first search: seat the best waiting bot, then the nearest bots in the standing that fit."""

    standing: Sequence[str]
    seats: int
    met: Met
    steps: int
    tables: list[list[str]] = field(default_factory=list)

    def first_with(self, allowed: int) -> list[list[str]] | None:
        """Return the first seating found with at most `allowed` repeats; None if there is none or no step is left."""
        self.tables = []
        return self.tables if self._fill(list(self.standing), allowed) else None

    def _fill(self, waiting: list[str], allowed: int) -> bool:
        """Seat all waiting bots, best first; return whether it succeeded."""
        if not waiting:
            return True
        self.tables.append([waiting[0]])
        if self._complete(waiting[1:], 0, allowed):
            return True
        self.tables.pop()
        return False

    def _complete(self, waiting: list[str], start: int, allowed: int) -> bool:
        """Fill the last table with waiting bots from `start` on, then later tables; return whether it succeeded."""
        table = self.tables[-1]
        if len(table) == self.seats:
            return self._fill(waiting, allowed)
        for place in range(start, len(waiting)):
            self.steps -= 1
            if self.steps <= 0:
                return False
            cost = sum([self.met.get(frozenset((waiting[place], other)), 0) for other in table])
            if cost <= allowed:
                table.append(waiting[place])
                if self._complete(waiting[:place] + waiting[place + 1 :], place, allowed - cost):
                    return True
                table.pop()
        return False


def _improved(standing: Sequence[str], seats: int, met: Met) -> list[list[str]]:
    """Return the standing cut into tables and improved by exchanges, nearest first, that reduce repeats."""
    order = list(standing)
    for one, two in _until_quiet(order):
        tables = [order[start : start + seats] for start in (one - one % seats, two - two % seats)]
        before = repeats(tables, met)
        order[one], order[two] = order[two], order[one]
        tables = [order[start : start + seats] for start in (one - one % seats, two - two % seats)]
        if one // seats == two // seats or repeats(tables, met) >= before:
            order[one], order[two] = order[two], order[one]
    return [order[start : start + seats] for start in range(0, len(order), seats)]


def _until_quiet(order: list[str]) -> Iterator[tuple[int, int]]:
    """Yield all pairs of places, nearest first, again and again until a pass leaves `order` unchanged."""
    while True:
        before = list(order)
        for distance in range(1, len(order)):
            yield from zip(range(len(order) - distance), range(distance, len(order)), strict=True)
        if order == before:
            return


# The schedule: in every round bots with similar results meet.


MAX_BYE_CHOICES = 40
"""Maximum of choices of byes tried to avoid repeats in a round; fewer above LARGE_FIELD_BOTS."""
LARGE_FIELD_BOTS = 25


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one round of tables at a time; the outcome is the final standing."""
    event = _Event(game, luck)
    for number in range(1, rounds_of(game, plan) + 1):
        played = yield from play_round(number, event.seat(), game, plan, luck)
        event.add_round(played)
    return event.outcome()


class SwissTracker(RoundTracker):
    """Computes the standing of a swiss from the records of its complete rounds."""

    def outcome(self) -> Outcome:
        """Return the standing after the last complete round, and what is still to be played."""
        event, rounds = _Event(self.game, Chance(self.plan.seed)), rounds_of(self.game, self.plan)
        matches = count(self.game, self.plan) // rounds
        for number in range(1, rounds + 1):
            played = self.matches[number]
            if played < matches:
                return event.outcome(still_to_play(number, rounds, played, matches))
            event.add_round(self.tallies_of(number, self.game.entrants))
        return event.outcome()


class _Event:
    """The state of a swiss: points, meetings and byes."""

    def __init__(self, game: GamePlan, luck: Chance) -> None:
        self.game = game
        # Lots are drawn once: they seed the first round and break ties that nothing else breaks.
        self.lots = {name: lot for lot, name in enumerate(luck.shuffled(game.entrants, "lots", game.name), 1)}
        self.tallies = {name: Tally() for name in game.entrants}
        self.met: dict[frozenset[str], int] = {}
        self.byes = dict.fromkeys(game.entrants, 0)
        self.played: list[dict[str, Tally]] = []
        self.standings: list[list[str]] = []
        """The order after each round."""

    def outcome(self, still_open: str = "") -> Outcome:
        """Return the standing so far with its tie-breaks."""
        if not self.played:
            return Outcome(open=still_open)
        first, after = self.standings[-1][0], _rounds(self.played)
        places = [{bot: place for place, bot in enumerate(order, 1)} for order in self.standings]
        tables = (self._standing_table(places), _meetings(self.standings[-1], places, self.played))
        note = f"{first} stands first after {after}, with {self.tallies[first].rate:.1%} of the points."
        return Outcome(tuple(self.standings[-1]), "" if still_open else note, tables, open=still_open)

    def _standing_table(self, places: Sequence[Mapping[str, int]]) -> Table:
        final, keys = self.standings[-1], self._decided_by()
        shares, others = ([keys[bot][which] for bot in final] for which in (0, 1))
        share_text, other_text = _percents(shares), _percents(others)
        byes = [sum(bot not in one for one in self.played) for bot in final]
        rows: list[Sequence[object]] = []
        data: list[Mapping[str, object]] = []
        for place, bot in enumerate(final, 1):
            total, (share, met, lot) = self.tallies[bot], keys[bot]
            after = [one[bot] for one in places]
            rows.append(
                (place, bot, f"{amount(total.points)}/{total.most}", share_text[place - 1], other_text[place - 1], lot,
                 *([byes[place - 1]] if any(byes) else []), " ".join(map(str, after)))
            )  # fmt: skip
            data.append(
                {"place": place, "bot": bot, "points": total.points, "most": total.most, "share": round(share, 6),
                 "opponents share": round(met, 6), "lot": lot, "byes": byes[place - 1], "places": after}
            )  # fmt: skip
        byes_header = ["byes"] if any(byes) else []
        figures = columns("number", "points", "share", "opponents")
        head: list[Column | str] = ["place", "bot", *figures, "lot", *byes_header, Column("after rounds", "number")]
        return Table(f"standing after {_rounds(self.played)}", head, rows, data, keys=2, legend=STANDING)

    def standing(self) -> list[str]:
        """Return the bots, best first: by share of points won, then by that of the opponents met, then by lot."""
        # Shares instead of sums, so that a bye is neither an advantage nor a disadvantage.
        keys = self._decided_by()
        return sorted(self.game.entrants, key=lambda name: (-keys[name][0], -keys[name][1], keys[name][2]))

    def _decided_by(self) -> dict[str, tuple[float, float, int]]:
        rates = {name: mine.rate for name, mine in self.tallies.items()}

        def of_opponents(name: str) -> float:
            met = self.tallies[name].opponents
            return fsum(rates[other] for other in met) / max(1, len(met))  # exact sum: the order does not matter

        return {name: (rates[name], of_opponents(name), self.lots[name]) for name in self.game.entrants}

    def seat(self) -> list[list[str]]:
        """Return the tables of the next round; the remaining bots have a bye."""
        standing, seats = self.standing(), self.game.players
        best: tuple[int, list[list[str]]] | None = None
        # No bot has a second bye before all have had one; of those due, the lowest first, unless others save repeats.
        due = sorted(standing, key=lambda name: (self.byes[name], -standing.index(name)))
        for out in self._ways_out(due, len(standing) % seats):
            playing = [name for name in standing if name not in out]
            # The first choice, byes for the lowest bots, is the preferred one: the others get a shorter search.
            steps = MAX_SEARCH_STEPS if best is None else MAX_SEARCH_STEPS // 10
            tables = seat_by_standing(playing, seats, self.met, steps)
            cost = repeats(tables, self.met)
            if best is None or cost < best[0]:
                best = cost, tables
            if cost == 0:
                break
        assert best is not None
        return best[1]

    def _ways_out(self, due: list[str], many: int) -> list[tuple[str, ...]]:
        """Return fair choices of `many` bots that have a bye, best choice first."""
        if not many:
            return [()]
        most = self.byes[due[many - 1]]
        sure = tuple(name for name in due if self.byes[name] < most)
        open_to_choice = [name for name in due if self.byes[name] == most]
        # A large field seldom needs another choice, and seating it takes long.
        tried = MAX_BYE_CHOICES
        if len(due) > LARGE_FIELD_BOTS:
            tried = max(1, MAX_BYE_CHOICES * LARGE_FIELD_BOTS // (4 * len(due)))
        ways = islice(combinations(open_to_choice, many - len(sure)), tried)
        return [(*sure, *way) for way in ways]

    def add_round(self, played: dict[str, Tally]) -> None:
        """Add the results of a round."""
        for name, result in played.items():
            mine = self.tallies[name]
            mine.points += result.points
            mine.most += result.most
            mine.opponents += result.opponents
            for other in result.opponents:
                if name < other:
                    pair = frozenset((name, other))
                    self.met[pair] = self.met.get(pair, 0) + 1
        for name in self.game.entrants:
            self.byes[name] += name not in played
        self.played.append(played)
        self.standings.append(self.standing())


def rounds_of(game: GamePlan, plan: Plan) -> int:
    """Return the requested number of rounds, or enough to halve the field down to one bot."""
    return plan.whole("rounds") or max(1, (len(game.entrants) - 1).bit_length())


def count(game: GamePlan, plan: Plan) -> int:
    """Return the number of matches: every table of a round plays all its deals in all rotations."""
    return rounds_of(game, plan) * (len(game.entrants) // game.players) * game.players * plan.deals


def sizes(game: GamePlan, plan: Plan) -> Iterator[int]:
    """Yield the number of matches of each batch; every round has the same number of tables."""
    for _ in range(rounds_of(game, plan)):
        yield from batch_sizes(len(game.entrants) // game.players, game, plan)


SWISS = Format(
    "swiss",
    "rounds in which bots with similar results meet, without avoidable repeats",
    rounds,
    count,
    adaptive=True,
    stages=rounds_of,
    sizes=sizes,
    options=(Option("rounds", 0, "rounds; 0 is as many as halve the field down to one", kind="int", minimum=0),),
    track=SwissTracker,
    extend=lambda plan, asked: longer_swiss(plan, asked, sizes),
)
