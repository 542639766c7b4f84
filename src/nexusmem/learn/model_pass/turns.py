"""Excerpts: batches of messages for one model call, numbered and encoded as JSON."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...core.ids import WorkspaceId, digest
from ...core.records import Event, EventKind, Trust
from ...core.records.links import is_shared_copy
from ...core.scope import Scope
from ...text.invisible_text import reveal_invisible
from ...text.secrets import redact_secrets
from ...text.terms import extract_terms, query_terms
from ...text.utc_offset import local_time
from ..extract.echo_filter import new_text, own_text
from ..rules.noise import is_repetition
from ..rules.tokens import tokenize
from ..settings import ModelReadLimits

READABLE_KINDS = (EventKind.MESSAGE, EventKind.NOTE)  # documents are too long
MIN_BATCH_WORDS = 3  # of all messages of a batch
MAX_SPEAKER_CHARS = 200  # of a speaker's name
MAX_CLAIMS = 40  # facts of the rules that one call checks


class Claim(NamedTuple):
    """A fact that the rules read in a turn; the model confirms or rejects it."""

    memory_id: str
    event_id: str
    text: str  # subject, predicate and object


class ExcerptTurn(NamedTuple):
    """One message for the model: numbered, without secrets, cut to the limit."""

    number: int  # from 1; earlier turns have negative numbers
    event: Event
    text: str
    words: frozenset[str]

    @property
    def is_external(self) -> bool:
        return self.event.trust <= Trust.EXTERNAL


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive messages of one conversation, with earlier ones for context."""

    before: tuple[ExcerptTurn, ...]
    turns: tuple[ExcerptTurn, ...]
    claims: tuple[Claim, ...] = ()

    @classmethod
    def from_events(
        cls,
        events: Sequence[Event],
        before: Sequence[Event],
        limits: ModelReadLimits,
        claims: Sequence[Claim] = (),
    ) -> Excerpt:
        """Return an excerpt without repetitions and injected contexts."""
        earlier = [event for event in before if event.kind in READABLE_KINDS]
        shown = earlier[-limits.context_turns :] if limits.context_turns else []
        share = limits.characters // (limits.context_turns + 1)
        texts = [(event, own_text(event), share) for event in shown]
        for index, event in enumerate(events):
            text = new_text(event, [*earlier, *events[:index]])
            texts.append((event, text, limits.characters))
        first = len(shown)
        numbers = [*range(-first, 0), *range(1, len(events) + 1)]
        numbered = [_make_turn(n, *each) for n, each in zip(numbers, texts, strict=True)]
        turns = tuple(turn for turn in numbered[first:] if turn.text)
        read = {turn.event.id for turn in turns}
        own = tuple(claim for claim in claims if claim.event_id in read)
        return cls(tuple(numbered[:first]), turns, own[:MAX_CLAIMS])

    @property
    def all_turns(self) -> tuple[ExcerptTurn, ...]:
        return self.before + self.turns

    def to_prompt_text(self) -> str:
        """Return the excerpt as JSON between markers.

        The markers have a digest of the content, so no text inside can contain them.
        """
        project = self.turns[-1].event.metadata.get("project")
        numbers = {turn.event.id: turn.number for turn in self.turns}
        speakers = dict.fromkeys(turn.event.speaker[:MAX_SPEAKER_CHARS] for turn in self.all_turns)
        data = {
            "speakers": list(speakers),
            "project": project if isinstance(project, str) else None,
            "before": [_turn_to_dict(turn) for turn in self.before],
            "turns": [_turn_to_dict(turn) for turn in self.turns],
            "read": [
                f"{number}: {redact_secrets(claim.text)} (turn {numbers[claim.event_id]})"
                for number, claim in enumerate(self.claims, 1)
            ],
        }
        given = {name: value for name, value in data.items() if value}
        content = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
        mark = digest("one_pass", content)[:16]
        return f"<<<conversation {mark}\n{content}\nconversation {mark}>>>"


def _make_turn(number: int, event: Event, text: str, max_chars: int) -> ExcerptTurn:
    shown = reveal_invisible(redact_secrets(text))[:max_chars].strip()
    return ExcerptTurn(number, event, shown, content_terms(f"{event.speaker} {shown}"))


def _turn_to_dict(turn: ExcerptTurn) -> dict[str, str | int]:
    event = turn.event
    at = local_time(event)
    role = {} if event.role == "user" else {"role": event.role}
    return {
        "n": turn.number,
        "at": f"{at:%A} {at:%Y-%m-%d %H:%M}",
        "by": event.speaker[:MAX_SPEAKER_CHARS],
        **role,
        "text": turn.text,
    }


def content_terms(text: str) -> frozenset[str]:
    """Return the normalized search terms of a text."""
    return frozenset(query_terms(text))


def split_batches(events: Iterable[Event], limits: ModelReadLimits) -> Iterator[list[Event]]:
    """Yield batches of readable events by conversation, in order, within the limits.

    Events without readable text are in no batch.
    """
    by_thread: defaultdict[tuple[WorkspaceId, Scope, str | None], list[Event]] = defaultdict(list)
    for event in events:
        by_thread[event.workspace, event.scope, event.thread].append(event)
    for group in by_thread.values():
        group.sort(key=lambda event: (event.at, event.id))
        for batch in _split_by_limits(filter(_is_readable, group), limits):
            if (
                sum(len(extract_terms(event.text[:MAX_SPEAKER_CHARS])) for event in batch)
                >= MIN_BATCH_WORDS
            ):
                yield batch


def _is_readable(event: Event) -> bool:
    unread = event.kind not in READABLE_KINDS or event.role == "tool" or is_shared_copy(event)
    if unread or not event.text.strip():
        return False
    return not is_repetition(tokenize(event.text[:4_000]))


def _split_by_limits(events: Iterable[Event], limits: ModelReadLimits) -> Iterator[list[Event]]:
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
