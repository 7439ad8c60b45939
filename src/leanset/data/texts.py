"""Texts as features: by counting words, which needs scikit-learn and no network, or by a model in a folder."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from leanset._arrays import AnyArray
from leanset._errors import InputError, missing_extra

WIDTH = 100  # features of a text; the usual size of latent semantic analysis
_MOST_WORDS = 50_000
_DIGITS = 6  # beyond these, machines differ, and a run would not know its own data again


def embedded_texts(
    train: Sequence[str], held_out: Sequence[str] | None, model: str | None = None
) -> tuple[AnyArray, AnyArray | None]:
    """Return texts as rows of numbers; held-out texts are described in the terms of the training texts.

    Parameters
    ----------
    train, held_out : the texts
    model : folder of a sentence-transformers model; None weighs words by TF-IDF and keeps the main directions

    Examples
    --------
    >>> features, _ = embedded_texts(["a red cat", "a red dog", "one blue bird", "two blue birds"], None)
    >>> features.shape, bool(features[0] @ features[1] > features[0] @ features[2])
    ((4, 3), True)
    """
    if model is not None:
        encode = _encoder(model)
        return encode(train), None if held_out is None else encode(held_out)
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise missing_extra("Turning texts into features", "sklearn") from None
    words = TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", max_features=_MOST_WORDS, dtype=np.float64)
    try:
        counts = words.fit_transform(train)
    except ValueError:
        raise InputError("the texts have no words of two letters or more.") from None
    width = min(WIDTH, counts.shape[1] - 1, len(train) - 1)
    if width < 1:
        raise InputError("the texts have one word only; there is nothing to tell them apart.")
    directions = TruncatedSVD(width, n_iter=7, random_state=0)
    with threadpool_limits(1):  # sums in another order differ in the last digits
        features = directions.fit_transform(counts)
        others = None if held_out is None else directions.transform(words.transform(held_out))
    return np.round(features, _DIGITS), None if others is None else np.round(others, _DIGITS)


def _encoder(folder: str) -> Any:
    if not os.path.isdir(folder):
        raise InputError(f"`text_model={folder!r}` must be a folder with a sentence-transformers model.")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise missing_extra("A model for texts", "text") from None
    try:
        model = SentenceTransformer(folder, local_files_only=True)
    except Exception as error:  # other folders fail in many ways
        reason = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
        raise InputError(
            f"`text_model={folder!r}` cannot be read as a sentence-transformers model: {reason}."
        ) from None
    return lambda texts: np.asarray(model.encode(list(texts), show_progress_bar=False), dtype=np.float32)
