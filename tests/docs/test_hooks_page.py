"""docs/hooks.md: its listener hears a run, and the webhook sends what it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import Fault, LeagueChange, LeagueStatus, RunStatus, webhook
from harness.plugins import hooks
from harness.plugins.hooks import ListenerPlugin, Listeners
from harness.webhook import Webhook
from tests.docs.pages import DOCS, blocks
from tests.ratings.simulate import record
from tests.support.hook_server import hook_server
from tests.support.packages import install

PAGE = DOCS / "hooks.md"
RUN = RunStatus(name="night", folder="night", format="swiss", games=("sim",), bots=("a", "b"), matches=3)


def test_the_example_listener_receives_the_events_of_a_run_with_workers(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    for block in blocks(PAGE):
        if block.path:
            (project / block.path).write_text(block.text)
    install(tmp_path / "site", project)
    program = Path(sys.executable).with_name("arena")
    asked = ["--game", "el-paso", "--bot", "outlaw", "--bot", "random", "--deals", "3", "--workers", "2"]
    subprocess.run(
        [program, "tournament", *asked],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    lines = (tmp_path / "winners.txt").read_text().splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"{n} of 6" for n in range(1, 7)]
    assert {line.split()[3] for line in lines} == {f"el-paso-{deal}.1.{turn}" for deal in (1, 2, 3) for turn in (1, 2)}


def fields(value):
    """The keys of an object, and of those in it."""
    return {key: fields(part) for key, part in value.items()} if isinstance(value, dict) else None


@pytest.mark.parametrize("shown", [block.text for block in blocks(PAGE) if block.language == "json"])
def test_its_messages_have_the_fields_that_are_sent(shown):
    example = json.loads(shown)
    with hook_server() as server:
        told = Listeners([ListenerPlugin("webhook", Webhook(server.address, events=[example["event"]]))])
        told.match_finished(RUN, record("ab", (1, 2), faults=(Fault(1, "exception", 4, "oops"),)))
        told.run_finished(RUN)
        told.league_changed(LeagueStatus(name="weekly", folder="weekly"), LeagueChange(what="joined"))
        assert told.close() == []
    [sent] = [json.loads(delivery.body) for delivery in server.deliveries]
    assert fields(sent) == fields(example)


def test_the_page_names_every_hook_event_variable_and_limit():
    page = " ".join(PAGE.read_text(encoding="utf-8").split())  # sentences go over several lines
    assert [name for name in hooks.LISTENING if f"`{name}(" not in page] == []
    assert [name for name in webhook.EVENT_NAMES if f"`{name}`" not in page] == []
    assert [name for name in (webhook.ADDRESS, webhook.SECRET, webhook.EVENTS) if f"| `{name}` |" not in page] == []
    assert f"At most {hooks.MAX_QUEUED:,} matches" in page
    assert f"{hooks.GRACE_S:.0f} seconds to catch up" in page
    assert f"within {webhook.TIMEOUT_S:.0f} seconds" in page
    assert webhook.RETRY_WAITS_S == (0.5, 1.5) and "half a second and a second and a half later" in page
    assert set(map(int, re.findall(r"\b4\d\d\b", page))) == set(webhook.RETRIED_STATUSES)
