"""What is fuzzed: for each format the files of a good example, how a case changes them, and what reads them."""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import msgspec
from click.testing import CliRunner

from bots.random import Random as RandomBot
from engines.el_paso import ElPaso
from engines.gnadenlos import Gnadenlos
from engines.x_pasch import XPasch
from harness import BadComponents, Chance, Game, read_data_file
from harness.browser.entry import Page, call
from harness.cli.main import main
from harness.core.action import parse_toml
from harness.core.bot import NoteBuffer
from harness.core.errors import StoreError, UsageError
from harness.core.options import digest_of
from harness.core.records import with_sum
from harness.core.value_function import Valuer, read_value_function, value_function_of
from harness.isolation import protocol
from harness.isolation.bot_host import _BotServer
from harness.isolation.protocol import Session
from harness.match.faults import BotFault, Limits
from harness.plugins.entrants import BotRef, Entrant
from harness.plugins.registry import load
from harness.serve.live_run import LiveRun, place_of
from tests.fuzz.mutation import damaged, json_text, mutated, toml_text
from tests.support.cli import arena

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Characters that no output may contain: control characters, and those that reorder or hide text."""


IN_PROCESS = ("read", "serve", "page")
"""What is not a command."""


class Format(ABC):
    """One kind of input: files that commands read, or lines."""

    name: ClassVar[str]
    commands: ClassVar[tuple[str, ...]] = ("read",)
    slow_commands: ClassVar[tuple[str, ...]] = ()
    """Commands that draw charts or learn values: run in 1% of the cases, with three times the processor time."""
    other_commands: ClassVar[tuple[str, ...]] = ()
    """Commands that start processes: run only through the command line."""

    def prepare(self) -> None:  # noqa: B027 - lines have no files
        """Make a good example in the current folder."""

    def keep(self) -> None:  # noqa: B027 - most examples are where commands look for them
        """Use the example, a copy of which is in the current folder, as it is."""

    @abstractmethod
    def write(self, rng: Random) -> None:
        """Change the example, a copy of which is in the current folder."""

    def run(self, command: str, rng: Random) -> str:
        """Read the changed files in this process, and return what that came to."""
        result = CliRunner().invoke(main, command.split(), color=True)  # otherwise click removes escapes
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        check_output(result.exit_code, result.output)
        return f"exit code {result.exit_code}"


def check_output(exit_code: int, output: str) -> None:
    """Raise AssertionError for an output that no command may have."""
    assert "Traceback" not in output, output[-3000:]
    assert exit_code in (0, 1, 2), f"exit code {exit_code}"
    raw = RAW.search(output)
    assert not raw, f"the output has raw characters: {output[max(0, raw.start() - 100) : raw.end() + 100]!r}"


def change_lines(path: Path, rng: Random) -> None:
    """Change a few lines of a JSON file; most changes get a checksum that fits."""
    original = path.read_bytes().splitlines(keepends=True)
    lines = list(original)
    for _ in range(1 if rng.random() < 0.8 else 3):
        at = rng.randrange(len(lines))
        match rng.randrange(12):
            case 0:
                lines[at] = damaged(lines[at], rng)
            case 1:
                lines.insert(rng.randrange(len(lines) + 1), lines[at])
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                rng.shuffle(lines)
            case _:
                tree = json.loads(original[at % len(original)])
                tree.pop("sum", None)
                changed = mutated(tree, rng)
                line = json_text(changed)
                lines[at] = (with_sum(line) if isinstance(changed, dict) and changed else line) + b"\n"
    path.write_bytes(b"".join(lines))


# A run


class RunFormat(Format):
    """A run folder with four matches, in half of the cases with a components file."""

    commands: ClassVar[tuple[str, ...]] = (
        "leaderboard run", "leaderboard run --table-format json --wide", "leaderboard run --table-format html",
        "leaderboard run later", "matches run", "matches run --json", "matches run --sort margin --close",
        "matches run --bot random --faults", "replay run 0 --json", "replay run 0 --all --seat 0",
        "replay run el-paso-2.1.1 --all", "serve", "tournament results/run --dry-run",
        "tournament results/run --save b.toml", "verify run", "verify run --json", "page",
        "export run --to csv --out tables", "export run --to csv --table seats --out tables",
    )  # fmt: skip
    slow_commands: ClassVar[tuple[str, ...]] = (
        "report run",
        "publish run --to site",
        "leaderboard run --luck-adjusted",
    )
    other_commands: ClassVar[tuple[str, ...]] = (
        "tournament --resume results/run --workers 0", "tournament --resume results/run --deals 3",
        "verify run --bots", "ask random run 0",
    )  # fmt: skip

    def __init__(self) -> None:
        self.registry = load()
        self.page = Page(self.registry)

    def prepare(self) -> None:
        box = read_data_file("engines.el_paso", "el_paso.toml").replace("rate = 4", "rate = 2")
        Path("box.toml").write_text(box)
        for name, more in {"plain": (), "boxed": ("--option", "components=box.toml"), "later": ()}.items():
            arena("tournament", "--game", "el-paso", "--workers", 0, "--quiet", "--bot", "random", "--bot", "skittish",
                  "--deals", 2, "--name", name, "--seed", len(name), *more)  # fmt: skip

    def keep(self) -> None:
        Path("results/plain").rename("results/run")

    def write(self, rng: Random) -> None:
        run = Path("results", rng.choice(("plain", "boxed"))).rename("results/run")
        self.change(run, rng)

    @abstractmethod
    def change(self, run: Path, rng: Random) -> None:
        """Change a file of the run."""

    def run(self, command: str, rng: Random) -> str:
        if command == "page":
            for line in Path("results/run/games.jsonl").read_bytes().splitlines():
                check_output(0, call(self.page, "verify", json.dumps([line.decode(errors="replace")]), lambda _: None))
            return "checked in the page"
        if command != "serve":
            return super().run(command, rng)
        place = place_of(Path("results/run"))
        assert place is not None
        live = LiveRun(place, self.registry)
        sent = b"".join(live.read_updates().values()) + live.matches(0)
        for match in list(getattr(live, "_ids", ())):
            sent += live.match(match) or b""
        check_output(0, sent.decode())
        return "served"


class RunJson(RunFormat):
    """run.json of a run."""

    name = "run.json"

    def change(self, run: Path, rng: Random) -> None:
        path = run / "run.json"
        text = json_text(mutated(json.loads(path.read_bytes()), rng), indent=2)
        path.write_bytes(damaged(text, rng) if rng.random() < 0.15 else text)


class Records(RunFormat):
    """games.jsonl of a run, mostly with checksums that fit."""

    name = "records"

    def change(self, run: Path, rng: Random) -> None:
        change_lines(run / "games.jsonl", rng)


class Attached(RunFormat):
    """The notes of bots, and the signature of a run."""

    name = "attached"
    commands = (
        "replay run 0 --json", "replay run 0 --all --seat 0", "verify run", "verify run --json", "leaderboard run",
        "serve", "ask skittish run 0 --json", "tournament --resume results/run --workers 0 -q",
    )  # fmt: skip
    slow_commands = ("publish run --to site",)
    other_commands = ("verify run --bots",)

    def prepare(self) -> None:
        arena("sign", "--new-key", "--key", "key.pem")
        arena("tournament", "--game", "el-paso", "--workers", 0, "--quiet", "--bot", "outlaw:explain=yes", "--bot",
              "diehard", "--deals", 1, "--name", "plain", "--seed", 3)  # fmt: skip
        arena("sign", "results/plain", "--key", "key.pem")

    def write(self, rng: Random) -> None:
        run = Path("results/plain").rename("results/run")
        self.change(run, rng)

    def change(self, run: Path, rng: Random) -> None:
        if rng.random() < 0.6:
            change_lines(run / "notes.jsonl", rng)
            return
        path = run / "signature.json"
        text = json_text(mutated(json.loads(path.read_bytes()), rng), indent=2)
        path.write_bytes(damaged(text, rng) if rng.random() < 0.3 else text)


class Saved(RunFormat):
    """The unfinished match of a person."""

    name = "saved"
    commands = ("play --resume run", "verify run", "matches run", "serve")

    def prepare(self) -> None:
        typed = CliRunner().invoke(
            main, ["play", "el-paso", "--bot", "skittish", "--seed", "5", "--name", "plain"], input="1!\n" * 9
        )
        assert Path("results/plain/unfinished.json").exists(), typed.output

    def write(self, rng: Random) -> None:
        self.change(Path("results/plain").rename("results/run"), rng)

    def change(self, run: Path, rng: Random) -> None:
        path = run / "unfinished.json"
        text = json_text(mutated(json.loads(path.read_bytes()), rng), indent=2)
        path.write_bytes(damaged(text, rng) if rng.random() < 0.3 else text)


# A league


class Journal(Format):
    """The journal of a league with entries of every kind, mostly with checksums that fit."""

    name = "journal"
    commands = (
        "league show -L l", "league show -L l --table-format json --wide", "league history outlaw -L l --no-decisions",
        "league history outlaw -L l --no-decisions --json", "league verify -L l", "league verify -L l --every 3",
        "league retire diehard -L l", "league readmit skittish -L l", "league ban diehard -L l",
        "league add random -L l",
    )  # fmt: skip
    slow_commands = ("league publish -L l --to site",)
    other_commands = ("league run -L l --matches 2 --workers 0 --quiet", "league history outlaw -L l")

    def prepare(self) -> None:
        arena("league", "init", "l", "--game", "el-paso", "--seed", 17, "--players", 3)
        arena("league", "add", "outlaw", "diehard", "skittish", "random", "-L", "l")
        arena("league", "run", "--matches", 12, "--workers", 0, "--quiet", "-L", "l")
        arena("league", "retire", "skittish", "-L", "l")
        arena("league", "run", "--matches", 6, "--workers", 0, "--quiet", "-L", "l")
        arena("league", "ban", "random", "-L", "l")
        arena("league", "readmit", "skittish", "-L", "l")

    def write(self, rng: Random) -> None:
        change_lines(Path("l/journal.jsonl"), rng)


# Config files


CONFIG = {
    "games": ["el-paso", "gnadenlos"],
    "deals": 3,
    "seed": 5,
    "players": 3,
    "format": "round-robin",
    "move-time": 2.5,
    "workers": 0,
    "memory": 512,
    "isolate": "auto",
    "name": "event",
    "options": {"edition": "nl"},
    "bots": [
        {"bot": "random"},
        {"name": "late", "bot": "skittish", "team": "red"},
        {"name": "second", "bot": "random"},
        {"bot": "outlaw"},
        {"bot": "broker"},
    ],
}


class Config(Format):
    """A config file of a tournament, and the one of a league."""

    name = "config"
    commands = (
        "tournament event.toml --dry-run", "tournament event.toml --dry-run --workers 0",
        "tournament event.toml --save other.toml", "league show -L l", "league verify -L l",
        "league init m --from event.toml",
    )  # fmt: skip
    other_commands = ("tournament event.toml --deals 1 --quiet", "league run -L l --matches 2 --workers 0 --quiet")

    def prepare(self) -> None:
        Path("event.toml").write_bytes(toml_text(CONFIG))
        arena("tournament", "event.toml", "--dry-run")
        arena("league", "init", "l", "--game", "el-paso", "--seed", 17)
        arena("league", "add", "random", "skittish", "-L", "l")

    def write(self, rng: Random) -> None:
        text = toml_text(mutated(CONFIG, rng))
        text = damaged(text, rng) if rng.random() < 0.2 else text
        Path("event.toml").write_bytes(text)
        Path("l/arena.toml").write_bytes(text)


# Components files


GAMES: dict[str, type[Game[Any]]] = {"el_paso": ElPaso, "gnadenlos": Gnadenlos, "x_pasch": XPasch}
"""Packages of engines, and their games."""


class Components(Format):
    """Components files of the three games; a match is played with every file that is accepted."""

    name = "components"
    other_commands = tuple(
        f"tournament --game {game.name} --option components=box.toml --players 3 --deals 1 --workers 0 --quiet "
        "--bot random --bot a=random --bot b=random"
        for game in GAMES.values()
    )

    def __init__(self) -> None:
        self.boxes = {name: parse_toml(read_data_file(f"engines.{name}", f"{name}.toml")) for name in GAMES}

    def write(self, rng: Random) -> None:
        package = rng.choice(list(GAMES))
        self.game = GAMES[package]
        data = toml_text(mutated(self.boxes[package], rng))
        Path("box.toml").write_bytes(damaged(data, rng) if rng.random() < 0.15 else data)

    def run(self, _command: str, rng: Random) -> str:
        text = Path("box.toml").read_bytes().decode(errors="replace")
        self.game._configured.clear()  # thousands of games would fill the memory
        try:
            game = self.game.configure({"components": digest_of(text)}, {digest_of(text): text})
        except BadComponents as error:
            assert len(str(error)) < 500
            assert not RAW.search(str(error))
            return "refused"
        json.dumps(game.components())
        state = game.new(rng.randint(game.min_players, game.max_players), Chance(rng.getrandbits(48)), [])
        while state.legal:
            state.apply(rng.choice(state.legal))
        for event in state.log or ():
            game.event_text(event)
        for score in state.scores():
            game.score_text(score)
        return "played"


# Value functions


class Values(Format):
    """A value function of `arena learn-values`."""

    name = "values"

    def __init__(self) -> None:
        self.game = ElPaso.configure()
        self.good = json.loads(self.game.value_data())
        self.good["trees"] = self.good["trees"][:3]

    def write(self, rng: Random) -> None:
        text = json_text(mutated(self.good, rng))
        self.text = damaged(text, rng) if rng.random() < 0.15 else text

    def run(self, _command: str, rng: Random) -> str:
        try:
            function = value_function_of(self.game, {"el-paso": read_value_function(self.text, "values.json")})
        except (StoreError, UsageError) as error:
            assert not RAW.search(str(error))
            return "refused"
        function.mismatch(self.game)
        Valuer(function).guess([rng.random() for _ in range(function.features)])
        return "read"


# Lines of the protocol


class Channel:
    """Takes the place of a process: answers with lines that a case has prepared."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines, self.alive = lines, True

    def exchange(self, *_: object, **__: object) -> bytes:
        return self.lines.pop(0)

    def kill(self) -> None:
        self.alive = False

    def dismiss(self, _line: bytes, _grace: float) -> None:
        self.alive = False


