"""Runs: the request, the run folder, playing the matches, and checking the records."""
