"""Putting candidates in order."""

from __future__ import annotations

import numpy as np

from nexus.core.protocols import Candidate
from nexus.recall.features import NAMES, Pool, standing
from nexus.recall.gather import widened
from nexus.recall.rank import WEIGHTS, in_order
from nexus.recall.understand import understand


def candidate(id: str, **more: object) -> Candidate:
    told: dict[str, object] = {
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
    return Pool(candidates, understood=understand(question, speakers), **given)  # type: ignore[arg-type]


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
    around = {"b": (("a",), ()), "c": ((), ())}

    found = order(pool(asked, answer, other, around=around))

    assert found.index("b") < found.index("c")


def test_closer_wording_decides_between_equals() -> None:
    given = pool(candidate("a"), candidate("b"))

    places, closeness = in_order(
        given, lambda ids: {id: id for id in ids}, lambda _question, texts: [0.0, 1.0][: len(texts)]
    )

    assert [given.candidates[place].id for place in places] == ["b", "a"]
    assert closeness == {0: 0.0, 1: 1.0}


def test_ties_go_by_id() -> None:
    assert order(pool(candidate("b"), candidate("a"), candidate("c"))) == ["a", "b", "c"]


def test_neighbours_learn_what_stands_around_them() -> None:
    wide = widened({"m": (("l", "k"), ("n", "o"))})

    assert wide["n"] == (("m", "l"), ("o",))
    assert wide["k"] == ((), ("l", "m"))
