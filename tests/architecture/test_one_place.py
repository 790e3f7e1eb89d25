"""A new executor and a new field on the wire need one place each, as docs/architecture.md says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from msgspec import Raw

import harness
from harness.executors.base import Executor, Played, discard, encode
from harness.isolation import protocol
from harness.match.referee import play
from harness.plugins.features import EXECUTORS
from harness.runs.store import RunFolder

BOTS = ["random", "skittish"]


class PlainExecutor(Executor):
    """Plays one match after the other, with nothing around it."""

    played: list[str] = []  # noqa: RUF012 - for the test

    @classmethod
    def open(cls, roster, _settings, should_stop):
        return cls(roster, should_stop)

    def run(self, jobs, keep=discard):
        for job in jobs:
            record = play(job.spec, self.roster.games[job.spec.game], self.roster.seats(job.spec))
            self.played.append(record.id)
            played = Played(record, encode(record))
            keep([played])
            yield played


def records(results):
    harness.tournament(games=["el-paso"], bots=BOTS, deals=2, seed=1, workers=0, name="run", results=str(results))
    found = [record.without_timing() for record in RunFolder.open(results / "run").records()]
    assert len(found) == 4
    return found


def test_an_executor_is_a_class_and_its_line_in_executors(monkeypatch, tmp_path):
    usual = records(tmp_path / "usual")
    monkeypatch.setitem(EXECUTORS, "serial", f"{__name__}:PlainExecutor")
    assert records(tmp_path / "plain") == usual
    assert sorted(PlainExecutor.played) == sorted(record.id for record in usual)


@pytest.fixture
def changed_protocol(monkeypatch):
    """The protocol with a field more in a request and in a reply, each added in one line of a struct."""
    source = Path(protocol.__file__).read_text(encoding="utf-8")
    for old, new in (
        ("    time: float | None\n    view: Raw\n", "    time: float | None\n    view: Raw\n    hint: str = ''\n"),
        ('    note: Any = None\n    """Notes for', '    sure: float = 0.0\n    note: Any = None\n    """Notes for'),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    module = ModuleType("changed_protocol")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # msgspec looks there for the types of fields
    exec(compile(source, protocol.__file__, "exec"), vars(module))  # noqa: S102 - our own file
    return module


def test_a_field_of_a_request_is_added_in_its_struct(changed_protocol):
    asked = changed_protocol.Choose(id=1, legal=[3, 4], time=None, view=Raw(b"{}"), hint="warm")
    line = changed_protocol.encode(asked)
    assert changed_protocol.decode_request(line).hint == "warm"
    assert protocol.decode_request(line).legal == [3, 4]  # a bot that does not know the field ignores it
    before = protocol.encode(protocol.Choose(id=1, legal=[3, 4], time=None, view=Raw(b"{}")))
    assert changed_protocol.decode_request(before).hint == ""


def test_a_field_of_a_reply_is_added_in_its_struct(changed_protocol):
    line = changed_protocol.encode(changed_protocol.Choice(1, 3, sure=0.5))
    assert changed_protocol.decode_reply(line).sure == 0.5
    assert protocol.decode_reply(line).code == 3
    assert changed_protocol.decode_reply(protocol.encode(protocol.Choice(1, 3))).sure == 0.0


TABLES_AND_JSON = {
    "analysis/cli.py", "cli/leaderboard.py", "cli/tournament.py", "league/cli.py", "cli/matches.py", "cli/replay.py",
}  # fmt: skip
"""Commands that print tables, which contain our colours, or JSON; both are escaped when they are made."""
OWN_TEXTS = {"cli/options.py", "cli/main.py", "completion/__init__.py", "bench/cli.py"}


def test_commands_print_all_other_texts_without_control_characters():
    home = Path(harness.__file__).parent
    printing = [path for path in home.rglob("*.py") if "click.echo(" in path.read_text(encoding="utf-8")]
    assert {path.relative_to(home).as_posix() for path in printing} == TABLES_AND_JSON | OWN_TEXTS
