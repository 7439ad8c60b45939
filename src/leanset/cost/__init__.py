from leanset.cost.estimation import Estimate, estimate, estimate_plan

__all__ = ["Estimate", "estimate", "estimate_plan"]
