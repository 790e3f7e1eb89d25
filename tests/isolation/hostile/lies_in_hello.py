"""Is somebody else each time it is asked."""

import os

from polite import play

play(name=f"hostile-{os.urandom(8).hex()}")
