"""Follow a run while another process plays it: new records, standings, hidden deals."""

from __future__ import annotations

import os
import re
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

from harness.core.errors import ArenaError, ReplayError, StoreError
from harness.core.files import Folder
from harness.core.game import Game
from harness.core.plan import Outcome, Plan, ResultTracker
from harness.core.records import GameRecord, ReorderBuffer
from harness.core.table import Table
from harness.output.columns import Fields
from harness.plugins.features import FORMATS
from harness.plugins.registry import Registry
from harness.ratings.counts import GameCounts
from harness.ratings.leaderboard import Leaderboard, leaderboard
from harness.ratings.skill import LiveFit
from harness.ratings.statistics import LEVEL, Interval
from harness.report.faces import faces_script
from harness.report.parts import asset
from harness.report.scenes import notes_of, scene_data
from harness.runs.reader import GAMES, MAX_WAITING_RESULTS, RecordLine, is_rated_by_deal, read_lines
from harness.runs.scheduler import Schedule, attribute_errors
from harness.runs.setup import formats_of, installed_games
from harness.runs.standings import boards_of, running_claims
from harness.runs.store import RUN, RunFolder, find
from harness.serve.live_data import (
    HIDDEN_DEAL,
    LiveProgress,
    faults_fields,
    json_line,
    match_fields,
    standings_fields,
    standings_page,
    without_folders,
)

# Standings of an unfinished run, updated match by match.


MAX_WAITING, LEFT_WAITING = MAX_WAITING_RESULTS, 250
"""Maximum of matches that wait for earlier ones, and how many still wait after the maximum is exceeded. The earlier
ones may never arrive: a league leaves places of its schedule empty."""


