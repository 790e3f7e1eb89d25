"""The journal: lines stay what they are, and an event is one class."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.errors import StoreError, UsageError
from harness.core.options import BotLimits
from harness.core.plan import GamePlan
from harness.core.records import with_sum
from harness.league.journal import (
    BotBanned,
    BotEvent,
    BotJoined,
    BotReadmitted,
    BotRests,
    BotRetired,
    BotReturns,
    EntriesSeen,
    EraBegun,
    Journal,
    JournalEntry,
    MatchVoided,
    event_types,
    line_of,
)
from harness.league.members import Member, Membership, RosterEpochs

AT = "2026-01-02T03:04:05+00:00"
PLAN = GamePlan(name="el-paso", rules="1", settings={"towns": 3}, players=4, entrants=())
PLAN_TEXT = '[{"name":"el-paso","rules":"1","settings":{"towns":3},"players":4,"entrants":[]}]'
LIMITS_TEXT = (
    '"game_time":0.0,"clock":"fair","memory":4096,"threads":1,"isolate":"auto","keep_processes":false,"ponder":false,'
    '"max_faults":0}'
)
LINES = [
    (
        BotJoined(
            bot="sprinter", version=1, spec="sprinter.py::Sprinter", snapshot="ab12", declared="1.0",
            digest="sha256:0f", games=("el-paso",), files={"sha256:1": "text"}, untrusted="another user owns it",
            team="red", author="Ann",
        ),
        '"what":"joined","bot":"sprinter","version":1,"spec":"sprinter.py::Sprinter","snapshot":"ab12",'
        '"declared":"1.0","digest":"sha256:0f","games":["el-paso"],"files":{"sha256:1":"text"},'
        '"stranger":"another user owns it","team":"red","author":"Ann","sum":"ea20533c"}',
    ),
    (
        BotJoined(bot="outlaw", version=1, spec="outlaw", source="bots 1.0", digest="sha256:0a"),
        '"what":"joined","bot":"outlaw","version":1,"spec":"outlaw","source":"bots 1.0","digest":"sha256:0a",'
        '"sum":"4fe64ad8"}',
    ),
    (
        EraBegun(era=1, plans=(PLAN,), limits=BotLimits(move_time=10.0)),
        f'"what":"era","era":1,"plans":{PLAN_TEXT},"limits":{{"move_time":10.0,{LIMITS_TEXT},"sum":"00d7ca5e"}}',
    ),
    (
        EraBegun(era=2, plans=(PLAN,), limits=BotLimits(move_time=2.0), reason="move time is 2 instead of 10"),
        f'"what":"era","reason":"move time is 2 instead of 10","era":2,"plans":{PLAN_TEXT},'
        f'"limits":{{"move_time":2.0,{LIMITS_TEXT},"sum":"62bc359f"}}',
    ),
    (
        EntriesSeen(era=1, round=1, upto=3, size=4),
        '"what":"seen","era":1,"round":1,"upto":3,"size":4,"sum":"9e57eace"}',
    ),
    (EntriesSeen(era=1, round=2, upto=4), '"what":"seen","era":1,"round":2,"upto":4,"sum":"f0b803ee"}'),
    (
        BotRetired(bot="sprinter", version=2, reason="its author left"),
        '"what":"retired","bot":"sprinter","version":2,"reason":"its author left","sum":"0ea90878"}',
    ),
    (BotRetired(bot="sprinter"), '"what":"retired","bot":"sprinter","sum":"c755ac20"}'),
    (BotBanned(bot="sprinter", reason="peeks"), '"what":"banned","bot":"sprinter","reason":"peeks","sum":"62207796"}'),
    (
        BotReadmitted(bot="sprinter", version=1, reason="appealed"),
        '"what":"readmitted","bot":"sprinter","version":1,"reason":"appealed","sum":"0fdcbd59"}',
    ),
    (
        BotRests(bot="sprinter", version=1, reason="its files are gone"),
        '"what":"rests","bot":"sprinter","version":1,"reason":"its files are gone","sum":"b0dc1850"}',
    ),
    (BotReturns(bot="sprinter", version=1), '"what":"returns","bot":"sprinter","version":1,"sum":"4a9b9e96"}'),
    (
        MatchVoided(era=1, match="el-paso-3.1.1", round=3),
        '"what":"void","era":1,"match":"el-paso-3.1.1","round":3,"sum":"03823919"}',
    ),
]  # fmt: skip
"""One or two of each event, and their lines as the first released journals have them, without number and time."""


class BotRenowned(BotEvent, frozen=True, tag_field="what", tag="renowned"):
    """A made-up event: this class is all that it takes."""

    stars: int = 0
    notice = "is renowned"

    def change_member(self, member: Member) -> None:
        member.reason = f"{self.stars} stars"

    def apply_to_rounds(self, epochs: RosterEpochs) -> None:
        epochs.begin_epoch(self.stars, self.number, 4)


@pytest.fixture
def journal():
    Path("journal.jsonl").touch()
    return Journal(Path())


def write(*lines: bytes) -> Journal:
    Path("journal.jsonl").write_bytes(b"".join(with_sum(line) + b"\n" for line in lines))
    return Journal(Path())


def test_the_journal_line_of_each_event_does_not_change():
    for number, (entry, line) in enumerate(LINES, 1):
        assert with_sum(line_of(entry, number, AT)).decode() == f'{{"number":{number},"at":"{AT}",{line}'


def test_every_event_type_has_an_expected_line_in_this_file():
    assert {type(entry) for entry, _ in LINES} == set(event_types()) - {BotRenowned}
    assert [entry.what for entry, _ in LINES[-4:]] == ["readmitted", "rests", "returns", "void"]


def test_entries_added_to_the_journal_are_read_back_unchanged(journal):
    journal.add_entries(*[entry for entry, _ in LINES])
    again = Journal(Path()).read()
    assert again == journal.entries
    assert [entry.number for entry in again] == list(range(1, len(LINES) + 1))
    assert all(entry.at for entry in again)
    for entry, (given, _) in zip(again, LINES, strict=True):
        assert type(entry) is type(given)
        assert line_of(entry, 1, AT) == line_of(given, 1, AT)


def test_an_event_has_only_the_fields_that_it_needs():
    assert set(MatchVoided.__struct_fields__) == {"number", "at", "era", "match", "round"}
    assert set(BotReturns.__struct_fields__) == {"number", "at", "bot", "version"}
    with pytest.raises(TypeError):
        BotRetired(bot="sprinter", match="el-paso-3.1.1")  # type: ignore[call-arg]


def test_a_new_event_type_needs_only_one_class(journal):
    journal.add_entries(BotJoined(bot="b", version=1), BotRenowned(bot="b", stars=5))
    entries = Journal(Path()).read()
    assert b'"what":"renowned","bot":"b","stars":5' in Path("journal.jsonl").read_bytes()
    assert isinstance(entries[1], BotRenowned)
    assert (entries[1].what, entries[1].notice, entries[1].name) == ("renowned", "is renowned", "b")
    assert Membership.after_entries(entries).members["b@1"].reason == "5 stars"
    epochs = RosterEpochs(1, [PLAN], entries)
    assert (epochs.last.first_round, epochs.upto) == (5, 2)


def test_an_event_of_another_era_does_not_change_the_rounds():
    entries = [EntriesSeen(era=2, round=1, upto=3, size=4), MatchVoided(era=2, match="el-paso-1.1.1", round=1)]
    assert not RosterEpochs(1, [PLAN], entries)
    assert RosterEpochs(1, [PLAN], entries).void_matches == {}
    assert RosterEpochs(2, [PLAN], entries).void_matches == {"el-paso-1.1.1": 1}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"number":1,"at":"now","what":"promoted","bot":"b"}', "Invalid value 'promoted'"),
        (b'{"number":1,"at":"now","bot":"b"}', "missing required field `what`"),
        (b'{"number":1,"at":"now","what":"retired"}', "missing required field `bot`"),
        (b'{"number":1,"at":"now","what":"seen","era":1,"round":"2","upto":3}', "Expected `int`, got `str`"),
        (b'{"number":4,"at":"now","what":"retired","bot":"b"}', "it is numbered 4, so lines were removed or inserted"),
        (b'{"number":1,"at":"now","what":"retired","bot":"\xff"}', "Invalid"),
    ],
)
def test_an_invalid_journal_line_is_refused_with_file_and_line_number(line, why):
    with pytest.raises(StoreError) as caught:
        write(line).read()
    assert str(caught.value).startswith("Invalid journal entry in journal.jsonl, line 1: ")
    assert why in str(caught.value)


def test_a_line_that_was_edited_is_refused():
    write(b'{"number":1,"at":"now","what":"retired","bot":"b"}')
    path = Path("journal.jsonl")
    path.write_bytes(path.read_bytes().replace(b"retired", b"banned"))
    with pytest.raises(StoreError, match="line 1: the line was edited, its checksum does not match"):
        Journal(Path()).read()


def test_an_entry_that_could_not_be_read_again_is_not_written(journal):
    wrong: list[JournalEntry] = [
        BotRetired(bot="b", reason=None),  # type: ignore[arg-type]
        EntriesSeen(era=1, round="2", upto=3),  # type: ignore[arg-type]
        BotJoined(bot="\ud800"),
    ]
    for entry in wrong:
        with pytest.raises(UsageError, match="Invalid journal entry: "):
            journal.add_entries(BotReturns(bot="b"), entry)
    assert Path("journal.jsonl").read_bytes() == b""
