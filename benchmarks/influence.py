"""All influence vectors H⁻¹ g_i of a head, by leanset and by pyDVL, in one process.

Both are given the same fitted head (its fit is not timed), the same standardised features and the same penalty, and
return one vector a row; the Hessian and its inverse are timed with them. leanset: `influence_map(head, Cholesky())`,
then `vectors` of all rows, float32, in the (C−1)·D coordinates that hold the whole length; its second row adds the time
to write them out in all C·D coordinates. pyDVL: `DirectInfluence(nn.Linear, cross_entropy, regularization=l2).fit`, then
`influence_factors`, float32 as its users run it. Its batch sizes, one for each of the two steps, are the fastest out of
several on 10,000 rows. Both may use all cores. After one short run of each, they take turns; the claim is the median of
the ratios of neighbouring runs.

The error is relative, in the Frobenius norm over all rows and coordinates, against float64 NumPy written out plainly
here.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from pydvl.influence.torch import DirectInfluence
from scipy.special import softmax
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler, TensorDataset

from benchmarks._data import L2, load_examples
from benchmarks._record import Findings, Request, Row, at_least, at_most
from leanset._threads import available_threads, working_threads
from leanset.head import Design, FittedHead, Softmax, design_of, fit_head
from leanset.influence import Cholesky, influence_map
from leanset.rows import map_rows

REPEATS = 5
BATCHES = (100, 250, 500, 1000, 2000, 5000, 10000)
PILOT_ROWS = 10_000
SPEED_TARGET, ERROR_TARGET = 5.0, 1e-5
PEER = "pyDVL Direct"

Head = np.ndarray  # (C, D), bias last


@dataclass(frozen=True)
class Contestant:
    """A way to all vectors, which is timed, and from its answer to (rows, C, D) arrays, which is not."""

    name: str
    vectors: Callable[[], np.ndarray]
    laid_out: Callable[[np.ndarray], np.ndarray]


def run(request: Request) -> Findings:
    torch.set_num_threads(available_threads())
    examples = load_examples(request)
    with working_threads(None):
        design = design_of(examples, Softmax(len(examples.classes)), standardize=True)[0]
        theta = fit_head(design, L2).theta
    batches = _fastest_batches(design.sample(np.arange(min(PILOT_ROWS, len(design)))), theta)
    contestants = _contestants(design, theta, *batches)
    few = design.sample(np.arange(1000))
    for contestant in _contestants(few, theta, *batches):
        contestant.vectors()
    seconds = _in_turns(contestants, 2 if request.small else REPEATS)
    rows = [_row(contestant, seconds, design, theta) for contestant in contestants]
    rows[-1] |= {"fit_batch": batches[0], "factor_batch": batches[1]}
    claims = [
        at_least("times faster than pyDVL", rows[0]["times_faster"], SPEED_TARGET),
        at_most("relative error of leanset's vectors", rows[0]["error"], ERROR_TARGET),
    ]
    return Findings(rows, [], claims)


def _contestants(design: Design, theta: Head, fit_batch: int, factor_batch: int) -> list[Contestant]:
    data = _torch_data(design)

    def reduced() -> np.ndarray:
        return _leanset_vectors(design, theta)

    def written_out() -> np.ndarray:
        return _written_out(reduced(), design)

    def pydvl() -> np.ndarray:
        return _pydvl_factors(_pydvl_fit(data, theta, fit_batch), data, factor_batch)

    return [
        Contestant("leanset", reduced, lambda vectors: _written_out(vectors, design)),
        Contestant("leanset, written out", written_out, lambda vectors: vectors),
        Contestant(PEER, pydvl, lambda vectors: _bias_last(vectors, design)),
    ]


def _in_turns(contestants: list[Contestant], repeats: int) -> dict[str, np.ndarray]:
    seconds = {contestant.name: np.zeros(repeats) for contestant in contestants}
    for turn in range(repeats):
        for contestant in contestants:
            began = time.perf_counter()
            contestant.vectors()
            seconds[contestant.name][turn] = time.perf_counter() - began
    return seconds


def _row(contestant: Contestant, seconds: dict[str, np.ndarray], design: Design, theta: Head) -> Row:
    laid_out, taken = contestant.laid_out(contestant.vectors()), seconds[contestant.name]
    return {
        "contestant": contestant.name,
        "rows": len(laid_out),
        "seconds": float(np.median(taken)),
        "fastest": float(taken.min()),
        "slowest": float(taken.max()),
        "times_faster": float(np.median(seconds[PEER] / taken)),
        "error": _error(laid_out, design, theta),
        "each_seconds": taken.tolist(),
    }


def _leanset_vectors(design: Design, theta: Head) -> np.ndarray:
    with working_threads(None):
        head = FittedHead.at(design, theta, L2)
        return influence_map(head, Cholesky(), centred=False).vectors(np.arange(len(design)))


def _written_out(vectors: np.ndarray, design: Design) -> np.ndarray:
    """Return leanset's (n, (C−1)·D) vectors, which have the factor 1/n inside, as H⁻¹ g_i in all C·D coordinates."""
    n_classes, width = design.shape
    basis = (len(design) * design.loss.basis()).astype(np.float32)
    return np.matmul(basis, vectors.reshape(len(vectors), n_classes - 1, width))


