"""A site of runs: each run has a folder with its page and its data; the other pages are made of the data of all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness import output
from harness._version import VERSION
from harness.core.errors import StoreError
from harness.output.details import pairwise_table
from harness.output.display_names import file_name
from harness.output.outcome_files import FILES as OUTCOME_FILES
from harness.output.outcome_files import outcome_files
from harness.output.overall_table import overall_tables
from harness.output.pages import badges, bot_profile
from harness.output.pages.bot_profile import Published
from harness.output.pages.facts import Facts, facts_of
from harness.output.pages.feed import FEED, check_url, feed, site_id
from harness.output.pages.markup import asset, fill, script
from harness.output.pages.report_page import render, watched
from harness.output.pages.withheld import shown_command, shown_seed, without_seed
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.run_files import write_whole
from harness.runs.run_setup import now
from harness.runs.store import RunFolder

if TYPE_CHECKING:
    from harness.output.pages import PageParts

_OURS = re.compile(r"\w+/[a-z0-9][a-z0-9_.-]*")
"""Files as this module names them; site.json may say anything."""
LEAGUE = "league.html"
"""The page of a league, if the site has one."""
RUNS, BOTS, DATA, SITE = "runs", "bots", "data.json", "site.json"


def publish_runs(
    runs: Sequence[PageParts], to: Path, url: str = "", beside: Mapping[str, bytes] | None = None
) -> list[str]:
    """Adds each run, then makes the pages of the site anew."""
    check_url(url)
    if (to / "index.html").exists() and not (to / SITE).exists():
        raise StoreError(f"{to} holds a site that arena did not make; publish to another folder.")
    problems = []
    for parts in runs:
        _add(parts, to)
        problems += [*parts.problems, *parts.run.warnings]
    for name, data in (beside or {}).items():
        write_whole(to / name, data)
    _refresh(to, published(to), url)
    return problems


def published(to: Path) -> list[Published]:
    """The runs of a site, newest first."""
    runs = [_read(path) for path in (to / RUNS).glob(f"*/{DATA}")]
    return sorted(runs, key=lambda run: (run.started, run.folder), reverse=True)


def _read(path: Path) -> Published:
    try:
        about = msgspec.json.decode(path.read_bytes(), type=Published)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{path} was not written by 'arena publish': {error}. Take its folder away.") from error
    if about.finished:
        return about
    return msgspec.structs.replace(about, seed=None, command=without_seed(about.command))  # an older arena told it


def _add(parts: PageParts, to: Path) -> None:
    run, games, results, without = parts.run, parts.games, parts.results, parts.without
    facts = facts_of(run, without)
    boards = facts.rating_set.boards()
    about = _published(run, facts, boards, _folder(run, to), without)
    folder = to / RUNS / about.folder
    about = msgspec.structs.replace(about, updated=_updated(about, folder / DATA))
    folder.mkdir(parents=True, exist_ok=True)
    bots = sorted({bot for board in boards for bot in board.ratings.lines})
    links = {bot: f"../../{BOTS}/{file_name(bot)}.html" for bot in bots}
    shown = watched(run, games, facts, (), formats=parts.formats)
    page = render(run, games, facts, boards, shown, "../../index.html", links, results, without, parts.formats)
    write_whole(folder / "index.html", page.encode())
    outcomes = outcome_files(results)
    for name in OUTCOME_FILES:
        if name in outcomes:
            write_whole(folder / name, outcomes[name])
        else:
            (folder / name).unlink(missing_ok=True)
    for kind in output.KINDS:
        for ending in ("csv", "json"):
            write_whole(folder / f"{kind}.{ending}", output.render(boards, ending, kind).encode() + b"\n")
    write_whole(folder / DATA, _json(about))  # last: with it the run counts as published


def _folder(run: RunFolder, to: Path) -> str:
    """The run's own folder if it was published before, else a new one."""
    wanted = file_name(run.title)
    for number in count(1):
        folder = wanted if number == 1 else f"{wanted}-{number}"
        path = to / RUNS / folder / DATA
        if not path.exists():
            return folder
        other = _read(path)
        if _is_of(other, run):
            return folder
        if run.several and other.parts and other.name == run.title:
            return folder
    raise AssertionError("there is always another number")


