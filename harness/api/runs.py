"""Runs: play a tournament, open one that was played, read what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from harness.api.matches import Match, installed_here
from harness.core.bot import Bot
from harness.core.errors import UnknownName, UsageError
from harness.core.options import BotLimits, RunOptions, default_results, run_options
from harness.core.records import Fault, FaultKind, GameRecord, Isolation, Value
from harness.executors.base import SandboxLoader, expect_workers
from harness.match.ask import Asked
from harness.match.faults import FaultGroups, cause_of
from harness.output.columns import Fields, ScoreText
from harness.output.leaderboard import (
    leaderboard_tables,
    overall_tables,
    pairwise_table,
    seats_table,
    surprises_table,
    write_leaderboard,
)
from harness.output.matches import MatchTable
from harness.output.outcome import FormatResults, results_of, stale_tables, write_outcome
from harness.output.progress import Progress, at_terminal, play_watched
from harness.output.tables import Tables, text_of
from harness.output.text import calls, fault_lines
from harness.plugins.entrants import BotEntry
from harness.plugins.features import LUCK_ADJUSTED_LEADERBOARDS, load_object
from harness.plugins.registry import Registry
from harness.ratings.leaderboard import Leaderboard
from harness.runs.extend import RunExtension, request_of_run, resume_run
from harness.runs.merged import merge
from harness.runs.queries import MatchQuery, find_matches
from harness.runs.request import BotLike, RunRequest
from harness.runs.setup import (
    create_run,
    formats_of,
    game_of,
    installed_games,
    now,
    resumed_limits,
    seeded,
)
from harness.runs.signing import Signature, SignatureFinding, check_signature, default_key, sign_run, trusted_keys
from harness.runs.standings import boards_of
from harness.runs.store import RunFolder, RunInfo, find
from harness.runs.verify import Findings, check_run
from harness.runs.verify_bots import check_bots

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # likewise in skill_update.py


MAY_CHANGE = {"bots", "cluster", "results", "ship", "strict", "workers"}
"""What may be given when a run is continued, besides limits: how it is played, and classes for its bots' names."""
MAY_GROW = {"candidates", "deals", "format"}
"""What a continued run can have more of, besides bots."""


@dataclass(frozen=True, slots=True)
class RecordedFault:
    """A bot failed: in which match, at which decision, how, and what it said."""

    match: str
    bot: str
    kind: FaultKind
    decision: int
    detail: str
    phase: str = ""
    """What was to be chosen, in the game's word for it."""

    @property
    def cause(self) -> str:
        """What went wrong in a few words: exception and line, phase of an illegal action, how its process ended."""
        return cause_of(Fault(0, self.kind, self.decision, self.detail, self.phase))


