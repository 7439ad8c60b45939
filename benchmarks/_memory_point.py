"""One point of the memory benchmark: `python -m benchmarks._memory_point WHAT ROWS FEATURES CLASSES`.

WHAT is "data" (import leanset and make the mixture) or "prune" (and prune it). Prints the peak of this process's resident
set as JSON. Uses nothing of leanset but its public interface, so that it can measure older versions, too.
"""

import json
import resource
import sys
import time

import leanset
from benchmarks._growth_point import mixture
from benchmarks._measure import RSS_UNIT

FRACTION = 0.4


def main() -> None:
    what, *shape = sys.argv[1:]
    features, labels = mixture(*map(int, shape))
    answer = {}
    if what == "prune":
        began = time.perf_counter()
        certificate = leanset.prune(features, labels, fraction=FRACTION, frontier=False).certificate
        answer = {
            "seconds": time.perf_counter() - began,
            "inverse": certificate.inverse,
            "refit_change": certificate.refit_change,
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT
    print(json.dumps({"peak_bytes": peak, **answer}))


if __name__ == "__main__":
    main()
