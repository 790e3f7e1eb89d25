"""Loops that play at random: ours and those of others, each run by path in an interpreter that may lack arena.

`server.py` runs one; a loop is a file with `prepare(workload)`, which gives a function that plays the match of a seed,
and says how many choices of two or more it had and how many moves were forced, and `versions()`.
"""
