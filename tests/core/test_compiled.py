"""The compiled form: which modules, from what, and what must be the same in both forms."""

from __future__ import annotations

import ast
import copy
import importlib
import json
import os
import pickle
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from bots.flat_mc import FlatMc
from bots.outlaw import Outlaw
from bots.search.judge import Judge
from harness import Bot, Chance, Game, State, play_match
from harness.conformance.information import fingerprint
from harness.core import compiled as forms
from harness.plugins.bot_files import digest_of_files, is_compiled_twin
from harness.plugins.registry import load
from tests.support.cli import arena

HERE = Path(__file__).parents[2]
SPOILED = {"ABC", "Struct", "dataclass", "NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag"}
SUFFIX = EXTENSION_SUFFIXES[0]


@pytest.mark.skipif("ARENA_COMPILED" not in os.environ, reason="only where ARENA_COMPILED says that it was compiled")
def test_compiled_modules_are_loaded_in_compiled_form():
    assert forms.build_form() == "compiled"
    for module in forms.hot_modules():
        loaded = importlib.import_module(module.removesuffix(".py").replace("/", "."))
        assert loaded.__file__.endswith(SUFFIX), module


def test_hot_modules_exist_and_have_no_class_that_the_compiler_would_break():
    for module in forms.hot_modules():
        for node in ast.walk(ast.parse((forms.ROOT / module).read_text())):
            if isinstance(node, ast.ClassDef):
                named = {
                    ast.unparse(each).partition("(")[0].rpartition(".")[2]
                    for each in (*node.bases, *node.decorator_list)
                }
                assert not named & SPOILED, f"{module}: {node.name}"


def tree(root: Path) -> Path:
    """A tree in which everything was compiled just now."""
    for module in forms.hot_modules():
        file = root / module
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"name = {module!r}")
        file.with_name(file.stem + SUFFIX).touch()
    (root / forms.MANIFEST).write_text(json.dumps(forms.source_digests(root)))
    return root


def test_a_source_that_changed_after_compiling_is_found(tmp_path):
    root = tree(tmp_path)
    assert forms.compiled_modules(root) == list(forms.hot_modules())
    assert forms.stale_modules(root) == []
    (root / "harness/core/game.py").write_text("name = 'another'")
    assert forms.stale_modules(root) == ["harness/core/game.py"]
    (root / f"harness/core/game{SUFFIX}").unlink()  # the others still reach it, in the library
    assert forms.stale_modules(root) == ["harness/core/game.py"]


@pytest.mark.parametrize("note", [None, "", "{", "[]"], ids=["none", "empty", "torn", "other"])
def test_without_a_valid_manifest_all_compiled_modules_are_stale(tmp_path, note):
    root = tree(tmp_path)
    if note is None:
        (root / forms.MANIFEST).unlink()
    else:
        (root / forms.MANIFEST).write_text(note)
    assert forms.stale_modules(root) == list(forms.hot_modules())


def test_where_nothing_is_compiled_nothing_is_stale(tmp_path):
    assert forms.compiled_modules(tmp_path) == forms.stale_modules(tmp_path) == []
    assert forms.library_path(tmp_path) is None


def test_doctor_names_a_module_that_was_compiled_from_another_source(monkeypatch):
    monkeypatch.setattr("harness.doctor.stale_modules", lambda: ["harness/core/game.py"])
    told = arena("doctor", code=1)
    assert "harness/core/game.py was compiled from another source" in told.stdout


def test_version_prints_whether_the_build_is_compiled():
    assert forms.build_form() in arena("--version").stdout


def test_a_compiled_copy_of_a_source_file_is_recognized(tmp_path):
    source, twin, alone = tmp_path / "fox.py", tmp_path / f"fox{SUFFIX}", tmp_path / f"wolf{SUFFIX}"
    for file in (source, twin, alone):
        file.touch()
    other = tmp_path / "fox.cpython-399-x86_64-linux-gnu.so"  # of another Python
    assert [is_compiled_twin(file) for file in (source, twin, other, alone)] == [False, True, True, False]


def test_the_digest_of_a_bot_is_that_of_its_sources():
    outlaw = load().entrants(["outlaw"])[0]
    folder = forms.ROOT / "bots"
    sources = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.endswith(tuple(EXTENSION_SUFFIXES))
    }
    assert outlaw.own_digest == digest_of_files(sources)


@pytest.mark.parametrize("name", ["el-paso", "gnadenlos", "x-pasch"])
def test_states_survive_pickles_and_copies_whole(name):
    game = load().game(name).configure()
    state = game.new(3, Chance(5))
    for turn in range(40):
        state.step(state.legal[turn % len(state.legal)])
    whole = fingerprint(state)
    assert all(attribute in whole for attribute in ("hands=", "legal=", "chance="))
    pickled = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own bytes
    for other in (pickled, copy.copy(state), copy.deepcopy(state), state.clone()):
        assert fingerprint(other) == whole


class Wishful(Bot):
    """Asks the game for what it cannot do."""

    def choose(self, view, actions):
        return self.game.imagine(None, self.rng)


class Sly(Bot):
    """Hands an action to a state that is not its own, and takes what comes."""

    def choose(self, view, actions):
        state = self.game.imagine(view, self.rng)
        state.apply(object())
        return actions[0]


