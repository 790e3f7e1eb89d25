"""The part of a site that belongs to one run: its page, its matches, its stored replays, its data."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec

from harness.core.errors import ArenaError, printable
from harness.core.files import Folder, cannot_write, write_whole
from harness.core.game import Game
from harness.core.records import GameRecord
from harness.match.replay import Replay, seat_names
from harness.output.leaderboard import KINDS, leaderboard_table, overall_tables, pairwise_table, seats_table
from harness.output.outcome import FILES as OUTCOME_FILES
from harness.output.outcome import outcome_files
from harness.output.tables import escape_json, file_name, short, text_of
from harness.plugins.entrants import BotDescription
from harness.plugins.registry import Registry
from harness.ratings.leaderboard import Leaderboard
from harness.report import PageParts
from harness.report.faces import Line, faces_script, picture
from harness.report.facts import Facts, facts_of
from harness.report.matches import (
    MATCHES,
    REPLAYS,
    Listed,
    MatchList,
    Stored,
    new_replays,
    picked,
    read_stored,
    write_list,
)
from harness.report.page import page_values, shown_command, shown_seed, source_name, without_seed
from harness.report.parts import asset
from harness.report.picks import closeness
from harness.report.published import (
    DATA,
    RUNS,
    AboutBot,
    Published,
    changes_of,
    read_published,
)
from harness.report.site_pages import SitePages, page_script, viewer_script
from harness.runs.store import RunFolder, now

BOTS, GAMES, TILES = "bots", "games", "tiles.json"
CARD_WIDTH = 600
"""Pixels of the picture of a match: it must be quick to draw, and services accept it from this size on."""


def add_run(parts: PageParts, site: SitePages, registry: Registry, replays: int) -> None:
    """Write all files of a run into a site, or bring them up to date; a stored replay stays as it is."""
    run = parts.run
    facts = facts_of(run, parts.without)
    boards = facts.counts.boards(run.info.end)
    name = _folder(run, site.site)
    folder = site.site.below(f"{RUNS}/{name}")
    make(folder)
    folder.make(MATCHES)
    about = _published(parts, facts, boards, name, registry)
    before = read_published(site.site, f"{RUNS}/{name}/{DATA}") if folder.has_file(DATA) else None
    moves = changes_of(before, about)
    stored = read_stored(folder, parts.without)
    reasons = picked(facts, replays)
    known = {one.id for one in stored}
    wanted = [match for match in reasons if match not in known]
    listed = write_list(
        parts, folder, about.titles, wanted, {(move.game, move.bot): move.before - move.place for move in moves},
        before.matches if before else 0,
    )  # fmt: skip
    moves = [msgspec.structs.replace(move, matches=listed.moved.get((move.game, move.bot), [])) for move in moves]
    if before and before.matches == about.matches:  # nothing was played since: what had changed stays
        moves, since, new = before.changes, before.before, before.new
    else:
        since = (before.updated or before.started) if before else ""
        new = about.matches - before.matches if before else 0
    about = msgspec.structs.replace(about, changes=moves, before=since, new=new, updated=_updated(about, before))
    fresh = {match: reasons[match] for match in wanted}
    scripts = {name: viewer_script(name, game.viewer_script()) for name, game in parts.games.items()}
    pages = [
        _replay_page(site, about, scripts[record.game], one, data, game_sentence(type(parts.games[record.game])))
        for one, record, data in new_replays(parts, listed.wanted, fresh, about.updated)
    ]
    stored = [_renewed(one, reasons) for one in [*stored, *pages]]
    stored.sort(key=lambda one: (one.game, one.margin, one.id))
    write_whole(folder, REPLAYS, json_of(stored))
    listed.index.stored = {one.id: one.file for one in stored}
    write_whole(folder, "matches.json", escape_json(msgspec.json.encode(listed.index)))
    _write_tiles(parts, folder, listed, stored)
    _write_pages(parts, facts, boards, site, about, stored, listed.index)
    outcomes = outcome_files(parts.results)
    for outcome in OUTCOME_FILES:
        if outcome in outcomes:
            write_whole(folder, outcome, outcomes[outcome])
        else:
            folder.remove(outcome)
    for kind, make_tables in KINDS.items():
        for ending in ("csv", "json"):
            write_whole(folder, f"{kind}.{ending}", text_of(make_tables(boards), ending).encode() + b"\n")
    write_whole(folder, DATA, json_of(about))  # last: a folder with this file counts as published


def make(folder: Folder) -> None:
    """Create a folder; raise StoreError if that is impossible."""
    try:
        folder.make()
    except OSError as error:
        raise cannot_write(folder.path, error) from error


def json_of(value: object) -> bytes:
    """Return a value as JSON for a file of the site."""
    return escape_json(msgspec.json.format(msgspec.json.encode(value), indent=2)) + b"\n"


# The page's section about the run itself.


def _folder(run: RunFolder, site: Folder) -> str:
    """Return the folder in which a run was published before, or a new one."""
    wanted = file_name(run.title)
    for number in count(1):
        folder = wanted if number == 1 else f"{wanted}-{number}"
        path = f"{RUNS}/{folder}/{DATA}"
        if not site.has_file(path):
            return folder
        other = read_published(site, path)
        if _is_of(other, run):
            return folder
        if run.several and other.parts and other.name == run.title:
            return folder
    raise AssertionError("there is always another number")


def _is_of(other: Published, run: RunFolder) -> bool:
    """Return whether a published run is this run."""
    info, first = run.info, other.command.partition("\n")[0]  # the other lines are commands that extended it
    # An unfinished run was published without its seed, so there is none to compare.
    if other.seed is None:
        return (other.started, first) == (info.started, without_seed(info.command))
    return (other.started, other.seed, first) == (info.started, info.plan.seed, info.command)


def _updated(about: Published, before: Published | None) -> str:
    """Return when the published content last changed: the end of the run if it is new, now if it has changed."""
    if before is None:
        return about.finished or now()
    old = msgspec.structs.replace(before, updated="", changes=[], before="", new=0)
    return before.updated if old == about else now()


def _published(
    parts: PageParts, facts: Facts, boards: Sequence[Leaderboard], folder: str, registry: Registry
) -> Published:
    run = parts.run
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
        summaries={
            table.title: list(table.summary) for table in (*map(leaderboard_table, boards), *overall_tables(boards))
        },
        overall=[row for table in overall_tables(boards) for row in table.rows],
        without=list(parts.without),
        titles={plan.name: game_title(parts.games.get(plan.name), plan.name) for plan in info.plan.games},
        seats={board.title: seats_table(board).rows for board in boards},
        about=_about_bots(parts, registry),
        failed=facts.failed,
    )


def game_sentence(game: type[Game[Any]]) -> str:
    """Return what a game is about, as its class says."""
    return " ".join((game.__doc__ or "").partition("\n\n")[0].split())


def game_title(game: Game[Any] | None, name: str) -> str:
    """Return the title of a game; its name if it is not installed."""
    return game.title if game else name


def _about_bots(parts: PageParts, registry: Registry) -> dict[str, AboutBot]:
    described = {}
    for entrant in parts.run.info.entrants:
        if entrant.name in parts.without:
            continue
        ref = entrant.ref
        known = None if ref.place or ref.command else registry.bots.get(ref.bot)
        text = inspect.cleandoc(BotDescription.of_bot(known.cls).doc).partition("\n\n")[0] if known else ""
        described[entrant.name] = AboutBot(
            source_name(entrant.source),
            entrant.version,
            entrant.author,
            entrant.team,
            printable(" ".join(text.split())),
        )
    return described


# Stored replays and the table of a tile.


def _renewed(one: Stored, reasons: Mapping[str, Sequence[str]]) -> Stored:
    """Return a stored replay with its reasons of today: a match is the closest only until there is a closer one."""
    own = [reason for reason in one.reasons if reason == "comeback"]
    return msgspec.structs.replace(one, reasons=[*reasons.get(one.id, ()), *own])


def _replay_page(
    site: SitePages, about: Published, script: tuple[str, str], one: Stored, data: str, sentence: str
) -> Stored:
    path = f"{RUNS}/{about.folder}/{MATCHES}/{one.file}"
    title = about.title(one.game)
    lines = [Line(bot) for bot in one.seats]
    words = f"{closeness(one.margin)} · {one.length} steps · who wins?"
    write_whole(site.site, f"{path}.png", picture(f"{title}: watch the match", words, lines, CARD_WIDTH))
    site.page(
        f"{path}.html", "match.html", [script], f"{path}.png",
        run=about, match=one, data=data, title=title, sentence=sentence,
        game_page=f"{GAMES}/{file_name(one.game)}.html", names=[short(bot, 24) for bot in one.seats],
    )  # fmt: skip
    return one


def _write_tiles(parts: PageParts, folder: Folder, listed: Listed, stored: Sequence[Stored]) -> None:
    """Write a table of each game as it was in the middle of a stored match, for pages that draw it."""
    tiles = {}
    for game, rules in parts.games.items():
        shown = next((one for one in stored if one.game == game and not one.failed), None)
        if shown is None or not rules.viewer_script():
            continue
        record = listed.wanted.get(shown.id) or parts.run.chosen([shown.id]).get(shown.id)
        try:
            tiles[game] = _tile(rules, record) if record else None
        except ArenaError:
            continue
    write_whole(folder, TILES, escape_json(msgspec.json.encode(tiles)))


TILE_AT = 0.6
"""How far a match has been played when its table is drawn on a tile."""


def _tile(game: Game[Any], record: GameRecord) -> dict[str, object]:
    replay = Replay(game, record)
    while not replay.over and replay.decision < TILE_AT * len(record.actions):
        replay.step()
    views = [msgspec.Raw(game.view_to_json(replay.state.view(seat))) for seat in range(len(record.seats))]
    label = f"A table of {game.title}: {', '.join(short(bot, 24) for bot in record.seats)}"
    return {
        "game": record.game, "figures": game.components(), "names": seat_names(record.seats), "views": views,
        "label": label,
    }  # fmt: skip


# Pages.


def _write_pages(
    parts: PageParts,
    facts: Facts,
    boards: Sequence[Leaderboard],
    site: SitePages,
    about: Published,
    stored: Sequence[Stored],
    index: MatchList,
) -> None:
    base = f"{RUNS}/{about.folder}"
    bots = sorted({bot for board in boards for bot in board.counts.totals})
    links = {bot: f"../../{BOTS}/{file_name(bot)}.html" for bot in bots}
    winners = [(row["bot"], game) for game, rows in about.boards.items() for row in rows[:1]]
    lines = [Line(bot, about.title(game)) for bot, game in winners]
    write_whole(site.site, f"{base}/card.png", picture(about.name, f"{about.matches:,} matches", lines))
    values = page_values(parts, facts, boards, links)
    values["boards"] = [replace(one, summary=about.sentences(one.title)) for one in values["boards"]]
    site.page(
        f"{base}/index.html", "run.html", [page_script()], f"{base}/card.png",
        **values, about=about, best=best_matches(about, stored), stored=stored,
        files={one.id: one.file for one in stored},
    )  # fmt: skip
    site.page(
        f"{base}/matches.html", "matches.html", [("matches", script_of_list())], about=about, stored=len(stored),
        index=msgspec.json.encode({
            "index": index, "stored": list(stored), "folder": about.folder,
            "checkable": site.playable and bool(about.finished),
        }).decode(),
    )  # fmt: skip


def script_of_list() -> str:
    """Return the script of the page with all matches."""
    return "\n".join(["const arena = {};", faces_script(), asset("matches.js"), asset("page.js")])


Best = tuple[str, Stored]
"""Why a match is worth watching, and the match."""


def best_matches(about: Published, stored: Sequence[Stored]) -> dict[str, list[Best]]:
    """Return for each game the closest match, the greatest comeback and the greatest upset, as far as there are.

    The word for an upset does not say so: it would give away that the favourite does not win.
    """
    found: dict[str, list[Best]] = {}
    for game in about.boards:
        played = [one for one in stored if one.game == game and not one.failed]
        close = sorted((one for one in played if "close" in one.reasons), key=lambda one: (one.margin, -one.length))
        late = sorted((one for one in played if "comeback" in one.reasons), key=lambda one: -one.comeback)
        upset = [one for one in played if "upset" in one.reasons]
        rows: list[Best] = []
        for words, matches in (("the closest", close), ("the greatest comeback", late), ("worth watching", upset)):
            fresh = next((one for one in matches if all(one.id != other.id for _, other in rows)), None)
            rows += [(words, fresh)] if fresh else []
        found[game] = rows
    return {game: rows for game, rows in found.items() if rows}
