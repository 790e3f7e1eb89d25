"""What commands print fits a terminal of 80 columns, and is not broken inside words."""

from __future__ import annotations

import sys
from io import StringIO

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from harness import doctor
from harness.ask import cost
from harness.cli.main import main
from harness.core.records import MatchSpec
from harness.isolation.doctor import probe
from harness.match.referee import play
from harness.match.replay import narrate_match
from harness.output.tables import fitted
from tests.support.cli import arena
from tests.support.games import REGISTRY, label, variants

LONG = "a-rather-long-name-of-a-bot-2"
BOTS = ("random", f"{LONG}=random", "1=random", "x+y=random", "0.5=random", "seat-1=random")
NAMES = [bot.partition("=")[0] for bot in BOTS]


@pytest.fixture(autouse=True)
def eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def assert_fits(text: str) -> None:
    assert [line for line in text.splitlines() if len(line) > 80] == []
    # A name that is broken inside would leave its end at the beginning of a line.
    assert not [line for line in text.splitlines() if line.strip().startswith(("-name", "name-of", "of-a-bot"))]


def entered(players: int) -> list[str]:
    return [word for bot in BOTS[:players] for word in ("--bot", bot)]


@pytest.mark.parametrize("game", sorted(REGISTRY.games))
def test_commands_about_a_run(game, monkeypatch):
    monkeypatch.setattr(cost, "FIRST_PASS_WORLDS", 2)  # estimates of a cost are checked in tests/ask
    monkeypatch.setattr(cost, "SECOND_PASS_WORLDS", 12)
    players = REGISTRY.game(game).max_players
    table = entered(players)
    run = arena("tournament", "--workers", 0, "--game", game, *table, "--players", players, "--deals", 1, "--name", "a")
    assert_fits(run.stdout + run.stderr)
    assert_fits(arena("matches", "a").stdout)
    assert_fits(arena("replay", "a", f"{game}-1.1.1", "--seat", 0).stdout)
    assert_fits(arena("ask", "random", "a", f"{game}-1.1.1", "--worst").stdout)
    verified = arena("verify", "a")
    assert_fits(verified.stdout + verified.stderr)


@pytest.mark.parametrize("game", sorted(REGISTRY.games))
def test_a_match_with_a_person(game):
    typed = "1!\n" * 8 + "hint\nlog all\n?\nquit\n"
    table = entered(REGISTRY.game(game).max_players)[2:]
    played = CliRunner().invoke(main, ["play", game, *table, "--hint-bot", "random"], input=typed)
    assert "Your match is saved" in played.output
    assert_fits(played.output)


def test_a_comparison():
    said = arena("compare", "outlaw", f"{LONG}=random", "--game", "el-paso", "--workers", 0)
    assert_fits(said.stdout + said.stderr)


@pytest.mark.parametrize("game", variants(), ids=label)
def test_tables_and_sentences_of_a_match(game):
    for players in range(game.min_players, game.max_players + 1):
        spec = MatchSpec.single("a", game.name, game.settings, players, NAMES[:players])
        record = play(spec, game, [REGISTRY.entrant("random")] * players)
        told = "\n".join(narrate_match(game, record, players - 1, width=80))
        assert_fits(fitted(told, sys.stdout))


@pytest.mark.parametrize("command", ["games", "bots", "formats", "league --help", "check --help", "tournament --help"])
def test_lists_of_what_is_installed(command):
    assert_fits(arena(*command.split()).stdout)


@pytest.mark.parametrize("by", doctor.COUNTED)
@pytest.mark.parametrize("through", [(), tuple(f"system-call-{number}" for number in range(9))])
def test_what_the_doctor_says(monkeypatch, by, through):
    found = [replace(each, enforced=not through, through=through, by=by) for each in probe()[:2]]
    monkeypatch.setattr(doctor, "probe", lambda: found)
    said = arena("doctor", code=1 if through else 0).stdout
    assert_fits(said)
    assert ("--isolate=strict refuses" in said) == bool(through)


def test_a_dry_run():
    field = entered(5)
    assert_fits(arena("tournament", "--game", "el-paso", *field, "--players", 5, "--workers", 0, "--dry-run").stdout)


def test_a_command_is_not_broken():
    command = f"arena tournament --resume {'folder/' * 12}"
    said = fitted(f"Not complete. Continue with: {command}", sys.stdout)
    assert said.splitlines() == ["Not complete. Continue with:", f"  {command}"]


def test_text_for_a_pipe_stays_as_it_is(monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert fitted("word " * 50, StringIO()) == "word " * 50
