"""A league: a folder that lives, in which versions of bots join, play and leave."""
