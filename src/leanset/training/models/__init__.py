from leanset.training.models.convnet import CONVNETS, ConvNetDesign
from leanset.training.models.whitening import Whitening, whitening_layers
from leanset.training.models.zoo import MODELS, build_model, has_stems, is_normalised

__all__ = [
    "CONVNETS",
    "MODELS",
    "ConvNetDesign",
    "Whitening",
    "build_model",
    "has_stems",
    "is_normalised",
    "whitening_layers",
]
