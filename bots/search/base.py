"""What both search bots are made of: options, a budget, imagined worlds, playouts."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any, ClassVar

from bots.search.guide import Guide
from bots.search.mast import Mast
from bots.search.playout import Playout
from bots.search.rewards import REWARDS, Rewards
from harness import Bot, Option, State, View, bot_named

OPTIONS = (
    Option("iterations", 200, "imagined games a decision", kind="int", minimum=1),
    Option("ms", 0, "think so many milliseconds instead; not repeatable (0: off)", kind="int", minimum=0),
    Option("depth", 0, "decisions a seat before an imagined game is cut off (0: never)", kind="int", minimum=0),
    Option("habit", 80, "percent of imagined choices that follow habit", kind="int", minimum=0, maximum=100),
    Option("guide", "", "a bot that plays the imagined games, instead of habit", kind="bot"),
    Option("reward", "score", "what to play for", choices=tuple(REWARDS)),
)


class SearchBot(Bot):
    """A bot that plays on from worlds it imagines. It knows what its view says and no more."""

    by_default: ClassVar[bool] = False  # far slower than other bots: it plays where it is entered by name

    def start(self) -> None:
        """Reads the options once."""
        self.depth = int(self.settings["depth"]) * self.players
        self.reward = REWARDS[str(self.settings["reward"])]
        guide = str(self.settings["guide"])
        self.guide = Guide(bot_named(guide), self.game, self.players, self.rng) if guide else None
        habit = int(self.settings["habit"]) / 100
        self.playout: Playout = self.guide or Mast(self.players, habit, self.rng.random)

    def within_budget(self) -> Iterator[None]:
        """One turn for each iteration that the budget allows; at least one."""
        self.playout.fade()
        ms = int(self.settings["ms"])
        if not ms:
            for _ in range(int(self.settings["iterations"])):
                yield
            return
        end = perf_counter() + ms / 1000
        yield
        while perf_counter() < end:
            yield

    def imagine(self, view: View) -> State[Any]:
        """A world that this view cannot tell from the real one; it belongs to the caller."""
        return self.game.imagine(view, self.rng)

    def play_out(self, state: State[Any]) -> Rewards:
        """Plays the state on to its end or the cut-off, learns from it, and returns what came of it."""
        made = self.playout.play(state, self.depth)
        rewards = self.reward(state.scores())
        self.playout.learn(made, rewards)
        return rewards
