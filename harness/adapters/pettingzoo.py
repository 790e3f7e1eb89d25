"""Arena's games as PettingZoo environments (AEC): each seat is an agent.

from harness.adapters import pettingzoo as arena_zoo

env = arena_zoo.env("el-paso", players=3)
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from harness.adapters import extra
from harness.adapters.encoding import EncodingName, encoding_of
from harness.adapters.play import TRUNCATED, Masks, RewardName, configured, deal_of, played_record, reward_function
from harness.core.action import Action
from harness.core.errors import IllegalAction
from harness.core.game import Game, State
from harness.core.records import GameRecord, Value
from harness.core.rng import Chance

with extra("pettingzoo"):
    import numpy as np
    import pettingzoo
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
    from gymnasium.utils import EzPickle, seeding
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

METADATA = {"name": "arena_v0", "render_modes": ["human", "ansi"], "is_parallelizable": False, "render_fps": 1}
SEED_BITS = 48


def env(game: str | type[Game[Any]], players: int | None = None, illegal_reward: float = -1, **settings: Any) -> Any:
    """Return an environment with the wrappers that PettingZoo's classic games have: an illegal action ends the episode
    with `illegal_reward`, an action outside of the action space and a step before `reset` are errors.

    The settings are those of `ArenaEnv`.
    """
    return ClassicEnv(ArenaEnv(game, players, **settings), illegal_reward)


class ClassicEnv(OrderEnforcingWrapper, AssertOutOfBoundsWrapper, TerminateIllegalWrapper):  # type: ignore[misc]
    """The wrappers of PettingZoo's classic games in one object.

    One around the other, they would look up each attribute of the environment three times, which takes as long as a
    step of the game.
    """

    def __init__(self, env: ArenaEnv, illegal_reward: float) -> None:
        self._has_reset = self._has_updated = False
        TerminateIllegalWrapper.__init__(self, env, illegal_reward)

    # Before `reset` the environment has none of these, and Python asks `__getattr__`, which raises the wrapper's error.
    agents = property(attrgetter("env.agents"))
    agent_selection = property(attrgetter("env.agent_selection"))
    rewards = property(attrgetter("env.rewards"))
    terminations = property(attrgetter("env.terminations"))
    truncations = property(attrgetter("env.truncations"))
    infos = property(attrgetter("env.infos"))
    _cumulative_rewards = property(attrgetter("env._cumulative_rewards"))


class ArenaEnv(AECEnv, EzPickle):  # type: ignore[misc]  # types of extras are not read
    """A game of Arena, without wrappers.

    An observation has the numbers of the seat's view (docs/encoding.md) and the mask of legal actions, as in
    PettingZoo's classic games. An action is the code of an action of the game. Choices with a single legal action are
    made at once: no agent is asked.

    `reset(seed=...)` deals a match that follows from the seed; `reset(options={"deal": 7})` deals that of
    `harness.play_match(..., seed=7)`.
    """

    metadata: dict[str, Any] = METADATA

    def __init__(
        self,
        game: str | type[Game[Any]],
        players: int | None = None,
        *,
        reward: RewardName = "share",
        encoding: EncodingName = "auto",
        scaled: bool = True,
        options: dict[str, Value] | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self, game, players, reward=reward, encoding=encoding, scaled=scaled, options=options,
            render_mode=render_mode,
        )  # fmt: skip
        super().__init__()
        self.game, self.players = configured(game, players, options)
        self.encoding = encoding_of(self.game, self.players, encoding, scaled)
        """The meanings of the numbers of an observation."""
        self.metadata = {**METADATA, "name": f"{self.game.name.replace('-', '_')}_v0"}
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._reward = reward_function(reward)
        self._masks = Masks(len(self.game.actions))
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(len(self.game.actions)) for agent in self.possible_agents}
        self._random: Any = None
        self._state: State[Any] | None = None
        self.deal = 0
        """The seed of the match that is played."""
        self.codes: list[int] = []
        """The actions so far."""

    def _observation_space(self) -> spaces.Dict:
        low, high = np.array(self.encoding.low, np.float32), np.array(self.encoding.high, np.float32)
        mask = spaces.Box(0, 1, (len(self.game.actions),), np.int8)
        return spaces.Dict({"observation": spaces.Box(low, high, dtype=np.float32), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new match."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        self.deal = deal_of(options, int(self._random.integers(2**SEED_BITS)))
        self._state, self.codes = self.game.new(self.players, Chance(self.deal)), []
        self.agents: list[str] = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select(self._state)

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent's seat knows now, as numbers, and what it may do: nothing unless it is its turn."""
        state = self._dealt()
        seat = self._seats[agent]
        return {
            "observation": self.encoding.array(state.view(seat)),
            "action_mask": self._masks.encode(state.legal if state.seat == seat else ()),
        }

    def step(self, action: int | None) -> None:
        """Carry out an action of the agent whose turn it is."""
        state, agent = self._dealt(), self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen = self._chosen(action, state)
        self._cumulative_rewards[agent] = 0.0
        self.codes.append(chosen.code)
        state.step(chosen)
        self._select(state)
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the table as the agent sees it whose turn it is, or print it in the mode "human"."""
        seat = self._seats[self.agent_selection]
        text = self.game.render(self._dealt().view(seat), self.possible_agents)
        if self.render_mode == "human":
            print(text)  # noqa: T201 - what this mode is for
            return None
        return text

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def record(self) -> GameRecord:
        """Return the record of the finished match, as the referee makes it from the actions."""
        return played_record(self.game, self.deal, self.players, self.codes)

    def _dealt(self) -> State[Any]:
        if self._state is None:
            raise ResetNeeded("Call reset() first: no match was dealt.")
        return self._state

    def _chosen(self, action: Any, state: State[Any]) -> Action:
        chosen: Action | None = None
        try:
            if action >= 0:
                chosen = self.game.actions[action]
        except (IndexError, TypeError, ValueError) as error:  # None, a string, an array
            raise IllegalAction(f"{action!r} is not the code of an action.") from error
        if chosen is None or chosen not in state.legal:
            legal = ", ".join(str(each.code) for each in state.legal)
            raise IllegalAction(f"Action {action} is not legal now; legal: {legal}.")
        return chosen

    def _select(self, state: State[Any]) -> None:
        """Carry out forced choices and select the next agent; at the end of the game, set the rewards."""
        while len(state.legal) == 1:
            state.step(state.legal[0])
        if state.legal:
            self.agent_selection = self.possible_agents[state.seat]
            return
        rewards = self._reward(state.scores())
        self.rewards = {agent: float(rewards[self._seats[agent]]) for agent in self.agents}
        self._accumulate_rewards()
        stopped = state.ending == TRUNCATED
        self.terminations = dict.fromkeys(self.agents, not stopped)
        self.truncations = dict.fromkeys(self.agents, stopped)


if hasattr(pettingzoo, "register") and "Arena-v0" not in pettingzoo.aec_registry:  # new in PettingZoo 1.27
    pettingzoo.register("aec", "Arena-v0", "harness.adapters.pettingzoo:env")
