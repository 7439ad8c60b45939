"""A torch network and data set of your own: capture its head, prune, train again on what was kept."""

import sys

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import TensorDataset

import leanset
import leanset.torch as lt

features, labels = load_digits(return_X_y=True)
inputs, targets = torch.tensor(features / 16, dtype=torch.float32), torch.tensor(labels)
train_set, test_set = TensorDataset(inputs[:1300], targets[:1300]), TensorDataset(inputs[1300:], targets[1300:])


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


recipe = lt.Recipe(epochs=20, lr=0.1, batch_size=64, weight_decay=1e-3)
whole = lt.train(network(), train_set, recipe=recipe)
stats = lt.capture(whole.model, train_set, validation=test_set, weight_decay=recipe.weight_decay)
result = leanset.prune(stats, fraction=0.3, frontier=False)

lean = lt.train(network(), result.subset(train_set), recipe=recipe)
right = {}
for name, training in (("all", whole), ("kept", lean)):
    logits = lt.capture(training.model, test_set).logits
    right[name] = (logits.argmax(1) == labels[1300:]).mean()
    print(f"{name:5s} {right[name]:.3f} of the held-out digits are right")
c = result.certificate
assert c.refit_change < c.random_refit_change_mean

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for name, training in (("all", whole), ("kept", lean)):
        losses = [epoch.loss for epoch in training.history]
        axes.plot(range(1, len(losses) + 1), losses, label=f"{name}: {right[name]:.1%} right on held-out digits")
    axes.set(
        xlabel="epoch",
        xticks=range(0, 21, 5),
        ylabel="training loss",
        yscale="log",
        title="Trained on 70 % of its data",
    )
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
