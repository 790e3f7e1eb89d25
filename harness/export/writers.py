"""Write tables as Parquet or CSV, in pieces, so that memory does not grow with the run."""

from __future__ import annotations

import csv
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.core.errors import StoreError, UsageError
from harness.core.files import PART, Folder, cannot_write
from harness.export.rows import ExportColumn, Row, as_json
from harness.output.tables import escape_text

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]  # here and in load_pyarrow: it has no types

ROW_GROUP = 4_000
"""Rows that are held in memory and written at once: a row group of a Parquet file."""


class TableWriter(ABC):
    """Writes one table. Its file gets its name when it is closed; until then an older one stays as it is."""

    ending: str
    packs_views = False
    """Whether views are bytes, of float32, instead of lists."""

    def __init__(self, folder: Folder, name: str, columns: Sequence[ExportColumn], about: Mapping[str, object]) -> None:
        """`about` is data about the table, for files that have a place for it."""
        self.folder, self.name, self.columns, self.about = folder, f"{name}.{self.ending}", columns, about
        self.rows = 0
        self._waiting: list[Row] = []
        self._part = self.name + PART
        try:
            folder.remove(self._part)
            self._file: BinaryIO = open(folder.open_to_append(self._part, create=True), "wb")  # noqa: SIM115, PTH123 - closed below; a descriptor
        except OSError as error:
            raise cannot_write(folder.path / self.name, error) from error

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows; they are written in groups."""
        self._waiting += rows
        while len(self._waiting) >= ROW_GROUP:
            group, self._waiting = self._waiting[:ROW_GROUP], self._waiting[ROW_GROUP:]
            self._write(group)

    def close(self) -> None:
        """Write what is left, and give the file its name."""
        self._write(self._waiting)
        self._waiting = []
        try:
            self._finish()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.folder.rename(self._part, self.name)
        except OSError as error:
            raise cannot_write(self.folder.path / self.name, error) from error

    def discard(self) -> None:
        """Delete what was written, after an error."""
        with suppress(OSError, ValueError):
            self._file.close()
        with suppress(OSError):
            self.folder.remove(self._part)

    def _write(self, group: Sequence[Row]) -> None:
        if not group:
            return
        try:
            self._write_group(group)
        except OSError as error:
            raise cannot_write(self.folder.path / self.name, error) from error
        except (OverflowError, ValueError, TypeError) as error:  # pyarrow's own are ValueErrors and TypeErrors
            first, last = group[0][0], group[-1][0]
            raise StoreError(
                f"A record from {first} to {last} has a value that {self.name} cannot hold: {error}."
            ) from error
        self.rows += len(group)

    @abstractmethod
    def _write_group(self, group: Sequence[Row]) -> None:
        """Write these rows."""

    @abstractmethod
    def _finish(self) -> None:
        """Write the end of the file."""


class CsvWriter(TableWriter):
    """Writes CSV with a header. Lists are JSON; text that a spreadsheet would read as a formula gets a leading `'`."""

    ending = "csv"

    def __init__(self, folder: Folder, name: str, columns: Sequence[ExportColumn], about: Mapping[str, object]) -> None:
        super().__init__(folder, name, columns, about)
        self._file.write(self._lines([[column.name for column in columns]]))

    def _write_group(self, group: Sequence[Row]) -> None:
        self._file.write(self._lines([[_csv_cell(value) for value in row] for row in group]))

    def _finish(self) -> None:
        """Do nothing: a CSV file ends with its last row."""

    def _lines(self, rows: Sequence[Sequence[object]]) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        return escape_text(value, "csv")
    if isinstance(value, bool):
        return "true" if value else "false"
    return as_json(list(value)) if isinstance(value, list) else value


class ParquetWriter(TableWriter):
    """Writes Parquet: row groups of ROW_GROUP rows, compressed; what the table is about is in its metadata."""

    ending = "parquet"
    packs_views = True

    def __init__(self, folder: Folder, name: str, columns: Sequence[ExportColumn], about: Mapping[str, object]) -> None:
        self._pa, self._parquet = load_pyarrow()
        super().__init__(folder, name, columns, about)
        fields = [
            self._pa.field(column.name, self._type(column), metadata={"description": column.text}) for column in columns
        ]
        metadata = {f"arena.{key}": as_json(value) for key, value in about.items()}
        self.schema = self._pa.schema(fields, metadata=metadata)
        self._writer = self._parquet.ParquetWriter(self._file, self.schema, compression="zstd")

    def _type(self, column: ExportColumn) -> pa.DataType:
        types: dict[str, pa.DataType] = {
            "text": self._pa.string(),
            "JSON": self._pa.string(),
            "int64": self._pa.int64(),
            "int32": self._pa.int32(),
            "float64": self._pa.float64(),
            "bool": self._pa.bool_(),
            "list of int32": self._pa.list_(self._pa.int32()),
        }
        # All views of a table have the same length: readers get an array, not a list for each row.
        size = self.about.get("view_size")
        return types.get(column.type) or self._pa.list_(self._pa.float32(), size)

    def _write_group(self, group: Sequence[Row]) -> None:
        columns = [
            self._floats(values) if column.type == "list of float32" else self._pa.array(values, field.type)
            for column, field, values in zip(self.columns, self.schema, zip(*group, strict=True), strict=True)
        ]
        batch = self._pa.record_batch(columns, schema=self.schema)
        self._writer.write_batch(batch, row_group_size=ROW_GROUP)

    def _floats(self, rows: Sequence[Any]) -> pa.Array:
        size: int = self.about["view_size"]  # type: ignore[assignment]  # what a table is about may be anything
        flat = self._pa.py_buffer(b"".join(rows))
        values = self._pa.Array.from_buffers(self._pa.float32(), size * len(rows), [None, flat])
        return self._pa.FixedSizeListArray.from_arrays(values, size)

    def _finish(self) -> None:
        self._writer.close()

    def discard(self) -> None:
        """Delete what was written, after an error."""
        with suppress(Exception):  # it writes the end of a file that is deleted
            self._writer.close()
        super().discard()


WRITERS: dict[str, type[TableWriter]] = {"csv": CsvWriter, "parquet": ParquetWriter}


def load_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module; raise UsageError if it is not installed."""
    try:
        import pyarrow  # an extra, and it takes 0.1 s
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise UsageError(
            f"Parquet needs {error.name}, which is not installed here: pip install 'arena-harness[export]'. Or export "
            f"CSV."
        ) from None
    return pyarrow, parquet
