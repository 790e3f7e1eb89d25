"""How bots, games and formats come in: hooks, the registry of what is installed, entrants."""
