"""Invalid archives: imported completely or not at all, and without granting access."""

from __future__ import annotations

import base64
import json
import struct
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.bad_input.conftest import exported, opened
from tests.bad_input.nasty import nested

from nexusmem import Nexus, NexusError, Place, Scope, Workspace

HEADER = '{"type":"nexus-archive","version":1}\n'

EVENT: dict[str, Any] = {
    "type": "event",
    "scope": "room:design",
    "kind": "message",
    "speaker": "alice",
    "role": "user",
    "text": "A message from an archive.",
    "at": "2026-01-01T00:00:00.000000Z",
    "recorded_at": "2026-01-01T00:00:00.000000Z",
    "key": "archived",
    "thread": None,
    "trust": "direct",
    "attachments": [],
    "metadata": {},
}
OTHER = {**EVENT, "key": "other", "text": "Another message of the archive."}


def lines(*records: Any) -> str:
    return HEADER + "".join(json.dumps(record) + "\n" for record in records)


def without(record: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != name}


@pytest.fixture(scope="session")
def records() -> dict[str, dict[str, Any]]:
    """Return one valid record of each type."""
    with opened("memory", None) as nexus:
        acme = nexus.workspace("acme")
        acme.room("design").observe("alice", "A message from an archive.", key="archived")
        told = [json.loads(line) for line in exported(acme).splitlines()]
    return {kind: next(each for each in told if each["type"] == kind) for kind in KINDS}


KINDS = ("event", "memory", "vector")

GARBAGE = {
    "empty": "",
    "newline": "\n",
    "prose": "Dear diary,\n",
    "binary": "\x00\x01\x02\n",
    "half a header": '{"type":"nexus-arch',
    "another type": '{"type":"something","version":1}\n',
    "no version": '{"type":"nexus-archive"}\n',
    "newer version": '{"type":"nexus-archive","version":2}\n',
    "version as text": '{"type":"nexus-archive","version":"1"}\n',
    "a number": "5\n",
    "null": "null\n",
    "text": '"nexus-archive"\n',
    "list": "[1, 2]\n",
    "half a list": '[{"content": "x"',
    "list of lists": "[[]]\n",
    "deep header": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "nan": "NaN\n",
    "half a line": lines(EVENT) + '{"type":"event","sco',
    "garbage after": lines(EVENT) + "garbage\n",
    "number after": lines(EVENT, 5),
    "list after": lines(EVENT, [1]),
    "unknown type": lines(EVENT, {**OTHER, "type": "grant"}),
    "no type": lines(EVENT, without(OTHER, "type")),
    "list as type": lines(EVENT, {**OTHER, "type": ["event"]}),
    "two headers": lines(EVENT) + HEADER,
    "deep line": lines(EVENT) + '{"type":"event","metadata":' + "[" * 100_000 + "\n",
    "deep metadata": lines(EVENT, {**OTHER, "metadata": nested(500, lists=False)}),
    "many digits": lines(EVENT) + '{"type":"event","metadata":{"a":' + "9" * 5_000 + "}}\n",
    "entry without content": '[{"content": "fine"}, {"metadata": {}}]',
    "entry with number": '[{"content": 5}]',
    "entry with empty content": '[{"content": "  "}]',
    "entry with odd metadata": '[{"content": "x y", "metadata": [1]}]',
    "entry with odd time": '[{"content": "x y", "created_at": 5}]',
    "entry with wrong time": '[{"content": "x y", "created_at": "soon"}]',
    "entry with odd session": '[{"content": "x y", "session_id": 5}]',
    "entry with odd role": '[{"content": "x y", "metadata": {"role": {"a": 1}}}]',
    "entry with surrogate": '[{"content": "x \\ud800"}]',
}


def table(cases: dict[str, Any], name: str = "value") -> pytest.MarkDecorator:
    return pytest.mark.parametrize(name, cases.values(), ids=cases)


@table(GARBAGE)
def test_garbage_is_refused_without_writing(acme: Workspace, unharmed, value: str) -> None:
    with unharmed():
        acme.import_(StringIO(value))


