"""Reading weights from untrusted files: only tensors and plain values are loaded, never code."""

import os
import pickle
import re
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from leanset._errors import InputError

_WRAPPERS = ("weights", "state_dict", "model_state_dict", "model", "net", "module")
_PREFIXES = ("module.", "_orig_mod.", "model.", "_forward_module.")  # DDP, torch.compile, Lightning


def read_checkpoint(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a dict of tensors and plain values. A file that would run code is refused.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "weights.pt")
    ...     torch.save({"fc.bias": torch.zeros(2)}, path)
    ...     list(read_checkpoint(path))
    ['fc.bias']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pickle protocol; unreadable files are reported below
            content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise InputError(f"{path}: no such checkpoint.") from None
    except Exception as error:  # untrusted bytes can make the unpickler fail in any way
        if isinstance(error, pickle.UnpicklingError) and re.search("weights_only|Unsupported|GLOBAL", str(error)):
            raise InputError(
                f"{path}: holds more than weights. It was not loaded, because that could run code. Save "
                "`model.state_dict()` instead of the model."
            ) from None
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise InputError(f"{path}: cannot be read as a checkpoint: {reason}.") from None
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: must hold a state dict; got {type(content).__name__}.")
    return dict(content)


def weights_in(content: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the state dict in a checkpoint, unwrapped and without the prefixes that wrappers add to names."""
    for name in _WRAPPERS:
        inner = content.get(name)
        if isinstance(inner, Mapping) and inner and all(isinstance(value, Tensor) for value in inner.values()):
            content = inner
            break
    weights = {str(key): value for key, value in content.items() if isinstance(value, Tensor)}
    for key, value in weights.items():
        plain = value.layout == torch.strided and not (value.is_meta or value.is_quantized or value.is_complex())
        if not plain:
            raise InputError(
                f"`{key}` must be plain numbers; it is a sparse, quantised, complex or empty (meta) tensor."
            )
    for prefix in _PREFIXES:
        if weights and all(key.startswith(prefix) for key in weights):
            weights = {key.removeprefix(prefix): value for key, value in weights.items()}
    return weights


def load_weights(model: nn.Module, path: str | os.PathLike[str]) -> None:
    """Load a checkpoint into a network. It must have all weights, in the right shapes.

    Parameters
    ----------
    model : receives the weights
    path : a file written with `torch.save`, by leanset or by other code
    """
    try:
        weights, wanted = weights_in(read_checkpoint(path)), model.state_dict()
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None
    missing = sorted(wanted.keys() - weights.keys())
    surplus = sorted(weights.keys() - wanted.keys())
    wrong = [
        f"{key} is {tuple(weights[key].shape)}, not {tuple(wanted[key].shape)}"
        for key in sorted(wanted.keys() & weights.keys())
        if weights[key].shape != wanted[key].shape
    ]
    problems = [*_listed("lacks", missing), *_listed("has unknown", surplus), *wrong[:3]]
    if problems:
        raise InputError(f"{path}: does not fit this network: it {'; '.join(problems)}.")
    model.load_state_dict(weights)
    if broken := [key for key, value in model.state_dict().items() if not torch.isfinite(value).all()]:
        raise InputError(f"{path}: {broken[0]} has entries that are NaN or infinite.")


def _listed(verb: str, keys: list[str]) -> list[str]:
    if not keys:
        return []
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return [f"{verb} {', '.join(keys[:3])}{more}"]
