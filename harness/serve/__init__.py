"""A page that shows a run while it goes on: `arena serve`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.core.errors import UsageError
from harness.plugins.registry import Registry
from harness.serve.run_places import OwnTables, RunPlace, named_place, no_tables, places_in

__all__ = ["serve_runs"]

NEEDED = ("jinja2", "markupsafe", "starlette", "uvicorn")


def serve_runs(
    results: Path,
    name: str | None,
    registry: Registry,
    at: tuple[str, int],
    began: Callable[[str, str], None],
    league_tables: OwnTables = no_tables,
) -> None:
    """Serves a run or a league, or all that a folder holds, at a host and a port until Ctrl-C. `began` is told what is
    served, and where; `league_tables` gives what a league has to show of its own."""
    try:
        from harness.serve.web_app import LivePages, live_app
        from harness.serve.web_server import address_of, listening, run_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        raise UsageError(
            f"The live page is served with {error.name}, which is not installed: pip install 'arena-harness[serve]'."
        ) from error
    host, port = at
    if name is None:
        places_in(results)  # says at once if there is no such folder
        pages = LivePages(lambda: places_in(results, league_tables), registry)
    else:
        place = named_place(results, name, league_tables)
        only: dict[str, RunPlace] = {place.name: place}
        pages = LivePages(lambda: only, registry, place.name)
    with listening(host, port) as socket:
        began(f"the runs of {results}" if name is None else pages.only or "", address_of(socket))
        run_server(live_app(pages, host), socket, pages.end)
