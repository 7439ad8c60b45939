from leanset.data.dynamics import Dynamics
from leanset.data.examples import Examples, HasExamples, checked_examples, examples_from
from leanset.data.fingerprint import array_digest, fingerprint
from leanset.data.frames import is_frame
from leanset.data.images import Images, Unreadable
from leanset.data.npz import channels_first, read_labels, read_npz
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
    "Targets",
    "Unreadable",
    "array_digest",
    "channels_first",
    "checked_examples",
    "examples_from",
    "fingerprint",
    "is_frame",
    "kind_of",
    "open_source",
    "read_labels",
    "read_npz",
]
