"""Invalid input of write calls: stored exactly, or refused with a Nexus error."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.bad_input.conftest import opened
from tests.bad_input.nasty import (
    JSON,
    NOT_A_NAME,
    NOT_A_TIME,
    NOT_JSON,
    NOT_TEXT,
    TEXTS,
    nested,
)
from tests.conftest import Open

from nexusmem import Attachment, Forgotten, Nexus, NexusError, Place, Workspace
from nexusmem.core.canonical import canonical_json
from nexusmem.text.terms import extract_terms


def table(cases: dict[str, Any], name: str = "value") -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, cases.values(), ids=cases)


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Nexus]:
    """One store is enough: invalid input is refused before the store is called."""
    with opened("sqlite", tmp_path_factory.mktemp("shared")) as nexus:
        yield nexus


@table(TEXTS)
def test_any_text_is_stored_and_recalled_exactly(own_room: Place, value: str) -> None:
    receipt = own_room.observe("alice", value, key="k")
    own_room.remember(value, key="note")

    assert own_room.flush() == 0
    assert own_room.recent(1, where={"id": receipt.event_id})[0].text == value
    noted = [hit.text for hit in own_room.recall(value[:500], where={"source": "note"})]
    assert noted == ([value] if extract_terms(value) else [])


@table(TEXTS)
def test_any_text_is_valid_as_key_tag_and_metadata(own_room: Place, value: str) -> None:
    key = value[:500]

    receipt = own_room.observe(
        "bob", "Said something.", key=key, tags=[value], metadata={value: value}
    )
    again = own_room.observe(
        "bob", "Said something.", key=key, tags=[value], metadata={value: value}
    )

    (event,) = own_room.recent(where={"id": receipt.event_id})
    assert (event.key, event.metadata) == (key, {value: value, "tags": [value]})
    assert again.duplicate
    (hit,) = own_room.recall("said something", where={"tags": {"contains": value}})
    assert hit.event_keys == (key,)


def test_nul_becomes_its_control_picture(own_room: Place) -> None:
    own_room.observe("alice", "before\0after it all", key="nul\0key")

    event = own_room.recent(1)[0]
    assert (event.text, event.key) == ("before␀after it all", "nul␀key")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, "e" + "\u0301" * 1_000_000], ids=["ten million", "combining"]
)
def test_huge_text_is_stored(open_nexus: Open, tmp_path, text: str) -> None:
    room = open_nexus(tmp_path / "memory.db").workspace("acme").room("design")
    room.observe("alice", text, key="huge")

    assert room.flush() == 0
    assert room.recent(1, where={"speaker": "alice"})[0].text == text


def test_too_long_text_is_refused(room: Place, unharmed) -> None:
    with unharmed():
        room.observe("alice", "x" * 10_000_001)


TELL = {
    "observe": lambda room, text: room.observe("alice", text),
    "observe_many": lambda room, text: room.observe_many(
        [{"speaker": "alice", "text": "fine"}, {"speaker": "alice", "text": text}]
    ),
    "remember": lambda room, text: room.remember(text),
    "add_document": lambda room, text: room.add_document(text),
}


@table(TELL, "tell")
@table({**NOT_TEXT, "empty": "", "blank": " \n\t\u3000"})
def test_invalid_text_is_refused(room: Place, unharmed, tell, value: Any) -> None:
    with unharmed():
        tell(room, value)


@table(NOT_A_NAME)
def test_invalid_speaker_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.observe(value, "Hello there.")


@table({**NOT_A_NAME, "none": 5})
def test_invalid_thread_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", thread=value)


@pytest.mark.parametrize("name", ["a:b", "Ünï cödé", "😀", "%41", "'; --", "a" * 200, "*", "100%"])
def test_any_other_name_is_stored(scratch: Nexus, name: str) -> None:
    room = scratch.workspace("names").room(name, agent=name, participants=[name], project=name)

    room.observe(name, "Hello there, all of you.", thread=name, role="user")
    room.set_value(f"user:{name.replace('%', '%25').replace(':', '%3A')}", name, name)

    (event,) = room.recent(where={"speaker": name})
    assert (event.thread, event.scope.ids) == (name, (name,))
    assert room.recall("hello", where={"speaker": name})[0].memory.speaker == name


@table({**NOT_TEXT, "none": 7, "empty": "", "too long": "k" * 501})
def test_invalid_key_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", key=value)


@table(NOT_JSON)
def test_non_json_metadata_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", metadata={"a": value})


@table(NOT_JSON)
def test_non_json_value_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.set_value("room", "key", value)


@pytest.mark.requirement("A7")
@table(JSON)
def test_json_value_round_trip(own_room: Place, value: Any) -> None:
    own_room.set_value("room", "key", value)
    own_room.observe("alice", "Hello there.", metadata={"a": value}, key="m")

    kept = own_room.get_value("room", "key")
    (event,) = own_room.recent(where={"text": "Hello there."})

    assert canonical_json(kept) == canonical_json(value) == canonical_json(event.metadata["a"])
    assert type(kept) is type(value)


@pytest.mark.parametrize("metadata", [[], "", 0, "text", [1], 5, {1: 2}, {None: 1}], ids=repr)
def test_metadata_must_be_a_mapping(room: Place, unharmed, metadata: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", metadata=metadata)


@pytest.mark.parametrize("tags", ["billing", 5, {"a": 1}, [5], [None], ["a", "b\ud800"]], ids=repr)
def test_tags_must_be_a_list_of_strings(room: Place, unharmed, tags: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", tags=tags)


ATTACHMENTS = {
    "number": 5,
    "text": "file.pdf",
    "one mapping": {"name": "a.pdf"},
    "none inside": [None],
    "no name": [{}],
    "unknown field": [{"name": "a", "path": "/etc/passwd"}],
    "number as name": [{"name": 5}],
    "list as url": [{"name": "a", "url": ["x"]}],
    "text as size": [{"name": "a", "size": "9"}],
    "nan as size": [{"name": "a", "size": float("nan")}],
    "true as size": [{"name": "a", "size": True}],
    "surrogate": [{"name": "a\ud800"}],
    "nul": [{"name": "a\0.pdf"}],
    "number key": [{1: 2}],
}


@table(ATTACHMENTS)
def test_invalid_attachment_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.observe("alice", "See attached.", attachments=value)


@pytest.mark.parametrize(
    "given",
    [
        Attachment(name="a.pdf"),
        {"name": "b\u202e.exe", "media_type": "x/y", "url": "file:///etc/passwd", "size": 2**40},
    ],
)
def test_attachment_round_trip(own_room: Place, given: Any) -> None:
    own_room.observe("alice", "See attached.", attachments=[given])

    (kept,) = own_room.recent(1)[0].attachments
    assert kept == (given if isinstance(given, Attachment) else Attachment(**given))


@table(NOT_A_TIME)
@pytest.mark.parametrize(
    "tell",
    [
        lambda room, at: room.observe("alice", "Hello there.", at=at),
        lambda room, at: room.set_value("room", "k", 1, at=at),
        lambda room, at: room.add_fact("A", "KNOWS", "B", valid_from=at),
        lambda room, at: room.add_fact("A", "KNOWS", "B", valid_to=at),
    ],
    ids=["observe", "set_value", "valid_from", "valid_to"],
)
def test_invalid_time_is_refused(room: Place, unharmed, tell, value: Any) -> None:
    with unharmed():
        tell(room, value)


@pytest.mark.parametrize(
    "at",
    [
        datetime(1, 1, 3, tzinfo=UTC),
        datetime(999, 5, 5, tzinfo=UTC),
        datetime(9999, 12, 29, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(2026, 1, 1, tzinfo=timezone(-timedelta(hours=12, minutes=1, seconds=1))),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ],
    ids=str,
)
def test_any_valid_time_is_stored(own_room: Place, at: datetime) -> None:
    receipt = own_room.observe("alice", "Long ago or far ahead.", at=at)

    (event,) = own_room.recent(
        where={"id": receipt.event_id}, since=at, until=at + timedelta(hours=1)
    )
    assert event.at == at
    assert own_room.recall("long ago", since=at)[0].memory.at == at


MESSAGES = {
    "number": 5,
    "text": "hello",
    "mapping": {"speaker": "alice", "text": "x"},
    "numbers": [1],
    "empty": [{}],
    "no text": [{"speaker": "alice"}],
    "extra": [{"speaker": "alice", "text": "x y", "scope": "dm:bob:scribe"}],
    "self": [{"speaker": "alice", "text": "x y", "self": 1}],
    "number key": [{"speaker": "alice", "text": "x y", 5: 1}],
    "last one wrong": [{"speaker": "a", "text": "fine one"}] * 600 + [{"speaker": "", "text": "x"}],
    "role": [{"speaker": "alice", "text": "x y", "role": "root"}],
}


@table(MESSAGES)
def test_batch_is_validated_before_anything_is_written(room, unharmed, value: Any) -> None:
    with unharmed():
        room.observe_many(value)


@pytest.mark.parametrize(
    "wrong",
    [{"kee": "a"}, {"visibility": "public"}, {"trust": 4}, {"workspace": "b"}],
    ids=str,
)
@pytest.mark.parametrize(
    "tell",
    [
        lambda room, rest: room.observe("alice", "Hello there.", **rest),
        lambda room, rest: room.remember("Hello there.", **rest),
        lambda room, rest: room.add_document("Hello there.", **rest),
        lambda room, rest: room.add_fact("A", "KNOWS", "B", **rest),
    ],
    ids=["observe", "remember", "add_document", "add_fact"],
)
def test_unknown_option_is_refused(room, unharmed, tell, wrong) -> None:
    with unharmed():
        tell(room, wrong)


@pytest.mark.parametrize("role", ["root", "User", "user ", 5, ["user"]], ids=repr)
def test_unknown_role_is_refused(room: Place, unharmed, role: Any) -> None:
    with unharmed():
        room.observe("alice", "Hello there.", role=role)


FACTS = {
    "subject": ("", "KNOWS", "B"),
    "number subject": (5, "KNOWS", "B"),
    "relation": ("A", "knows", "B"),
    "empty relation": ("A", "", "B"),
    "list relation": ("A", ["KNOWS"], "B"),
    "object": ("A", "KNOWS", ""),
    "no object and no value": ("A", "KNOWS", None),
    "number object": ("A", "KNOWS", 5),
    "nul": ("A", "KNOWS", "B\0"),
    "surrogate": ("A\ud800", "KNOWS", "B"),
}


@table(FACTS)
def test_invalid_name_in_a_fact_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.add_fact(*value)


OPTIONS = {
    "both": {"value": 1},
    "confidence": {"confidence": 1.1},
    "nan": {"confidence": float("nan")},
    "text": {"confidence": "high"},
    "backwards": {"valid_from": datetime(2026, 1, 2), "valid_to": datetime(2026, 1, 1)},  # noqa: DTZ001
    "stated": {"stated": "maybe"},
    "reserved": {"metadata": {"valid_from": "garbage"}},
    "reserved too": {"metadata": {"fact": {}, "confidence": 7}},
}


@table(OPTIONS)
def test_invalid_fact_is_refused(room: Place, unharmed, value: dict[str, Any]) -> None:
    with unharmed():
        room.add_fact("A", "KNOWS", "B", **value)


@table({**NOT_A_NAME, "none": 7})
def test_invalid_fact_key_is_refused(room: Place, unharmed, value: Any) -> None:
    with unharmed():
        room.set_value("room", value, 1)


SCOPES = {
    **{name: value for name, value in NOT_TEXT.items() if value is not None},
    "empty": "",
    "unknown": "rooms",
    "elsewhere": "room:other",
    "dm": "dm",
    "a dm": "dm:alice:scribe",
    "someone": "user:carol",
    "nobody": "user:",
    "which": "user",
    "many": "dm:a:b:c",
    "star": "*",
    "like": "user:ali%",
    "percent": "user:%00",
    "sql": "user:alice' OR '1'='1",
    "everything": "1=1",
}


@table(SCOPES)
@pytest.mark.parametrize(
    "use",
    [
        lambda room, scope: room.remember("Hello there.", scope=scope),
        lambda room, scope: room.add_document("Hello there.", scope=scope),
        lambda room, scope: room.set_value(scope, "k", 1),
        lambda room, scope: room.add_fact("A", "KNOWS", "B", scope=scope),
        lambda room, scope: room.recall("hello", scope=scope),
        lambda room, scope: room.facts(scope=scope),
        lambda room, scope: room.get_value(scope, "expiry"),
    ],
    ids=["remember", "add_document", "set_value", "add_fact", "recall", "facts", "get_value"],
)
def test_unreachable_scope_is_refused(room: Place, unharmed, use, value: Any) -> None:
    with unharmed():
        use(room, value)


PLACES = {
    "workspace": lambda nexus, name: nexus.workspace(name),
    "room": lambda nexus, name: nexus.workspace("acme").room(name),
    "agent": lambda nexus, name: nexus.workspace("acme").room("r", agent=name),
    "participant": lambda nexus, name: nexus.workspace("acme").room("r", participants=[name]),
    "dm": lambda nexus, name: nexus.workspace("acme").dm(name),
    "session": lambda nexus, name: nexus.workspace("acme").session(name, user="alice"),
}


@table(PLACES, "enter")
@table({name: value for name, value in NOT_A_NAME.items() if name not in ("none", "empty")})
def test_invalid_place_name_is_refused(shared: Nexus, enter, value: Any) -> None:
    with pytest.raises(NexusError):
        enter(shared, value)


@pytest.mark.parametrize(
    "participants", ["alice", 5, {"alice": 1}, None, ["alice", None]], ids=repr
)
def test_participants_must_be_a_list_of_names(acme: Workspace, participants: Any) -> None:
    with pytest.raises(NexusError):
        acme.room("design", participants=participants)


def test_reused_key_with_other_content_is_a_conflict(room: Place, unharmed) -> None:
    with unharmed():
        room.observe("alice", "Something else entirely.", key="first")


def test_one_conflict_rolls_back_the_batch(room: Place, unharmed) -> None:
    with unharmed():
        room.observe_many(
            [
                {"speaker": "bob", "text": "A new message.", "key": "new"},
                {"speaker": "bob", "text": "Something else.", "key": "first"},
            ]
        )


def test_batch_with_conflicting_keys_writes_nothing(room: Place, unharmed) -> None:
    with unharmed():
        room.observe_many([{"speaker": "bob", "text": text, "key": "same"} for text in ("A", "B")])


def test_forgotten_event_is_refused(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design")
    receipt = room.observe("bob", "Please forget this.", key="gone")
    acme.forget(event=receipt)

    with pytest.raises(Forgotten):
        room.observe("bob", "Please forget this.", key="gone")

    assert room.recent() == []


def test_deepest_accepted_value_survives_an_archive(nexus, open_nexus, tmp_path) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design")
    deepest = max(depth for depth in range(55, 70) if _taken(room, depth))
    file = tmp_path / "archive.jsonl"
    acme.export(file)

    other = open_nexus().workspace("acme")
    other.import_(file)

    assert deepest >= 60
    assert other.room("design").get_value("room", f"deep-{deepest}") == nested(deepest)


def _taken(room: Place, depth: int) -> bool:
    try:
        room.set_value("room", f"deep-{depth}", nested(depth))
        room.observe("alice", "Deep metadata.", metadata={"deep": nested(depth)})
    except NexusError:
        return False
    return True
