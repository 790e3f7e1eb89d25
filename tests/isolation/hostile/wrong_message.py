"""Answers a question with a greeting."""

from polite import play, say


def greet(_message):
    say(type="hello", protocol=1)
    return True


play(greet)
