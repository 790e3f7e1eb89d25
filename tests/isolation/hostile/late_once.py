"""Is late in the first match of its life that has anything to do with it: the file that it is given remembers."""

import sys
import time
from pathlib import Path

from polite import play


def dawdle(_message):
    flag = Path(sys.argv[1])
    if not flag.exists():
        flag.touch()
        time.sleep(3600)


play(dawdle)
