"""The leaderboards of a run, from its plan and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec.structs import asdict

from harness.core.plan import LEAGUE, SEVERAL, Plan, RunningClaims
from harness.core.records import GameRecord, ReorderBuffer
from harness.plugins.features import FORMATS
from harness.ratings.anytime import AnytimeClaims
from harness.ratings.leaderboard import CACHED_FIELDS, Leaderboard, RatingSet
from harness.ratings.trueskill import by_game
from harness.runs.cache import replay_into, save_states, worth_caching
from harness.runs.reader import GAMES, MAX_WAITING_RESULTS, MatchResult, ReadCursor, ordered_results, rated_order
from harness.runs.store import RunFolder


def boards_of(
    run: RunFolder,
    records: Iterable[GameRecord] | None = None,
    by: Callable[[GameRecord], str] = by_game,
    shares: Mapping[str, Sequence[float]] | None = None,
    *,
    chosen: Callable[[GameRecord], bool] | None = None,
    whole: bool | None = None,
) -> list[Leaderboard]:
    """Return the leaderboards of a run: one for each game, or for each value of `by`.

    Only `records` count, if given, or those for which `chosen` returns true. `shares` replaces the shares of opponents
    that seats finished ahead of, by match id. `whole` says that `records` are all records of their games.
    """
    plain = by is by_game and records is None and shares is None and chosen is None
    if plain and run.played is not None and run.played.is_current(run):
        return run.played.rating_set.boards()
    rating_set = rating_set_of(run.info.plan, by, whole=records is None if whole is None else whole)
    if plain and rating_set.cacheable:
        replay_into(run, RatedRun(rating_set))
        return rating_set.boards()
    ordered = ordered_results(run) if records is None else rated_order(run.info.plan, records)
    for record in ordered if chosen is None else filter(chosen, ordered):
        rating_set.add(record, shares[record.id] if shares else None)
    return rating_set.boards()


class RatedRun:
    """A reducer: the ratings of a whole run, by game."""

    name, classes = "ratings", CACHED_FIELDS

    def __init__(self, rating_set: RatingSet, rate: bool = True) -> None:
        """Without `rate`, the caller rates the matches."""
        self.add: Callable[[GameRecord], None] = rating_set.add if rate else lambda _record: None
        self.state, self.restore = rating_set.state, rating_set.restore


class PlayedRatings:
    """Ratings of a run that this process plays from its first match on."""

    def __init__(self, plan: Plan) -> None:
        self.rating_set = rating_set_of(plan)
        self._buffer = ReorderBuffer[GameRecord]()
        self._lines, self._hashed = 0, sha256()
        self._valid = True
        self._file: tuple[int, ...] = ()
        """What identifies games.jsonl as it was when the last match was added."""

    def add(self, record: GameRecord, line: bytes) -> None:
        """Add a match and its line, in file order."""
        if not self._valid:
            return
        self._lines += 1
        self._hashed.update(line + b"\n")
        for each in self._buffer.add(record.index, record) or ():
            self.rating_set.add(each)
        # A match that was given up leaves a gap, and everything after it would wait in memory.
        self._valid = len(self._buffer.waiting) <= MAX_WAITING_RESULTS

    def close(self, run: RunFolder) -> bool:
        """Rate what waits for missing matches and cache the ratings of a long run; return whether they are complete."""
        if not self._valid:
            return False
        self._file = _file_state(run)
        # Cached before the waiting results are rated: the missing matches may still be played, and come before them.
        if self.rating_set.cacheable and worth_caching(run):
            waiting = {at: MatchResult(**asdict(record)) for at, record in self._buffer.waiting.items()}
            buffer = ReorderBuffer(self._buffer.due, waiting)
            cursor = ReadCursor(self._lines, run.size(), buffer, self._hashed)
            save_states(run, cursor, [RatedRun(self.rating_set)])
        for record in self._buffer.in_order() if self._buffer.waiting else ():
            self.rating_set.add(record)
        return True

    def is_current(self, run: RunFolder) -> bool:
        """Return whether games.jsonl is as this process left it."""
        return _file_state(run) == self._file


def _file_state(run: RunFolder) -> tuple[int, ...]:
    found = (run.folder / GAMES).stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def rating_set_of(plan: Plan, by: Callable[[GameRecord], str] = by_game, *, whole: bool = True) -> RatingSet:
    """Return an empty set of ratings for records of a run with this plan; `whole` if all of them will be added."""
    design = plan.design
    if design != "anytime":
        return RatingSet(by, seated=design == "seated")
    return RatingSet(by, anytime=_anytime(plan) if whole and by is by_game and plan.format != SEVERAL else {})


def _anytime(plan: Plan) -> Mapping[str, RunningClaims]:
    """Return the running test of each game's claims; a league has too many bots to make claims."""
    if plan.format == LEAGUE.name:
        return {}
    form = FORMATS.get(plan.format)
    test = AnytimeClaims.for_plan if form is None or form.claims is None else form.claims
    return {game.name: test(game, plan) for game in plan.games}
