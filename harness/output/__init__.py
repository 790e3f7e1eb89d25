"""Output for people and programs: tables in every format, progress and messages."""