def _is_of(other: Published, run: RunFolder) -> bool:
    """Whether this was published of the same run; of one that was not finished then, its seed is not known."""
    info, first = run.info, other.command.partition("\n")[0]  # what follows has extended it
    if other.seed is None:
        return (other.started, first) == (info.started, without_seed(info.command))
    return (other.started, other.seed, first) == (info.started, info.plan.seed, info.command)


def _updated(about: Published, path: Path) -> str:
    """When what is told of a run changed: when it was finished if it is new, now if something else was told before."""
    if not path.exists():
        return about.finished or now()
    before = _read(path)
    return before.updated if msgspec.structs.replace(before, updated="") == about else now()


def _published(
    run: RunFolder, facts: Facts, boards: Sequence[Leaderboard], folder: str, without: Sequence[str]
) -> Published:
    info = run.info
    form: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for (game, bot), results in sorted(facts.form.items()):
        form.setdefault(game, {})[bot] = list(results)
    return Published(
        folder=folder,
        name=run.title,
        arena=info.arena,
        command=shown_command(info),
        seed=shown_seed(info),
        parts=[info.started for info in run.parts()] if run.several else [],
        started=info.started,
        finished=info.finished,
        matches=facts.matches,
        boards={board.title: leaderboard_table(board, entrants=info.entrants).rows for board in boards},
        pairs={board.title: pairwise_table(board).rows for board in boards},
        form=form,
        summaries={table.title: table.summary for table in (*map(leaderboard_table, boards), *overall_tables(boards))},
        overall=[row for table in overall_tables(boards) for row in table.rows],
        without=list(without),
    )


def _refresh(to: Path, runs: Sequence[Published], url: str) -> None:
    before = _before(to)
    (to / BOTS).mkdir(exist_ok=True)
    (to / badges.FOLDER).mkdir(exist_ok=True)
    bots = sorted({str(row["bot"]) for run in runs for rows in run.boards.values() for row in rows})
    files = {bot: file_name(bot) for bot in bots}
    made = badges.badges(runs)
    _take_away(to, before, files.values(), made)
    for name, badge in made.items():
        write_whole(to / badges.FOLDER / f"{name}.json", _json(badge))
    for bot in bots:
        told = bot_profile.profile(bot, runs)
        write_whole(to / BOTS / f"{files[bot]}.json", _json(told))
        own = {game.game: badges.game_badge_name(bot, game.game) for game in told.games}
        shown = {game: name for game, name in own.items() if name in made}
        page = fill("bot.html", script(), bot=bot, told=told, files=files, badge=badges.badge_name(bot), badges=shown)
        write_whole(to / BOTS / f"{files[bot]}.html", page.encode())
    newest = bot_profile.newest_boards(runs)
    matrix = next((run for run in runs if run.overall), None)
    league = (to / LEAGUE).exists()
    page = fill(
        "index.html", script(asset("page.js")), runs=runs, newest=newest, matrix=matrix, bots=bots, files=files,
        league=league,
    )  # fmt: skip
    of_site, base = before.id or site_id(runs), url or before.url
    write_whole(to / FEED, feed(runs, of_site, base))
    about = {"arena": VERSION, "id": of_site, "url": base, "runs": [_summary(run) for run in runs], "bots": files}
    write_whole(to / SITE, _json({**about, "badges": sorted(made)}))
    write_whole(to / "index.html", page.encode())


class _Before(msgspec.Struct, frozen=True):
    """What site.json said; an older one says less."""

    id: str = ""
    url: str = ""
    bots: dict[str, str] = {}
    badges: list[str] = []


def _before(to: Path) -> _Before:
    with suppress(FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode((to / SITE).read_bytes(), type=_Before)
    return _Before()


def _take_away(to: Path, before: _Before, pages: Iterable[str], made: Iterable[str]) -> None:
    """Takes away the pages and badges of bots that are in no run any more."""
    gone = {f"{BOTS}/{name}" for name in {*before.bots.values()}.difference(pages)}
    gone |= {f"{badges.FOLDER}/{name}" for name in {*before.badges}.difference(made)}
    for place in filter(_OURS.fullmatch, gone):
        for ending in ("html", "json"):
            (to / f"{place}.{ending}").unlink(missing_ok=True)


def _summary(run: Published) -> dict[str, object]:
    keys = ("folder", "name", "started", "finished", "seed", "matches", "without", "boards")
    return {key: getattr(run, key) for key in keys}


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
