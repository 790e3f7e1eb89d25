"""Sends megabytes without an end of line."""

import sys

from polite import play


def flood(_message):
    while True:
        sys.stdout.write("x" * 100_000)


play(flood)
