"""One match: the referee that plays it, faults, replay of a record, and asking a bot again."""