class LiveStandings:
    """Leaderboards and format results of all matches so far.

    Matches end out of order but are counted in the order of the schedule. Matches without a gap before them are counted
    once; the few after a gap are counted on a copy each time the standings are requested. While the run is played, each
    fit starts from the last one and has no intervals; when it is finished, leaderboards equal those computed from all
    records at once.
    """

    def __init__(self, plan: Plan, schedule: Schedule | None, reached: Callable[[GameRecord], None]) -> None:
        """`schedule` is None if the format is not installed here; then there are no format results. `reached` is called
        with each match in the order of the schedule, as long as there is no gap before it."""
        self._plan, self._reached = plan, reached
        self._counts: dict[str, GameCounts] = {}
        self._claims = running_claims(plan)
        self._fits: dict[str, LiveFit] = {}
        self._scores: dict[tuple[str, str], int] = {}
        """Game and bot -> sum of its scores."""
        self._schedule, self._trackers = schedule, dict[str, ResultTracker]()
        self._buffer = ReorderBuffer[GameRecord]()
        self._passed = False
        """Whether matches after a gap were counted without waiting for the missing ones."""
        self.late = False
        """Whether a match was counted after later ones. Exact errors then require reading all records again."""
        self.trouble = ""
        """Error message of the format, if it failed; its results are then missing."""
        track = schedule.format.track if schedule else None
        if schedule and track:
            try:
                with attribute_errors(schedule.format):
                    self._trackers = {game.name: track(game, schedule.plan) for game in schedule.plan.games}
            except ArenaError as error:
                self.trouble = str(error)

    def add(self, record: GameRecord) -> bool:
        """Add a match; return False if another match already has its place in the schedule."""
        if self._passed and record.index < self._buffer.due:
            self.late = True
            self._count(record)
            return True
        ready = self._buffer.add(record.index, record)
        for each in ready or ():
            self._count(each)
        return ready is not None

    def give_up_gaps(self, finished: bool = False) -> None:
        """Count most of the waiting matches if there are too many, or all of them if the run is finished.

        Call it only after all records have been read.
        """
        buffer = self._buffer
        if len(buffer.waiting) > (0 if finished else MAX_WAITING):
            self._passed = True
            for index in sorted(buffer.waiting)[: None if finished else -LEFT_WAITING]:
                self._count(buffer.waiting.pop(index))
                buffer.due = index + 1
            for record in buffer.pop_ready():
                self._count(record)

    def _count(self, record: GameRecord) -> None:
        self._add(record, self._counts, self._scores)
        if record.game in self._claims:
            self._claims[record.game].add(record)
        self._track(record, self._trackers)
        # After a skipped gap the promise of `reached`, that everything before was played, no longer holds: a deal could
        # be shown too early.
        if not self._passed:
            self._reached(record)

    def _add(self, record: GameRecord, counts: dict[str, GameCounts], scores: dict[tuple[str, str], int]) -> None:
        game = record.game
        (counts.get(game) or counts.setdefault(game, GameCounts())).add(record)
        for bot, score in zip(record.seats, record.scores, strict=True):
            scores[game, bot] = scores.get((game, bot), 0) + score

    def _track(self, record: GameRecord, trackers: dict[str, ResultTracker]) -> None:
        if self._schedule and record.game in trackers:
            try:
                with attribute_errors(self._schedule.format):
                    trackers[record.game].add(record)
            except ArenaError as error:  # leaderboards need no format
                self.trouble = str(error)
                del trackers[record.game]

    def standings(self, end: int) -> tuple[list[Leaderboard], Mapping[str, Outcome]]:
        """Return the leaderboards, and the format's result for each game.

        `end` says how often the run has ended; 0 while it is played.
        """
        counts, scores, trackers = self._counts, self._scores, dict[str, ResultTracker]()
        if self._buffer.waiting:
            counts = {game: one.copy_without_deals() for game, one in counts.items()}
            scores = scores.copy()
            for name, tracker in self._trackers.items():
                # A plugin's tracker may not support copying: then its result leaves out the waiting matches.
                with suppress(Exception):
                    trackers[name] = deepcopy(tracker)
            for record in self._buffer.in_order():
                self._add(record, counts, scores)
                self._track(record, trackers)
            end = 0  # the copy has no deals
        outcomes = self._outcomes({**self._trackers, **trackers})
        boards = [self._board(game, one, outcomes.get(game), end) for game, one in sorted(counts.items())]
        return [board if end else _with_scores(board, scores) for board in boards], outcomes

    def _board(self, game: str, counts: GameCounts, outcome: Outcome | None, end: int) -> Leaderboard:
        design = self._plan.design
        by_format = design == "seated" and self._plan.format in FORMATS and outcome is not None
        if game not in self._fits:
            self._fits[game] = LiveFit(fitted_prior=design == "seated")
        return leaderboard(
            counts,
            game,
            design=design,
            anytime=self._claims[game].claims(LEVEL) if game in self._claims else (),
            order=outcome.standing if outcome and by_format else (),
            end=end,
            live=None if end else self._fits[game],
        )

    def _outcomes(self, trackers: Mapping[str, ResultTracker]) -> Mapping[str, Outcome]:
        found: dict[str, Outcome] = {}
        for name, tracker in trackers.items():
            assert self._schedule is not None, "there are no trackers without it"
            try:
                with attribute_errors(self._schedule.format):
                    found[name] = tracker.outcome()
            except ArenaError as error:
                self.trouble = str(error)
        return found


def _with_scores(board: Leaderboard, sums: Mapping[tuple[str, str], int]) -> Leaderboard:
    """Return a live leaderboard with mean scores."""
    standings = [
        replace(one, score=Interval(sums[board.title, one.bot] / one.totals.matches, -inf, inf))
        for one in board.standings
    ]
    return replace(board, standings=standings)


# Deals that must stay secret: some of their matches have not been played, and their bots must not have seen the cards.


OWN_DEALS = frozenset(("round-robin", "swiss", "knockout", "ladder"))
"""Formats in which every duplicate set has its own deal: the deal is over when each bot has sat in every seat."""
GAUNTLET = "gauntlet"
"""Format in which each candidate plays the deal in every seat."""
LEAGUE = "league"
"""Format in which every match has its own deal."""

Deal = tuple[str, int]
"""A game and a seed."""


