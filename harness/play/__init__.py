"""A person at a terminal: playing against bots, and stepping through recorded matches."""
