"""A run: what was asked for, its folder, playing it, checking it."""
