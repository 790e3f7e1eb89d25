"""Plays well, and tries to write to every folder it is told of and to reach the port it is told of."""

import socket
import sys
from contextlib import suppress
from pathlib import Path

from polite import play

port, *folders = sys.argv[1].split(",")


def sneak(_message):
    for folder in folders:
        with suppress(OSError):
            Path(folder, "sneaked").write_text("here I was")
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", int(port)), 0.1).close()


play(sneak)
