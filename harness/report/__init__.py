"""Pages to look at: one page for a run, and a site of many runs."""

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

# Bots whose matches a page leaves out: they cheated, or should not have been there.


def check_left_out(runs: Sequence[RunFolder], names: Iterable[str]) -> None:
    """Raises UnknownName for a bot that is in none of these runs."""
    entered = {entrant.name for run in runs for entrant in run.info.entrants}
    for name in names:
        if name not in entered:
            raise UnknownName("bot of this run" if len(runs) == 1 else "bot of these runs", name, entered)


def left_out_of(run: RunFolder, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these bots that are in the run."""
    entered = {entrant.name for entrant in run.info.entrants}
    return tuple(name for name in dict.fromkeys(names) if name in entered)


def without_bots(names: Sequence[str]) -> Callable[[GameRecord], bool]:
    """Whether a match is one in which none of these bots played."""
    gone = frozenset(names)
    return lambda record: gone.isdisjoint(record.seats)


def left_out_sentence(names: Sequence[str], matches: int, left_out: int) -> str:
    """What a reader must know of a page that leaves matches out."""
    named = ", ".join(short(name, 30) for name in names)
    return f"All matches of {named} are left out: {left_out:,} of {matches + left_out:,}."


NEEDED = ("jinja2", "markupsafe", "matplotlib")


class PageParts(NamedTuple):
    """A run to be published, and what its page is made of."""

    run: RunFolder
    games: dict[str, Game[Any]]
    results: FormatResults
    """The format's own; of a run of which matches are left out there is none."""
    problems: list[str]
    """What is wrong with these."""
    without: tuple[str, ...]
    formats: Mapping[str, Format]


@contextmanager
def _making_pages() -> Iterator[None]:
    """Says what to install where the libraries of the pages are missing, and where a page cannot be written."""
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
    """Writes the page of a run, with the matches asked for and at most `most` chosen ones in its viewer, `without` the
    matches of these bots. `formats` know which deals are still being played; else what is recorded must tell."""
    with _making_pages():
        from harness.report.page import report

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
    """Adds runs to the site in a folder, `without` the matches of these bots, and draws up its other pages anew; `url`
    is where it will be, for its feed, `beside` makes further files for it. Sentences on what went wrong."""
    check_left_out(runs, without)
    with _making_pages():
        from harness.report.site import publish_runs

        return publish_runs([_prepared(run, registry, without) for run in runs], to, url, beside())


def _prepared(run: RunFolder, registry: Registry, without: Sequence[str]) -> PageParts:
    games, problems = installed_games(run, registry)
    gone = left_out_of(run, without)
    results, more = (FormatResults({}, run.info.plan.format), []) if gone else format_results(run, registry)
    return PageParts(run, games, results, [*problems, *more], gone, registry.formats)
