"""Structure-aware fuzzing of every file and line that other people may send: `python -m tests.fuzz --help`."""
