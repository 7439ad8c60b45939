import json
import subprocess
import sys

import pytest

import leanset
from tests.faults.forge import bring_in_line

OPTIONS = {"fraction": 0.4, "l2": 1e-2, "frontier": False}


@pytest.fixture
def keys(tmp_path):
    """Two pairs of keys, each as the files of the private and of the public key."""
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    from cryptography.hazmat.primitives import serialization as form

    pairs = []
    for name in ("own", "other"):
        key = ed25519.Ed25519PrivateKey.generate()
        private, public = tmp_path / f"{name}.pem", tmp_path / f"{name}.pub"
        private.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()))
        public.write_bytes(key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
        pairs.append((private, public))
    return pairs


def failures(run, toy, key):
    return [check.name for check in leanset.verify(run, *toy[:2], key=key) if not check.holds]


def test_a_signature_closes_what_a_manifest_leaves_open(toy, tmp_path, keys):
    run, ((private, public), (_, other)) = tmp_path / "run", keys
    leanset.prune(*toy[:2], out=run, sign=private, **OPTIONS)
    assert failures(run, toy, public) == failures(run, toy, None) == []
    assert failures(run, toy, other) == ["signature"]
    path = run / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"outcome": "All is well."}))
    bring_in_line(run)
    assert failures(run, toy, None) == []  # what the search said of itself cannot be computed again
    assert failures(run, toy, public) == ["signature"]


def test_a_run_without_a_signature_is_not_taken_for_a_signed_one(toy, tmp_path, keys):
    run, ((private, public), (other, other_public)) = tmp_path / "run", keys
    result = leanset.prune(*toy[:2], out=run, **OPTIONS)
    assert failures(run, toy, public) == ["signature"]
    for key, its_public in ((private, public), (other, other_public)):  # the same run again, signed, and by another key
        leanset.prune(*toy[:2], out=run, sign=key, **OPTIONS)
        assert failures(run, toy, its_public) == []
    (run / "manifest.sig").write_text("not hexadecimal")
    assert failures(run, toy, other_public) == ["signature"]
    result.save(tmp_path / "saved", sign=private)
    assert failures(tmp_path / "saved", toy, public) == []
    result.save(tmp_path / "saved")
    assert failures(tmp_path / "saved", toy, public) == ["signature"]  # not the old one


def test_a_file_that_is_no_key_is_named_before_anything_is_computed(toy, tmp_path, keys):
    private, public = keys[0]
    with pytest.raises(leanset.InputError, match=r"`sign=.*own\.pub` must be a PEM file with an Ed25519 private key"):
        leanset.prune(*toy[:2], out=tmp_path / "run", sign=public, **OPTIONS)
    with pytest.raises(leanset.RunFolderError, match=r"`sign=.*cannot be read: No such file"):
        leanset.prune(*toy[:2], out=tmp_path / "run", sign=tmp_path / "none.pem", **OPTIONS)
    assert not (tmp_path / "run").exists()
    leanset.prune(*toy[:2], out=tmp_path / "run", **OPTIONS)
    (tmp_path / "run" / "manifest.sig").write_text("00")
    with pytest.raises(leanset.InputError, match=r"`key=.*own\.pem` must be a PEM file with an Ed25519 public key"):
        leanset.verify(tmp_path / "run", *toy[:2], key=private)


def test_without_the_package_the_extra_is_named():
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "cryptography":
            raise ModuleNotFoundError(name, name="cryptography")
sys.meta_path.insert(0, Absent())
import leanset
try:
    leanset.prune([[0.0], [1.0]], [0, 1], count=1, sign="key.pem")
except leanset.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'Signing a run needs the `sign` extra: pip install "leanset[sign]"\n'
