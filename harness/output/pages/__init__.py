"""Pages to look at: one page for a run, and a site of many runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from harness.core.errors import ArenaError, StoreError, UsageError
from harness.core.format import Format, Outcome
from harness.core.game import Game
from harness.output.outcome_files import results_of
from harness.output.outcome_text import FormatResults
from harness.output.pages.left_out import check_left_out, left_out_of
from harness.plugins.registry import Registry
from harness.runs.run_files import write_whole
from harness.runs.run_setup import formats_of
from harness.runs.store import RunFolder

__all__ = ["check_left_out", "format_results", "installed_games", "publish", "write_report"]

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


def installed_games(run: RunFolder, registry: Registry) -> tuple[dict[str, Game[Any]], list[str]]:
    """The games of a run as far as they are installed, and a sentence on each that is not: its replays are missed."""
    games: dict[str, Game[Any]] = {}
    problems = []
    for plan in run.info.plan.games:
        try:
            games[plan.name] = registry.game(plan.name).configure(plan.settings, run.info.files)
        except ArenaError as error:
            problems.append(f"There are no replays of {plan.name}: {error}")
    return games, problems


def format_results(run: RunFolder, registry: Registry) -> tuple[FormatResults, list[str]]:
    """What the run's format says itself, and a sentence if it cannot be asked: it may not be installed here."""
    if run.several:
        return FormatResults({}, run.info.plan.format), []
    try:
        return results_of(run, formats_of(run, registry)), []
    except ArenaError as error:
        nothing = FormatResults({}, run.info.plan.format)
        return nothing, [f"The result of the {run.info.plan.format} itself is missed: {error}"]


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
        from harness.output.pages.report_page import report

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
        from harness.output.pages.site import publish_runs

        return publish_runs([_prepared(run, registry, without) for run in runs], to, url, beside())


def _prepared(run: RunFolder, registry: Registry, without: Sequence[str]) -> PageParts:
    games, problems = installed_games(run, registry)
    gone = left_out_of(run, without)
    results, more = (FormatResults({}, run.info.plan.format), []) if gone else format_results(run, registry)
    return PageParts(run, games, results, [*problems, *more], gone, registry.formats)
