"""Gives every answer twice."""

from polite import play, say

play(lambda message: say(type="choice", id=message["id"], code=message["legal"][0]))
