"""A run as it is now: its files are followed as another process writes them, and what there is to tell is made here."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

from harness.core.errors import ArenaError, ReplayError, StoreError
from harness.core.game import Game
from harness.core.types import GameRecord
from harness.output.columns import Fields
from harness.output.pages import installed_games
from harness.output.pages.markup import asset
from harness.output.pages.scenes import scene_data
from harness.plugins.registry import Registry
from harness.runs.boards import boards_of
from harness.runs.deal_order import deals_come_again
from harness.runs.fault_groups import FaultGroups
from harness.runs.run_setup import formats_of
from harness.runs.store import GAMES, RUN, RunFolder
from harness.schedule import Schedule
from harness.serve.live_parts import (
    HIDDEN_DEAL,
    faults_fields,
    json_line,
    match_fields,
    standings_fields,
    standings_page,
    without_folders,
)
from harness.serve.live_progress import LiveProgress
from harness.serve.live_ratings import LiveRatings
from harness.serve.open_deals import OpenDeals
from harness.serve.record_tail import RecordTail
from harness.serve.run_places import RunPlace

NEWEST = 12
"""Results that are told without being asked for."""
MOST_MATCHES = 200
"""Results that are told at once to whoever asks."""
STANDINGS_EVERY = 1.0
"""Seconds after which standings are made anew, if there is something new."""
STANDINGS_SHARE = 5
"""And so many times as long as it takes to make them."""
ANEW_EVERY = 30.0
"""Seconds after which all records may be read again, if a match came very late; or 20 times as long as that takes."""
SCENES = 8
"""Matches that are kept ready to be watched."""


class LiveRun:
    """Follows one run. It belongs to one thread: whatever is sent is ready when it leaves it."""

    def __init__(self, place: RunPlace, registry: Registry) -> None:
        self.place, self._registry = place, registry
        self._run: RunFolder | None = None
        self._written: tuple[int, ...] = ()
        self._trouble = ""
        self.caught_up = False
        """Whether everything was read that was there at the last look."""
        self.told: dict[str, bytes] = {}
        """The newest of everything, by its kind: progress, results, standings (a piece of a page) and data, which has
        the standings for programs."""
        self._known = self._fresh = self._stale = False
        self._standings_due = 0.0
        self.script = _script({})
        """What makes the page live, and draws the tables of its games."""

    def look(self) -> dict[str, bytes]:
        """Reads what is new, and gives what is there to tell of it."""
        now = monotonic()
        news: dict[str, Fields] = {}
        try:
            self._follow(now)
            news |= self._found(now)
            self._trouble = ""
        except (ArenaError, OSError) as error:
            self._trouble = self._plain(error)
            self.caught_up = True
        if self.caught_up or not self._known:  # who reads again what is known need not say so
            news["progress"] = self._progress(now)
            self._known = self.caught_up
        lines = {kind: json_line(fields) for kind, fields in news.items()}
        changed = {kind: line for kind, line in lines.items() if self.told.get(kind) != line}
        self.told |= changed
        return changed

    def _found(self, now: float) -> dict[str, Fields]:
        """Results and standings, as far as there is something new and it is time."""
        news: dict[str, Fields] = {}
        if not self.caught_up:
            return news
        if self._fresh:
            self._fresh, self._stale = False, True
            news["results"] = {**self._newest(), "failed": faults_fields(self._faults)}
        if self._stale and now >= self._standings_due:
            news |= self._standings(now)
        return news

    def _plain(self, error: Exception) -> str:
        """What went wrong, without saying where on this machine."""
        if isinstance(error, OSError):
            return f"The records cannot be read: {error.strerror or type(error).__name__}."
        return without_folders(str(error))

    def _follow(self, now: float) -> None:
        folder = self.place.current()
        found = (folder / RUN).stat()
        written = found.st_ino, found.st_mtime_ns, found.st_size
        if self._run is None or folder != self._run.folder:
            self._known = False
            self._begin(RunFolder.open(folder), now)
        elif written != self._written:
            run = RunFolder.open(folder)
            if run.info.plan != self._run.info.plan:
                self._begin(run, now)
            self._run, self._stale = run, True
            self._deals.all_over = bool(run.info.finished)
            self._fresh = True
        self._written = written
        assert self._run is not None
        if self._tail.is_another() or self._is_time_to_read_again(now):
            self._begin(self._run, now)
        self._read(now)

    def _is_time_to_read_again(self, now: float) -> bool:
        """Whether a match came so late that only reading all of them again puts it where it belongs."""
        assert self._run is not None
        if not self._ratings.late or not self.caught_up:
            return False
        return bool(self._run.info.finished) or now >= self._began + max(ANEW_EVERY, 20 * (self._pace.took or 0.0))

    def _begin(self, run: RunFolder, now: float) -> None:
        """Forgets everything and begins with the first record."""
        plan = run.info.plan
        self._tail, self._deals = RecordTail(run.folder / GAMES), OpenDeals(plan)
        self._deals.all_over = bool(run.info.finished)
        schedule, self._notes = self._schedule(run)
        self._ratings = LiveRatings(plan, schedule, self._deals.reach)
        self._pace, self._began = LiveProgress(schedule, now), now
        self._games, problems = installed_games(run, self._registry)
        self._notes += map(without_folders, problems)
        self.script = _script(self._games)
        self._faults, self._damaged = FaultGroups(), 0
        self._ids: dict[str, int] = {}
        self._latest: deque[tuple[int, GameRecord]] = deque(maxlen=NEWEST)
        self._scenes: OrderedDict[str, bytes] = OrderedDict()
        self._fresh = self._stale = True
        self._standings_due = 0.0
        self.caught_up = False
        self._run = run  # last: whatever fails before is tried again

    def _schedule(self, run: RunFolder) -> tuple[Schedule | None, list[str]]:
        try:
            return Schedule(run.info.plan, formats_of(run, self._registry)), []
        except ArenaError as error:
            return None, [f"How long it will go on is not known here: {without_folders(str(error))}"]

    def _read(self, now: float) -> None:
        before = len(self._tail)
        for number, line in self._tail.new_lines():
            self._take(number, line, now)
        self._fresh |= len(self._tail) > before
        self.caught_up = self._tail.at_end
        if self.caught_up:
            self._ratings.give_up_gaps()
            self._pace.caught_up(now)

    def _take(self, number: int, line: bytes, now: float) -> None:
        assert self._run is not None
        try:
            record = self._run.read_result(number, line)
        except StoreError:
            self._damaged += 1
            return
        if record.id in self._ids or not self._ratings.add(record):
            self._damaged += 1
            return
        self._ids[record.id] = number
        self._deals.add(record)
        self._faults.add(record)
        self._pace.add(record, now)
        self._latest.append((number, record))

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
        boards, outcomes = self._ratings.standings()
        if deals_come_again(info.plan):  # a late candidate plays old deals: matches of one count together
            with suppress(ArenaError):  # some record cannot be read: then as they came
                boards = boards_of(self._run)
        own = self.place.tables()
        data = standings_fields(boards, outcomes, info.plan.format, info.entrants, own)
        page = standings_page(boards, outcomes, info.plan.format, info.entrants, self._games, own)
        self._standings_due = now + max(STANDINGS_EVERY, STANDINGS_SHARE * (monotonic() - began))
        head = {"run": self.title, "matches": len(self._ids)}
        return {"data": {**head, **data}, "standings": {**head, "html": page}}

    @property
    def title(self) -> str:
        """The heading of its page."""
        return self.place.title(self._run.folder) if self._run else self.place.name

    def _progress(self, now: float) -> Fields:
        if self._run is None:
            return {
                "run": self.title, "matches": 0, "state": "waiting", "notes": [self._trouble], "script": self._digest
            }  # fmt: skip
        info, notes = self._run.info, [self._trouble, *self._notes, without_folders(self._ratings.trouble)]
        if self._damaged:
            more = "record is" if self._damaged == 1 else "records are"
            notes.append(f"{self._damaged:,} damaged {more} left out: 'arena verify' says which.")
        return {
            "run": self.title,
            "format": info.plan.format,
            "games": [game.name for game in info.plan.games],
            "bots": len(info.entrants),
            "matches": len(self._ids),
            **self._pace.fields(self._run, now),
            "faults": self._faults.total,
            "started": info.started,
            "finished": info.finished,
            "notes": [note for note in notes if note],
            "script": self._digest,
        }

    @property
    def _digest(self) -> str:
        """By this a page knows that its script is not the one that it needs."""
        return sha256(self.script.encode()).hexdigest()[:12]

    def matches(self, after: int, limit: int = MOST_MATCHES) -> bytes:
        """The matches whose lines come after this one, in the order in which they ended."""
        lines: list[Fields] = []
        last = 0 if self._run is None else len(self._tail)
        if self._run is not None:
            for number in range(max(0, after) + 1, min(last, max(0, after) + min(limit, MOST_MATCHES)) + 1):
                try:
                    lines.append(self._line(number, self._run.read_result(number, self._tail.line(number))))
                except (StoreError, OSError):  # damaged: it was left out when it came
                    continue
        return json_line({"run": self.title, "matches": lines, "last": last})

    def match(self, match: str) -> bytes | None:
        """All of a match: its line, and what the viewer shows of it if its deal is no secret. None if there is none."""
        number = self._ids.get(match) if self._run is not None else None
        if self._run is None or number is None:
            return None
        try:
            record = self._run.read_record(number, self._tail.line(number))
        except (StoreError, OSError):  # the file has been changed since the last look
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
            return {"scene": scene_data(self._games[record.game], record)}
        except ReplayError as error:
            return {"scene": None, "replay": False, "why": without_folders(str(error))}


def _script(games: Mapping[str, Game[Any]]) -> str:
    """What shows matches of these games, and the page itself."""
    boards = [f"{{\n{game.viewer_script()}\n}}" for _, game in sorted(games.items())]
    own = (Path(__file__).parent / "assets" / "live.js").read_text(encoding="utf-8")
    return "\n".join([asset("drawing.js"), *boards, asset("viewer.js"), own])
