"""Shared parts of the adapters: finding a game, rewards, masks of legal actions, and the record of a match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any, Final, Literal, SupportsIndex

from harness.api.matches import installed_here, single_match
from harness.core.action import Action
from harness.core.errors import UsageError
from harness.core.game import Game
from harness.core.records import GameRecord, Value, ranks_of, shares_ahead
from harness.match.stepper import EXTERNAL, MatchStepper

RewardName = Literal["share", "score", "rank"]

REWARDS: Final[dict[str, Callable[[Sequence[int]], Sequence[float]]]] = {
    "share": lambda scores: shares_ahead(ranks_of(scores)),
    "score": lambda scores: [float(score) for score in scores],
    "rank": lambda scores: [-float(rank) for rank in ranks_of(scores)],
}
"""The reward of each seat at the end of a match: the share of the other seats that it finished ahead of (a tie counts
half), its score, or its rank as a negative number. Until then all get 0."""

TRUNCATED: Final = "truncated"
"""The ending of a match that a rule has stopped."""


def configured(
    game: str | type[Game[Any]], players: int | None, options: Mapping[str, Value] | None
) -> tuple[Game[Any], int]:
    """Return a game by its name or class, and the number of players, by default the smallest."""
    cls = installed_here().game(game) if isinstance(game, str) else game
    rules = cls.configure(dict(options or {}))
    players = rules.min_players if players is None else players
    if players not in range(rules.min_players, rules.max_players + 1):
        raise UsageError(f"{rules.title} is for {rules.min_players} to {rules.max_players} players, not {players}.")
    return rules, players


def reward_function(name: str) -> Callable[[Sequence[int]], Sequence[float]]:
    """Return how final scores become rewards."""
    if name not in REWARDS:
        raise UsageError(f"There is no reward {name!r}. Choose from: {', '.join(REWARDS)}.")
    return REWARDS[name]


def reward_bounds(game: Game[Any], players: int, name: str) -> tuple[float, float]:
    """Return the lowest and the highest reward."""
    if name == "score":
        return game.score_bounds(players)
    return (0.0, 1.0) if name == "share" else (-float(players), -1.0)


def deal_of(options: Mapping[str, Any] | None, drawn: int) -> int:
    """Return the deal that the options of `reset` name, or the drawn one."""
    deal = (options or {}).get("deal", drawn)
    if isinstance(deal, SupportsIndex) and index(deal) >= 0:
        return index(deal)
    raise UsageError(f"A deal is a whole number from 0, not {deal!r}.")


class Masks:
    """Makes arrays with a 1 for each legal action."""

    def __init__(self, size: int) -> None:
        import numpy as np  # an extra: a game without numpy must not need it

        self.size = size
        self._from_bytes, self._int8 = np.frombuffer, np.int8
        self._known = lru_cache(maxsize=5_000)(self._packed)

    def encode(self, legal: tuple[Action, ...]) -> Any:
        """Return the mask of these actions as an array of int8; the caller may change it."""
        return self._from_bytes(bytearray(self._known(legal)), self._int8)

    def _packed(self, legal: tuple[Action, ...]) -> bytes:
        packed = bytearray(self.size)
        for action in legal:
            packed[action.code] = 1
        return bytes(packed)


def played_record(game: Game[Any], seed: int, players: int, codes: Sequence[int]) -> GameRecord:
    """Return the referee's record of a finished match, from its actions."""
    match = MatchStepper(single_match(game, [EXTERNAL] * players, seed), game, [None] * players)
    for code in codes:
        match.advance()
        match.answer(game.actions[code])
    match.advance()
    return match.record()
