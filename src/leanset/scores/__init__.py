from leanset.scores.contract import Evidence, Method, Score

__all__ = ["Evidence", "Method", "Score"]
