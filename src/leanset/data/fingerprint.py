import hashlib
from collections.abc import Iterable

import numpy as np

from leanset._arrays import AnyArray
from leanset.data.examples import Examples
from leanset.rows import RowTable, blocks_of


def fingerprint(examples: Examples) -> str:
    """Return a SHA-256 digest of features, targets, their names, weights and validation data.

    Examples
    --------
    >>> from leanset.data import checked_examples
    >>> a = checked_examples([[0.0], [1.0]], [0, 1])
    >>> b = checked_examples([[0.0], [1.5]], [0, 1])
    >>> fingerprint(a) == fingerprint(a), fingerprint(a) == fingerprint(b)
    (True, False)
    """
    digest = hashlib.sha256()
    for part in (examples, examples.validation):
        if part is None:
            digest.update(b"no validation")
            continue
        digest.update("\0".join(part.classes).encode())
        for array in (part.features, part.labels) if part.rows is None else (part.features, part.labels, part.rows):
            _add_array(digest, array)
        if part.weight is not None:
            digest.update(b"weight")
            _add_array(digest, part.weight)
    return digest.hexdigest()


def array_digest(*arrays: AnyArray | RowTable) -> str:
    """Return a SHA-256 digest of arrays, their types and their shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        _add_array(digest, array)
    return digest.hexdigest()


def _add_array(digest: "hashlib._Hash", array: AnyArray | RowTable) -> None:
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    if isinstance(array, RowTable):  # the same digest as that of the same numbers in memory
        parts: Iterable[AnyArray] = blocks_of(array)
    else:  # in blocks: a strided or mapped array is never copied as a whole
        parts = (array[start : start + 65536] for start in range(0, len(array), 65536))
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
