"""Never comes to an end."""

from polite import play


def loop(_message):
    while True:
        pass


play(loop)
