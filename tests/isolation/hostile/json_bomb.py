"""Sends JSON that is a nest of lists, as deep as a line may be long."""

import sys

from polite import play


def nest(message):
    deep = "[" * 25_000 + "]" * 25_000
    sys.stdout.write('{"type":"choice","id":' + str(message["id"]) + ',"code":0,"more":' + deep + "}\n")
    sys.stdout.flush()
    return True


play(nest)
