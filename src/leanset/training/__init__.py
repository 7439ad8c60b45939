"""Training networks: recipes, a zoo of models, one plain loop, and the folder of a trained network. Needs torch."""

from leanset._errors import missing_extra

try:
    from leanset.training.devices import channels_last, fabric_for, torch_threads
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("torch", "lightning_fabric", "lightning_utilities"):
        raise
    raise missing_extra("Training a network", "torch") from None

from leanset.data import Dynamics
from leanset.training.batches import Batch, Batches, ImageBatches, PixelScale, steps_of
from leanset.training.checkpoint import load_weights, read_checkpoint
from leanset.training.convolutions import FastConvolutions
from leanset.training.datasets import DatasetBatches
from leanset.training.flops import step_flops, training_pflop
from leanset.training.folder import EARLY, HEAD, NetworkFolder
from leanset.training.gradients import gradient_norms
from leanset.training.history import EpochLog
from leanset.training.loop import Training, check_weights, train
from leanset.training.models import CONVNETS, MODELS, ConvNetDesign, build_model, has_stems, is_normalised
from leanset.training.precision import check_precision, mixed_precision, number_type
from leanset.training.quality import SAME_LOSS, Quality, predicted, quality
from leanset.training.recipe import PRESETS, Recipe, preset, preset_of
from leanset.training.recorder import Recorder
from leanset.training.sampling import KeptSampler

__all__ = [
    "CONVNETS",
    "EARLY",
    "HEAD",
    "MODELS",
    "PRESETS",
    "SAME_LOSS",
    "Batch",
    "Batches",
    "ConvNetDesign",
    "DatasetBatches",
    "Dynamics",
    "EpochLog",
    "FastConvolutions",
    "ImageBatches",
    "KeptSampler",
    "NetworkFolder",
    "PixelScale",
    "Quality",
    "Recipe",
    "Recorder",
    "Training",
    "build_model",
    "channels_last",
    "check_precision",
    "check_weights",
    "fabric_for",
    "gradient_norms",
    "has_stems",
    "is_normalised",
    "load_weights",
    "mixed_precision",
    "number_type",
    "predicted",
    "preset",
    "preset_of",
    "quality",
    "read_checkpoint",
    "step_flops",
    "steps_of",
    "torch_threads",
    "train",
    "training_pflop",
]
