"""Plugins come in by entry point or file; a broken one is named and never takes the others down."""

from __future__ import annotations

from types import ModuleType

import pytest

import bots
import engines
from harness import Bot, Option, UsageError, hookimpl
from harness.core.errors import PluginError, UnknownName
from harness.plugins import discovery
from harness.plugins import registry as plugins
from harness.plugins.entrants import unknown_games
from harness.plugins.registry import Registry, filler_bots


class Sprinter(Bot):
    """Runs."""

    options = (Option("stars", 3, "when to run", kind="int", minimum=1, maximum=5), Option("mood", "good", ""))

    def choose(self, view, actions):
        return actions[0]


def plugin(name="stranger", **hooks):
    module = ModuleType(name)
    for hook, result in hooks.items():

        def implementation(result=result):
            if isinstance(result, BaseException):
                raise result
            return result

        implementation.__name__ = hook
        setattr(module, hook, hookimpl(implementation))
    return module


@pytest.fixture
def registry():
    found = Registry()
    found.add(engines, "arena", "1")
    found.add(bots, "arena", "1")
    assert not found.problems
    return found


def test_installed_bots_and_games_are_found():
    registry = plugins.load()
    assert "el-paso" in registry.games
    assert {"random", "skittish", "diehard"} <= set(registry.bots)
    assert registry.problems == []


def test_a_bot_of_a_third_party_plugin_can_be_entered(registry):
    registry.add(plugin(arena_bots=[Sprinter]), "strangers-pack", "2.1")
    [entrant] = registry.entrants(["sprinter"])
    assert (entrant.name, entrant.source, entrant.version) == ("sprinter", "strangers-pack", "2.1")


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (plugin(arena_bots=ValueError("broken hook")), "Plugin bad is skipped: ValueError: broken hook"),
        (plugin(arena_bots=SystemExit(1)), "Plugin bad is skipped: SystemExit"),
        (plugin(arena_bots=[int]), "which is not a subclass of harness.Bot"),
        (plugin(arena_bots=["sprinter"]), "which is not a subclass of harness.Bot"),
        (plugin(arena_bots=[type("Empty", (Bot,), {})]), "bot Empty has no choose() method"),
        (plugin(arena_bots=[type("Odd", (Sprinter,), {"name": "two words"})]), "a name has no spaces"),
        (plugin(arena_bots=[type("Odd", (Sprinter,), {"games": "el-paso"})]), 'write games = ("el-paso",)'),
        (plugin(arena_bots=[type("Random", (Sprinter,), {})]), "bot 'random' is skipped, arena has that name already"),
        (plugin(arena_games=[Sprinter]), "which is not a subclass of harness.Game"),
        (plugin(arena_bots=7), "Plugin bad is skipped: TypeError"),
        (plugin(arena_robots=[Sprinter]), "Plugin bad is skipped: PluginValidationError: unknown hook 'arena_robots'"),
    ],
)  # fmt: skip
def test_a_problem_of_a_plugin_is_reported_and_other_bots_still_work(registry, module, said):
    before = set(registry.bots)
    registry.add(module, "bad", "1")
    [problem] = registry.problems
    assert said in problem
    assert set(registry.bots) == before
    assert registry.entrants(["random"])


def test_a_plugin_with_a_taken_name_keeps_its_other_bots(registry):
    registry.add(plugin(arena_bots=[type("Random", (Sprinter,), {}), Sprinter]), "bad", "1")
    assert "sprinter" in registry.bots
    assert registry.bots["random"].source == "arena"


def test_a_module_that_cannot_be_imported_is_named(monkeypatch):
    class Point:
        name, dist = "bad", None

        def load(self):
            raise SyntaxError("invalid syntax", ("bad.py", 3, 1, "def", 3, 2))

    real = discovery.entry_points
    monkeypatch.setattr(discovery, "entry_points", lambda group: [*real(group=group), Point()])
    registry = plugins.load()
    assert registry.problems == ["Plugin bad cannot be loaded: syntax error in bad.py, line 3: invalid syntax."]
    assert "random" in registry.bots


