"""Leaves children behind, in sessions of their own and with all pipes open, and ends."""

import os
import time

from polite import play


def scatter(_message):
    for _ in range(3):
        if os.fork() == 0:
            try:
                os.setsid()
            except PermissionError:  # the filter refuses it; a group will do
                os.setpgid(0, 0)
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
    os._exit(3)


play(scatter)
