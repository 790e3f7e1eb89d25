"""An opponent model: learns from `observe` how long each rival dares to stay in town, and lets it go first."""

from collections.abc import Sequence
from statistics import mean

from engines.el_paso import Carry, ElPasoView, Play
from harness import Action, Bot, Event, Option

STARS = 3  # when I leave, and when I think a stranger does
MOST = 4  # when I leave in any case


class Follower(Bot[ElPasoView]):
    """Stays a little longer than a rival who is about to leave: the next group to go may carry more (EP-18)."""

    games = ("el-paso",)
    options = (Option("follow", True, "use what it has learned about the others", kind="bool"),)

    def start(self) -> None:
        self.stars = 0
        self.left_at: list[list[int]] = [[] for _ in range(self.players)]

    def observe(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.kind == "town":
                self.stars = 0
            elif event.kind == "roll":
                self.stars = event.data["stars"]
            elif event.kind == "answer" and event.data["leaves"]:
                self.left_at[event.data["seat"]].append(self.stars)

    def choose(self, view: ElPasoView, actions: Sequence[Action]) -> Action:
        if view.phase == "answer":
            stay, leave = actions
            return leave if view.stars >= (MOST if self.somebody_goes_first(view) else STARS) else stay
        if view.phase == "play":
            plays = [action for action in actions if isinstance(action, Play)]
            return max(plays, key=lambda play: max(view.stacks[play.site][:1], default=0))
        carries = [action for action in actions if isinstance(action, Carry)]
        return max(carries, key=lambda carry: carry.value, default=actions[0])

    def somebody_goes_first(self, view: ElPasoView) -> bool:
        """Whether a rival leaves in this round, as far as I know."""
        if not self.settings["follow"]:
            return False
        nerves = [mean(self.left_at[seat] or [STARS]) for seat in view.queue]
        return bool(view.leaving) or any(nerve <= view.stars for nerve in nerves)