def test_options_in_a_name_make_another_entrant(registry):
    registry.add(plugin(arena_bots=[Sprinter]), "pack", "1")
    named = [e.name for e in registry.entrants(["sprinter", "sprinter:stars=4,mood=bad", "sprinter:mood=bad,stars=4"])]
    assert named == ["sprinter", "sprinter:stars=4,mood=bad", "sprinter:stars=4,mood=bad"]
    assert registry.entrants(["sprinter:stars=3"])[0].name == "sprinter"  # the default is no other entrant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sprintr", "Unknown bot 'sprintr'. Did you mean 'sprinter'?"),
        ("sprinter:star=2", "Did you mean 'stars'?"),
        ("sprinter:stars", "'stars' is not an option: write NAME:key=value"),
        ("sprinter:stars=9", "a whole number from 1 to 5"),
        ("sprinter:stars=2,stars=3", "set twice"),
        ("no/such/file.py", "There is no file no/such/file.py"),
        ("", "Unknown bot ''"),
    ],
)
def test_wrong_names_are_refused_with_help(registry, text, said):
    registry.add(plugin(arena_bots=[Sprinter]), "pack", "1")
    with pytest.raises(UsageError) as caught:
        registry.entrants([text])
    assert said in str(caught.value)


FILE = """
from harness import Bot, Option

class Alpha(Bot):
    options = (Option("n", 1, "", kind="int"),)
    def choose(self, view, actions):
        return actions[0]

class Beta(Alpha):
    pass
"""


