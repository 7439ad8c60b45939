from leanset.training.models.zoo import MODELS, build_model

__all__ = ["MODELS", "build_model"]
