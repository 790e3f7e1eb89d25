"""Export a run: harness.export_run, and what arena export calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from harness.adapters.encoding import encoding_of
from harness.api.matches import installed_here
from harness.core.errors import UnknownName, UsageError
from harness.core.files import Folder, cannot_write
from harness.core.game import Game
from harness.core.options import default_results
from harness.core.records import GameRecord
from harness.export.rows import (
    REPLAYED,
    TABLES,
    Encode,
    ExportColumn,
    Row,
    ViewForm,
    match_row,
    replayed_rows,
    seat_rows,
)
from harness.export.writers import WRITERS, TableWriter
from harness.output.progress import at_terminal
from harness.plugins.registry import Registry
from harness.runs.reader import count_lines
from harness.runs.setup import game_of
from harness.runs.store import RunFolder, find

EXPORT = "export"
"""Default folder of an export, in that of the run."""


class Exported(NamedTuple):
    """Result of an export."""

    folder: Path
    files: Mapping[str, int]
    """File name -> number of rows."""
    matches: int
    """Number of matches that the files have."""
    complete: bool
    """False if Ctrl-C ended it: the files have all rows of the matches so far."""


def export_run(
    run: str | Path,
    to: str = "parquet",
    folder: str | Path | None = None,
    *,
    tables: Sequence[str] = tuple(TABLES),
    views: ViewForm = "encoded",
    results: str | Path | None = None,
    quiet: bool = False,
) -> Exported:
    """Write a run as tables for data analysis and learning, in a `folder`, by default `export` in the folder of the
    run: docs/export.md describes the tables.

    `to` is "parquet" (needs pyarrow) or "csv". `tables` are some of "matches", "seats", "decisions" and "events".
    `views` is how decisions have them: "encoded" as arrays of numbers, "json", or "none".

    Examples:
        >>> from harness import tournament
        >>> run = tournament("el-paso", ["outlaw", "random"], deals=1, seed=7, workers=0)
        >>> export_run(run.folder, "csv", tables=["matches", "seats"]).files
        {'matches.csv': 2, 'seats.csv': 4}
    """
    opened = RunFolder.open(find(Path(results or default_results()), str(run)))
    return export_folder(opened, installed_here(), to, folder, tables, views, quiet, softly=True)


def export_folder(
    run: RunFolder,
    registry: Registry,
    to: str,
    folder: str | Path | None,
    tables: Sequence[str],
    views: ViewForm,
    quiet: bool,
    softly: bool = False,
) -> Exported:
    """Write an opened run; `softly` is for notebooks, whose process continues after Ctrl-C."""
    if isinstance(tables, str):
        raise UsageError(f"The tables are a list of names, not {tables!r}.")
    for name in tables:
        if name not in TABLES:
            raise UnknownName("table of an export", name, TABLES)
    if to not in WRITERS:
        raise UnknownName("format of an export", to, WRITERS)
    if views not in ("encoded", "json", "none"):
        raise UnknownName("form of views", views, ("encoded", "json", "none"))
    target = run.files.below(EXPORT) if folder is None else Folder(Path(folder))
    try:
        target.make()
    except OSError as error:
        raise cannot_write(target.path, error) from error
    matches, total = 0, count_lines(run.files)
    with (
        at_terminal("matches", total, quiet, None, softly) as (stop, progress),
        _Tables(run, registry, target, WRITERS[to], tables, views).open() as written,
    ):
        for record in run.records():
            written.add(record)
            matches += 1
            progress.step()
            if stop():
                break
    return Exported(target.path, written.counts(), matches, complete=not stop.stopped or matches == total)


class _Tables:
    """The files of an export. Those of replayed matches are opened when a game is first met."""

    def __init__(
        self,
        run: RunFolder,
        registry: Registry,
        folder: Folder,
        writer: type[TableWriter],
        tables: Sequence[str],
        views: ViewForm,
    ) -> None:
        self._run, self._registry = run, registry
        self._folder, self._writer, self._wanted, self._views = folder, writer, tables, views
        self._open: dict[str, TableWriter] = {}
        self._games: dict[tuple[str, int], tuple[Game[Any], Encode | None]] = {}
        self._replayed = [name for name in REPLAYED if name in tables]

    @contextmanager
    def open(self) -> Iterator[_Tables]:
        """Close all files at the end; after an error delete them."""
        for name in ("matches", "seats"):
            if name in self._wanted:
                self._table(name, TABLES[name], {})
        try:
            yield self
            for writer in self._open.values():
                writer.close()
        except BaseException:
            for writer in self._open.values():
                writer.discard()
            raise

    def add(self, record: GameRecord) -> None:
        """Add a match to all tables, or raise an error and add it to none."""
        rows: dict[str, Sequence[Row]] = {}
        if self._replayed:
            key = record.game, len(record.seats)
            game, encode = self._games.get(key) or self._prepared(key, game_of(self._run, self._registry, record))
            decisions, events = replayed_rows(game, record, encode, self._replayed)
            rows = {_name("decisions", *key): decisions, _name("events", *key): events}
        rows |= {"matches": [match_row(record)], "seats": list(seat_rows(record))}
        for name, writer in self._open.items():
            writer.add(rows.get(name, ()))

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each file."""
        return {writer.name: writer.rows for writer in self._open.values()}

    def _prepared(self, key: tuple[str, int], game: Game[Any]) -> tuple[Game[Any], Encode | None]:
        columns, about = TABLES["decisions"], {"game": game.name, "players": key[1], "actions": len(game.actions)}
        encode: Encode | None = None
        if "decisions" in self._replayed:
            columns, encode, more = self._views_of(game, key[1], columns)
            about |= more
        self._games[key] = game, encode
        for name in self._replayed:
            self._table(_name(name, *key), columns if name == "decisions" else TABLES[name], about)
        return self._games[key]

    def _views_of(
        self, game: Game[Any], players: int, columns: Sequence[ExportColumn]
    ) -> tuple[tuple[ExportColumn, ...], Encode | None, dict[str, object]]:
        *others, view = columns
        if self._views == "none":
            return tuple(others), None, {}
        if self._views == "json":
            return (*others, view._replace(type="JSON")), lambda seen: game.view_to_json(seen).decode(), {}
        try:
            encoding = encoding_of(game, players)
        except UsageError as error:
            raise UsageError(f"{error} Or export views as JSON: views json.") from error
        labels = [number.label for number in encoding.numbers]
        encode = encoding.packed if self._writer.packs_views else encoding.encode
        return tuple(columns), encode, {"encoding": encoding.name, "view_size": encoding.size, "view": labels}

    def _table(self, name: str, columns: Sequence[ExportColumn], about: Mapping[str, object]) -> None:
        self._open[name] = self._writer(self._folder, name, columns, about)


def _name(table: str, game: str, players: int) -> str:
    return f"{table}-{game}-{players}"
