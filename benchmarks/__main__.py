"""`python -m benchmarks [NAME] [--out DIR] [--data PATH]`: run one benchmark, or all, and write down what it found."""

import argparse
import importlib
import importlib.util
import os
import sys
from pathlib import Path

from benchmarks._record import Request, record
from benchmarks._show import show

FOLDERS = {  # of the records of each benchmark, under results/
    **dict.fromkeys(
        (
            "truth",
            "quality",
            "paper",
            "lossless",
            "influence",
            "speed",
            "growth",
            "memory",
            "random_sets",
            "embeddings",
            "limit",
            "head_growth",
            "estimate",
            "scale",
        ),
        "heart",
    ),
    **dict.fromkeys(
        ("scores", "images", "networks", "convolutions", "quick", "rule", "retraining", "chooser"), "images"
    ),
}
NAMES = tuple(FOLDERS)
ROOT = Path(__file__).resolve().parents[1]
DATA = "../shared/data/cifar10_resnet20_head.npz"
NO_PEER = (
    "influence needs pyDVL, which has an environment of its own: "
    "sh benchmarks/peers.sh && .venv-peers/bin/python -m benchmarks influence"
)


def main() -> None:
    options = _options()
    for name in NAMES if options.name == "all" else (options.name,):
        if name == "influence" and importlib.util.find_spec("pydvl") is None:
            if options.name == "all":
                print(f"Left out: {NO_PEER}")
                continue
            raise SystemExit(f"benchmarks: {NO_PEER}")
        folder = "runs/benchmarks-small" if options.small else f"results/{FOLDERS[name]}"
        request = Request(
            data=Path(options.data) if options.data else Path(os.path.relpath(ROOT / DATA)),
            out=Path(options.out) if options.out else ROOT / folder,
            small=options.small,
            only=options.only,
        )
        module = importlib.import_module(f"benchmarks.{name}")
        show(name, *record(name, module.__doc__ or "", module.run, request, _command(name, options)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure leanset's claims.")
    parser.add_argument("name", nargs="?", default="all", choices=(*NAMES, "all"))
    parser.add_argument("--out", help="folder for the records (default: results/heart or results/images)")
    parser.add_argument("--data", help=f"npz file, or the folder of CIFAR-10 (default: {DATA}, and beside it)")
    parser.add_argument("--only", metavar="PART", help="measure one part only, where a benchmark has parts (scale)")
    parser.add_argument("--small", action="store_true", help=argparse.SUPPRESS)  # a quick test of the benchmarks
    return parser.parse_args()


def _command(name: str, options: argparse.Namespace) -> str:
    """Return the command in words that mean the same on any machine: no absolute path."""
    here = Path(sys.executable)
    words = [str(here.relative_to(ROOT)) if here.is_relative_to(ROOT) else "python", "-m", "benchmarks", name]
    for flag, value in (("--out", options.out), ("--data", options.data), ("--only", options.only)):
        if value:
            words += [flag, Path(value).name if Path(value).is_absolute() else value]
    return " ".join(words + ["--small"] * options.small)


if __name__ == "__main__":
    main()
