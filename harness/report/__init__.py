"""HTML pages: the report of one run, and a site of many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.game import Game
from harness.core.plan import Format, Outcome
from harness.core.records import GameRecord
from harness.output.outcome import FormatResults, format_results
from harness.output.tables import short
from harness.plugins.registry import Registry
from harness.runs.setup import installed_games
from harness.runs.store import RunFolder, write_whole

# Bots whose matches a page leaves out, for example because they cheated.


def check_left_out(runs: Sequence[RunFolder], names: Iterable[str]) -> None:
    """Raise UnknownName for a bot that is in none of these runs."""
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    for name in names:
        if name not in entered:
            raise UnknownName("bot of this run" if len(runs) == 1 else "bot of these runs", name, entered)


def left_out_of(run: RunFolder, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of these bots that are in the run."""
    entered = {entrant.name for entrant in run.info.entrants}
    return tuple(name for name in dict.fromkeys(names) if name in entered)


def without_bots(names: Sequence[str]) -> Callable[[GameRecord], bool]:
    """Return a test for matches in which none of these bots played."""
    gone = frozenset(names)
    return lambda record: gone.isdisjoint(record.seats)


def left_out_sentence(names: Sequence[str], matches: int, left_out: int) -> str:
    """Return the sentence about left-out matches for a page."""
    named = ", ".join(short(name, 30) for name in names)
    return f"All matches of {named} are left out: {left_out:,} of {matches + left_out:,}."


NEEDED = ("jinja2", "markupsafe", "matplotlib")


class PageParts(NamedTuple):
    """A run to be published, and the parts of its page."""

    run: RunFolder
    games: dict[str, Game[Any]]
    results: FormatResults
    """The outcome of the format; empty if matches are left out."""
    problems: list[str]
    """Problems with these, in sentences."""
    without: tuple[str, ...]
    formats: Mapping[str, Format]


@contextmanager
def _making_pages() -> Iterator[None]:
    """Convert errors: a missing library says what to install, a failed write names the file."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        raise UsageError(
            f"Pages are made with {error.name}, which is not installed: pip install 'arena-harness[report]'."
        ) from error
    except OSError as error:
        raise StoreError(f"Cannot write {error.filename or 'the page'}: {error.strerror or error}.") from error


def write_report(
    run: RunFolder,
    games: dict[str, Game[Any]],
    to: Path,
    asked: Sequence[str] = (),
    most: int | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    without: Sequence[str] = (),
    formats: Mapping[str, Format] | None = None,
) -> Path:
    """Write the page of a run, with the `asked` matches and at most `most` others in its viewer, `without` the matches
    of these bots. `formats` know which deals are still being played; without them the records decide."""
    with _making_pages():
        from harness.report.page import report  # needs libraries of the extra [report]

        write_whole(to, report(run, games, asked, most, outcomes, without, formats).encode())
    return to


def publish(
    runs: Sequence[RunFolder],
    registry: Registry,
    to: Path,
    without: Sequence[str] = (),
    url: str = "",
    beside: Callable[[], Mapping[str, bytes]] = dict,
) -> list[str]:
    """Add runs to the site in a folder, `without` the matches of these bots, update its other pages, and return
    problems. `url` is the address of the site, for its feed; `beside` makes further files."""
    check_left_out(runs, without)
    with _making_pages():
        from harness.report.site import publish_runs  # likewise

        return publish_runs([_prepared(run, registry, without) for run in runs], to, url, beside())


def _prepared(run: RunFolder, registry: Registry, without: Sequence[str]) -> PageParts:
    games, problems = installed_games(run, registry)
    gone = left_out_of(run, without)
    results, more = (FormatResults({}, run.info.plan.format), []) if gone else format_results(run, registry)
    return PageParts(run, games, results, [*problems, *more], gone, registry.formats)
