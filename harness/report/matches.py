"""The matches of a published run: column files with every match, and the stored replays with their pages."""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from harness.core.errors import ArenaError
from harness.core.files import MAX_DATA_BYTES, Folder, write_whole
from harness.core.game import Game
from harness.core.records import GameRecord
from harness.output.tables import escape_json, file_name
from harness.report import PageParts, without_bots
from harness.report.facts import Facts
from harness.report.page import still_open
from harness.report.picks import margin
from harness.report.scenes import notes_of, packed, scene_data
from harness.runs.reader import UNREADABLE, followed

# Every match, in column files: a chunk has the matches of one game, in the order in which they were recorded.


CHUNK = 10_000
"""Matches of a column file."""
RECORD_BYTES = 1_000_000
"""Bytes of records, before they are compressed, of a file of whole records."""
LIST, RECORDS = "list", "records"


class Chunk(Struct):
    """Content of a column file: the n-th entry of each list belongs to the n-th match."""

    tables: list[list[int]] = []
    """The different tables of bots: numbers of the bots, seat by seat."""
    ids: list[str] = []
    table: list[int] = []
    """Number of the table in `tables`."""
    scores: list[tuple[int, ...]] = []
    ranks: list[str] = []
    """The ranks, seat by seat, each as a letter: a is the first."""
    length: list[int] = []
    """Decisions."""
    faults: dict[int, list[int]] = {}
    """Place in the lists -> the seats that failed."""

    def add(self, record: GameRecord, table: int) -> None:
        """Append a match."""
        failed = sorted({fault.seat for fault in record.faults})
        if failed:
            self.faults[len(self.ids)] = failed
        self.ids.append(record.id)
        self.table.append(table)
        self.scores.append(record.scores)
        self.ranks.append("".join([chr(96 + rank) for rank in record.ranks]))
        self.length.append(sum(record.decisions))


class ListedGame(Struct):
    """The matches of one game."""

    name: str
    title: str
    matches: int = 0
    chunks: list[str] = []
    """Column files, relative to the run's folder; all but the last have `CHUNK` matches."""
    records: list[tuple[int, str]] = []
    """Files of whole records, each with the number of its first match; empty until the run is finished."""


class MatchList(Struct):
    """Index of the column files of a run."""

    run: str
    chunk: int
    bots: list[str]
    games: list[ListedGame]
    stored: dict[str, str] = {}
    """Match -> the name of its page, for those with a stored replay."""


class _GameWriter:
    """Writes the files of one game; holds at most one chunk and one file of records in memory."""

    def __init__(self, game: ListedGame, folder: Folder, with_records: bool) -> None:
        self.game, self._folder, self._with_records = game, folder, with_records
        self._slug = file_name(game.name)
        self._chunk, self._lines, self._size, self._first = Chunk(), list[bytes](), 0, 0
        self._tables: dict[tuple[int, ...], int] = {}

    def add(self, record: GameRecord, bots: tuple[int, ...]) -> None:
        table = self._tables.setdefault(bots, len(self._tables))
        if table == len(self._chunk.tables):
            self._chunk.tables.append(list(bots))
        self._chunk.add(record, table)
        self.game.matches += 1
        if len(self._chunk.ids) == CHUNK:
            self._end_chunk()
        if self._with_records:
            line = escape_json(msgspec.json.encode(record))
            self._lines.append(line)
            self._size += len(line)
            if self._size > RECORD_BYTES:
                self._end_records()

    def end(self) -> None:
        if self._chunk.ids:
            self._end_chunk()
        if self._lines:
            self._end_records()

    def _end_chunk(self) -> None:
        name = f"{LIST}/{self._slug}-{len(self.game.chunks)}.json.gz"
        _write_packed(self._folder, name, escape_json(msgspec.json.encode(self._chunk)))
        self.game.chunks.append(name)
        self._chunk, self._tables = Chunk(), {}

    def _end_records(self) -> None:
        name = f"{RECORDS}/{self._slug}-{len(self.game.records)}.jsonl.gz"
        # They are most of what is compressed: level 6 takes three times as long and saves 8% of the bytes.
        _write_packed(self._folder, name, b"\n".join(self._lines) + b"\n", 4)
        self.game.records.append((self._first, name))
        self._lines, self._size, self._first = [], 0, self.game.matches


