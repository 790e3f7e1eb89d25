"""`arena play GAME --browser`: the page from a server of this machine, for as long as the command runs."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from tempfile import TemporaryDirectory
from typing import BinaryIO
from urllib.parse import quote

from harness.browser.files import find_runtime, write_page
from harness.plugins.discovery import DISTRIBUTION
from harness.plugins.registry import Registry


class PageHandler(SimpleHTTPRequestHandler):
    """Serves the files of one folder, without a line on the terminal for each."""

    def send_head(self) -> BinaryIO | None:
        """Answer only requests for this machine. Otherwise a web page whose name leads here could read the files, and
        with them the sources of installed bots."""
        assert isinstance(self.server, TCPServer)
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            self.send_error(400)
            return None
        return super().send_head()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is that of the base class
        """Print nothing."""

    def list_directory(self, path: object) -> None:
        """Show no folders."""
        self.send_error(404)


def page_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of this folder that only this machine can reach; it does not run yet."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(PageHandler, directory=str(folder)))


def play_in_browser(registry: Registry, game: str | None, runtime: Path | None, say: Callable[[str], None]) -> None:
    """Serve the page with everything that is installed until Ctrl-C, and open it in the user's browser."""
    found = find_runtime(runtime)
    with TemporaryDirectory(prefix="arena-page-") as folder:
        write_page(Path(folder), registry, found, [*_others(registry)])
        with page_server(Path(folder)) as server:
            address = f"http://127.0.0.1:{server.server_port}/index.html" + (f"#game={quote(game)}" if game else "")
            say(f"Play at {address} (only this machine can open it). Ctrl-C ends it.")
            webbrowser.open(address)
            with suppress(KeyboardInterrupt):
                server.serve_forever()


def _others(registry: Registry) -> Iterator[str]:
    """Yield the installed bots and games that are not bundled: on this machine they need not be named."""
    for offers in (registry.bots, registry.games):
        yield from (name for name, offer in offers.items() if offer.source != DISTRIBUTION)
