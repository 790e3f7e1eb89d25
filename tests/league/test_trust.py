"""Leagues that come from another person: forged records are found by asking the bots, any change by the signature."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import harness
from harness.plugins.registry import load
from harness.runs.setup import configure_run
from harness.runs.store import RunFolder
from tests.league.support import write_bot
from tests.support.cli import arena
from tests.support.forgery import bent, records_of, with_another_ending, write_records

MATCHES = 40
LEAGUE = Path("autumn")
ERA = LEAGUE / "eras" / "1"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A league with 40 matches of three bots, one of which it stores."""
    place = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        arena("league", "init", "autumn", "--game", "el-paso", "--players", 2, "--seed", 3)
        file = write_bot("leaver")
        text = "from pathlib import Path\ntry:\n    Path({!r}).touch()\nexcept OSError:\n    pass\n" + file.read_text()
        file.write_text(text.format(str(place / "touched")).replace("{{", "{"))
        arena("league", "add", "outlaw", "skittish", "leaver.py", "-L", "autumn")
        arena("league", "run", "--matches", MATCHES, "--workers", 0, "--isolate=off", "-L", "autumn")
    return place


@pytest.fixture(autouse=True)
def league(played, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played / "autumn", "autumn")
    return harness.open_league("autumn")


def verified(*args: object, code: int = 0) -> str:
    return arena("league", "verify", "-L", "autumn", *args, code=code).stdout


def forge_last_four() -> list[str]:
    """Replaces the last four records by matches with other legal moves; returns what the bots did not do."""
    records, game = records_of(ERA), configure_run(RunFolder.open(ERA), load())["el-paso"]
    forged = [with_another_ending(game, record) for record in records[-4:]]
    write_records(ERA, [*records[:-4], *(record for record, _ in forged)], sealed=False)
    return [f"{record.id}, decision {decision}: the record says that" for record, decision in forged]


def test_moves_that_the_bots_did_not_make_are_found():
    assert "40 matches asked again: the bots decide as recorded" in verified("--bots", "--isolate=off", "--workers", 0)
    forged = forge_last_four()
    assert "40 replayed: no problems" in (said := verified())  # the rules and the journal have nothing against them
    assert "Not checked: whether bots chose these moves. Use --bots." in said
    said = verified("--bots", "--isolate=off", "--workers", 0, code=1)
    assert "decisions are not the bots'" in said
    assert all(sentence in said for sentence in forged)


def test_stored_bots_are_asked_in_a_sandbox_whatever_the_config_file_says(played, league):
    touched = played / "touched"
    touched.unlink(missing_ok=True)
    settings = LEAGUE / "arena.toml"
    settings.write_text(settings.read_text() + '\nisolate = "auto"\n')
    found = league.verify(every=39, bots=True, workers=0)
    assert found.fine
    assert found.replayed == found.bots[1].asked == 2
    assert not touched.exists()
    league.verify(every=39, bots=True, isolate="off", workers=0)
    assert touched.exists()


def test_a_bot_that_changed_is_not_asked_and_the_others_are():
    [copy] = (LEAGUE / "bots").rglob("leaver.py")
    copy.write_text(copy.read_text() + "\n")
    data = json.loads(verified("--bots", "--isolate=off", "--workers", 0, "--every", 10, "--json", code=1))
    asked = data["bots"]["1"]
    assert not data["fine"]
    assert "were edited" in asked["unasked"]["leaver@1"]
    assert asked["asked"] == 4 and not asked["problems"]


def test_bots_under_other_names_are_listed():
    arena("league", "add", "outlaw", "--as", "dash", "-L", "autumn")
    arena("league", "run", "--matches", 4, "--workers", 0, "--isolate=off", "-L", "autumn")
    said = verified("--bots", "--isolate=off", "--workers", 0, "--every", 40)
    assert "In this run dash@1 is 'outlaw' (sha256:" in said
    assert said.count("In this run") == 1


