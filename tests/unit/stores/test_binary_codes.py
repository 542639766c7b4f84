"""Binary codes: the sign bits preselect few vectors and rarely miss one."""

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

from nexusmem.core.filters import parse_filter
from nexusmem.core.protocols.memories import ScoredId
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.stores.sql.vectors import top_k, vector_codes
from nexusmem.stores.sql.vectors.top_k import _select_by_sign_bits
from nexusmem.stores.sql.vectors.vector_codes import (
    MEMORY,
    BinaryCodes,
    BinaryQuery,
    ByteCodes,
    LabelVectors,
    VectorPrecision,
    encode_vectors,
)
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import ACME, ADMIN, append_events, make_draft, make_event

Table = np.ndarray
SIGNED = VectorPrecision(is_float=False, has_sign_bits=True)
WIDE = EmbeddingProfile(provider="test", model="wide", dimension=96)


@pytest.fixture
def approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use sign bits from a hundred vectors on."""
    monkeypatch.setattr(vector_codes, "FLOAT_LABEL_SIZES", range(0))
    monkeypatch.setattr(vector_codes, "SIGN_BITS_FROM", 50)
    monkeypatch.setattr(top_k, "EXACT_SEARCH_MAX", 100)
    monkeypatch.setattr(top_k, "FIRST_SAMPLE_SIZE", 40)


@pytest.fixture
def store(tmp_path: Path, approximate: None) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


# Distributions of vectors


def _units(table: Table) -> Table:
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def _uniform(count: int, seed: int, dimension: int = 256) -> Table:
    return _units(np.random.default_rng(seed).normal(size=(count, dimension)))


def _clustered(count: int, seed: int) -> Table:
    """Vectors around a few centres, with unequal variances."""
    random = np.random.default_rng(seed)
    middles = 3 * np.random.default_rng(0).normal(size=(40, 100))
    spread = random.normal(size=(count, 100)) * np.linspace(2, 0.1, 100)
    return _units(middles[random.integers(40, size=count)] + spread)


def _sentences(count: int, seed: int) -> Table:
    """Real sentences: 12 words of one text and 6 of another."""
    words = " ".join(topics.values()).split()
    places = np.random.default_rng(seed).integers(len(words) - 12, size=(count, 2))
    texts = [" ".join([*words[a : a + 12], *words[b : b + 6]]) for a, b in places.tolist()]
    return BuiltinEmbedder().embed(texts)


def _numbered(table: Table, way: VectorPrecision = SIGNED) -> ByteCodes:
    numbers = np.arange(len(table), dtype=np.int64)
    return encode_vectors(np.stack([numbers * 0, numbers, numbers], axis=1), table, way)


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
    """The share of vectors that is scored shrinks as labels grow."""
    monkeypatch.setattr(top_k, "EXACT_SEARCH_MAX", 0)
    table, questions = make(30_000, 1), make(60, 2)
    block = _numbered(table)
    found, looked_at = 0, 0

    for asked in questions:
        best = np.argsort(-(table @ asked))[:limit]
        (near,) = top_k.prefilter([block], asked, limit)
        found += np.isin(best, near.rows[:, MEMORY]).sum()
        (places,) = _select_by_sign_bits([block], asked, limit)
        looked_at += len(table) if places is None else len(places)

    assert found >= 0.99 * limit * len(questions)
    assert looked_at <= share * len(table) * len(questions)


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("cosine", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("dimension", [4, 96, 256])
def test_sign_distance_of_near_vector_is_within_bound(dimension: int, cosine: float) -> None:
    """For several queries and directions."""
    within, far = [], []
    for asked in _uniform(20, 3, dimension):
        noise = _uniform(500, 4, dimension)
        across = _units(noise - np.outer(noise @ asked, asked))
        question = BinaryQuery.from_vector(asked)
        near = _units(cosine * asked + np.sqrt(1 - cosine**2) * across)
        within.append(
            BinaryCodes.from_vectors(near).sign_distances(question) <= question.max_distance(cosine)
        )
        far.append(
            BinaryCodes.from_vectors(across).sign_distances(question)
            <= question.max_distance(cosine)
        )

    assert np.mean(within) > 0.985
    assert dimension < 256 or cosine < 0.6 or np.mean(far) < 0.01


@pytest.mark.requirement("C23")
def test_search_up_to_20000_vectors_is_exact() -> None:
    block = _numbered(_uniform(1_000, 1))

    assert top_k.EXACT_SEARCH_MAX == 20_000
    assert _select_by_sign_bits([block], _uniform(1, 2)[0], 10) == [None]


def test_limit_above_count_returns_all(approximate: None) -> None:
    block = _numbered(_uniform(300, 1))

    (near,) = top_k.prefilter([block], _uniform(1, 2)[0], 1_000)

    assert len(near) == 300


def test_numpy_without_bitwise_count_is_exact(
    approximate: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_codes, "HAS_BITWISE_COUNT", False)

    assert VectorPrecision.for_count(1_000_000) == VectorPrecision(
        is_float=False, has_sign_bits=False
    )


# Growing labels


def test_large_block_is_not_copied_for_a_few_rows() -> None:
    large = LabelVectors().with_added([_numbered(_uniform(1_000, 1))])

    grown = large.with_added([_numbered(_uniform(3, 2))]).with_added([_numbered(_uniform(2, 3))])

    assert grown.blocks[0] is large.blocks[0]
    assert [len(part) for part in grown.blocks] == [1_000, 5]
    assert len(grown) == 1_005


def test_blocks_stay_few_and_ordered() -> None:
    table = _uniform(500, 1)
    whole = _numbered(table)
    label = LabelVectors()

    for place in range(len(table)):
        label = label.with_added([whole.take_rows(np.array([place]))])
        sizes = [len(part) for part in label.blocks]
        assert all(one >= 4 * other for one, other in pairwise(sizes))

    numbers = np.concatenate([part.rows[:, MEMORY] for part in label.blocks])
    assert numbers.tolist() == list(range(500))


@pytest.mark.parametrize(
    "way", [VectorPrecision(True, False), VectorPrecision(False, False), SIGNED], ids=str
)
def test_size_bytes_matches_the_arrays(way: VectorPrecision) -> None:
    block = _numbered(_uniform(2_000, 1), way)
    layers = [layer for layer in (block.coarse, block.fine) if layer]
    arrays = [block.rows, *(a for layer in layers for a in (layer.codes, layer.scales))]
    arrays += [layer.errors for layer in layers]
    arrays += [block.sign_bits.words] if block.sign_bits else []

    held = sum(array.nbytes for array in arrays)
    held += sys.getsizeof(block.memory_positions()) if way.is_float else 0  # filled by `score_ids`

    assert held <= block.size_bytes <= held * 1.1
    assert LabelVectors((block, block)).size_bytes == pytest.approx(2 * block.size_bytes, abs=200)


# With a store


def _keep(store: SqliteStore, table: Table, start: int = 0) -> dict[str, Table]:
    numbers = range(start, start + len(table))
    sources = append_events(
        store, *(make_event(str(number), f"Note {number}.") for number in numbers)
    )
    texts = zip(sources, numbers, strict=True)
    drafts = [make_draft(source, text=f"Note {n}.", metadata={"n": n}) for source, n in texts]
    ids = [memory.id for memory in store.memories.put(ACME, drafts)]
    vectors = dict(zip(ids, table, strict=True))
    store.vectors.put(ACME, WIDE, vectors)
    return vectors


def _expected(known: Mapping[str, Table], asked: Table, limit: int) -> list[str]:
    scores = {id: max(float(vector.astype(float) @ asked), 0) for id, vector in known.items()}
    return sorted(scores, key=lambda one: (-round(scores[one], 9), one))[:limit]


def _agreement(
    found: list[ScoredId], known: Mapping[str, Table], asked: Table, limit: int
) -> float:
    """Return the share of the true top k that was found; check scores and order."""
    scores = [hit.score for hit in found]
    assert len(found) == limit
    assert scores == sorted(scores, reverse=True)
    for hit in found:
        assert hit.score == pytest.approx(max(float(known[hit.id] @ asked), 0), abs=1e-6)
    return len({hit.id for hit in found} & set(_expected(known, asked, limit))) / limit


@pytest.mark.requirement("C23")
def test_growing_label_equals_label_read_once(store: SqliteStore) -> None:
    questions = _uniform(20, 9, WIDE.dimension)
    known: dict[str, Table] = {}
    for count in (30, 40, 130, 1, 2, 300):
        known |= _keep(store, _uniform(count, count, WIDE.dimension), len(known))
        found = [store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10) for asked in questions]
        shares = [_agreement(f, known, q, 10) for f, q in zip(found, questions, strict=True)]
        assert np.mean(shares) >= 0.99

    other = SqliteStore(store.path)
    assert found == [
        other.vectors.find_nearest(ADMIN, WIDE, asked, limit=10) for asked in questions
    ]
    other.close()


@pytest.mark.requirement("C23")
def test_deleted_and_replaced_vectors_are_not_found(store: SqliteStore) -> None:
    known = _keep(store, _uniform(300, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]
    first, second, *_ = [hit.id for hit in store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10)]

    store.memories.delete(ACME, [first])
    store.vectors.put(ACME, WIDE, {second: -asked})
    del known[first]
    known[second] = -asked

    found = store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10)
    assert _agreement(found, known, asked, 10) >= 0.9
    assert not {first, second} & {hit.id for hit in found}


@pytest.mark.requirement("C23")
def test_filter_bypasses_sign_bits_and_drops_nothing(store: SqliteStore) -> None:
    """The few matching memories may be the most distant ones."""
    known = _keep(store, _uniform(400, 1, WIDE.dimension))
    ids = list(known)
    for asked in _uniform(10, 2, WIDE.dimension):
        where = parse_filter({"metadata.n": {"in": [1, 50, 399]}})

        found = store.vectors.find_nearest(ADMIN, WIDE, asked, where=where, limit=3)

        few = {ids[n]: known[ids[n]] for n in (1, 50, 399)}
        assert [hit.id for hit in found] == _expected(few, asked, 3)


def test_equal_vectors_are_ordered_by_id(store: SqliteStore) -> None:
    asked = _uniform(1, 2, WIDE.dimension)[0]
    _keep(store, _uniform(200, 1, WIDE.dimension))
    same = _keep(store, np.stack([asked] * 8), 200)

    found = store.vectors.find_nearest(ADMIN, WIDE, asked, limit=5)

    assert [hit.id for hit in found] == sorted(same)[:5]


@pytest.mark.requirement("C23")
@pytest.mark.parametrize("signed_from", [50, 10_000], ids=["signs", "bytes"])
def test_older_snapshot_misses_nothing(
    monkeypatch: pytest.MonkeyPatch, store: SqliteStore, signed_from: int
) -> None:
    """Another thread has cached newer, nearer vectors that this snapshot does not have."""
    monkeypatch.setattr(vector_codes, "SIGN_BITS_FROM", signed_from)
    known = _keep(store, _uniform(200, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]

    def answers() -> tuple[list[ScoredId], list[ScoredId], int]:
        near = store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10)
        said = store.memories.search_keywords(ADMIN, ["note"], limit=10)
        return near, said, store.memories.count_matching(ADMIN, ["note"])

    def told_and_asked() -> int:
        _keep(store, np.stack([asked] * 5), 200)
        return answers()[2]

    with ThreadPoolExecutor(1) as pool, store.snapshot():
        before = answers()
        assert pool.submit(told_and_asked).result() == len(known) + 5
        assert answers() == before


@pytest.mark.requirement("C23")
def test_concurrent_searches_during_writes_are_correct(store: SqliteStore) -> None:
    known = _keep(store, _uniform(200, 1, WIDE.dimension))
    asked = _uniform(1, 2, WIDE.dimension)[0]
    written = threading.Event()

    def ask() -> set[int]:
        """Return the numbers of distinct results."""
        counts = set()
        while not written.is_set():
            found = store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10)
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
    assert (
        _agreement(store.vectors.find_nearest(ADMIN, WIDE, asked, limit=10), known, asked, 10)
        >= 0.9
    )
    cache = store.vectors._cache
    assert cache._bytes == sum(entry.value.size_bytes for entry in cache._entries.values())
