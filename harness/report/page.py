"""The page of one run: tables, charts and replays. Deals that are still being played are withheld."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from harness.core.errors import ArenaError, UnknownName, UsageError
from harness.core.game import Game
from harness.core.plan import LEAGUE, Format
from harness.core.records import GameRecord
from harness.output.leaderboard import overall_tables
from harness.output.tables import short
from harness.ratings.leaderboard import Leaderboard
from harness.report import PageParts, left_out_sentence, without_bots
from harness.report.faces import faces_script
from harness.report.facts import Facts, facts_of
from harness.report.parts import BoardPart, Script, asset, board_part, fill, outcome_parts, script, table_part
from harness.report.scenes import ASKED, Scene, notes_of, scenes
from harness.runs.reader import followed
from harness.runs.scheduler import Schedule
from harness.runs.store import RunFolder, RunInfo

# Hidden until a run is finished: its seed, which determines all deals, and the deals that are still being played.


LATER = "withheld"
_TYPED = re.compile(r"(--seed(?:=|\s+))(?:'[^']*'|\S+)")
_CALLED = re.compile(r"((?:\(|, )seed=)\d+")
_NAMED = re.compile(r"(?i)(\bseed\s+)\d+")


def shown_seed(info: RunInfo) -> int | None:
    """Return the seed of a run; None until it is finished."""
    return info.plan.seed if info.finished else None


def shown_command(info: RunInfo) -> str:
    """Return the commands that started and extended a run; without the seed until it is finished."""
    typed = "\n".join([info.command, *info.extended])
    return typed if info.finished else "\n".join(map(without_seed, typed.split("\n")))


def without_seed(command: str) -> str:
    """Return a command, or a Python call, with its seed replaced by a placeholder."""
    typed = _TYPED.sub(rf"\g<1>{LATER}", command)
    return _CALLED.sub(rf"\g<1>{LATER}", typed) if command.startswith("harness.") else typed


def shown_warnings(run: RunFolder) -> list[str]:
    """Return the warnings of a run, without the seed until it is finished."""
    return run.warnings if run.info.finished else [_NAMED.sub(rf"\g<1>{LATER}", text) for text in run.warnings]


def still_open(run: RunFolder, formats: Mapping[str, Format], records: Iterable[GameRecord]) -> set[str]:
    """Return the ids of those matches whose deal other bots will still play: watching them would reveal its cards."""
    return {name for part, own in run.split(records) for name in _open_matches(part, formats, own)}


def _open_matches(run: RunFolder, formats: Mapping[str, Format], asked: Sequence[GameRecord]) -> set[str]:
    """Return the same as `still_open` for matches of one run."""
    if run.info.finished or run.info.plan.format == LEAGUE.name:  # a league plays each deal once
        return set()
    seeds = {record.seed for record in asked}
    try:
        deals = _unplayed_deals(run, formats, seeds)
    except ArenaError:  # its format is not installed here, or its schedule depends on results
        deals = _incomplete_deals(run, seeds)
    return {record.id for record in asked if record.seed in deals}


def _unplayed_deals(run: RunFolder, formats: Mapping[str, Format], seeds: set[int]) -> set[int]:
    """Return those of the deals that have matches in the schedule without a record."""
    schedule = Schedule(run.info.plan, formats)
    if schedule.adaptive:
        records = list(run.records() if schedule.format.reads_actions else run.results())
        played = {record.index for record in records}
        specs, _ = schedule.led_by(records)
        return {spec.seed for spec in specs if spec.seed in seeds and spec.index not in played}
    played = {record.index for record in run.results()}
    return {spec.seed for spec in schedule.matches() if spec.seed in seeds and spec.index not in played}


def _incomplete_deals(run: RunFolder, seeds: set[int]) -> set[int]:
    """Return those of the deals that some bot of a table has not played in every seat."""
    # There is no schedule to look at, so a set counts as complete when every seating of its table was played.
    sets: Counter[tuple[int, str, int]] = Counter()
    for record in run.results():
        if record.seed in seeds:
            sets[record.seed, record.set, len(record.seats)] += 1
    return {seed for (seed, _, seats), matches in sets.items() if matches < seats}


# The page of one run, in a single file.


Games = Mapping[str, Game[Any]]


def report(parts: PageParts, asked: Sequence[str] = (), most: int | None = None) -> str:
    """Return the HTML page of a run.

    It shows the matches `asked` for and at most `most` others (None: all that are worth watching). Raise UsageError if
    a requested match is one of those that are left out.
    """
    chosen = without_bots(parts.without)
    for record in parts.run.chosen(asked).values() if asked and parts.without else ():
        if not chosen(record):
            raise UsageError(f"{record.id} is a match of a bot that is left out.", fix="report-match")
    facts = facts_of(parts.run, parts.without)
    shown = watched(parts, facts, asked, most)
    return fill(
        "report.html",
        _viewer(parts.games, shown),
        **page_values(parts, facts, facts.counts.boards(parts.run.info.end), {}),
        scenes=[(scene, _result(scene.record, parts.games.get(scene.record.game))) for scene in shown],
        files=dict.fromkeys([scene.record.id for scene in shown]),
    )


def page_values(
    parts: PageParts, facts: Facts, boards: Sequence[Leaderboard], links: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the templates of a run's page need; `links` has the pages of bots."""
    run, games = parts.run, parts.games
    return {
        "run": _about(run, facts),
        "warnings": [*_remarks(run, facts, parts.without), *shown_warnings(run)],
        "boards": [*_board_parts(run, boards, facts, games), *(table_part(one) for one in overall_tables(boards))],
        "outcomes": outcome_parts(parts.results),
        "titles": {"overall": "All games", **{name: game.title for name, game in games.items()}},
        "faults": facts.faults.groups(),
        "fault_counts": facts.faults,
        "untold": _redacted_matches(parts, facts),
        "links": links,
    }


