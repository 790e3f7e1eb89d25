"""The wire between arena and bots in other processes: programs in any language, and Python bots on their own.

`messages` is what is said, `session` arena's side of one conversation, `remote_bot` the Bot that asks a session, and
`child` answers for a Python bot, in that bot's own process. How lines get to a process, and what confines it, is none
of this package's business: a session is given a `Channel`. This file imports nothing, so that a bot's process starts
quickly.
"""
