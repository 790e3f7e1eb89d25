"""Bots behind a pipe: programs in any language, and Python bots in processes of their own.

`messages` is the wire; `warden`, `confine`, `jail`, `landlock` and `kernel` run on the bot's side of it and need no
more than the standard library; `process`, `session` and `player` are the referee's side; `child` serves a Python bot.
This file imports nothing, so that a bot's process starts quickly.
"""
