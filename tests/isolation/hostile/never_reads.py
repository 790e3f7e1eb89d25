"""Falls asleep in the middle of a match."""

import time

from polite import play

play(lambda _message: time.sleep(1000))
