"""What the search bots share: budgets, rewards, playouts, the tree. Not bots themselves."""
