"""Starts many more processes than it may have; not without end, for machines that cannot stop it."""

import os
import time
from contextlib import suppress

from polite import play


def bomb(_message):
    with suppress(OSError):
        for _ in range(300):
            if os.fork() == 0:
                time.sleep(1000)
    time.sleep(1000)


play(bomb)
