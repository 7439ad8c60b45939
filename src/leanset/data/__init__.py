from leanset.data.examples import Examples, checked_examples
from leanset.data.fingerprint import array_digest, fingerprint
from leanset.data.images import Images, Unreadable
from leanset.data.npz import read_labels, read_npz
from leanset.data.sources import open_source

__all__ = [
    "Examples",
    "Images",
    "Unreadable",
    "array_digest",
    "checked_examples",
    "fingerprint",
    "open_source",
    "read_labels",
    "read_npz",
]
