"""Take luck out of results: arena learn-values, and luck-adjusted leaderboards."""
