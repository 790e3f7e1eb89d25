"""Plays well, but leaves children that want to outlive it."""

import os
import time

from polite import play


def scatter(message):
    if message["id"] == 3 and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


play(scatter)
