"""The embedder of the tests."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from nexus.core.errors import ConfigError
from nexus.embedders.hashing import HashingEmbedder


def test_the_same_words_are_the_same_direction():
    embedder = HashingEmbedder()

    one, other, different = embedder.embed(["Tea, with milk", "milk with TEAS", "a red bicycle"])

    assert one @ other == pytest.approx(1, abs=1e-6)
    assert one @ different < 0.5


def test_no_words_are_zeros():
    assert not HashingEmbedder().embed(["", "?!"]).any()


def test_every_process_gives_the_same_numbers():
    code = (
        "from nexus.embedders.hashing import HashingEmbedder as H;"
        "print(H().embed(['tea'])[0].tolist())"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert answer.stdout.strip() == str(HashingEmbedder().embed(["tea"])[0].tolist())


@pytest.mark.parametrize("dimension", [1, 8, 512])
def test_it_has_the_dimension_it_says(dimension: int):
    embedder = HashingEmbedder(dimension)

    assert embedder.embed(["tea"]).shape == (1, embedder.profile.dimension) == (1, dimension)
    assert embedder.embed(["tea"]).dtype == np.float32


def test_no_dimension_is_refused():
    with pytest.raises(ConfigError):
        HashingEmbedder(0)