class OpenDeals:
    """Tracks which deals still have matches to be played.

    For the formats named above it counts the matches of each deal. For other formats that number is unknown, but the
    matches of one deal are consecutive in the schedule of a game: a deal is over when everything up to the first match
    of a later deal has been played.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.all_over = False
        """Whether the run is finished."""
        self._counts = plan.format in (*OWN_DEALS, GAUNTLET, LEAGUE)
        self._candidates = {game.name: len(set(game.entrants) & set(plan.candidates)) for game in plan.games}
        self._open: dict[Deal, set[str]] = {}
        self._newest: dict[str, tuple[int, int]] = {}
        """Game -> seed of the latest deal reached in the order of the schedule, and the index of its first match."""

    def add(self, record: GameRecord) -> None:
        """Add a match; the order of calls does not matter."""
        if not self._counts:
            return
        deal = record.game, record.seed
        played = self._open.setdefault(deal, set())
        played.add(record.id)
        if len(played) >= self._matches_of_deal(record):
            del self._open[deal]

    def _matches_of_deal(self, record: GameRecord) -> int:
        if self._plan.format == LEAGUE:
            return 1
        return len(record.seats) * (self._candidates.get(record.game, 1) if self._plan.format == GAUNTLET else 1)

    def reach(self, record: GameRecord) -> None:
        """Add a match in the order of the schedule: everything before it has been played."""
        newest = self._newest.get(record.game)
        if newest is None or newest[0] != record.seed:
            self._newest[record.game] = record.seed, record.index

    def is_open(self, record: GameRecord) -> bool:
        """Return whether other matches with the deal of this played match are still to be played."""
        if self.all_over:
            return False
        if self._counts:
            return (record.game, record.seed) in self._open
        newest = self._newest.get(record.game)
        return newest is None or record.index >= newest[1]


# Reading a file of records while another process appends to it.


MAX_READ_BYTES = 4_000_000
"""Approximate bytes per read. A long file is read in pieces, so that progress can be sent between them."""


class RecordTail:
    """Reads the complete lines that were appended since the last read. An incomplete last line is left for later."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.at_end = False
        """Whether the last read reached the end of the file."""
        self._forget()

    def _forget(self) -> None:
        self.starts = array("q", [0])
        """Offset of each line, and of the next one to be written."""
        self._file = 0
        self._last = b""

    def __len__(self) -> int:
        """Return the number of lines read so far."""
        return len(self.starts) - 1

    def is_another(self) -> bool:
        """Return whether the file was replaced or truncated since the last read; if so, start again at line 1."""
        try:
            with self._folder.open_to_read(GAMES) as file:
                found = os.fstat(file.fileno())
                same = not len(self) or (found.st_ino == self._file and found.st_size >= self.starts[-1])
                if same and len(self):
                    # Inode and size are not enough: the file may have been rewritten in place.
                    same = os.pread(file.fileno(), len(self._last), self.starts[-2]) == self._last
        except OSError:  # the file may be readable again later, unchanged
            return False
        if not same:
            self._forget()
        return not same

    def new_lines(self) -> Iterator[RecordLine]:
        """Yield the lines that were added since the last call, at most about MAX_READ_BYTES of them."""
        self._file, began = self._folder.stat(GAMES).st_ino, self.starts[-1]
        self.at_end = False
        for line in read_lines(self._folder, len(self), began):
            self.starts.append(line.end)
            self._last = line.data + b"\n"
            yield line
            if line.end - began >= MAX_READ_BYTES:
                return
        self.at_end = True

    def line(self, number: int) -> RecordLine:
        """Return a line that was read before; numbers start at 1."""
        return next(read_lines(self._folder, number - 1, self.starts[number - 1]))


# What can be served: a run, the newest era of a league, or all runs and leagues of a folder.


EVENT, ERAS = "arena.toml", "eras"
"""Names in a league's folder: its config file, and the folder with one run per era."""
ERA = re.compile(r"[0-9]{1,9}")

OwnTables = Callable[[Path], Sequence[Table]]
"""Function that returns the tables of a league folder that are shown with the standings of its era."""


