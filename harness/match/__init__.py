"""One match: the referee that plays it, the faults it tells, and how a record is played again and told in words."""
