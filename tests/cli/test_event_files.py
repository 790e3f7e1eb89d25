"""`arena tournament FILE`: what a file asks for is played, mistakes are told by line, a run becomes a file again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

import harness
from harness.core.errors import UsageError
from harness.plugins.registry import load
from harness.runs.setup import prepare
from harness.runs.store import RunFolder
from tests.support.cli import arena

BOT = """import harness
class Own(harness.Bot):
    options = (harness.Option("place", 0, "which action", kind="int"),)
    def choose(self, view, actions):
        return actions[self.options_place % len(actions)]
    @property
    def options_place(self):
        return self.settings["place"]
"""
EVENT = """
games = ["el-paso"]
players = 2
deals = 1
seed = 5
name = "a"
workers = 0

[[bots]]
name = "me"
bot = "own/own.py"
options = { place = 2 }
team = "Reds"
author = "Ann"

[[bots]]
bot = "outlaw"

[options]
edition = "nl"
"""


@pytest.fixture
def event():
    Path("far/own").mkdir(parents=True)
    Path("far/own/own.py").write_text(BOT)
    Path("far/event.toml").write_text(EVENT)
    return Path("far/event.toml")


def opened(name: str) -> RunFolder:
    return RunFolder.open(Path("results") / name)


def plain(run: RunFolder) -> list[object]:
    """The records without what a clock said."""
    records = sorted(run.records(), key=lambda record: record.index)
    return [replace(record, time=(), slowest=(), cpu=()) for record in records]


def same(one: RunFolder, other: RunFolder) -> bool:
    return one.info.plan == other.info.plan and plain(one) == plain(other)


def test_a_config_file_is_played_and_command_line_options_override_it(event):
    arena("tournament", event)
    run = opened("a")
    assert [(one.name, one.spec, one.team, one.author) for one in run.info.entrants] == [
        ("me", "me=far/own/own.py::own:place=2", "Reds", "Ann"),
        ("outlaw", "outlaw", "", ""),
    ]
    arena(
        "tournament", event, "--name", "b", "--deals", 2, "--bot", "random", "--bot", "outlaw", "--option", "edition=de"
    )
    other = opened("b")
    assert other.info.plan.deals == 2
    assert other.info.plan.seed == 5
    assert other.info.plan.games[0].settings["edition"] == "de"
    assert [one.name for one in other.info.entrants] == ["random", "outlaw"]


def test_each_game_option_can_be_overridden_separately(event):
    error = arena("tournament", event, "--option", "edition=xx", code=2).stderr
    assert "Unknown value of El Paso's option edition 'xx'" in error
    assert "line" not in error
    event.write_text(EVENT + "editon = 1\n")
    error = arena("tournament", event, "--option", "edition=de", code=2).stderr
    assert "far/event.toml, line 21, column 1: Unknown option of El Paso 'editon'" in error


def test_teams_and_authors_are_in_tables_if_any_bot_has_one(event):
    shown = arena("tournament", event, "--wide").stdout
    assert "team  author" in shown
    assert "Reds  Ann" in shown
    [_, me] = json.loads(Path("results/a/leaderboard.json").read_text())["el-paso"]
    assert (me["bot"], me["team"], me["author"]) == ("me", "Reds", "Ann")
    assert Path("results/a/leaderboard.csv").read_text().splitlines()[0].endswith(",team,author")
    assert "Reds" in arena("leaderboard", "a", "--columns", "bot,team").stdout
    assert "Reds" in arena("leaderboard", "a", "--wide").stdout
    arena("verify", "a")
    page = arena("report", "a", "--to", "page.html") and Path("page.html").read_text()
    assert "Reds" in page
    arena("tournament", event, "--bot", "random", "--bot", "outlaw", "--name", "b")
    assert "team" not in Path("results/b/leaderboard.csv").read_text()
    assert "team" in arena("leaderboard", "b", "--columns", "bot,team").stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"outlaw"', '"outlw"'), "line 17, column 1: Unknown bot 'outlw'. Did you mean 'outlaw'?"),
        (("own/own.py", "own/gone.py"), "line 11, column 1: There is no file far/own/gone.py"),
        (("place = 2", "plac = 2"), "line 11, column 1: Unknown option of own 'plac'"),
        (("place = 2", "place = 'x'"), "line 11, column 1: own's option place cannot be 'x'"),
        (('"outlaw"', '"outlaw"\n[[bots]]\nbot = "tycoon"'), "line 19, column 1: tycoon cannot play el-paso"),
        (('bot = "outlaw"', 'bot = "me=own/own.py"'), "line 17, column 1: me is entered twice"),
        (
            ('["el-paso"]', '[\n"el-paso",\n "el-pso"]'),
            "line 4, column 2: Unknown game 'el-pso'. Did you mean 'el-paso'?",
        ),
        (('"nl"', '"nx"'), "line 20, column 1: Unknown value of El Paso's option edition 'nx'"),
        (("edition", "editon"), "line 20, column 1: Unknown option of El Paso 'editon'"),
        (("players = 2", "players = 9"), "line 3, column 1: El Paso is for 2 to 5 players, not 9."),
        (("players = 2", "players = 3"), "line 3, column 1: El Paso with 3 players needs at least 3 bots"),
        (("seed = 5", "format = 'swis'"), "line 5, column 1: Unknown format 'swis'. Did you mean 'swiss'?"),
        (("seed = 5", "format = 'swiss:round=2'"), "line 5, column 1: Unknown option of swiss 'round'"),
        (("seed = 5", "format = 'swiss:rounds'"), "line 5, column 1: In 'swiss:rounds', 'rounds' is not an option"),
        (
            ("seed = 5", "format = 'gauntlet'\ncandidates = ['outlaw',\n'nobody']"),
            "line 7, column 1: Unknown bot 'nobody'",
        ),
        (('name = "a"', 'name = "a/b"'), "line 6, column 1: 'a/b' cannot be the name of a folder"),
        (("workers = 0", "workers = -2"), "line 7, column 1: Workers must be at least 0, not -2."),
    ],
)
def test_invalid_config_files_are_reported_with_the_line(event, change, said):
    text = EVENT.replace(*change)
    assert text != EVENT
    event.write_text(text)
    error = arena("tournament", event, code=2).stderr
    assert f"far/event.toml, {said}" in error
    assert error.count(", line ") == 1
    assert not Path("results").exists()
    with pytest.raises(harness.ArenaError, match=r"^far/event\.toml, line"):
        harness.tournament(request=harness.RunRequest.from_file(event), quiet=True)


def test_a_bot_file_that_defines_no_bot_is_reported(event):
    Path("far/own/own.py").write_text("import harness\n")
    error = arena("tournament", event, code=2).stderr
    assert "far/event.toml, line 11, column 1: far/own/own.py defines no bot" in error


@pytest.mark.parametrize("where", ["event.toml", "far/event2.toml"])
@pytest.mark.parametrize(
    "typed",
    [
        ["--game", "el-paso", "--bot", "v1=far/own/own.py", "--bot", "outlaw", "--players", 2],
        ["--game", "el-paso", "--bot", "far/own/", "--bot", "@list.txt", "--option", "edition=nl", "--max-faults", 3],
        ["--format", "swiss", "--game", "x-pasch", "--bot", "tycoon", "--bot", "founder", "--bot", "random",
         "--move-time", 2, "--strict"],
        ["--format", "ladder:max-matches=4", "--goal", "newcomer", "--candidate", "far/own/own.py", "--game", "el-paso",
         "--bot", "far/own/own.py", "--bot", "outlaw", "--bot", "random", "--players", 2],
        ["--game", "el-paso", "--bot", "far/own/o*.py", "--bot", "random", "--memory", 0, "--isolate", "off"],
    ],
)  # fmt: skip
def test_saved_command_line_options_play_the_same_run(event, typed, where):
    Path("list.txt").write_text("near=far/own/own.py:place=1\nrandom # weak\n")
    typed += ["--deals", 1, "--seed", 9, "--workers", 0]
    told = arena("tournament", *typed, "--save", where)
    assert told.stdout == ""
    only_typed = ["--isolate", "off"] if "off" in typed else []
    assert " ".join(["Play it: arena tournament", where, *only_typed]) in told.stderr
    assert not Path("results").exists(), "nothing is played"
    assert "exists already" in arena("tournament", *typed, "--save", where, code=2).stderr
    arena("tournament", *typed, "--save", where, "--force")
    arena("tournament", *typed, "--name", "typed")
    arena("tournament", where, *only_typed, "--name", "saved")
    assert same(opened("typed"), opened("saved"))
    assert opened("typed").info.limits == opened("saved").info.limits
    assert opened("typed").info.entrants == opened("saved").info.entrants


def test_an_invalid_request_is_not_saved():
    arena("tournament", "--bot", "nobody", "--save", "event.toml", code=2)
    assert not Path("event.toml").exists()
    assert "leave out --save" in arena("tournament", "--resume", "a", "--save", "event.toml", code=2).stderr


def test_a_dry_run_can_save_too():
    typed = ("--game", "el-paso", "--bot", "random", "--bot", "outlaw", "--deals", 1, "--seed", 1)
    assert "Matches: 2" in arena("tournament", *typed, "--save", "event.toml", "--dry-run").stdout
    assert Path("event.toml").exists()
    assert not Path("results").exists()


@pytest.mark.parametrize("change", [("", ""), ("seed = 5", "seed = 6\nformat = 'swiss:rounds=1'\nmove-time = 3.5")])
def test_a_run_is_converted_back_to_a_config_file(event, change):
    event.write_text(EVENT.replace(*change))
    arena("tournament", event)
    for form in ("results/a", "results/a/run.json"):
        arena("tournament", form, "--save", "far/back.toml", "--force")
    arena("tournament", "far/back.toml", "--name", "b", "--workers", 0)
    assert same(opened("a"), opened("b"))
    assert opened("a").info.limits["isolate"] == opened("b").info.limits["isolate"]
    assert opened("a").info.entrants == opened("b").info.entrants
    told = arena("tournament", "results/a", "--name", "c", "--workers", 0).stderr
    assert "played once more" in told
    assert same(opened("a"), opened("c"))
    request = harness.open_run("a").request()
    assert "edition" in request.options
    assert prepare(request, load()).plan == opened("a").info.plan
    assert replace(harness.RunRequest.from_file("far/back.toml"), file=None) == replace(request, file=None)


def test_defaults_are_not_written_to_the_config_file():
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "outlaw", "--deals", 1, "--seed", 1,
          "--format", "ladder:max-matches=4", "--name", "a", "--workers", 1)  # fmt: skip
    arena("tournament", "results/a", "--save", "back.toml")
    assert Path("back.toml").read_text() == (
        '# Asks for a run. Play it: arena tournament back.toml\ngames = ["el-paso"]\nbots = [\n    "random",\n'
        '    "outlaw",\n]\nformat = "ladder:max-matches=4"\nplayers = 2\ndeals = 1\nseed = 1\n'
    )


def test_a_run_of_all_games_is_converted_back_to_a_config_file():
    arena("tournament", "--bot", "random", "--bot", "outlaw", "--bot", "tycoon", "--bot", "raider", "--bot", "broker",
          "--bot", "flat-mc:iterations=1", "--bot", "ismcts:iterations=1", "--bot", "hustler", "--players", 3,
          "--deals", 1, "--seed", 1, "--name", "a", "--workers", 0, "--save", "typed.toml")  # fmt: skip
    arena("tournament", "typed.toml", "--deals", 1, "--max-faults", 2, "--format", "ladder:max-matches=3")
    arena("tournament", "results/a", "--save", "back.toml")
    typed, back = (harness.RunRequest.from_file(name) for name in ("typed.toml", "back.toml"))
    assert (back.bots, back.players, back.options) == (typed.bots, 3, {})
    assert back.games == ("el-paso", "gnadenlos", "x-pasch")
    assert (back.format, back.max_faults) == ("ladder:max-matches=3", 2)


def test_a_comparison_is_converted_to_a_config_file():
    typed = ("compare", "random", "outlaw", "--game", "el-paso", "--most", 4, "--seed", 1, "--workers", 0)
    arena(*typed, "--name", "a")
    arena("tournament", "results/a", "--save", "back.toml")
    arena("tournament", "back.toml", "--name", "b", "--workers", 0)
    assert same(opened("a"), opened("b"))
    arena(*typed, "--luck-adjusted", "--name", "c")
    arena("tournament", "results/c", "--save", "other.toml")
    arena("tournament", "other.toml", "--name", "d", "--workers", 0)
    assert same(opened("c"), opened("d"))


def test_a_run_with_a_notebook_class_cannot_be_converted_to_a_config_file():
    class Typed(harness.Bot):
        def choose(self, view, actions):
            return actions[0]

    run = harness.tournament("el-paso", [Typed, "random"], deals=1, seed=1, workers=0, name="a", quiet=True)
    with pytest.raises(harness.UsageError, match=r"typed .*is not installed, and not in a file"):
        run.request()
    error = arena("tournament", "results/a", "--save", "event.toml", code=2).stderr
    assert "Move a class that was defined at a Python prompt" in error
    assert not Path("event.toml").exists()


def test_a_run_with_a_components_file_cannot_be_converted_to_a_config_file():
    import engines.el_paso

    figures = Path(engines.el_paso.__file__).parent / "data" / "el_paso.toml"
    Path("figures.toml").write_bytes(figures.read_bytes())
    arena("tournament", "--game", "el-paso", "--bot", "random", "--bot", "outlaw", "--deals", 1, "--seed", 1,
          "--option", "components=figures.toml", "--name", "a", "--workers", 0)  # fmt: skip
    error = arena("tournament", "results/a", "--save", "event.toml", code=2).stderr
    assert "the option components of el-paso was a file" in error


def test_a_run_without_teams_and_authors_opens_and_is_converted_to_a_config_file(event):
    arena("tournament", event)
    path = Path("results/a/run.json")
    told = json.loads(path.read_text())
    for entrant in told["entrants"]:
        del entrant["team"], entrant["author"]
    path.write_text(json.dumps(told))
    assert [one.team for one in opened("a").info.entrants] == ["", ""]
    arena("tournament", "results/a", "--save", "back.toml")
    assert "team" not in Path("back.toml").read_text()
    arena("leaderboard", "a")


def test_a_warning_names_bots_that_changed_since_the_run(event):
    arena("tournament", event)
    Path("far/own/own.py").write_text(BOT + "# another one\n")
    told = arena("tournament", "results/a", "--name", "b", "--workers", 0).stderr
    assert "Warning: the bot me is version" in told or "Warning: the source of the bot me has been changed" in told


def test_environment_variables_override_defaults_but_not_config_files(event, monkeypatch):
    monkeypatch.setenv("ARENA_RESULTS", "mine")
    arena("tournament", event, "-q")
    assert Path("mine/a/run.json").exists()
    arena("leaderboard", "a")
    assert harness.open_run("a").complete
    event.write_text('results = "there"\n' + EVENT)
    arena("tournament", event, "-q")
    assert Path("far/there/a/run.json").exists()
    arena("tournament", event, "-q", "--results", "here")
    assert Path("here/a/run.json").exists()
    monkeypatch.setenv("ARENA_WORKERS", "many")
    arena("tournament", event, "-q", "--results", "other")
    event.write_text(EVENT.replace("workers = 0", ""))
    for more in (("--dry-run",), ("--name", "z")):
        assert "ARENA_WORKERS is a whole number" in arena("tournament", event, *more, code=2).stderr
    assert not Path("mine/z").exists()
    shown = arena("tournament", "--help").stdout
    assert "ARENA_RESULTS" in shown
    assert "ARENA_WORKERS" in shown


def test_a_config_file_and_its_bots_can_be_moved_together(event):
    arena("tournament", event)
    Path("far").rename("moved")
    os.chdir("moved")
    arena("tournament", "event.toml", "--results", "../results", "--name", "b")
    os.chdir("..")
    assert same(opened("a"), opened("b"))


def test_isolate_off_is_ignored_in_a_config_file(event):
    event.write_text('isolate = "off"\n' + EVENT)
    told = arena("tournament", event).stderr
    assert "far/event.toml, line 1, column 1: isolate = 'off' is ignored" in told
    assert opened("a").info.limits["isolate"] == "auto"
    told = arena("tournament", event, "--name", "c", "--isolate", "off").stderr
    assert "is ignored" not in told
    assert opened("c").info.limits["isolate"] == "off"


# A config file may come from anyone, whoever owns it now.

WRITES_WHERE_IT_CAN = """import contextlib, harness
with contextlib.suppress(OSError), open("{mark}", "a") as file:
    file.write("loaded")
