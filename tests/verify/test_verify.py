"""Records cannot be bent unseen: by a slip, by somebody who mends every checksum, or by somebody without the key."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import harness
from harness.core.errors import StoreError
from harness.core.records import Fault, with_sum
from harness.executors.base import Job
from harness.executors.serial import SerialExecutor
from harness.match.referee import ranks_with_faults
from harness.plugins.registry import load
from harness.runs.reader import GAMES, SUM_SIZE, RecordLine
from harness.runs.resume import restore
from harness.runs.runner import Tournament
from harness.runs.setup import configure_run
from harness.runs.store import RUN, RunFolder
from harness.verify.records import check_run
from tests.support.cli import arena
from tests.support.forgery import bent, edit_info, records_of, with_another_ending, write_records

FOLDER = Path("results/a")
MATCHES = 4
CLUMSY = """
from harness import Bot

class Clumsy(Bot):
    def choose(self, view, actions):
        if len(actions) == 2 and self.seat == 0:
            raise ValueError("two is too few")
        return actions[0]
"""
FICKLE = """
import os
from harness import Bot

class Fickle(Bot):
    def choose(self, view, actions):
        return actions[os.urandom(1)[0] % len(actions)]
"""


def play(*more: object, deals: int = 2, bots: tuple[str, ...] = ("outlaw", "skittish")) -> None:
    entered = [part for bot in bots for part in ("--bot", bot)]
    arena("tournament", "--game", "el-paso", *entered, "--deals", deals, "--seed", 5, "--name", "a", "-q",
          "--workers", 0, *more)  # fmt: skip


def asked_again(code: int = 0, *more: object) -> str:
    return arena("verify", "a", "--bots", "--isolate", "off", "--workers", 0, *more, code=code).stdout


def test_an_unchanged_run_passes_even_with_its_bots_in_sandboxes():
    play()
    said = arena("verify", "a", "--bots", "--workers", 1).stdout
    assert f"{MATCHES} records, {MATCHES} played again: all fit. Unsigned." in said
    assert "Not checked without a good signature: deals, limits, times, versions, notes." in said
    assert "whether bots chose these moves" not in said
    assert f"{MATCHES} matches asked again: the bots decide as recorded." in said
    assert harness.open_run("a").verify(bots=True, isolate="off", workers=0).fine


def test_every_changed_byte_is_found_by_resume_and_verify_and_reported_with_its_line():
    play(deals=1)
    path, rng, registry = FOLDER / GAMES, random.Random(1), load()
    whole, run = path.read_bytes(), RunFolder.open(FOLDER)
    setup = restore(run, registry)
    for number in range(300):
        at = rng.randrange(len(whole) - 1)  # without the last end of line, there is a torn line
        bad = bytearray(whole)
        bad[at] = rng.choice([byte for byte in range(256) if byte != whole[at]])
        path.write_bytes(bad)
        line = rf"games\.jsonl, line {whole.count(10, 0, at) + 1}[,:]"
        with pytest.raises(StoreError, match=line):
            Tournament(run, setup).play(SerialExecutor(setup.roster))
        assert path.read_bytes() == bad
        assert any(re.search(line, problem) for problem in check_run(run, registry).problems)
        if not number % 50:
            assert re.search(line, arena("verify", "a", code=1).stdout)
            assert re.search(line, arena("tournament", "--resume", "a", "--workers", 0, code=2).stderr)


def test_two_records_of_one_match_are_asked_about_once(monkeypatch):
    play()
    path = Path("results/a/games.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines]))
    run = SerialExecutor.run
    # As workers do: the jobs are taken before the first match ends.
    monkeypatch.setattr(SerialExecutor, "run", lambda self, jobs: run(self, list(jobs)))
    assert f"{len(lines)} matches asked again" in asked_again(1)


def test_a_line_without_a_checksum_is_refused():
    play()
    lines = [msgspec.json.encode(record) + b"\n" for record in records_of(FOLDER)]
    (FOLDER / GAMES).write_bytes(b"".join(lines))
    assert "line 1, has no checksum" in arena("verify", "a", code=1).stdout
    refused = arena("tournament", "--resume", "a", "--workers", 0, code=2).stderr
    assert "line 1, has no checksum" in refused


def test_the_digest_of_a_finished_run_does_not_depend_on_the_order_of_records():
    play()
    assert RunFolder.open(FOLDER).info.records.startswith("sha256:")
    lines = (FOLDER / GAMES).read_bytes().splitlines(keepends=True)
    (FOLDER / GAMES).write_bytes(b"".join(reversed(lines)))
    arena("verify", "a")
    first, *others = records_of(FOLDER)
    write_records(FOLDER, [replace(first, time=(9.0, 9.0)), *others], sealed=False)
    for digest in (RunFolder.open(FOLDER).info.records, ""):  # taking it out hides nothing
        edit_info(FOLDER, lambda raw, digest=digest: {**raw, "records": digest})
        assert "its digest in run.json does not fit" in arena("verify", "a", code=1).stdout
        refused = arena("tournament", "--resume", "a", "--workers", 0, code=2).stderr
        assert "not the records that the run was finished with" in refused


def test_missing_records_and_incomplete_runs_are_reported():
    play()
    records = records_of(FOLDER)
    write_records(FOLDER, records[:-1])
    said = arena("verify", "a", code=1).stdout
    assert "all fit, 1 of the schedule are missing" in said
    assert f"  {records[-1].id} is missing.\n" in said
    edit_info(FOLDER, lambda raw: {**raw, "finished": "", "records": ""})
    assert (
        "The run is not complete. Continue with: arena tournament --resume results/a"
        in arena("verify", "a", code=1).stdout
    )
    arena("tournament", "--resume", "a", "--workers", 0)
    arena("verify", "a")


def test_records_after_a_gap_in_a_swiss_are_not_called_foreign():
    play("--format", "swiss:rounds=3", "--players", 2, bots=("outlaw", "skittish", "random", "diehard"))
    arena("verify", "a")
    write_records(FOLDER, records_of(FOLDER)[1:])
    said = arena("verify", "a", code=1).stdout
    assert "records come after those that are missing" in said
    assert "not what the schedule" not in said


def test_a_move_that_the_bot_did_not_make_is_found():
    play()
    records = records_of(FOLDER)
    game = configure_run(RunFolder.open(FOLDER), load())["el-paso"]
    forged, decision = with_another_ending(game, records[1])
    write_records(FOLDER, [records[0], forged, *records[2:]])
    arena("verify", "a")  # the rules have nothing against it
    said = asked_again(1)
    assert "1 decisions are not the bots'" in said
    assert f"{forged.id}, decision {decision}: the record says that" in said


@pytest.mark.parametrize("kind", ["exception", "illegal", "timeout", "crash"])
def test_a_forged_fault_is_found(kind):
    play()
    records = records_of(FOLDER)
    forged = _with_a_fault(records[0], kind)
    write_records(FOLDER, [forged, *records[1:]])
    arena("verify", "a")
    said = arena("verify", "a", "--bots", "--isolate", "off", "--workers", 1, code=1).stdout
    name = forged.seats[forged.faults[0].seat]
    if kind in ("exception", "illegal"):
        assert f"the record says that {name} failed ({kind}), and asked again it chose" in said
    else:
        assert f"that {name} failed ({kind}) did not come again; not checked." in said


def _with_a_fault(record, kind):
    """The match as if the bot of the first seat had failed at its last decision, with the stand-in's luck."""
    from harness.executors.serial import SerialExecutor
    from harness.runs.resume import restore

    setup = restore(RunFolder.open(FOLDER), load())
    fault = Fault(0, kind, len(record.actions) // 2, "invented")
    [played] = SerialExecutor(setup.roster).run([Job(record.spec, (fault,))])
    assert played.record.faults[0].kind == kind
    return played.record


def test_moves_after_a_fault_must_be_those_of_the_stand_in():
    Path("clumsy.py").write_text(CLUMSY)
    play(bots=("clumsy.py", "random"))
    records = records_of(FOLDER)
    at = next(number for number, record in enumerate(records) if record.faults)
    arena("verify", "a")
    asked_again()
    fault = replace(records[at].faults[0], decision=0)
    write_records(FOLDER, [*records[:at], replace(records[at], faults=(fault,)), *records[at + 1 :]])
    assert "the stand-in of clumsy plays" in arena("verify", "a", code=1).stdout


def test_a_removed_fault_is_found():
    Path("clumsy.py").write_text(CLUMSY)
    play(bots=("clumsy.py", "random"))
    records = records_of(FOLDER)
    whole = [replace(one, faults=(), ranks=ranks_with_faults(one.scores, ())) for one in records]
    assert whole != records
    write_records(FOLDER, whole)
    arena("verify", "a")
    assert "and asked again it failed (exception)." in asked_again(1)


def test_swapped_bot_names_are_found():
    play()
    for file in (RUN, GAMES):
        text = (FOLDER / file).read_text()
        swapped = text.replace("outlaw", "?").replace("skittish", "outlaw").replace("?", "skittish")
        (FOLDER / file).write_text(swapped)
    records = [
        msgspec.json.decode(line, type=harness.GameRecord) for line in (FOLDER / GAMES).read_bytes().splitlines()
    ]
    write_records(FOLDER, records)
    arena("verify", "a")
    assert "the record says that skittish chose" in asked_again(1)


def test_a_forged_disqualification_is_found():
    play()
    first, *others = records_of(FOLDER)
    faults = (Fault(0, "disqualified", 0, "disqualified after 1 fault"),)
    write_records(FOLDER, [replace(first, faults=faults, ranks=ranks_with_faults(first.scores, faults)), *others])
    said = arena("verify", "a", code=1).stdout
    assert f"{first.seats[0]} is disqualified in {first.id} with 0 faults in all: no bot is disqualified" in said


def test_nondeterministic_and_missing_bots_are_named():
    Path("fickle.py").write_text(FICKLE)
    play(bots=("fickle.py", "skittish", "random"), deals=1)
    said = asked_again(1)
    assert "fickle is not repeatable: asked twice it decides differently, first in el-paso-1.1." in said
    assert "not everything could be confirmed" in said
    assert "skittish is" not in said
    Path("fickle.py").write_text(FICKLE + "# better now\n")
    assert "fickle could not be asked: the bot fickle is version sha256:" in asked_again(1)
    Path("fickle.py").unlink()
    [found] = json.loads(asked_again(1, "--json"))
    assert set(found["bots"]["unasked"]) == {"fickle"}
    assert found["bots"]["asked"] == 3  # the others were asked
    assert found["bots"]["problems"] == []


def test_bots_are_asked_even_if_another_bot_of_the_match_is_missing():
    Path("fickle.py").write_text(FICKLE)
    play(bots=("fickle.py", "skittish"), deals=1)
    records = records_of(FOLDER)
    game = configure_run(RunFolder.open(FOLDER), load())["el-paso"]
    found = None
    for number, record in enumerate(records):
        forged, decision = with_another_ending(game, record)
        seats = [one.seat for one in harness.open_run("a").replay(record.id).positions() if one.decision == decision]
        if record.seats[seats[0]] == "skittish":
            found = number, forged, decision
    if found is None:
        pytest.skip("the last decision was never skittish's")
    number, forged, decision = found
    write_records(FOLDER, [*records[:number], forged, *records[number + 1 :]])
    Path("fickle.py").unlink()
    assert f"{forged.id}, decision {decision}: the record says that skittish chose" in asked_again(1)


def test_options_for_asking_bots_are_refused_without_the_bots_option():
    play()
    assert "add --bots" in arena("verify", "a", "--workers", 1, code=2).stderr


def test_a_notebook_class_can_be_passed_to_verify():
    class Here(harness.Bot):
        def choose(self, view, actions):
            return actions[-1]

    run = harness.tournament("el-paso", [Here, "random"], deals=1, seed=3, workers=0, name="here", quiet=True)
    assert set(run.verify(bots=True, isolate="off", workers=0).bots.unasked) == {"here"}
    assert run.verify(bots=[Here], isolate="off", workers=0).fine


def test_a_run_with_a_human_needs_only_one_seating_of_each_deal():
    play(bots=("human=random", "skittish"))
    records = records_of(FOLDER)
    write_records(FOLDER, [one for one in records if one.id.endswith(".1")])
    assert "all fit." in arena("verify", "a").stdout


def swap_in(name: str) -> None:
    """Exchanges the two bots in a text of the run."""
    text = (FOLDER / name).read_text()
    (FOLDER / name).write_text(text.replace("outlaw", "?").replace("skittish", "outlaw").replace("?", "skittish"))


@pytest.mark.parametrize("name", ["leaderboard.json", "leaderboard.md", "leaderboard.csv"])
def test_a_table_that_differs_from_the_records_is_found_without_a_key(name):
    play(bots=("outlaw", "skittish"))
    swap_in(name)
    said = arena("verify", "a", code=1).stdout
    assert f"  {FOLDER / name} is not what the records give; 'arena leaderboard' shows that.\n" in said
    assert not harness.open_run("a").verify().fine
    (FOLDER / name).unlink()  # what is derived may be missing
    arena("verify", "a")


def test_a_changed_number_in_a_table_is_found():
    play()
    path = FOLDER / "leaderboard.json"
    board = json.loads(path.read_text())
    skill = board["el-paso"][1]["skill"]
    for better, code in ((skill + 1, 1), (skill + 0.001, 1), (skill, 0)):
        board["el-paso"][1]["skill"] = better
        path.write_text(json.dumps(board, indent=2) + "\n")
        arena("verify", "a", code=code)
    board["el-paso"][1] |= {"skill": skill, "matches": board["el-paso"][1]["matches"] + 1}
    path.write_text(json.dumps(board, indent=2) + "\n")
    arena("verify", "a", code=1)


def test_unknown_and_duplicate_fields_are_found_in_records_and_run_json():
    play(deals=1)
    lines = (FOLDER / GAMES).read_bytes().splitlines(keepends=True)
    for old, new, told in (
        (b'"id":', b'"evil":1,"id":', "has a field 'evil' that no arena writes"),
        (b'"id":', b'"scores":[99,0],"id":', "has the field 'scores' twice"),
    ):
        (FOLDER / GAMES).write_bytes(b"".join([bent(lines[0], old, new), *lines[1:]]))
        edit_info(FOLDER, lambda raw: {**raw, "records": RunFolder.open(FOLDER).digest()})
        assert f"  {FOLDER / GAMES}, line 1, {told}.\n" in arena("verify", "a", code=1).stdout
    (FOLDER / GAMES).write_bytes(b"".join(lines))
    edit_info(FOLDER, lambda raw: {**raw, "records": RunFolder.open(FOLDER).digest()})
    arena("verify", "a")
    whole = (FOLDER / RUN).read_bytes()
    for change, told in (
        (lambda raw: {**raw, "evil": 1}, "has a field 'evil'"),
        (lambda raw: {**raw, "plan": {**raw["plan"], "evil": 1}}, "has a field 'plan.evil'"),
        (lambda raw: {**raw, "entrants": [{**one, "evil": 1} for one in raw["entrants"]]}, "'entrants.evil'"),
        (lambda raw: {**raw, "limits": {**raw["limits"], "evil": 1}}, "has a limit 'evil' that no arena writes"),
        (lambda raw: {**raw, "limits": {**raw["limits"], "isolate": "never"}}, "was not written by arena"),
    ):
        edit_info(FOLDER, change)
        assert told in arena("verify", "a", code=1).stdout
        (FOLDER / RUN).write_bytes(whole)
    arena("verify", "a")


def test_uncovered_fields_and_unconfirmed_faults_are_reported():
    play()
    records = records_of(FOLDER)
    forged = []
    for record in records:
        faults = (Fault(0, "timeout", len(record.actions), "late"),)
        forged.append(replace(record, faults=faults, ranks=ranks_with_faults(record.scores, faults)))
    write_records(FOLDER, forged)
    said = arena("verify", "a").stdout
    assert "  Not checked without a good signature: deals, limits, times, versions, notes.\n" in said
    unasked = f"whether bots chose these moves and caused {MATCHES} faults. Use --bots."
    assert f"  Not checked: {unasked}\n" in said
    [found] = json.loads(arena("verify", "a", "--json").stdout)
    assert found["taken_faults"] == MATCHES
    assert found["uncovered"] == ["deals", "limits", "times", "versions", "notes"]
    assert max(map(len, said.splitlines())) <= 80
    asked_again(1)


NOTING = """
from harness import Bot

class Noting(Bot):
    def choose(self, view, actions):
        self.note("hm")
        return actions[0]
"""


def test_notes_of_a_match_that_was_not_played_are_found():
    Path("noting.py").write_text(NOTING)
    play(bots=("noting.py", "skittish"))
    with (FOLDER / "notes.jsonl").open("a") as file:
        file.write('{"match":"el-paso-9.9.9","notes":[]}\n')
    assert "has notes of 'el-paso-9.9.9', which has no record" in arena("verify", "a", code=1).stdout


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"faults": (Fault(0, "timeout", 9999, "late"),)}, "failed (timeout) at decision 9999, and the match has"),
        ({"faults": (Fault(0, "timeout", -1, "late"),)}, "failed (timeout) at decision -1, and the match has"),
        ({"cpu": (0.0, 0.0, 0.0, 0.0, 0.0)}, "does not fit its seats"),
        ({"slowest": (0.0,)}, "does not fit its seats"),
        ({"ranks": (2, 3)}, "does not fit its seats"),
        ({"time": (0.1, -0.1)}, "the record says time (0.1, -0.1), which is not a valid time"),
        ({"cpu": (-0.1, 0.1)}, "the record says cpu (-0.1, 0.1), which is not a valid time"),
    ],
)
def test_impossible_faults_and_times_are_found(change, told):
    play(deals=1)
    first, *others = records_of(FOLDER)
    if "faults" in change:
        change = {**change, "ranks": ranks_with_faults(first.scores, change["faults"])}
    write_records(FOLDER, [replace(first, **change), *others], sealed=False)
    assert told in arena("verify", "a", code=1).stdout
    if "seats" in told:
        assert told in arena("matches", "a", code=2).stderr


