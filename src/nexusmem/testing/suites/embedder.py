"""The suite an embedder must pass.

class TestMyEmbedder(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return MyEmbedder()
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from ...core.protocols.embedder import Embedder, Floats, TextRole, embed_texts

TEXTS = (
    "Anna moved to Lisbon in spring and works as an architect.",
    "The quarterly report is due on Friday.",
    "Our cat sleeps on the warm radiator all day.",
    "Please book a table for six at the Italian restaurant.",
)
QUESTIONS = (
    "Where did Anna the architect move in spring?",
    "Which report is due on Friday?",
    "Where does our cat sleep all day?",
    "At which Italian restaurant do we book a table?",
)
BLANK_TEXTS = ("", "  ", "\n\t")
ODD_TEXTS = {
    "emoji": "🫨",
    "ideographs": "東京へ引っ越した",
    "accents": "Ünïcödé ßtraße",
    "control characters": "a\x00b\x07c",
    "one long word": "x" * 3_000,
    "signs": "?!… --",
}
FILLER = "And then we talked about the weather for a while. " * 300
ENDING = "The password of the garage is heliotrope. " * 60
ROLES = tuple(TextRole)


class EmbedderSuite:
    """Needs a fixture `embedder` that returns the embedder.

    `tolerance` is the accepted difference between two vectors of one text.
    """

    tolerance = 1e-4

    def test_profile_is_constant(self, embedder: Embedder) -> None:
        profile = embedder.profile

        assert profile == embedder.profile
        assert profile.dimension >= 1
        assert isinstance(embedder.is_local, bool)

    @pytest.mark.parametrize("role", ROLES)
    def test_one_row_per_text(self, embedder: Embedder, role: TextRole) -> None:
        vectors = embed_texts(embedder, TEXTS, role)

        assert vectors.shape == (len(TEXTS), embedder.profile.dimension)
        assert vectors.dtype == np.float32

    @pytest.mark.parametrize("role", ROLES)
    def test_rows_are_unit_vectors(self, embedder: Embedder, role: TextRole) -> None:
        assert is_unit(embed_texts(embedder, TEXTS, role)).all()

    @pytest.mark.parametrize("role", ROLES)
    def test_no_texts_give_no_rows(self, embedder: Embedder, role: TextRole) -> None:
        assert embed_texts(embedder, (), role).shape == (0, embedder.profile.dimension)

    @pytest.mark.parametrize("role", ROLES)
    def test_blank_texts_are_zero(self, embedder: Embedder, role: TextRole) -> None:
        vectors = embed_texts(embedder, (BLANK_TEXTS[0], TEXTS[0], *BLANK_TEXTS[1:]), role)

        assert vectors.any(axis=1).tolist() == [False, True, False, False]
        assert is_unit(vectors).tolist() == [False, True, False, False]

    @pytest.mark.parametrize("role", ROLES)
    def test_vectors_are_repeatable(self, embedder: Embedder, role: TextRole) -> None:
        first, second = (embed_texts(embedder, TEXTS, role) for _ in range(2))

        assert max_difference(first, second) <= self.tolerance

    @pytest.mark.parametrize("role", ROLES)
    def test_vector_does_not_depend_on_other_texts(
        self, embedder: Embedder, role: TextRole
    ) -> None:
        together = embed_texts(embedder, (*TEXTS, "", ENDING), role)

        alone = [embed_texts(embedder, [text], role) for text in (*TEXTS, "", ENDING)]

        assert max_difference(together, np.concatenate(alone)) <= self.tolerance

    @pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
    def test_odd_text_has_finite_vector(self, embedder: Embedder, text: str) -> None:
        vectors = embedder.embed([text])

        assert np.isfinite(vectors).all()
        assert is_unit(vectors).all() or not vectors.any()

    def test_long_text_counts_to_its_end(self, embedder: Embedder) -> None:
        with_end, without = embedder.embed([FILLER + ENDING, FILLER])

        (ending,) = embedder.embed([ENDING])

        assert is_unit(np.stack([with_end, without])).all()
        assert ending @ with_end > ending @ without

    def test_question_is_near_its_answer(self, embedder: Embedder) -> None:
        questions = embed_texts(embedder, QUESTIONS, TextRole.QUERY)

        cosines = questions @ embedder.embed(TEXTS).T

        assert cosines.argmax(axis=1).tolist() == list(range(len(TEXTS)))

    def test_roles_share_one_space(self, embedder: Embedder) -> None:
        asked = embed_texts(embedder, TEXTS, TextRole.QUERY)

        cosines = asked @ embedder.embed(TEXTS).T

        assert cosines.argmax(axis=1).tolist() == list(range(len(TEXTS)))

    def test_calibration_separates_equal_from_unrelated(self, embedder: Embedder) -> None:
        """The same text is at least 0.95, unrelated texts on average below 0.5."""
        profile, vectors = embedder.profile, embedder.embed(TEXTS)
        cosines = vectors @ vectors.T
        unrelated = cosines[~np.eye(len(TEXTS), dtype=bool)]

        equal = [profile.calibrate(float(cosine)) for cosine in np.diagonal(cosines)]
        others = [profile.calibrate(float(cosine)) for cosine in unrelated]

        assert min(equal) >= 0.95
        assert np.mean(others) < 0.5

    def test_threads_can_share_it(self, embedder: Embedder) -> None:
        expected = embedder.embed(TEXTS)

        with ThreadPoolExecutor(4) as pool:
            for vectors in pool.map(lambda _: embedder.embed(TEXTS), range(8)):
                assert max_difference(vectors, expected) <= self.tolerance


def is_unit(vectors: Floats) -> NDArray[np.bool_]:
    """Return for each row whether it has unit length."""
    lengths = np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1))
    near: NDArray[np.bool_] = np.abs(lengths - 1) < 1e-4
    return near


def max_difference(one: Floats, other: Floats) -> float:
    """Return the largest difference of two numbers in the same place."""
    return float(np.abs(one - other).max())