class Run:
    """A run: its records, in the order in which they were written, and what they say. Show it, and see its tables."""

    def __init__(self, folder: RunFolder, registry: Registry) -> None:
        self._folder, self._registry = folder, registry
        self._fitted: tuple[int, list[Leaderboard]] = (-1, [])

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self._folder.folder

    @property
    def info(self) -> RunInfo:
        """What was asked for, by which versions, on which machine."""
        return self._folder.info

    @property
    def complete(self) -> bool:
        """Whether all matches of the schedule were played; if not, `tournament(resume=run.folder)` goes on."""
        return bool(self.info.finished)

    @property
    def warnings(self) -> list[str]:
        """What a reader should know: workers that were lost, lines that were torn."""
        return list(dict.fromkeys(self._folder.warnings))

    def __iter__(self) -> Iterator[GameRecord]:
        return self._folder.records()

    def __len__(self) -> int:
        return sum(1 for _ in self._folder.results())

    def leaderboard(
        self,
        columns: Sequence[str] = (),
        wide: bool = False,
        luck_adjusted: bool = False,
        values: Sequence[str | Path] = (),
    ) -> Tables:
        """The leaderboards: a table for each game, and one over all if there are several. Shown as wide as the screen,
        or with these `columns`, or `wide`, with all of them; the rows have everything.

        If they are to be `luck_adjusted`, `ahead` is without what luck gave, with narrower intervals; `values` are
        files that `arena learn-values` made, for games that bring no value function.
        """
        boards = self._boards()
        if luck_adjusted:
            with Progress("luck taken out of matches", len(self)) as progress:
                boards = load_object(LUCK_ADJUSTED_LEADERBOARDS)(
                    self._folder, self._registry, list(self), values=[Path(file) for file in values], step=progress.step
                )
        tables = leaderboard_tables(boards, columns, self._score_texts(), entrants=self.info.entrants)
        return Tables(tables, wide=wide or bool(columns))

    def table(self, table_format: str = "simple", columns: Sequence[str] = (), wide: bool = False) -> str:
        """The leaderboards as text: "github", "csv", "json", "html", "latex" and more; "simple" is as shown."""
        if table_format == "simple":
            return repr(self.leaderboard(columns, wide))
        over_all, entrants = table_format != "csv", self.info.entrants
        tables = leaderboard_tables(self._boards(), columns, over_all=over_all, entrants=entrants)
        return text_of(tables, table_format)

    def games(self) -> Tables:
        """The places of each bot in each game, and the order of those who play them all."""
        return Tables(overall_tables(self._boards()))

    def request(self) -> RunRequest:
        """What plays this run again, its seed included; its `save` makes a file of it. Refused where a bot was a class
        or a function that no file holds.

        Examples:
            >>> run = tournament("el-paso", ["outlaw", "random"], deals=1, seed=7, workers=0)
            >>> again = tournament(request=run.request(), workers=0)
            >>> again.info.plan == run.info.plan
            True
        """
        return request_of_run(self._one(), self._registry)[0]

    def pairs(self) -> Tables:
        """How often each bot finishes ahead of each other."""
        return Tables(pairwise_table(board) for board in self._boards())

    def surprises(self) -> Tables:
        """The pairs of bots whose results differ most from what is expected."""
        return Tables(surprises_table(board) for board in self._boards())

    def seats(self) -> Tables:
        """What a seat is worth."""
        return Tables(seats_table(board) for board in self._boards())

    def outcome(self) -> FormatResults:
        """What the run's format says itself: a swiss its standing, a knockout its bracket, a gauntlet the differences
        between its candidates. Of a run that is not complete, what is known so far.

        Examples:
            >>> bots = ["outlaw", "diehard", "random"]
            >>> run = tournament("el-paso", bots, players=2, format="swiss", deals=2, seed=7, workers=0)
            >>> run.outcome()["el-paso"].standing[0]
            'outlaw'
        """
        return results_of(self._folder, formats_of(self._folder, self._registry))

    def _score_texts(self) -> dict[str, ScoreText]:
        games, _ = installed_games(self._folder, self._registry)
        return {name: game.score_text for name, game in games.items()}

    def _one(self) -> RunFolder:
        """The folder, if this is one run."""
        if self._folder.merged:
            raise UsageError("That can be done with one run at a time: open it alone.")
        return self._folder

    def _boards(self) -> list[Leaderboard]:
        """Fitted once, and again when there are more records."""
        size = self._folder.size()
        if self._fitted[0] != size:
            self._fitted = size, boards_of(self._folder)
        return self._fitted[1]

    def to_pandas(self) -> pd.DataFrame:
        """The results as a DataFrame with a line for each seat of each match (needs pandas)."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise UsageError("This needs pandas: pip install 'arena-harness[notebook]'.") from error
        return pd.DataFrame(list(self._lines()))

    def _lines(self) -> Iterator[Fields]:
        for record in self._folder.results():
            failed = {fault.seat: fault.kind for fault in record.faults}
            for seat, bot in enumerate(record.seats):
                yield {
                    "match": record.id,
                    "game": record.game,
                    "set": record.set,
                    "seed": record.seed,
                    "seat": seat,
                    "bot": bot,
                    "score": record.scores[seat],
                    "rank": record.ranks[seat],
                    "decisions": record.decisions[seat],
                    "time": record.time[seat] if record.time else None,
                    "fault": failed.get(seat),
                }

    def faults(self) -> list[RecordedFault]:
        """Every failure of a bot. That it was disqualified is none: `fault_groups().disqualified` says who was."""
        return [
            RecordedFault(record.id, record.seats[fault.seat], fault.kind, fault.decision, fault.detail, fault.phase)
            for record in self._folder.results()
            for fault in record.failures
        ]

    def fault_groups(self) -> FaultGroups:
        """The failures by cause, the bot that failed most often first: show it, or go through it."""
        found = FaultGroups()
        for record in self._folder.results():
            found.add(record)
        return found

    def matches(self, bot: str = "", **asked: Any) -> MatchTable:
        """The matches that fit, as a table: those of a `bot` or a `game`, `won`, `lost` or `close` ones, those with
        `faults`; in the order `sort` ("schedule", "margin", "length", "score", "time"), `reverse`, up to a `limit`.

        Examples:
            >>> run = tournament("el-paso", ["outlaw", "random"], deals=3, seed=7, workers=0)
            >>> [(one.match, one.margin) for one in run.matches("random", close=True)]
            [('el-paso-2.1.2', 41), ('el-paso-3.1.1', 41)]
        """
        unknown = sorted(set(asked) - set(MatchQuery.__struct_fields__))
        if unknown:
            raise UnknownName("condition for matches", unknown[0], MatchQuery.__struct_fields__)
        return MatchTable(find_matches(self._folder, MatchQuery(bot=bot, **asked)), self._score_texts())

    def replay(self, match: str | int) -> Match:
        """A match by its id, or by its place in the schedule: to be read and stepped through."""
        record = self._folder.record(match)
        game = game_of(self._folder, self._registry, record)
        return Match(game, record, self._folder.notes(record.id))

    def ask(self, bot: BotLike, match: str | int, **wanted: Any) -> Asked:
        """What a bot does now at the decisions of a match; `wanted` is what `Match.ask` takes."""
        return self.replay(match).ask(bot, **wanted)

    def verify(
        self,
        sample: int | None = None,
        bots: bool | Sequence[BotLike] = False,
        isolate: Isolation = "on",
        workers: int | None = None,
    ) -> Findings:
        """Plays the records again by the rules (or a sample of so many) and compares: what does not fit.

        With `bots` the bots are asked again, too, kept as `isolate` says: `.bots` has what they say. Bots that are
        classes or functions are given again, as a list; they can be asked with `isolate="off"` alone.
        """
        found = check_run(self._one(), self._registry, sample)
        found.problems += stale_tables(self._folder, self._registry.formats, found.verified)
        if bots:
            registry = installed_here(isolate)
            for bot in () if isinstance(bots, bool) else bots:
                registry.enter_as_installed(bot)
            with at_terminal("asked again", found.replayed, True, workers, softly=True) as (stop, _):
                found.bots = check_bots(
                    self._folder, registry, isolate, workers, found.every, found.broken, stop
                )  # fmt: skip
        return found

    def sign(self, key: str | Path | None = None) -> Signature:
        """Vouches for the run with the key in this file (default: yours); `arena sign --new-key` makes one."""
        return sign_run(self._one(), Path(key) if key else default_key(), now())

    def signature(self, trusted: Sequence[str] = ()) -> SignatureFinding:
        """Who has signed the run, and whether it is still what was signed. With public keys, or files of them, that are
        `trusted`, no other will do."""
        return check_signature(self._one(), trusted_keys(trusted))

    def __repr__(self) -> str:
        return f"{self.table()}\n\n{self.folder}{'' if self.complete else ' (not complete)'}"

    def _repr_html_(self) -> str:
        return self.leaderboard()._repr_html_()


def tournament(
    games: Sequence[str] | str = (),
    bots: Sequence[BotLike] = (),
    *,
    deals: int | None = None,
    workers: int | None = None,
    options: Mapping[str, Value] | None = None,
    request: RunRequest | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    **fields: Any,
) -> Run:
    """Lets bots play against each other, records every match in a folder, and gives back the run.

    `bots` are names, classes, or functions `(view, actions) -> action`; `fields` are those of RunRequest: `seed`,
    `format`, `players`, `name`, `results`, `move_time` ... A `request` made before, or read from a file, counts where
    nothing else is given. `resume` continues the run in that folder; give bots that are classes or functions again.
    With more `deals`, or with `bots` that it does not have, it is extended, where its format allows.

    Examples:
        >>> run = tournament("el-paso", ["outlaw", "diehard", "random"], deals=2, seed=7, workers=0)
        >>> len(run), run.complete
        (6, True)
        >>> run.leaderboard()["el-paso"].rows[0]["bot"]
        'outlaw'
    """
    given = {"deals": deals, "workers": workers, "options": options, **fields}
    fields = {name: value for name, value in given.items() if value is not None}
    fields |= {"games": _several(games)} if games else {}
    fields |= {"bots": _several(bots)} if bots else {}
    unknown = sorted(fields.keys() - run_options(RunRequest))
    if unknown:
        raise UnknownName("field of a run", unknown[0], run_options(RunRequest))
    asked = replace(request, **fields) if request else RunRequest(**fields)
    expect_workers(0 if asked.cluster else asked.workers)
    registry = installed_here(asked.isolate, asked.strict)
    if resume is None:
        asked = seeded(asked)
        folder, setup = create_run(asked, registry, called("tournament", asked))
        limits = asked.limits
    else:
        fixed = fields.keys() - MAY_CHANGE - MAY_GROW - run_options(BotLimits).keys()
        refuse_fields([*sorted(fixed), *(["request"] if request else [])])
        folder = RunFolder.open(find(Path(asked.results), str(resume)))
        again, late = _again_or_late(folder.info, asked.bots, registry)
        limits = enter_resumed(folder, registry, again, fields, force)
        more = RunExtension(bots=late, **{name: fields[name] for name in MAY_GROW & fields.keys()})
        setup, told = resume_run(folder, registry, more, called("tournament", asked, resume=str(resume)), force)
        sys.stderr.writelines(f"{sentence}\n" for sentence in (() if quiet else told))
    complete, faults = play_watched(folder, setup, limits, asked.workers, quiet, asked.on_cluster, softly=True)
    write_leaderboard(folder)
    write_outcome(folder, setup.schedule)
    print_ending("tournament", folder, complete, faults, quiet)
    return Run(folder, registry)


def _again_or_late(
    info: RunInfo, bots: Sequence[BotLike], registry: Registry
) -> tuple[list[BotLike], tuple[BotLike, ...]]:
    """Bots that are given when a run is continued: classes and functions for names that it has, and who comes late."""
    known = {entrant.ref.bot for entrant in info.entrants if not entrant.ref.place}
    again: list[BotLike] = []
    late: list[BotLike] = []
    for bot in bots:
        plain = bot.bot if isinstance(bot, BotEntry) else bot
        is_text = isinstance(plain[1] if isinstance(plain, tuple) else plain, str)
        if is_text or registry.entrant(plain).name not in known:
            late.append(bot)
        else:
            again.append(plain)
    return again, tuple(late)


def _several(given: Any) -> tuple[Any, ...]:
    """One thing, or several, or several by name."""
    if isinstance(given, Mapping):
        return tuple(given.items())
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def called(function: str, asked: RunRequest, **more: Any) -> str:
    """What was called, for run.json; bots that are classes or functions go by their names."""
    plain, names = RunRequest(), run_options(RunOptions)
    given = more | {name: getattr(asked, name) for name in names if getattr(asked, name) != getattr(plain, name)}
    shown = [
        f"{name}=[{', '.join(map(_named, value))}]" if name in ("bots", "candidates") else f"{name}={_named(value)}"
        for name, value in given.items()
    ]
    return f"harness.{function}({', '.join(shown)})"


def _named(value: Any) -> str:
    if isinstance(value, BotEntry):
        return f"BotEntry({_named(value.bot)}, {value.team!r}, {value.author!r})"
    if isinstance(value, tuple) and len(value) == 2:
        return f"({value[0]!r}, {_named(value[1])})"
    if isinstance(value, Bot):
        return type(value).__name__
    return value.__name__ if callable(value) else repr(value)


def refuse_fields(names: Sequence[str]) -> None:
    """Refuse to continue a run if one of these fields is given: the run has them already."""
    if names:
        raise UsageError(f"A run is continued as it was asked for; leave out {', '.join(names)}.")


def enter_resumed(
    run: RunFolder, registry: Registry, bots: Sequence[BotLike], given: Mapping[str, Any], force: bool
) -> BotLimits:
    """Register the classes and functions of a run to be continued, and return its limits, some of them `given` now."""
    for bot in bots:
        registry.enter_as_installed(bot)
    limits = resumed_limits(run, {name: given[name] for name in run_options(BotLimits) if name in given}, force)
    registry.outside = SandboxLoader(limits.isolate)
    return limits


def print_ending(function: str, run: RunFolder, complete: bool, faults: FaultGroups, quiet: bool) -> None:
    """Print the faults of a run that was played, and how to continue it with this function if it is not complete."""
    if not quiet:
        sys.stderr.writelines(f"{line}\n" for line in fault_lines(faults, calls))
    if not complete:
        sys.stderr.write(f"Not complete. Continue with: harness.{function}(resume={str(run.folder)!r})\n")


def open_run(path: str | Path, *more: str | Path, results: str | Path | None = None) -> Run:
    """A run that was played, by its folder or by its name under `results`: by default what ARENA_RESULTS names, or a
    folder of that name. With `more` of them they are read, and rated, as one: runs of the same rules and bots, or parts
    of one run; a match that two of them hold counts once.

    Examples:
        >>> played = tournament("el-paso", ["skittish", "random"], deals=1, seed=7, workers=0, name="first")
        >>> open_run("first").table("csv") == played.table("csv")
        True
    """
    where = Path(results or default_results())
    return Run(merge([RunFolder.open(find(where, str(each))) for each in (path, *more)]), installed_here())
