"""Begins an answer and never ends it."""

import sys

from polite import play


def half(_message):
    sys.stdout.write('{"type":"choice","id":')
    sys.stdout.flush()
    return True


play(half)
