"""Parts of files and stores that were decoded lately, because the chunks of a pass need not be theirs."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from leanset._arrays import AnyArray
from leanset._threads import available_threads

_FEWEST_KEPT = 4


class DecodedParts:
    """The parts that were used last; each is decoded by the thread that asks first, while others wait for it.

    Examples
    --------
    >>> import numpy as np
    >>> parts = DecodedParts()
    >>> parts.get("a", lambda: np.ones(2)) is parts.get("a", lambda: np.zeros(2))
    True
    """

    def __init__(self) -> None:
        self._parts: OrderedDict[Hashable, Future[AnyArray]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, decode: Callable[[], AnyArray]) -> AnyArray:
        """Return a part, decoded now if it was not lately."""
        with self._lock:
            part, new = self._parts.get(key), key not in self._parts
            if part is None:
                part = self._parts[key] = Future()
            self._parts.move_to_end(key)
            while len(self._parts) > max(_FEWEST_KEPT, 2 * available_threads()):
                self._parts.popitem(last=False)
        if new:
            try:
                part.set_result(decode())
            except BaseException as error:
                with self._lock:
                    self._parts.pop(key, None)
                part.set_exception(error)
        return part.result()

    def clear(self) -> None:
        """Forget all parts."""
        with self._lock:
            self._parts.clear()
