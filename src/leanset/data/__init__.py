from leanset.data.dynamics import Dynamics
from leanset.data.examples import Examples, HasExamples, checked_examples, examples_from
from leanset.data.fingerprint import array_digest, fingerprint
from leanset.data.frames import is_frame
from leanset.data.hf import is_dataset, read_in_memory
from leanset.data.images import Images, Unreadable
from leanset.data.npz import channels_first, read_labels, read_npz
from leanset.data.origin import Origin, listed
from leanset.data.reading import Reading
from leanset.data.sources import kind_of, open_source
from leanset.data.targets import Classes, LabelSets, Numbers, Targets

__all__ = [
    "Classes",
    "Dynamics",
    "Examples",
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
    "examples_from",
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
