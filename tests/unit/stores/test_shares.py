"""How much of a question's words is held: few rows are added up otherwise than many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nexus.stores.sql import shares
from nexus.stores.sql.shares import Postings, Shares, ThreadLengths, memory_shares, thread_shares

MEMORIES = 60
THREADS = [(label << 32) | number for label in (3, 4) for number in (1, 2, 7, 400_000)]
TALKS = ThreadLengths(np.array(THREADS), np.arange(5, 5 + len(THREADS)))

held = st.tuples(st.integers(1, 9), st.integers(1, 300), st.sampled_from(range(4)))
label = st.dictionaries(st.integers(1, MEMORIES), held, max_size=8)
terms = st.lists(st.tuples(label, label), min_size=1, max_size=6)


def postings(told: dict[int, tuple[int, int, int]], place: int) -> Postings:
    """Of one of the two labels: no memory and no thread is in both."""
    rows = [
        (memory + place * MEMORIES * 1_000, times, length, THREADS[4 * place + thread])
        for memory, (times, length, thread) in sorted(told.items())
    ]
    return Postings(np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def both(monkeypatch: pytest.MonkeyPatch, score) -> list[Shares]:
    found = []
    for few in (10_000, 0):
        monkeypatch.setattr(shares, "FEW_ROWS", few)
        found.append(score())
    return found


@settings(max_examples=200)
@given(terms)
def test_few_and_many_come_to_the_same(asked) -> None:
    every = [[postings(each, place) for place, each in enumerate(both)] for both in asked]
    whole = [shares.joined(each) for each in every]
    with pytest.MonkeyPatch.context() as patch:
        few, many = both(patch, lambda: memory_shares(whole, 2 * MEMORIES, 33.3))
        numbers = [number for each in whole for number in each.memories.tolist()]
        wanted = [*numbers, 1, MEMORIES + 1]
        assert few.of(wanted) == many.of(wanted)
        assert len(few) == len(many) == len(set(numbers))
        few, many = both(patch, lambda: thread_shares(every, TALKS, len(THREADS), 7.7))
        assert few.of([*THREADS, 9]) == many.of([*THREADS, 9])


def test_a_share_is_at_most_one_and_of_the_unknown_nothing() -> None:
    held = postings({1: (9, 1, 0)}, 0)
    found = memory_shares([held], 1, 1_000.0)
    assert 0 < found.of([1])[0] <= 1
    assert found.of([2]) == [0.0]
    assert [each.tolist() for each in found.arrays] == [[1], found.of([1])]
