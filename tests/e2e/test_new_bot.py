"""`arena new-bot` makes something that plays and passes its own tests untouched, in every language and for any game."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.new_bot import LANGUAGES
from harness.executors.serial import SerialExecutor
from harness.isolation.entrants import enter_command
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
    with SerialExecutor(seated([bot, *others], "off", PATIENT, memory=2000), PATIENT) as executor:
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
    from harness.cli.new_bot import make
    from harness.plugins.registry import Registration, load
    from tests.bots.nim import Nim

    registry = load()
    registry.games[Nim.name] = Registration(Nim, "here", "")
    paths = make(registry, "nimble", Nim.name, "python", Path())
    text = next(path for path in paths if path.name == "nimble_bot.py").read_text()
    assert f'games = ("{Nim.name}",)' in text
    namespace: dict[str, object] = {"__name__": "nimble_bot"}
    exec(compile(text, "nimble_bot.py", "exec"), namespace)  # noqa: S102 - what we have just written

    from harness.conformance.bot_check import check_bot

    for lang in ("node", "c"):
        program = make(registry, f"nimble-{lang}", Nim.name, lang, Path())
        assert any('{"code":0,"kind":""}' in path.read_text() for path in program)  # what its actions look like

    check_bot(namespace["Nimble"], [Nim.configure()]).demand()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["Sprinter!"], "A bot cannot be called 'Sprinter!': use small letters, digits and hyphens"),
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


def test_templates_are_part_of_an_installed_arena(tmp_path):
    source, target = tmp_path / "source", tmp_path / "site"
    for part in ("harness", "engines", "bots"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, source)
    install(target, source)
    ours = {
        path.relative_to(ROOT) for path in (ROOT / "harness" / "plugins" / "templates").rglob("*") if path.is_file()
    }
    theirs = {
        path.relative_to(target) for path in (target / "harness" / "plugins" / "templates").rglob("*") if path.is_file()
    }
    assert theirs == ours
    assert {path.parts[3] for path in ours} == set(LANGUAGES)
