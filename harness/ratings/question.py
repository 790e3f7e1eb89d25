"""Is one bot better than another at a game? Who is asked about, at which table, in which way, and for how long."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from harness.core.errors import UsageError
from harness.core.format import GamePlan, Plan
from harness.core.types import Value
from harness.ratings.bounded_luck import STRETCH

Way = Literal["auto", "pairs", "own-deals", "gauntlet", "sets", "sets-own-deals"]
"""How the matches are laid out: see docs/ratings.md. The last two are those of earlier arenas, kept for their runs."""
Unit = Literal["match", "pair", "turns", "set"]
"""What gives one value: a match with a deal of its own, a deal in which the two exchange seats, a deal that each of
them plays in the other's absence, or a whole duplicate set."""
Answer = Literal["better", "worse", "equal", "unknown"]

WAYS: tuple[Way, ...] = get_args(Way)
OFFERED, FORMER = WAYS[:4], WAYS[4:]
MOST_MATCHES = 6000
MARGIN = 0.03


class Question(Struct, frozen=True):
    """Who is compared with whom, at which table."""

    one: str
    other: str
    game: str
    settings: dict[str, Value]
    company: tuple[str, ...] = ()
    """Who else sits at the table."""
    seed: int = 1
    most: int = MOST_MATCHES
    """Matches after which to give up; in the ways of earlier arenas, sets."""
    margin: float = MARGIN
    """A share of finishing ahead this near to one half is no difference worth looking for."""
    way: Way = "auto"
    indifference: float = 0.0
    """If not 0: asks only whether there is a difference of at least this, with bounds for both errors."""
    thorough: bool = False
    """Whether to play on to the last match once the answer is known, for a narrower interval."""
    luck: str = ""
    """The value function by which luck is taken out of results, as its digest; empty if they count as played."""

    @classmethod
    def of(cls, game: GamePlan, plan: Plan) -> Question:
        """What a plan of the format `compare` asks about one of its games."""
        if len(plan.candidates) != 2:
            raise UsageError("A comparison is about two bots; name them with --candidate, once for each.")
        one, other = plan.candidates
        for name in plan.candidates:
            if name not in game.entrants:
                raise UsageError(f"{name} does not play {game.name}, so there is nothing to compare.")
        [way] = [each for each in WAYS if each == plan.settings["way"]]
        return cls(
            one=one,
            other=other,
            game=game.name,
            settings=game.settings,
            company=tuple(name for name in game.entrants if name not in plan.candidates),
            seed=plan.seed,
            most=plan.deals,
            margin=plan.number("margin"),
            way=way,
            indifference=float(plan.settings.get("indifference", 0.0)),  # earlier versions did not have it
            thorough=bool(plan.settings["thorough"]),
            luck=value_functions(plan).get(game.name, ""),
        )

    @property
    def seats(self) -> int:
        """How many sit at the table."""
        return len(self.company) + (1 if self.way == "gauntlet" else 2)

    @property
    def former(self) -> bool:
        """Whether it is asked as earlier arenas did: by whole sets, with their bets."""
        return self.way in FORMER

    @property
    def within(self) -> float:
        """How near to one half the two count as equal."""
        return self.indifference or self.margin

    @property
    def stretch(self) -> float:
        """How much wider values may lie than from losing to winning: 1 if results count as played."""
        return STRETCH if self.luck else 1.0

    def as_share(self, value: float) -> float:
        """A value from 0 to 1 as a share of finishing ahead, which may be less than none or more than all where luck
        was taken out."""
        return 0.5 + (value - 0.5) * STRETCH if self.luck else value

    def size(self, unit: Unit) -> int:
        """Matches of such a unit."""
        if unit == "set" and self.company:
            return 2 * (2 + len(self.company))
        return 1 if unit == "match" else 2


def value_functions(plan: Plan) -> dict[str, str]:
    """Game -> digest of the value function by which a comparison takes luck out; {} if results count as played."""
    listed = [entry.partition(":") for entry in str(plan.settings.get("luck", "")).split()]
    return {game: digest for game, _, digest in listed}
