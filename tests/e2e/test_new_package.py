"""`arena new-bot` and `arena new-game` make something that plays and passes its own tests untouched."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import enter_command
from harness.new_package.files import LANGUAGES
from harness.plugins.entrants import BotRef, enter
from tests.docs.fresh import Fresh
from tests.isolation.support import PATIENT, REGISTRY, job, seated
from tests.support.cli import arena
from tests.support.packages import install

ROOT = Path(__file__).parents[2]
PROGRAMS = {"python": (), "node": ("node",), "c": ("make", "cc")}
CASES = [("python", "el-paso"), ("python", "gnadenlos"), ("python", "x-pasch"), ("node", "gnadenlos"), ("c", "x-pasch")]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    fresh = Fresh(tmp_path_factory.mktemp("newcomer"))
    fresh.succeed("pip install pytest")
    return fresh


@pytest.mark.parametrize(("lang", "game"), CASES)
def test_a_new_bot_passes_its_own_tests_unchanged(fresh, lang, game):
    for program in PROGRAMS[lang]:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    name = f"fresh-{lang}-{game}"
    listed = fresh.succeed(f"arena new-bot {name} --game {game} --lang {lang}").split()
    assert all((fresh.folder / path).is_file() for path in listed)
    folder = fresh.folder / name
    assert "1 passed" in fresh.succeed("python -m pytest -q", folder)
    assert "{{" not in "".join(path.read_text() for path in folder.iterdir() if path.suffix in (".py", ".md", ".toml"))


@pytest.mark.parametrize("game", ["el-paso", "gnadenlos", "x-pasch"])
@pytest.mark.parametrize("lang", ["node", "c"])
def test_new_bots_in_node_and_c_play_without_faults_and_better_than_random(lang, game, tmp_path):
    for program in PROGRAMS[lang]:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    arena("new-bot", "fresh", "--game", game, "--lang", lang, "--into", str(tmp_path))
    folder = tmp_path / "fresh"
    if lang == "c":
        command = [shutil.which("make"), "-C", folder, "CFLAGS=-O2 -Wall -Wextra -Werror"]
        subprocess.run(command, check=True, capture_output=True)
    bot = enter_command(
        BotRef("fresh", command=f"node {folder}/fresh.js" if lang == "node" else f"{folder}/fresh"), "off"
    )
    others = [enter(type(name, (REGISTRY.bots["random"].cls,), {}), {}, "", "", "") for name in ("A", "B")]
    names = [bot.name, *(other.name for other in others)]
    jobs = [job(number, game, *names[number % 3 :], *names[: number % 3]) for number in range(6)]
    with SerialExecutor(seated([bot, *others], "off", PATIENT, memory=2000, game=game), PATIENT) as executor:
        records = [record for record, *_ in executor.run(jobs)]
    assert not any(record.faults for record in records)
    assert sum(record.ranks[record.seats.index("fresh")] for record in records) < 10  # 12 at random


def test_the_next_steps_printed_by_new_bot_work(fresh):
    made = fresh.run("arena new-bot sprinter-two --game x-pasch")
    install, play = [line.strip() for line in made.stderr.splitlines() if line.startswith("  ")]
    fresh.succeed(install)
    assert "sprinter-two" in fresh.succeed("arena bots --game x-pasch")
    assert "sprinter-two" in fresh.succeed(f"{play} --deals 1 --strict")


def test_new_python_bots_pass_ruff():  # and typed: tests/architecture/test_quality.py
    games = ("el-paso", "gnadenlos", "x-pasch")
    for game in games:
        arena("new-bot", f"tidy-{game}", "--game", game)
    made = [str(path) for path in Path().glob("tidy-*/*_bot.py") if not path.name.startswith("test_")]
    assert len(made) == len(games)
    for check in ("ruff check --isolated", "ruff format --check --isolated --line-length 120"):
        command = [sys.executable, "-m", *check.split(), *made]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


def test_a_game_without_its_own_template_gets_the_generic_one():
    from harness.new_package.cli import make_bot
    from harness.plugins.registry import Registration, load
    from tests.bots.nim import Nim

    registry = load()
    registry.games[Nim.name] = Registration(Nim, "here", "")
    paths = make_bot(registry, "nimble", Nim.name, "python", Path())
    text = next(path for path in paths if path.name == "nimble_bot.py").read_text()
    assert f'games = ("{Nim.name}",)' in text
    namespace: dict[str, object] = {"__name__": "nimble_bot"}
    exec(compile(text, "nimble_bot.py", "exec"), namespace)  # noqa: S102 - what we have just written

    from harness.conformance.bot_check import check_bot

    for lang in ("node", "c"):
        program = make_bot(registry, f"nimble-{lang}", Nim.name, lang, Path())
        assert any('{"code":0,"kind":""}' in path.read_text() for path in program)  # what its actions look like

    check_bot(namespace["Nimble"], [Nim.configure()]).demand()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["Sprinter!"], "A bot cannot be called 'Sprinter!': use small letters, digits and hyphens"),
        (["a" * 400], "The name of a bot has at most 60 characters"),
        (["random"], "arena-harness has a bot called 'random' already"),
        (["sprinter", "--game", "el-pasta"], "Unknown game 'el-pasta'"),
        (["there"], "there exists already"),
        (["sprinter", "--lang", "cobol"], "'cobol' is not one of"),
    ],
)
def test_new_bot_refuses_invalid_arguments_and_writes_nothing(args, says):
    Path("there").mkdir()
    assert says in arena("new-bot", *args, code=2).stderr
    assert [path.name for path in Path().iterdir()] == ["there"]
    assert not list(Path("there").iterdir())


def test_a_new_bot_keeps_the_name_that_was_typed():
    for name in ("b-x-pasch", "bot-2", "none", "bot", "sprinter"):
        text = {path.name: path for path in make_here("bot", name)}[f"{name.replace('-', '_')}_bot.py"].read_text()
        namespace: dict[str, Any] = {"__name__": "new"}
        exec(compile(text, "new.py", "exec"), namespace)  # noqa: S102 - what we have just written
        assert [bot.name for bot in namespace["arena_bots"]()] == [name]
    assert "name =" not in text  # the class says it already


def make_here(what, name):
    arena(f"new-{what}", name)
    return list(Path(name).iterdir())


@pytest.fixture(scope="module")
def game(fresh):
    made = fresh.run("arena new-game high-card")
    assert all((fresh.folder / path).is_file() for path in made.stdout.split())
    return [line.strip() for line in made.stderr.splitlines() if line.startswith("  ")]


def test_a_new_game_passes_its_own_tests_unchanged(fresh, game):
    assert " passed" in fresh.succeed("python -m pytest -q", fresh.folder / "high-card")


def test_the_next_steps_printed_by_new_game_work(fresh, game):
    install, tournament, play = game
    fresh.succeed(install)
    assert "flat-mc" in fresh.succeed(f"{tournament} --deals 2 --strict --name run")
    assert "all fit" in fresh.succeed("arena verify run")
    assert "Your card:" in fresh.succeed(f"yes '1!' | {play} --bot random --seed 1")


@pytest.mark.parametrize("name", ["high-card", "none", "game", "keep", "b-x-2"])
def test_a_new_game_is_tidy_and_keeps_the_name_that_was_typed(name, monkeypatch):
    paths = {path.name: path for path in make_here("game", name)}
    module = f"{name.replace('-', '_')}_game"
    assert "{{" not in "".join(path.read_text() for path in paths.values())
    monkeypatch.syspath_prepend(Path(name).resolve())
    assert [game.name for game in import_module(module).arena_games()] == [name]
    checks = ["ruff check --isolated --line-length 120"]
    if name == "high-card":  # with a shorter name, some lines could be joined
        checks.append("ruff format --check --isolated --line-length 120")
    for check in checks:
        command = [sys.executable, "-m", *check.split(), f"{name}/{module}.py"]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("High!", "A game cannot be called 'High!': use small letters, digits and hyphens"),
        ("a" * 400, "The name of a game has at most 60 characters"),
        ("A!" * 400, "The name of a game has at most 60 characters"),
        ("el-paso", "arena-harness has a game called 'el-paso' already"),
    ],
)
def test_new_game_refuses_invalid_names_in_one_sentence_and_writes_nothing(name, says):
    said = arena("new-game", name, code=2).stderr
    assert says in said
    assert len(said) < 200
    assert not list(Path().iterdir())


def test_templates_are_part_of_an_installed_arena(tmp_path):
    source, target = tmp_path / "source", tmp_path / "site"
    for part in ("harness", "engines", "bots"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, source)
    install(target, source)
    place = Path("harness", "new_package", "templates")
    ours = {path.relative_to(ROOT) for path in (ROOT / place).rglob("*") if path.is_file()}
    theirs = {path.relative_to(target) for path in (target / place).rglob("*") if path.is_file()}
    assert theirs == ours
    assert {path.parts[3] for path in ours} == {*LANGUAGES, "game"}
