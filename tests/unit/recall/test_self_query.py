"""A filter read out of a question: only what holds up, and never more than a filter."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nexus.core.errors import ModelUnavailable
from nexus.core.filters import Condition, Every, Filter, Op
from nexus.core.models import Completion
from nexus.core.records import MemoryKind
from nexus.core.schema import check_schema
from nexus.recall.rewrite import Question, Rewritten
from nexus.recall.self_query import PARTS, self_query

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NOTHING = {"text": "rest", "kinds": [], "speaker": "", "since": "", "until": ""}
FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC)
MARCH = datetime(2026, 3, 1, tzinfo=UTC)


class Says:
    def __init__(self, **parts: object) -> None:
        self.parts = parts

    def complete(self, prompt, *, schema=None, max_tokens=None, timeout=None) -> Completion:
        data = {**NOTHING, **self.parts}
        return Completion(text="", data=data, input_tokens=1, output_tokens=1, model="m")

    def close(self) -> None:
        """Nothing to close."""


def read(question: str = "What did Ann say?", people: tuple[str, ...] = (), **parts) -> Rewritten:
    return self_query(Says(**parts), Question(text=question, now=NOON, people=people), 1.0)


def conditions(where: Filter | None) -> tuple[Filter, ...]:
    return where.parts if isinstance(where, Every) else () if where is None else (where,)


def test_the_schema_is_one_that_every_provider_knows():
    check_schema(PARTS)


def test_nothing_said_is_nothing_filtered_and_the_question_stays():
    assert read() == Rewritten()


def test_a_span_of_time_is_a_window_and_its_end_is_not_in_it():
    rewritten = read(since="2026-02-01", until="2026-03-01T01:00:00+01:00")

    assert conditions(rewritten.where) == (
        Condition("at", Op.GTE, FEBRUARY),
        Condition("at", Op.LT, MARCH),
    )
    assert rewritten.meaning == "rest"
    assert rewritten.why == (
        "self_query: at gte 2026-02-01T00:00:00.000000Z",
        "self_query: at lt 2026-03-01T00:00:00.000000Z",
    )


def test_kinds_are_one_condition():
    [condition] = conditions(read(kinds=["fact", "episode", "fact"]).where)

    assert condition == Condition("kind", Op.IN, ["episode", "fact"])


def test_a_speaker_who_is_known_is_meant_exactly():
    [condition] = conditions(read(people=("ann", "joanna"), speaker=" Ann ").where)

    assert condition == Condition("speaker", Op.IN, ["ann"])


def test_a_speaker_who_is_not_here_is_found_by_name():
    [condition] = conditions(read(speaker="Ann").where)

    assert condition == Condition("speaker", Op.CONTAINS, "ann")


IGNORED = {
    "a name out of thin air": ({"speaker": "Bob"}, "speaker"),
    "a part of a word": ({"speaker": "hat"}, "speaker"),
    "a pronoun": ({"speaker": "Me", "question": "What did you tell me?"}, "speaker"),
    "a pattern": ({"speaker": ".*"}, "speaker"),
    "no time": ({"since": "last week"}, "since"),
    "an impossible time": ({"until": "2026-02-31"}, "until"),
    "a time out of range": ({"since": "0001-01-01T00:00:00+23:00"}, "since"),
    "every kind": (
        {"kinds": [kind.value for kind in MemoryKind]},
        "kind",
    ),
}


@pytest.mark.parametrize(("parts", "name"), IGNORED.values(), ids=IGNORED)
def test_what_does_not_hold_up_is_left_out_with_a_remark(parts, name):
    assert read(**parts) == Rewritten(degraded=(f"self_query: {name} was not usable",))


def test_a_span_the_wrong_way_round_is_left_out():
    rewritten = read(since="2026-03-01", until="2026-02-01")

    assert rewritten.where is None
    assert len(rewritten.degraded) == 2


def test_one_bad_part_does_not_spoil_the_others():
    rewritten = read(speaker="Bob", since="2026-02-01")

    assert conditions(rewritten.where) == (Condition("at", Op.GTE, FEBRUARY),)
    assert rewritten.degraded == ("self_query: speaker was not usable",)


def test_a_model_that_is_away_is_for_the_caller_to_handle():
    class Away(Says):
        def complete(self, prompt, *, schema=None, max_tokens=None, timeout=None) -> Completion:
            raise ModelUnavailable

    with pytest.raises(ModelUnavailable):
        self_query(Away(), Question(text="What?", now=NOON), 1.0)