class Replies(Format):
    """Lines that a program sends to Arena, alone and as the answers of a session."""

    name = "replies"
    other_commands = tuple(
        "tournament --game el-paso --players 2 --deals 1 --workers 0 --quiet --move-time 0.2 --bot random "
        f"--bot f=cmd:{sys.executable}\\ -S\\ {Path(__file__).parents[1] / 'isolation/fuzzer.py'}\\ {seed}"
        for seed in range(200)
    )

    def __init__(self) -> None:
        self.game = ElPaso.configure()

    def write(self, rng: Random) -> None:
        note = {"win": 0.5, "ideas": ["a", 1, None]}
        replies = [
            protocol.Introduction(1, "n", "v", ("el-paso",)), protocol.Ready(0), protocol.Choice(1, 0, note),
            protocol.Ready(2), protocol.FaultReport(1, "exception", "why", note),
        ]  # fmt: skip
        option = {"name": "level", "default": 1, "help": "how deep", "kind": "int", "minimum": 0, "maximum": 3}
        descriptions = [{"name": "n", "version": "1", "games": ["el-paso"], "options": [option], "doc": "d"}]
        line = json_text(mutated(rng.choice([*map(msgspec.to_builtins, replies), descriptions]), rng))
        self.line = damaged(line, rng) if rng.random() < 0.3 else line

    def run(self, _command: str, rng: Random) -> str:
        outcome = "refused"
        for decode in (protocol.decode_reply, protocol.decode_descriptions):
            try:
                decode(self.line)
                outcome = "read"
            except BotFault:  # the line reports a fault
                outcome = "read"
            except protocol.InvalidMessage as error:
                assert len(str(error)) < 1000
                assert not RAW.search(str(error))
        state = self.game.new(2, Chance(1), [])
        good = [protocol.Introduction(1), protocol.Ready(0), protocol.Choice(1, state.legal[0].code)]
        answers = [protocol.encode(reply) for reply in good]
        answers[rng.randrange(len(answers))] = self.line
        try:
            session = Session(Channel(answers), Limits(), 1.0)  # type: ignore[arg-type]
            session.new_game(self.game, 0, 2, 1, {})
            session.choose(state.view(0), state.legal, 1.0, state.log)
            notes = NoteBuffer()
            notes.add(session.note)
            notes.drain()
        except BotFault as fault:
            assert fault.kind
        return outcome


