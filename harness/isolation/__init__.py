"""Bots in other processes: the wire protocol and the sandbox.

This file imports nothing, so that a bot's process starts quickly.
"""
