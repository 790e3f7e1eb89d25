"""Pages to look at: one page for a run, and a site of many runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.core.errors import ArenaError, StoreError, UsageError
from harness.core.game import Game
from harness.plugins.registry import Registry
from harness.runs.run_files import write_whole
from harness.runs.store import RunFolder

__all__ = ["installed_games", "publish", "write_report"]

NEEDED = ("jinja2", "markupsafe", "matplotlib")


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


def write_report(
    run: RunFolder, games: dict[str, Game[Any]], to: Path, asked: Sequence[str] = (), most: int | None = None
) -> Path:
    """Writes the page of a run, with the matches asked for and at most `most` chosen ones in its viewer."""
    with _making_pages():
        from harness.output.pages.report_page import report

        write_whole(to, report(run, games, asked, most).encode())
    return to


def publish(runs: Sequence[RunFolder], registry: Registry, to: Path) -> list[str]:
    """Adds runs to the site in a folder and draws up its other pages anew; sentences on what went wrong."""
    with _making_pages():
        from harness.output.pages.site import publish_runs

        return publish_runs([(run, *installed_games(run, registry)) for run in runs], to)