class Answers:
    """Takes the place of the pipes of a bot's process, and keeps what it sends."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, message: object) -> None:
        self.sent.append(protocol.encode(message))


class Requests(Format):
    """Lines that Arena sends to the process of a Python bot, which answers each or refuses it as no message."""

    name = "requests"

    def __init__(self) -> None:
        self.game = ElPaso.configure()
        self.entrant = Entrant("random", BotRef(), RandomBot, {}, "", "")

    def write(self, rng: Random) -> None:
        state = self.game.new(2, Chance(1), [])
        view = json.loads(self.game.view_to_json(state.view(0)))
        new = {"type": "new-game", "id": 0, "game": "el-paso", "rules": self.game.version, "seat": 0, "players": 2,
               "settings": dict(self.game.settings), "seed": 1, "options": {}, "move_time": 1.0,
               "game_time": None}  # fmt: skip
        choose = {"type": "choose", "id": 1, "legal": [action.code for action in state.legal], "time": 1.0,
                  "view": view, "events": []}  # fmt: skip
        over = {"type": "game-over", "id": 2, "ending": "e", "scores": [1, 2], "ranks": [2, 1], "decisions": [3, 3]}
        lines = [{"type": "hello", "protocol": 1, "arena": "1"}, new, choose, over]
        at = rng.randrange(len(lines))
        lines[at] = mutated(lines[at], rng)
        # Arena names the class of the rules. The bot's process trusts it, so the name is not fuzzed.
        if isinstance(lines[1], dict):
            lines[1]["engine"] = {"cls": protocol.class_path(ElPaso), "files": {}}
        self.lines = [json_text(line) for line in lines]
        if rng.random() < 0.3:
            self.lines[at] = damaged(self.lines[at], rng)

    def run(self, _command: str, rng: Random) -> str:
        answers = Answers()
        server = _BotServer(self.entrant, answers)  # type: ignore[arg-type]
        stdout, stderr = sys.stdout, sys.stderr
        outcome = "answered"
        for line in self.lines:
            try:
                server.handle(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                outcome = "refused"
            finally:
                sys.stdout, sys.stderr = stdout, stderr
        for sent in answers.sent:
            protocol.decode_reply(sent)
        return outcome


FORMATS: dict[str, type[Format]] = {
    kind.name: kind
    for kind in (RunJson, Records, Attached, Saved, Journal, Config, Components, Values, Replies, Requests)
}
