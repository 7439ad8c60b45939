"""Images in one call: a small network is trained, its last layer is pruned, and the kept images are named."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import leanset

pixels, labels = load_digits(return_X_y=True)
images = (pixels.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8).repeat(2, axis=1).repeat(2, axis=2)  # 16 × 16

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "digits.npz"  # or an image folder: "folder:DIR"; or "cifar10:DIR"
    np.savez(file, images=images[:700], labels=labels[:700], val_images=images[700:1000], val_labels=labels[700:1000])
    result = leanset.prune(str(file), model="lenet", epochs=8, fraction=0.5, proposals=200_000, frontier=False)
c = result.certificate
print(f"{len(result.kept)} of {c.n} images kept, for a network that is trained anew:", result.certificate.for_a_network)
assert c.for_a_network

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    order = np.argsort(result.influence_norm)  # of each row, in the order of result.rows
    figure, axes = plt.subplots(2, 10, figsize=(6.4, 1.9), layout="constrained")
    figure.suptitle("Least influence (above) and most (below)")
    for place, nth in zip(axes.flat, [*order[:10], *order[-10:]], strict=True):
        place.imshow(images[result.rows[nth]], cmap="gray_r")
        place.axis("off")
    figure.savefig(sys.argv[1], dpi=110)
