"""What is served or published with the page: nothing for other sites, nothing from outside a bot's folder."""

from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import pytest

from harness.browser.files import bot_sources
from harness.browser.server import page_server
from harness.core.errors import UsageError
from harness.plugins.registry import load

BOT = """
import harness
if False:
    import helper
class Curious(harness.Bot):
    games = ("el-paso",)
    def choose(self, view, actions):
        return actions[0]
"""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{}", 200),
        ("localhost:{}", 200),
        ("evil.example:{}", 400),
        ("evil.example", 400),
        ("127.0.0.1:1", 400),
    ],
)
def test_the_server_answers_only_to_names_of_this_machine(tmp_path, host, status):
    (tmp_path / "files.json").write_text("{}")
    with page_server(tmp_path) as server:
        Thread(target=server.handle_request, daemon=True).start()
        connection = HTTPConnection("127.0.0.1", server.server_port)
        connection.request("GET", "/files.json", headers={"Host": host.format(server.server_port)})
        answer = connection.getresponse()
        assert answer.status == status
        assert (answer.read() == b"{}") is (status == 200)
        connection.close()


def test_no_link_that_leads_out_of_its_folder_is_published_with_a_bot(tmp_path):
    (tmp_path / "key").write_text("a private key")
    (tmp_path / "bot").mkdir()
    bot, helper = tmp_path / "bot/curious.py", tmp_path / "bot/helper.py"
    bot.write_text(BOT)
    helper.write_text("# its own")
    assert bot_sources(load(), [str(bot)]) == {"curious": {"curious.py": BOT, "helper.py": "# its own"}}
    helper.unlink()
    helper.symlink_to(tmp_path / "key")
    with pytest.raises(UsageError, match="a link leads out of the folder"):
        bot_sources(load(), [str(bot)])


def test_a_source_that_is_no_text_is_refused_in_a_sentence(tmp_path):
    bot = Path(tmp_path, "curious.py")
    bot.write_text(BOT)
    Path(tmp_path, "helper.py").write_bytes(b"# \xff")
    with pytest.raises(UsageError, match="it is not UTF-8"):
        bot_sources(load(), [str(bot)])
