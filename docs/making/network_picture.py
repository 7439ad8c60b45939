"""The picture of the README about networks: `python docs/making/network_picture.py`, from results/cifar10/trainings.parquet."""

from pathlib import Path

import pyarrow.parquet as pq

from leanset.evaluate import EQUAL_EPOCHS, accuracy_panel, difference_panel, summarise
from leanset.judge import FULL, LEANSET, PAPER, STRATIFIED
from leanset.report import curves_figure, save_figure

ROOT = Path(__file__).parents[2]
SHOWN = (LEANSET, STRATIFIED, "dual", "ccs", "el2n", PAPER, FULL)


def main() -> None:
    """Draw accuracies and differences to random of the methods that were trained at all fractions."""
    trainings = pq.read_table(ROOT / "results" / "cifar10" / "trainings.parquet").to_pylist()
    alike = [row for row in trainings if (row["model"], row["protocol"]) == ("quick", EQUAL_EPOCHS)]
    rows = [row for row in summarise(alike, STRATIFIED) if row.method in SHOWN]
    panels = [accuracy_panel("CIFAR-10, trained anew", rows), difference_panel("against random", rows)]
    save_figure(curves_figure(panels), ROOT / "docs" / "images", "networks")


if __name__ == "__main__":
    main()
