"""Ask bots what they would do at the decisions of recorded matches: arena ask, Match.ask."""
