"""Do two versions of leanset give the same answers? Run once with each version's Python, then compare.

    python benchmarks/answers.py record old.json                    # with the old version installed
    python benchmarks/answers.py record new.json --sets old.json    # with the new one
    python benchmarks/answers.py compare old.json new.json

`record` prunes twelve configurations (sizes, budgets, methods, images) with three seeds and writes the kept rows and the
certificates. With `--sets` it also certifies the very sets that another version chose, by pinning all that they keep.
It uses nothing but the public interface, so that it runs on both sides of a redesign.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import leanset
from leanset.head.statistics import HeadStatistics
from leanset.training import Dynamics

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "cifar10_resnet20_head.npz"
SEEDS = (0, 1, 2)
TEXTS = ("notes", "findings", "outcome", "leanset_version")  # words may change; numbers may not
MEASURED = (
    *("refit_change", "newton_change", "influence_change", "head_norm", "random_refit_change_mean"),
    *("validation_loss_gap", "first_order_bound", "second_order_bound"),
)
Prune = Callable[..., leanset.PruneResult]


def mixture(n: int, width: int, classes: int, distance: float, seed: int, held_out: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n + held_out)
    labels[:classes] = np.arange(classes)
    features = rng.normal(size=(n + held_out, width)) + distance * rng.normal(size=(classes, width))[labels]
    return {
        "features": features[:n],
        "labels": labels[:n],
        "validation": (features[n:], labels[n:]),
    }


def recorded(data: dict[str, Any]) -> HeadStatistics:
    rng, n = np.random.default_rng(5), len(data["labels"])
    p = np.clip(rng.random(n) + rng.normal(0, 0.2, (8, n)), 0.01, 0.99).astype(np.float32)
    return HeadStatistics(
        features=data["features"].astype(np.float32),
        labels=data["labels"],
        classes=tuple(map(str, range(int(data["labels"].max()) + 1))),
        validation=data["validation"],
        dynamics=(Dynamics(p > 0.5, p, 4 * p - 2, np.sqrt(2) * (1 - p)),),
        weight_decay=0.01,
    )


def configurations() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield a name, the data and the options of each configuration."""
    small, middle = mixture(240, 5, 3, 1.2, 3), mixture(3000, 20, 5, 0.7, 4)
    yield "small, frontier", small, {"fraction": 0.4, "l2": 1e-2}
    yield "small, epsilon", small, {"epsilon": 0.5, "l2": 1e-2, "frontier": False}
    yield "small, loss gap", small, {"max_loss_gap": 0.01, "l2": 1e-2, "frontier": False}
    yield "small, paper (b)", small, {"fraction": 0.5, "formulation": "paper", "frontier": False}
    yield "small, paper (a)", small, {"epsilon": 0.5, "l2": 1e-2, "formulation": "paper", "frontier": False}
    yield "middle, 70 %", middle, {"fraction": 0.7, "pinned": [0, 5, 99], "class_balance": "none", "frontier": False}
    yield (
        "middle, conjugate gradients",
        middle,
        {"count": 900, "inverse": leanset.ConjugateGradients(), "frontier": False},
    )
    yield "middle, el2n", middle, {"relative_epsilon": 0.2, "method": "el2n", "frontier": False}
    yield "middle, covered", {"features": recorded(middle)}, {"fraction": 0.6, "frontier": False}
    yield (
        "many classes, structured",
        mixture(900, 60, 20, 0.5, 6),
        {"fraction": 0.3, "memory": 2**24, "frontier": False},
    )
    if SHARED.is_file():
        with np.load(SHARED) as file:
            rows = np.arange(10_000)
            head = {
                "features": file["features"][rows],
                "labels": file["labels"][rows],
                "validation": (file["val_features"], file["val_labels"]),
            }
        yield "ResNet-20, 10,000 rows", head, {"fraction": 0.4, "frontier": False}


