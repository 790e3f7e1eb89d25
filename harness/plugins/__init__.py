"""How bots, games and formats come in: hooks, the registry of what is installed, entrants, templates for new bots."""
