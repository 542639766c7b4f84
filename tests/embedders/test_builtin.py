"""Built-in embedder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nexusmem.core.errors import Corrupt
from nexusmem.core.ids import WorkspaceId
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder
from nexusmem.text import word_vectors

pytestmark = pytest.mark.requirement("C9", "C11")

TEXTS = [
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "What did Caroline do?",
    "日本語のテキスト",
    "",
    "naïve café 😀",
    "the " * 3000,
]

# From the published float weights: normalized mean of the rows, first four numbers.
REFERENCE = {
    "That is a happy person": [-0.1785, -0.1258, -0.1193, 0.1674],
    "Where does she live?": [-0.0349, -0.0389, -0.0873, 0.1202],
}


def test_vectors_match_the_published_weights():
    for text, numbers in REFERENCE.items():
        [vector] = BuiltinEmbedder().embed([text])

        assert vector[:4] == pytest.approx(numbers, abs=0.003)


def test_similar_texts_have_high_cosines():
    home, city, bread = BuiltinEmbedder().embed(
        ["Where does Anna live?", "Anna's home is in Lisbon", "The recipe needs two eggs"]
    )

    assert home @ city > 0.4
    assert home @ bread < 0.2


def test_vector_does_not_depend_on_the_batch():
    embedder = BuiltinEmbedder()

    together = embedder.embed(TEXTS)

    for number, text in enumerate(TEXTS):
        assert np.array_equal(embedder.embed([text])[0], together[number])


def test_threads_compute_the_same_bits():
    embedder = BuiltinEmbedder()
    expected = embedder.embed(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(lambda _: embedder.embed(TEXTS), range(8)):
            assert np.array_equal(vectors, expected)


@pytest.mark.parametrize("text", ["", " \n", "😀", "\x00", "a" * 101])
def test_unknown_text_is_zero(text: str):
    assert not BuiltinEmbedder().embed([text]).any()


def test_long_text_is_the_mean_of_all_pieces():
    embedder = BuiltinEmbedder()
    length = word_vectors.PIECES_PER_CHUNK

    [long] = embedder.embed(["tea " * length + "coffee " * length])

    tea, coffee = embedder.embed(["tea", "coffee"])
    assert long @ tea > 0.7
    assert long @ coffee > 0.7


def test_token_vectors_add_up_to_the_vector():
    embedder = BuiltinEmbedder()

    tokens = embedder.token_vectors("Where does Anna live?")

    mean = (tokens.vectors * tokens.norms[:, None]).sum(axis=0)
    assert tokens.ids.shape == tokens.norms.shape == (5,)
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert mean / np.linalg.norm(mean) == pytest.approx(
        embedder.embed(["Where does Anna live?"])[0], abs=1e-5
    )


def test_empty_token_vectors_have_a_shape():
    tokens = BuiltinEmbedder().token_vectors("")

    assert tokens.ids.shape == (0,)
    assert tokens.vectors.shape == (0, 256)


def test_damaged_table_is_rejected():
    content = bytearray(word_vectors.TABLE_PATH.read_bytes())
    content[4_000_000] ^= 1

    with pytest.raises(Corrupt, match="reinstall"):
        word_vectors.parse_table(bytes(content))


def test_license_is_packaged():
    notice = word_vectors.TABLE_PATH.with_name("LICENSE").read_text(encoding="utf-8")

    assert "MIT License" in notice
    assert "MinishLab" in notice


def test_token_ids_of_several_texts() -> None:
    embedder, texts = BuiltinEmbedder(), ["The heron stands.", "", "“Shallow” water, 東京!", " \n"]

    pieces, counts = embedder.token_ids(texts)

    alone = [embedder.token_vectors(text).ids.tolist() for text in texts]
    assert pieces.tolist() == [number for each in alone for number in each]
    assert counts.tolist() == list(map(len, alone))
    assert [len(found) for found in embedder.token_ids([])] == [0, 0]


def test_run_cache_is_cleared_by_erasure() -> None:
    embedder, runs = BuiltinEmbedder(), word_vectors.load_table()._tokenizer._run_cache
    embedder.token_ids(["Write to heron@example.com!"])
    assert "heron@example.com!" in runs

    CachedEmbedder(embedder).clear_workspace(WorkspaceId("acme"))
    assert not runs
