"""A bot that learned to play by watching the experts."""

from __future__ import annotations

from collections.abc import Sequence

from harness import Action, Bot, View


class Learned(Bot):
    """Asks a small network, which learned from the experts what to do, and from its own matches what to avoid."""

    games = ("el-paso", "gnadenlos", "x-pasch")
    files = ("network/el-paso.json", "network/gnadenlos.json", "network/x-pasch.json")
    by_default = False  # with it a plain `arena tournament` would play 1,000 matches instead of 280

    def start(self) -> None:
        """Get the network for this game and this number of players."""
        # Imported when it plays: listing bots needs neither networks nor encodings (2 ms, and five modules).
        from bots.network.integers import scorer_of

        self.scorer = scorer_of(self.game, self.players)

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """Return the action with the highest score, the first of equal ones."""
        return self.scorer.best(view, actions)
