"""Arena's games in OpenSpiel, and OpenSpiel's bots in Arena.

Importing this module registers every installed game: `el-paso` as `arena_el_paso`.

    import pyspiel
    import harness.adapters.openspiel

    game = pyspiel.load_game("arena_el_paso", {"players": 3})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from harness.adapters import extra
from harness.adapters.encoding import encoding_of
from harness.adapters.play import REWARDS, played_record, reward_bounds, reward_function
from harness.api.matches import installed_here
from harness.core.action import Action, View
from harness.core.bot import Bot, kebab
from harness.core.errors import ArenaError, UsageError
from harness.core.game import Game, State
from harness.core.records import GameRecord, Value
from harness.core.rng import Chance

with extra("openspiel"):
    import numpy as np
    import pyspiel

DEALS = 1000
"""How many deals there are by default: outcomes of the chance node with which a match begins."""
OWN_PARAMETERS: Mapping[str, Any] = {"players": 0, "deals": DEALS, "reward": "share", "encoding": "auto"}
"""The parameters of every game, before its options."""


class _Held:
    """A state of Arena inside a state of OpenSpiel, which copies its attributes by `deepcopy`."""

    __slots__ = ("state",)

    def __init__(self, state: State[Any] | None) -> None:
        self.state = state

    def __deepcopy__(self, _memo: object) -> _Held:
        return _Held(self.state and self.state.clone())


class ArenaState(pyspiel.State):  # type: ignore[misc]  # types of extras are not read
    """A play of a game: first the deal, then the choices. Those with a single legal action are made at once."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.held = _Held(None)
        self.deal = -1
        """The seed of the match; -1 before the deal, and in an imagined state."""
        self.codes: list[int] = []

    @property
    def arena_game(self) -> ArenaGame:
        """The game with its parameters."""
        return cast("ArenaGame", self.get_game())

    @property
    def arena_state(self) -> State[Any]:
        """The state of Arena."""
        if self.held.state is None:
            raise pyspiel.SpielError("No match was dealt yet: apply an outcome of the chance node.")
        return self.held.state

    def current_player(self) -> Any:
        """Return the seat that has to choose."""
        state = self.held.state
        if state is None:
            return pyspiel.PlayerId.CHANCE
        return state.seat if state.legal else pyspiel.PlayerId.TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        state = self.arena_state
        return sorted([action.code for action in state.legal]) if player == state.seat else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return all deals."""
        deals = self.arena_game.deals
        return [(deal, 1 / deals) for deal in range(deals)]

    def _apply_action(self, code: int) -> None:
        game = self.arena_game
        if self.held.state is None:
            if not 0 <= code < game.deals:
                raise pyspiel.SpielError(f"There is no deal {code}: there are {game.deals}, from 0.")
            self.deal = code
            self.held.state = game.rules.new(game.num_players(), Chance(code))
        else:
            state = self.held.state
            if not any(action.code == code for action in state.legal):
                legal = ", ".join(str(action.code) for action in state.legal)
                raise pyspiel.SpielError(f"Action {code} is not legal now; legal: {legal}.")
            self.codes.append(code)
            state.step(game.rules.actions[code])
        skip_forced(self.held.state)

    def _action_to_string(self, player: int, code: int) -> str:
        return f"deal {code}" if player == pyspiel.PlayerId.CHANCE else str(self.arena_game.rules.actions[code])

    def is_terminal(self) -> bool:
        """Return whether the match is over."""
        return self.held.state is not None and not self.held.state.legal

    def returns(self) -> list[float]:
        """Return the rewards at the end, and zeros before."""
        if not self.is_terminal():
            return [0.0] * self.num_players()
        return [float(each) for each in self.arena_game.reward(self.arena_state.scores())]

    def resample_from_infostate(self, player: int, _sampler: object = None) -> ArenaState:
        """Return a state that the player cannot distinguish from this one, its unknown part dealt again."""
        game = self.arena_game
        if player not in range(game.num_players()):
            raise pyspiel.SpielError(f"There is no player {player}: there are {game.num_players()}, from 0.")
        new: ArenaState = self.clone()
        new.deal = -1
        new.held.state = game.rules.imagine(self.arena_state.view(player), game.next_luck().rng("imagine"))
        return new

    def record(self) -> GameRecord:
        """Return the referee's record of a finished match; an imagined one has none."""
        if self.deal < 0:
            raise UsageError("A state before the deal and an imagined one belong to no deal: they have no record.")
        return played_record(self.arena_game.rules, self.deal, self.num_players(), self.codes)

    def __str__(self) -> str:
        state = self.held.state
        if state is None:
            return "before the deal"
        rules = self.arena_game.rules
        return "\n\n".join(rules.render(state.view(seat)) for seat in range(state.players))


def skip_forced(state: State[Any]) -> None:
    """Make the choices that have a single legal action, as the referee does."""
    while len(state.legal) == 1:
        state.step(state.legal[0])


