"""Among very many vectors the signs leave few to look at, and hardly ever one too few."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest

from nexus.core.filters import parse_filter
from nexus.core.protocols import Scored
from nexus.core.records import EmbeddingProfile
from nexus.embedders.builtin import BuiltinEmbedder
from nexus.stores.sql import candidates, codes
from nexus.stores.sql.candidates import _worth_a_look
from nexus.stores.sql.codes import MEMORY, Codes, LabelCodes, Way, encoded
from nexus.stores.sql.signs import Question, Signs
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, draft, event, tell

Table = np.ndarray
SIGNED = Way(as_floats=False, signed=True)
WIDE = EmbeddingProfile(provider="test", model="wide", dimension=96)


@pytest.fixture
def approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred vectors are very many here."""
    monkeypatch.setattr(codes, "KEPT_AS_FLOATS", range(0))
    monkeypatch.setattr(codes, "SIGNED_FROM", 50)
    monkeypatch.setattr(candidates, "EXACT_UP_TO", 100)
    monkeypatch.setattr(candidates, "FIRST_LOOK", 40)


@pytest.fixture
def store(tmp_path: Path, approximate: None) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


# Vectors of all kinds


def _units(table: Table) -> Table:
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def _uniform(count: int, seed: int, dimension: int = 256) -> Table:
    return _units(np.random.default_rng(seed).normal(size=(count, dimension)))


def _clustered(count: int, seed: int) -> Table:
    """Around few middles, and along few directions more than along others."""
    random = np.random.default_rng(seed)
    middles = 3 * np.random.default_rng(0).normal(size=(40, 100))
    spread = random.normal(size=(count, 100)) * np.linspace(2, 0.1, 100)
    return _units(middles[random.integers(40, size=count)] + spread)


def _sentences(count: int, seed: int) -> Table:
    """Real words in the order people wrote them: 12 from one place, 6 from another."""
    words = " ".join(topics.values()).split()
    places = np.random.default_rng(seed).integers(len(words) - 12, size=(count, 2))
    texts = [" ".join([*words[a : a + 12], *words[b : b + 6]]) for a, b in places.tolist()]
    return BuiltinEmbedder().embed(texts)


def _numbered(table: Table, way: Way = SIGNED) -> Codes:
    numbers = np.arange(len(table), dtype=np.int64)
    return encoded(np.stack([numbers * 0, numbers, numbers], axis=1), table, way)


