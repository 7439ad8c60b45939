"""Ed25519 signatures of manifests, by the `cryptography` package, which is imported when a key is used."""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from leanset._errors import InputError, RunFolderError, missing_extra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PathLike = str | os.PathLike[str]


def signed(content: bytes, key: PathLike) -> str:
    """Return the signature of some bytes by the private key in a PEM file, in hexadecimal."""
    return str(private_key(key).sign(content).hex())


def is_signed(content: bytes, signature: str, key: PathLike) -> bool:
    """Return whether a signature of some bytes is by the owner of the public key in a PEM file."""
    public = _public_key(key)
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True


def private_key(key: PathLike) -> "Ed25519PrivateKey":
    """Return the private key in a PEM file; raise if there is none, or if it needs a password."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ModuleNotFoundError:
        raise missing_extra("Signing a run", "sign") from None
    found: object = None
    with contextlib.suppress(TypeError, ValueError):
        found = load_pem_private_key(_read(key, "sign"), password=None)
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(
            f"`sign={os.fspath(key)}` must be a PEM file with an Ed25519 private key and without a password."
        )
    return found


def _public_key(key: PathLike) -> "Ed25519PublicKey":
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ModuleNotFoundError:
        raise missing_extra("Checking a signature", "sign") from None
    found: object = None
    with contextlib.suppress(ValueError):
        found = load_pem_public_key(_read(key, "key"))
    if not isinstance(found, Ed25519PublicKey):
        raise InputError(f"`key={os.fspath(key)}` must be a PEM file with an Ed25519 public key.")
    return found


def _read(key: PathLike, option: str) -> bytes:
    try:
        return Path(key).read_bytes()
    except OSError as error:
        raise RunFolderError(f"`{option}={os.fspath(key)}` cannot be read: {error.strerror or error}.") from None