def test_an_era_is_verified_and_signed_with_its_league():
    said = arena("verify", ERA, "--bots", code=2).stderr
    assert "is an era of a league, which is played, verified and signed as a whole." in said
    assert "Use: arena league verify --league autumn" in said
    assert "Use: arena league sign --league autumn" in arena("sign", ERA, code=2).stderr
    with pytest.raises(harness.UsageError, match="verified and signed as a whole"):
        harness.open_run(ERA).verify()
    assert "add --bots" in arena("league", "verify", "--workers", 2, "-L", "autumn", code=2).stderr


# Signatures


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").resolve()))
    pytest.importorskip("cryptography")
    return arena("sign", "--new-key").stdout.strip()


def edit_journal() -> None:
    path = LEAGUE / "journal.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([bent(first, b'"outlaw"', b'"0utlaw"'), *rest]))


def edit_record() -> None:
    *rest, last = (ERA / "games.jsonl").read_bytes().splitlines(keepends=True)
    (ERA / "games.jsonl").write_bytes(b"".join([*rest, bent(last, b'"time":[', b'"time":[1')]))


def edit_bot() -> None:
    [copy] = (LEAGUE / "bots").rglob("leaver.py")
    copy.write_text(copy.read_text() + "\n")


def test_a_signature_of_a_league_is_valid_until_a_file_is_changed(key, league):
    assert "Unsigned." in (said := verified())
    assert "Not checked without a good signature: deals, limits, times, versions, notes, journal." in said
    verified("--key", key, code=1)
    signed = arena("league", "sign", "-L", "autumn")
    assert signed.stdout == f"autumn: signed by {key}.\n"
    assert f"arena league verify --league autumn --key {key}" in signed.stderr
    assert f"Signed by {key}, and good." in verified("--key", key)
    assert league.signature([key]).state == "good"
    shutil.copytree(LEAGUE, "kept")
    for forge, what in (
        (edit_journal, "journal.jsonl"),
        (edit_record, "eras/1/games.jsonl"),
        (edit_bot, "leaver.py"),
        (lambda: (LEAGUE / "standings.md").write_text("We won."), "standings.md"),
        (lambda: (LEAGUE / "arena.toml").unlink(), "arena.toml"),
    ):
        forge()
        found = harness.open_league("autumn").signature([key])
        assert found.state == "bad"
        assert what in found.why
        shutil.rmtree(LEAGUE)
        shutil.copytree("kept", LEAGUE)
    edit_record()
    assert "BAD: 'eras/1/games.jsonl' is not what was signed" in verified(code=1)  # every checksum fits
    assert json.loads(verified("--json", code=1))["signature"]["state"] == "bad"


def test_a_file_that_was_added_after_the_signature_is_found(key, league):
    league.sign()
    (ERA / "logs").mkdir()
    (ERA / "logs" / "outlaw.log").write_text("not signed")
    assert "Not covered by signatures: eras/1/logs/" in verified("--key", key)
    [stored] = (LEAGUE / "bots").iterdir()
    (stored / "more.py").write_text("")
    assert f"it was added later: 'bots/{stored.name}/more.py'" in verified("--key", key, code=1)


def test_a_league_that_was_continued_is_signed_again(key, league):
    arena("league", "sign", "-L", "autumn")
    arena("league", "run", "--matches", 2, "--workers", 0, "--isolate=off", "-L", "autumn")
    assert "sign it again" in verified("--key", key, code=1)
    assert json.loads(arena("league", "sign", "--json", "-L", "autumn").stdout)["key"] == key
    verified("--key", key)
    other = arena("sign", "--new-key", "--key", "other.pem").stdout.strip()
    assert "which is not a key that you trust" in verified("--key", other, code=1)


def test_a_damaged_league_is_not_signed(key, league):
    edit_bot()
    assert "leaver@1: its files in" in arena("league", "sign", "-L", "autumn", code=2).stderr
    games = ERA / "games.jsonl"
    games.write_bytes(games.read_bytes().replace(b'"time":[', b'"time":[1', 1))
    assert "checksum" in arena("league", "sign", "-L", "autumn", code=2).stderr
