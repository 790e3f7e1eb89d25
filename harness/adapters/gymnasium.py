"""A seat of a game as a Gymnasium environment: one seat learns, bots play the others.

    import gymnasium

    env = gymnasium.make("harness.adapters.gymnasium:Arena-v0", game="el-paso", opponents=["outlaw", "diehard"])

The text before the colon imports this module, which registers the environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from harness.adapters import extra
from harness.adapters.encoding import EncodingName, encoding_of
from harness.adapters.play import TRUNCATED, Masks, RewardName, configured, deal_of, reward_function
from harness.api.matches import installed_here, seat_entrants, single_match
from harness.core.errors import UsageError
from harness.core.records import GameRecord, Isolation, Value
from harness.match.stepper import EXTERNAL, MatchStepper
from harness.runs.request import BotLike

with extra("gymnasium"):
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.error import InvalidAction, ResetNeeded

METADATA = {"render_modes": ["human", "ansi"], "render_fps": 1}
SEED_BITS = 48


class ArenaEnv(gymnasium.Env):  # type: ignore[misc]  # types of extras are not read
    """One seat of a match; `opponents` are the bots of the other seats, in the order in which they follow.

    An observation has the numbers of the seat's view (docs/encoding.md). An action is the code of an action of the
    game; as in Gymnasium's own games with masks, `info["action_mask"]` has a 1 for each legal one, and so has
    `action_masks()`. An illegal action ends the episode with `illegal_reward`, and `info["illegal_action"]` is True.

    `reset(seed=...)` deals a match that follows from the seed; `reset(options={"deal": 7})` deals that of
    `harness.play_match(..., seed=7)`. With `seat=None` each match has the learning seat at another place.
    """

    metadata: dict[str, Any] = METADATA

    def __init__(
        self,
        game: str,
        opponents: Sequence[BotLike],
        *,
        seat: int | None = 0,
        reward: RewardName = "share",
        illegal_reward: float = -1.0,
        encoding: EncodingName = "auto",
        scaled: bool = True,
        options: dict[str, Value] | None = None,
        isolate: Isolation = "auto",
        render_mode: str | None = None,
    ) -> None:
        if isinstance(opponents, str):
            raise UsageError(f"The opponents are a list of bots, not {opponents!r}.")
        self.players = len(opponents) + 1
        self.game, _ = configured(game, self.players, options)
        if seat is not None and seat not in range(self.players):
            raise UsageError(f"The match has seats 0 to {self.players - 1}, not {seat}.")
        bots = [None, *opponents]
        _, (_, *self._opponents) = seat_entrants(installed_here(isolate), game, bots, options, None, 0.0, isolate)
        self.seat, self.illegal_reward, self.render_mode = seat, illegal_reward, render_mode
        self.encoding = encoding_of(self.game, self.players, encoding, scaled)
        """The meanings of the numbers of an observation."""
        self._reward, self._masks = reward_function(reward), Masks(len(self.game.actions))
        low, high = np.array(self.encoding.low, np.float32), np.array(self.encoding.high, np.float32)
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space = spaces.Discrete(len(self.game.actions))
        self._match: MatchStepper | None = None
        self._over = True
        self._played_seat = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new match, and let the bots play until the learning seat has to decide."""
        super().reset(seed=seed)
        drawn, place = (int(each) for each in self.np_random.integers(2**SEED_BITS, size=2))
        deal = deal_of(options, drawn)
        learner = self._played_seat = place % self.players if self.seat is None else self.seat
        entrants = [self._opponents[(seat - learner - 1) % self.players] if seat != learner else None
                    for seat in range(self.players)]  # fmt: skip
        names = [EXTERNAL if entrant is None else entrant.name for entrant in entrants]
        self._match = MatchStepper(single_match(self.game, names, deal), self.game, entrants)
        # A match in which the seat never has a choice has no decision to learn from: its first step ends it.
        self._match.advance()
        self._over = False
        return self._observed(self._match), self._info(self._match)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make the decision of the learning seat, and let the bots play until its next one."""
        match = self._dealt()
        if self._over:
            raise ResetNeeded("The episode is over: call reset().")
        if not self.action_space.contains(action):
            raise InvalidAction(f"{action!r} is not an action: give a number from 0 to {len(self.game.actions) - 1}.")
        chosen = self.game.actions[index(action)]
        if not match.over and chosen not in match.legal:
            self._over = True
            info = {**self._info(match), "illegal_action": True}
            return self._observed(match), float(self.illegal_reward), True, False, info
        if not match.over:
            match.answer(chosen)
            match.advance()
        reward, self._over = 0.0, match.over
        stopped = False
        if match.over:
            reward = float(self._reward(match.scores)[self._played_seat])
            stopped = match.ending == TRUNCATED
        if self.render_mode == "human":
            self.render()
        return self._observed(match), reward, self._over and not stopped, stopped, self._info(match)

    def action_masks(self) -> Any:
        """Return which actions are legal, as an array of bool."""
        return self._mask(self._dealt()).astype(bool)

    def render(self) -> Any:
        """Return the table as the learning seat sees it, or print it in the mode "human"."""
        text = self.game.render(self._dealt().view(self._played_seat))
        if self.render_mode == "human":
            print(text)  # noqa: T201 - what this mode is for
            return None
        return text

    def record(self) -> GameRecord:
        """Return the referee's record of the finished match."""
        return self._dealt().record()

    def close(self) -> None:
        """End the processes of the bots."""
        for entrant in self._opponents:
            if entrant is not None:
                entrant.close()

    def _dealt(self) -> MatchStepper:
        if self._match is None:
            raise ResetNeeded("Call reset() first: no match was dealt.")
        return self._match

    def _observed(self, match: MatchStepper) -> Any:
        return self.encoding.array(match.view(self._played_seat))

    def _mask(self, match: MatchStepper) -> Any:
        return self._masks.encode(match.legal if match.seat == self._played_seat else ())

    def _info(self, match: MatchStepper) -> dict[str, Any]:
        return {"action_mask": self._mask(match)}


if "Arena-v0" not in gymnasium.registry:
    gymnasium.register("Arena-v0", "harness.adapters.gymnasium:ArenaEnv")
