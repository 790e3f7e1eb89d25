"""A league: a folder in which versions of bots join, play and leave over a long time."""