@pytest.mark.parametrize("bot", [Wishful, Sly])
def test_faults_name_only_lines_of_the_bot_and_none_of_compiled_modules(bot):
    """Records must be the same in both forms, and a compiled line has no traceback of its own."""
    record = play_match("el-paso", [bot, "random"], seed=1).record
    (fault,) = record.faults
    lines = fault.detail.splitlines()
    assert lines[0].startswith("test_compiled.py:")
    assert "in choose" in lines[0]
    assert not [line for line in lines if line.startswith(("imagine.py", "game.py", "referee.py"))]


MATCHES = 60


def digests(matches: int, form: str = "") -> tuple[str, str]:
    """What is printed of so many matches of each game and variant, and the form that played them."""
    command = [sys.executable, "-m", "tests.support.same_records", str(matches), *form.split()]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.strip()


@pytest.mark.skipif(forms.build_form() == "pure Python", reason="nothing is compiled here")
@pytest.mark.parametrize("matches", [MATCHES, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_compiled_and_the_pure_build_play_identical_matches(matches):
    compiled, form = digests(matches)
    pure, other = digests(matches, "pure")
    assert (form, other) == ("form compiled", "form pure")
    assert len(compiled.splitlines()) >= 6
    assert compiled == pure


class MyOutlaw(Outlaw):
    """A student's bot: an expert with one idea of its own."""

    def choose(self, view, actions):
        return actions[0] if view.phase == "draw" else super().choose(view, actions)


class MySearch(FlatMc):
    """A search that plays for something else."""

    def start(self):
        super().start()
        self.judge = Modest()


class Modest(Judge):
    """Is content with anything."""

    def rewards(self, state):
        return [0.0] * state.players


@pytest.mark.parametrize("bot", [MyOutlaw, MySearch])
def test_compiled_bots_can_be_subclassed_in_python(bot):
    settings = {option.name: option.default for option in bot.options}
    if settings:
        settings |= {"iterations": 3, "depth": 2}
    game = load().game("el-paso").configure()
    state = game.new(2, Chance(3))
    seats = [bot().seated(game, seat, 2, 5, settings) for seat in (0, 1)]
    for seat in seats:
        seat.start()
    for _ in range(40):
        legal = state.legal
        state.apply(seats[state.seat].choose(state.view(state.seat), legal) if len(legal) > 1 else legal[0])


@pytest.mark.parametrize("name", ["el-paso", "gnadenlos", "x-pasch"])
def test_compiled_games_and_states_can_be_subclassed_in_python(name):
    game = load().game(name)

    class Mine(game):
        """The same, by another name."""

    state = Mine.configure().new(3, Chance(1))
    mine = type("MyState", (type(state),), {"__slots__": ("more",)})(state.rules, 3, Chance(1)).set_up()
    mine.more = 7
    for turn in range(30):
        mine.step(mine.legal[turn % len(mine.legal)])
        state.step(state.legal[turn % len(state.legal)])
    assert mine.clone().scores() == state.scores()
    assert copy.copy(mine).more == 7


class Twisted(State):
    """Keeps what it keeps in its own way."""

    __slots__ = ("__secret", "friend")

    def __init__(self):
        self.__secret = 3
        self.friend = [self]

    def secret(self):
        return self.__secret

    def step(self, action):
        """Nothing happens."""

    def clone(self):
        return self

    def view(self, seat):
        return None

    def scores(self):
        return ()


def test_a_game_is_an_instance_of_its_own_class_only():
    # Compiled subclasses of ABC share one cache: the first answer for a game's type would be that for all classes.
    one, other = (play_match(name, ("random",) * 3, seed=0).game for name in ("el-paso", "gnadenlos"))
    assert not isinstance(one, type(other))
    assert isinstance(one, Game)
    assert not isinstance(other, State)


def test_copies_keep_private_slots_and_circles():
    state = copy.deepcopy(Twisted())
    assert state.secret() == 3
    assert state.friend[0] is state


def raises(_bot, _view, _actions):
    return 1 / 0


def answers_nothing(_bot, _view, _actions):
    return None


def asks_for_nonsense(bot, _view, _actions):
    return bot.game.imagine(None, bot.rng)


def plays_nonsense(bot, view, _actions):
    return bot.game.imagine(view, bot.rng).apply(None)


def says_too_little(bot, _view, _actions):
    return bot.game.new()


def draws_nonsense(_bot, _view, _actions):
    return Chance("x")


WAYS = [raises, answers_nothing, asks_for_nonsense, plays_nonsense, says_too_little, draws_nonsense]


@pytest.mark.parametrize("game", ["el-paso", "gnadenlos", "x-pasch"])
@pytest.mark.parametrize("way", WAYS)
def test_a_failing_bot_is_blamed_the_same_way_in_both_builds(game, way):
    """At the same decision for the same reason; the words of a TypeError are Python's or the compiler's."""
    bot = type("Failing", (Bot,), {"choose": way})
    record = play_match(game, [bot, "random", "random"], seed=2).record
    (fault,) = record.faults
    assert (fault.seat, fault.kind) == (0, "illegal" if way is answers_nothing else "exception")
    assert fault.decision == 0
    assert record.ranks[0] == 3