def _write_packed(folder: Folder, name: str, data: bytes, level: int = 6) -> None:
    # Without a time in the header the same run always gives the same file.
    write_whole(folder, name, gzip.compress(data, level, mtime=0))


@dataclass(slots=True)
class Listed:
    """What one pass over the records has found."""

    index: MatchList
    wanted: dict[str, GameRecord] = field(default_factory=dict)
    """The records that were asked for."""
    moved: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Game and bot -> those of its new matches in which it did most for its new place."""


MOVERS_MATCHES = 3
"""Matches that are named for each bot that moved."""


def write_list(
    parts: PageParts,
    folder: Folder,
    titles: Mapping[str, str],
    wanted: Collection[str],
    moves: Mapping[tuple[str, str], int] | None = None,
    known: int = 0,
) -> Listed:
    """Write the column files of a run, and return their index with the `wanted` records.

    `moves` says how many places each bot of a game has won since the last publication, which had the first `known`
    matches. Whole records are written only when the run is finished: earlier they would give away seeds and deals.
    """
    run = parts.run
    for name in (LIST, RECORDS):
        folder.make(name)
        for old in folder.below(name).names():
            folder.remove(f"{name}/{old}")
    found = Listed(MatchList(run.title, CHUNK, [], []))
    bots: dict[str, int] = {}
    writers: dict[str, _GameWriter] = {}
    chosen, names, moves = without_bots(parts.without), frozenset(wanted), moves or {}
    best: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
    for place, record in enumerate(filter(chosen, run.records())):
        writer = writers.get(record.game)
        if writer is None:
            game = ListedGame(record.game, titles.get(record.game, record.game))
            found.index.games.append(game)
            writer = writers[record.game] = _GameWriter(game, folder, bool(run.info.finished))
        writer.add(record, tuple([bots.setdefault(bot, len(bots)) for bot in record.seats]))
        if record.id in names:
            found.wanted[record.id] = record
        if place >= known and moves:
            for bot, rank in zip(record.seats, record.ranks, strict=True):
                won = moves.get((record.game, bot), 0)
                if won:
                    share = (rank - 1) / max(1, len(record.seats) - 1)
                    helped = best.setdefault((record.game, bot), [])
                    helped.append((share if won > 0 else -share, -place, record.id))
                    helped.sort()
                    del helped[MOVERS_MATCHES:]
    for writer in writers.values():
        writer.end()
    found.index.bots = list(bots)
    found.moved = {of: [match for _, _, match in matches] for of, matches in best.items()}
    return found


# Stored replays: each has a page that later publishes leave as it is.


MATCHES, REPLAYS = "matches", "replays.json"
_PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[0-9]{1,9}){0,3}")
"""Ids that are file names as they are; `file_name` gives others a digest of ten digits, so the two cannot collide."""
MIN_COMEBACK = 0.25
"""Deficit of a winner, as a share, from which its match counts as a comeback."""


class Stored(Struct, frozen=True):
    """A match with a stored replay, for the lists of the site."""

    id: str
    file: str
    """Name of its page and its preview, without extension."""
    game: str
    seats: list[str]
    scores: list[int]
    ranks: list[int]
    margin: float
    """How far the first was ahead of the second, as a share of its score."""
    length: int
    """Steps of the replay."""
    failed: list[int]
    """Seats whose bots failed."""
    reasons: list[str]
    """Why it is worth watching; the first is the reason for which it was chosen."""
    comeback: float
    """How far the later winner was behind for a tenth of the match: in expected result, otherwise as a share of the
    final score."""
    texts: list[str]
    """The scores in the game's words."""
    published: str
    """When the run had last changed when its page was made."""

    @property
    def order(self) -> list[int]:
        """The seats in the order of their ranks."""
        return sorted(range(len(self.seats)), key=lambda seat: (self.ranks[seat], seat))


