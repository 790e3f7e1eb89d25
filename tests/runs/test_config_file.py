"""Files that ask for a run: what they say, where paths in them lead, and what is written into them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness import BotEntry, RunRequest, UsageError
from harness.executors.base import default_workers
from harness.runs.config_file import config_text

BOT = """import harness
class {name}(harness.Bot):
    def choose(self, view, actions):
        return actions[0]
"""


def event(text: str, path: str = "event.toml") -> RunRequest:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return RunRequest.from_file(path)


@pytest.mark.parametrize(
    "text",
    [
        'bots = ["v1=a.py", "outlaw:x=1"]',
        '[bots]\nv1 = "a.py"\n"outlaw" = {bot = "outlaw", options = {x = 1}}',
        '[[bots]]\nname = "v1"\nbot = "a.py"\n[[bots]]\nbot = "outlaw"\noptions = {x = 1}',
        'bots = [{name = "v1", bot = "a.py"}, "outlaw:x=1"]',
        'bots = [{bot = "v1=a.py"}, {bot = "outlaw", options.x = 1}]',
    ],
)
def test_bots_can_be_written_in_several_ways(text):
    first, second = event(text).bots
    assert first == "v1=a.py"
    assert second.removeprefix("outlaw=") == "outlaw:x=1"


def test_a_bot_has_options_a_team_and_an_author():
    request = event(
        '[[bots]]\nbot = "a.py::sprinter:x=1"\noptions = {careful = true, y = 2.5, z = "q"}\n'
        'team = "Réds"\nauthor = "Ann"\n'
        '[[bots]]\nname = "p"\nbot = "cmd:node bot.js --x=[1]"\nteam = "Blues"\n'
    )
    assert request.bots == (
        BotEntry("a.py::sprinter:x=1,careful=true,y=2.5,z=q", "Réds", "Ann"),
        BotEntry("p=cmd:node bot.js --x=[1]", "Blues"),
    )
    assert event("[bots]\np = {bot = 'cmd:node bot.js', options = {x = 1, y = 'z'}}").bots == (
        "p:x=1,y=z=cmd:node bot.js",
    )


def test_paths_are_relative_to_the_folder_of_the_file():
    for file in ("far/bot.js", "far/start", "far/weights.json", "far/nl", "far/own/deep.py", "far/outlaw/x.py"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    Path("far/list.txt").write_text("one.py\nw=own/two.py:k=1  # said\n@more.txt\n")
    Path("far/more.txt").write_text("outlaw\n")
    request = event(
        """
results = "there"
candidates = ["a.py"]
bots = ["v1=a.py::sprinter:w=weights.json", "b.py", "own/", "own/*.py", "deep/../c.py", "outlaw", "random:edition=nl",
        "p=cmd:node bot.js unknown", "q:k=v=cmd:./start 'weights.json'", "@list.txt", "ismcts:w=weights.json,n=3"]
