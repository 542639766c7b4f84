"""Feature hashing embedder."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from nexusmem.core.errors import ConfigError
from nexusmem.embedders.feature_hash import HashingEmbedder


def test_same_words_give_the_same_vector():
    embedder = HashingEmbedder()

    one, other, different = embedder.embed(["Tea, with milk", "milk with TEAS", "a red bicycle"])

    assert one @ other == pytest.approx(1, abs=1e-6)
    assert one @ different < 0.5


def test_text_without_words_is_zero():
    assert not HashingEmbedder().embed(["", "?!"]).any()


def test_vectors_are_the_same_in_every_process():
    code = (
        "from nexusmem.embedders.feature_hash import HashingEmbedder as H;"
        "print(H().embed(['tea'])[0].tolist())"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert answer.stdout.strip() == str(HashingEmbedder().embed(["tea"])[0].tolist())


@pytest.mark.parametrize("dimension", [1, 8, 512])
def test_vectors_have_the_configured_dimension(dimension: int):
    embedder = HashingEmbedder(dimension)

    assert embedder.embed(["tea"]).shape == (1, embedder.profile.dimension) == (1, dimension)
    assert embedder.embed(["tea"]).dtype == np.float32


def test_dimension_must_be_positive():
    with pytest.raises(ConfigError):
        HashingEmbedder(0)
