"""Message deduplication: find which messages of a caller's list are recorded already.

A list may grow, lose its beginning, be passed twice, or be a new list with words of an old one. It
is compared with what `record` wrote last in the same place and thread. Messages up to the end of
that record are the same conversation. Messages after it are new, even if their words are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..core.access import Viewer
from ..core.protocols.ledger import Ledger
from ..core.protocols.store import Store
from ..core.records import Event, event_id
from .chat_messages import (
    CALL_FIELDS,
    KEY_PREFIX,
    ChatMessage,
    hash_message,
    message_key,
    occurrence_numbers,
)

RECENT_EVENTS = 200  # newest events of the place that are compared
MIN_RUN = 4  # equal messages in a row that are not a coincidence
KEY_BATCH = 32  # occurrence numbers that are looked up in one query


class MatchedMessage(NamedTuple):
    """The event key of a message, and whether that event is recorded."""

    key: str
    is_recorded: bool


class _RecordedMessage(NamedTuple):
    content_hash: str
    key: str
    role: str


def match_recorded(
    store: Store, viewer: Viewer, messages: Sequence[ChatMessage], thread: str | None = None
) -> list[MatchedMessage]:
    """Return the key of each message; the same list gets the same keys until it is recorded.

    Only events of this place that the viewer may read are compared.
    """
    hashes = [hash_message(each, viewer, thread) for each in messages]
    with store.snapshot():  # the last events and the keys must be of the same time
        return _match_messages(_ScopeLedger(store.ledger, viewer), hashes, thread)


def _match_messages(
    scope_ledger: _ScopeLedger, hashes: Sequence[str], thread: str | None
) -> list[MatchedMessage]:
    tail = _match_tail(hashes, scope_ledger.recent_messages(thread))
    numbers = occurrence_numbers(hashes)
    keys = [message_key(*each) for each in zip(hashes, numbers, strict=True)]
    exists = scope_ledger.find_keys(keys)
    free = _FreeKeys(scope_ledger)
    matches = []
    for position, is_recorded in enumerate(_mark_recorded(exists, tail)):
        if is_recorded:
            recorded = tail.get(position)
            key = recorded.key if recorded else keys[position]
        else:
            key = free.next_key(hashes[position], numbers[position], is_taken=exists[position])
        matches.append(MatchedMessage(key, is_recorded))
    return matches


class _ScopeLedger:
    """The ledger of one place."""

    def __init__(self, ledger: Ledger, viewer: Viewer) -> None:
        self._ledger, self._viewer = ledger, viewer
        self._grant = viewer.grant().narrow_to([viewer.home])

    def recent_messages(self, thread: str | None) -> list[_RecordedMessage]:
        """Return the last messages that `record` wrote, oldest first."""
        events = reversed(self._ledger.find(self._grant, limit=RECENT_EVENTS))
        return [
            _RecordedMessage(self._hash_event(event), event.key, event.role)
            for event in events
            if event.key.startswith(KEY_PREFIX) and event.thread == thread
        ]

    def _hash_event(self, event: Event) -> str:
        call = {name: event.metadata[name] for name in CALL_FIELDS if name in event.metadata}
        message = ChatMessage(role=event.role, text=event.text, name=event.speaker, call=call)
        return hash_message(message, self._viewer, event.thread)

    def find_keys(self, keys: Sequence[str]) -> list[bool]:
        """Return for each key whether an event with it exists."""
        ids = [event_id(self._viewer.home, key) for key in keys]
        existing = self._ledger.load_keys(self._grant, ids)
        return [id in existing for id in ids]


def _match_tail(
    hashes: Sequence[str], recent: Sequence[_RecordedMessage]
) -> dict[int, _RecordedMessage]:
    """Return the messages that match the end of the record, by position.

    The match must reach the beginning of the list, or be at least MIN_RUN long.
    """
    best: dict[int, _RecordedMessage] = {}
    rank = (False, 0)
    for position, each in enumerate(hashes):
        if recent and each == recent[-1].content_hash:
            matched = _match_backwards(hashes, position, recent)
            reaches_start = 0 in matched
            is_enough = reaches_start or len(matched) >= MIN_RUN
            if is_enough and (reaches_start, len(matched)) > rank:
                best, rank = matched, (reaches_start, len(matched))
    return best


def _match_backwards(
    hashes: Sequence[str], position: int, recent: Sequence[_RecordedMessage]
) -> dict[int, _RecordedMessage]:
    """Match messages backwards from `position` with the record, and return them by position.

    The list may lack recorded messages of agents and tools, but no user message in between.
    """
    matched: dict[int, _RecordedMessage] = {}
    for recorded in reversed(recent):
        if position >= 0 and recorded.content_hash == hashes[position]:
            matched[position] = recorded
            position -= 1
        elif position < 0 or recorded.role == "user":
            break
    return matched


def _mark_recorded(exists: Sequence[bool], tail: Mapping[int, _RecordedMessage]) -> list[bool]:
    """Return for each message whether it is recorded.

    Messages up to the end of the tail are, and runs of at least MIN_RUN existing keys before it.
    If every key exists, the complete list is an old one that was passed again.
    """
    if not tail or (all(exists) and len(exists) >= MIN_RUN):
        return _mark_runs(exists)
    first, end = min(tail), max(tail) + 1
    while first and exists[first - 1]:
        first -= 1
    return _mark_runs(exists[:first]) + [True] * (end - first) + [False] * (len(exists) - end)


def _mark_runs(exists: Sequence[bool]) -> list[bool]:
    runs = ((exist, len(list(run))) for exist, run in groupby(exists))
    return [exist and length >= MIN_RUN for exist, length in runs for _ in range(length)]


class _FreeKeys:
    """Makes keys for new messages: repeated words get the first unused occurrence number."""

    def __init__(self, scope_ledger: _ScopeLedger) -> None:
        self._scope_ledger = scope_ledger
        self._next: dict[str, int] = {}

    def next_key(self, content_hash: str, number: int, *, is_taken: bool) -> str:
        if content_hash in self._next:
            number = self._next[content_hash]
        elif is_taken:
            number = self._first_unused(content_hash, number)
        self._next[content_hash] = number + 1
        return message_key(content_hash, number)

    def _first_unused(self, content_hash: str, number: int) -> int:
        while True:
            used = self._scope_ledger.find_keys(
                [message_key(content_hash, number + n) for n in range(KEY_BATCH)]
            )
            taken = max((n + 1 for n, each in enumerate(used) if each), default=0)
            number += taken
            if taken < KEY_BATCH:
                return number
