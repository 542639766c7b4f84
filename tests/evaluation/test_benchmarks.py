"""Benchmark readers: published formats and invalid files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.evaluation.samples import (
    BEAM_CHAT,
    BEAM_QUESTIONS,
    LOCOMO,
    LONGMEMEVAL,
    write_beam,
    write_json,
    write_locomo,
    write_longmemeval,
)

from nexusmem import InvalidInput
from nexusmem.evaluation.benchmarks import (
    BENCHMARK_READERS,
    BenchmarkConversation,
    BenchmarkMessage,
    limit_questions,
    parse_turn_ids,
    read_benchmark,
)


def test_locomo_messages_have_sessions_and_captions(tmp_path: Path) -> None:
    (talk,) = read_benchmark("locomo", write_locomo(tmp_path))

    assert (talk.name, talk.people) == ("conv-1", ("Nora", "Ivo"))
    assert [message.key for message in talk.messages] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2"]
    assert talk.messages[2] == BenchmarkMessage(
        speaker="Nora",
        text="Here she sleeps. [shares a grey cat on a red sofa]",
        key="D1:3",
        thread="session 1",
        at=datetime(2023, 5, 8, 13, 56, 2, tzinfo=UTC),
    )


def test_locomo_questions_have_their_categories_and_evidence(tmp_path: Path) -> None:
    (talk,) = read_benchmark("locomo", write_locomo(tmp_path))

    named, lessons, twisted, unknown = talk.questions
    assert (named.id, named.category, named.gold) == ("conv-1/0", "single-hop", {"D1:1"})
    assert (lessons.category, lessons.gold) == ("multi-hop", {"D1:2", "D2:1"})
    assert lessons.gold_sessions == {"session 1", "session 2"}
    assert (twisted.category, twisted.abstention) == ("adversarial", True)
    assert not unknown.has_evidence
    assert talk.scorable_questions == (named, lessons, twisted)
    assert talk.answerable_questions == (named, lessons)


@pytest.mark.parametrize(
    ("evidence", "named"),
    [
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D22:1 D9:10", "D9:11"], ["D22:1", "D9:10", "D9:11"]),
        (["D30:05"], ["D30:5"]),
        (["D:11:26", "D1:14"], ["D1:14"]),  # not a turn id
        (["D"], []),
        ([], []),
    ],
)
def test_locomo_evidence_is_parsed(evidence: list[str], named: list[str]) -> None:
    assert list(parse_turn_ids(evidence)) == named


def test_locomo_evidence_without_message_is_ignored(tmp_path: Path) -> None:
    asked = [{"question": "?", "evidence": ["D1:1", "D9:9"], "category": 4}]
    file = write_json(tmp_path / "l.json", [{**LOCOMO[0], "qa": asked}])

    (talk,) = read_benchmark("locomo", file)

    assert talk.questions[0].gold == {"D1:1"}


def test_beam_numbering_is_removed(tmp_path: Path) -> None:
    (talk,) = read_benchmark("beam", write_beam(tmp_path))

    assert (talk.name, talk.people) == ("beam-1", ("user",))
    first, second, third, fourth = talk.messages
    assert first == BenchmarkMessage(
        speaker="user",
        role="user",
        text="I keep bees behind the barn.",
        key="0",
        thread="batch 1 round 0",
        at=datetime(2024, 3, 15, 0, 0, 0, 1_000, tzinfo=UTC),
    )
    assert (second.speaker, second.at > first.at) == ("assistant", True)
    assert (third.thread, fourth.thread) == ("batch 1 round 1", "batch 2 round 0")


def test_beam_evidence_is_flattened(tmp_path: Path) -> None:
    (talk,) = read_benchmark("beam", write_beam(tmp_path))

    nobody, hives, place = talk.questions
    assert (nobody.abstention, nobody.has_evidence) == (True, False)
    assert (hives.id, hives.gold) == ("beam-1/knowledge_update/0", {"2", "3"})
    assert place.gold == {"0"}
    assert place.gold_sessions == {"batch 1 round 0"}


@pytest.mark.parametrize("given", [".", "beam", "beam/100K", "beam/100K/10"])
def test_beam_path_may_be_chat_size_or_parent(tmp_path: Path, given: str) -> None:
    for number in (10, 9):
        write_beam(tmp_path, number)

    names = [talk.name for talk in read_benchmark("beam", tmp_path / given)]

    assert names == (["beam-10"] if given.endswith("10") else ["beam-9", "beam-10"])


def test_beam_path_may_be_a_clone(tmp_path: Path) -> None:
    chat = tmp_path / "chats" / "100K" / "1"
    write_json(chat / "chat.json", BEAM_CHAT)
    write_json(chat / "probing_questions" / "probing_questions.json", BEAM_QUESTIONS)

    assert len(read_benchmark("beam", tmp_path)[0].questions) == 3


def test_longmemeval_has_a_conversation_per_question(tmp_path: Path) -> None:
    talk, other = read_benchmark("longmemeval", write_longmemeval(tmp_path))

    assert (talk.name, other.name) == ("q1", "q2_abs")
    assert talk.session_by_key == {
        "S1:1": "filler_1",
        "S1:2": "filler_1",
        "S2:1": "answer_1",
        "S2:3": "answer_1",  # the empty turn before is skipped
        "S3:1": "filler_1",  # a repeated session has new keys
    }
    assert talk.messages[3].at == datetime(2023, 5, 21, 10, 0, 2, tzinfo=UTC)
    assert talk.messages[1].role == "assistant"


def test_longmemeval_gold_by_turn_and_session(tmp_path: Path) -> None:
    talk, other = read_benchmark("longmemeval", write_longmemeval(tmp_path))

    (bought,), (never,) = talk.questions, other.questions
    assert (bought.gold, bought.gold_sessions) == ({"S2:1"}, {"answer_1"})
    assert bought.at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert (bought.category, bought.abstention) == ("single-session-user", False)
    assert (never.category, never.abstention) == ("abstention", True)
    assert (never.gold, never.gold_sessions) == (frozenset(), {"answer_2_abs"})


@pytest.mark.parametrize("name", ["longmemeval_s_cleaned.json", "longmemeval/longmemeval_s.json"])
def test_folder_is_searched_for_published_names(tmp_path: Path, name: str) -> None:
    write_json(tmp_path / name, LONGMEMEVAL)

    assert len(read_benchmark("longmemeval", tmp_path)) == 2


@pytest.mark.parametrize("benchmark", BENCHMARK_READERS)
@pytest.mark.parametrize("given", [".", "nowhere.json"])
def test_missing_data_is_rejected(tmp_path: Path, benchmark: str, given: str) -> None:
    with pytest.raises(InvalidInput, match=r"no [\w ]+ at .*; give "):
        read_benchmark(benchmark, tmp_path / given)


@pytest.mark.parametrize("benchmark", ["locomo", "longmemeval"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("7", "does not have the format of"),
        ('[{"question": "?"}]', "does not have the format of"),
        ("[]", "has evidence"),
    ],
)
def test_files_of_another_format_are_rejected(tmp_path, benchmark, content, said) -> None:
    file = tmp_path / "data.json"
    file.write_text(content)

    with pytest.raises(InvalidInput, match=said):
        read_benchmark(benchmark, file)


def test_chat_of_another_format_is_rejected(tmp_path: Path) -> None:
    chat = write_beam(tmp_path)
    (chat / "chat.json").write_text('{"turns": []}')

    with pytest.raises(InvalidInput, match="does not have the format of BEAM"):
        read_benchmark("beam", tmp_path)


def test_unknown_benchmark_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="accepted: locomo, longmemeval, beam"):
        read_benchmark("trivia", tmp_path)


@pytest.mark.parametrize(("limit", "asked"), [(1, [1]), (3, [3]), (4, [3, 1]), (99, [3, 3])])
def test_limit_takes_the_first_scorable_questions(tmp_path, limit, asked) -> None:
    (talk,) = read_benchmark("locomo", write_locomo(tmp_path))
    silent = BenchmarkConversation(name="silent", people=(), messages=(), questions=())

    kept = list(limit_questions([talk, silent, talk], limit))

    assert [len(conversation.questions) for conversation in kept] == asked
    assert all(
        question.has_evidence for conversation in kept for question in conversation.questions
    )