@pytest.mark.slow
@pytest.mark.requirement("C23")
@pytest.mark.parametrize("limit", [10, 100])
@pytest.mark.parametrize(
    ("make", "share"),
    [(_uniform, 1), (_clustered, 0.25), (_sentences, 0.25)],
    ids=["uniform", "clustered", "sentences"],
)
def test_at_least_99_of_100_nearest_are_found(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[int, int], Table], share: float, limit: int
) -> None:
    """After a look at a share of them that shrinks further as labels grow."""
    monkeypatch.setattr(candidates, "EXACT_UP_TO", 0)
    table, questions = make(30_000, 1), make(60, 2)
    block = _numbered(table)
    found, looked_at = 0, 0

    for asked in questions:
        best = np.argsort(-(table @ asked))[:limit]
        (near,) = candidates.candidates([block], asked, limit)
        found += np.isin(best, near.rows[:, MEMORY]).sum()
        (places,) = _worth_a_look([block], asked, limit)
        looked_at += len(table) if places is None else len(places)

    assert found >= 0.99 * limit * len(questions)
    assert looked_at <= share * len(table) * len(questions)


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("cosine", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("dimension", [4, 96, 256])
def test_the_signs_of_a_near_vector_differ_by_no_more_than_foretold(
    dimension: int, cosine: float
) -> None:
    """Whatever the question is, and in whichever direction from it the vectors lie."""
    within, far = [], []
    for asked in _uniform(20, 3, dimension):
        noise = _uniform(500, 4, dimension)
        across = _units(noise - np.outer(noise @ asked, asked))
        question = Question.of(asked)
        near = _units(cosine * asked + np.sqrt(1 - cosine**2) * across)
        within.append(Signs.of(near).differing(question) <= question.furthest(cosine))
        far.append(Signs.of(across).differing(question) <= question.furthest(cosine))

    assert np.mean(within) > 0.985
    assert dimension < 256 or cosine < 0.6 or np.mean(far) < 0.01


@pytest.mark.requirement("C23")
def test_up_to_twenty_thousand_vectors_the_search_is_exact() -> None:
    block = _numbered(_uniform(1_000, 1))

    assert candidates.EXACT_UP_TO == 20_000
    assert _worth_a_look([block], _uniform(1, 2)[0], 10) == [None]


def test_more_than_there_are_is_all_there_are(approximate: None) -> None:
    block = _numbered(_uniform(300, 1))

    (near,) = candidates.candidates([block], _uniform(1, 2)[0], 1_000)

    assert len(near) == 300


def test_a_numpy_that_cannot_count_bits_searches_exactly(
    approximate: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codes, "COUNTED", False)

    assert Way.of(1_000_000) == Way(as_floats=False, signed=False)


# Growing


def test_a_large_part_is_not_copied_when_a_few_are_added() -> None:
    large = LabelCodes().grown([_numbered(_uniform(1_000, 1))])

    grown = large.grown([_numbered(_uniform(3, 2))]).grown([_numbered(_uniform(2, 3))])

    assert grown.parts[0] is large.parts[0]
    assert [len(part) for part in grown.parts] == [1_000, 5]
    assert len(grown) == 1_005


def test_parts_stay_few_and_hold_all_in_order() -> None:
    table = _uniform(500, 1)
    whole = _numbered(table)
    label = LabelCodes()

    for place in range(len(table)):
        label = label.grown([whole.at(np.array([place]))])
        sizes = [len(part) for part in label.parts]
        assert all(one >= 4 * other for one, other in pairwise(sizes))

    numbers = np.concatenate([part.rows[:, MEMORY] for part in label.parts])
    assert numbers.tolist() == list(range(500))


@pytest.mark.parametrize("way", [Way(True, False), Way(False, False), SIGNED], ids=str)
def test_what_is_kept_knows_its_size(way: Way) -> None:
    block = _numbered(_uniform(2_000, 1), way)
    layers = [layer for layer in (block.coarse, block.fine) if layer]
    arrays = [block.rows, *(a for layer in layers for a in (layer.codes, layer.scales))]
    arrays += [layer.errors for layer in layers]
    arrays += [block.signs.words] if block.signs else []

    held = sum(array.nbytes for array in arrays)
    held += sys.getsizeof(block.place_of()) if way.as_floats else 0  # `scores` fills it

    assert held <= block.bytes <= held * 1.1
    assert LabelCodes((block, block)).bytes == pytest.approx(2 * block.bytes, abs=200)


# Through the store


def _keep(store: SqliteStore, table: Table, start: int = 0) -> dict[str, Table]:
    numbers = range(start, start + len(table))
    sources = tell(store, *(event(str(number), f"Note {number}.") for number in numbers))
    texts = zip(sources, numbers, strict=True)
    drafts = [draft(source, text=f"Note {n}.", metadata={"n": n}) for source, n in texts]
    ids = [memory.id for memory in store.memories.put(ACME, drafts)]
    vectors = dict(zip(ids, table, strict=True))
    store.vectors.put(ACME, WIDE, vectors)
    return vectors


def _expected(known: Mapping[str, Table], asked: Table, limit: int) -> list[str]:
    scores = {id: max(float(vector.astype(float) @ asked), 0) for id, vector in known.items()}
    return sorted(scores, key=lambda one: (-round(scores[one], 9), one))[:limit]


def _agreement(found: list[Scored], known: Mapping[str, Table], asked: Table, limit: int) -> float:
    """The share of the best that was found; scores are exact and in order whatever was."""
    scores = [hit.score for hit in found]
    assert len(found) == limit
    assert scores == sorted(scores, reverse=True)
    for hit in found:
        assert hit.score == pytest.approx(max(float(known[hit.id] @ asked), 0), abs=1e-6)
    return len({hit.id for hit in found} & set(_expected(known, asked, limit))) / limit


@pytest.mark.requirement("C23")
def test_a_growing_label_and_one_read_at_once_give_the_same_answers(store: SqliteStore) -> None:
    questions = _uniform(20, 9, WIDE.dimension)
    known: dict[str, Table] = {}
    for count in (30, 40, 130, 1, 2, 300):
        known |= _keep(store, _uniform(count, count, WIDE.dimension), len(known))
        found = [store.vectors.nearest(ADMIN, WIDE, asked, limit=10) for asked in questions]
        shares = [_agreement(f, known, q, 10) for f, q in zip(found, questions, strict=True)]
        assert np.mean(shares) >= 0.99

    other = SqliteStore(store.path)
    assert found == [other.vectors.nearest(ADMIN, WIDE, asked, limit=10) for asked in questions]
    other.close()


@pytest.mark.requirement("C23")
def test_what_was_removed_or_replaced_is_found_no_longer(store: SqliteStore) -> None:
    known = _keep(store, _uniform(300, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]
    first, second, *_ = [hit.id for hit in store.vectors.nearest(ADMIN, WIDE, asked, limit=10)]

    store.memories.delete(ACME, [first])
    store.vectors.put(ACME, WIDE, {second: -asked})
    del known[first]
    known[second] = -asked

    found = store.vectors.nearest(ADMIN, WIDE, asked, limit=10)
    assert _agreement(found, known, asked, 10) >= 0.9
    assert not {first, second} & {hit.id for hit in found}


@pytest.mark.requirement("C23")
def test_a_filter_is_past_the_signs_and_never_starves(store: SqliteStore) -> None:
    """What few memories pass lies anywhere, the furthest included: every vector counts."""
    known = _keep(store, _uniform(400, 1, WIDE.dimension))
    ids = list(known)
    for asked in _uniform(10, 2, WIDE.dimension):
        where = parse_filter({"metadata.n": {"in": [1, 50, 399]}})

        found = store.vectors.nearest(ADMIN, WIDE, asked, where=where, limit=3)

        few = {ids[n]: known[ids[n]] for n in (1, 50, 399)}
        assert [hit.id for hit in found] == _expected(few, asked, 3)


def test_equal_vectors_come_in_the_order_of_their_ids(store: SqliteStore) -> None:
    asked = _uniform(1, 2, WIDE.dimension)[0]
    _keep(store, _uniform(200, 1, WIDE.dimension))
    same = _keep(store, np.stack([asked] * 8), 200)

    found = store.vectors.nearest(ADMIN, WIDE, asked, limit=5)

    assert [hit.id for hit in found] == sorted(same)[:5]


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("signed_from", [50, 10_000], ids=["signs", "bytes"])
def test_who_reads_an_earlier_moment_misses_nothing_for_what_came_since(
    monkeypatch: pytest.MonkeyPatch, store: SqliteStore, signed_from: int
) -> None:
    """Another thread has found what this one does not yet see, and all of it is nearer."""
    monkeypatch.setattr(codes, "SIGNED_FROM", signed_from)
    known = _keep(store, _uniform(200, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]

    def answers() -> tuple[list[Scored], list[Scored], int]:
        near = store.vectors.nearest(ADMIN, WIDE, asked, limit=10)
        said = store.memories.matching(ADMIN, ["note"], limit=10)
        return near, said, store.memories.holding(ADMIN, ["note"])

    def told_and_asked() -> int:
        _keep(store, np.stack([asked] * 5), 200)
        return answers()[2]

    with ThreadPoolExecutor(1) as pool, store.moment():
        before = answers()
        assert pool.submit(told_and_asked).result() == len(known) + 5
        assert answers() == before


@pytest.mark.requirement("C23")
def test_threads_that_ask_while_one_writes_are_answered_rightly(store: SqliteStore) -> None:
    known = _keep(store, _uniform(200, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]
    written = threading.Event()

    def ask() -> set[int]:
        """How many different memories the answers had."""
        counts = set()
        while not written.is_set():
            found = store.vectors.nearest(ADMIN, WIDE, asked, limit=10)
            counts.add(len({hit.id for hit in found}))
        return counts

    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        try:
            for start in range(200, 260, 3):
                known |= _keep(store, _uniform(3, start, WIDE.dimension), start)
        finally:
            written.set()

    assert [one.result() for one in asking] == [{10}, {10}]
    assert _agreement(store.vectors.nearest(ADMIN, WIDE, asked, limit=10), known, asked, 10) >= 0.9
    cache = store.vectors._cache
    assert cache._bytes == sum(entry.value.bytes for entry in cache._entries.values())
