"""The feature `arena new-bot` and `arena new-game`: plugin packages to start from."""
