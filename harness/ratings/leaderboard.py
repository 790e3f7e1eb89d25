"""The leaderboard of a game, and the ratings of a run by game."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, log

from harness.core.plan import RunningClaims
from harness.core.records import GameRecord
from harness.ratings.beat_rate import (
    AheadFit,
    Difference,
    compact_letters,
    fit_ahead,
    head_to_head,
    reaches,
    sureness,
    told_apart,
    worths,
)
from harness.ratings.evidence import LEVEL, Evidence, Interval, OpenDeal, SeatSums, Stages, WideStage
from harness.ratings.plackett_luce import AlphaShare, alpha_rank, fit
from harness.ratings.trueskill import BotRating, Ratings, by_game, in_schedule_order

# The claims of a leaderboard: each bot's line with its place, its intervals and how sure all that is.


ELO = 400 / log(10)
"""Elo points in one unit of a logarithm of strengths."""
SEATED = (
    "Results decided who met whom, so the format's own result is what counts: a bot that met few others, or only far "
    "stronger ones, has a place here that says little."
)
MOST_NAMED = 4
"""Bots of a part of the field that a note names."""

Claims = Collection[tuple[str, str]]
"""Pairs of bots, the better one first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a leaderboard."""

    line: BotRating
    place: int
    """1, 2, 3, ... in the order of the table: what an organiser announces."""
    best: int
    """The best and the worst place that is not ruled out."""
    worst: int
    groups: tuple[str, ...]
    """Letters: two bots that share one are not told apart, two that share none are."""
    sure: float | None
    """How sure we are that it is better than the next line; None where nothing can be said."""
    score: Interval | None
    ahead: Interval | None
    """The share of the others that it finishes ahead of, corrected for whom it met: what the table is sorted by."""
    strength: float
    """Plackett-Luce, in Elo points around the field's average."""
    strength_place: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The bots of one game, best first, with all that is claimed about them."""

    title: str
    ratings: Ratings = field(compare=False)
    standings: list[Standing]
    notes: list[str]
    """What a reader should know about them, in sentences."""
    told_apart: frozenset[tuple[str, str]] = frozenset()
    """All pairs (better, worse) that are claimed, together."""
    anytime: bool = False
    """Whether results decided who played next or when to stop: then claims are few, and intervals are not given."""
    fit: AheadFit | None = field(default=None, compare=False, repr=False)
    """What the claims were made from."""
    seated: bool = False
    """Whether results decided who met whom: then claims are about common tables."""

    def alpha_rank(self) -> list[AlphaShare] | None:
        """How much of the time each bot would be played if bots that finish ahead took over, the most first: for fields
        where everybody loses to somebody. None unless everybody has met everybody."""
        evidence, lines = self.ratings.evidence, [one.line for one in self.standings]
        payoffs = []
        for line in lines:
            met = [evidence.finished_ahead(line.number, other.number) for other in lines]
            if any(not often and other is not line for (_, often), other in zip(met, lines, strict=True)):
                return None
            payoffs.append([ahead / often if often else 0.5 for ahead, often in met])
        shares = alpha_rank(payoffs) if lines else []
        found = [AlphaShare(line.bot, share) for line, share in zip(lines, shares, strict=True)]
        return sorted(found, key=lambda one: -round(one.share, 9))


def leaderboards(
    rated: Mapping[str, Ratings], anytime: Mapping[str, Claims] | None = None, *, seated: bool = False
) -> list[Leaderboard]:
    """A leaderboard for each of these ratings, fitted once: everything that is printed is made from it.

    `anytime` has the claims by title, if results decided when to stop or which pairs to play; `seated`: they decided
    who met whom in a run of fixed length. `boards_of` knows that of a run.
    """
    return [
        leaderboard(ratings, title, None if anytime is None else anytime.get(title, ()), seated=seated)
        for title, ratings in rated.items()
    ]


def in_order(ratings: Ratings) -> list[BotRating]:
    """The lines in the order of the table, without its claims: `ahead`, then the rating, then the name."""
    return _sorted(ratings, worths(ratings.evidence, len(ratings.lines)))


def leaderboard(
    ratings: Ratings, title: str = "", anytime: Claims | None = None, *, seated: bool = False
) -> Leaderboard:
    """What these ratings say, and how sure that is; `anytime` and `seated` as in `leaderboards`."""
    evidence, bots = ratings.evidence, len(ratings.lines)
    found = fit_ahead(evidence, bots, seated)
    lines = _sorted(ratings, found.values)
    names = {line.number: line.bot for line in lines}
    if anytime is None:
        better = told_apart(head_to_head(evidence) if seated else _differences(evidence, found))
    else:
        better = {(ratings.lines[one].number, ratings.lines[other].number) for one, other in anytime}
    table = [line.number for line in lines]
    letters, reach = compact_letters(table, better), reaches(bots, better)
    strengths = fit(evidence.stages, bots)
    by_strength = sorted(table, key=lambda number: -strengths[number])
    sure = sureness(found)
    standings = []
    for place, line in enumerate(lines):
        number = line.number
        best, worst = reach[number]
        below = table[place + 1] if place + 1 < bots else None
        met = below is not None and anytime is None and evidence.have_met(number, below)
        seen = found.difference(number, below) if below is not None and met else None
        ahead, score = found.interval(number), found.scores[number]
        standings.append(
            Standing(
                line,
                place=place + 1,
                best=best,
                worst=worst,
                groups=letters[number],
                sure=sure(seen) if seen else None,
                score=score if anytime is None else _bare(score),
                ahead=ahead if anytime is None else _bare(ahead),
                strength=ELO * strengths[number],
                strength_place=by_strength.index(number) + 1,
            )
        )
    return Leaderboard(
        title,
        ratings,
        standings,
        [
            *([SEATED] if seated and lines else []),
            *_notes(lines, found, by_strength, evidence.deal_count(), anytime is not None),
        ],
        frozenset((names[one], names[other]) for one, other in better),
        anytime is not None,
        found,
        seated,
    )


def _differences(evidence: Evidence, found: AheadFit) -> dict[tuple[int, int], Difference]:
    """Of all pairs that have met."""
    met = {(min(pair), max(pair)) for pair in evidence.meetings}
    return {pair: seen for pair in sorted(met) if (seen := found.difference(*pair))}


def _sorted(ratings: Ratings, values: Sequence[float]) -> list[BotRating]:
    # Rounded, so that bots which did equally well are level whatever the last bits say.
    return sorted(ratings.lines.values(), key=lambda line: (-round(values[line.number], 9), -line.rating, line.bot))


def _bare(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(interval.value, -inf, inf)


def _notes(
    lines: Sequence[BotRating], found: AheadFit, by_strength: Sequence[int], deals: int, anytime: bool
) -> list[str]:
    notes = []
    if deals == 1 and len(lines) > 1:
        notes.append("All matches are of one deal: nothing can be said about other deals. Play more (--deals).")
    if anytime and lines:
        notes.append(
            "Results decided who played next or when to stop, so the figures lean a little and have no intervals: "
            "the places that are not ruled out come from tests that allow for that."
        )
    parts: dict[int, list[str]] = {}
    for line in lines:
        parts.setdefault(found.part[line.number], []).append(line.bot)
    if len(parts) > 1:
        groups = "; ".join(_named(part) for part in parts.values())
        notes.append(
            f"Not everybody can be compared: these groups never met, not even through others: {groups}. "
            "The order between them means nothing."
        )
    if len(lines) > 1 and by_strength[0] != lines[0].number:
        first = next(line for line in lines if line.number == by_strength[0])
        notes.append(
            f"Warning: {lines[0].bot} finishes ahead most, but the Plackett-Luce fit, another way to read the same "
            f"matches, puts {first.bot} first."
        )
    notes += [
        f"{line.bot} was disqualified and lost {line.disqualified:,} of its {line.matches:,} matches without playing: "
        "they count, in last place, but not as faults."
        for line in lines
        if line.disqualified
    ]
    return notes


def _named(part: Sequence[str]) -> str:
    more = len(part) - MOST_NAMED
    return ", ".join(part) if more <= 0 else f"{', '.join(part[:MOST_NAMED])} and {more} more"


# The ratings of a run: of each game, or of what else one wants to tell apart, and the leaderboards they give.


STATE: Mapping[type, Sequence[str]] = {
    Ratings: ("lines", "evidence", "matches", "pairs", "ties"),
    BotRating: tuple(each.name for each in fields(BotRating)),
    Evidence: Evidence.__slots__,
    OpenDeal: OpenDeal.__slots__,
    SeatSums: SeatSums.__slots__,
    Stages: Stages.__slots__,
    WideStage: WideStage._fields,
}
"""The classes that ratings are made of, and what of each has to be kept to go on from there."""


class RatingSet:
    """Ratings for each game (or what else `by` tells apart). Feed it matches as they end, or all at once."""

    def __init__(
        self,
        by: Callable[[GameRecord], str] = by_game,
        *,
        seated: bool = False,
        anytime: Mapping[str, RunningClaims] | None = None,
    ) -> None:
        """`seated`: results decide who meets whom; `anytime`: also when to stop, and this is what tests that, game by
        game. `rating_set_of` knows it of a run."""
        self._by, self._seated, self._anytime = by, seated, anytime
        self._ratings: dict[str, Ratings] = {}

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Takes in one match; `shares` as in `Ratings.add`."""
        name = self._by(record)
        ratings = self._ratings.get(name)
        if ratings is None:
            ratings = self._ratings[name] = Ratings()
        ratings.add(record, shares)
        if self._anytime and name in self._anytime:
            self._anytime[name].add(record)

    @property
    def kept(self) -> bool:
        """Whether `state` has all of it: tests that go on with the run are not in it."""
        return not self._anytime

    def state(self) -> dict[str, Ratings]:
        """What was taken in so far; objects of the classes in `STATE`."""
        return self._ratings

    def restore(self, state: dict[str, Ratings]) -> None:
        """Goes on from what `state` gave."""
        self._ratings = state
        for ratings in state.values():
            ratings.forget_tables()

    def of(self, name: str) -> Ratings | None:
        """The ratings of one game, if it was played."""
        return self._ratings.get(name)

    def rated(self) -> dict[str, Ratings]:
        """The ratings in the order of their names."""
        return dict(sorted(self._ratings.items()))

    def boards(self) -> list[Leaderboard]:
        """Their leaderboards."""
        told = None if self._anytime is None else {name: tests.claims(LEVEL) for name, tests in self._anytime.items()}
        return leaderboards(self.rated(), told, seated=self._seated)


def rate_records(records: Iterable[GameRecord], by: Callable[[GameRecord], str] = by_game) -> dict[str, Ratings]:
    """Ratings for each game, or what else `by` tells apart."""
    rating_set = RatingSet(by)
    for record in in_schedule_order(records):
        rating_set.add(record)
    return rating_set.rated()
