"""The leaderboard of a game, and the ratings of a run by game."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, log

from harness.core.plan import RunningClaims
from harness.core.records import GameRecord, in_schedule_order
from harness.ratings.beat_rate import (
    BeatRateFit,
    Difference,
    beat_rates,
    compact_letters,
    fit_beat_rates,
    head_to_head,
    place_ranges,
    prob_better,
    significant_pairs,
)
from harness.ratings.evidence import LEVEL, Evidence, Interval, OpenDeal, SeatSums, Stages, WideStage
from harness.ratings.plackett_luce import AlphaShare, alpha_rank, fit
from harness.ratings.trueskill import BotRating, Ratings, by_game

# The leaderboard of a game: for each bot its place, its intervals, and the significant differences.


ELO = 400 / log(10)
"""Elo points per unit of log-odds."""
SEATED_BY_RESULTS = (
    "Results decided who met whom, so the format's own result is what counts: a bot that met few others, or only far "
    "stronger ones, has a place here that says little."
)
MAX_NAMED_BOTS = 4
"""Bots of a group that a note names."""

Claims = Collection[tuple[str, str]]
"""Pairs of bots, the better one first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of a leaderboard."""

    line: BotRating
    place: int
    """1, 2, 3, ... in the order of the table."""
    best: int
    """The best and the worst place that is not ruled out by a significant difference."""
    worst: int
    groups: tuple[str, ...]
    """Letters of a compact letter display: two bots that share one do not differ significantly."""
    sure: float | None
    """The probability that it is better than the next bot of the table; None if unknown."""
    score: Interval | None
    ahead: Interval | None
    """Its beat rate, by which the table is sorted."""
    strength: float
    """Plackett-Luce, in Elo points around the field's average."""
    strength_place: int


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The bots of one game, best first, with all claims about them."""

    title: str
    ratings: Ratings = field(compare=False)
    standings: list[Standing]
    notes: list[str]
    """Remarks for the reader, in sentences."""
    significant_pairs: frozenset[tuple[str, str]] = frozenset()
    """All pairs (better, worse) with a significant difference."""
    anytime: bool = False
    """Whether results decided which bots played next or when to stop: then there are no intervals, because optional
    stopping biases them, and claims come from tests by betting."""
    fit: BeatRateFit | None = field(default=None, compare=False, repr=False)
    """The fit that the claims were made from."""
    seated: bool = False
    """Whether results decided which bots met: then claims are about common tables only."""

    def alpha_rank(self) -> list[AlphaShare] | None:
        """Return the bots by alpha-rank, for fields in which every bot loses to another; None unless all pairs met."""
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
    """Return a leaderboard for each of these ratings.

    `anytime` has the claims by title, if results decided when to stop or which pairs to play; `seated`: they decided
    which bots met in a run of fixed length. `runs.standings.boards_of` finds out for a run.
    """
    return [
        leaderboard(ratings, title, None if anytime is None else anytime.get(title, ()), seated=seated)
        for title, ratings in rated.items()
    ]


def in_order(ratings: Ratings) -> list[BotRating]:
    """Return the lines in the order of the table, without claims: by beat rate, then rating, then name."""
    return _sorted(ratings, beat_rates(ratings.evidence, len(ratings.lines)))


def leaderboard(
    ratings: Ratings, title: str = "", anytime: Claims | None = None, *, seated: bool = False
) -> Leaderboard:
    """Return the leaderboard for these ratings; `anytime` and `seated` as in `leaderboards`."""
    evidence, bots = ratings.evidence, len(ratings.lines)
    found = fit_beat_rates(evidence, bots, seated)
    lines = _sorted(ratings, found.values)
    names = {line.number: line.bot for line in lines}
    if anytime is None:
        better = significant_pairs(head_to_head(evidence) if seated else _differences(evidence, found))
    else:
        better = {(ratings.lines[one].number, ratings.lines[other].number) for one, other in anytime}
    table = [line.number for line in lines]
    letters, reach = compact_letters(table, better), place_ranges(bots, better)
    strengths = fit(evidence.stages, bots)
    by_strength = sorted(table, key=lambda number: -strengths[number])
    sure = prob_better(found)
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
                score=score if anytime is None else _without_interval(score),
                ahead=ahead if anytime is None else _without_interval(ahead),
                strength=ELO * strengths[number],
                strength_place=by_strength.index(number) + 1,
            )
        )
    return Leaderboard(
        title,
        ratings,
        standings,
        [
            *([SEATED_BY_RESULTS] if seated and lines else []),
            *_notes(lines, found, by_strength, evidence.deal_count(), anytime is not None),
        ],
        frozenset((names[one], names[other]) for one, other in better),
        anytime is not None,
        found,
        seated,
    )


def _differences(evidence: Evidence, found: BeatRateFit) -> dict[tuple[int, int], Difference]:
    """Return the differences of all pairs that have met. Others are not claimed, so they are not tested either."""
    met = {(min(pair), max(pair)) for pair in evidence.meetings}
    return {pair: seen for pair in sorted(met) if (seen := found.difference(*pair))}


def _sorted(ratings: Ratings, values: Sequence[float]) -> list[BotRating]:
    # Rounded, so that rounding errors do not decide between bots with equal results.
    return sorted(ratings.lines.values(), key=lambda line: (-round(values[line.number], 9), -line.rating, line.bot))


def _without_interval(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(interval.value, -inf, inf)


def _notes(
    lines: Sequence[BotRating], found: BeatRateFit, by_strength: Sequence[int], deals: int, anytime: bool
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
    more = len(part) - MAX_NAMED_BOTS
    return ", ".join(part) if more <= 0 else f"{', '.join(part[:MAX_NAMED_BOTS])} and {more} more"


# The ratings of a run by game, or by another key, and their leaderboards.


CACHED_FIELDS: Mapping[type, Sequence[str]] = {
    Ratings: ("lines", "evidence", "matches", "pairs", "ties"),
    BotRating: tuple(each.name for each in fields(BotRating)),
    Evidence: Evidence.__slots__,
    OpenDeal: OpenDeal.__slots__,
    SeatSums: SeatSums.__slots__,
    Stages: Stages.__slots__,
    WideStage: WideStage._fields,
}
"""The classes that ratings consist of, and the fields of each that a cache must store."""


class RatingSet:
    """Ratings for each game, or for each value of the key `by`. Add matches as they end, or all at once."""

    def __init__(
        self,
        by: Callable[[GameRecord], str] = by_game,
        *,
        seated: bool = False,
        anytime: Mapping[str, RunningClaims] | None = None,
    ) -> None:
        """`seated`: results decide which bots meet; `anytime`: the tests by game, if results also decide when to stop.

        `runs.standings.rating_set_of` makes one for a run.
        """
        self._by, self._seated, self._anytime = by, seated, anytime
        self._ratings: dict[str, Ratings] = {}

    def add(self, record: GameRecord, shares: Sequence[float] | None = None) -> None:
        """Add a match; `shares` as in `Ratings.add`."""
        name = self._by(record)
        ratings = self._ratings.get(name)
        if ratings is None:
            ratings = self._ratings[name] = Ratings()
        ratings.add(record, shares)
        if self._anytime and name in self._anytime:
            self._anytime[name].add(record)

    @property
    def cacheable(self) -> bool:
        """Whether `state` is complete, so that it can be cached: running tests are not part of it."""
        return not self._anytime

    def state(self) -> dict[str, Ratings]:
        """Return what was added so far; objects of the classes in `CACHED_FIELDS`."""
        return self._ratings

    def restore(self, state: dict[str, Ratings]) -> None:
        """Continue from what `state` returned."""
        self._ratings = state
        for ratings in state.values():
            ratings.clear_table_cache()

    def of(self, name: str) -> Ratings | None:
        """Return the ratings of one game, if it was played."""
        return self._ratings.get(name)

    def rated(self) -> dict[str, Ratings]:
        """Return the ratings, sorted by name."""
        return dict(sorted(self._ratings.items()))

    def boards(self) -> list[Leaderboard]:
        """Return their leaderboards."""
        claims = None if self._anytime is None else {name: tests.claims(LEVEL) for name, tests in self._anytime.items()}
        return leaderboards(self.rated(), claims, seated=self._seated)


def rate_records(records: Iterable[GameRecord], by: Callable[[GameRecord], str] = by_game) -> dict[str, Ratings]:
    """Return ratings for each game, or for each value of the key `by`."""
    rating_set = RatingSet(by)
    for record in in_schedule_order(records):
        rating_set.add(record)
    return rating_set.rated()
