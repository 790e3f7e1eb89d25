"""Answers with an action that is not legal."""

from polite import play, say


def cheat(message):
    say(type="choice", id=message["id"], code=10**6)
    return True


play(cheat)
