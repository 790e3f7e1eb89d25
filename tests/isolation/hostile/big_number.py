"""Answers with a number of many thousand digits."""

import sys

from polite import play


def number(message):
    sys.stdout.write('{"type":"choice","id":' + str(message["id"]) + ',"code":' + "9" * 50_000 + "}\n")
    sys.stdout.flush()
    return True


play(number)
