"""What both search bots are made of: options, a budget, imagined worlds, playouts."""

# mypyc compiles this module. `mypyc_attr` keeps methods overridable for plain Python subclasses. Structs and
# dataclasses are in other modules: mypyc silently loses what makes them frozen.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from bots.search.guide import Guide
from bots.search.judge import Judge, ScoreJudge, ValueJudge
from bots.search.mast import Mast
from bots.search.playout import Playout
from bots.search.race import Race
from bots.search.rewards import REWARDS, Rewards
from harness import Action, Bot, Option, State, View, bot_named

OPTIONS = (
    Option("iterations", 200, "imagined games a decision", kind="int", minimum=1),
    Option("ms", 0, "think this many milliseconds instead; not repeatable (0: off)", kind="int", minimum=0),
    Option("depth", 0, "decisions of each seat before an imagined game is cut off (0: never)", kind="int", minimum=0),
    Option("habit", 80, "percent of imagined choices that follow habit", kind="int", minimum=0, maximum=100),
    Option("guide", "", "a bot that plays the imagined games, instead of habit", kind="bot"),
    Option("reward", "score", "what to play for", choices=(*REWARDS, "value")),
    Option("values", "", "a value function made by arena learn-values, not the game's own", kind="file"),
    Option("race", 0, "standard errors, in percent, by which an action drops out (0: never)", kind="int", minimum=0),
    Option("margin", 0, "hundredths of reward by which an action must beat advice in a race", kind="int", minimum=0),
)


@mypyc_attr(allow_interpreted_subclasses=True)
class SearchBot(Bot):
    """A bot that plays on from worlds it imagines. It knows what its view says and no more."""

    by_default: ClassVar[bool] = False  # far slower than other bots: it plays where it is entered by name

    def start(self) -> None:
        """Read the options once."""
        self.depth = int(self.settings["depth"]) * self.players
        reward = str(self.settings["reward"])
        if reward == "value":
            self.judge: Judge = ValueJudge(self.game, self.players, self.file_option("values"))
        else:
            self.judge = ScoreJudge(reward)
        self.doubt = int(self.settings["race"]) / 100
        self.margin = int(self.settings["margin"]) / 100
        guide = str(self.settings["guide"])
        self.guide = Guide(bot_named(guide), self.game, self.players, self.rng) if guide else None
        habit = int(self.settings["habit"]) / 100
        self.playout: Playout = self.guide or Mast(self.players, habit, self.rng.random)

    def within_budget(self) -> Iterator[None]:
        """Yield once for each iteration that the budget allows, at least once."""
        self.playout.fade()
        ms = int(self.settings["ms"])
        if not ms:
            for _ in range(int(self.settings["iterations"])):
                Bot.observe(self, ())  # does nothing, but is interpreted: lets other threads run
                yield
            return
        end = perf_counter() + ms / 1000
        yield
        while perf_counter() < end:
            Bot.observe(self, ())
            yield

    def imagine(self, view: View) -> State[Any]:
        """Return an imagined state that gives the same view; the caller may change it."""
        return self.game.imagine(view, self.rng)

    def race(self, view: View, actions: Sequence[Action], doubt: float) -> Action:
        """Return the winner of a race between the actions, each tried in the same imagined worlds as far as the budget
        goes."""
        race = Race(actions, self.guide.advise(view, actions) if self.guide else None, doubt, self.margin)
        worlds: list[State[Any]] = []
        for _ in self.within_budget():
            turn = race.next()
            if turn is None:
                break
            action, nth = turn
            if nth == len(worlds):
                worlds.append(self.imagine(view))
            # Luck is named, not drawn in turn: clones of one world see the same dice wherever the actions lead.
            state = worlds[nth].clone()
            state.step(action)
            race.record(action, self.try_out(state, nth)[view.seat])
        return race.best()

    def try_out(self, state: State[Any], nth: int) -> Rewards:
        """Return the rewards of the `nth` world, in which an action was just tried."""
        return self.play_out(state)

    def play_out(self, state: State[Any]) -> Rewards:
        """Play the state on to its end or the cut-off, learn from it, and return the rewards."""
        made = self.playout.play(state, self.depth)
        rewards = self.judge.rewards(state)
        self.playout.learn(made, rewards)
        return rewards
