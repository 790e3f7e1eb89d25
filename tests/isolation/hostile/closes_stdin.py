"""Wants to hear nothing more, but goes on talking."""

import os
import time

from polite import play, say


def close(message):
    os.close(0)
    say(type="choice", id=message["id"], code=message["legal"][0])
    time.sleep(1000)


play(close)
