"""Which messages of a list are written down already, and which are new or said again.

A list grows, loses its beginning, is handed in twice, or is a new one with words of an old one. It
is compared with what `after` wrote down last in the same place and thread: what leads up to its
end is the same talk, and whatever follows is new, however often it was said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..core.access import Viewer
from ..core.ledger import Ledger
from ..core.protocols import Store
from ..core.records import Event, event_id
from .messages import CALL, CHAT, Said, key_of, numbered, words_of

LATELY = 200  # events of the place that are looked at, the newest
ENOUGH = 4  # messages in a row that nobody says again by chance
PORTION = 32  # numbers that the same words may have, looked for at once


class Known(NamedTuple):
    """A message by its key; whether it is written down already."""

    key: str
    repeated: bool


class _Told(NamedTuple):
    words: str
    key: str
    role: str


def known(
    store: Store, viewer: Viewer, said: Sequence[Said], thread: str | None = None
) -> list[Known]:
    """The key of each of these messages. The same list has the same keys, until it was written.

    Of what is there, only what lies in this very place and may be read by the viewer counts.
    """
    words = [words_of(each, viewer, thread) for each in said]
    with store.moment():  # or the end of the place would not be that of what is known
        return _known(_Here(store.ledger, viewer), words, thread)


def _known(here: _Here, words: Sequence[str], thread: str | None) -> list[Known]:
    found = _leading_to_the_end(words, here.lately(thread))
    numbers = numbered(words)
    keys = [key_of(*each) for each in zip(words, numbers, strict=True)]
    old = here.has(keys)
    free = _Free(here)
    made = []
    for place, repeated in enumerate(_repeated(old, found)):
        if repeated:
            told = found.get(place)
            made.append(Known(told.key if told else keys[place], repeated=True))
        else:
            new = free.key(words[place], numbers[place], taken=old[place])
            made.append(Known(new, repeated=False))
    return made


class _Here:
    """The ledger of one place."""

    def __init__(self, ledger: Ledger, viewer: Viewer) -> None:
        self._ledger, self._viewer = ledger, viewer
        self._grant = viewer.grant().within([viewer.home])

    def lately(self, thread: str | None) -> list[_Told]:
        """What these calls wrote down last, oldest first."""
        events = reversed(self._ledger.find(self._grant, limit=LATELY))
        return [
            _Told(self._words(event), event.key, event.role)
            for event in events
            if event.key.startswith(CHAT) and event.thread == thread
        ]

    def _words(self, event: Event) -> str:
        call = {name: event.metadata[name] for name in CALL if name in event.metadata}
        said = Said(role=event.role, text=event.text, name=event.speaker, call=call)
        return words_of(said, self._viewer, event.thread)

    def has(self, keys: Sequence[str]) -> list[bool]:
        """Which of these keys are used."""
        ids = [event_id(self._viewer.home, key) for key in keys]
        there = self._ledger.keys(self._grant, ids)
        return [id in there for id in ids]


def _leading_to_the_end(words: Sequence[str], lately: Sequence[_Told]) -> dict[int, _Told]:
    """The messages that end where the place ended: from the list's beginning, or enough of them."""
    best: dict[int, _Told] = {}
    rank = (False, 0)
    for place, each in enumerate(words):
        if lately and each == lately[-1].words:
            found = _backwards(words, place, lately)
            whole = 0 in found
            if (whole or len(found) >= ENOUGH) and (whole, len(found)) > rank:
                best, rank = found, (whole, len(found))
    return best


def _backwards(words: Sequence[str], place: int, lately: Sequence[_Told]) -> dict[int, _Told]:
    """What was said up to here, from message to message.

    A list may have lost what an agent did after it was asked, but no person's words in between.
    """
    found: dict[int, _Told] = {}
    for told in reversed(lately):
        if place >= 0 and told.words == words[place]:
            found[place] = told
            place -= 1
        elif place < 0 or told.role == "user":
            break
    return found


def _repeated(old: Sequence[bool], found: Mapping[int, _Told]) -> list[bool]:
    """Written down is what leads up to the end of the place; and elsewhere enough in a row.

    Of a list in which nothing is new, also what follows: it is an old one that comes late.
    """
    if not found or (all(old) and len(old) >= ENOUGH):
        return _in_a_row(old)
    first, end = min(found), max(found) + 1
    while first and old[first - 1]:
        first -= 1
    return _in_a_row(old[:first]) + [True] * (end - first) + [False] * (len(old) - end)


def _in_a_row(old: Sequence[bool]) -> list[bool]:
    runs = ((there, len(list(run))) for there, run in groupby(old))
    return [there and many >= ENOUGH for there, many in runs for _ in range(many)]


class _Free:
    """Keys for what is new: of words that were said before, the first number not used yet."""

    def __init__(self, here: _Here) -> None:
        self._here = here
        self._next: dict[str, int] = {}

    def key(self, words: str, number: int, *, taken: bool) -> str:
        if words in self._next:
            number = self._next[words]
        elif taken:
            number = self._unused(words, number)
        self._next[words] = number + 1
        return key_of(words, number)

    def _unused(self, words: str, number: int) -> int:
        while True:
            used = self._here.has([key_of(words, number + n) for n in range(PORTION)])
            taken = max((n + 1 for n, each in enumerate(used) if each), default=0)
            number += taken
            if taken < PORTION:
                return number
