"""Is one bot better than another? arena compare, harness.compare and the format they play."""

NOT_COMPARED = ("bots", "candidates", "deals", "for_", "format", "matches_each", "max_faults", "players")
"""Options of a run that a comparison decides itself, or has under another name."""
