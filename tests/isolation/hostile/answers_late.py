"""Answers when the time is over."""

import time

from polite import play

play(lambda _message: time.sleep(5))
