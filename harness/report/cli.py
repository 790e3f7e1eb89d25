"""arena report and arena publish."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click

from harness.cli.options import (
    RUN,
    load_plugins,
    note_warnings,
    open_folder,
    open_together,
    results_option,
    show,
    without_option,
)
from harness.output.progress import shown_work
from harness.plugins.features import PLAYABLE_PAGE, load_object
from harness.report import DEFAULT_REPLAYS, SiteOptions, check_left_out, page_parts, publish, write_report

# arena report.


@click.command("report")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option("--match", "matches", multiple=True, metavar="ID", help="Show this match in the replay viewer too.")
@click.option(
    "--replays",
    type=click.IntRange(min=0),
    metavar="N",
    help="Choose at most N matches for the viewer: close ones, upsets, faults.  [default: two of each and game]",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.  [default: report.html in the run's folder; none for several runs]",
)
@without_option
@results_option
def report_command(
    runs: tuple[str, ...],
    matches: tuple[str, ...],
    replays: int | None,
    to: Path | None,
    left_out: tuple[str, ...],
    results: Path,
) -> None:
    """Make one HTML page of a run that needs nothing else: no network, no other file. Several RUNS are rated together.

    \b
    arena report my-run
    arena report my-run --match el-paso-3.1.2 --to el-paso.html
    arena report my-run --without cheater
    arena report monday tuesday --match monday/el-paso-3.1.2 --to week.html
    """
    opened = open_together(results, runs, besides=left_out)
    if to is None and len(runs) > 1:
        raise click.UsageError("Several runs have no folder in common: say where the page goes with --to FILE.")
    check_left_out([opened], left_out)
    registry = load_plugins()
    with shown_work():
        parts = page_parts(opened, registry, left_out)
        path = write_report(parts, to or opened.folder / "report.html", matches, replays)
    note_warnings([*parts.problems, *opened.warnings])
    show(path)


# arena publish.


def site_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a site to a command, which gets them as `options`."""

    @wraps(command)
    def filled(
        *args: object,
        url: str,
        title: str | None,
        headline: str | None,
        due: str | None,
        replays: int,
        analyses: tuple[Path, ...],
        **rest: object,
    ) -> None:
        command(*args, options=SiteOptions(url, title, headline, due, replays, analyses), **rest)

    choices = (
        click.option("--url", metavar="BASE", default="",
                     help="Where the site will be, for feeds and link previews; kept for the next time."),
        click.option("--title", metavar="TEXT", help="What the site is called; kept for the next time."),
        click.option("--headline", metavar="RUN",
                     help="The run whose standing is on the front page; kept.  [default: the newest]"),
        click.option("--next", "due", metavar="TEXT",
                     help="When the next update is due, in your own words; kept for the next time."),
        click.option("--replays", type=click.IntRange(min=0), default=DEFAULT_REPLAYS, show_default=True, metavar="N",
                     help="Store replays of N matches of each game: close ones, comebacks, upsets, faults."),
        click.option("--analysis", "analyses", multiple=True, metavar="FILE",
                     type=click.Path(path_type=Path, exists=True, dir_okay=False),
                     help="What 'arena analyse GAME --out FILE' found: luck and skill on the game's page; kept."),
    )  # fmt: skip
    for option in reversed(choices):
        filled = option(filled)
    return filled


@click.command("publish")
@click.argument("runs", type=RUN, nargs=-1, required=True)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder of the site; runs that are there already stay.",
)
@site_options
@click.option("--playable", is_flag=True, help="Add pages to play, check matches and write bots in the browser.")
@click.option(
    "--with-source",
    multiple=True,
    metavar="BOT",
    help="With --playable: publish the source of this bot or game, so that one can play it. Bundled ones always are.",
)
@click.option(
    "--runtime",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --playable: a folder with Pyodide.  [default: fetched once with npm and pip]",
)
@click.option("--together", metavar="NAME", help="Rate these runs together, and publish them as one of this name.")
@without_option
@results_option
def publish_command(
    runs: tuple[str, ...],
    to: Path,
    options: SiteOptions,
    playable: bool,
    with_source: tuple[str, ...],
    runtime: Path | None,
    together: str | None,
    left_out: tuple[str, ...],
    results: Path,
) -> None:
    """Make a web site of RUNS, ready for any web host: standings, every match, replays to watch, pages of bots and
    games, feeds, badges, data.

    Publishing again adds runs and keeps the old ones; a run that was published before is brought up to date, and its
    stored replays stay.

    \b
    arena publish my-run --to site
    arena publish monday tuesday --to site --title "Bots of the week" --headline tuesday
    arena publish monday tuesday --together week --to site
    arena publish my-run --to site --without cheater
    arena publish my-run --to site --url https://example.org/arena/
    arena publish my-run --to site --analysis el-paso.json
    arena publish my-run --to site --playable --with-source my-bot.py
    """
    if (with_source or runtime) and not playable:
        raise click.UsageError("--with-source and --runtime are about the pages that --playable adds.")
    if together is not None:
        if not together.strip(". ") or any(c in "/\\" or not c.isprintable() for c in together):
            raise click.UsageError(f"{together!r} cannot be the name of a page.")
        opened = [open_together(results, runs, together, besides=left_out)]
    else:
        opened = [open_folder(results, run) for run in runs]
    registry = load_plugins()
    with shown_work():
        if playable:  # first: the pages of the site link to it
            load_object(PLAYABLE_PAGE)(to, registry, runtime, with_source)
        problems = publish(opened, registry, to, left_out, options)
    note_warnings(problems)
    show(to / "index.html")
