"""How fast things are on this machine, as ratios taken in one run."""
