"""The webhook posts what happens, gives up what cannot be delivered, and holds no run up."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import socket

import pytest
from msgspec.structs import replace

import harness
from harness import Fault, LeagueChange, LeagueStatus, RunStatus, Table, UsageError
from harness.plugins import hooks as listeners_module
from harness.plugins import registry as plugins
from harness.plugins.hooks import ListenerPlugin, Listeners
from harness.webhook import DEFAULT_EVENTS, EVENT_NAMES, Webhook, _table_lines, chat_text
from tests.ratings.simulate import record
from tests.support.cli import arena
from tests.support.hook_server import CLOSE, HANG, hook_server

KEY = "between us"
SEED = 987654321987654321
RUN = RunStatus(
    name="night", folder="/home/me/results/night", format="swiss", games=("sim",), bots=("a", "b"), matches=3, planned=8
)
FAILED = record("ab", (1, 2), seed=SEED, faults=(Fault(1, "exception", 4, "Traceback\n  x.py\nValueError: oops"),))


def post(address, *, events=EVENT_NAMES, matches=1, **how):
    """Has a webhook hear of a short run; what it says in the end."""
    listeners = Listeners([ListenerPlugin("webhook", Webhook(address, events=events, **how))])
    listeners.run_started(RUN)
    for _ in range(matches):
        listeners.match_finished(RUN, FAILED)
    listeners.run_finished(RUN)
    listeners.league_changed(
        LeagueStatus(name="weekly", folder="/home/me/weekly", bots=("a@1",)), LeagueChange(what="banned", bot="b@2")
    )
    return listeners.close()


def received(server):
    return [json.loads(delivery.body) for delivery in server.deliveries]


def test_every_event_is_sent_as_a_separate_message():
    with hook_server() as server:
        assert post(server.address) == []
    started, match, fault, finished, league = received(server)
    assert [one["event"] for one in received(server)] == [
        "run-started", "match-finished", "fault", "run-finished", "league-changed",
    ]  # fmt: skip
    assert started["run"] == {
        "name": "night", "format": "swiss", "games": ["sim"], "bots": ["a", "b"], "matches": 3, "planned": 8,
        "started": "", "finished": "",
    }  # fmt: skip
    assert (match["match"]["bots"], match["match"]["scores"], match["match"]["ranks"]) == (["a", "b"], [1, 2], [2, 1])
    assert fault["fault"] == {
        "bot": "b", "seat": 1, "kind": "exception", "decision": 4, "phase": "", "said": "ValueError: oops",
        "count": 1,
    }  # fmt: skip
    assert finished["run"] == started["run"]
    assert (league["league"]["name"], league["change"]["what"], league["change"]["bot"]) == ("weekly", "banned", "b@2")
    assert len({one["id"] for one in received(server)}) == 5
    headers = server.deliveries[0].headers
    assert (headers["Content-Type"], headers["X-Arena-Event"]) == ("application/json", "run-started")
    assert "X-Arena-Signature" not in headers


def test_matches_are_posted_only_if_requested():
    with hook_server() as server:
        post(server.address, events=DEFAULT_EVENTS)
    assert "match-finished" not in [one["event"] for one in received(server)]


def test_messages_contain_no_seed_and_no_folder():
    with hook_server() as server:
        post(server.address)
    sent = b"".join(delivery.body for delivery in server.deliveries)
    assert str(SEED).encode() not in sent
    assert b"seed" not in sent and b"actions" not in sent and b"/home/me" not in sent


def test_a_secret_signs_every_message():
    with hook_server() as server:
        post(server.address, secret=KEY)
    for headers, body in server.deliveries:
        expected = hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Arena-Signature"] == f"sha256={expected}"


@pytest.mark.parametrize("first", [500, 503, 429, CLOSE])
def test_a_temporary_failure_is_retried_with_the_same_message_id(first):
    with hook_server(first, first, 200) as server:
        assert post(server.address, waits=(0, 0)) == []
    ids = [one["id"] for one in received(server)]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids)) == 5


@pytest.mark.parametrize("refusal", [403, 404, 302])
def test_a_refused_message_is_not_retried(refusal):
    with hook_server(refusal) as server:
        [problem] = post(server.address)
    assert problem.startswith(
        f"5 of 5 messages could not be delivered to http://127.0.0.1:{server.server_port} (ARENA_"
    )
    assert f"it answered {refusal}" in problem
    assert "s3cret" not in problem
    assert len(server.deliveries) == 5


def test_after_a_failed_message_the_next_ones_are_not_retried_until_one_succeeds():
    with hook_server(500, 500, 500, 500, 200, 500, 200) as server:
        [problem] = post(server.address, waits=(0, 0))
    assert "2 of 5 messages" in problem
    ids = [one["id"] for one in received(server)]
    assert [ids.count(one) for one in dict.fromkeys(ids)] == [3, 1, 1, 2, 1]


def test_a_server_that_is_down_is_reported():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        [problem] = post(f"http://127.0.0.1:{port}/", waits=(0, 0))
    assert "5 of 5 messages could not be delivered" in problem
    assert "refused" in problem


def test_a_server_that_does_not_answer_in_time_is_given_up():
    with hook_server(HANG) as server:
        [problem] = post(server.address, events=("run-started",), timeout=0.05, waits=(0,))
    assert problem.endswith("(ARENA_WEBHOOK): it did not answer in time.")
    assert len(server.deliveries) == 2


@pytest.mark.parametrize("answer", [HANG, 500, 403, CLOSE])
def test_no_run_waits_for_its_webhook(monkeypatch, answer):
    monkeypatch.setattr(listeners_module, "GRACE_S", 0.3)
    with hook_server(answer) as server:
        monkeypatch.setenv("ARENA_WEBHOOK", server.address)
        monkeypatch.setenv("ARENA_WEBHOOK_EVENTS", "run-started match-finished,run-finished")
        run = harness.tournament("el-paso", ["outlaw", "random"], deals=20, seed=SEED, workers=0, quiet=True)
    assert run.complete and len(run) == 40
    [problem] = run.warnings
    assert "webhook" in problem.lower()
    assert str(SEED).encode() not in b"".join(delivery.body for delivery in server.deliveries)


def test_the_command_line_posts_if_the_environment_variable_is_set(monkeypatch):
    with hook_server() as server:
        monkeypatch.setenv("ARENA_WEBHOOK", server.address)
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # not for this machine
        said = arena(
            "tournament", "--game", "el-paso", "--bot", "outlaw", "--bot", "random", "--deals", 1, "--workers", 0,
            "--name", "night",
        )  # fmt: skip
    assert "webhook" not in said.stderr.lower()
    started, finished = received(server)
    assert (started["event"], started["run"]["matches"], started["run"]["planned"]) == ("run-started", 0, 2)
    assert (finished["event"], finished["run"]["matches"], bool(finished["run"]["finished"])) == (
        "run-finished",
        2,
        True,
    )


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"ARENA_WEBHOOK": "ftp://example.org"}, "ARENA_WEBHOOK is not a web address"),
        ({"ARENA_WEBHOOK": "file:///etc/passwd"}, "ARENA_WEBHOOK is not a web address"),
        ({"ARENA_WEBHOOK": "http://"}, "ARENA_WEBHOOK is not a web address"),
        ({"ARENA_WEBHOOK": "http://host:port/"}, "ARENA_WEBHOOK is not a web address"),
        ({"ARENA_WEBHOOK": "http://a b/"}, "ARENA_WEBHOOK is not a web address"),
        ({"ARENA_WEBHOOK": "https://me:pw@example.org/"}, "a name or a password"),
        ({"ARENA_WEBHOOK": "https://example.org", "ARENA_WEBHOOK_EVENTS": "faults"}, "Did you mean 'fault'?"),
    ],
)
def test_an_invalid_webhook_variable_is_reported_and_no_listener_is_added(monkeypatch, variables, said):
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        Webhook.from_environment(variables)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    registry = plugins.load()
    assert registry.listeners == []
    [problem] = registry.problems
    assert said in problem
    assert "pw" not in problem


# Announcements


def test_the_end_of_a_run_says_which_bot_won_with_the_table(monkeypatch):
    with hook_server() as server:
        monkeypatch.setenv("ARENA_WEBHOOK", server.address)
        options = ("--game", "el-paso", "--bot", "random", "--bot", "outlaw", "--players", 2, "--workers", 0)
        arena("tournament", *options, "--format", "knockout", "--name", "cup", "--deals", 3, "--quiet")
    started, *_, finished = received(server)
    assert started["text"] == "cup: 2 bots play el-paso, 6 matches."
    assert finished["text"] == finished["content"]
    first, winner, *table = finished["text"].splitlines()
    assert first == "cup: finished, 6 matches."
    assert winner == "el-paso: outlaw won. Places follow the result of the format, not skill."
    assert (table[0], table[-1]) == ("```", "```")
    assert table[1].split() == ["place", "bot", "skill", "beats", "matches"]
    assert [line.split()[:2] for line in table[2:-1]] == [["1", "outlaw"], ["2", "random"]]
    [standing] = finished["standings"]
    assert (standing["game"], [row["bot"] for row in standing["rows"]]) == ("el-paso", ["outlaw", "random"])


def test_a_league_is_named_and_says_which_bot_leads(monkeypatch):
    arena("league", "init", "autumn", "--game", "el-paso", "--players", 2)
    arena("league", "add", "outlaw", "random", "-L", "autumn")
    with hook_server() as server:
        monkeypatch.setenv("ARENA_WEBHOOK", server.address)
        arena("league", "run", "--matches", 30, "--workers", 0, "--quiet", "-L", "autumn")
    started, finished = (one for one in received(server) if one["event"].startswith("run-"))
    assert started["run"]["name"] == finished["run"]["name"] == "autumn, era 1"
    first, leads, *_ = finished["text"].splitlines()
    assert first == "autumn, era 1: stopped, 30 matches played so far."
    assert "outlaw" in leads and "leads" in leads


def test_bots_that_join_at_once_are_one_message(monkeypatch):
    bots = [f"b{number}=random" for number in range(10)]
    arena("league", "init", "autumn", "--game", "el-paso", "--players", 2)
    with hook_server() as server:
        monkeypatch.setenv("ARENA_WEBHOOK", server.address)
        arena("league", "add", *bots, "-L", "autumn")
        arena("league", "add", "outlaw", "-L", "autumn")
    at_once, single = received(server)
    assert at_once["text"].startswith("autumn: 10 bots joined: b0@")
    assert at_once["text"].endswith(" and 2 more.")
    assert len(at_once["change"]["together"]) == 10
    assert (single["change"]["bot"], single["change"]["together"]) == ("outlaw", ["outlaw@1"])


def test_texts_say_how_many_matches_are_played_and_which_era_begins():
    table = Table("sim", ("place", "bot"), [(1, "a@1"), (None, "b@1")])
    with hook_server() as server:
        listeners = Listeners([ListenerPlugin("webhook", Webhook(server.address))])
        listeners.run_started(replace(RUN, matches=0))
        listeners.run_started(RUN)
        listeners.run_finished(replace(RUN, matches=1, planned=None, tables=(table,)))
        listeners.league_changed(LeagueStatus(name="weekly", folder="weekly", era=2), LeagueChange(what="era"))
        listeners.close()
    begun, continued, stopped, era = (one["text"] for one in received(server))
    assert begun == "night: 2 bots play sim, 8 matches."
    assert continued == "night: continues, 3 of 8 matches played so far."
    assert stopped.splitlines()[0] == "night: stopped, 1 match played so far."
    assert [line.split()[0] for line in stopped.splitlines()[2:-1]] == ["place", "1", "-"]
    assert era == "weekly: era 2 begins."


def test_faults_of_one_bot_are_grouped():
    with hook_server() as server:
        assert post(server.address, events=("fault",), matches=29) == []
    assert [one["fault"]["count"] for one in received(server)] == [1, 10]
    first, tenth = (one["text"] for one in received(server))
    assert first == "night: b failed in sim-1.1.0 (exception): ValueError: oops"
    assert tenth == "night: b has failed 10 times, last in sim-1.1.0 (exception): ValueError: oops"


def test_hostile_names_are_harmless_in_a_chat():
    names = ("@everyone", "<!channel>", "```", "https://evil.example", "a\x1b[31m\u202eb\nc", "<@U123|you>")
    table = Table("sim", ("place", "bot", "skill"), [(1, name, "25.0") for name in names], summary=[f"{names[0]} won."])
    with hook_server() as server:
        listeners = Listeners([ListenerPlugin("webhook", Webhook(server.address))])
        listeners.run_finished(replace(RUN, name="x\n```\n@here", finished="now", tables=(table,)))
        listeners.close()
    [message] = received(server)
    text = message["text"]
    assert message["allowed_mentions"] == {"parse": []}
    assert not re.search(r"@\w|[<>\x1b\u202e]|://", text)
    assert [line for line in text.splitlines() if "`" in line] == ["```", "```"]
    assert len(text.splitlines()) == 2 + 2 + 1 + len(names)


@pytest.mark.parametrize(
    ("name", "markup"),
    [
        ("[click](evil.example)", r"\]\("), ("![](evil.example/a.png)", r"\]\("), ("www.evil.example", r"www\."),
        ("# large", r"^#"), ("-# small", r"^-#"), ("~~~", "~"), ("**bold**", r"\*"), ("||hidden||", r"\|\|"),
    ],
)  # fmt: skip
def test_names_have_no_markup_in_a_chat(name, markup):
    text = chat_text([f"{name}: finished."])
    assert not re.search(markup, text)
    assert re.sub(r"\W", "", text) == re.sub(r"\W", "", f"{name}finished")


def test_a_long_table_is_cut_between_lines_and_its_fence_is_closed():
    table = Table("sim", ("place", "bot"), [(n, f"bot-{n}-{'x' * 150}") for n in range(1, 30)])
    text = chat_text(["head", *_table_lines(table)])
    assert len(text) < 2000
    assert text.splitlines()[-2:] == ["...", "```"]
