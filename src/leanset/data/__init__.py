from leanset.data.examples import Examples, checked_examples
from leanset.data.fingerprint import fingerprint
from leanset.data.npz import read_npz

__all__ = ["Examples", "checked_examples", "fingerprint", "read_npz"]
