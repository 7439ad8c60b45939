from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.functional import unfold


class Whitening(nn.Conv2d):
    """A first layer whose outputs are uncorrelated and of variance one; the data set its filters, which do not learn.

    The filters are the eigenvectors of the covariance of the images' patches, divided by the square roots of the
    eigenvalues, each with both signs, because the activation that follows treats signs differently. The idea is Page's
    (2018, *How to train your ResNet*); the two signs and the bias are Jordan's (2024, arXiv:2404.00498).

    Parameters
    ----------
    channels : of the images
    kernel : pixels of a patch's side
    softening : added to the eigenvalues, so that directions without variance do not become pure noise
    """

    is_fitted: Tensor

    def __init__(self, channels: int, kernel: int = 2, softening: float = 5e-4) -> None:
        super().__init__(channels, 2 * channels * kernel**2, kernel)
        self.softening = softening
        self.weight.requires_grad_(False)
        assert self.bias is not None
        nn.init.zeros_(self.bias)
        self.register_buffer("is_fitted", torch.tensor(0))

    @property
    def learns_bias(self) -> bool:
        """Whether the bias learns. Without it, no gradient has to reach this layer, which makes a step cheaper."""
        assert self.bias is not None
        return self.bias.requires_grad

    @learns_bias.setter
    def learns_bias(self, learns: bool) -> None:
        assert self.bias is not None
        self.bias.requires_grad_(learns)

    @torch.no_grad()
    def fit(self, batches: Iterable[Tensor]) -> None:
        """Set the filters from batches of scaled images."""
        count, total, products = 0, torch.zeros(()), torch.zeros(())
        for inputs in batches:
            columns = unfold(inputs, self.kernel_size)  # (k, numbers of a patch, patches)
            patches = columns.transpose(1, 2).flatten(0, 1).double()
            count += len(patches)
            total, products = total + patches.sum(dim=0), products + patches.T @ patches
        mean = total / count
        values, vectors = torch.linalg.eigh(products / count - torch.outer(mean, mean))
        filters = (vectors / (values.clamp_min(0) + self.softening).sqrt()).T.reshape(-1, *self.weight.shape[1:])
        self.weight.copy_(torch.cat((filters, -filters)))
        self.is_fitted.fill_(1)


def whitening_layers(model: nn.Module) -> list[Whitening]:
    """Return the layers of a network whose filters the data set."""
    return [layer for layer in model.modules() if isinstance(layer, Whitening)]
