"""Knockout: the best half of each table advances to the next round, until one table is left for the final."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from harness.core.plan import BracketEntry, BracketRound, Format, GamePlan, Outcome, Plan, Rounds
from harness.core.rng import Chance
from harness.formats.common import RoundTracker, Tally, batch_sizes, no_longer_knockout, play_round, still_to_play


def rounds(game: GamePlan, plan: Plan, luck: Chance) -> Rounds:
    """Play one round of tables at a time; the outcome ranks the bots by how long they stayed in."""
    event = _Cup(game, luck)
    while not event.over:
        played = yield from play_round(event.number, event.tables, game, plan, luck)
        event.add_round(played)
    return event.outcome()


class KnockoutTracker(RoundTracker):
    """Computes the bracket of a knockout from its records."""

    def outcome(self) -> Outcome:
        """Return the bracket so far, with the tables of the current round."""
        event, rounds = _Cup(self.game, Chance(self.plan.seed)), len(tables_of_rounds(self.game))
        while not event.over:
            matches = len(event.tables) * self.game.players * self.plan.deals
            played = self.matches[event.number]
            seated = [name for table in event.tables for name in table]
            known = self.tallies_of(event.number, seated, every=played == matches)
            if played < matches:
                return event.outcome(known, still_to_play(event.number, rounds, played, matches))
            event.add_round(known)
        return event.outcome()


class _Cup:
    """The state of a knockout: seeds, byes, eliminated bots, and the tables of the current round."""

    def __init__(self, game: GamePlan, luck: Chance) -> None:
        self.seats = game.players
        self.seeds = luck.shuffled(game.entrants, "lots", game.name)
        self.byes = dict.fromkeys(self.seeds, 0)
        self.beaten: list[str] = []
        self.done: list[BracketRound] = []
        self.over = False
        self._draw()

    @property
    def number(self) -> int:
        """The number of the current round."""
        return len(self.done) + 1

    def _draw(self) -> None:
        # Bots without a table get a bye: the best seeds first, but none gets a second bye before all others had one.
        self.idle = sorted(self.seeds, key=lambda name: self.byes[name])[: len(self.seeds) % self.seats]
        for name in self.idle:
            self.byes[name] += 1
        self.tables = _snake([name for name in self.seeds if name not in self.idle], self.seats)

    def add_round(self, played: Mapping[str, Tally]) -> None:
        """Add the results of the current round, and draw the next one."""
        places = [self._placed(table, played) for table in self.tables]
        if len(self.seeds) == self.seats:
            self._note_round(places, played, places[0][:1])
            self.seeds, self.over = places[0], True
            return
        # All firsts, then all seconds and so on, the better result first: winners are the next round's first seeds.
        order = [name for place in zip(*places, strict=True) for name in self._placed(place, played)]
        # At least one full table must be left for the final.
        through = max(len(self.tables) * (self.seats // 2), self.seats - len(self.idle))
        self._note_round(places, played, order[:through])
        self.beaten = order[through:] + self.beaten
        self.seeds = self.idle + order[:through]
        self._draw()

    def _placed(self, bots: Sequence[str], played: Mapping[str, Tally]) -> list[str]:
        """Return the bots, best first: by points, then fewer faults, then the sum of scores, then the better seed."""
        return sorted(
            bots,
            key=lambda name: (-played[name].points, played[name].faults, -played[name].score, self.seeds.index(name)),
        )

    def _note_round(self, places: list[list[str]], played: Mapping[str, Tally], through: Sequence[str]) -> None:
        tables = [[BracketEntry(name, played[name].points, name in through) for name in table] for table in places]
        ties = [tie for table in tables for tie in _ties(table, played)]
        notes = [f"level on points: {', '.join(ties)}."] if ties else []
        self.done.append(
            BracketRound(self._name(), tables, tuple(self.idle), played[places[0][0]].most, tuple(notes))
        )  # fmt: skip

    def _name(self) -> str:
        return "final" if len(self.seeds) == self.seats else f"round {self.number}"

    def outcome(self, known: Mapping[str, Tally] | None = None, still_open: str = "") -> Outcome:
        """Return the bracket so far; `known` has the results of the current round."""
        if self.over:
            standing = (*self.seeds, *self.beaten)
            return Outcome(standing, f"{standing[0]} wins the final.", bracket=tuple(self.done))
        points = {name: known[name].points if known and name in known else 0.0 for name in self.seeds}
        tables = [[BracketEntry(name, points[name]) for name in table] for table in self.tables]
        playing = BracketRound(self._name(), tables, tuple(self.idle))
        return Outcome(bracket=(*self.done, playing), open=still_open)


def _snake(seeds: list[str], seats: int) -> list[list[str]]:
    """Return tables of equal strength: seeds are dealt to the tables in order, then in reverse order, and so on."""
    tables = len(seeds) // seats
    rows = [seeds[row * tables : (row + 1) * tables] for row in range(seats)]
    return [list(table) for table in zip(*[row[:: -1 if i % 2 else 1] for i, row in enumerate(rows)], strict=True)]


def _ties(table: Sequence[BracketEntry], played: Mapping[str, Tally]) -> list[str]:
    """Return what decided between the last bot that advances and the next one, if they have the same points."""
    for one, two in pairwise(table):
        if one.through and not two.through and one.points == two.points:
            mine, other = played[one.bot], played[two.bot]
            by = "fewer faults" if mine.faults < other.faults else "scores" if mine.score != other.score else "seed"
            return [f"{one.bot} before {two.bot} by {by}"]
    return []


def tables_of_rounds(game: GamePlan) -> list[int]:
    """Return the number of tables of each round, which does not depend on results."""
    left, seats = len(game.entrants), game.players
    tables = []
    while left > seats:
        tables.append(left // seats)
        left = max(left % seats + left // seats * (seats // 2), seats)
    return [*tables, 1]


def count(game: GamePlan, plan: Plan) -> int:
    """Return the number of matches: every table plays all its deals in all rotations."""
    return sum(tables_of_rounds(game)) * game.players * plan.deals


def stages(game: GamePlan, _plan: Plan) -> int:
    """Return the number of rounds, including the final."""
    return len(tables_of_rounds(game))


def sizes(game: GamePlan, plan: Plan) -> Iterator[int]:
    """Yield the number of matches of each batch."""
    for tables in tables_of_rounds(game):
        yield from batch_sizes(tables, game, plan)


KNOCKOUT = Format(
    "knockout",
    "tables of which the best half advances, down to a final",
    rounds,
    count,
    adaptive=True,
    track=KnockoutTracker,
    stages=stages,
    sizes=sizes,
    extend=no_longer_knockout,
)
