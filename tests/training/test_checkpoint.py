import os
import pickle

import numpy as np
import pytest
import torch

from leanset import InputError
from leanset.training.checkpoint import load_weights, read_checkpoint
from tests.training.networks import tiny


class _Malicious:
    def __reduce__(self):
        return os.system, ("touch pwned",)


@pytest.mark.parametrize("save", [torch.save, lambda content, path: path.write_bytes(pickle.dumps(content))])
def test_a_checkpoint_that_would_run_code_is_refused(tmp_path, monkeypatch, save):
    monkeypatch.chdir(tmp_path)
    save({"weights": _Malicious()}, tmp_path / "evil.pt")
    with pytest.raises(InputError, match=r"evil\.pt"):
        read_checkpoint(tmp_path / "evil.pt")
    assert not (tmp_path / "pwned").exists()


def test_a_whole_pickled_model_is_refused_with_advice(tmp_path):
    torch.save(tiny(), tmp_path / "model.pt")
    with pytest.raises(InputError, match="state_dict"):
        read_checkpoint(tmp_path / "model.pt")


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 broken zip"])
def test_a_broken_file_is_named(tmp_path, content):
    (tmp_path / "broken.pt").write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.pt"):
        read_checkpoint(tmp_path / "broken.pt")
    with pytest.raises(InputError, match="no such checkpoint"):
        read_checkpoint(tmp_path / "absent.pt")


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda weights: weights,
        lambda weights: {"state_dict": weights, "epoch": 3},
        lambda weights: {"model": weights},
        lambda weights: {f"module.{key}": value for key, value in weights.items()},
        lambda weights: {"state_dict": {f"model.{key}": value for key, value in weights.items()}},
    ],
)
def test_weights_are_found_however_they_are_wrapped(tmp_path, wrapped):
    torch.save(wrapped(tiny(seed=4).state_dict()), tmp_path / "weights.pt")
    model = tiny(seed=5)
    load_weights(model, tmp_path / "weights.pt")
    assert all(
        torch.equal(a, b) for a, b in zip(model.state_dict().values(), tiny(seed=4).state_dict().values(), strict=True)
    )


def test_weights_that_do_not_fit_are_listed(tmp_path):
    weights = tiny(classes=4).state_dict()
    weights["extra.weight"] = weights.pop("bn.weight")
    torch.save(weights, tmp_path / "other.pt")
    with pytest.raises(InputError, match=r"lacks bn\.weight.*unknown extra\.weight.*fc\.bias is \(4,\), not \(3,\)"):
        load_weights(tiny(classes=3), tmp_path / "other.pt")


def test_no_mutation_of_a_checkpoint_does_more_than_be_refused(tmp_path):
    path, rng = tmp_path / "weights.pt", np.random.default_rng(0)
    torch.save({"a": torch.arange(4.0)}, path, _use_new_zipfile_serialization=False)
    whole = path.read_bytes()
    refused = 0
    for _ in range(300):
        content = bytearray(whole)
        for place in rng.integers(0, len(content), 3):
            content[place] = rng.integers(256)
        path.write_bytes(content)
        try:
            read_checkpoint(path)
        except InputError:
            refused += 1
    assert refused > 0


ODD = {
    "sparse": lambda weight: weight.to_sparse(),
    "meta": lambda weight: torch.empty_like(weight, device="meta"),
    "complex": lambda weight: weight.to(torch.complex64),
    "NaN": lambda weight: weight * torch.nan,
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_tensors_that_are_no_weights_are_refused(tmp_path, odd):
    model = torch.nn.Linear(3, 2)
    torch.save({"weight": odd(model.weight.detach()), "bias": model.bias.detach()}, tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt: .*weight"):
        load_weights(torch.nn.Linear(3, 2), tmp_path / "a.pt")


def test_odd_metadata_of_a_state_is_not_used(tmp_path):
    state = torch.nn.Linear(3, 2).state_dict()
    state._metadata = 7
    torch.save({"state_dict": state}, tmp_path / "a.pt")
    model = torch.nn.Linear(3, 2)
    load_weights(model, tmp_path / "a.pt")
    assert torch.equal(model.weight, state["weight"])