def pruned(data: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    return described(leanset.prune(**data, **options, progress=False))


def described(result: leanset.PruneResult) -> dict[str, Any]:
    return {"kept": result.kept.tolist(), "certificate": result.certificate.to_dict()}


def images(seed: int) -> dict[str, Any]:
    """Prune striped images through the command line: train, capture, prune."""
    rng = np.random.default_rng(0)
    labels = np.arange(180) % 3
    waves = np.sin(np.arange(16)[None, :] * (labels[:, None] + 1) * 0.8)[:, None, :]
    pixels = np.clip(110 + 60 * waves + rng.normal(0, 25, (180, 16, 16)), 0, 255).astype(np.uint8)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(
            folder / "images.npz",
            images=pixels[:120],
            labels=labels[:120],
            val_images=pixels[120:],
            val_labels=labels[120:],
        )
        command = [str(Path(sys.executable).parent / "leanset"), "prune", f"npz:{folder / 'images.npz'}"]
        options = ["--model", "lenet", "--epochs", "2", "--fraction", "0.4", "--seed", str(seed), "--threads", "1"]
        subprocess.run([*command, *options, "--no-frontier", "--quiet", "--out", str(folder / "run")], check=True)
        return described(leanset.load(folder / "run"))


def record(path: Path, sets: Path | None) -> None:
    found: dict[str, Any] = {}
    known = {} if sets is None else json.loads(sets.read_text())
    for name, data, options in configurations():
        found[name] = {str(seed): pruned(data, options | {"seed": seed}) for seed in SEEDS}
        if name in known:
            found[name]["given"] = given(data, options, known[name]["0"]["kept"])
        print(name, [found[name][str(seed)]["certificate"]["refit_change"] for seed in SEEDS], flush=True)
    found["images, lenet"] = {"0": images(0)}
    path.write_text(json.dumps(found))


def given(data: dict[str, Any], options: dict[str, Any], kept: list[int]) -> dict[str, Any]:
    """Certify one set, by pinning everything that it keeps."""
    n = len(data["features"])
    unused = ("fraction", "count", "epsilon", "relative_epsilon", "max_loss_gap", "class_balance", "pinned", "method")
    rest = {key: value for key, value in options.items() if key not in unused} | {"frontier": False}
    # Scores, the paper's rule and leanset's own search all have one set to choose from; "random" chooses it fastest.
    if "formulation" not in rest:
        rest["method"] = "random"
    return pruned(data, rest | {"count": n - len(kept), "pinned": kept, "class_balance": "none"})


def compare(old_path: Path, new_path: Path) -> None:
    old, new = (json.loads(path.read_text()) for path in (old_path, new_path))
    print("| configuration | same rows (seeds) | certificate | given set, largest difference | quality, new / old |")
    print("|---|---|---|---|---|")
    for name, seeds in old.items():
        pairs = [(seeds[seed], new[name][seed]) for seed in seeds if seed != "given"]
        same = sum(one["kept"] == two["kept"] for one, two in pairs)
        exact = sum(_equal(one["certificate"], two["certificate"]) for one, two in pairs)
        changes = [
            [one["certificate"]["refit_change"] or math.nan for one in side] for side in zip(*pairs, strict=True)
        ]
        quality = f"{np.mean(changes[1]) / np.mean(changes[0]):.3f}"
        print(
            f"| {name} | {same} of {len(pairs)} | {exact} of {len(pairs)} identical | {_given(seeds, new[name])} | {quality} |"
        )


def _equal(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether all numbers of the old certificate are in the new one, to the last bit."""
    return all(new[key] == value for key, value in old.items() if key not in TEXTS)


def _given(old: dict[str, Any], new: dict[str, Any]) -> str:
    if "given" not in new or "given" not in old:
        return ""
    one, two = old["given"]["certificate"], new["given"]["certificate"]
    if old["given"]["kept"] != new["given"]["kept"]:
        return "another set"
    differences = {key: _relative(one[key], two[key]) for key in MEASURED if one[key] is not None}
    worst = max(differences, key=lambda key: differences[key])
    return f"{differences[worst]:.1e} ({worst})"


def _relative(one: float, two: float) -> float:
    return abs(one - two) / max(abs(one), abs(two), 1e-300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--sets", type=Path)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options = parser.parse_args()
    if options.verb == "record":
        record(options.file, options.sets)
    else:
        compare(options.old, options.new)


if __name__ == "__main__":
    main()
