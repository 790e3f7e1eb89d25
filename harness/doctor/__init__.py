"""`arena doctor`: what this machine can enforce against untrusted bots, and how Arena is installed."""
