"""Custom benchmark files."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nexusmem import InvalidInput
from nexusmem.config.settings import Settings
from nexusmem.evaluation.benchmarks import read_benchmark
from nexusmem.evaluation.evaluate import evaluate_benchmark

KITCHEN = """
- name: kitchen
  messages:
    - {key: m1, speaker: alice, session: monday, at: 2026-03-02T10:00:00+01:00, text: An oven.}
    - {key: m2, speaker: bob, session: monday, at: 2026-03-02, text: I clear the corner.}
    - {key: m3, speaker: scribe, role: assistant, session: friday, text: It came without a plug.}
  questions:
    - {question: "Who clears the corner?", evidence: [m2]}
    - {question: "What about the oven?", evidence: [m1, m3]}
    - {question: "What did it cost?", category: never said}
"""
TWO = "[{speaker: a, text: x}, {speaker: a, text: y}]"


def written(folder: Path, text: str) -> Path:
    file = folder / "questions.yaml"
    file.write_text(text)
    return file


@pytest.mark.requirement("D28")
def test_file_is_parsed(tmp_path: Path) -> None:
    (talk,) = read_benchmark("own", written(tmp_path, KITCHEN))

    assert (talk.name, talk.people) == ("kitchen", ("alice", "bob"))
    assert talk.messages[0].at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert talk.messages[1].at == datetime(2026, 3, 2, tzinfo=UTC)
    assert talk.session_by_key == {"m1": "monday", "m2": "monday", "m3": "friday"}
    who, about, _ = talk.questions
    assert (who.category, who.gold, who.gold_sessions) == ("one session", {"m2"}, {"monday"})
    assert (about.category, about.gold_sessions) == ("across sessions", {"monday", "friday"})
    assert talk.scorable_questions == (who, about)


def test_default_key_and_time_of_a_message(
    tmp_path: Path,
) -> None:
    text = f"- {{messages: {TWO}, questions: [{{question: q, evidence: [2]}}]}}"

    (talk,) = read_benchmark("own", written(tmp_path, text))

    assert [each.key for each in talk.messages] == ["1", "2"]
    assert talk.messages[0].at < talk.messages[1].at
    assert talk.questions[0].gold == {"2"}


@pytest.mark.requirement("D28")
def test_questions_across_sessions_are_measured(tmp_path: Path) -> None:
    made = evaluate_benchmark("own", written(tmp_path, KITCHEN), Settings())

    categories = made.summary["categories"]
    assert set(categories) == {"one session", "across sessions"}
    assert len(made.rows) == 2
    assert categories["one session"]["turn"]["recall@5"] == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kitchen: 1", "expected a list"),
        ("- {messages: [], questions: 3}", "questions of conversation 1: expected a list"),
        ("- {messages: []}", "conversation 1 needs messages and questions"),
        (
            "- {messages: [{speaker: a}], questions: []}",
            "message 1 of conversation 1 needs",
        ),
        (
            "- {messages: [{speaker: a, text: x, sesion: s}], questions: []}",
            "message 1 of conversation 1 has 'sesion'; accepted: ",
        ),
        (
            "- {messages: [{speaker: a, text: x, at: soon}], questions: []}",
            "`at` of message 1 of conversation 1 must be an ISO 8601 time, got 'soon'",
        ),
        (
            "- {messages: [{speaker: a, text: x, key: 2}, {speaker: a, text: y}], questions: []}",
            "two messages of conversation 1 have the same key",
        ),
        (
            "- {messages: [{speaker: a, text: x}], questions: [{question: q, evidence: [9]}]}",
            "question 1 of conversation 1 names '9' as evidence; no message has that key",
        ),
        ("- {messages: [", "cannot read"),
        ("- {messages: [{speaker: a, text: x}], questions: [{question: q}]}", "has evidence"),
    ],
)
def test_invalid_file_is_rejected(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(said)):
        read_benchmark("own", written(tmp_path, text))
