"""Answers with noise."""

import sys

from polite import play


def noise(_message):
    sys.stdout.buffer.write(bytes(range(1, 10)) + b"\xff\xfe{]}\n")
    sys.stdout.flush()
    return True


play(noise)
