"""Chat corpus: what is learned from each message is read back, and questions are answered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.chat_samples import CORPUS, SCORER, write_corpus
from tests.loopback import Loopback, status

from nexusmem import InvalidInput, Nexus
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.evaluation.chat import ChatItem, ReplayClock, read_corpus, run_corpus
from nexusmem.evaluation.chat_format import describe_memories, due_day, format_period
from nexusmem.evaluation.chat_questions import ChatQuestion, answer_question
from nexusmem.evaluation.chat_scores import (
    compare_chat_baseline,
    count_errors,
    evaluate_chat,
    load_scorer,
)
from nexusmem.place.place import Place

pytestmark = pytest.mark.requirement("X5")


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock() -> ReplayClock:
    return ReplayClock(day("2025-01-01"))


@pytest.fixture
def nexus(clock: ReplayClock) -> Iterator[Nexus]:
    with Nexus.open(":memory:", settings=Settings(), clock=clock, background=False) as nexus:
        yield nexus


@pytest.fixture
def place(nexus: Nexus) -> Place:
    return nexus.workspace("w").room("talk", participants=["elif", "kurt"])


@pytest.fixture
def records(nexus: Nexus, clock: ReplayClock, tmp_path: Path) -> dict[str, dict[str, Any]]:
    made = run_corpus(nexus, clock, read_corpus(write_corpus(tmp_path)))
    assert made.stuck == 0
    return {record["id"]: record for record in made.records}


def test_every_message_and_conversation_has_a_record(records) -> None:
    assert set(records) == {"t-1", "t-2", "t-3", "t-c1-m1", "t-c1-m2", "t-c1-m3", "t-c1"}


def test_record_has_only_what_its_own_message_says(records) -> None:
    (learned,) = records["t-1"]["facts"]

    assert learned == {
        "subject": "maya",
        "predicate": "WORKS_AT",
        "object": "Larkspur",
        "tense": "current",
        "negated": False,
        "when": None,
    }
    assert {"name": "Larkspur", "type": "company"} in records["t-1"]["entities"]
    assert records["t-2"] == {
        "id": "t-2",
        "facts": [],
        "landmarks": [],
        "entities": [],
        "aliases": [],
    }


def test_questions_are_asked_after_the_last_message(records) -> None:
    assert records["t-c1"]["answers"] == {
        "t-c1-q1": ["Rome"],
        "t-c1-q2": ["Oslo"],
        "t-c1-q3": ["Oslo"],
    }


def test_labels_are_not_read(tmp_path: Path) -> None:
    items = read_corpus(write_corpus(tmp_path))

    assert not any("Acme" in repr(item) for item in items)
    assert items[0] == ChatItem(id="t-1", register="friends", messages=items[0].messages)


def test_messages_are_recorded_in_the_order_of_their_times(
    nexus: Nexus, clock: ReplayClock, tmp_path: Path
) -> None:
    items = read_corpus(write_corpus(tmp_path))

    run_corpus(nexus, clock, items)

    for item in items:
        place = nexus.workspace(f"eval-chat-{item.id}").room("talk", participants=item.people)
        events = place.recent()
        assert [event.recorded_at.date() for event in events] == [
            event.at.date() for event in events
        ]


@pytest.mark.parametrize(
    ("since", "until", "text"),
    [
        (None, None, None),
        ("2026-05-03", None, "2026-05-03"),
        ("2026-05-03", "2026-05-04", "2026-05-03"),
        ("2026-05-01", None, "2026-05-01"),
        ("2026-05-01", "2026-06-01", "2026-05"),
        ("2025-12-01", "2026-01-01", "2025-12"),
        ("2026-05-01", "2026-06-03", "2026-05-01"),
        ("2026-05-01", "2027-06-01", "2026-05-01"),
        ("2026-01-01", "2027-01-01", "2026"),
        ("2026-01-01", "2028-01-01", "2026-01-01"),
        (None, "2026-06-01", "2026-05-31"),
        (None, "2026-06-01T15:00", "2026-06-01"),
    ],
)
def test_period_is_a_year_a_month_or_a_day(since, until, text) -> None:
    assert format_period(since and day(since), until and day(until)) == text


def test_unsure_facts_are_left_out(place: Place) -> None:
    place.add_fact("Ben", "LIVES_IN", "Oslo", confidence=0.9, valid_from=day("2026-05-03"))
    place.add_fact("Ben", "HAS_AGE", value=7, confidence=0.89)
    facts = place.memories("fact").items

    sure = describe_memories(facts, {}, 0.9)["facts"]
    both = describe_memories(facts, {}, 0.5)["facts"]

    assert [(each["object"], each["when"]) for each in sure] == [("Oslo", "2026-05-03")]
    assert sorted(each["object"] for each in both) == ["7", "Oslo"]


def test_end_at_the_time_of_the_message_is_no_stated_date(place: Place) -> None:
    place.add_fact(
        "Ben", "LIVES_IN", "Oslo", tense="past", at=day("2026-01-02"), valid_to=day("2026-01-02")
    )

    (told,) = describe_memories(place.memories("fact").items, {}, 0.9)["facts"]

    assert (told["tense"], told["when"]) == ("past", None)


def test_due_day_is_the_last_day(place: Place) -> None:
    place.observe("kurt", "I will send the report by 20 March 2026.", at=day("2026-03-02"))
    place.flush()

    (task,) = place.memories("landmark")
    (told,) = describe_memories([task], {}, 0.9)["landmarks"]

    assert due_day(task) == "2026-03-20"
    assert (told["kind"], told["owner"], told["due"]) == ("action_item", "kurt", "2026-03-20")
    assert "report" in told["gist"]


def ask(kind: str, subject: str, predicate: str, *also: str, **fields: Any) -> ChatQuestion:
    text = fields.pop("text", "What?")
    return ChatQuestion(
        id="q", kind=kind, text=text, subject=subject, predicates=(predicate, *also), **fields
    )


def tell(place: Place, clock: ReplayClock, at: str, *fact: str, **fields: Any) -> None:
    """Add a fact at a day."""
    clock.advance(day(at))
    place.add_fact(*fact, at=day(at), **fields)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        (ask("state", "elif", "LIVES_IN"), ["Rome"]),
        (ask("before", "elif", "LIVES_IN"), ["Oslo"]),
        (ask("state_as_of", "elif", "LIVES_IN", day=day("2025-03-01")), ["Oslo"]),
        (ask("state_as_of", "elif", "LIVES_IN", day=day("2024-03-01")), []),
        (ask("state", "elif", "BASED_IN", "LIVES_IN"), ["Rome"]),  # under another predicate
        (ask("state", "Rome", "LIVES_IN"), ["elif"]),  # asks for the subject
        (ask("state", "big reunion", "LOCATED_IN"), ["Lima"]),  # stored as "reunion", planned
        (ask("state", "kurt", "USES"), ["Trello"]),  # said with "we"
        (ask("state", "reunion", "SCHEDULED_FOR"), ["2025-12-24"]),  # announced last
        (ask("before", "reunion", "SCHEDULED_FOR"), ["2025-11-22"]),
        (
            ask("state_as_of", "reunion", "SCHEDULED_FOR", day=day("2025-03-15")),
            ["2025-11-22"],
        ),
        (ask("state", "elif", "KNOWS"), []),
        (ask("state", "elif", "KNOWS", text="Does Elif know Ann?"), ["no"]),
        (ask("state", "elif", "LIVES_IN", text="Does Elif live in Rome?"), ["yes, Rome"]),
        (ask("state", "elif", "LIVES_IN", text="Does Elif live in Oslo?"), ["no"]),
    ],
)
def test_questions_are_answered_by_timelines(
    place: Place, clock: ReplayClock, question: ChatQuestion, answers: list[str]
) -> None:
    tell(place, clock, "2025-01-10", "elif", "LIVES_IN", "Oslo")
    tell(place, clock, "2025-02-01", "we", "USES", "Trello")
    tell(place, clock, "2025-03-01", "reunion", "SCHEDULED_FOR", "2025-11-22", tense="future")
    tell(place, clock, "2025-03-01", "reunion", "LOCATED_IN", "Lima", tense="future")
    tell(place, clock, "2025-04-01", "reunion", "SCHEDULED_FOR", "2025-12-24", tense="future")
    tell(place, clock, "2025-06-01", "elif", "LIVES_IN", "Rome")
    clock.advance(day("2025-07-01"))

    assert answer_question(place, question, ["elif", "kurt"]) == answers


def test_open_tasks_are_those_of_their_owner(place: Place) -> None:
    place.observe("kurt", "I will send the report by 20 March 2026.", at=day("2025-01-01"))
    place.observe("elif", "I will call the bank by 21 March 2026.", at=day("2025-01-01"))

    def texts(kind: str, subject: str) -> str:
        return " ".join(answer_question(place, ask(kind, subject, "ACTION_ITEM"), []))

    assert "report" in texts("open", "kurt")
    assert "bank" not in texts("open", "kurt")
    assert "bank" in texts("open", "bank")  # by its text
    assert all(word in texts("open", "we") for word in ("report", "bank"))
    assert texts("done", "we") == ""


def test_due_day_answers_for_a_task(place: Place) -> None:
    place.observe("kurt", "I will send the report by 20 March 2026.", at=day("2025-01-01"))

    asked = ask("state", "report", "DUE_ON")

    assert answer_question(place, asked, []) == ["2026-03-20"]


def test_corpus_is_scored_by_register(tmp_path: Path) -> None:
    made = evaluate_chat(write_corpus(tmp_path), Settings())

    summary = made.summary
    assert summary["questions"] == {"messages": 6, "conversations": 1, "questions": 3}
    assert summary["settings"]["model"] == "none"
    assert set(summary["registers"]) == {"friends", "assistant", "conversation"}
    assert summary["registers"]["friends"]["facts_strict"]["recall"] == 0.5
    assert summary["errors"]["missed fact"] == {"WORKS_AT": 1}
    assert summary["errors"]["false fact"] == {"LIVES_IN": 3}
    assert "wrong answer" not in summary["errors"]
    assert {error["id"] for error in made.errors} == {"t-3", "t-c1-m1", "t-c1-m3"}


def test_wrong_answers_are_counted_by_kind() -> None:
    errors = [
        {"id": "q1", "what": "wrong answer", "item": {"given": []}},
        {"id": "q2", "what": "wrong answer", "item": {"given": []}},
        {"id": "q3", "what": "wrong answer", "item": {"given": []}},
        {"id": "m1", "what": "false landmark", "item": {"kind": "decision"}},
    ]

    counted = count_errors(errors, {"q1": "state", "q2": "before", "q3": "before"})

    assert counted == {
        "false landmark": {"decision": 1},
        "wrong answer": {"before": 2, "state": 1},
    }


def test_without_a_scorer_nothing_is_scored(tmp_path: Path) -> None:
    made = evaluate_chat(write_corpus(tmp_path, scorer=None), Settings())

    assert len(made.records) == len(CORPUS) + 3
    assert "total" not in made.summary
    assert made.errors == ()


def test_baseline_of_another_corpus_is_rejected(tmp_path: Path) -> None:
    summary = evaluate_chat(write_corpus(tmp_path), Settings()).summary
    other = {**summary, "questions": {**summary["questions"], "messages": 7}}
    unscored = {name: value for name, value in summary.items() if name != "total"}

    with pytest.raises(InvalidInput, match="another corpus"):
        compare_chat_baseline(summary, other)
    with pytest.raises(InvalidInput, match="needs a scorer"):
        compare_chat_baseline(unscored, summary)
    assert {each.change for each in compare_chat_baseline(summary, summary)} == {0.0}


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        ("1 / 0", "fails: ZeroDivisionError"),
        ("score = summary = 3", "needs the functions score and summary"),
    ],
)
def test_broken_scorer_is_rejected(tmp_path: Path, scorer: str, said: str) -> None:
    file = tmp_path / "score.py"
    file.write_text(scorer)

    with pytest.raises(InvalidInput, match=said):
        load_scorer(file)
    with pytest.raises(InvalidInput, match="no scorer at"):
        load_scorer(tmp_path / "nowhere.py")


def test_scorer_without_a_figure_is_rejected(tmp_path: Path) -> None:
    data = write_corpus(tmp_path, scorer=SCORER.replace('"due_added": 0, ', ""))

    with pytest.raises(InvalidInput, match="lacks due_added"):
        evaluate_chat(data, Settings())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "is not JSON Lines"),
        ('{"kind": "message"}', "does not have the format of a chat corpus"),
        ("[]", "does not have the format of a chat corpus"),
    ],
)
def test_file_that_is_no_corpus_is_rejected(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "dev.jsonl"
    file.write_text(text)

    with pytest.raises(InvalidInput, match=said):
        read_corpus(file)


def test_messages_that_the_model_cannot_read_are_counted(tmp_path: Path) -> None:
    with Loopback() as server:
        server.script(*[status(401)] * 20)
        model = LlmSettings(provider="openai", model="m", api_key="k", base_url=f"{server.url}/v1")
        summary = evaluate_chat(write_corpus(tmp_path), Settings(llm=model)).summary

    assert summary["settings"]["model"] == "openai/m"
    assert summary["not_learned"] > 2
    assert summary["total"]["facts_strict"]["recall"] == 0.5  # the rules have read them
