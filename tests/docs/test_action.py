"""The action for bot authors does what docs/ci.md says: its scripts are run here as the forge runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.docs.pages import DOCS, blocks

yaml = pytest.importorskip("yaml", reason="comes with mkdocs: pip install 'arena-harness[docs]'")
BASH = shutil.which("bash")
if not BASH:
    pytest.skip("no bash on this machine", allow_module_level=True)

ROOT = DOCS.parent
ACTION = yaml.safe_load((ROOT / ".github/actions/check-bot/action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
QUICK = {"game": "el-paso", "check-arguments": "--matches 1", "compare-arguments": "--seed 1 --most 20 --workers 0"}


@pytest.fixture
def bot(tmp_path):
    """The bot of the README, in a file."""
    path = tmp_path / "sprinter.py"
    path.write_text(next(block.text for block in blocks(ROOT / "README.md") if block.language == "python"))
    return path.name


def run(step, folder, path=(), **inputs):
    """What a step printed, its exit code, and what it wrote into the summary of the job."""
    given = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()} | inputs
    variables = {name: INPUT.sub(lambda found: given[found[1]], text) for name, text in STEPS[step]["env"].items()}
    script, summary = folder / "step.sh", folder / "summary.md"
    script.write_text(STEPS[step]["run"])
    summary.write_text("")
    places = [*map(str, path), str(Path(sys.executable).parent), os.environ["PATH"]]
    result = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder,
        env={**os.environ, **variables, "PATH": os.pathsep.join(places), "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
    )
    return result.stdout + result.stderr, result.returncode, summary.read_text()


def test_a_fit_bot_passes_the_check(bot, tmp_path):
    printed, code, summary = run("Check", tmp_path, bot=bot, **QUICK)
    assert code == 0, printed
    assert "sprinter is fit to play." in printed
    assert "sprinter is fit to play." in summary


def test_an_unfit_bot_fails_it_and_the_summary_says_why(tmp_path):
    source = """
        import harness

        class Lazy(harness.Bot):
            games = ("el-paso",)

            def choose(self, view, actions):
                raise ValueError("too tired")
    """
    (tmp_path / "lazy.py").write_text(dedent(source))
    printed, code, summary = run("Check", tmp_path, bot="lazy.py", **QUICK)
    assert code == 1, printed
    assert "too tired" in summary


def test_the_summary_shows_the_comparison(bot, tmp_path):
    printed, code, summary = run("Compare", tmp_path, bot=bot, against="random", **QUICK)
    assert code == 0, printed
    assert "el-paso (sprinter, random)" in summary
    assert "sprinter finished ahead" in summary
    assert summary.count("~~~~~~") == 2


@pytest.fixture
def stub(tmp_path):
    """A program that prints its arguments, one a line, in place of those that a step starts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("arena", "python"):
        (folder / name).write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        (folder / name).chmod(0o755)
    return folder


TEXT_INPUTS = [("Check", "bot"), ("Check", "game"), ("Compare", "bot"), ("Compare", "against"), ("Compare", "game")]


@pytest.mark.parametrize("name", ["$(touch hacked)", "x; touch hacked", '"; touch hacked; "'])
@pytest.mark.parametrize(("step", "given"), TEXT_INPUTS)
def test_an_input_is_never_executed_as_code(step, given, name, stub, tmp_path):
    printed, _code, _summary = run(
        step, tmp_path, [stub], **{"bot": "random", "against": "random", **QUICK, given: name}
    )
    assert name in printed.splitlines()  # one argument, as it was given
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(("step", "given"), TEXT_INPUTS)
def test_an_input_is_never_taken_for_an_option(step, given, tmp_path):
    printed, code, _summary = run(step, tmp_path, **{"bot": "random", "against": "random", **QUICK, given: "--help"})
    assert code == 2, printed


def test_pip_receives_each_word_of_the_input_as_a_separate_argument(stub, tmp_path):
    printed, code, _summary = run("Install", tmp_path, [stub], arena="arena-harness>=0.1 . $(touch hacked)")
    assert code == 0
    assert printed.split("\n")[:-1] == [
        "-m",
        "pip",
        "install",
        "--quiet",
        "arena-harness>=0.1",
        ".",
        "$(touch",
        "hacked)",
    ]
    assert not (tmp_path / "hacked").exists()


def test_scripts_get_inputs_as_variables_only():
    assert not [name for name, step in STEPS.items() if "${{" in step["run"]]
    assert STEPS["Compare"]["if"] == "${{ inputs.against != '' }}"
    assert set(INPUT.findall(str(ACTION["runs"]))) == set(ACTION["inputs"])


def test_the_page_lists_all_inputs():
    page = DOCS / "ci.md"
    workflow = yaml.safe_load(next(block.text for block in blocks(page) if block.language == "yaml"))
    *_, use = workflow["jobs"]["bot"]["steps"]
    owner, folder = use["uses"].split("@")[0].split("/.github/")
    assert owner == "arena-harness/arena"
    assert (ROOT / ".github" / folder / "action.yml").exists()
    assert set(use["with"]) <= set(ACTION["inputs"])
    rows = re.findall(r"^\| `([\w-]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(ACTION["inputs"])
