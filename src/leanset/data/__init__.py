from leanset.data.dynamics import Dynamics
from leanset.data.examples import (
    Examples,
    Features,
    HasExamples,
    checked_examples,
    chosen_rows,
    examples_from,
    feature_blocks,
)
from leanset.data.fingerprint import array_digest, fingerprint
from leanset.data.frames import is_frame
from leanset.data.hf import is_dataset, read_in_memory
from leanset.data.images import Images, Unreadable
from leanset.data.npz import channels_first, read_labels, read_npz
from leanset.data.origin import Origin, listed
from leanset.data.reading import FEATURES_MEMORY, Reading
from leanset.data.sources import kind_of, open_source
from leanset.data.targets import Classes, LabelSets, Numbers, Targets

__all__ = [
    "FEATURES_MEMORY",
    "Classes",
    "Dynamics",
    "Examples",
    "Features",
    "HasExamples",
    "Images",
    "LabelSets",
    "Numbers",
    "Origin",
    "Reading",
    "Targets",
    "Unreadable",
    "array_digest",
    "channels_first",
    "checked_examples",
    "chosen_rows",
    "examples_from",
    "feature_blocks",
    "fingerprint",
    "is_dataset",
    "is_frame",
    "kind_of",
    "listed",
    "open_source",
    "read_in_memory",
    "read_labels",
    "read_npz",
]
