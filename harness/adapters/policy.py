"""Networks and policies of other libraries as bots of Arena."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from harness.adapters.encoding import EncodingName, encoding_of
from harness.adapters.play import Masks
from harness.core.action import Action, View
from harness.core.bot import Bot, kebab
from harness.core.errors import IllegalAction, UsageError

Policy = Callable[[Any, Any], Any]
"""Takes the numbers of a view and the mask of legal actions; returns the code of an action, or a value for each action
of the game, of which the legal action with the highest value is played."""


class PolicyBot(Bot):
    """A bot that asks a policy: subclass it and write `make_policy`, or use `policy_bot`.

    A subclass can name the files of a network in `files`, as a sandboxed bot must.
    """

    encoding_name: ClassVar[EncodingName] = "auto"
    """Which encoding of its views the policy was trained with."""
    scaled: ClassVar[bool] = True
    """Whether the numbers lie between -1 and 1."""

    def make_policy(self) -> Policy:
        """Return the policy; called at the start of each match, so load a network once (`functools.cache`)."""
        raise NotImplementedError(f"{type(self).__name__} has no make_policy() method: use policy_bot().")

    def start(self) -> None:
        """Get the policy and the encoding."""
        self._encoding = encoding_of(self.game, self.players, self.encoding_name, self.scaled)
        self._masks = Masks(len(self.game.actions))
        self._policy = self.make_policy()

    def choose(self, view: View, actions: Sequence[Action]) -> Action:
        """Return what the policy chooses."""
        mask = self._masks.encode(tuple(actions))
        answer = self._policy(self._encoding.array(view), mask)
        if getattr(answer, "shape", None) in ((), (1,)) or isinstance(answer, int):
            code = int(answer)
            chosen = next((action for action in actions if action.code == code), None)
            if chosen is None:
                raise IllegalAction(f"The policy chose action {code}, which is not legal: ask it with the mask.")
            return chosen
        values = answer[0] if getattr(answer, "ndim", 1) == 2 else answer  # a batch of one
        if len(values) != len(mask):
            raise UsageError(f"The policy returned {len(values)} values, and the game has {len(mask)} actions.")
        return max(actions, key=lambda action: float(values[action.code]))


def policy_bot(
    make: Callable[[], Policy],
    *,
    name: str = "",
    games: Sequence[str] = (),
    encoding: EncodingName = "auto",
    scaled: bool = True,
) -> type[PolicyBot]:
    """Return a bot that plays by a policy.

    `make()` is called at the start of each match, where the match is played, and returns the policy; let it load the
    network once (`functools.cache`). Take the same `encoding` and `scaled` as in training.

    Examples:
        >>> from harness import play_match
        >>> from harness.adapters import policy_bot
        >>> def first_action():
        ...     return lambda numbers, mask: mask.argmax()
        >>> Bot = policy_bot(first_action, games=["el-paso"])
        >>> play_match("el-paso", [Bot, "random"], seed=7).bots
        ('first-action', 'random')
    """
    label = name or kebab(getattr(make, "__name__", "policy-bot").replace("_", "-"))
    class_name = "".join(part.capitalize() for part in label.split("-")) or "PolicyBot"
    parts = {
        "name": label,
        "games": tuple(games),
        "encoding_name": encoding,
        "scaled": scaled,
        "make_policy": lambda _self: make(),
        "__doc__": make.__doc__ or "Plays by a policy.",
        "__module__": sys._getframe(1).f_globals["__name__"],  # the file that offers the bot
    }
    return type(class_name, (PolicyBot,), parts)
