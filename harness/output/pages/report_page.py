"""One run as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.core.errors import UnknownName, UsageError
from harness.core.format import Format, Outcome
from harness.core.game import Game
from harness.core.types import GameRecord
from harness.output.display_names import short
from harness.output.overall_table import overall_tables
from harness.output.pages.board_part import BoardPart, board_part, table_part
from harness.output.pages.charts import charts
from harness.output.pages.facts import Facts, facts_of
from harness.output.pages.left_out import left_out_sentence, without_bots
from harness.output.pages.markup import Script, asset, fill, script
from harness.output.pages.outcome_part import outcome_parts
from harness.output.pages.scenes import ASKED, Scene, scenes
from harness.output.pages.withheld import shown_command, shown_seed, shown_warnings, still_open
from harness.ratings import Leaderboard
from harness.runs.store import RunFolder

Games = Mapping[str, Game[Any]]


def report(
    run: RunFolder,
    games: Games,
    asked: Sequence[str] = (),
    most: int | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    without: Sequence[str] = (),
    formats: Mapping[str, Format] | None = None,
) -> str:
    """The page of a run with the matches `asked` for and at most `most` others (all chosen ones if None), `without` the
    matches of these bots; `formats` know what is still to be played."""
    _check_asked(run, asked, without)
    facts = facts_of(run, without)
    shown = watched(run, games, facts, asked, most, formats)
    boards = facts.rating_set.boards()
    return render(run, games, facts, boards, shown, outcomes=outcomes, without=without, formats=formats)


def _check_asked(run: RunFolder, asked: Sequence[str], without: Sequence[str]) -> None:
    """Raises UsageError for a match that is asked for and left out."""
    chosen = without_bots(without)
    for record in run.chosen(asked).values() if asked and without else ():
        if not chosen(record):
            raise UsageError(f"{record.id} is a match of a bot that is left out: leave out --match, or --without.")


def render(
    run: RunFolder,
    games: Games,
    facts: Facts,
    boards: Sequence[Leaderboard],
    shown: Sequence[Scene],
    home: str = "",
    links: Mapping[str, str] | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
    without: Sequence[str] = (),
    formats: Mapping[str, Format] | None = None,
) -> str:
    """The page of gathered facts; `links` leads from bots to their pages, `home` to the page above, `outcomes` are what
    the format says of each game, `without` are bots whose matches were left out."""
    return fill(
        "report.html",
        _viewer(games, shown),
        run=_about(run, facts),
        warnings=[*_remarks(run, facts, without), *shown_warnings(run)],
        boards=[*_board_parts(run, boards, facts, games), *(table_part(one, {}) for one in overall_tables(boards))],
        outcomes=outcome_parts(outcomes or {}),
        scenes=[_Listed(scene, games.get(scene.record.game)) for scene in shown],
        shown={scene.record.id for scene in shown},
        faults=facts.faults.groups(),
        fault_counts=facts.faults,
        untold=_untold(run, facts, formats),
        home=home,
        links=links or {},
    )


def _untold(run: RunFolder, facts: Facts, formats: Mapping[str, Format] | None) -> set[str]:
    """Matches of which it is not told what a bot said that failed: it may have said what it had in its hand."""
    if run.info.finished:
        return set()
    return still_open(run, formats or {}, run.chosen({group.first.match for group in facts.faults.groups()}).values())


def _board_parts(run: RunFolder, boards: Sequence[Leaderboard], facts: Facts, games: Games) -> Iterator[BoardPart]:
    for board in boards:
        game = games.get(board.title)
        yield board_part(board, list(charts(board, facts)), game.score_text if game else None, run.info.entrants)


def watched(
    run: RunFolder,
    games: Games,
    facts: Facts,
    asked: Sequence[str],
    most: int | None = None,
    formats: Mapping[str, Format] | None = None,
) -> list[Scene]:
    """The matches of the replay viewer: those asked for, then those worth looking at; but none whose deal is still
    being played."""
    picks = [pick for pick in facts.picks.chosen() if pick.match not in asked][:most]
    reasons = {**dict.fromkeys(asked, ASKED), **{pick.match: pick.reason for pick in picks}}
    if not reasons:
        return []
    found = run.chosen(reasons)
    for match in asked:
        if match not in found:
            raise UnknownName(f"match of {run.folder.name}", match, [pick.match for pick in facts.picks.chosen()])
    withheld = still_open(run, formats or {}, found.values())
    return scenes(games, [(found[match], reason) for match, reason in reasons.items()], withheld)


class _Listed:
    """A scene as the list of matches names it."""

    def __init__(self, scene: Scene, game: Game[Any] | None) -> None:
        self.record, self.reason = scene.record, scene.reason
        self.packed, self.trouble = scene.packed, scene.trouble
        self.result = _result(scene.record, game)


def _result(record: GameRecord, game: Game[Any] | None) -> str:
    text = game.score_text if game else str
    order = sorted(range(len(record.seats)), key=lambda seat: (record.ranks[seat], seat))
    return ", ".join(f"{short(record.seats[seat])} {text(record.scores[seat])}" for seat in order)


def _viewer(games: Games, shown: Sequence[Scene]) -> Script:
    if not shown:
        return script(asset("page.js"))
    played = {scene.record.game for scene in shown if scene.packed}
    boards = [f"{{\n{games[name].viewer_script()}\n}}" for name in sorted(played)]
    return script(asset("drawing.js"), *boards, asset("viewer.js"), asset("page.js"))


def _about(run: RunFolder, facts: Facts) -> dict[str, object]:
    info = run.info
    return {
        "name": run.title,
        "matches": facts.matches,
        "bots": len({bot for ratings in facts.rated().values() for bot in ratings.lines}),
        "when": info.started.replace("T", " ")[:16],
        "command": shown_command(info),
        "seed": "one for each" if run.several else shown_seed(info),
        "format": f"{info.plan.format}, {info.plan.deals} deals",
        "format_name": info.plan.format,
        "arena": info.arena,
        "games": info.plan.games,
        "limits": info.limits,
        "machine": info.machine,
        "started": info.started,
        "finished": info.finished,
        "entrants": [(entrant.name, entrant.source, entrant.version) for entrant in info.entrants],
    }


def _remarks(run: RunFolder, facts: Facts, without: Sequence[str]) -> list[str]:
    """What a reader should know first."""
    remarks = [left_out_sentence(without, facts.matches, facts.left_out)] if without else []
    if not facts.matches:
        remarks.append("No match has been played yet: there is nothing to rate.")
    elif facts.failed == facts.matches:
        remarks.append("A bot failed in every match: the ratings say who failed, not who plays better.")
    if facts.matches == 1:
        remarks.append("One match has been played: that is luck, not a ranking.")
    if facts.matches and all(len(ratings.lines) == 1 for ratings in facts.rated().values()):
        remarks.append("One bot has played: there is nobody to compare it with.")
    if facts.matches and not run.info.finished:
        remarks.append("The run is not finished: 'arena tournament --resume' goes on with it.")
    return remarks
