"""Roles of texts and ranges of cosines: what an embedder states is used everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from tests.conftest import MONDAY, Open
from tests.squeezed import SqueezedEmbedder

from nexusmem import Place
from nexusmem.config.settings import EmbeddingSettings, Settings
from nexusmem.core.protocols.embedder import Embedder, Floats
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn.scope_knowledge import _make_similarity
from nexusmem.recall.query import SearchSettings
from nexusmem.wiring.providers import make_embedder

RANKINGS = ["contextual", "fused"]
MESSAGES = {
    "move": "Anna moved to Lisbon in spring and works as an architect.",
    "cat": "Our cat sleeps on the warm radiator all day.",
    "table": "I booked a table for six at the Italian restaurant.",
    "report": "The quarterly report is due on Friday.",
}


class UncalibratedEmbedder(SqueezedEmbedder):
    """The same vectors without a range."""

    profile = EmbeddingProfile(provider="squeezed", model="m", dimension=257)


def fill_room(
    open_nexus: Open, embedder: Embedder, ranking: str, on_change: str = "background"
) -> Place:
    settings = Settings(
        search=SearchSettings(ranking=ranking), embeddings=EmbeddingSettings(on_change=on_change)
    )
    nexus = open_nexus(":memory:", settings=settings, embedder=embedder)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    for hours, (key, text) in enumerate(MESSAGES.items()):
        room.observe("alice", text, key=key, at=MONDAY - timedelta(hours=9 + hours))
    return room


@pytest.mark.requirement("E11", "E18")
@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("question", ["Where does the architect live?", "Who feeds the kitten?"])
def test_calibrated_embedder_has_scores_of_plain_one(
    open_nexus: Open, ranking: str, question: str
) -> None:
    plain, squeezed = (
        fill_room(open_nexus, embedder, ranking).recall(question)
        for embedder in (BuiltinEmbedder(), SqueezedEmbedder())
    )

    assert squeezed[0].text == plain[0].text
    for one, other in zip(plain, squeezed, strict=False):
        if one.reasons.get("vector", 0) > 0.01:
            assert other.score == pytest.approx(one.score, abs=1e-3)
            assert other.reasons == pytest.approx(one.reasons, abs=1e-3)


@pytest.mark.requirement("E11")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_threshold_has_the_same_meaning_for_every_embedder(open_nexus: Open, ranking: str) -> None:
    question, threshold = "Does quantum gravity unify physics?", 0.4

    def count(embedder: Embedder) -> int:
        return len(fill_room(open_nexus, embedder, ranking).recall(question, threshold=threshold))

    assert count(BuiltinEmbedder()) == count(SqueezedEmbedder()) == 0
    assert count(UncalibratedEmbedder()) > 0  # what the range is for


def test_names_are_compared_by_calibrated_cosines() -> None:
    text, others = MESSAGES["move"], [MESSAGES["cat"], "Anna is an architect."]

    expected = _make_similarity(BuiltinEmbedder())(text, others)

    assert _make_similarity(SqueezedEmbedder())(text, others) == pytest.approx(
        [max(each, 0) for each in expected], abs=1e-5
    )


class RoleEmbedder(HashingEmbedder):
    """Records which texts were embedded in which role."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: list[str] = []
        self.questions: list[str] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.documents += texts
        return super().embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        self.questions += texts
        return super().embed(texts)


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("on_change", ["background", "refuse"])
def test_questions_and_memories_are_embedded_in_their_role(
    open_nexus: Open, ranking: str, on_change: str
) -> None:
    embedder = RoleEmbedder()
    room = fill_room(open_nexus, embedder, ranking, on_change)

    hits = room.recall("Where does the cat sleep?")

    assert hits[0].event_keys == ("cat",)
    assert embedder.questions == ["Where does the cat sleep?"]
    assert any(MESSAGES["cat"] in text for text in embedder.documents)
    assert not any("Where does" in text for text in embedder.documents)


def test_embedder_without_roles_gets_questions_by_embed(open_nexus: Open) -> None:
    room = fill_room(open_nexus, HashingEmbedder(), "contextual")

    assert room.recall("Where does the cat sleep?")[0].reasons["vector"] > 0


def test_prefixes_of_the_settings_are_written_before_texts() -> None:
    settings = EmbeddingSettings(
        provider="hashing", query_prefix="query: ", document_prefix="passage: "
    )

    embedder = make_embedder(settings)

    plain = HashingEmbedder()
    assert (embedder.embed(["tea"]) == plain.embed(["passage: tea"])).all()
    assert (embedder.embed_queries(["tea"]) == plain.embed(["query: tea"])).all()  # type: ignore[attr-defined]
    assert not embedder.embed([" "]).any()


@pytest.mark.parametrize(
    ("prefixes", "is_other_space"),
    [
        ({"query_prefix": "query: "}, False),
        ({"document_prefix": "passage: "}, True),
        ({"document_prefix": "", "query_prefix": ""}, False),
    ],
)
def test_only_document_prefix_changes_the_vector_space(
    prefixes: dict[str, str], is_other_space: bool
) -> None:
    profile = make_embedder(EmbeddingSettings(provider="hashing", **prefixes)).profile

    assert (profile != HashingEmbedder().profile) is is_other_space