def test_the_cpu_time_of_a_dead_process_is_never_negative():
    class Died(harness.Bot):
        _processor_time = -0.028668

        def choose(self, view, actions):
            raise ValueError

    run = harness.tournament("el-paso", [Died, "random"], deals=1, seed=3, workers=0, name="died", quiet=True)
    assert [record.cpu for record in run] == [(0.0, 0.0)] * 2


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("leaderboard.csv", r"\r?\n(?=el-paso)", ","),  # the winner's line is part of the header
        ("leaderboard.csv", ",(?=outlaw)", ",,"),
        ("leaderboard.json", r'("skill": \d+\.\d)\d*', r"\1"),
        ("leaderboard.json", r'("wins": 0)\.\d+', r"\1.9"),
        ("leaderboard.md", r"\|", " "),
    ],
)
def test_tables_are_compared_byte_by_byte(name, old, new):
    play()
    path = FOLDER / name
    text = path.read_bytes().decode()
    bent_text = re.sub(old, new, text, count=1)
    assert bent_text != text
    path.write_bytes(bent_text.encode())
    assert f"{path} is not what the records give; 'arena" in arena("verify", "a", code=1).stdout
    edit_info(FOLDER, lambda raw: {**raw, "arena": "0.0.1"})
    assert "(or arena '0.0.1' wrote it differently from" in arena("verify", "a", code=1).stdout


