"""HTML pages: the report of one run, and a site of many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.errors import StoreError, UnknownName, UsageError
from harness.core.files import write_named_file
from harness.core.game import Game
from harness.core.plan import Format
from harness.core.records import GameRecord
from harness.output.outcome import FormatResults, format_results
from harness.output.tables import short
from harness.plugins.registry import Registry
from harness.runs.setup import installed_games
from harness.runs.store import RunFolder

# Bots whose matches a page leaves out, for example because they cheated.


def check_left_out(runs: Sequence[RunFolder], names: Iterable[str]) -> None:
    """Raise UnknownName for a bot that is in none of these runs."""
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    for name in names:
        if name not in entered:
            raise UnknownName("bot of this run" if len(runs) == 1 else "bot of these runs", name, entered)


def without_bots(names: Sequence[str]) -> Callable[[GameRecord], bool]:
    """Return a test for matches in which none of these bots played."""
    gone = frozenset(names)
    return lambda record: gone.isdisjoint(record.seats)


def left_out_sentence(names: Sequence[str], matches: int, left_out: int) -> str:
    """Return the sentence about left-out matches for a page."""
    named = ", ".join(short(name, 30) for name in names)
    return f"All matches of {named} are left out: {left_out:,} of {matches + left_out:,}."


NEEDED = ("jinja2", "markupsafe", "matplotlib", "PIL")


class PageParts(NamedTuple):
    """A run, and what its page needs besides the records."""

    run: RunFolder
    games: Mapping[str, Game[Any]] = {}
    results: FormatResults = FormatResults({}, "")
    """The outcome of the format; empty if matches are left out."""
    problems: Sequence[str] = ()
    """Problems with these, in sentences."""
    without: Sequence[str] = ()
    """Bots whose matches are left out."""
    formats: Mapping[str, Format] = {}
    """They know which deals are still being played; without the run's format the records decide."""


def page_parts(run: RunFolder, registry: Registry, without: Iterable[str]) -> PageParts:
    """Return the data for the page of a run, `without` the matches of these bots."""
    games, problems = installed_games(run, registry)
    entered = {entrant.name for entrant in run.info.entrants}
    gone = [name for name in dict.fromkeys(without) if name in entered]
    results, more = (FormatResults({}, run.info.plan.format), []) if gone else format_results(run, registry)
    return PageParts(run, games, results, [*problems, *more], gone, registry.formats)


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


def require_libraries() -> None:
    """Raise UsageError if a library that makes pages is not installed."""
    with _making_pages():
        for name in NEEDED:
            import_module(name)


def write_report(parts: PageParts, to: Path, asked: Sequence[str] = (), most: int | None = None) -> Path:
    """Write the page of a run, with the `asked` matches and at most `most` others in its viewer."""
    with _making_pages():
        from harness.report.page import report  # needs libraries of the extra [report]

        write_named_file(to, report(parts, asked, most).encode())
    return to


DEFAULT_REPLAYS = 200
"""Replays of each game and run that a site stores."""


class SiteOptions(NamedTuple):
    """What can be chosen when a site is published; what is None, or an empty `url`, stays as it was the last time."""

    url: str = ""
    """The address of the site, for its feeds and link previews."""
    title: str | None = None
    headline: str | None = None
    """Folder of the run whose standing is on the front page; "" for the newest."""
    next: str | None = None
    """When the next update is due, as it is shown."""
    replays: int = DEFAULT_REPLAYS
    analyses: Sequence[Path] = ()
    """Files of `arena analyse --out`; one for each game is kept."""


NO_OPTIONS = SiteOptions()


class Beside(NamedTuple):
    """Additions of a feature to a site: files by name, and the values of its templates by name."""

    files: Mapping[str, bytes] = {}
    pages: Mapping[str, Mapping[str, object]] = {}


def publish(
    runs: Sequence[RunFolder],
    registry: Registry,
    to: Path,
    without: Sequence[str] = (),
    options: SiteOptions = NO_OPTIONS,
    beside: Callable[[], Beside] = Beside,
) -> list[str]:
    """Add runs to the site in a folder, `without` the matches of these bots, update its other pages, and return
    problems. `beside` makes further files and pages."""
    check_left_out(runs, without)
    with _making_pages():
        from harness.report.site import publish_runs  # likewise

        parts = [page_parts(run, registry, without) for run in runs]
        return publish_runs(parts, to, registry, options, *beside())
