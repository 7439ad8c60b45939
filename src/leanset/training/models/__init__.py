from leanset.training.models.zoo import MODELS, build_model, has_stems, is_normalised

__all__ = ["MODELS", "build_model", "has_stems", "is_normalised"]
