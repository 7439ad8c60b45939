from leanset.training.models.zoo import MODELS, build_model, is_normalised

__all__ = ["MODELS", "build_model", "is_normalised"]
