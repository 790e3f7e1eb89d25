"""Is one bot better than another?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from html import escape
from typing import Any

from harness.api.matches import installed_here
from harness.core.errors import UnknownName, UsageError
from harness.core.types import Value
from harness.output.terminal import Progress, StopSignal
from harness.output.verdict_text import verdict_sentences
from harness.ratings.comparison import MARGIN, MOST_SETS, Verdict
from harness.runs.questions import answer, questions
from harness.runs.request import BotLike, RunRequest

MORE = {"game_time", "isolate", "memory", "move_time", "strict", "threads"}
"""Fields of RunRequest that count in a comparison too."""


class Comparison(Sequence[Verdict]):
    """The verdicts on two bots, one for each game that both play; shown as sentences."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self._verdicts = tuple(verdicts)

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
        return "\n\n".join("\n".join(verdict_sentences(verdict)) for verdict in self)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{'<br>'.join(map(escape, verdict_sentences(verdict)))}</p>" for verdict in self)


def compare(
    one: BotLike,
    other: BotLike,
    *,
    games: Sequence[str] | str = (),
    bots: Sequence[BotLike] = (),
    options: Mapping[str, Value] | None = None,
    seed: int | None = None,
    most: int = MOST_SETS,
    margin: float = MARGIN,
    own_deals: bool = False,
    thorough: bool = False,
    workers: int | None = None,
    quiet: bool = False,
    **fields: Any,
) -> Comparison:
    """Plays duplicate sets until it is known whether one bot is better than the other, or `most` of them.

    `bots` are the others at the table, for games that need more than two. The answer is "better", "worse", "equal"
    (within `margin`) or "unknown", and wrong in at most 5 of 100 comparisons. `fields` are `move_time`,
    `game_time`, `memory`, `isolate` and `strict`, as in RunRequest.

    Examples:
        >>> compare("outlaw", "random", games="el-paso", seed=7, workers=0)["el-paso"].answer
        'better'
    """
    unknown = sorted(fields.keys() - MORE)
    if unknown:
        raise UnknownName("field of a comparison", unknown[0], MORE)
    if type(most) is not int or most < 1 or not 0 <= margin < 0.5:
        raise UsageError(f"There is at least 1 set, and a margin from 0 to below 0.5; not {most!r} and {margin!r}.")
    request = RunRequest(
        games=(games,) if isinstance(games, str) else tuple(games),
        bots=(bots,) if isinstance(bots, str) else tuple(bots),
        options=dict(options or {}),
        seed=seed,
        workers=workers,
        **fields,
    )
    asked, setup = questions(
        one,
        other,
        request,
        installed_here(request.isolate, request.strict),
        most=most,
        margin=margin,
        shared=not own_deals,
        thorough=thorough,
    )
    verdicts = []
    with StopSignal(softly=True) as stop, redirect_stdout(sys.stderr):
        for question in asked:
            if stop():
                break
            with Progress(f"{question.game} matches", None, quiet) as progress:
                verdicts.append(answer(question, setup, request.limits, request.workers, stop, progress.seen))
    if not verdicts:
        raise UsageError("The comparison was stopped before it could find anything.")
    return Comparison(verdicts)
