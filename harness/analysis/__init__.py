"""What kind of game it is, measured: length, choices, seats, luck and skill, rules. arena analyse, harness.analyse."""