[options]
edition = "nl"
file = "weights.json"
""",
        "far/event.toml",
    )
    assert request.results == "far/there"
    assert request.candidates == ("far/a.py",)
    assert request.bots == (
        "v1=far/a.py::sprinter:w=far/weights.json",
        "far/b.py",
        "far/own/",
        "far/own/*.py",
        "far/c.py",
        "outlaw",
        "random:edition=nl",
        "p=cmd:node far/bot.js unknown",
        "q:k=v=cmd:far/start far/weights.json",
        "far/one.py",
        "w=far/own/two.py:k=1",
        "outlaw",
        "ismcts:w=far/weights.json,n=3",
    )
    assert request.options == {"edition": "nl", "file": "far/weights.json"}
    os.chdir("far")
    here = RunRequest.from_file("event.toml")
    assert here.bots[:3] == ("v1=a.py::sprinter:w=weights.json", "b.py", "own/")
    assert RunRequest.from_file(Path("event.toml").resolve()).bots == here.bots
    here.save("../elsewhere.toml")
    os.chdir("..")
    assert RunRequest.from_file("elsewhere.toml").bots == request.bots
    assert RunRequest.from_file("elsewhere.toml").options == request.options


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = = 2", "line 1, column 5: this is not TOML: Invalid value."),
        ("deals = 2\n[options\n", "line 2, column 9: this is not TOML"),
        ("deals = 1\n\ndeals = 2", "line 3, column 10: this is not TOML: Cannot overwrite a value."),
        ('name = "a', "line 1, column 10: this is not TOML: Unterminated string."),
        ("\n# x\ndeal = 2", "line 3, column 1: Unknown key 'deal'. Did you mean 'deals'?"),
        ("move_time = 2", "line 1, column 1: Unknown key 'move_time'. Did you mean 'move-time'?"),
        ("\n  file = 2", "line 2, column 3: Unknown key 'file'."),
        ("[bot]\nx = 1", "line 1, column 1: Unknown key 'bot'. Did you mean 'bots'?"),
        ("seed = 1\ndeals = true", "line 2, column 1: The field deals of a run is a whole number, not True."),
        ("seed = 1\nmove-time = 'long'", "line 2, column 1: The field move-time of a run is a number of seconds"),
        ("deals = 0", "line 1, column 1: Deals must be at least 1, not 0."),
        ("memory = -1", "line 1, column 1: Memory must be at least 0, not -1."),
        ("workers = 5000", "line 1, column 1: Workers can be 1024 at most"),
        ("game-time = nan", "line 1, column 1: Game time must be at least 0, not nan."),
        ("name = 2026-01-01", "line 1, column 1: The field name of a run is a string"),
        ("isolate = 'of'", "line 1, column 1: Unknown value of isolate 'of'. Did you mean 'off'?"),
        ("clock = 3", "line 1, column 1: Unknown value of clock '3'."),
        ("games = 'el-paso'", "line 1, column 1: games is a list of names, not 'el-paso'."),
        ("games = [\n'el-paso',\n3]", "line 3, column 1: games is a list of names, and 3 is none."),
        ("options = 3", "line 1, column 1: The field options of a run is a mapping"),
        ("[options]\na = 1\nb = [2]", "line 3, column 1: The option b is a string, a number, true or false, not [2]."),
        ("bots = 3", "line 1, column 1: bots is a list of names, not 3."),
        ("bots = ['a', 3]", "line 1, column 14: A bot is a string, or a table with name, bot, options, team, author"),
        ("[bots]\na = 'b'\nc = 3", "line 3, column 1: A bot is a string"),
        ("[bots]\n'a b' = 'c'", "line 2, column 1: 'a b' cannot be the name of a bot"),
        ("[bots]\na = '@list.txt'", "line 2, column 1: '@list.txt' lists several bots"),
        ("[bots]\na = {bot = 'b', name = 'c'}", "line 2, column 17: The bot is called a already"),
        ("[[bots]]\nbot = 'a'\n[[bots]]\nname = 'b'", "line 3, column 1: The key bot is missing"),
        ("[[bots]]\nbot = 'a'\nteams = 'b'", "line 3, column 1: Unknown key of a bot 'teams'. Did you mean 'team'?"),
        ("[[bots]]\nbot = 'a'\nauthor = 3", "line 3, column 1: The author of a bot is a string, not 3."),
        (
            "[[bots]]\nbot = 'a'\nteam = 'x|y'",
            "line 3, column 1: The team or author of a bot is a string of at most 100",
        ),
        ("[[bots]]\nbot = 'a'\n[bots.options]\nx = []", "line 4, column 1: The option x is a string"),
        ("[[bots]]\nbot = 'a'\noptions = {x = 'a,b'}", "line 3, column 12: The option x cannot be 'a,b'"),
        ("[[bots]]\nbot = 'cmd:a'\noptions = {x = 1}", "line 1, column 1: 'cmd:a' cannot have a table of options"),
        ("seed = 1\nship = true", "line 2, column 1: Packages are shipped"),
        ("cluster = 'local:2'\nworkers = 0", "line 2, column 1: On a cluster the nodes play"),
        ("candidates = 'a'", "line 1, column 1: candidates is a list of names, not 'a'."),
    ],
)
def test_a_mistake_is_reported_with_its_line(text, said):
    with pytest.raises(UsageError) as raised:
        event(text)
    assert str(raised.value).startswith(f"event.toml, {said}"), raised.value
    assert str(raised.value).count(", line ") == 1


def test_unreadable_files_are_reported():
    with pytest.raises(UsageError, match=r"There is no config file away\.toml"):
        RunRequest.from_file("away.toml")
    with pytest.raises(UsageError, match="There is no config file outlaw") as raised:
        RunRequest.from_file("outlaw")
    assert raised.value.fix == "event-file"
    Path("bad.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(UsageError, match=r"Cannot read bad\.toml"):
        RunRequest.from_file("bad.toml")
    with pytest.raises(UsageError, match="too many brackets"):
        event("a = " + "[" * 5000 + "]" * 5000)
    assert event("\ufeffdeals = 3").deals == 3


def test_an_error_in_an_override_is_not_reported_with_a_line_of_the_file():
    Path("event.toml").write_text("seed = 1\nship = true\ncluster = 'local:2'\n")
    with pytest.raises(UsageError, match=r"^On a cluster"):
        RunRequest.from_file("event.toml", workers=0)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
NAMES = st.from_regex(r"[a-zé_][a-z0-9_.-]{0,5}", fullmatch=True)
SPECS = st.one_of(
    NAMES,
    st.builds("{}={}.py::{}:k={}".format, NAMES, NAMES, NAMES, NAMES),
    st.builds("deep/{}/{}.py".format, NAMES, NAMES),
    st.builds("{}=cmd:node '{}.js' \"=[#\"".format, NAMES, NAMES),
)
TOLD = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="|<>"), max_size=9)
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "games": st.lists(NAMES, min_size=1, max_size=3),
        "bots": st.lists(SPECS | st.builds(BotEntry, SPECS, TOLD, TOLD), min_size=1, max_size=4),
        "options": st.dictionaries(
            TEXTS, TEXTS | st.integers() | st.booleans() | st.floats(allow_nan=False), max_size=3
        ),
        "players": st.integers(2, 9),
        "deals": st.integers(1, 10**12),
        "seed": st.integers(0, 2**128 - 1),
        "format": TEXTS,
        "candidates": st.lists(SPECS, max_size=2),
        "move_time": st.floats(0, 1e20),
        "game_time": st.floats(0, 1e-5),
        "memory": st.integers(0, 9),
        "isolate": st.sampled_from(["auto", "on", "strict"]),
        "clock": st.sampled_from(["fair", "wall"]),
        "keep_processes": st.booleans(),
        "max_faults": st.integers(0, 9),
        "workers": st.integers(0, 9),
        "name": TEXTS,
        "results": NAMES,
        "strict": st.booleans(),
    },
)


def plain(request: RunRequest) -> RunRequest:
    bots = [bot.bot if isinstance(bot, BotEntry) and not bot.team and not bot.author else bot for bot in request.bots]
    return replace(request, file=None, bots=bots)


@given(REQUESTS)
def test_a_saved_request_is_read_back_unchanged(fields):
    request, path = RunRequest(**fields), "saved.toml"
    request.save(path, force=True)
    read = RunRequest.from_file(path)
    assert plain(read) == plain(request)
    assert config_text(read, Path(path)) == Path(path).read_text(encoding="utf-8")


def test_a_saved_file_has_only_non_default_keys_in_a_readable_order():
    request = RunRequest(
        strict=True, bots=["outlaw", "v2=a.py"], seed=3, games=["el-paso"], options={"edition": "nl", "a b": 1}
    )
    request.save("event.toml")
    assert Path("event.toml").read_text() == (
        "# Asks for a run. Play it: arena tournament event.toml\n"
        'games = ["el-paso"]\nbots = [\n    "outlaw",\n    "v2=a.py",\n]\nseed = 3\nstrict = true\n\n'
        '[options]\nedition = "nl"\n"a b" = 1\n'
    )
    with pytest.raises(UsageError, match="exists already"):
        request.save("event.toml")
    with pytest.raises(UsageError, match="there is no folder away"):
        request.save("away/event.toml")
    RunRequest().save("event.toml", force=True)
    assert tomllib.loads(Path("event.toml").read_text()) == {}


def test_a_request_with_a_class_cannot_be_saved():
    def first(view, actions):
        return actions[0]

    for bot in (first, ("me", first), BotEntry(first, "Reds")):
        with pytest.raises(UsageError, match="first is a Python object"):
            RunRequest(bots=[bot]).save("event.toml")
    assert not Path("event.toml").exists()


def test_list_files_that_include_each_other_are_refused():
    Path("far").mkdir()
    Path("far/a.txt").write_text("@a.txt\n")
    with pytest.raises(UsageError, match=r"line 1, column 9: far/a\.txt: lists name each other without end"):
        event("bots = ['@a.txt']", "far/event.toml")


def test_invalid_team_names_are_refused():
    for bad in (3, "a" * 101, "a\nb", "<b>"):
        with pytest.raises(UsageError, match="team or author"):
            BotEntry("outlaw", bad)


def test_environment_variables_set_the_defaults_of_results_and_workers(monkeypatch):
    monkeypatch.delenv("ARENA_RESULTS", raising=False)
    assert RunRequest().results == "results"
    monkeypatch.setenv("ARENA_RESULTS", "mine")
    assert (RunRequest().results, RunRequest(results="yours").results) == ("mine", "yours")
    monkeypatch.setenv("ARENA_WORKERS", "3")
    assert default_workers() == 3
    for bad in ("0", "many", "1025", "-1"):
        monkeypatch.setenv("ARENA_WORKERS", bad)
        with pytest.raises(UsageError, match=f"ARENA_WORKERS is a whole number from 1 to 1024, not '{bad}'"):
            default_workers()
    monkeypatch.setenv("ARENA_WORKERS", "")
    assert default_workers() >= 1