def test_names_of_installed_bots_given_to_other_bots_are_reported():
    Path("ext.py").write_text(NOTING.replace("Noting", "Ext"))
    play(bots=("ext.py", "skittish"))
    assert "In this run" not in asked_again()
    swap = {"ext": "skittish", "skittish": "ext"}

    def swapped(raw):
        [plan] = raw["plan"]["games"]
        plan["entrants"] = [swap[name] for name in plan["entrants"]]
        for one in raw["entrants"]:
            one["name"] = swap[one["name"]]
            one["spec"] = f"{one['name']}={one['spec']}"
        return raw

    edit_info(FOLDER, swapped)
    write_records(FOLDER, [replace(one, seats=tuple(swap[seat] for seat in one.seats)) for one in records_of(FOLDER)])
    said = asked_again()  # anybody may play these bots under these names
    assert re.search(r"In this run skittish is 'ext.py::ext' \(sha256:\w+\), not the installed bot of that name", said)
    assert re.search(r"In this run ext is 'skittish' \(sha256:\w+\)\.", said)
    edit_info(FOLDER, lambda raw: {**raw, "entrants": [{**one, "source": "elsewhere"} for one in raw["entrants"]]})
    assert "skittish could not be asked: the run says that it is of 'elsewhere'" in asked_again(1)


