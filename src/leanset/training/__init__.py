from leanset.training.dynamics import Dynamics

__all__ = ["Dynamics"]
