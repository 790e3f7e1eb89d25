"""Is one bot better than another?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from harness.api.matches import installed_here
from harness.api.runs import Run, called, reopened
from harness.core.errors import UnknownName, UsageError
from harness.core.types import Value
from harness.executors.jobs import expect_workers
from harness.output.fault_text import calls, fault_lines
from harness.output.tables import write_leaderboard
from harness.output.verdict_text import announcement, verdict_sentences
from harness.output.watched_run import play_watched
from harness.ratings.comparison import Verdict
from harness.ratings.question import MARGIN, MOST_MATCHES, Question
from harness.runs.questions import create_comparison, question_settings, reopen_comparison, verdicts
from harness.runs.request import BotLike, RunRequest
from harness.runs.run_setup import seeded

MORE = {
    "clock", "cluster", "game_time", "isolate", "keep_processes", "memory", "move_time", "name", "ponder", "results",
    "ship", "strict", "threads",
}  # fmt: skip
"""Fields of RunRequest that count in a comparison too."""

NOTHING_YET = "Nothing is finished yet: there is nothing to compare."


class Comparison(Sequence[Verdict]):
    """The verdicts on two bots, one for each game that both play; shown as sentences.

    `run` holds the matches, like any other run.
    """

    def __init__(self, verdicts: Sequence[Verdict], run: Run) -> None:
        self._verdicts = tuple(verdicts)
        self.run = run

    def __len__(self) -> int:
        return len(self._verdicts)

    def __getitem__(self, game: Any) -> Any:
        """The verdict of a game, by its name or its place."""
        if not isinstance(game, str):
            return self._verdicts[game]
        by_name = {verdict.question.game: verdict for verdict in self._verdicts}
        if game not in by_name:
            raise UnknownName("game of this comparison", game, by_name)
        return by_name[game]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self._verdicts)

    def __repr__(self) -> str:
        return "\n\n".join("\n".join(verdict_sentences(verdict)) for verdict in self) or NOTHING_YET

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{'<br>'.join(map(escape, verdict_sentences(verdict)))}</p>" for verdict in self)
        return told or f"<p>{NOTHING_YET}</p>"


def compare(
    one: BotLike | None = None,
    other: BotLike | None = None,
    *,
    games: Sequence[str] | str = (),
    bots: Sequence[BotLike] = (),
    options: Mapping[str, Value] | None = None,
    seed: int | None = None,
    most: int | None = None,
    margin: float | None = None,
    indifference: float | None = None,
    way: str | None = None,
    thorough: bool = False,
    luck_adjusted: bool = False,
    workers: int | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    quiet: bool = False,
    **fields: Any,
) -> Comparison:
    """Plays until it is known whether one bot is better than the other, or `most` matches (6,000).

    `bots` are the others at the table; house bots fill it where a game needs more. `way` is "pairs" (each deal twice,
    with the two bots' seats exchanged), "own-deals" (each match has its own), "auto" (the better one of these, by a
    pilot), or "gauntlet" (the two take turns against the others, without meeting). The answer is "better", "worse",
    "equal" (within `margin`, 0.03) or "unknown", and wrong in at most 5 of 100 comparisons. With `indifference` the
    question is only whether there is a difference of at least that. `luck_adjusted` takes out of each result what luck
    gave, which takes a tenth of a second a match: with slow bots fewer matches are worth it. The matches are kept as a
    run. `resume` continues it, also with more matches (`most`, `thorough`); give bots that are classes or functions
    again. `fields` are `move_time`, `game_time`, `memory`, `isolate`, `name`, `results` and `strict`, as in RunRequest.

    Examples:
        >>> found = compare("outlaw", "random", games="el-paso", seed=7, workers=0)
        >>> found["el-paso"].answer, len(found.run)
        ('better', 9)
    """
    unknown = sorted(fields.keys() - MORE)
    if unknown:
        raise UnknownName("field of a comparison", unknown[0], MORE)
    limit, near = MOST_MATCHES if most is None else most, MARGIN if margin is None else margin
    if type(limit) is not int or limit < 1 or not 0 <= near < 0.5:
        raise UsageError(f"There is at least 1 match, and a margin from 0 to below 0.5; not {most!r} and {margin!r}.")
    if indifference is not None and not 0 < indifference < 0.5:
        raise UsageError(f"An indifference lies between 0 and 0.5; {indifference!r} does not.")
    settings = question_settings(margin, indifference, way, thorough)
    request = RunRequest(
        games=(games,) if isinstance(games, str) else tuple(games),
        bots=(bots,) if isinstance(bots, str) else tuple(bots),
        options=dict(options or {}),
        seed=seed,
        deals=limit,
        workers=workers,
        **fields,
    )
    expect_workers(0 if request.cluster else workers)
    registry = installed_here(request.isolate, request.strict)
    if resume is not None:
        fixed = {"games": games, "options": options, "seed": seed, "margin": margin}
        fixed |= {"indifference": indifference, "way": way, "luck_adjusted": luck_adjusted}
        given = [name for name, value in fixed.items() if value is not None and value is not False and value != ()]
        given += [name for name in fields if name not in ("cluster", "isolate", "results", "ship", "strict")]
        again = [bot for bot in (one, other, *request.bots) if bot is not None]
        isolate = fields.get("isolate")
        folder, limits = reopened(Path(resume), request, registry, again, given, isolate, force)
        setup = reopen_comparison(folder, registry, force, most, thorough)
    elif one is None or other is None:
        raise UsageError("Which two bots? Name both: compare(one, other).")
    else:
        request = seeded(request)
        typed = {"margin": margin, "indifference": indifference, "way": way, "thorough": thorough}
        typed |= {"luck_adjusted": luck_adjusted}
        command = called(
            "compare", request, one=one, other=other, **{name: said for name, said in typed.items() if said}
        )
        folder, setup = create_comparison(one, other, request, registry, command, settings, luck_adjusted)
        limits = request.limits
    for game in () if quiet else setup.plan.games:
        sys.stderr.writelines(f"{line}\n" for line in announcement(Question.of(game, setup.plan)))
    complete, faults = play_watched(folder, setup, limits, workers, quiet, request.on_cluster, softly=True)
    write_leaderboard(folder)
    if not quiet:
        sys.stderr.writelines(f"{line}\n" for line in fault_lines(faults, calls))
    if not complete:
        sys.stderr.write(f"Not complete. Continue with: harness.compare(resume={str(folder.folder)!r})\n")
    return Comparison(verdicts(setup.plan, folder.records(), setup.judges), Run(folder, registry))