def no_tables(_folder: Path) -> Sequence[Table]:
    """Return no tables: only the standings of the era are shown."""
    return ()


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The folder of a run or a league. The run of a league is its newest era, which changes when a new era starts."""

    folder: Path
    is_league: bool = False
    own_tables: OwnTables = no_tables
    """Called each time the standings are computed."""

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    def current(self) -> Folder:
        """Return the folder of the run, or of the newest era; raise StoreError if a league has none."""
        if not self.is_league:
            return Folder(self.folder)
        eras = Folder(self.folder).below(ERAS)
        played = [name for name in eras.names() if ERA.fullmatch(name) and eras.has_file(f"{name}/{RUN}")]
        if not played:
            raise StoreError(f"The league {self.name} has not begun to play.")
        return eras.below(max(played, key=int))

    def title(self, current: Path) -> str:
        """Return the heading of the page; `current` is the folder of the run."""
        return f"{self.name}, era {current.name}" if self.is_league else self.name

    def tables(self) -> Sequence[Table]:
        """Return the tables that a league shows with the standings; none for a run."""
        return self.own_tables(self.folder) if self.is_league else ()


def place_of(folder: Path, own_tables: OwnTables = no_tables) -> RunPlace | None:
    """Return the run or the league in a folder; None if it contains neither."""
    if (folder / RUN).exists():
        return RunPlace(folder)
    if (folder / EVENT).exists() and (folder / ERAS).is_dir():
        return RunPlace(folder, True, own_tables)
    return None


def named_place(results: Path, name: str, own_tables: OwnTables = no_tables) -> RunPlace:
    """Return a run or a league by its path, or by its name in the folder of results.

    Raise StoreError if there is none.
    """
    for folder in (Path(name), results / name):
        if place := place_of(folder, own_tables):
            return place
    return RunPlace(find(results, name))  # raises an error that lists what exists


def places_in(results: Path, own_tables: OwnTables = no_tables) -> dict[str, RunPlace]:
    """Return the runs and leagues of a folder by name, most recently changed first."""
    try:
        found = [place for path in results.iterdir() if path.is_dir() and (place := place_of(path, own_tables))]
    except OSError as error:
        raise StoreError(f"Cannot read {results}: {error.strerror or error}.") from error
    return {place.name: place for place in sorted(found, key=_changed, reverse=True)}


def _changed(place: RunPlace) -> float:
    try:
        return place.current().stat(RUN).st_mtime
    except (OSError, StoreError):
        return 0.0


# The current state of a run: its files are read as another process writes them, and the messages for pages are built.


NEWEST = 12
"""Latest results that are sent without a request."""
MAX_MATCHES = 200
"""Maximum of results in the answer to one request."""
STANDINGS_EVERY_S = 1.0
"""Minimum seconds between two computations of the standings."""
STANDINGS_SHARE = 5
"""Minimum interval between computations of the standings, as a multiple of the time that one takes: they take at
most a fifth of the time of a long run."""
READ_AGAIN_EVERY_S = 30.0
"""Minimum seconds between two reads of all records, which a late match makes necessary; at least 20 times as long as
one read takes."""
SCENES = 8
"""Matches whose data for the viewer is cached."""


class LiveRun:
    """Follows one run. Not thread-safe: use it in one thread; the bytes that it returns can be sent from any thread."""

    def __init__(self, place: RunPlace, registry: Registry) -> None:
        self.place, self._registry = place, registry
        self._run: RunFolder | None = None
        self._written: tuple[int, ...] = ()
        self._trouble = ""
        self.caught_up = False
        """Whether the last poll read all existing records."""
        self.sent: dict[str, bytes] = {}
        """Latest message of each kind: progress, results, standings (an HTML fragment), data (standings as JSON)."""
        self._known = self._fresh = self._stale = False
        self._standings_due = 0.0
        self.script = _script({})
        """JavaScript of the page: live updates, and the viewers of its games."""

    def read_updates(self) -> dict[str, bytes]:
        """Read new records and return the messages that changed, by kind, as lines of JSON."""
        now = monotonic()
        news: dict[str, Fields] = {}
        try:
            self._follow(now)
            news |= self._found(now)
            self._trouble = ""
        except (ArenaError, OSError) as error:
            self._trouble = self._plain(error)
            self.caught_up = True
        # While known records are read again, the page keeps the last progress instead of counting from 0 again.
        if self.caught_up or not self._known:
            news["progress"] = self._progress(now)
            self._known = self.caught_up
        lines = {kind: json_line(fields) for kind, fields in news.items()}
        changed = {kind: line for kind, line in lines.items() if self.sent.get(kind) != line}
        self.sent |= changed
        return changed

    def _found(self, now: float) -> dict[str, Fields]:
        """Return results and standings if there are new records; standings only when they are due."""
        news: dict[str, Fields] = {}
        if not self.caught_up:
            return news
        if self._fresh:
            self._fresh, self._stale = False, True
            news["results"] = {**self._newest(), "failed": faults_fields(self._pace.faults)}
        if self._stale and now >= self._standings_due:
            news |= self._standings(now)
        return news

    def _plain(self, error: Exception) -> str:
        """Return the error message without paths, which must not be sent to a page."""
        if isinstance(error, OSError):
            return f"The records cannot be read: {error.strerror or type(error).__name__}."
        return without_folders(str(error))

    def _follow(self, now: float) -> None:
        folder = self.place.current()
        found = folder.stat(RUN)
        # Taken before run.json is read: a change in between is noticed at the next poll.
        written = found.st_ino, found.st_mtime_ns, found.st_size
        if self._run is None or folder != self._run.files:
            self._known = False
            self._begin(RunFolder.open(folder), now)
        elif written != self._written:
            run = RunFolder.open(folder)
            if run.info.plan != self._run.info.plan:
                self._begin(run, now)
            self._run, self._stale = run, True
            self._deals.all_over = bool(run.info.finished)
            # Results are sent again: a run that has finished has no secret deals, so its matches can be watched.
            self._fresh = True
        self._written = written
        assert self._run is not None
        if self._tail.is_another() or self._is_time_to_read_again(now):
            self._begin(self._run, now)
        self._read(now)

    def _is_time_to_read_again(self, now: float) -> bool:
        """Return whether a late match makes it necessary, and the limits allow, to read all records again."""
        assert self._run is not None
        if not self._live.late or not self.caught_up:
            return False
        return bool(self._run.info.finished) or now >= self._began + max(
            READ_AGAIN_EVERY_S, 20 * (self._pace.seconds_read or 0.0)
        )

    def _begin(self, run: RunFolder, now: float) -> None:
        """Discard all state and start with the first record."""
        plan = run.info.plan
        self._tail, self._deals = RecordTail(run.files), OpenDeals(plan)
        self._deals.all_over = bool(run.info.finished)
        schedule, self._notes = self._schedule(run)
        self._live = LiveStandings(plan, schedule, self._deals.reach)
        self._pace, self._began = LiveProgress(schedule, now), now
        self._games, problems = installed_games(run, self._registry)
        self._notes += map(without_folders, problems)
        self.script = _script(self._games)
        self._damaged = 0
        self._ids: dict[str, int] = {}
        self._latest: deque[tuple[int, GameRecord]] = deque(maxlen=NEWEST)
        self._scenes: OrderedDict[str, bytes] = OrderedDict()
        self._fresh = self._stale = True
        self._standings_due = 0.0
        self.caught_up = False
        self._run = run  # last: if anything above fails, the next poll tries again

    def _schedule(self, run: RunFolder) -> tuple[Schedule | None, list[str]]:
        try:
            return Schedule(run.info.plan, formats_of(run, self._registry)), []
        except ArenaError as error:
            return None, [f"How long it will continue is not known here: {without_folders(str(error))}"]

    def _read(self, now: float) -> None:
        before = len(self._tail)
        for line in self._tail.new_lines():
            self._take(line, now)
        self._fresh |= len(self._tail) > before
        self.caught_up = self._tail.at_end
        if self.caught_up:
            self._live.give_up_gaps(bool(self._run and self._run.info.finished))
            self._pace.catch_up(now)

    def _take(self, line: RecordLine, now: float) -> None:
        try:
            record = line.result()
        except StoreError:
            self._damaged += 1
            return
        if record.id in self._ids or not self._live.add(record):
            self._damaged += 1
            return
        self._ids[record.id] = line.number
        self._deals.add(record)
        self._pace.add_record(record, now)
        self._latest.append((line.number, record))

    def _newest(self) -> Fields:
        lines = [self._line(number, record) for number, record in reversed(self._latest)]
        return {"matches": lines, "last": len(self._tail)}

    def _line(self, number: int, record: GameRecord) -> Fields:
        return match_fields(number, record, self._games, self._deals.is_open(record))

    def _standings(self, now: float) -> dict[str, Fields]:
        assert self._run is not None
        info = self._run.info
        began = monotonic()
        self._stale = False
        boards, outcomes = self._live.standings(info.end)
        if info.finished and is_rated_by_deal(info.plan):  # a late candidate plays old deals: matches of one together
            with suppress(ArenaError):  # a record is damaged: use the counts in the order of the schedule
                boards = boards_of(self._run)
        own = self.place.tables()
        data = standings_fields(boards, outcomes, info.plan.format, info.entrants, own)
        page = standings_page(boards, outcomes, info.plan.format, info.entrants, self._games, own)
        self._standings_due = now + max(STANDINGS_EVERY_S, STANDINGS_SHARE * (monotonic() - began))
        head = {"run": self.title, "matches": len(self._ids)}
        return {"data": {**head, **data}, "standings": {**head, "html": page}}

    @property
    def title(self) -> str:
        """The heading of the page."""
        return self.place.title(self._run.folder) if self._run else self.place.name

    def _progress(self, now: float) -> Fields:
        if self._run is None:
            return {
                "run": self.title, "matches": 0, "state": "waiting", "notes": [self._trouble], "script": self._digest
            }  # fmt: skip
        info, notes = self._run.info, [self._trouble, *self._notes, without_folders(self._live.trouble)]
        if self._damaged:
            more = "record is" if self._damaged == 1 else "records are"
            notes.append(f"{self._damaged:,} damaged {more} left out: 'arena verify' says which.")
        return {
            "run": self.title,
            "format": info.plan.format,
            "games": [game.name for game in info.plan.games],
            "titles": {name: game.title for name, game in self._games.items()},
            "bots": len(info.entrants),
            "matches": len(self._ids),
            **self._pace.fields(self._run, now),
            "faults": self._pace.faults.total,
            "started": info.started,
            "finished": info.finished,
            "notes": [note for note in notes if note],
            "script": self._digest,
        }

    @property
    def _digest(self) -> str:
        """Digest of the script: an open page reloads when it changes."""
        return sha256(self.script.encode()).hexdigest()[:12]

    def matches(self, after: int, limit: int = MAX_MATCHES) -> bytes:
        """Return up to `limit` matches after line `after`, in the order in which they ended, as JSON."""
        lines: list[Fields] = []
        last = 0 if self._run is None else len(self._tail)
        if self._run is not None:
            for number in range(max(0, after) + 1, min(last, max(0, after) + min(limit, MAX_MATCHES)) + 1):
                try:
                    lines.append(self._line(number, self._tail.line(number).result()))
                except (StoreError, StopIteration):  # damaged: already counted when it was read
                    continue
        return json_line({"run": self.title, "matches": lines, "last": last})

    def match(self, match: str) -> bytes | None:
        """Return the fields of a match as JSON, with the viewer's data unless its deal is secret; None if unknown."""
        number = self._ids.get(match) if self._run is not None else None
        if self._run is None or number is None:
            return None
        try:
            record = self._tail.line(number).record()
        except (StoreError, StopIteration):  # the file has changed since the last poll
            return None
        line = self._line(number, record)
        if self._deals.is_open(record):
            return json_line({**line, "scene": None, "why": HIDDEN_DEAL})
        if match not in self._scenes:
            self._scenes[match] = json_line({**line, **self._scene(record)})
            while len(self._scenes) > SCENES:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(match)
        return self._scenes[match]

    def _scene(self, record: GameRecord) -> Fields:
        if record.game not in self._games:
            return {"scene": None}
        try:
            notes = notes_of(self._run, [record.id]) if self._run else {}
            return {"scene": scene_data(self._games[record.game], record, notes.get(record.id, ()))}
        except ReplayError as error:
            return {"scene": None, "replay": False, "why": without_folders(str(error))}


def _script(games: Mapping[str, Game[Any]]) -> str:
    """Return the JavaScript of the page, with the viewers of these games."""
    # Each viewer is in its own block, so that the names of two games do not collide.
    boards = [f"{{\n{game.viewer_script()}\n}}" for _, game in sorted(games.items())]
    own = (Path(__file__).parent / "assets" / "live.js").read_text(encoding="utf-8")
    return "\n".join([asset("drawing.js"), faces_script(), *boards, asset("viewer.js"), own])