class Observer:
    """Views as observations: the numbers of the encoding, and the view as JSON, which no other view has."""

    def __init__(self, game: ArenaGame, params: Mapping[str, Any] | None) -> None:
        if params:
            raise ValueError(f"These observers take no parameters, not {dict(params)}.")
        self.encoding = game.encoding
        self.tensor = np.zeros(self.encoding.size, np.float32)
        self.dict = {name: self.tensor[part] for name, part in self.encoding.slices.items()}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Take the numbers of a player's view; zeros before the deal."""
        if state.held.state is None:
            self.tensor.fill(0)
        else:
            self.tensor[:] = self.encoding.array(state.held.state.view(player))

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return a player's view as JSON; "" before the deal."""
        if state.held.state is None:
            return ""
        return state.arena_game.rules.view_to_json(state.held.state.view(player)).decode()


class ArenaGame(pyspiel.Game):  # type: ignore[misc]  # types of extras are not read
    """A game of Arena with its parameters: `players`, `deals`, `reward`, `encoding`, and the options of the game."""

    rules_class: type[Game[Any]]
    game_type: Any

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = {**OWN_PARAMETERS, **(params or {})}
        options = {name: value for name, value in given.items() if name not in OWN_PARAMETERS}
        cls = self.rules_class
        players = int(given["players"]) or cls.min_players
        if players not in range(cls.min_players, cls.max_players + 1):
            raise pyspiel.SpielError(f"{cls.title} is for {cls.min_players} to {cls.max_players} players.")
        try:
            self.rules: Game[Any] = cls.configure(options)
            self.reward = reward_function(given["reward"])
            self.encoding = encoding_of(self.rules, players, given["encoding"], scaled=True)
            low, high = reward_bounds(self.rules, players, given["reward"])
        except ArenaError as error:
            raise pyspiel.SpielError(str(error)) from error
        self.deals = int(given["deals"])
        if self.deals < 1:
            raise pyspiel.SpielError(f"There must be at least 1 deal, not {self.deals}.")
        self._resampled = 0
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.rules.actions),
            max_chance_outcomes=self.deals,
            num_players=players,
            min_utility=low,
            max_utility=high,
            max_game_length=self.rules.max_decisions(players),
        )
        super().__init__(self.game_type, info, dict(params or {}))

    def new_initial_state(self) -> ArenaState:
        """Return a state before the deal."""
        return ArenaState(self)

    def make_py_observer(self, _iig_type: object = None, params: Mapping[str, Any] | None = None) -> Observer:
        """Return an observer. It shows the view of a player whatever is asked for: a view is what a seat may know."""
        return Observer(self, params)

    def imagined(self, view: View, luck: Chance) -> ArenaState:
        """Return a state that gives this view, its unknown part dealt by `luck`."""
        state = self.new_initial_state()
        state.held.state = self.rules.imagine(view, luck.rng("imagine"))
        return state

    def next_luck(self) -> Chance:
        """Return luck that was not used before in this game."""
        self._resampled += 1
        return Chance(self._resampled)


def register(rules: type[Game[Any]]) -> str:
    """Register a game that is not installed, and return its name in OpenSpiel."""
    short_name = f"arena_{rules.name.replace('-', '_')}"
    if short_name in pyspiel.registered_names():
        return short_name
    kind = pyspiel.GameType(
        short_name=short_name,
        long_name=f"{rules.title} (Arena)",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        # The reward is a parameter, and the type is the same for all of them.
        utility=pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=rules.max_players,
        min_num_players=rules.min_players,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification={
            **OWN_PARAMETERS,
            "players": rules.min_players,
            **{option.name: option.default for option in rules.options},
        },
    )
    pyspiel.register_game(kind, type(short_name, (ArenaGame,), {"rules_class": rules, "game_type": kind}))
    return short_name


def register_installed() -> list[str]:
    """Register every installed game, and return the names in OpenSpiel."""
    return [register(offer.cls) for _, offer in sorted(installed_here().games.items())]


def spiel_bot(
    make: Callable[[Any, int], Any], *, name: str = "", games: Sequence[str] = (), reward: str = "share"
) -> type[Bot]:
    """Return a bot for Arena that asks an OpenSpiel bot.

    `make(game, player)` returns it at the start of each match. It is given states that are imagined from the view, so
    it may read everything in them and still knows no more than the seat; their history is empty.
    """
    if reward not in REWARDS:
        raise UsageError(f"There is no reward {reward!r}. Choose from: {', '.join(REWARDS)}.")

    def start(self: Any) -> None:
        options: dict[str, Value] = {each.name: self.game.settings[each.name] for each in self.game.options}
        parameters = {"players": self.players, "reward": reward, **options}
        self.spiel_game = pyspiel.load_game(register(type(self.game)), parameters)
        self.asked = make(self.spiel_game, self.seat)

    def choose(self: Any, view: View, _actions: Sequence[Action]) -> Action:
        state = self.spiel_game.imagined(view, Chance(self.rng.getrandbits(48)))
        code = int(self.asked.step(state))
        return cast("Action", self.game.actions[code])

    label = name or kebab(getattr(make, "__name__", "spiel-bot").replace("_", "-"))
    parts = {"name": label, "games": tuple(games), "start": start, "choose": choose, "__module__": make.__module__}
    return type("SpielBot", (Bot,), {**parts, "__doc__": make.__doc__})


register_installed()
