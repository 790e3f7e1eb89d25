"""The search bots, at games whose answers are known and at the bundled ones."""
