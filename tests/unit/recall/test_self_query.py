"""Self-query: filters that a model extracts from a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nexusmem.core.errors import ModelUnavailable
from nexusmem.core.filters import And, Condition, Filter, Op
from nexusmem.core.protocols.models import Completion, check_schema
from nexusmem.core.records import MemoryKind
from nexusmem.recall.rewriters import SELF_QUERY_SCHEMA, RewriteInput, RewriteResult, self_query

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


def read(
    question: str = "What did Ann say?", people: tuple[str, ...] = (), **parts
) -> RewriteResult:
    return self_query(Says(**parts), RewriteInput(text=question, now=NOON, people=people), 1.0)


def conditions(where: Filter | None) -> tuple[Filter, ...]:
    return where.parts if isinstance(where, And) else () if where is None else (where,)


def test_schema_is_supported_by_every_provider():
    check_schema(SELF_QUERY_SCHEMA)


def test_empty_answer_keeps_the_question():
    assert read() == RewriteResult()


def test_window_is_half_open():
    rewritten = read(since="2026-02-01", until="2026-03-01T01:00:00+01:00")

    assert conditions(rewritten.where) == (
        Condition("at", Op.GTE, FEBRUARY),
        Condition("at", Op.LT, MARCH),
    )
    assert rewritten.embedding_text == "rest"
    assert rewritten.remarks == (
        "self_query: at gte 2026-02-01T00:00:00.000000Z",
        "self_query: at lt 2026-03-01T00:00:00.000000Z",
    )


def test_kinds_are_one_condition():
    [condition] = conditions(read(kinds=["fact", "episode", "fact"]).where)

    assert condition == Condition("kind", Op.IN, ["episode", "fact"])


def test_participant_matches_exactly():
    [condition] = conditions(read(people=("ann", "joanna"), speaker=" Ann ").where)

    assert condition == Condition("speaker", Op.IN, ["ann"])


def test_other_speaker_matches_by_substring():
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
def test_unusable_values_are_degraded(parts, name):
    assert read(**parts) == RewriteResult(degraded=(f"self_query: {name} was not usable",))


def test_inverted_window_is_ignored():
    rewritten = read(since="2026-03-01", until="2026-02-01")

    assert rewritten.where is None
    assert len(rewritten.degraded) == 2


def test_unusable_value_keeps_the_others():
    rewritten = read(speaker="Bob", since="2026-02-01")

    assert conditions(rewritten.where) == (Condition("at", Op.GTE, FEBRUARY),)
    assert rewritten.degraded == ("self_query: speaker was not usable",)


def test_unavailable_model_is_raised():
    class Away(Says):
        def complete(self, prompt, *, schema=None, max_tokens=None, timeout=None) -> Completion:
            raise ModelUnavailable

    with pytest.raises(ModelUnavailable):
        self_query(Away(), RewriteInput(text="What?", now=NOON), 1.0)
