"""RecordCache: decoded records by their JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from nexusmem.core.ids import WorkspaceId
from nexusmem.stores.sql.caches import record_cache
from nexusmem.stores.sql.caches.record_cache import RecordCache

ACME, OTHER = WorkspaceId("acme"), WorkspaceId("other")


class Reader:
    """Records which texts are decoded."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.decoded = RecordCache(self._read)

    def _read(self, told: Mapping[str, Any], workspace: WorkspaceId) -> tuple[str, WorkspaceId]:
        self.read.append(told["text"])
        return told["text"], workspace

    def __call__(self, text: str, workspace: WorkspaceId = ACME) -> tuple[str, WorkspaceId]:
        (read,) = self.decoded([(json.dumps({"text": text}),)], workspace)
        return read


@pytest.fixture
def reader() -> Reader:
    return Reader()


def test_equal_text_is_decoded_once(reader: Reader) -> None:
    assert reader("tea") == reader("tea") == ("tea", ACME)
    assert reader.read == ["tea"]


def test_workspaces_do_not_share_records(reader: Reader) -> None:
    assert reader("tea", ACME) != reader("tea", OTHER)


def test_order_of_cached_and_new_records_is_kept(reader: Reader) -> None:
    reader("tea")
    rows = [(json.dumps({"text": text}),) for text in ("milk", "tea", "gin", "milk")]
    assert [text for text, _ in reader.decoded(rows, ACME)] == ["milk", "tea", "gin", "milk"]
    assert reader.decoded([], ACME) == []


def test_changed_text_is_decoded_again(reader: Reader) -> None:
    assert [reader("tea"), reader("coffee")] == [("tea", ACME), ("coffee", ACME)]


def test_unused_record_leaves_after_two_generations(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_cache, "MAX_GENERATION_SIZE", 1)
    reader("erased")
    reader("a")
    reader("b")
    reader("erased")
    assert reader.read == ["erased", "a", "b", "erased"]


def test_generation_ends_after_its_time(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    reader("erased")
    for text in ("a", "b"):
        monkeypatch.setattr(record_cache, "GENERATION_SECONDS", -1.0)
        reader(text)
    reader("erased")
    assert reader.read.count("erased") == 2


def test_long_text_is_not_cached(reader: Reader) -> None:
    long = "x" * record_cache.MAX_CACHED_CHARS
    reader(long)
    reader(long)
    assert reader.read == [long, long]


def test_clear_empties_all_caches(reader: Reader) -> None:
    reader("tea")
    record_cache.clear_record_caches()
    reader("tea")
    assert reader.read == ["tea", "tea"]
