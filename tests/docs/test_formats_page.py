"""docs/formats.md: the format that it shows plays, and its table has every option there is."""

from __future__ import annotations

import re

import harness
from harness.plugins.bot_files import load_file
from harness.plugins.features import FORMATS
from harness.plugins.registry import Registry
from harness.runs.scheduler import Schedule, simulated_record
from tests.docs import cells
from tests.docs.pages import DOCS, blocks, matches
from tests.support.schedules import follow

PAGE = DOCS / "formats.md"
FIELD = ("a", "b", "c", "d", "e")
STRENGTHS = {bot: 9.0 - 3 * place for place, bot in enumerate(FIELD)}


def example(folder):
    """A registry with the format of the page."""
    [block] = [block for block in blocks(PAGE) if block.path]
    file = folder / block.path
    file.write_text(block.text, encoding="utf-8")
    registry = Registry()
    registry.add(load_file(str(file)), str(file), "1")
    assert registry.problems == []
    return registry


def test_the_example_brings_a_format_that_plays(tmp_path):
    registry = example(tmp_path)
    [name] = registry.formats
    game = harness.GamePlan("el-paso", "1", {}, 3, FIELD)
    plan = harness.Plan((game,), deals=6, seed=1, format=name)
    schedule = Schedule(plan, registry.formats)
    luck = harness.Chance(1)
    played = []

    def results(asked):
        played.append([simulated_record(spec, STRENGTHS, luck) for spec in asked])
        return played[-1]

    going = follow(schedule, results)
    specs = []
    while True:
        try:
            specs.append(next(going))
        except StopIteration as end:
            outcome = end.value["el-paso"]
            break
    assert sum(map(len, specs)) == schedule.count() == 18
    tables = [set(spec.seats) for round_ in specs for spec in round_[:1]]
    for before, after, records in zip(tables, tables[1:], played, strict=False):
        [gone] = before - after
        worst = max(sum(record.ranks[record.seats.index(bot)] for record in records) for bot in before)
        assert sum(record.ranks[record.seats.index(gone)] for record in records) == worst
    assert outcome.note == "a holds the hill."
    assert schedule.outcomes(record for records in played for record in records)["el-paso"] == outcome


def test_real_bots_play_the_example_format(tmp_path, monkeypatch):
    registry = example(tmp_path)
    monkeypatch.chdir(tmp_path)
    from harness.api import runs

    whole = runs.installed_here()
    whole.formats |= registry.formats
    monkeypatch.setattr(runs, "installed_here", lambda *_args: whole)
    run = harness.tournament(
        "el-paso", ["outlaw", "diehard", "random"], players=2, deals=3, format="king-of-the-hill", workers=0, seed=1
    )
    assert run.complete
    assert len(run) == 6
    assert run.verify().problems == []


def test_the_table_has_every_format_with_its_options():
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \|([^|]*)\| (yes|no) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    told = {name: (re.findall(r"`(\w[\w-]*)`", options), results == "yes") for name, options, results in rows}
    there = {name: ([option.name for option in each.options], each.adaptive) for name, each in FORMATS.items()}
    assert told == there


def test_the_page_shows_the_real_schedule(tmp_path):
    [(_, text, shown)] = cells.follow(PAGE, tmp_path)
    assert matches(text.text.splitlines(), shown)
