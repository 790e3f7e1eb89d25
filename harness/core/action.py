"""A move of a game: one interned, typed object for each code."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from harness.core.game import Game


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """One move of a game. Interned: there is one object for each code, so `is` and `==` agree.

    Engines subclass it with typed fields (`Play(site, value)`); `kind` groups the actions of one sort.
    """

    kind: ClassVar[str] = ""

    game: Game[Any] = field(repr=False)
    code: int
    text: str

    def __str__(self) -> str:
        return self.text

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, tuple[Game[Any], int]]:
        return _action_of, (self.game, self.code)


def _action_of(game: Game[Any], code: int) -> Action:
    return game.actions[code]


def action_fields(action: Action) -> dict[str, Any]:
    """An action as data: its code, its kind, and the fields that the game gave it, in their order."""
    own = {each.name: getattr(action, each.name) for each in fields(action) if each.name not in _OF_EVERY_ACTION}
    return {"code": action.code, "kind": action.kind, **own}


_OF_EVERY_ACTION = frozenset(Action.__dataclass_fields__)
