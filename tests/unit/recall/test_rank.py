"""Putting candidates in order."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from tests.unit.making import NOON

from nexus.core.candidate import Candidate
from nexus.core.records import MemoryKind
from nexus.recall.features import NAMES, Pool, standing
from nexus.recall.rank import SAME_AGAIN, WEIGHTS, in_order, spread
from nexus.recall.surroundings import Surroundings, openings, views
from nexus.recall.understand import understand


def candidate(id: str, **more: object) -> Candidate:
    told: dict[str, object] = {
        "kind": MemoryKind.PASSAGE,
        "at": NOON,
        "directs": False,
        "speaker": "alice",
        "role": "user",
        "thread": "t",
        "length": 10,
        "asks": False,
        "keyword": 0.1,
        "thread_keyword": 0.1,
    }
    return Candidate(id=id, **{**told, **more})  # type: ignore[arg-type]


def pool(*candidates: Candidate, question: str = "what about tea?", **more: object) -> Pool:
    given = {"meaning": {}, "around": {}, **more}
    speakers = [each.speaker for each in candidates]
    return Pool(candidates, understood=understand(question, speakers, NOON), **given)  # type: ignore[arg-type]


def order(given: Pool) -> list[str]:
    places, _ = in_order(given, lambda _ids: {}, lambda _question, texts: [0.0] * len(texts))
    return [given.candidates[place].id for place in places]


def test_every_feature_has_its_weights() -> None:
    assert set(WEIGHTS) == set(NAMES)


def test_standing_out_is_counted_in_deviations() -> None:
    assert standing([1.0, 1.0]).tolist() == [0.0, 0.0]
    assert np.allclose(standing([0.0, 2.0]), [-1.0, 1.0])
    assert standing([]).tolist() == []


def test_what_the_person_asked_about_said_comes_first() -> None:
    found = order(
        pool(
            candidate("a", speaker="bob"),
            candidate("b", speaker="alice"),
            question="What does alice drink?",
        )
    )

    assert found == ["b", "a"]


def test_an_answer_inherits_from_the_question_before_it() -> None:
    asked = candidate("a", keyword=0.9, asks=True)
    answer = candidate("b", keyword=0.0)
    other = candidate("c", keyword=0.0)
    stated = candidate("d", keyword=0.9)
    around = {"b": (("a",), ()), "c": (("d",), ())}

    found = order(pool(asked, answer, other, stated, around=around))

    assert found.index("b") < found.index("c")


def test_closer_wording_decides_between_equals() -> None:
    given = pool(candidate("a"), candidate("b"))

    places, parts = in_order(
        given, lambda ids: {id: id for id in ids}, lambda _question, texts: [0.0, 1.0][: len(texts)]
    )

    assert [given.candidates[place].id for place in places] == ["b", "a"]
    assert parts[0, -1] < 0 < parts[1, -1]


def test_what_was_said_in_the_time_asked_for_comes_first() -> None:
    yesterday = NOON - timedelta(days=1)

    found = order(pool(candidate("a"), candidate("b", at=yesterday), question="Any tea yesterday?"))

    assert found == ["b", "a"]


def test_what_is_linked_to_a_name_in_the_question_comes_first() -> None:
    assert order(pool(candidate("a"), candidate("b"), linked={"b": 1.0})) == ["b", "a"]


def test_a_direction_comes_first() -> None:
    assert order(pool(candidate("a"), candidate("b", directs=True))) == ["b", "a"]


def test_only_what_was_said_can_open_a_conversation() -> None:
    fact = candidate("a", kind=MemoryKind.FACT)

    assert order(pool(fact, candidate("b"), opening={"a", "b"})) == ["b", "a"]


def test_what_opens_a_conversation_has_nothing_before_it() -> None:
    seen_from_heads = {
        "second": (("first",), ("third",)),
        "alone": ((), ()),
        "fifth": (("fourth", "third"), ()),  # nobody looked further
    }

    assert openings(seen_from_heads) == {"first", "alone"}


def test_no_candidates_are_no_order() -> None:
    assert order(pool()) == []


@pytest.mark.requirement("E12")
def test_a_further_one_of_a_conversation_lets_an_equal_of_another_pass() -> None:
    threads = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two"}
    given = [candidate(id, thread=thread) for id, thread in threads.items()]

    places = spread(range(5), np.ones(5), given)

    assert [given[place].id for place in places] == ["a", "d", "b", "e", "c"]


@pytest.mark.requirement("E12")
def test_what_is_much_better_stays_before_other_conversations() -> None:
    given = [candidate(id, thread="one") for id in "abc"] + [candidate("d", thread="two")]
    sums = np.array([3.0, 2.0, 1.0, 1.0 - 1.5 * SAME_AGAIN])

    assert spread([0, 1, 2, 3], sums, given) == [0, 1, 3, 2]
    assert spread([0, 1, 2, 3], sums * 10, given) == [0, 1, 2, 3]


@pytest.mark.requirement("E12")
def test_one_conversation_alone_stays_in_its_order() -> None:
    given = [candidate(id) for id in "abcd"]

    assert spread([2, 0, 3, 1], np.array([3.0, 1.0, 4.0, 2.0]), given) == [2, 0, 3, 1]
    assert spread([], np.zeros(0), []) == []


def test_ties_go_by_id() -> None:
    assert order(pool(candidate("b"), candidate("a"), candidate("c"))) == ["a", "b", "c"]


def seen(around: Surroundings, ids: str) -> dict[str, list[str]]:
    """Two before and two after each, nearest first: `?` is no candidate, `-` is nobody."""
    places, rows = views(around, list(ids))
    named = [*ids, "?", "-"]
    return {
        named[place]: [named[one] for one in row]
        for place, row in zip(places.tolist(), rows.tolist(), strict=True)
    }


def test_neighbours_learn_what_stands_around_them() -> None:
    wide = seen({"m": (("l", "k"), ("n", "o"))}, "klmno")

    assert wide["m"] == ["l", "k", "n", "o"]
    assert wide["n"] == ["m", "l", "o", "-"]
    assert wide["k"] == ["-", "-", "l", "m"]


def test_who_is_no_candidate_is_seen_and_sees_nobody() -> None:
    wide = seen({"m": (("l",), ("n", "o"))}, "m")

    assert wide == {"m": ["?", "-", "?", "?"]}
    assert seen({}, "m") == {}


def test_of_two_views_the_fuller_one_counts_and_of_equals_the_first() -> None:
    from_both_sides = {"d": (("c", "b"), ()), "a": ((), ("b", "c"))}

    assert seen(from_both_sides, "abcd") == {
        "a": ["-", "-", "b", "c"],
        "b": ["a", "-", "c", "-"],
        "c": ["b", "a", "-", "-"],
        "d": ["c", "b", "-", "-"],
    }
