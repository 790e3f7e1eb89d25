"""Says hello and then answers questions that it does not read."""

import sys
import time

from polite import say

sys.stdin.readline()
say(type="hello", protocol=1, name="hostile", games=["el-paso"], wants=[])
time.sleep(0.05)
for number in range(100_000):
    say(type="ready" if number == 0 else "choice", id=number, code=0)
time.sleep(1000)