def _redacted_matches(parts: PageParts, facts: Facts) -> set[str]:
    """Return the matches whose fault texts are hidden: a bot may have printed the cards in its hand."""
    if parts.run.info.finished:
        return set()
    failed = parts.run.chosen({group.first.match for group in facts.faults.groups()})
    return still_open(parts.run, parts.formats, failed.values())


def _board_parts(run: RunFolder, boards: Sequence[Leaderboard], facts: Facts, games: Games) -> Iterator[BoardPart]:
    # Imported here: `arena serve` uses this module without charts, and must work where matplotlib is not installed.
    from harness.report.charts import charts

    for board in followed(boards, "charts of games", lambda: len(boards)):
        game = games.get(board.title)
        score_text = game.score_text if game else None
        yield board_part(board, list(charts(board, facts, score_text)), score_text, run.info.entrants)


def watched(parts: PageParts, facts: Facts, asked: Sequence[str] = (), most: int | None = None) -> list[Scene]:
    """Return the scenes of the replay viewer: the matches `asked` for, then at most `most` that are worth watching.

    Deals that are still being played are withheld. Raise UnknownName if a requested match does not exist.
    """
    picks = [pick for pick in facts.picks.chosen() if pick.match not in asked][:most]
    reasons = {**dict.fromkeys(asked, ASKED), **{pick.match: pick.reason for pick in picks}}
    if not reasons:
        return []
    found = parts.run.chosen(reasons)
    for match in asked:
        if match not in found:
            known = [pick.match for pick in facts.picks.chosen()]
            raise UnknownName(f"match of {parts.run.folder.name}", match, known)
    withheld = still_open(parts.run, parts.formats, found.values())
    chosen = [(found[match], reason) for match, reason in reasons.items()]
    return scenes(parts.games, chosen, withheld, notes_of(parts.run, found))


def _result(record: GameRecord, game: Game[Any] | None) -> str:
    text = game.score_text if game else str
    order = sorted(range(len(record.seats)), key=lambda seat: (record.ranks[seat], seat))
    return ", ".join(f"{short(record.seats[seat])} {text(record.scores[seat])}" for seat in order)


def _viewer(games: Games, shown: Sequence[Scene]) -> Script:
    if not shown:
        return script(asset("page.js"))
    played = {scene.record.game for scene in shown if scene.packed}
    boards = [f"{{\n{games[name].viewer_script()}\n}}" for name in sorted(played)]
    return script(asset("drawing.js"), faces_script(), *boards, asset("viewer.js"), asset("page.js"))


FRAME_HEIGHT = 720
"""Height of a replay in a notebook, in pixels: a table, and what happened since the last step."""


def match_frame(game: Game[Any], record: GameRecord) -> str:
    """Return the replay viewer of one match as HTML for a notebook."""
    [scene] = scenes({game.name: game}, [(record, ASKED)])
    page = fill("notebook.html", _viewer({game.name: game}, [scene]), scene=scene)
    # A page in a sandbox: styles and scripts of notebook and viewer cannot meet, and the notebook is safe from
    # whatever other people have named their bots.
    return (
        f'<iframe title="Replay of {escape(record.id)}" srcdoc="{escape(page)}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 0"></iframe>'
    )


def _about(run: RunFolder, facts: Facts) -> dict[str, object]:
    info = run.info
    return {
        "name": run.title,
        "matches": facts.matches,
        "bots": len({bot for counts in facts.counts.counts().values() for bot in counts.totals}),
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
        "entrants": [(entrant.name, source_name(entrant.source), entrant.version) for entrant in info.entrants],
    }


def source_name(source: str) -> str:
    """Return where a bot comes from without the folders of the machine on which it was entered."""
    return source.rpartition("/")[2] or source


def _remarks(run: RunFolder, facts: Facts, without: Sequence[str]) -> list[str]:
    """Return remarks for the top of the page."""
    remarks = [left_out_sentence(without, facts.matches, facts.left_out)] if without else []
    if not facts.matches:
        remarks.append("No match has been played yet: there is nothing to rank.")
    elif facts.failed == facts.matches:
        remarks.append("A bot failed in every match: the table says which bots failed, not which play better.")
    if facts.matches == 1:
        remarks.append("One match has been played: that is luck, not a ranking.")
    if facts.matches and all(len(counts.totals) == 1 for counts in facts.counts.counts().values()):
        remarks.append("One bot has played: there is no other to compare it with.")
    if facts.matches and not run.info.finished:
        remarks.append("The run is not finished: places may still change.")
    return remarks
