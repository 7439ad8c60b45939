"""How well and how fast the fast preset trains small networks on all of CIFAR-10, through the command line.

`leanset train cifar10:DIR --model MODEL --seed 0`: 50,000 images, tested on the 10,000 of the test batch after the last
epoch. Seconds are those of the whole command, reading and testing included.
"""

import json
import sys

from benchmarks._data import cifar10_folder
from benchmarks._measure import measured
from benchmarks._record import Findings, Request, Row, at_least, at_most

LEANSET = [sys.executable, "-c", "from leanset.cli import main; main()"]
TARGETS = {"resnet8": (0.85, 900), "resnet20": (0.90, 3600)}  # accuracy, seconds
SEED = 0


def run(request: Request) -> Findings:
    rows: list[Row] = []
    claims = []
    for model, (accuracy, seconds) in TARGETS.items():
        command = ["train", f"cifar10:{cifar10_folder(request)}", "--model", model, "--seed", str(SEED), "--json"]
        usage = measured([*LEANSET, *command, *(["--epochs", "1"] if request.small else [])])
        answer = json.loads(usage.output)
        rows.append({"model": model, "seconds": usage.seconds, "peak_gb": usage.peak_bytes / 1e9, **answer})
        claims.append(at_least(f"{model}: test accuracy", answer["held_out_accuracy"], accuracy))
        claims.append(at_most(f"{model}: seconds", usage.seconds, seconds))
    return Findings(rows, [SEED], claims)
