"""The contracts: what games, bots, luck and records are. It imports nothing from the rest of harness."""