def test_a_run_folder_may_be_a_link_but_its_files_may_not(tmp_path):
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", 2, "--name", "a")
    (tmp_path / "link").symlink_to(FOLDER.resolve())
    assert "fit" in arena("verify", tmp_path / "link").stdout
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in (RUN, GAMES):
        (linked / name).symlink_to((FOLDER / name).resolve())
    assert f"Cannot read {linked / RUN}: it is a link" in arena("verify", linked, code=2).stderr


@pytest.mark.parametrize("odd", [b"[1.0]", b"[1e0]", b'["1"]', b"[[1]]", b"[null]", b"7", b"[" + b"9" * 5000 + b"]"])
def test_actions_that_are_no_codes_are_found_in_records_that_are_not_replayed(odd):
    play(deals=2)
    lines = (FOLDER / GAMES).read_bytes().splitlines(keepends=True)
    [actions] = re.findall(rb'"actions":(\[[^]]*\])', lines[1])
    (FOLDER / GAMES).write_bytes(b"".join([lines[0], bent(lines[1], actions, odd), *lines[2:]]))
    edit_info(FOLDER, lambda raw: {**raw, "records": RunFolder.open(FOLDER).digest()})
    assert f"  {FOLDER / GAMES}, line 2, is not a record: " in arena("verify", "a", "--sample", 1, code=1).stdout


def test_a_record_without_actions_is_refused_even_if_actions_are_not_read():
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "skittish", "--deals", 2, "--name", "a")
    run = RunFolder.open(FOLDER)
    line = (FOLDER / GAMES).read_bytes().splitlines()[1]
    assert RecordLine(run.folder, 2, 0, line).result().seats
    without = re.sub(rb'"actions":\[[^]]*\],', b"", line)
    with pytest.raises(StoreError, match="line 2, is not a record: it has no actions"):
        RecordLine(run.folder, 2, 0, with_sum(without[:-SUM_SIZE] + b"}")).result()
