"""Records that were read a moment ago."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from nexus.core.ids import WorkspaceId
from nexus.stores.sql import decoded
from nexus.stores.sql.decoded import Decoded

ACME, OTHER = WorkspaceId("acme"), WorkspaceId("other")


class Reader:
    """Counts what is really read."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.decoded = Decoded(self._read)

    def _read(self, told: Mapping[str, Any], workspace: WorkspaceId) -> tuple[str, WorkspaceId]:
        self.read.append(told["text"])
        return told["text"], workspace

    def __call__(self, text: str, workspace: WorkspaceId = ACME) -> tuple[str, WorkspaceId]:
        (read,) = self.decoded([(json.dumps({"text": text}),)], workspace)
        return read


@pytest.fixture
def reader() -> Reader:
    return Reader()


def test_the_same_text_is_read_once(reader: Reader) -> None:
    assert reader("tea") == reader("tea") == ("tea", ACME)
    assert reader.read == ["tea"]


def test_the_same_text_of_another_workspace_is_another_record(reader: Reader) -> None:
    assert reader("tea", ACME) != reader("tea", OTHER)


def test_many_come_in_their_order_whether_they_were_read_before_or_not(reader: Reader) -> None:
    reader("tea")
    rows = [(json.dumps({"text": text}),) for text in ("milk", "tea", "gin", "milk")]
    assert [text for text, _ in reader.decoded(rows, ACME)] == ["milk", "tea", "gin", "milk"]
    assert reader.decoded([], ACME) == []


def test_what_was_changed_is_read_again(reader: Reader) -> None:
    assert [reader("tea"), reader("coffee")] == [("tea", ACME), ("coffee", ACME)]


def test_what_is_not_asked_for_goes_after_two_rounds(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded, "MOST", 1)
    reader("erased")
    reader("a")
    reader("b")
    reader("erased")
    assert reader.read == ["erased", "a", "b", "erased"]


def test_a_round_ends_with_its_time(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    reader("erased")
    for text in ("a", "b"):
        monkeypatch.setattr(decoded, "ROUND_SECONDS", -1.0)
        reader(text)
    reader("erased")
    assert reader.read.count("erased") == 2


def test_long_texts_are_not_kept(reader: Reader) -> None:
    long = "x" * decoded.LONGEST
    reader(long)
    reader(long)
    assert reader.read == [long, long]


def test_forgetting_lets_everything_go(reader: Reader) -> None:
    reader("tea")
    decoded.forget_decoded()
    reader("tea")
    assert reader.read == ["tea", "tea"]
