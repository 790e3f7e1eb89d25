"""What the tests of the protocol share: the hostile programs, tables with them, and a search for what they left."""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic, sleep

import bots
import engines
from harness.core.records import MatchSpec
from harness.executors.base import Job, Roster
from harness.isolation.entrants import IsolationPolicy, enter_command, isolate_all
from harness.match.faults import Limits
from harness.plugins.entrants import BotRef
from harness.plugins.registry import Registry

HOSTILE = Path(__file__).with_name("hostile")
LIMITS = Limits(move_time=3, margin=0.2)
"""For tables with a program that does not answer: long enough for the others, however busy the machine is."""
PATIENT = Limits(move_time=60)
"""For programs that answer: none of them is late."""
MEMORY = 700
BLAMED = {
    "garbage": "illegal",
    "partial_line": "timeout",
    "endless_line": "illegal",
    "closes_stdout": "crash",
    "closes_stdin": "crash",
    "never_reads": "timeout",
    "never_listens": "illegal",
    "answers_twice": "illegal",
    "answers_late": "timeout",
    "forks_and_exits": "crash",
    "fork_bomb": "timeout",
    "lies_in_hello": "illegal",
    "exits_at_the_end": "crash",
    "json_bomb": "illegal",
    "big_number": "illegal",
    "wrong_message": "illegal",
    "illegal_code": "illegal",
    "eats_memory": "memory",
    "hangs": "timeout",
    "segfaults": "crash",
}
"""Hostile program -> the kind of fault it must be blamed for."""
RUDE = ("leaves_children", "shouts", "sneaks")
"""Programs that break no rule of the game."""

REGISTRY = Registry()
REGISTRY.add(engines, "arena", "1")
REGISTRY.add(bots, "arena", "1")
BUNDLED = sorted(REGISTRY.bots)
GAMES = {name: offer.cls.configure() for name, offer in REGISTRY.games.items()}


def program(name: str, token: str, isolate: str = "on"):
    """The entrant of a hostile program; the token is in its command line."""
    command = f"{sys.executable} -S {HOSTILE / name}.py {token}"
    return enter_command(BotRef(name, command=command), isolate)


def seated(
    entrants, isolate: str = "on", limits: Limits = LIMITS, logs: str = "", memory: int = MEMORY, game: str = "el-paso"
) -> Roster:
    """A table with these entrants, on the terms of isolation; their processes load this game before they play."""
    policy = IsolationPolicy(isolate, limits, memory, logs=logs)
    games = {game: GAMES[game]}  # each game more is 20 ms of every start
    return Roster(GAMES, isolate_all({entrant.name: entrant for entrant in entrants}, policy, games))


def job(number: int, game: str, *names: str) -> Job:
    return Job(MatchSpec(f"m{number}", number, f"s{number}", game, dict(GAMES[game].settings), 100 + number, names))


def left_of(*tokens: str) -> list[str]:
    """The command lines of processes with one of these tokens that do not end: the dying are given time to die."""
    until = monotonic() + 30
    while (found := processes(*tokens)) and monotonic() < until:
        sleep(0.02)
    return found


def processes(*tokens: str) -> list[str]:
    """The command lines of living processes that have one of these tokens in them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if any(token in text for token in tokens):
            found.append(text.replace("\0", " ")[:200])
    return found
