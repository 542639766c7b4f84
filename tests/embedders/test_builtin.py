"""The embedder that is always there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nexus.core.errors import Corrupt
from nexus.core.ids import WorkspaceId
from nexus.embedders import builtin
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.embedders.cached import CachedEmbedder

pytestmark = pytest.mark.requirement("C9", "C11")

TEXTS = [
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "What did Caroline do?",
    "日本語のテキスト",
    "",
    "naïve café 😀",
    "the " * 3000,
]

# From the published float weights: the mean of their rows, normalised (first four numbers).
REFERENCE = {
    "That is a happy person": [-0.1785, -0.1258, -0.1193, 0.1674],
    "Where does she live?": [-0.0349, -0.0389, -0.0873, 0.1202],
}


def test_it_agrees_with_the_published_weights():
    for text, numbers in REFERENCE.items():
        [vector] = BuiltinEmbedder().embed([text])

        assert vector[:4] == pytest.approx(numbers, abs=0.003)


def test_what_means_the_same_is_near():
    home, city, bread = BuiltinEmbedder().embed(
        ["Where does Anna live?", "Anna's home is in Lisbon", "The recipe needs two eggs"]
    )

    assert home @ city > 0.4
    assert home @ bread < 0.2


def test_a_text_has_the_same_bits_alone_and_in_company():
    embedder = BuiltinEmbedder()

    together = embedder.embed(TEXTS)

    for number, text in enumerate(TEXTS):
        assert np.array_equal(embedder.embed([text])[0], together[number])


def test_threads_see_the_same_bits():
    embedder = BuiltinEmbedder()
    expected = embedder.embed(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: embedder.embed(TEXTS), range(8)):
            assert np.array_equal(vectors, expected)


@pytest.mark.parametrize("text", ["", " \n", "😀", "\x00", "a" * 101])
def test_what_it_does_not_know_is_zeros(text: str):
    assert not BuiltinEmbedder().embed([text]).any()


def test_a_very_long_text_is_the_mean_of_all_of_it():
    embedder = BuiltinEmbedder()
    length = builtin.PIECES_AT_ONCE

    [long] = embedder.embed(["tea " * length + "coffee " * length])

    tea, coffee = embedder.embed(["tea", "coffee"])
    assert long @ tea > 0.7
    assert long @ coffee > 0.7


def test_tokens_are_the_pieces_the_mean_is_made_of():
    embedder = BuiltinEmbedder()

    tokens = embedder.tokens("Where does Anna live?")

    mean = (tokens.vectors * tokens.norms[:, None]).sum(axis=0)
    assert tokens.ids.shape == tokens.norms.shape == (5,)
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert mean / np.linalg.norm(mean) == pytest.approx(
        embedder.embed(["Where does Anna live?"])[0], abs=1e-5
    )


def test_no_tokens_have_a_shape_too():
    tokens = BuiltinEmbedder().tokens("")

    assert tokens.ids.shape == (0,)
    assert tokens.vectors.shape == (0, 256)


def test_a_damaged_table_is_refused():
    content = bytearray(builtin.TABLE.read_bytes())
    content[4_000_000] ^= 1

    with pytest.raises(Corrupt, match="reinstall"):
        builtin._parse(bytes(content))


def test_the_licence_lies_beside_the_table():
    notice = builtin.TABLE.with_name("LICENSE").read_text(encoding="utf-8")

    assert "MIT License" in notice
    assert "MinishLab" in notice


def test_pieces_of_many_texts_are_those_of_each() -> None:
    embedder, texts = BuiltinEmbedder(), ["The heron stands.", "", "“Shallow” water, 東京!", " \n"]

    pieces, counts = embedder.pieces(texts)

    alone = [embedder.tokens(text).ids.tolist() for text in texts]
    assert pieces.tolist() == [number for each in alone for number in each]
    assert counts.tolist() == list(map(len, alone))
    assert [len(found) for found in embedder.pieces([])] == [0, 0]


def test_runs_of_a_text_are_remembered_until_somebody_is_forgotten() -> None:
    embedder, runs = BuiltinEmbedder(), builtin._table()._pieces._runs
    embedder.pieces(["Write to heron@example.com!"])
    assert "heron@example.com!" in runs

    CachedEmbedder(embedder).forget(WorkspaceId("acme"))
    assert not runs
