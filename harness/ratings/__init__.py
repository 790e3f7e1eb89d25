"""Ratings with honest errors: TrueSkill, the share of opponents beaten, significant differences."""
