from leanset.training.models.convnet import CONVNETS, ConvNetDesign
from leanset.training.models.zoo import MODELS, build_model, has_stems, is_normalised

__all__ = ["CONVNETS", "MODELS", "ConvNetDesign", "build_model", "has_stems", "is_normalised"]
