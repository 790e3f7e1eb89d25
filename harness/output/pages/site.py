"""A site of runs: each run has a folder with its page and its data; the other pages are made of the data of all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from harness import output
from harness._version import VERSION
from harness.core.errors import StoreError
from harness.core.game import Game
from harness.output.details import pairwise_table
from harness.output.display_names import file_name
from harness.output.outcome_files import outcome_files
from harness.output.outcome_text import FormatResults
from harness.output.overall_table import overall_tables
from harness.output.pages import bot_profile
from harness.output.pages.bot_profile import Published
from harness.output.pages.facts import Facts, facts_of
from harness.output.pages.markup import asset, fill, script
from harness.output.pages.report_page import render, watched
from harness.output.tables import leaderboard_table
from harness.ratings import Leaderboard
from harness.runs.run_files import write_whole
from harness.runs.store import RunFolder

RUNS, BOTS, DATA, SITE = "runs", "bots", "data.json", "site.json"


def publish_runs(
    runs: Sequence[tuple[RunFolder, dict[str, Game[Any]], FormatResults, list[str]]], to: Path
) -> list[str]:
    """Adds each run (with its games, its format's own result and what is wrong with them), then makes the pages of the
    site anew."""
    if (to / "index.html").exists() and not (to / SITE).exists():
        raise StoreError(f"{to} holds a site that arena did not make; publish to another folder.")
    problems = []
    for run, games, results, troubles in runs:
        _add(run, games, results, to)
        problems += [*troubles, *run.warnings]
    _refresh(to, published(to))
    return problems


def published(to: Path) -> list[Published]:
    """The runs of a site, newest first."""
    runs = [_read(path) for path in (to / RUNS).glob(f"*/{DATA}")]
    return sorted(runs, key=lambda run: (run.started, run.folder), reverse=True)


def _read(path: Path) -> Published:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Published)
    except msgspec.MsgspecError as error:
        raise StoreError(f"{path} was not written by 'arena publish': {error}. Take its folder away.") from error


def _add(run: RunFolder, games: dict[str, Game[Any]], results: FormatResults, to: Path) -> None:
    facts = facts_of(run)
    boards = facts.rating_set.boards()
    about = _published(run, facts, boards, _folder(run, to))
    folder = to / RUNS / about.folder
    folder.mkdir(parents=True, exist_ok=True)
    bots = sorted({bot for board in boards for bot in board.ratings.lines})
    links = {bot: f"../../{BOTS}/{file_name(bot)}.html" for bot in bots}
    page = render(run, games, facts, boards, watched(run, games, facts, ()), "../../index.html", links, results)
    write_whole(folder / "index.html", page.encode())
    for name, data in outcome_files(results).items():
        write_whole(folder / name, data)
    for kind in output.KINDS:
        for ending in ("csv", "json"):
            write_whole(folder / f"{kind}.{ending}", output.render(boards, ending, kind).encode() + b"\n")
    write_whole(folder / DATA, _json(about))  # last: with it the run counts as published


def _folder(run: RunFolder, to: Path) -> str:
    """The run's own folder if it was published before, else a new one."""
    wanted = file_name(run.folder.name)
    for number in count(1):
        folder = wanted if number == 1 else f"{wanted}-{number}"
        path = to / RUNS / folder / DATA
        if not path.exists():
            return folder
        other = _read(path)
        if (other.started, other.seed, other.command) == (run.info.started, run.info.plan.seed, run.info.command):
            return folder
        if run.several and other.parts and other.name == run.folder.name:
            return folder
    raise AssertionError("there is always another number")


def _published(run: RunFolder, facts: Facts, boards: Sequence[Leaderboard], folder: str) -> Published:
    info = run.info
    form: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for (game, bot), results in sorted(facts.form.items()):
        form.setdefault(game, {})[bot] = list(results)
    return Published(
        folder=folder,
        name=run.folder.name,
        arena=info.arena,
        command=info.command,
        seed=info.plan.seed,
        parts=[info.started for info in run.parts()] if run.several else [],
        started=info.started,
        finished=info.finished,
        matches=facts.matches,
        boards={board.title: leaderboard_table(board, entrants=info.entrants).rows for board in boards},
        pairs={board.title: pairwise_table(board).rows for board in boards},
        form=form,
        summaries={table.title: table.summary for table in (*map(leaderboard_table, boards), *overall_tables(boards))},
        overall=[row for table in overall_tables(boards) for row in table.rows],
    )


def _refresh(to: Path, runs: Sequence[Published]) -> None:
    (to / BOTS).mkdir(exist_ok=True)
    bots = sorted({str(row["bot"]) for run in runs for rows in run.boards.values() for row in rows})
    files = {bot: file_name(bot) for bot in bots}
    for bot in bots:
        told = bot_profile.profile(bot, runs)
        write_whole(to / BOTS / f"{files[bot]}.json", _json(told))
        page = fill("bot.html", script(), bot=bot, told=told, files=files)
        write_whole(to / BOTS / f"{files[bot]}.html", page.encode())
    newest = bot_profile.newest_boards(runs)
    matrix = next((run for run in runs if run.overall), None)
    page = fill("index.html", script(asset("page.js")), runs=runs, newest=newest, matrix=matrix, bots=bots, files=files)
    write_whole(to / SITE, _json({"arena": VERSION, "runs": [_summary(run) for run in runs], "bots": files}))
    write_whole(to / "index.html", page.encode())


def _summary(run: Published) -> dict[str, object]:
    return {key: getattr(run, key) for key in ("folder", "name", "started", "finished", "seed", "matches", "boards")}


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
