"""Indexing rules of seed 002."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.making import event

from nexusmem.core.records import Draft, EventKind, MemoryKind
from nexusmem.learn.extract.passages import (
    MAX_CHUNK_CHARS,
    MAX_TOOL_CHARS,
    IndexingSettings,
    passage_drafts,
)


def indexed(
    text: str = "We chose PostgreSQL.", rules: IndexingSettings | None = None, **rest: Any
) -> list[Draft]:
    return list(passage_drafts(event(text, **rest), rules or IndexingSettings()))


@pytest.mark.requirement("C15")
@pytest.mark.parametrize(
    ("text", "rules", "kept"),
    [
        ("x" * 9, {}, False),
        ("x" * 10, {}, True),
        ("x" * 100_000, {}, True),
        ("x" * 100, {"max_content_length": 99}, False),
        ("x" * 99, {"max_content_length": 99}, True),
        ("x", {"min_content_length": 0}, True),
        ("x" * 20, {"auto_index_messages": False}, False),
    ],
    ids=lambda value: f"{value!s:.30}",
)
def test_length_decides_about_indexing(text: str, rules: dict[str, Any], kept: bool) -> None:
    assert bool(indexed(text, IndexingSettings(**rules))) is kept


@pytest.mark.requirement("C15")
@pytest.mark.parametrize(
    ("role", "allowed", "kept"),
    [
        ("user", ("user", "assistant"), True),
        ("assistant", ("user", "assistant"), True),
        ("system", ("user", "assistant"), False),
        ("assistant", ("user",), False),
        ("system", ("system",), True),
        ("user", (), False),
    ],
)
def test_role_decides_about_indexing(role: str, allowed: tuple[str, ...], kept: bool) -> None:
    assert bool(indexed(role=role, rules=IndexingSettings(allowed_roles=allowed))) is kept


@pytest.mark.requirement("C15")
def test_defaults_are_those_of_the_seed() -> None:
    rules = IndexingSettings()

    assert (rules.min_content_length, rules.batch_size) == (10, 100)
    assert rules.allowed_roles == ("user", "assistant")
    assert rules.auto_index_messages


@pytest.mark.requirement("C6", "A16")
def test_passage_has_speaker_thread_and_source() -> None:
    said = event(
        "We chose PostgreSQL.",
        thread="t1",
        metadata={"tags": ["db"], "source": "slack", "stars": 4},
    )

    (draft,) = passage_drafts(said, IndexingSettings())

    assert draft.kind is MemoryKind.PASSAGE
    assert (draft.text, draft.speaker, draft.role, draft.thread) == (
        "We chose PostgreSQL.",
        "alice",
        "user",
        "t1",
    )
    assert (draft.source, draft.tags, draft.metadata["stars"]) == ("slack", ("db",), 4)
    assert draft.sources == (said.id,)


def test_message_is_indexed_with_its_speaker() -> None:
    (draft,) = indexed()

    assert draft.indexed_text == "alice: We chose PostgreSQL. (Monday 02 March 2026)"


def test_document_becomes_numbered_chunks() -> None:
    text = "# Guide\nRun it.\n# End\n" + "Bye. " * 400

    drafts = indexed(text, IndexingSettings(auto_index_messages=False), kind=EventKind.DOCUMENT)

    assert len(drafts) > 2
    assert [draft.slot for draft in drafts] == sorted({draft.slot for draft in drafts})
    assert {draft.source for draft in drafts} == {"document"}
    assert drafts[0].metadata["heading"] == "Guide"
    assert drafts[0].indexed_text == "Guide\nRun it."


@pytest.mark.parametrize("kind", [EventKind.OUTCOME, EventKind.NOTE, EventKind.FACT])
def test_other_events_give_no_passages(kind: EventKind) -> None:
    assert indexed(kind=kind) == []


def tool_result(
    text: str, *, rules: IndexingSettings | None = None, **metadata: Any
) -> list[Draft]:
    tool = {"kind": EventKind.TOOL, "role": "tool", "speaker": "getWeather"}
    return indexed(text, rules or IndexingSettings(), **tool, metadata=metadata)


@pytest.mark.requirement("C15")
def test_tool_result_is_indexed_with_its_call() -> None:
    (draft,) = tool_result("21 degrees", arguments='{"city": "Leeds", "days": 2}')

    assert (draft.text, draft.source) == ("(city: Leeds, days: 2) 21 degrees", "tool")
    assert draft.indexed_text is not None
    assert draft.indexed_text.startswith("get Weather getWeather: (city: Leeds, days: 2) 21 deg")


@pytest.mark.parametrize(
    "rules",
    [IndexingSettings(index_tool_results=False), IndexingSettings(auto_index_messages=False)],
)
def test_settings_exclude_tool_results(rules: IndexingSettings) -> None:
    assert tool_result("21 degrees", rules=rules) == []


@pytest.mark.parametrize("text", ["ok", "Done.", "null", "[]", "(no text)", "---"])
def test_result_without_content_is_not_indexed(text: str) -> None:
    assert tool_result(text) == []


def test_recorded_call_is_not_indexed() -> None:
    assert tool_result("search worked", tool={"name": "search", "success": True}) == []


def test_long_tool_result_is_indexed_up_to_a_limit() -> None:
    drafts = tool_result("Berth 7 is free. " * 5_000)

    assert 1 < len(drafts) <= 1 + MAX_TOOL_CHARS // MAX_CHUNK_CHARS * 2


@pytest.mark.requirement("X8")
@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter2!x", "city": "Leeds"},
        '{"password": "hunter2!x", "city": "Leeds"}',
        "--password hunter2!x Leeds",
        ["password: hunter2!x", "Leeds"],
        {"login": {"password": "hunter2!x"}, "city": "Leeds"},
    ],
)
def test_arguments_have_no_secrets(arguments: Any) -> None:
    (draft,) = tool_result("21 degrees", arguments=arguments)

    assert "hunter2" not in repr(draft)
    assert "Leeds" in draft.text


@pytest.mark.parametrize("tags", [5, "db", None, {"a": 1}, [1, None, {"b": 2}]], ids=repr)
def test_invalid_tags_are_ignored(tags: Any) -> None:
    (draft,) = indexed(metadata={"tags": tags})

    assert all(isinstance(tag, str) for tag in draft.tags)
