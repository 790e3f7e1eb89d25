"""An option of a run is one field: command line, config files, Python calls and checks have it from there."""

from __future__ import annotations

from typing import Annotated

import click
import msgspec
import pytest
from msgspec import Meta

import harness
from harness.cli.options import request_options
from harness.cli.tournament import command as tournament
from harness.comparison import NOT_COMPARED
from harness.comparison.cli import command as compare
from harness.core.options import BotLimits, CommonLimits, RunOptions, run_options
from harness.league.cli import NOT_ASKED, init_command
from harness.league.folder import NOT_FOR_LEAGUES
from harness.runs import config_file

PYTHON_ONLY = {"file": "where a config file says what it says; reading the file makes it"}


class WiderOptions(RunOptions, frozen=True, kw_only=True):
    """The options of a run and one more."""

    max_draws: Annotated[int, Meta(ge=1, le=9), "Draws before a deal ends."] = 3


def test_a_new_field_becomes_an_option_a_config_key_and_a_check(tmp_path, monkeypatch):
    @click.command()
    @request_options(of=WiderOptions)
    def command(**_asked):
        """Nothing."""

    [option] = [each for each in command.params if each.name == "max_draws"]
    assert (option.opts, option.help, option.default) == (
        ["--max-draws"],
        "Draws before a deal ends. Default: 3.",
        None,
    )
    assert isinstance(option.type, click.IntRange)
    assert (option.type.min, option.type.max) == (1, 9)

    monkeypatch.setattr(config_file, "RunOptions", WiderOptions)
    file = tmp_path / "event.toml"
    file.write_text("max-draws = 4")
    assert config_file.read_config_file(file)["max_draws"] == 4
    file.write_text("max-draws = 10")
    with pytest.raises(harness.UsageError, match="line 1, column 1: Max draws can be 9 at most, not 10"):
        config_file.read_config_file(file)

    with pytest.raises(harness.UsageError, match="Max draws must be at least 1, not 0"):
        WiderOptions(max_draws=0)
    with pytest.raises(harness.UsageError, match="The field max_draws of a run is a whole number, not 'few'"):
        WiderOptions(max_draws="few")


@pytest.mark.parametrize(
    ("command", "omitted"), [(tournament, ()), (compare, NOT_COMPARED), (init_command, NOT_ASKED)]
)  # fmt: skip
def test_every_field_is_an_option_unless_a_command_leaves_it_out(command, omitted):
    fields = set(harness.RunRequest.__struct_fields__)
    assert {*PYTHON_ONLY, *omitted} <= fields
    assert fields - {each.name for each in command.params} == {*PYTHON_ONLY, *omitted}


def test_every_field_is_documented_or_only_for_python():
    options = run_options(harness.RunRequest)
    assert {name for name, option in options.items() if not option.help} == set(PYTHON_ONLY)
    assert {option.key for option in options.values()} >= {"move-time", "keep-processes", "games"}


def test_a_new_league_omits_options_that_its_file_does_not_support():
    assert set(NOT_ASKED) == {*NOT_FOR_LEAGUES, "strict"}


def test_a_run_has_all_limits_of_a_request():
    assert set(BotLimits.__struct_fields__) == {"move_time", *CommonLimits.__struct_fields__}
    request = harness.RunRequest(move_time=2, memory=100, isolate="on", ponder=True)
    assert request.limits == BotLimits(2, memory=100, isolate="on", ponder=True)


def test_the_json_of_limits_keeps_its_layout():
    assert msgspec.json.encode(BotLimits()) == (
        b'{"move_time":10.0,"game_time":0.0,"clock":"fair","memory":4096,"threads":1,"isolate":"auto",'
        b'"keep_processes":false,"ponder":false,"max_faults":0}'
    )
    assert msgspec.json.decode(b'{"isolate":"on"}', type=BotLimits) == BotLimits(isolate="on")


@pytest.mark.parametrize(
    "wrong",
    [{"move_time": -1}, {"move_time": None}, {"memory": 1.5}, {"clock": "sundial"}, {"ponder": 1}, {"threads": True}],
)
def test_limits_are_checked_and_frozen(wrong):
    with pytest.raises(harness.UsageError):
        BotLimits(**wrong)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"move_time": 1, **wrong}), type=BotLimits)
    with pytest.raises(AttributeError):
        BotLimits().memory = 1


@pytest.mark.parametrize(
    ("name", "lowest", "highest"), [("deals", 1, 10**12), ("seed", 0, 2**128 - 1), ("workers", 0, 1024)]
)
def test_numbers_have_a_range(name, lowest, highest):
    for allowed in (lowest, highest):
        assert getattr(harness.RunRequest(**{name: allowed}), name) == allowed
    for refused in (lowest - 1, highest + 1):
        with pytest.raises(harness.UsageError, match=str(lowest if refused < lowest else highest)):
            harness.RunRequest(**{name: refused})
