"""Every embedder keeps the contract of embedders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.embedders.conftest import Make
from tests.squeezed import SqueezedEmbedder

from nexusmem.core.protocols.embedder import Embedder, Floats, TextRole
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder, PrefixedEmbedder, UserSuppliedEmbedder
from nexusmem.telemetry.instrument import InstrumentedEmbedder
from nexusmem.telemetry.spans import Telemetry
from nexusmem.testing import EmbedderSuite

QUERY = TextRole.QUERY


MAKERS: dict[str, Callable[[], Embedder]] = {
    "builtin": BuiltinEmbedder,
    "hashing": lambda: HashingEmbedder(256),
    "cached": lambda: CachedEmbedder(BuiltinEmbedder()),
    "plug-in": lambda: UserSuppliedEmbedder(BuiltinEmbedder()),
    "instrumented": lambda: InstrumentedEmbedder(BuiltinEmbedder(), Telemetry()),
    "prefixed": lambda: PrefixedEmbedder(
        BuiltinEmbedder(), query_prefix="query: ", document_prefix="passage: "
    ),
    "squeezed": SqueezedEmbedder,
}


class TestEmbedder(EmbedderSuite):
    tolerance = 0.0  # the same bits

    @pytest.fixture(params=MAKERS)
    def embedder(self, request: pytest.FixtureRequest) -> Embedder:
        return MAKERS[request.param]()


class TestLocalEmbedder(EmbedderSuite):
    tolerance = 0.0

    @pytest.fixture
    def embedder(self, pulled_tiny: Embedder) -> Embedder:
        return pulled_tiny


class TestProvider(EmbedderSuite):
    @pytest.fixture
    def embedder(self, provider: Make) -> Embedder:
        made: Embedder = provider(dimension=256)
        return made


@pytest.mark.parametrize("name", MAKERS)
def test_local_embedders_run_in_process(name: str) -> None:
    assert MAKERS[name]().is_local


def test_provider_is_not_local(provider: Make) -> None:
    assert not provider(dimension=64).is_local


class FlawedEmbedder(BuiltinEmbedder):
    """Changes the vectors of the built-in embedder."""

    def __init__(self, flaw: Callable[[Floats, Sequence[str]], Floats]) -> None:
        self._flaw = flaw

    def embed(self, texts: Sequence[str]) -> Floats:
        return self._flaw(super().embed(texts), texts)


@pytest.mark.parametrize(
    ("flaw", "check"),
    [
        (lambda rows, _: 2 * rows, lambda suite, it: suite.test_rows_are_unit_vectors(it, QUERY)),
        (
            lambda rows, _: rows.astype(np.float64),
            lambda suite, it: suite.test_one_row_per_text(it, QUERY),
        ),
        (
            lambda rows, texts: rows - np.float32(0.1 * (len(texts) > 1)),
            lambda suite, it: suite.test_vector_does_not_depend_on_other_texts(it, QUERY),
        ),
        (
            lambda rows, _: np.where(rows == 0, 0.1, rows),
            lambda suite, it: suite.test_blank_texts_are_zero(it, QUERY),
        ),
        (
            lambda rows, _: rows[:, ::-1] ** 0,
            lambda suite, it: suite.test_question_is_near_its_answer(it),
        ),
        (
            lambda rows, _: (rows + 1) / np.linalg.norm(rows + 1, axis=1, keepdims=True),
            lambda suite, it: suite.test_calibration_separates_equal_from_unrelated(it),
        ),
        (
            lambda rows, texts: BuiltinEmbedder().embed([text[:2_000] for text in texts]),
            lambda suite, it: suite.test_long_text_counts_to_its_end(it),
        ),
    ],
    ids=["length", "type", "batch", "blank", "meaning", "calibration", "cut"],
)
def test_suite_finds_flaw(flaw, check) -> None:
    with pytest.raises(AssertionError):
        check(EmbedderSuite(), FlawedEmbedder(flaw))


class AskingEmbedder(BuiltinEmbedder):
    """Embeds questions in another space."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        return np.ascontiguousarray(-self.embed(texts))


def test_suite_finds_question_in_other_space() -> None:
    for check in (
        EmbedderSuite().test_question_is_near_its_answer,
        EmbedderSuite().test_roles_share_one_space,
    ):
        with pytest.raises(AssertionError):
            check(AskingEmbedder())
