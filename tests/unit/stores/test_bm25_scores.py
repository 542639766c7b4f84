"""BM25 scores: plain Python and numpy give the same digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexusmem.stores.sql.keywords import keyword_index
from nexusmem.stores.sql.keywords.keyword_index import (
    Bm25Scores,
    ConversationLengths,
    PostingList,
    score_conversations,
    score_memories,
)

MEMORIES = 60
THREADS = [(label << 32) | number for label in (3, 4) for number in (1, 2, 7, 400_000)]
TALKS = ConversationLengths(np.array(THREADS), np.arange(5, 5 + len(THREADS)))

held = st.tuples(st.integers(1, 9), st.integers(1, 300), st.sampled_from(range(4)))
label = st.dictionaries(st.integers(1, MEMORIES), held, max_size=8)
terms = st.lists(st.tuples(label, label), min_size=1, max_size=6)


def postings(told: dict[int, tuple[int, int, int]], place: int) -> PostingList:
    """Return postings of one of two labels, which share no memory and no conversation."""
    rows = [
        (memory + place * MEMORIES * 1_000, times, length, THREADS[4 * place + thread])
        for memory, (times, length, thread) in sorted(told.items())
    ]
    return PostingList(np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def both(monkeypatch: pytest.MonkeyPatch, score) -> list[Bm25Scores]:
    found = []
    for few in (10_000, 0):
        monkeypatch.setattr(keyword_index, "SMALL_ROW_COUNT", few)
        found.append(score())
    return found


@settings(max_examples=200)
@given(terms)
def test_python_and_numpy_scores_are_equal(asked) -> None:
    every = [[postings(each, place) for place, each in enumerate(both)] for both in asked]
    whole = [keyword_index.concat_postings(each) for each in every]
    with pytest.MonkeyPatch.context() as patch:
        few, many = both(patch, lambda: score_memories(whole, 2 * MEMORIES, 33.3))
        numbers = [number for each in whole for number in each.memory_numbers.tolist()]
        wanted = [*numbers, 1, MEMORIES + 1]
        assert few.scores_for(wanted) == many.scores_for(wanted)
        assert len(few) == len(many) == len(set(numbers))
        few, many = both(patch, lambda: score_conversations(every, TALKS, len(THREADS), 7.7))
        assert few.scores_for([*THREADS, 9]) == many.scores_for([*THREADS, 9])


def test_score_is_at_most_one_and_unknown_is_zero() -> None:
    held = postings({1: (9, 1, 0)}, 0)
    found = score_memories([held], 1, 1_000.0)
    assert 0 < found.scores_for([1])[0] <= 1
    assert found.scores_for([2]) == [0.0]
    assert [each.tolist() for each in found.as_arrays] == [[1], found.scores_for([1])]
