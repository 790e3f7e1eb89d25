"""A league is played in one terminal while bots come and go in another."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from pathlib import Path

import pytest

from harness.league.folder import LeagueFolder
from harness.league.journal import BotJoined, EntriesSeen
from tests.league.support import ARENA, recorded, records, write_bot
from tests.support.cli import arena
from tests.support.waiting import PATIENCE, wait_for

CHANGES = 20


class Terminal:
    """A terminal of 80 columns, and what it has shown."""

    def __init__(self, *command: object) -> None:
        ours, theirs = pty.openpty()
        self._keyboard, self.shown = ours, b""
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            [ARENA, *map(str, command)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
            preexec_fn=lambda: (os.setsid(), os.close(os.open(os.ttyname(0), os.O_RDWR))),
        )  # fmt: skip
        os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._keyboard, 65536)
            except OSError:  # the last one has closed the terminal
                return
            if not data:
                return
            self.shown += data

    def press(self, key: bytes) -> None:
        os.write(self._keyboard, key)

    def end(self) -> int:
        code = self.process.wait(timeout=PATIENCE)
        self._reader.join(PATIENCE)
        os.close(self._keyboard)
        return code


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no terminals here")
def test_bots_join_and_retire_in_one_terminal_while_the_league_runs_in_another():
    folder = Path("autumn")
    arena("league", "init", folder, "--game", "el-paso", "--players", 3)
    arena("league", "add", "outlaw", "diehard", "skittish", "-L", folder)
    terminal = Terminal("league", "run", "--workers", 2, "-L", folder)
    try:
        games = folder / "eras" / "1" / "games.jsonl"
        wait_for(lambda: recorded(folder) or terminal.process.poll() is not None, "the first match")
        expected = []
        for number in range(CHANGES):
            assert terminal.process.poll() is None, terminal.shown.decode()
            if number % 2 == 0:
                arena("league", "add", write_bot(f"b{number}", stars=1 + number % 5), "-L", folder)
                expected.append(f"b{number}@1")
            else:
                arena("league", "retire", f"b{number - 1}" if number % 4 == 1 else "outlaw@1", "-L", folder)
                if number % 4 == 3:
                    arena("league", "readmit", "outlaw@1", "-L", folder)
        last = expected[-1].encode()
        wait_for(lambda: last in games.read_bytes() or terminal.process.poll() is not None, "the last newcomer")
        terminal.press(b"\x03")
        assert terminal.end() == 0, terminal.shown.decode()
    finally:
        terminal.process.kill()
    shown = terminal.shown.decode()
    assert "Traceback" not in shown, shown
    assert "Finishing the current matches" in shown, shown
    assert "b0@1 plays from now on." in shown, shown
    journal = LeagueFolder.open(folder).journal.entries
    told = [entry.name for entry in journal if isinstance(entry, BotJoined)]
    assert told[3:] == expected
    assert sum(entry.what in ("retired", "readmitted") for entry in journal) == CHANGES // 2 + CHANGES // 4
    assert {entry.era for entry in journal if isinstance(entry, EntriesSeen)} == {1}
    seats = {name for record in records(folder).values() for name in record.seats}
    assert expected[-1] in seats
    assert "no problems" in arena("league", "verify", "-L", folder).stdout