WRONG: dict[str, Any] = {
    "none": None,
    "number": 5,
    "negative": -1,
    "float": 0.5,
    "true": True,
    "text": "garbage",
    "empty": "",
    "list": [1],
    "mapping": {"a": 1},
    "surrogate": "a\ud800",
    "nan": float("nan"),
    "infinity": float("inf"),
    "big": 10**300,
    "deep": nested(200),
    "naive time": "2026-01-01T00:00:00",
    "early time": "0001-01-01T00:00:00+14:00",
    "late time": "9999-12-31T23:59:59-12:00",
    "nul": "a\0b",
}


@pytest.mark.parametrize("kind", KINDS)
def test_record_with_a_missing_field_is_refused(acme, unharmed, records, kind: str) -> None:
    for name in records[kind]:
        if name == "id":  # derived from the other fields
            continue
        with unharmed():
            acme.import_(StringIO(lines(OTHER, without(records[kind], name))))


@table(WRONG)
@pytest.mark.parametrize("kind", KINDS)
def test_record_with_a_wrong_field_is_refused_or_read(open_nexus, records, kind, value) -> None:
    """An import is all or nothing, and imported records can be searched and exported again."""
    acme = open_nexus().workspace("acme")
    for name in records[kind]:
        before = exported(acme)
        try:
            acme.import_(one_wrong(records, kind, name, value))
        except NexusError:
            assert exported(acme) == before, name
    usable(acme)


@pytest.mark.parametrize("kind", KINDS)
def test_store_survives_all_invalid_archives(open_nexus, tmp_path, records, kind: str) -> None:
    acme = open_nexus(tmp_path / "memory.db").workspace("acme")

    for name in records[kind]:
        for value in WRONG.values():
            with suppress(NexusError):
                acme.import_(one_wrong(records, kind, name, value))

    usable(acme)


def one_wrong(records: dict[str, Any], kind: str, name: str, value: Any) -> StringIO:
    return StringIO(lines(records["event"], {**records[kind], name: value}, OTHER))


def usable(acme: Workspace) -> None:
    room = acme.room("design", agent="scribe", participants=["alice"], project="apollo")
    assert acme.flush() == 0
    assert acme.verify().is_intact
    room.recall("message postgresql")
    room.recent()
    room.facts()
    whole = exported(acme)
    acme.import_(StringIO(whole))
    assert exported(acme) == whole


def vector_line(record: dict[str, Any], *numbers: float) -> dict[str, Any]:
    data = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    profile = {**record["profile"], "dimension": len(numbers)}
    return {**record, "data": data, "profile": profile}


@pytest.mark.parametrize(
    "numbers",
    [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 0.0), (3e38, 3e38), (0.5, 0.5), ()],
    ids=str,
)
def test_vector_without_unit_length_is_refused(acme, unharmed, records, numbers) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, vector_line(records["vector"], *numbers))))


@pytest.mark.parametrize("data", ["x", "AAAA", "AAA=", "!!!!", "é", 5, None])
def test_invalid_vector_data_is_refused(acme, unharmed, records, data: Any) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, {**records["vector"], "data": data})))


@pytest.mark.parametrize(
    "profile",
    [
        5,
        [],
        {},
        {"provider": "x", "model": "y", "dimension": "64"},
        {"provider": "x", "model": "y", "dimension": 64, "more": 1},
        {"provider": 5, "model": "y", "dimension": 64},
        {"provider": "x\ud800", "model": "y", "dimension": 64},
    ],
    ids=str,
)
def test_invalid_vector_profile_is_refused(acme, unharmed, records, profile: Any) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, {**records["vector"], "profile": profile})))


FACTS = {
    "no fact": {},
    "text": {"fact": "garbage"},
    "unknown field": {"fact": {"subject": "A", "predicate": "KNOWS", "more": 1}},
    "relation": {"fact": {"subject": "A", "predicate": "knows", "object": "B"}},
    "both": {"fact": {"subject": "A", "predicate": "KNOWS", "object": "B", "value": 1}},
    "confidence": {"fact": {"subject": "A", "predicate": "KNOWS"}, "confidence": 7},
    "interval": {"fact": {"subject": "A", "predicate": "KNOWS"}, "valid_from": "soon"},
}


