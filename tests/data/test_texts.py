import sys
import types

import numpy as np
import pytest

from leanset import InputError, MissingExtraError
from leanset.data.texts import WIDTH, embedded_texts

sklearn = pytest.importorskip("sklearn")

WORDS = [f"word{k}" for k in range(300)]
RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, 30)) for _ in range(200)]


def test_similarities_are_those_of_weighted_words():
    from sklearn.feature_extraction.text import TfidfVectorizer

    few = TEXTS[:60]  # fewer texts than directions: nothing but the last one is lost
    features, others = embedded_texts(few, few[:5])
    counts = TfidfVectorizer(sublinear_tf=True, strip_accents="unicode").fit_transform(few).toarray()
    values = np.linalg.svd(counts, compute_uv=False)
    lost = np.abs(features @ features.T - counts @ counts.T)
    assert features.shape == (60, 59)
    assert lost.max() <= values[-1] ** 2 + 1e-3
    np.testing.assert_allclose(others, features[:5], atol=1e-5)


def test_many_texts_become_a_fixed_number_of_features_that_do_not_depend_on_threads():
    from threadpoolctl import threadpool_limits

    features, _ = embedded_texts(TEXTS, None)
    assert features.shape == (200, WIDTH)
    with threadpool_limits(2):
        np.testing.assert_array_equal(embedded_texts(TEXTS, None)[0], features)


@pytest.mark.parametrize(
    ("texts", "match"), [(["a", "?"], "no words of two letters"), (["aa", "aa"], "nothing to tell them apart")]
)
def test_texts_without_words(texts, match):
    with pytest.raises(InputError, match=match):
        embedded_texts(texts, None)


def test_a_model_in_a_folder(tmp_path, monkeypatch):
    class SentenceTransformer:
        def __init__(self, folder, local_files_only):
            assert local_files_only
            self.folder = folder

        def encode(self, texts, show_progress_bar):
            return np.array([[len(text), text.count("a")] for text in texts])

    fake = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    features, others = embedded_texts(["aa", "bab"], ["a"], str(tmp_path))
    assert features.tolist() == [[2, 2], [3, 1]]
    assert others.tolist() == [[1, 1]]


def test_a_missing_library_is_answered_with_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"leanset\[text\]"):
        embedded_texts(["aa", "bab"], None, str(tmp_path))
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", None)
    with pytest.raises(MissingExtraError, match=r"leanset\[sklearn\]"):
        embedded_texts(["aa", "bab"], None)
