"""A page that shows a run while it is played: arena serve."""
