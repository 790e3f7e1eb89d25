"""Shared parts of the search bots: budgets, rewards, playouts, the tree. Not bots themselves."""
