"""The turns a model reads at once: which ones, how they are numbered, and how they are sent."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...core.canonical import time_text
from ...core.ids import WorkspaceId, digest
from ...core.records import Event, EventKind, Trust
from ...core.scope import Scope
from ...core.secrets import redacted
from ...core.sharing import is_copy
from ...core.text import query_terms, terms
from ...core.visible import visible
from ...core.zones import said_at
from ..immune import new_words, own_words
from ..limits import Limits
from ..rules.junk import is_repetition
from ..rules.tokens import tokens

READ = (EventKind.MESSAGE, EventKind.NOTE)  # documents are as long as they like, and not turns
FEWEST_WORDS = 3  # of a whole batch: less teaches nothing
LONGEST_NAME = 200  # of a speaker, as far as a model sees it


class Turn(NamedTuple):
    """One turn as the model sees it: without secrets, and no longer than there is room."""

    number: int
    event: Event
    text: str
    words: frozenset[str]

    @property
    def external(self) -> bool:
        return self.event.trust <= Trust.EXTERNAL


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive turns of one conversation, after those that were read already."""

    before: tuple[Turn, ...]
    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, events: Sequence[Event], before: Sequence[Event], limits: Limits) -> Excerpt:
        """What repeats an earlier message, or what Nexus had put there, is not read again."""
        earlier = [event for event in before if event.kind in READ]
        shown = earlier[-limits.before :] if limits.before else []
        share = limits.characters // (limits.before + 1)
        told = [(event, own_words(event), share) for event in shown]
        for place, event in enumerate(events):
            words = new_words(event, [*earlier, *events[:place]])
            told.append((event, words, limits.characters))
        numbered = [_turn(n, *each) for n, each in enumerate(told, 1)]
        first = len(shown)
        return cls(tuple(numbered[:first]), tuple(turn for turn in numbered[first:] if turn.text))

    @property
    def all(self) -> tuple[Turn, ...]:
        return self.before + self.turns

    def asked(self) -> str:
        """Everything as JSON between marks, which no text inside can know or leave."""
        project = self.turns[-1].event.metadata.get("project")
        told = {
            "project": project if isinstance(project, str) else None,
            "before": [_told(turn) for turn in self.before],
            "turns": [_told(turn) for turn in self.turns],
        }
        content = json.dumps(told, ensure_ascii=False)
        mark = digest("one_pass", content)[:16]
        return f"<<<conversation {mark}\n{content}\nconversation {mark}>>>"


def _turn(number: int, event: Event, words: str, most: int) -> Turn:
    text = visible(redacted(words))[:most].strip()
    return Turn(number, event, text, words_of(f"{event.speaker} {text}"))


def _told(turn: Turn) -> dict[str, str | int]:
    event = turn.event
    return {
        "turn": turn.number,
        "speaker": event.speaker[:LONGEST_NAME],
        "role": event.role,
        "at": _when(event),
        "text": turn.text,
    }


def _when(event: Event) -> str:
    """On the clocks of where it was said, if they are known."""
    at = said_at(event)
    return f"{at:%A} {at.isoformat() if at.utcoffset() else time_text(at)}"


def words_of(text: str) -> frozenset[str]:
    """The words that matter, as a search would compare them: in any form, in any script."""
    return frozenset(query_terms(text))


def batches(events: Iterable[Event], limits: Limits) -> Iterator[list[Event]]:
    """These events as a model reads them: by conversation, in order, and not too many at once.

    What is not there in any batch has nothing to teach a model.
    """
    by_place: defaultdict[tuple[WorkspaceId, Scope, str | None], list[Event]] = defaultdict(list)
    for event in events:
        by_place[event.workspace, event.scope, event.thread].append(event)
    for told in by_place.values():
        told.sort(key=lambda event: (event.at, event.id))
        for batch in _split(filter(_readable, told), limits):
            if sum(len(terms(event.text[:LONGEST_NAME])) for event in batch) >= FEWEST_WORDS:
                yield batch


def _readable(event: Event) -> bool:
    unread = event.kind not in READ or event.role == "tool" or is_copy(event)
    if unread or not event.text.strip():
        return False
    return not is_repetition(tokens(event.text[:4_000]))


def _split(events: Iterable[Event], limits: Limits) -> Iterator[list[Event]]:
    batch: list[Event] = []
    room = limits.characters
    for event in events:
        size = min(len(event.text), limits.characters)
        if batch and (len(batch) == limits.turns or size > room):
            yield batch
            batch, room = [], limits.characters
        batch.append(event)
        room -= size
    if batch:
        yield batch
