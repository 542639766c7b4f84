"""Contextual ranking: features, weights, diversification and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from tests.unit.making import NOON

from nexusmem.core.protocols.embedder import WordMatch
from nexusmem.core.records import MemoryKind
from nexusmem.core.records.projections import Candidate
from nexusmem.recall.question_analysis import analyze_question
from nexusmem.recall.ranking import features as text_features
from nexusmem.recall.ranking.contextual import diversify, rank_pool
from nexusmem.recall.ranking.features import (
    FEATURE_NAMES,
    CandidatePool,
    NeighbourMap,
    conversation_openings,
    neighbour_positions,
    z_scores,
)
from nexusmem.recall.ranking.weights import (
    ENOUGH_CANDIDATES,
    LENGTH_DEPENDENT,
    MAX_TERMS,
    PRIOR_FEATURES,
    SENTENCE_WEIGHTS,
    STATIC_WEIGHTS,
    TYPICAL_TERMS,
    Weights,
    make_weights,
)

REPEAT_PENALTY = STATIC_WEIGHTS.repeat_penalty
LOOK = dict.fromkeys(text_features.TEXT_FEATURE_NAMES, 1.0)


def rows(terms: int, candidates: int = ENOUGH_CANDIDATES) -> np.ndarray:
    return np.array(STATIC_WEIGHTS.for_question(terms, candidates)[:2])


def candidate(id: str, **more: object) -> Candidate:
    told: dict[str, object] = {
        "kind": MemoryKind.PASSAGE,
        "at": NOON,
        "is_instruction": False,
        "speaker": "alice",
        "role": "user",
        "thread": "t",
        "length": 10,
        "is_question": False,
        "keyword": 0.1,
        "thread_keyword": 0.1,
    }
    return Candidate(id=id, **{**told, **more})  # type: ignore[arg-type]


def pool(
    *candidates: Candidate, question: str = "what about tea?", **more: object
) -> CandidatePool:
    given = {"vector_scores": {}, "neighbours": {}, **more}
    speakers = [each.speaker for each in candidates]
    return CandidatePool(candidates, analysis=analyze_question(question, speakers, NOON), **given)  # type: ignore[arg-type]


def match_texts(*scores: float) -> Callable[[str, Sequence[str]], WordMatch]:
    """Return a matcher that gives the texts these scores; the last one goes to all others."""

    def match(_question: str, texts: Sequence[str]) -> WordMatch:
        padded = [*scores, *[scores[-1]] * len(texts)][: len(texts)]
        return WordMatch(padded, np.zeros((len(texts), 0)), np.zeros(0))

    return match


def order(given: CandidatePool) -> list[str]:
    places, *_ = rank_pool(given, lambda _ids: {}, match_texts(0.0), STATIC_WEIGHTS)
    return [given.candidates[place].id for place in places]


@pytest.mark.parametrize("fitted", [STATIC_WEIGHTS, SENTENCE_WEIGHTS])
def test_every_feature_has_a_weight(fitted: Weights) -> None:
    assert fitted.base.shape == fitted.per_length.shape == (2, len(FEATURE_NAMES))
    assert fitted.base.any(axis=0).all()
    assert fitted.text_features.shape == (len(text_features.TEXT_FEATURE_NAMES),)
    assert fitted.text_features.all()


def test_missing_feature_weight_is_rejected() -> None:
    with pytest.raises(KeyError, match="opens"):
        make_weights(
            {name: (1.0, 1.0) for name in FEATURE_NAMES if name != "opens"},
            LOOK,
            text_depth=50,
            repeat_penalty=0.1,
        )


def test_missing_text_feature_weight_is_rejected() -> None:
    rows = dict.fromkeys(FEATURE_NAMES, (1.0, 1.0))
    look = {name: 1.0 for name in LOOK if name != "oneself"}
    with pytest.raises(KeyError, match="oneself"):
        make_weights(rows, look, text_depth=50, repeat_penalty=0.1)


def test_weights_depend_on_the_length_of_the_question() -> None:
    otherwise = rows(2 * TYPICAL_TERMS) - rows(TYPICAL_TERMS)

    assert np.array_equal(rows(TYPICAL_TERMS), STATIC_WEIGHTS.base)
    assert {FEATURE_NAMES[place] for place in np.flatnonzero(otherwise.any(axis=0))} == set(
        LENGTH_DEPENDENT
    )
    assert np.allclose(otherwise, -(rows(TYPICAL_TERMS // 2) - STATIC_WEIGHTS.base))


def test_priors_are_scaled_down_for_few_candidates() -> None:
    few, many = (
        rows(TYPICAL_TERMS, ENOUGH_CANDIDATES // 4),
        rows(TYPICAL_TERMS, 10 * ENOUGH_CANDIDATES),
    )

    assert np.array_equal(many, STATIC_WEIGHTS.base)
    assert ((few != many).any(axis=0) == PRIOR_FEATURES).all()
    role = FEATURE_NAMES.index("role")
    assert np.allclose(few[:, role], many[:, role] / 2)
    assert (
        STATIC_WEIGHTS.for_question(TYPICAL_TERMS, ENOUGH_CANDIDATES // 4)[2][0]
        == STATIC_WEIGHTS.text_features[0]
    )  # the wording
    assert np.allclose(
        STATIC_WEIGHTS.for_question(TYPICAL_TERMS, ENOUGH_CANDIDATES // 4)[2][1:],
        STATIC_WEIGHTS.text_features[1:] / 2,
    )


def test_length_factor_is_clamped() -> None:
    assert np.array_equal(rows(0), rows(1))
    assert np.array_equal(rows(MAX_TERMS), rows(1_000))


def topics(*candidates: Candidate, vector_scores: dict[str, float]) -> list[float]:
    features = pool(*candidates, vector_scores=vector_scores).build_features()
    return features[:, FEATURE_NAMES.index("topic")].tolist()


def test_topic_is_the_best_other_score_of_the_conversation() -> None:
    near = {"a": 0.9, "b": 0.2, "c": 0.5, "d": 0.1}
    threads = {"a": "one", "b": "one", "c": "two", "d": "one"}
    out = dict(zip(near, z_scores(list(near.values())).tolist(), strict=True))

    topic = topics(*(candidate(id, thread=threads[id]) for id in near), vector_scores=near)

    assert topic == [out["b"], out["a"], out["c"], out["a"]]  # an item alone has its own score


def test_topic_is_zero_for_facts() -> None:
    fact = candidate("a", kind=MemoryKind.FACT)
    near = {"a": 0.9, "b": 0.5, "c": 0.1}
    out = z_scores([0.9, 0.5, 0.1]).tolist()

    assert topics(fact, candidate("b"), candidate("c"), vector_scores=near) == [0.0, out[2], out[1]]


@pytest.mark.parametrize("fitted", [STATIC_WEIGHTS, SENTENCE_WEIGHTS])
@pytest.mark.parametrize("terms", [1, TYPICAL_TERMS, MAX_TERMS])
def test_topic_weighs_less_than_vector(fitted: Weights, terms: int) -> None:
    """Otherwise the nearest of a conversation would rank after the second nearest."""
    for row in fitted.for_question(terms)[:2]:
        assert row[FEATURE_NAMES.index("topic")] < row[FEATURE_NAMES.index("vector")]


def test_z_scores() -> None:
    assert z_scores([1.0, 1.0]).tolist() == [0.0, 0.0]
    assert np.allclose(z_scores([0.0, 2.0]), [-1.0, 1.0])
    assert z_scores([]).tolist() == []


def test_messages_of_the_named_person_rank_first() -> None:
    found = order(
        pool(
            candidate("a", speaker="bob"),
            candidate("b", speaker="alice"),
            question="What does alice drink?",
        )
    )

    assert found == ["b", "a"]


def test_answer_gains_from_the_question_before_it() -> None:
    asked = candidate("a", keyword=0.9, is_question=True)
    answer = candidate("b", keyword=0.0)
    other = candidate("c", keyword=0.0)
    stated = candidate("d", keyword=0.9)
    around = {"b": (("a",), ()), "c": (("d",), ())}

    found = order(pool(asked, answer, other, stated, neighbours=around))

    assert found.index("b") < found.index("c")


def test_wording_breaks_ties() -> None:
    given = pool(candidate("a"), candidate("b"))

    places, parts, *_ = rank_pool(
        given,
        lambda ids: {id: id for id in ids},
        match_texts(0.0, 1.0),
        STATIC_WEIGHTS,
    )

    assert [given.candidates[place].id for place in places] == ["b", "a"]
    wording = len(FEATURE_NAMES) + text_features.TEXT_FEATURE_NAMES.index("wording")
    assert parts[0, wording] < 0 < parts[1, wording]


def test_text_features_are_computed_for_the_head_only() -> None:
    few = replace(STATIC_WEIGHTS, text_depth=1)
    given = pool(candidate("a", keyword=0.9), candidate("b"))
    read: list[str] = []

    def texts(ids: Sequence[str]) -> dict[str, str]:
        read.extend(ids)
        return dict.fromkeys(ids, "tea")

    places, parts, *_ = rank_pool(given, texts, match_texts(1.0), few)

    assert read == ["a"]
    assert [given.candidates[place].id for place in places] == ["a", "b"]
    assert not parts[1, len(FEATURE_NAMES) :].any()


def test_first_person_text_of_the_named_person_gains() -> None:
    said = {"a": "I like tea.", "b": "She likes tea.", "c": "I like tea."}
    spoken = [
        candidate(id, speaker=speaker)
        for id, speaker in zip("abc", ("ann", "ann", "bob"), strict=True)
    ]
    oneself = len(FEATURE_NAMES) + text_features.TEXT_FEATURE_NAMES.index("oneself")

    _, parts, *_ = rank_pool(
        pool(*spoken, question="What does Ann like?"),
        lambda ids: {id: said[id] for id in ids},
        match_texts(0.0),
        STATIC_WEIGHTS,
    )

    assert [amount > 0 for amount in parts[:, oneself]] == [True, False, False]


def test_messages_in_the_time_window_rank_first() -> None:
    yesterday = NOON - timedelta(days=1)

    found = order(pool(candidate("a"), candidate("b", at=yesterday), question="Any tea yesterday?"))

    assert found == ["b", "a"]


def test_graph_score_ranks_first() -> None:
    assert order(pool(candidate("a"), candidate("b"), graph_scores={"b": 1.0})) == ["b", "a"]


def test_instruction_ranks_first() -> None:
    assert order(pool(candidate("a"), candidate("b", is_instruction=True))) == ["b", "a"]


def test_only_passages_open_a_conversation() -> None:
    fact = candidate("a", kind=MemoryKind.FACT)

    assert order(pool(fact, candidate("b"), opening_ids={"a", "b"})) == ["b", "a"]


def test_conversation_openings_have_no_predecessor() -> None:
    seen_from_heads = {
        "second": (("first",), ("third",)),
        "alone": ((), ()),
        "fifth": (("fourth", "third"), ()),  # the view ends there
    }

    assert conversation_openings(seen_from_heads) == {"first", "alone"}


def test_no_candidates_give_no_ranking() -> None:
    assert order(pool()) == []


@pytest.mark.requirement("E12")
def test_diversify_alternates_between_conversations() -> None:
    threads = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two"}
    given = [candidate(id, thread=thread) for id, thread in threads.items()]

    places = diversify(range(5), np.ones(5), given, REPEAT_PENALTY)

    assert [given[place].id for place in places] == ["a", "d", "b", "e", "c"]


@pytest.mark.requirement("E12")
def test_diversify_keeps_clearly_better_candidates() -> None:
    given = [candidate(id, thread="one") for id in "abc"] + [candidate("d", thread="two")]
    sums = np.array([3.0, 2.0, 1.0, 1.0 - 1.5 * REPEAT_PENALTY])

    assert diversify([0, 1, 2, 3], sums, given, REPEAT_PENALTY) == [0, 1, 3, 2]
    assert diversify([0, 1, 2, 3], sums * 10, given, REPEAT_PENALTY) == [0, 1, 2, 3]


@pytest.mark.requirement("E12")
def test_diversify_ties_keep_their_order() -> None:
    """3 × 0.1 must equal 0.3 despite floating-point rounding."""
    given = [candidate(id, thread="one") for id in "abc"] + [candidate("d", thread="two")]

    assert diversify([0, 1, 2, 3], np.array([2.38, 1.47, 1.19, 0.99]), given, 0.1) == [0, 1, 2, 3]


@pytest.mark.requirement("E12")
def test_diversify_keeps_a_single_conversation() -> None:
    given = [candidate(id) for id in "abcd"]

    assert diversify([2, 0, 3, 1], np.array([3.0, 1.0, 4.0, 2.0]), given, REPEAT_PENALTY) == [
        2,
        0,
        3,
        1,
    ]
    assert diversify([], np.zeros(0), [], REPEAT_PENALTY) == []


def test_ties_go_by_id() -> None:
    assert order(pool(candidate("b"), candidate("a"), candidate("c"))) == ["a", "b", "c"]


def neighbour_ids(around: NeighbourMap, ids: str) -> dict[str, list[str]]:
    """Return two ids before and after each, nearest first; `?` is no candidate, `-` is missing."""
    places, rows = neighbour_positions(around, list(ids))
    named = [*ids, "?", "-"]
    return {
        named[place]: [named[one] for one in row]
        for place, row in zip(places.tolist(), rows.tolist(), strict=True)
    }


def test_neighbours_get_their_own_neighbours() -> None:
    wide = neighbour_ids({"m": (("l", "k"), ("n", "o"))}, "klmno")

    assert wide["m"] == ["l", "k", "n", "o"]
    assert wide["n"] == ["m", "l", "o", "-"]
    assert wide["k"] == ["-", "-", "l", "m"]


def test_outside_messages_are_neighbours_without_rows() -> None:
    wide = neighbour_ids({"m": (("l",), ("n", "o"))}, "m")

    assert wide == {"m": ["?", "-", "?", "?"]}
    assert neighbour_ids({}, "m") == {}


def test_fullest_view_of_a_candidate_is_used() -> None:
    from_both_sides = {"d": (("c", "b"), ()), "a": ((), ("b", "c"))}

    assert neighbour_ids(from_both_sides, "abcd") == {
        "a": ["-", "-", "b", "c"],
        "b": ["a", "-", "c", "-"],
        "c": ["b", "a", "-", "-"],
        "d": ["c", "b", "-", "-"],
    }