def _torch_data(design: Design) -> TensorDataset:
    features = torch.as_tensor(_matrix(design)[:, :-1], dtype=torch.float32)
    return TensorDataset(features, torch.as_tensor(design.targets))


def _matrix(design: Design) -> np.ndarray:
    return map_rows(lambda x: x, design.rows, width=1)


def _loader(data: TensorDataset, batch: int) -> DataLoader:
    # A whole batch by one indexing; the usual loader collects it row by row, which costs pyDVL time it need not spend.
    return DataLoader(data, sampler=BatchSampler(SequentialSampler(data), batch, drop_last=False), batch_size=None)


def _pydvl_fit(data: TensorDataset, theta: Head, batch: int) -> DirectInfluence:
    n_classes, width = theta.shape
    model = torch.nn.Linear(width - 1, n_classes).eval()
    with torch.no_grad():
        model.weight.copy_(torch.as_tensor(theta[:, :-1]))
        model.bias.copy_(torch.as_tensor(theta[:, -1]))
    return DirectInfluence(model, F.cross_entropy, regularization=L2).fit(_loader(data, batch))


def _pydvl_factors(influence: DirectInfluence, data: TensorDataset, batch: int) -> np.ndarray:
    return torch.cat([influence.influence_factors(x, y) for x, y in _loader(data, batch)]).numpy()


def _bias_last(flat: np.ndarray, design: Design) -> np.ndarray:
    n_classes, width = design.shape
    weight, bias = np.split(flat, [n_classes * (width - 1)], axis=1)
    return np.concatenate([weight.reshape(len(flat), n_classes, width - 1), bias[:, :, None]], axis=2)


def _fastest_batches(pilot: Design, theta: Head) -> tuple[int, int]:
    data, fits, factors = _torch_data(pilot), {}, {}
    _pydvl_factors(_pydvl_fit(data, theta, 500), data, 500)
    for batch in BATCHES:
        began = time.perf_counter()
        influence = _pydvl_fit(data, theta, batch)
        fitted = time.perf_counter()
        _pydvl_factors(influence, data, batch)
        fits[batch], factors[batch] = fitted - began, time.perf_counter() - fitted
    return min(fits, key=fits.__getitem__), min(factors, key=factors.__getitem__)


def _error(vectors: np.ndarray, design: Design, theta: Head) -> float:
    """Return ‖V − V*‖ / ‖V*‖ over all rows, V* = H⁻¹ g_i in float64."""
    x, y = _matrix(design), np.eye(len(theta))[design.targets]
    probability = softmax(x @ theta.T, axis=1)
    hessian = _plain_hessian(x, probability)
    wrong = whole = 0.0
    for start in range(0, len(x), 2000):
        part = slice(start, start + 2000)
        gradients = (probability[part] - y[part])[:, :, None] * x[part, None, :]
        exact = np.linalg.solve(hessian, gradients.reshape(len(gradients), -1).T).T
        wrong += float(np.sum((vectors[part].reshape(exact.shape) - exact) ** 2))
        whole += float(np.sum(exact**2))
    return float(np.sqrt(wrong / whole))


def _plain_hessian(x: np.ndarray, probability: np.ndarray) -> np.ndarray:
    n_classes, width = probability.shape[1], x.shape[1]
    hessian = np.zeros((n_classes, width, n_classes, width))
    for a in range(n_classes):
        for b in range(n_classes):
            weight = probability[:, a] * ((a == b) - probability[:, b])
            hessian[a, :, b, :] = (x * weight[:, None]).T @ x / len(x)
    size = n_classes * width
    return hessian.reshape(size, size) + L2 * np.eye(size)
