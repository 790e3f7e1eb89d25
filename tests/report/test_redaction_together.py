"""What is withheld of a run that goes on is withheld of several that are read together; an extended run stays one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.cli import arena

FIELD = ["--game", "el-paso", "--players", 3, "--workers", 0, "-q", "--bot", "outlaw", "--bot", "diehard",
         "--bot", "random", "--bot", "skittish"]  # fmt: skip


def cut(run: Path, records: int) -> None:
    """Leaves a run as it was after so many matches."""
    games = run / "games.jsonl"
    games.write_bytes(b"".join(games.read_bytes().splitlines(keepends=True)[:records]))
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | {"finished": "", "records": "", "notes": ""}))


def test_a_deal_that_another_candidate_has_yet_to_play_is_shown_in_no_replay():
    gauntlet = ["--format", "gauntlet", "--candidate", "outlaw", "--candidate", "diehard", "--deals", 2]
    arena("tournament", *FIELD, *gauntlet, "--seed", 918273645546, "--name", "g")
    arena("tournament", *FIELD, "--deals", 1, "--seed", 918273645547, "--name", "a")
    cut(Path("results/g"), 3)  # the first candidate has played its first table, the second has not
    arena("report", "g", "a", "--match", "g/el-paso-1.1.1", "--to", "both.html")
    page = Path("both.html").read_text()
    assert 'id="scene-a/' in page
    scenes = page.split('id="scene-g/')[1:]
    assert all("Its deal is still being played" in scene.partition("</script>")[0] for scene in scenes)


def test_an_extended_run_keeps_its_folder_on_the_site():
    arena("tournament", *FIELD, "--deals", 1, "--seed", 918273645547, "--name", "a")
    arena("publish", "a", "--to", "site")
    arena("tournament", "--resume", "a", "--deals", 2, "--workers", 0, "-q")
    for _ in range(2):
        arena("publish", "a", "--to", "site")
    assert [path.name for path in Path("site/runs").iterdir() if path.is_dir()] == ["a"]


def test_a_run_resumed_with_changed_bots_is_reported_when_runs_are_combined():
    Path("bot.py").write_text(
        "from harness import Bot\n\nclass First(Bot):\n    games = ('el-paso',)\n\n"
        "    def choose(self, view, actions):\n        return actions[0]\n"
    )
    arena("tournament", *FIELD, "--bot", "bot.py", "--deals", 1, "--seed", 918273645547, "--name", "a")
    shutil.copytree("results/a", "results/b")
    Path("bot.py").write_text(Path("bot.py").read_text().replace("[0]", "[-1]"))
    before = Path("results/b/run.json").read_bytes()
    arena("tournament", "--resume", "b", "--deals", 10**13, "--force", code=2)
    assert Path("results/b/run.json").read_bytes() == before  # what is refused changes nothing
    arena("tournament", "--resume", "b", "--deals", 2, "--force", "--workers", 0, "-q")
    assert "was continued although the" in arena("leaderboard", "a", "b").stderr