def test_a_file_enters_its_bots_without_any_hook(registry, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    entrants = registry.entrants([str(path)])
    assert [e.name for e in entrants] == ["alpha", "beta"]
    assert entrants[0].spec == f"{path}::alpha"
    assert [e.name for e in registry.entrants([f"{path}::beta:n=2"])] == ["beta:n=2"]
    with pytest.raises(UsageError, match="say which one the options are for"):
        registry.entrants([f"{path}:n=2"])
    with pytest.raises(UnknownName, match="Did you mean 'beta'"):
        registry.entrants([f"{path}::bet"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("def", "syntax error in bot.py, line 1"),
        ("raise SystemExit", "cannot be loaded: SystemExit"),
        ("1 / 0", "ZeroDivisionError: division by zero (bot.py, line 1)"),
        ("x = 1", "defines no bot"),
        (
            FILE.replace("class Beta(Alpha):\n    pass", "class Beta(Alpha):\n    name = 'alpha'"),
            "two bots that are called alpha",
        ),
    ],
)
def test_a_broken_file_is_refused_with_the_place(registry, tmp_path, content, said):
    path = tmp_path / "bot.py"
    path.write_text(content)
    with pytest.raises(PluginError) as caught:
        registry.entrants([str(path)])
    assert said in str(caught.value)


class Asker(Bot):
    """Does what another bot would do."""

    options = (Option("whom", "", "whom to ask", kind="bot"),)

    def choose(self, view, actions):
        return actions[0]


def test_a_bot_that_consults_another_plays_only_games_that_both_play(registry):
    registry.add(plugin(arena_bots=[Asker]), "pack", "2")
    alone, asking = registry.entrants(["asker", "asker:whom=broker"])
    assert alone.plays("el-paso")
    assert alone.plays("gnadenlos")
    assert asking.plays("gnadenlos")
    assert not asking.plays("el-paso")
    assert (alone.version, asking.version) == ("2", "2, broker 1")  # a run is not continued with another adviser
    assert registry.entrants(["ismcts:guide=broker"])[0].version == "1"  # of the same package


def test_only_installed_bots_can_be_consulted(registry, tmp_path):
    registry.add(plugin(arena_bots=[Asker]), "pack", "2")
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    registry.entrants([str(path)])
    for unknown in ("alpha", "brokr"):
        with pytest.raises(UnknownName, match=f"Unknown installed bot in 'asker:whom={unknown}'"):
            registry.entrants([f"asker:whom={unknown}"])


def test_an_installed_bot_is_found_by_its_name():
    assert plugins.bot_named("outlaw").name == "outlaw"
    with pytest.raises(UnknownName, match="Did you mean 'outlaw'"):
        plugins.bot_named("outlow")


def test_filler_bots_are_bots_of_the_game_then_quick_bots_then_slow_bots(registry):
    assert filler_bots(registry, "gnadenlos", 0) == []
    assert filler_bots(registry, "gnadenlos", 2) == ["broker", "debtor"]
    assert filler_bots(registry, "gnadenlos", 3, {"broker", "miser"}) == ["debtor", "random", "learned"]
    registry.add(plugin(arena_bots=[Sprinter]), "pack", "1")
    assert filler_bots(registry, "gnadenlos", 5)[3:] == ["sprinter", "random"]  # random is nobody's first choice


def test_filler_bots_fill_any_table_of_a_game_without_its_own_bots(registry):
    filled = filler_bots(registry, "tarock", 5, {"random-2"})
    assert filled == ["random", "flat-mc", "ismcts", "random-3=random", "random-4=random"]
    registry.bots = {"broker": registry.bots["broker"]}
    with pytest.raises(UsageError, match="No installed bot plays tarock"):
        filler_bots(registry, "tarock", 1)


def test_a_filler_bot_never_comes_from_a_file(registry, tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    registry.entrants([f"{tmp_path / 'mine.py'}::alpha"])
    assert "beta" not in filler_bots(registry, "tarock", 4)


def test_games_that_are_not_installed_are_reported_with_the_closest_name(registry):
    slip = type("Slip", (Sprinter,), {"games": ("el-pasoo", "x-pasch", "chess")})
    assert unknown_games([("slip", slip), ("sprinter", Sprinter)], registry.games) == [
        "slip says that it plays 'el-pasoo', which is not installed. Did you mean 'el-paso'?",
        "slip says that it plays 'chess', which is not installed.",
    ]


def test_an_option_of_an_unknown_kind_is_reported_at_load(registry):
    odd = type("Odd", (Sprinter,), {"options": (Option("weight", 0.5, "", kind="decimal"),)})
    registry.add(plugin(arena_bots=[odd]), "bad", "1")
    [problem] = registry.problems
    assert "option weight is of kind 'decimal'; choose from: text, int, float, bool, file, bot." in problem
    assert "odd" not in registry.bots


def test_a_decimal_option_in_a_name_makes_another_entrant(registry):
    weighed = type("Weighed", (Sprinter,), {"options": (Option("weight", 0.5, "", kind="float"),)})
    registry.add(plugin(arena_bots=[weighed]), "pack", "1")
    [entrant] = registry.entrants(["weighed:weight=0.75"])
    assert (entrant.name, entrant.settings["weight"]) == ("weighed:weight=0.75", 0.75)


class Unspeakable:
    """Raises whatever is done to it."""

    def __repr__(self):
        raise SystemExit("no")

    __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __repr__


@pytest.mark.parametrize(
    "about",
    [
        {"games": 5},
        {"games": None},
        {"games": ("el-paso", 5)},
        {"games": {"el-paso": 1}},
        {"games": Unspeakable()},
        {"name": 5},
        {"name": "x\u202ey"},
        {"name": Unspeakable()},
        {"version": 2},
        {"version": "1\n2"},
        {"version": None},
        {"files": 1},
        {"files": ("../x",)},
        {"files": (b"x",)},
        {"by_default": "no"},
        {"choose": 5},
        {"options": 5},
        {"options": None},
        {"options": {"depth": 3}},
        {"options": ("depth",)},
        {"options": (Option(5, 1, ""),)},
        {"options": (Option("depth", None, ""),)},
        {"options": (Option("depth", 1, None),)},
        {"options": (Option("depth", "deep", "", kind="int"),)},
        {"options": (Option("depth", 9, "", kind="int", maximum=5),)},
        {"options": (Option("depth", 9, "", kind="int", maximum="5"),)},
        {"options": (Option("depth", float("nan"), "", kind="float"),)},
        {"options": (Option("depth", "a", "", choices=5),)},
        {"options": (Option("depth", "a", "", choices=("b", "c")),)},
        {"options": (Option("depth", "a", "", choices=(["a"],)),)},
        {"options": (Option("depth", 1, "", kind=["int"]),)},
        {"options": (Option("depth", 1, ""), Option("depth", 2, ""))},
        {"options": (Unspeakable(),)},
        {"options": Unspeakable()},
    ],
    ids=lambda about: next(iter(about)),
)
def test_an_invalid_attribute_of_a_bot_class_is_reported(registry, about):
    odd = type("Odd", (Sprinter,), about)
    registry.add(plugin(arena_bots=[odd, Sprinter]), "bad", "1")
    [problem] = registry.problems
    assert problem.startswith("Plugin bad: ")
    assert problem.isprintable()
    assert "sprinter" in registry.bots
    assert "odd" not in registry.bots


@pytest.mark.parametrize(
    "about", [{"min_players": "two"}, {"max_players": 0}, {"title": 5}, {"version": 1.0}, {"options": 5}]
)
def test_an_invalid_attribute_of_a_game_class_is_reported(registry, about):
    odd = type("Odd", (registry.games["el-paso"].cls,), {"name": "odd", **about})
    registry.add(plugin(arena_games=[odd]), "bad", "1")
    [problem] = registry.problems
    assert problem.startswith("Plugin bad: game odd")
