"""The page of one run: tables, charts and replays. Deals that are still being played are withheld."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.errors import ArenaError, UnknownName, UsageError
from harness.core.game import Game
from harness.core.plan import LEAGUE, Format, Outcome
from harness.core.records import Event, GameRecord
from harness.match.replay import Replay, stream
from harness.output.leaderboard import overall_tables
from harness.output.tables import short
from harness.ratings.leaderboard import Leaderboard
from harness.report import left_out_sentence, without_bots
from harness.report.charts import charts
from harness.report.facts import Facts, facts_of
from harness.report.parts import BoardPart, Script, asset, board_part, fill, outcome_parts, script, table_part
from harness.runs.scheduler import Schedule
from harness.runs.store import RunFolder, RunInfo

# Hidden until a run is finished: its seed, which determines all deals, and the deals that are still being played.


LATER = "withheld"
STILL_OPEN = "Its deal is still being played: it can be seen when all matches of that deal have ended."
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


# Scenes: recorded matches for the replay viewer, with the view of every seat at each choice, compressed.


MAX_SCENE_CHARS = 1_500_000
"""Limit for the matches that Arena selects; matches named by the user are added in any case."""

Frame = list[dict[str, object]]
"""For each seat, the fields of its view that changed since the last frame."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A match in the viewer."""

    record: GameRecord
    reason: str
    packed: str
    """Its data: compressed JSON as base64; "" if the match cannot be shown."""
    trouble: str = ""
    """The reason why it cannot be shown."""


def scenes(
    games: Mapping[str, Game[Any]], chosen: Iterable[tuple[GameRecord, str]], withheld: Collection[str] = ()
) -> list[Scene]:
    """Return the scenes of these matches, each chosen for a reason.

    Matches that would make the page too large are left out, unless the user named them. Matches that are `withheld` are
    left out too; if the user named one, its scene has the reason instead of data.
    """
    packed: list[Scene] = []
    room = MAX_SCENE_CHARS
    for record, reason in chosen:
        if record.id in withheld:
            packed += [Scene(record, reason, "", STILL_OPEN)] if reason == ASKED else []
            continue
        scene = _scene(games, record, reason)
        if reason != ASKED:
            room -= len(scene.packed)
            if room < 0:
                continue
        packed.append(scene)
    return packed


ASKED = "asked for"
"""Reason for matches that were named on the command line."""


def _scene(games: Mapping[str, Game[Any]], record: GameRecord, reason: str) -> Scene:
    game = games.get(record.game)
    if game is None:
        return Scene(record, reason, "", f"The game {record.game} is not installed here.")
    try:
        data = scene_data(game, record)
    except ArenaError as error:
        return Scene(record, reason, "", str(error))
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # Without a time in the gzip header the same run always gives the same page.
    return Scene(record, reason, base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode())


def scene_data(game: Game[Any], record: GameRecord) -> dict[str, object]:
    """Return the data of a match for the viewer; docs/report.md has the schema. Raise ReplayError if it cannot be
    replayed."""
    replay = Replay(game, record)  # a second replay in step with the stream: the stream has events but no views
    head: dict[str, Any] = {}
    texts: dict[int, str] = {}
    steps: list[dict[str, object]] = []
    frames: list[Frame] = []
    before: Frame = [{} for _ in record.seats]
    events: list[object] = []
    for line in stream(game, record):
        if line["type"] == "event":
            events.append([line["to"], _sentence(game, line)])
            continue
        if line["type"] == "match":
            head = line
            continue
        now = _views(replay)
        frames.append([_changes(old, new) for old, new in zip(before, now, strict=True)])
        before = now
        steps.append({**_step(line, texts), "events": events})
        events = []
        if line["type"] == "choice":
            replay.step()
    return {
        "id": record.id,
        "game": record.game,
        "title": game.title,
        "seats": record.seats,
        "figures": head["components"],
        "drawn": bool(game.viewer_script()),
        "texts": texts,
        "steps": steps,
        "frames": frames,
        "end": {
            "scores": record.scores,
            "ranks": record.ranks,
            "ending": record.ending,
            "faults": [[fault.seat, fault.kind, fault.decision] for fault in record.faults],
        },
    }


def _sentence(game: Game[Any], line: dict[str, Any]) -> str:
    to = None if line["to"] == "all" else tuple(line["to"])
    return game.event_text(Event(line["event"], line["data"], to))


def _views(replay: Replay) -> Frame:
    game, state = replay.game, replay.state
    views = [state.view(seat) for seat in range(state.players)]
    if game.viewer_script():
        return [json.loads(game.view_to_json(view)) for view in views]
    return [{"turn": state.seat, "phase": state.phase, "text": game.render(view)} for view in views]


def _changes(old: dict[str, object], new: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in new.items() if key not in old or old[key] != value}


def _step(line: dict[str, Any], texts: dict[int, str]) -> dict[str, object]:
    if line["type"] == "end":
        return {}
    for action in line["legal"]:
        texts[action["code"]] = action["text"]
    return {
        "seat": line["seat"],
        "kind": line["kind"],
        "by": line["by"],
        "decision": line["decision"],
        "legal": [action["code"] for action in line["legal"]],
        "taken": line["taken"],
    }


# The page of one run, in a single file.


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
    """Return the HTML page of a run.

    It shows the matches `asked` for and at most `most` others (None: all that are worth watching). Matches of the bots
    in `without` are left out. `formats` are needed to find out which deals are still being played.
    """
    _check_asked(run, asked, without)
    facts = facts_of(run, without)
    shown = watched(run, games, facts, asked, most, formats)
    boards = facts.counts.boards(run.info.end)
    return render(run, games, facts, boards, shown, outcomes=outcomes, without=without, formats=formats)


def _check_asked(run: RunFolder, asked: Sequence[str], without: Sequence[str]) -> None:
    """Raise UsageError if a requested match is one of those that are left out."""
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
    """Return the HTML page of a run from its facts.

    `home` is the link to the site, `links` has the link of each bot, `outcomes` the format's result for each game,
    `without` the bots whose matches were left out.
    """
    return fill(
        "report.html",
        _viewer(games, shown),
        run=_about(run, facts),
        warnings=[*_remarks(run, facts, without), *shown_warnings(run)],
        boards=[*_board_parts(run, boards, facts, games), *(table_part(one) for one in overall_tables(boards))],
        outcomes=outcome_parts(outcomes or {}),
        scenes=[_Listed(scene, games.get(scene.record.game)) for scene in shown],
        shown={scene.record.id for scene in shown},
        faults=facts.faults.groups(),
        fault_counts=facts.faults,
        untold=_redacted_matches(run, facts, formats),
        home=home,
        links=links or {},
    )


def _redacted_matches(run: RunFolder, facts: Facts, formats: Mapping[str, Format] | None) -> set[str]:
    """Return the matches whose fault texts are hidden: a bot may have printed the cards in its hand."""
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
    """Return the scenes of the replay viewer: the matches `asked` for, then at most `most` that are worth watching.

    Deals that are still being played are withheld. Raise UnknownName if a requested match does not exist.
    """
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
    """An entry in the list of matches."""

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
        "entrants": [(entrant.name, entrant.source, entrant.version) for entrant in info.entrants],
    }


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
        remarks.append("One bot has played: there is nobody to compare it with.")
    if facts.matches and not run.info.finished:
        remarks.append("The run is not finished: 'arena tournament --resume' goes on with it.")
    return remarks
