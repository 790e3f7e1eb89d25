"""Allocates four gigabytes."""

from polite import play


def eat(_message):
    return len(bytearray(4 << 30)) == 0


play(eat)
