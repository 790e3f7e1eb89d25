"""What can be served: a run, a league by its newest era, or all of them that a folder holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core.errors import StoreError
from harness.output.data_table import DataTable
from harness.runs.store import RUN, find

EVENT, ERAS = "arena.toml", "eras"
"""What a league's folder has: the file that asks for it, and the folder with a run for each of its eras."""

OwnTables = Callable[[Path], Sequence[DataTable]]
"""What a league has to show beside the standings of its era, from its folder."""


def no_tables(_folder: Path) -> Sequence[DataTable]:
    """A league shows the standings of its era, and nothing else."""
    return ()


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The folder of a run, or of a league: then the run is its newest era, which may be another one tomorrow."""

    folder: Path
    is_league: bool = False
    own_tables: OwnTables = no_tables
    """The one place where a league's own tables come in: asked whenever the standings are made anew."""

    @property
    def name(self) -> str:
        """What it is called: its folder's name."""
        return self.folder.resolve().name

    def current(self) -> Path:
        """The folder of the run that is being played, or was the last."""
        if not self.is_league:
            return self.folder
        eras = [path.parent for path in (self.folder / ERAS).glob(f"*/{RUN}") if path.parent.name.isdecimal()]
        if not eras:
            raise StoreError(f"The league {self.name} has not begun to play.")
        return max(eras, key=lambda path: int(path.name))

    def title(self, current: Path) -> str:
        """The heading of its page."""
        return f"{self.name}, era {current.name}" if self.is_league else self.name

    def tables(self) -> Sequence[DataTable]:
        """Its own tables."""
        return self.own_tables(self.folder) if self.is_league else ()


def place_of(folder: Path, own_tables: OwnTables = no_tables) -> RunPlace | None:
    """The run or the league in a folder, if there is one."""
    if (folder / RUN).exists():
        return RunPlace(folder)
    if (folder / EVENT).exists() and (folder / ERAS).is_dir():
        return RunPlace(folder, True, own_tables)
    return None


def named_place(results: Path, name: str, own_tables: OwnTables = no_tables) -> RunPlace:
    """A run or a league by its path, or by its name in the folder of results."""
    for folder in (Path(name), results / name):
        if place := place_of(folder, own_tables):
            return place
    return RunPlace(find(results, name))  # which says what is there instead


def places_in(results: Path, own_tables: OwnTables = no_tables) -> dict[str, RunPlace]:
    """The runs and leagues of a folder by their names, those that were changed last first."""
    try:
        found = [place for path in results.iterdir() if path.is_dir() and (place := place_of(path, own_tables))]
    except OSError as error:
        raise StoreError(f"Cannot read {results}: {error.strerror or error}.") from error
    return {place.name: place for place in sorted(found, key=_changed, reverse=True)}


def _changed(place: RunPlace) -> float:
    try:
        return (place.current() / RUN).stat().st_mtime
    except (OSError, StoreError):
        return 0.0
