"""Putting candidates in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.unit.making import NOON

from nexus.core.candidate import Candidate
from nexus.core.records import MemoryKind
from nexus.recall import closely
from nexus.recall.features import NAMES, Pool, standing
from nexus.recall.rank import in_order, spread
from nexus.recall.surroundings import Surroundings, openings, views
from nexus.recall.understand import understand
from nexus.recall.weights import (
    ENOUGH,
    LIKELY,
    LONGER,
    MOST_TERMS,
    READS_SENTENCES,
    STATIC,
    USUAL_TERMS,
    Weights,
    weights,
)

SAME_AGAIN = STATIC.again
LOOK = dict.fromkeys(closely.NAMES, 1.0)


def rows(terms: int, candidates: int = ENOUGH) -> np.ndarray:
    return np.array(STATIC.of(terms, candidates)[:2])


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
    places, _ = in_order(
        given, lambda _ids: {}, lambda _question, texts: [0.0] * len(texts), STATIC
    )
    return [given.candidates[place].id for place in places]


@pytest.mark.parametrize("fitted", [STATIC, READS_SENTENCES])
def test_every_feature_has_its_weights(fitted: Weights) -> None:
    assert fitted.usual.shape == fitted.longer.shape == (2, len(NAMES))
    assert fitted.usual.any(axis=0).all()
    assert fitted.closely.shape == (len(closely.NAMES),)
    assert fitted.closely.all()


def test_weights_for_a_feature_that_has_none_are_refused() -> None:
    with pytest.raises(KeyError, match="opens"):
        weights({name: (1.0, 1.0) for name in NAMES if name != "opens"}, LOOK, closer=50, again=0.1)


def test_weights_for_something_seen_closely_that_has_none_are_refused() -> None:
    rows = dict.fromkeys(NAMES, (1.0, 1.0))
    look = {name: 1.0 for name in LOOK if name != "oneself"}
    with pytest.raises(KeyError, match="oneself"):
        weights(rows, look, closer=50, again=0.1)


def test_a_question_of_usual_length_is_weighed_as_usual_and_a_longer_one_otherwise() -> None:
    otherwise = rows(2 * USUAL_TERMS) - rows(USUAL_TERMS)

    assert np.array_equal(rows(USUAL_TERMS), STATIC.usual)
    assert {NAMES[place] for place in np.flatnonzero(otherwise.any(axis=0))} == set(LONGER)
    assert np.allclose(otherwise, -(rows(USUAL_TERMS // 2) - STATIC.usual))


def test_among_few_candidates_what_is_likely_anyway_counts_less() -> None:
    few, many = rows(USUAL_TERMS, ENOUGH // 4), rows(USUAL_TERMS, 10 * ENOUGH)

    assert np.array_equal(many, STATIC.usual)
    assert ((few != many).any(axis=0) == LIKELY).all()
    role = NAMES.index("role")
    assert np.allclose(few[:, role], many[:, role] / 2)
    assert STATIC.of(USUAL_TERMS, ENOUGH // 4)[2][0] == STATIC.closely[0]  # the wording
    assert np.allclose(STATIC.of(USUAL_TERMS, ENOUGH // 4)[2][1:], STATIC.closely[1:] / 2)


def test_a_question_without_terms_or_with_very_many_is_weighed_like_the_next_one() -> None:
    assert np.array_equal(rows(0), rows(1))
    assert np.array_equal(rows(MOST_TERMS), rows(1_000))


def topics(*candidates: Candidate, meaning: dict[str, float]) -> list[float]:
    features = pool(*candidates, meaning=meaning).features()
    return features[:, NAMES.index("topic")].tolist()


def test_a_topic_is_how_near_the_nearest_other_of_a_conversation_is() -> None:
    near = {"a": 0.9, "b": 0.2, "c": 0.5, "d": 0.1}
    threads = {"a": "one", "b": "one", "c": "two", "d": "one"}
    out = dict(zip(near, standing(list(near.values())).tolist(), strict=True))

    topic = topics(*(candidate(id, thread=threads[id]) for id in near), meaning=near)

    assert topic == [out["b"], out["a"], out["c"], out["a"]]  # one alone has itself


def test_only_what_was_said_has_a_topic() -> None:
    fact = candidate("a", kind=MemoryKind.FACT)
    near = {"a": 0.9, "b": 0.5, "c": 0.1}
    out = standing([0.9, 0.5, 0.1]).tolist()

    assert topics(fact, candidate("b"), candidate("c"), meaning=near) == [0.0, out[2], out[1]]


@pytest.mark.parametrize("fitted", [STATIC, READS_SENTENCES])
@pytest.mark.parametrize("terms", [1, USUAL_TERMS, MOST_TERMS])
def test_near_company_counts_less_than_being_near(fitted: Weights, terms: int) -> None:
    """Otherwise the nearest of a conversation would stand behind the second nearest."""
    for row in fitted.of(terms)[:2]:
        assert row[NAMES.index("topic")] < row[NAMES.index("meaning")]


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
        given,
        lambda ids: {id: id for id in ids},
        lambda _question, texts: [0.0, 1.0][: len(texts)],
        STATIC,
    )

    assert [given.candidates[place].id for place in places] == ["b", "a"]
    wording = len(NAMES) + closely.NAMES.index("wording")
    assert parts[0, wording] < 0 < parts[1, wording]


def test_only_the_best_are_looked_at_closely() -> None:
    few = replace(STATIC, closer=1)
    given = pool(candidate("a", keyword=0.9), candidate("b"))
    read: list[str] = []

    def texts(ids: Sequence[str]) -> dict[str, str]:
        read.extend(ids)
        return dict.fromkeys(ids, "tea")

    places, parts = in_order(given, texts, lambda _question, texts: [1.0] * len(texts), few)

    assert read == ["a"]
    assert [given.candidates[place].id for place in places] == ["a", "b"]
    assert not parts[1, len(NAMES) :].any()


def test_whom_the_question_is_about_tells_of_themselves() -> None:
    said = {"a": "I like tea.", "b": "She likes tea.", "c": "I like tea."}
    spoken = [
        candidate(id, speaker=speaker)
        for id, speaker in zip("abc", ("ann", "ann", "bob"), strict=True)
    ]
    oneself = len(NAMES) + closely.NAMES.index("oneself")

    _, parts = in_order(
        pool(*spoken, question="What does Ann like?"),
        lambda ids: {id: said[id] for id in ids},
        lambda _question, texts: [0.0] * len(texts),
        STATIC,
    )

    assert [amount > 0 for amount in parts[:, oneself]] == [True, False, False]


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

    places = spread(range(5), np.ones(5), given, SAME_AGAIN)

    assert [given[place].id for place in places] == ["a", "d", "b", "e", "c"]


@pytest.mark.requirement("E12")
def test_what_is_much_better_stays_before_other_conversations() -> None:
    given = [candidate(id, thread="one") for id in "abc"] + [candidate("d", thread="two")]
    sums = np.array([3.0, 2.0, 1.0, 1.0 - 1.5 * SAME_AGAIN])

    assert spread([0, 1, 2, 3], sums, given, SAME_AGAIN) == [0, 1, 3, 2]
    assert spread([0, 1, 2, 3], sums * 10, given, SAME_AGAIN) == [0, 1, 2, 3]


@pytest.mark.requirement("E12")
def test_of_those_that_come_out_equal_the_better_one_stays_first() -> None:
    """Three steps of a tenth are as much as three tenths, whatever a machine makes of them."""
    given = [candidate(id, thread="one") for id in "abc"] + [candidate("d", thread="two")]

    assert spread([0, 1, 2, 3], np.array([2.38, 1.47, 1.19, 0.99]), given, 0.1) == [0, 1, 2, 3]


@pytest.mark.requirement("E12")
def test_one_conversation_alone_stays_in_its_order() -> None:
    given = [candidate(id) for id in "abcd"]

    assert spread([2, 0, 3, 1], np.array([3.0, 1.0, 4.0, 2.0]), given, SAME_AGAIN) == [2, 0, 3, 1]
    assert spread([], np.zeros(0), [], SAME_AGAIN) == []


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
