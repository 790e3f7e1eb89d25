"""Signed runs: what a signature covers, whom it is by, and what it finds."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import harness
from harness.core.files import Folder
from harness.runs.reader import GAMES
from harness.runs.store import digest_of_file
from tests.support.cli import arena
from tests.support.forgery import edit_info, records_of, write_records
from tests.verify.test_verify import FOLDER, NOTING, play, swap_in


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("config").resolve()))
    pytest.importorskip("cryptography")
    return arena("sign", "--new-key").stdout.strip()


def test_a_signature_is_valid_until_a_file_is_changed(key):
    file = Path("config/arena/signing-key.pem")
    assert file.stat().st_mode & 0o777 == 0o600
    assert arena("sign", "--show-key").stdout.strip() == key
    play()
    assert "Unsigned." in arena("verify", "a").stdout
    arena("verify", "a", "--key", key, code=1)
    assert f"signed by {key}" in arena("sign", "a").stdout
    assert f"Signed by {key}, and good." in arena("verify", "a", "--key", key).stdout
    assert harness.open_run("a").signature([key]).state == "good"
    shutil.copytree(FOLDER, "kept")
    for forge in (
        lambda: write_records(FOLDER, [replace(one, time=(0.1, 0.1)) for one in records_of(FOLDER)]),
        lambda: write_records(FOLDER, records_of(FOLDER)[:-1]),
        lambda: edit_info(FOLDER, lambda raw: {**raw, "machine": {"python": "4.0"}}),
        lambda: (FOLDER / "signature.json").write_text(
            (FOLDER / "signature.json").read_text().replace('"signed": "20', '"signed": "19')
        ),
    ):
        forge()
        found = arena("verify", "a", "--json", code=1)
        assert json.loads(found.stdout)[0]["signature"]["state"] == "bad"
        said = arena("verify", "a", code=1).stdout
        assert re.search(rf"Signed by {re.escape(key)}, but BAD: .* not what was signed", said)
        shutil.rmtree(FOLDER)
        shutil.copytree("kept", FOLDER)
    assert harness.open_run("a").sign().key == key


def test_a_signature_by_another_key_is_not_trusted(key):
    play()
    arena("sign", "a")
    other = arena("sign", "--new-key", "--key", "other.pem").stdout.strip()
    said = arena("verify", "a", "--key", other, code=1).stdout
    assert f"Signed by {key}, which is not a key that you trust." in said
    Path("friends").write_text(f"# who may publish\n{other} a friend\n{key} myself\n")
    arena("verify", "a", "--key", "friends")


def test_missing_unsafe_and_invalid_keys_are_refused(key):
    play()
    file = Path("config/arena/signing-key.pem")
    assert "already exists" in arena("sign", "--new-key", code=2).stderr
    file.chmod(0o644)
    assert f"chmod 600 {file.resolve()}" in arena("sign", "a", code=2).stderr
    file.chmod(0o600)
    file.write_text("nothing")
    assert "holds no key that can be used" in arena("sign", "a", code=2).stderr
    file.unlink()
    assert "Make one with: arena sign --new-key" in arena("sign", "a", code=2).stderr
    for bad in ("ed25519:abc", "nowhere", "ed25519:%%"):
        assert "not a public key" in (said := arena("verify", "a", "--key", bad, code=2).stderr) or "nor a file" in said
    assert "Name one run to sign" in arena("sign", code=2).stderr
    edit_info(FOLDER, lambda raw: {**raw, "finished": ""})
    file.unlink(missing_ok=True)
    arena("sign", "--new-key")
    assert "is not complete" in arena("sign", "a", code=2).stderr


def test_without_the_library_signatures_are_unchecked_and_the_install_command_is_printed(key, monkeypatch):
    play()
    arena("sign", "a")
    for module in ("cryptography.exceptions", "cryptography.hazmat.primitives"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "not checked. Signatures need a library" in arena("verify", "a").stdout
    arena("verify", "a", "--key", key, code=1)
    assert "pip install 'arena-harness[sign]'" in arena("sign", "a", code=2).stderr


def test_a_signature_covers_notes_and_changed_notes_are_found(key):
    Path("noting.py").write_text(NOTING)
    play(bots=("noting.py", "skittish"))
    arena("sign", "a")
    arena("verify", "a", "--key", key)
    path = FOLDER / "notes.jsonl"
    noted = path.read_bytes()
    for forged in (noted.replace(b"hm", b"ah"), b"", b'{"id":"el-paso-1.1.1","notes":"forged"}\n'):
        path.write_bytes(forged)
        said = arena("verify", "a", "--key", key, code=1).stdout
        assert "but BAD: 'notes.jsonl' is not what was signed" in said
        assert "notes.jsonl" in arena("verify", "a", code=1).stdout.partition("BAD")[2]
    # somebody who mends the digest in run.json, too
    path.write_bytes(noted.replace(b"hm", b"ah"))
    edit_info(FOLDER, lambda raw: {**raw, "notes": digest_of_file(Folder(FOLDER), path.name)})
    (FOLDER / "signature.json").rename("signature.json")
    assert "all fit. Unsigned." in arena("verify", "a").stdout
    Path("signature.json").rename(FOLDER / "signature.json")
    assert "'run.json', 'notes.jsonl' are not what was signed" in arena("verify", "a", "--key", key, code=1).stdout


def test_a_signature_covers_the_report_and_files_added_later_are_listed(key):
    play()
    report = FOLDER / "report.html"
    arena("report", "a")
    arena("sign", "a")
    arena("verify", "a", "--key", key)
    swap_in("report.html")
    assert "BAD: 'report.html' is not what was signed" in arena("verify", "a", "--key", key, code=1).stdout
    report.unlink()
    assert "BAD: 'report.html' is not what was signed" in arena("verify", "a", "--key", key, code=1).stdout
    arena("sign", "a")
    report.write_text("We won.")
    assert "Not covered by the signature, because it was added later: 'report.html'." in arena("verify", "a").stdout
    arena("verify", "a", "--key", key, code=1)
    signature = json.loads((FOLDER / "signature.json").read_text())
    signature["parts"]["../../secret"] = ""
    (FOLDER / "signature.json").write_text(json.dumps(signature))
    assert "BAD: the run is not what was signed" in arena("verify", "a", code=1).stdout


def test_a_change_to_a_signed_table_is_found(key):
    play()
    arena("sign", "a")
    swap_in("leaderboard.md")
    said = arena("verify", "a", "--key", key, code=1).stdout
    assert "leaderboard.md is not what the records give" in said
    assert "BAD: 'leaderboard.md' is not what was signed" in said
    (FOLDER / "leaderboard.md").unlink()
    assert "BAD: 'leaderboard.md' is not what was signed" in arena("verify", "a", "--key", key, code=1).stdout
    arena("sign", "a")
    (FOLDER / "notes.jsonl").write_text('{"match":"el-paso-1.1.1","notes":[]}\n')  # nobody had noted anything
    assert "BAD: 'notes.jsonl' is not what was signed" in arena("verify", "a", code=1).stdout


@pytest.mark.parametrize(
    "name", ["leaderboard.html", ".hidden", "run.json.part", "report/index.html", "report/logs/x", "lock", "records"]
)
def test_every_file_in_the_folder_is_signed_or_listed_as_not_covered(key, name):
    play()
    arena("sign", "a")
    (FOLDER / "logs").mkdir()
    (FOLDER / "logs" / "bot.log").write_text("hello")
    said = arena("verify", "a", "--key", key).stdout
    assert "  Not covered by signatures: logs/, which is what bots have printed.\n" in said
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("We won.")
    added = repr(name if name != "records" else "./records")
    said = arena("verify", "a", "--key", key, code=1).stdout
    assert f"Not covered by the signature, because it was added later: {added}.\n" in said
    if name == "lock":
        path.write_text("4711")  # left by a killed process
        arena("verify", "a", "--key", key)
        return
    arena("sign", "a")
    arena("verify", "a", "--key", key)
    path.write_text("They won.")
    assert f"BAD: {added} is not what was signed" in arena("verify", "a", "--key", key, code=1).stdout


def test_a_symlink_in_the_folder_is_not_followed(key):
    play()
    arena("sign", "a")
    Path("elsewhere").mkdir()
    (FOLDER / "report").symlink_to(Path("elsewhere").resolve())
    assert "BAD: the run is not what was signed" in arena("verify", "a", "--key", key, code=1).stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")
@pytest.mark.parametrize(("name", "told"), [("leaderboard.md", "it is not a regular file"), ("lock", "but BAD")])
def test_verify_does_not_block_on_a_named_pipe_in_the_folder(key, name, told):
    play()
    arena("sign", "a")
    (FOLDER / name).unlink(missing_ok=True)
    os.mkfifo(FOLDER / name)
    assert told in arena("verify", "a", "--key", key, code=1).stdout


def test_an_incomplete_last_line_is_found_in_a_complete_run(key):
    play()
    arena("sign", "a")
    whole = (FOLDER / GAMES).read_bytes()
    (FOLDER / GAMES).write_bytes(whole + whole.splitlines()[0])
    said = arena("verify", "a", "--key", key, code=1).stdout
    assert f"  {FOLDER / GAMES} has data after its last complete line; the run was complete without it.\n" in said
    assert "BAD: the run is not what was signed" in said
    assert "after its last complete line: delete it" in arena("sign", "a", code=2).stderr
    (FOLDER / "signature.json").unlink()
    arena("verify", "a", code=1)
