"""What the hostile programs have in common: they play well for a while."""

import json
import sys


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def play(misbehave=None, name="hostile", over=None):
    """Plays; from the third decision on `misbehave` has the word (True: it has answered), at the end `over`."""
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            say(type="hello", protocol=1, name=name, games=["el-paso"], wants=[])
        elif kind == "bye":
            return
        elif kind == "choose":
            if misbehave is None or message["id"] < 3 or not misbehave(message):
                say(type="choice", id=message["id"], code=message["legal"][0])
        else:
            if kind == "game-over" and over is not None:
                over(message)
            say(type="ready", id=message["id"])
