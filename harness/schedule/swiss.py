"""Swiss: in every round those who stand level play each other, and nobody meets twice where that can be avoided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import fsum

from harness.core.chance import Chance
from harness.core.format import Format, GamePlan, Outcome, Plan, Rounds
from harness.core.types import GameRecord, Option
from harness.schedule import swiss_results
from harness.schedule.pairing import STEPS, repeats, seat_by_standing
from harness.schedule.rounds import RoundRecords, Tally, play_round, sizes_of_round, still_to_play

BYES_TRIED = 40
"""Ways of choosing who sits out that are tried for a round without repeats; fewer in a field above LARGE."""
LARGE = 25


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """A round of tables at a time; the outcome is the final standing."""
    event = _Event(game, luck)
    for number in range(1, rounds_of(game, plan) + 1):
        played = yield from play_round(number, event.seat(), game, plan, luck)
        event.take(played)
    return event.outcome()


class SwissTracker:
    """Follows a swiss by its records alone: what counts are the rounds that are complete."""

    def __init__(self, game: GamePlan, plan: Plan) -> None:
        self._game, self._plan = game, plan
        self._records = RoundRecords()

    def add(self, record: GameRecord) -> None:
        """Takes in a match."""
        self._records.add(record)

    def outcome(self) -> Outcome:
        """The standing after the last complete round, and how many are left."""
        event, rounds = _Event(self._game, Chance(self._plan.seed)), rounds_of(self._game, self._plan)
        matches = count(self._game, self._plan) // rounds
        for number in range(1, rounds + 1):
            played = self._records.matches[number]
            if played < matches:
                return event.outcome(still_to_play(number, rounds, played, matches))
            event.take(self._records.of(number, self._game.name, self._game.entrants))
        return event.outcome()


class _Event:
    """What a swiss remembers: points, meetings and byes."""

    def __init__(self, game: GamePlan, luck: Chance) -> None:
        self.game = game
        # Lots are drawn once: they seed the first round and break ties that nothing else breaks.
        self.lots = {name: lot for lot, name in enumerate(luck.shuffled(game.entrants, "lots", game.name), 1)}
        self.tallies = {name: Tally() for name in game.entrants}
        self.met: dict[frozenset[str], int] = {}
        self.byes = dict.fromkeys(game.entrants, 0)
        self.played: list[dict[str, Tally]] = []
        self.standings: list[list[str]] = []
        """After each round."""

    def outcome(self, still_open: str = "") -> Outcome:
        """The standing so far, and how it came about."""
        return swiss_results.outcome(self.standings, self.played, self._decided_by(), self.tallies, still_open)

    def standing(self) -> list[str]:
        """Best first: share of points won, then the same of the opponents met, then the lot.

        Shares, not sums, so that a round sat out neither helps nor hurts.
        """
        keys = self._decided_by()
        return sorted(self.game.entrants, key=lambda name: (-keys[name][0], -keys[name][1], keys[name][2]))

    def _decided_by(self) -> dict[str, tuple[float, float, int]]:
        rates = {name: mine.rate for name, mine in self.tallies.items()}

        def of_opponents(name: str) -> float:
            met = self.tallies[name].opponents
            return fsum(rates[other] for other in met) / max(1, len(met))  # the same in whatever order

        return {name: (rates[name], of_opponents(name), self.lots[name]) for name in self.game.entrants}

    def seat(self) -> list[list[str]]:
        """The tables of the next round; whoever is left over sits out."""
        standing, seats = self.standing(), self.game.players
        best: tuple[int, list[list[str]]] | None = None
        # Nobody sits out twice before all have; among those due, the lowest first, unless others save repeats.
        due = sorted(standing, key=lambda name: (self.byes[name], -standing.index(name)))
        for out in self._ways_out(due, len(standing) % seats):
            playing = [name for name in standing if name not in out]
            # The first way has the lowest bots sit out: the others are tried less hard.
            tables = seat_by_standing(playing, seats, self.met, STEPS if best is None else STEPS // 10)
            cost = repeats(tables, self.met)
            if best is None or cost < best[0]:
                best = cost, tables
            if cost == 0:
                break
        assert best is not None
        return best[1]

    def _ways_out(self, due: list[str], many: int) -> list[tuple[str, ...]]:
        """Who may sit out, `many` at a time, best choice first, all of them fair."""
        if not many:
            return [()]
        most = self.byes[due[many - 1]]
        sure = tuple(name for name in due if self.byes[name] < most)
        open_to_choice = [name for name in due if self.byes[name] == most]
        # A large field seldom needs another way, and takes long to seat.
        tried = BYES_TRIED if len(due) <= LARGE else max(1, BYES_TRIED * LARGE // (4 * len(due)))
        ways = islice(combinations(open_to_choice, many - len(sure)), tried)
        return [(*sure, *way) for way in ways]

    def take(self, played: dict[str, Tally]) -> None:
        """Notes what happened in a round."""
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
    """The rounds asked for, or as many as it takes two halves to become one bot."""
    return plan.whole("rounds") or max(1, (len(game.entrants) - 1).bit_length())


def count(game: GamePlan, plan: Plan) -> int:
    """Every round plays all its deals in all rotations."""
    return rounds_of(game, plan) * (len(game.entrants) // game.players) * game.players * plan.deals


def sizes(game: GamePlan, plan: Plan) -> Iterator[int]:
    """Every round has the same tables, whoever sits there."""
    for _ in range(rounds_of(game, plan)):
        yield from sizes_of_round(len(game.entrants) // game.players, game, plan)


def extend(plan: Plan, asked: Plan) -> Plan:
    """More rounds."""
    from harness.schedule.longer_runs import longer_swiss  # few runs are extended

    return longer_swiss(plan, asked, sizes)


SWISS = Format(
    "swiss",
    "rounds in which those who stand level meet, without avoidable repeats",
    rounds,
    count,
    adaptive=True,
    stages=rounds_of,
    sizes=sizes,
    options=(Option("rounds", 0, "rounds; 0 is as many as halve the field down to one", kind="int", minimum=0),),
    track=SwissTracker,
    extend=extend,
)
