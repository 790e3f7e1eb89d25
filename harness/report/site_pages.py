"""How pages of a site are made: shared scripts and styles in files, navigation, link previews."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from msgspec import Struct

from harness._version import VERSION
from harness.core.files import Folder, write_whole
from harness.report.faces import faces_script
from harness.report.parts import STYLES, asset, page_environment

ASSETS = "assets"
TITLE = "Bots at board games"


class SiteSettings(Struct, frozen=True):
    """The organiser's settings for a site; kept in site.json for the next time."""

    id: str = ""
    url: str = ""
    title: str = ""
    headline: str = ""
    """Folder of the run whose standing is on the front page; empty for the newest."""
    next: str = ""
    """When the next update is due, as it was written."""

    @property
    def shown_title(self) -> str:
        """The title, or the default one."""
        return self.title or TITLE


@dataclass(slots=True)
class SitePages:
    """Renders the pages of a site.

    Scripts and styles are files named by their content: a page that stays as it was when the site is published again
    keeps those that it was made with.
    """

    site: Folder
    settings: SiteSettings
    league: bool = False
    """Whether the site has a page of a league."""
    playable: bool = False
    """Whether the site has a page on which one can play."""
    _written: dict[tuple[str, str], str] = field(default_factory=dict)

    def file(self, name: str, ending: str, text: str) -> str:
        """Write a shared file and return its path in the site."""
        key = name, text
        if key not in self._written:
            path = f"{ASSETS}/{name}-{sha256(text.encode()).hexdigest()[:10]}.{ending}"
            if not self.site.has_file(path):
                self.site.make(ASSETS)
                write_whole(self.site, path, text.encode())
            self._written[key] = path
        return self._written[key]

    def page(
        self, path: str, template: str, scripts: Sequence[tuple[str, str]], preview: str = "", /, **values: object
    ) -> None:
        """Write a page rendered from a template; `scripts` are names and texts of its scripts, `preview` is the path of
        its picture for link previews."""
        root = "../" * path.count("/")
        base = f"{self.settings.url.rstrip('/')}/" if self.settings.url else ""
        text = page_environment().get_template(template).render(
            policy="default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'",
            styles=[root + self.file("style", "css", "\n".join(map(asset, STYLES)))],
            scripts=[root + self.file(name, "js", source) for name, source in scripts],
            root=root,
            site=self.settings,
            league=self.league,
            playable=self.playable,
            address=f"{base}{path}" if base else "",
            picture=f"{base or root}{preview}" if preview else "",
            version=VERSION,
            **values,
        )  # fmt: skip
        write_whole(self.site, path, text.encode())


def block(script: str) -> str:
    """Return a script in a block: its names do not collide with those of other scripts on the page."""
    return f"{{\n{script}\n}}"


def page_script() -> tuple[str, str]:
    """Return the script of every page: tables, tabs, results that appear on a tap."""
    return "page", asset("page.js")


def viewer_script(game: str, board: str) -> tuple[str, str]:
    """Return the script of the replay viewer with the drawing of a game."""
    sources = [asset("drawing.js"), faces_script(), *([block(board)] if board else []), asset("viewer.js")]
    return game, "\n".join([*sources, asset("page.js")])


def tile_script(boards: Sequence[str]) -> tuple[str, str]:
    """Return the script that draws tables on the front page and on pages of games."""
    return "tiles", "\n".join([asset("drawing.js"), *map(block, boards), asset("tiles.js"), asset("page.js")])
