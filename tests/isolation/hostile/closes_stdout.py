"""Closes the pipe to arena and lives on."""

import os
import time

from polite import play


def close(_message):
    os.close(1)
    time.sleep(1000)


play(close)