def match_file(match: str) -> str:
    """Return the file name of a match, without extension."""
    return match if len(match) <= 60 and _PLAIN_ID.fullmatch(match) else file_name(f"{match} ")


def read_stored(folder: Folder, without: Sequence[str]) -> list[Stored]:
    """Return the stored replays of a published run. Delete those of bots that are left out now."""
    try:
        stored = msgspec.json.decode(folder.read(REPLAYS, MAX_DATA_BYTES), type=list[Stored])
    except (FileNotFoundError, *UNREADABLE):
        return []
    kept = [one for one in stored if one.file == match_file(one.id)]
    gone = [one for one in kept if not set(without).isdisjoint(one.seats)]
    for one in gone:
        for ending in ("html", "png"):
            folder.remove(f"{MATCHES}/{one.file}.{ending}")
    return [one for one in kept if one not in gone and folder.has_file(f"{MATCHES}/{one.file}.html")]


def picked(facts: Facts, most: int) -> dict[str, list[str]]:
    """Return the matches whose replays are to be stored, at most `most` of each game, each with its reasons."""
    found: dict[str, list[str]] = {}
    for game in sorted(facts.counts.counts()):
        ranked = facts.picks.ranked(game)
        found |= {match: ranked[match] for match in list(ranked)[:most]}
    return found


def new_replays(
    parts: PageParts, records: Mapping[str, GameRecord], reasons: Mapping[str, list[str]], when: str
) -> Iterator[tuple[Stored, GameRecord, str]]:
    """Yield a stored replay with its record and its packed data for each of these matches that can be shown."""
    withheld = still_open(parts.run, parts.formats, records.values())
    shown = [match for match in reasons if match in records and match not in withheld]
    notes = notes_of(parts.run, shown)
    for match in followed(shown, "replays", lambda: len(shown)):
        record = records[match]
        game = parts.games.get(record.game)
        if game is None:
            continue
        try:
            data = scene_data(game, record, notes.get(match, ()))
        except ArenaError:  # of other rules: the page of the run says so
            continue
        yield _stored(game, record, data, reasons[match], when), record, packed(data)


def _stored(game: Game[Any], record: GameRecord, data: Mapping[str, Any], reasons: Sequence[str], when: str) -> Stored:
    behind = comeback(record, data)
    given = [*reasons, *(["comeback"] if behind >= MIN_COMEBACK and not record.faults else [])]
    return Stored(
        id=record.id,
        file=match_file(record.id),
        game=record.game,
        seats=list(record.seats),
        scores=list(record.scores),
        ranks=list(record.ranks),
        margin=margin(record.scores),
        length=len(data["steps"]),
        failed=sorted({fault.seat for fault in record.faults}),
        reasons=given,
        comeback=behind,
        texts=[game.score_text(score) for score in record.scores],
        published=when,
    )


def comeback(record: GameRecord, data: Mapping[str, Any]) -> float:
    """Return how far the winner was behind the best rival for at least a tenth of the match: in expected result where
    the game has a value function, otherwise as a share of the final score; 0 without a single winner."""
    if record.ranks.count(1) != 1 or len(record.seats) < 2:
        return 0.0
    winner = record.ranks.index(1)
    expected = [row for row in data.get("expected") or () if row and all(value is not None for value in row)]
    unit, course = (1.0, expected) if expected else (max(1.0, abs(record.scores[winner])), data.get("scores") or ())
    gaps = sorted(
        (max(value for seat, value in enumerate(row) if seat != winner) - row[winner] for row in course if row),
        reverse=True,
    )
    # A deficit of a few steps, as between a payment and what it bought, is no comeback to a viewer.
    return max(0.0, gaps[len(gaps) // 10] / unit) if gaps else 0.0
