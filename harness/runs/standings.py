"""The leaderboards of a run, from its plan and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec.structs import replace

from harness.core.plan import LEAGUE, SEVERAL, Plan, ResultTracker, RunningClaims
from harness.core.records import GameRecord
from harness.plugins.features import FORMATS
from harness.ratings.anytime import AnytimeClaims
from harness.ratings.counts import CACHED_FIELDS, by_game
from harness.ratings.leaderboard import CountsByGame, Leaderboard
from harness.runs.cache import MIN_CACHED_BYTES, replay_into, restore_states, save_states
from harness.runs.reader import GAMES, MAX_WAITING_RESULTS, ReadCursor, is_rated_by_deal, ordered_results, rated_order
from harness.runs.scheduler import Schedule
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
    # The process that played the run has counted every match already. Another process may have written since.
    if plain and run.played is not None and run.played.is_current(run):
        return run.played.counts.boards(run.info.end)
    counts = counts_of(run.info.plan, by, whole=records is None if whole is None else whole)
    if plain and counts.cacheable:
        replay_into(run, CountedRun(counts))
        return counts.boards(_end(run, counts))
    # Part of a run is never cached: the cache holds what all records lead to.
    ordered = ordered_results(run) if records is None else rated_order(run.info.plan, records)
    for record in ordered if chosen is None else filter(chosen, ordered):
        counts.add(record, shares[record.id] if shares else None)
    return counts.boards(_end(run, counts))


def _end(run: RunFolder, counts: CountsByGame) -> int:
    """Return how often a run has ended. Parts of one run have ended when together they have all of its matches."""
    if run.info.end or not run.merged or run.several:
        return run.info.end
    played = sum(each.matches for each in counts.counts().values())
    return int(played == Schedule(run.info.plan, FORMATS).count())


class CountedRun:
    """A reducer: the counts of a whole run, by game."""

    name, classes = "counts", CACHED_FIELDS

    def __init__(self, counts: CountsByGame, count: bool = True) -> None:
        """Without `count`, the caller counts the matches."""
        self.add: Callable[[GameRecord], None] = counts.add if count else lambda _record: None
        self.state, self.restore = counts.state, counts.restore


class PlayedCounts:
    """Counts of a run whose records this process reads or plays, so that they are not read again for its tables."""

    def __init__(self, run: RunFolder, *, cached: bool) -> None:
        """`cached`: start from the cached counts, if there are any; the lines that they were made from are added too,
        but not counted again."""
        self.counts = counts_of(run.info.plan)
        self._valid = not is_rated_by_deal(run.info.plan)
        cached = cached and run.size() >= MIN_CACHED_BYTES and self.counts.cacheable
        found = restore_states(run, [CountedRun(self.counts)]) if cached else None
        self.cursor = found or ReadCursor(hashed=sha256())
        self._counted = self.cursor.lines
        """Lines that will be added and were counted before they were cached."""
        self._file: tuple[int, ...] = ()
        """What identifies games.jsonl as it was when the last match was added."""

    def add(self, record: GameRecord, line: bytes) -> None:
        """Add a match and its line, in file order."""
        if self._counted:
            self._counted -= 1
            return
        self.cursor.add_line(line)
        if not self._valid:
            return
        buffer = self.cursor.buffer
        if record.index > buffer.due and record.actions:  # it has to wait, and actions are most of its size
            record = replace(record, actions=())
        ready = buffer.add(record.index, record)
        for each in ready or ():
            self.counts.add(each)
        # A match that was given up leaves a gap, and everything after it would wait in memory.
        self._valid = ready is not None and len(buffer.waiting) <= MAX_WAITING_RESULTS

    def close(self, run: RunFolder) -> bool:
        """Count what waits for missing matches and cache the counts of a long run; return whether they are complete."""
        if not self._valid:
            return False
        self._file = _file_state(run)
        # Cached before the waiting results are counted: the missing matches may still be played, and come before them.
        if self.cursor.size >= MIN_CACHED_BYTES and self.counts.cacheable:
            save_states(run, self.cursor, [CountedRun(self.counts)])
        for record in self.cursor.buffer.in_order() if self.cursor.buffer.waiting else ():
            self.counts.add(record)
        return True

    def is_current(self, run: RunFolder) -> bool:
        """Return whether games.jsonl is as this process left it."""
        return _file_state(run) == self._file


def _file_state(run: RunFolder) -> tuple[int, ...]:
    found = run.files.stat(GAMES)
    return found.st_ino, found.st_size, found.st_mtime_ns


def counts_of(plan: Plan, by: Callable[[GameRecord], str] = by_game, *, whole: bool = True) -> CountsByGame:
    """Return empty counts for records of a run with this plan; `whole` if all of them will be added."""
    # Running tests and trackers need every record of a game in schedule order: parts of a run, tables by another key
    # and several runs that are read together have none.
    plain = whole and by is by_game and plan.format != SEVERAL
    return CountsByGame(
        by,
        design=plan.design,
        anytime=running_claims(plan) if plain else None,
        names_winner=not plan.pairs_candidates,
        trackers=_trackers(plan) if plain and plan.design == "seated" else None,
    )


def _trackers(plan: Plan) -> Mapping[str, ResultTracker]:
    """Return what follows the result of the format in each game: where results decide who meets whom, the table is in
    that order."""
    form = FORMATS.get(plan.format)
    return {} if form is None or form.track is None else {game.name: form.track(game, plan) for game in plan.games}


def running_claims(plan: Plan) -> Mapping[str, RunningClaims]:
    """Return the running test of each game's claims, if results decide when to stop or what is played next.

    A league has too many bots to make claims.
    """
    if plan.design != "anytime" or plan.format == LEAGUE.name:
        return {}
    form = FORMATS.get(plan.format)
    test = AnytimeClaims.for_plan if form is None or form.claims is None else form.claims
    return {game.name: test(game, plan) for game in plan.games}
