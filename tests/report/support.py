"""What tests of pages share: bots, a league, a server, and scripts that measure a page."""

from __future__ import annotations

from http.server import SimpleHTTPRequestHandler
from pathlib import Path

from tests.support.cli import arena

FAILING = """
from harness import Bot
class Failing(Bot):
    "Notes what it sees, and fails at its ninth decision."
    asked = 0
    def choose(self, view, actions):
        self.asked += 1
        self.note(f"decision {self.asked}")
        return actions[0] if self.asked < 9 else 1 / 0
"""
CLIMBER = '''
from harness import Bot
class Climber(Bot):
    """Takes the same place in every list."""
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[{taken}]
'''


def make_league(folder: Path) -> Path:
    """A league of El Paso in which one bot has two versions."""
    arena("league", "init", folder, "--game", "el-paso", "--seed", 5)
    arena("league", "add", "outlaw", "diehard", "random", "-L", folder)
    file = folder.with_name("climber.py")
    for taken in (-1, 0):
        file.write_text(CLIMBER.format(taken=taken))
        arena("league", "add", file, "--author", "Ada", "-L", folder)
        arena("league", "run", "--matches", 12, "--workers", 0, "-q", "-L", folder)
    return folder


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


# Scripts that measure a page: each returns what is wrong.
SMALL_TEXTS = """
const found = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, box = node.parentElement;
  if (!node.textContent.trim() || !box.checkVisibility({ visibilityProperty: true })) continue;
  if (box.closest("title, desc, option, script, noscript")) continue;
  const svg = box.closest("svg"), scale = svg ? Math.hypot(box.getScreenCTM().b, box.getScreenCTM().d) : 1;
  const size = parseFloat(getComputedStyle(box).fontSize) * scale;
  const kind = `${size.toFixed(1)} px in ${box.tagName} ${box.className.baseVal ?? box.className}`;
  if (size < 10.99) found.set(kind, node.textContent.trim().slice(0, 40));
}
return [...found].map((pair) => pair.join(": "));
"""
SMALL_CONTROLS = """
return [...document.querySelectorAll("a, button, select, input, summary")].filter((one) => one.checkVisibility())
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, own]) => own.height < 23.99 || (own.width < 23.99 && one.localName !== "a"))
  .map(([one, own]) => `${one.outerHTML.slice(0, 90)}: ${own.width.toFixed(0)} x ${own.height.toFixed(1)}`);
"""
SERIOUS = """
const done = arguments[arguments.length - 1];
const shown = (node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`;
axe.run(document, { resultTypes: ["violations"] }).then((found) => done(found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map(shown).join(" | ")}`)),
  (error) => done([String(error)]));
"""
