"""Plays well, but leaves children that want to outlive it."""

import os
import time

from polite import play


def scatter(message):
    if message["id"] == 3 and os.fork() == 0:
        try:
            os.setsid()
        except PermissionError:  # the filter refuses it; a group will do
            os.setpgid(0, 0)
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


play(scatter)
