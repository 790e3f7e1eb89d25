"""Is A better than B? A sequential test on duplicate sets that stops as soon as it knows."""

from harness.compare.duel import MARGIN, MOST_SETS, POWER, Play, Question, Verdict, compare, specs

__all__ = ["MARGIN", "MOST_SETS", "POWER", "Play", "Question", "Verdict", "compare", "specs"]