class Own(harness.Bot):
    def choose(self, view, actions):
        with contextlib.suppress(OSError), open("{mark}", "a") as file:
            file.write("played")
        return actions[0]
"""


def test_a_python_file_of_a_config_file_plays_in_a_sandbox_unless_the_user_turns_that_off(event, tmp_path):
    mark = tmp_path / "mark"
    Path("far/own/own.py").write_text(WRITES_WHERE_IT_CAN.format(mark=mark))
    event.write_text(EVENT.replace("options = { place = 2 }\n", ""))
    assert "me (named by event.toml)" in arena("tournament", event).stderr
    assert not mark.exists(), "the bot has not the rights of the user"
    arena("tournament", event, "--name", "b", "--isolate", "off")
    assert mark.read_text().startswith("loaded")
    assert "played" in mark.read_text()


def test_a_config_file_cannot_import_code_as_a_cluster(event):
    Path("evil.py").write_text("open('mark', 'w').close()\ndef make(): pass\n")
    for cluster in ("evil:make", "tcp://127.0.0.1:1", "scheduler.json"):
        event.write_text(f"cluster = {cluster!r}\n" + EVENT.replace("workers = 0\n", ""))
        told = arena("tournament", event, "--isolate", "strict", code=2).stderr
        assert "far/event.toml, line 1, column 1: A config file can only ask for a cluster on this machine" in told
        assert "--cluster" in told
    assert not Path("mark").exists()


OUTSIDE = [
    ('bot = "outlaw"', 'bot = "../own.py"'),
    ('bot = "outlaw"', 'bot = "../*.py"'),
    ('bot = "outlaw"', 'bot = "@../list.txt"'),
    ('bot = "outlaw"', 'bot = "@list.txt"'),
    ('bot = "outlaw"', 'bot = "linked/"'),
    ('bot = "outlaw"', 'bot = "linked/own.py"'),
    ('bot = "outlaw"', 'bot = "{root}/own.py"'),
    ('bot = "outlaw"', 'bot = "cmd:python3 own/own.py ../key"'),
    ('bot = "outlaw"', 'bot = "cmd:python3 own/own.py {root}/key"'),
    ('bot = "outlaw"', 'bot = "cmd:python3 own/own.py --key=../key"'),
    ('bot = "outlaw"', 'bot = "cmd:python3 own/own.py key"'),
    ('bot = "outlaw"', 'bot = "cmd:python3 linked/own.py"'),
    ('bot = "outlaw"', 'bot = "cmd:../own.py"'),
    ('bot = "outlaw"', 'bot = "outlaw:file=../key"'),
    ('edition = "nl"', 'components = "../key"'),
    ('edition = "nl"', 'components = "key"'),
    ('edition = "nl"', 'components = "linked/key"'),
    ('name = "a"', 'results = "../elsewhere"'),
    ('name = "a"', 'results = "/tmp"'),
    ('name = "a"', 'candidates = ["../own.py"]'),
]


@pytest.mark.parametrize("change", OUTSIDE, ids=[change[1] for change in OUTSIDE])
def test_a_config_file_cannot_name_anything_outside_its_folder(event, tmp_path, change):
    Path("key").write_text("secret")
    Path("key").chmod(0o600)
    Path("own.py").write_text(BOT)
    Path("list.txt").write_text("outlaw\n")
    Path("far/list.txt").write_text("random\n../own.py\n")
    Path("far/linked").mkdir()
    Path("far/linked/own.py").write_text(BOT)
    Path("far/linked/key").symlink_to(Path("key").resolve())
    event.write_text(EVENT.replace(*change).replace("{root}", str(Path.cwd())))
    before = sorted(Path().rglob("*"))
    told = arena("tournament", event, code=2).stderr
    assert "is outside the folder of far/event.toml" in told
    assert "far/event.toml, line " in told
    assert "secret" not in told
    assert sorted(Path().rglob("*")) == before, "nothing was written"


@pytest.mark.parametrize("pattern", ["/**/*.py", "../**/*.py", "o*/../../*.py", "linked/**/*.py"])
def test_a_pattern_that_leads_out_of_the_folder_is_refused_before_it_is_expanded(event, monkeypatch, pattern):
    Path("far/linked").mkdir()
    Path("far/linked/root").symlink_to("/")
    event.write_text(EVENT.replace('"outlaw"', f'"{pattern}"'))
    monkeypatch.setattr("harness.plugins.entrants.glob", lambda *_args, **_keys: pytest.fail("it was expanded"))
    with pytest.raises(UsageError, match="is outside the folder of"):
        harness.RunRequest.from_file(event)


def test_links_in_a_sibling_folder_of_a_bot_do_not_lead_out_of_that_of_the_config_file(event):
    Path("key.py").write_text("SECRET = 1\n")
    Path("far/own/own.py").write_text("import sub.key\n" + BOT)
    Path("far/own/sub").symlink_to("../other")
    Path("far/other").mkdir()
    Path("far/other/__init__.py").touch()
    Path("far/other/key.py").symlink_to(Path("key.py").resolve())
    told = arena("tournament", event, code=2).stderr
    assert "other/key.py is outside the folder of far/event.toml" in " ".join(told.split())
    event.write_text(EVENT.replace('"own/own.py"', '"cmd:python3 linked.py"').replace("options = { place = 2 }", ""))
    Path("far/linked.py").symlink_to("own/own.py")
    told = arena("tournament", event, code=2).stderr
    assert "other/key.py is outside the folder of far/event.toml" in " ".join(told.split())


@pytest.mark.parametrize("bare", ["rivals", "rivals:place=1", "x=rivals", "..", "alike"])
def test_a_bare_word_in_a_config_file_is_not_a_folder(event, monkeypatch, bare):
    """As a folder it would be one of the current folder, or a link that leads anywhere."""
    for folder in ("rivals", "far/alike"):
        Path(folder).mkdir()
        Path(folder, "own.py").write_text(BOT)
    Path("far/rivals").symlink_to(Path("rivals").resolve())
    event.write_text(EVENT.replace('"outlaw"', f'"{bare}"'))
    assert "Unknown bot '" in arena("tournament", event, code=2).stderr
    monkeypatch.chdir("far")
    assert "Unknown bot '" in arena("tournament", "event.toml", code=2).stderr


@pytest.mark.parametrize("bare", ["rivals", "x=rivals:place=1"])
def test_a_folder_is_saved_with_a_slash(event, bare):
    Path("rivals").mkdir()
    Path("rivals/own.py").write_text(BOT)
    arena("tournament", "--game", "el-paso", "--bot", bare, "--bot", "random", "--save", "event.toml")
    assert f'"{bare.replace("rivals", "rivals/")}"' in Path("event.toml").read_text()
    arena("tournament", "event.toml", "--dry-run")


@pytest.mark.parametrize("word", ["cmd:cat .ssh/id", "cmd:cat key", "outlaw:file=.ssh/id", "@.ssh/id"])
def test_a_config_file_in_a_home_folder_cannot_name_hidden_files(event, word):
    Path("far/.ssh").mkdir()
    Path("far/.ssh/id").write_text("secret")
    Path("far/key").symlink_to(".ssh/id")
    event.write_text(EVENT.replace('"outlaw"', f'"{word}"'))
    told = arena("tournament", event, code=2).stderr
    assert "is a hidden file, which a config file cannot name" in told
    assert "secret" not in told


def test_a_new_run_is_not_written_through_a_link_that_was_prepared_under_its_name(event):
    Path("results").mkdir()
    Path("precious").mkdir()
    Path("results/a").symlink_to("../precious")
    assert "is a link, and a new run gets a new folder" in arena("tournament", event, code=2).stderr
    assert not any(Path("precious").iterdir())


def test_a_config_file_with_a_bot_elsewhere_is_not_saved(event):
    Path("deep").mkdir()
    typed = ("--game", "el-paso", "--bot", "far/own/own.py", "--bot", "random")
    told = arena("tournament", *typed, "--save", "deep/e.toml", code=2).stderr
    assert "Save the config file in a folder above it." in told
    assert not Path("deep/e.toml").exists()


def test_a_config_file_that_is_a_pipe_or_too_large_is_refused():
    os.mkfifo("pipe.toml")
    assert "not a regular file" in arena("tournament", "pipe.toml", code=2).stderr
    with Path("large.toml").open("wb") as file:
        file.truncate(1 << 40)
    assert "more than 200,000 bytes" in arena("tournament", "large.toml", code=2).stderr


def test_a_path_that_is_not_a_config_file_is_refused_with_a_hint():
    assert "Bots are named with --bot" in arena("tournament", "outlaw", code=2).stderr
    Path("results").mkdir()
    assert "results has no run.json" in arena("tournament", "results", code=2).stderr
    assert "leave out event.toml" in arena("tournament", "event.toml", "--resume", "a", code=2).stderr


def test_a_game_chosen_from_a_file_leaves_out_the_bots_of_its_other_games():
    Path("event.toml").write_text(
        'games = ["el-paso", "x-pasch"]\nbots = ["random", "outlaw", "founder", "tycoon"]\nworkers = 0\ndeals = 1\n'
        'name = "a"\n'
    )
    said = arena("tournament", "event.toml", "--game", "el-paso").stderr
    assert "Warning: founder, tycoon cannot play el-paso; left out." in said
    run = RunFolder.open(Path("results/a"))
    assert [entrant.name for entrant in run.info.entrants] == ["random", "outlaw"]
    typed = ("tournament", "event.toml", "--game", "el-paso", "--bot", "founder", "--bot", "random", "--bot", "outlaw")
    assert "founder cannot play el-paso." in arena(*typed, code=2).stderr
    Path("event.toml").write_text('games = ["el-paso"]\nbots = ["random", "outlaw", "founder"]\n')
    assert "line 2, column 29: founder cannot play el-paso." in arena("tournament", "event.toml", code=2).stderr
    gauntlet = 'bots = ["random", "outlaw", "founder"]\nformat = "gauntlet"\ncandidates = ["outlaw", "founder"]\n'
    Path("event.toml").write_text(f'{gauntlet}deals = 1\nname = "b"\nworkers = 0\n')
    arena("tournament", "event.toml", "--game", "el-paso", "-q")
    assert RunFolder.open(Path("results/b")).info.plan.candidates == ("outlaw",)