@table(FACTS, "metadata")
def test_invalid_fact_event_is_refused(acme, unharmed, metadata: Any) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, {**EVENT, "kind": "fact", "metadata": metadata})))


def test_empty_derived_fact_is_refused(acme, unharmed, records) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, {**records["memory"], "kind": "fact", "body": {}})))


DOSSIER = {"name": "tea", "reach": ["room:design"], "looked_at": "2026-01-01T00:00:00Z"}
DOSSIERS = {
    "reach as text": {"reach": "room:design"},
    "reach of numbers": {"reach": [1]},
    "unknown scope": {"reach": ["cellar:1"]},
    "no name": {"name": None},
    "no time": {"looked_at": "soon"},
    "a question of numbers": {"asked": 5},
    "a mark of numbers": {"mark": 5},
    "cites a text": {"cites": "all"},
}


@table(DOSSIERS, "body")
def test_dossier_that_cannot_be_rebuilt_is_refused(
    acme, unharmed, records, body: dict[str, Any]
) -> None:
    made = {**records["memory"], "kind": "dossier", "body": {**DOSSIER, **body}}
    with unharmed():
        acme.import_(StringIO(lines(OTHER, made)))


def test_duplicate_json_key_counts_once(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    line = json.dumps(EVENT)[:-1] + ',"scope":"room:other"}\n'

    imported = acme.import_(StringIO(HEADER + line))

    assert imported.events == 1
    assert acme.room("design").recent() == []
    assert len(acme.room("other").recent()) == 1


def test_archive_with_invalid_utf8_is_refused(acme: Workspace, unharmed, tmp_path: Path) -> None:
    file = tmp_path / "latin.jsonl"
    file.write_bytes(HEADER.encode() + b'{"type":"event","text":"caf\xe9"}\n')

    with unharmed():
        acme.import_(file)


UNWRITABLE = [".", "a\0b", "x" * 5_000, "no/such/folder/x"]


@pytest.mark.parametrize("name", [*UNWRITABLE, "missing.jsonl"], ids=lambda name: f"{name!a:.20}")
def test_unreadable_file_is_refused(acme, unharmed, tmp_path: Path, name: str) -> None:
    with unharmed():
        acme.import_(f"{tmp_path}/{name}")


@pytest.mark.parametrize("name", UNWRITABLE, ids=lambda name: f"{name!a:.20}")
def test_unwritable_file_is_refused(acme, unharmed, tmp_path: Path, name: str) -> None:
    with unharmed():
        acme.export(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


# Access control


def test_import_into_unreachable_scope_is_refused(acme: Workspace, room: Place, unharmed) -> None:
    with unharmed():
        acme.import_(StringIO(lines(EVENT)), grant=room.grant, scope=Scope.dm("bob", "scribe"))


@pytest.mark.requirement("A12", "X1")
def test_viewer_import_cannot_write_derived_records(nexus: Nexus) -> None:
    """A viewer cannot change a derived memory by importing a forged record."""
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice", "bob"])
    room.observe("alice", "Pay the invoice to account 111.", key="m")
    told = [json.loads(line) for line in exported(acme).splitlines()]
    forged = [
        {**each, "text": "Pay the invoice to account 666.", "indexed_text": None}
        for each in told
        if each["type"] == "memory"
    ]
    before = exported(acme)

    imported = acme.import_(StringIO(lines(*forged)), grant=room.grant)

    assert imported.memories == 0
    assert exported(acme) == before


@pytest.mark.requirement("X1")
def test_viewer_import_has_external_trust(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice"])

    acme.import_(StringIO(lines(EVENT)), grant=room.grant)

    (event,) = room.recent()
    assert event.trust.name == "EXTERNAL"
    assert event.recorded_at.year == 2026
    assert event.recorded_at.month == 3
    assert room.recall("message archive")[0].memory.trust.name == "EXTERNAL"


@pytest.mark.parametrize("scope", ["workspaces", "room:design:x", "1=1", "", 5, None, ["room:x"]])
def test_invalid_scope_in_a_file_is_refused(acme: Workspace, unharmed, scope: Any) -> None:
    with unharmed():
        acme.import_(StringIO(lines(OTHER, {**EVENT, "scope": scope})))
