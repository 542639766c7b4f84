"""Compaction: replace the oldest messages of a long conversation by a summary and landmarks.

Messages are removed oldest first and in large steps, so that the prompt begins with the same bytes
for many turns. A fenced block in their place contains landmarks and exact values word for word.
System messages and the newest messages stay unchanged. A tool call and its results stay or go
together. Pure: the caller passes in what memory knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from ...core.access import Grant
from ...core.errors import InvalidInput, NexusError
from ...core.ids import WorkspaceId
from ...core.protocols.store import Store
from ...core.records import Event, Memory, Trust
from ...core.records.landmarks import LandmarkKind
from ...core.scope import Scope
from ...learn.sentence_ranking import event_lines, select_lines
from ...learn.summary import load_landmarks
from ...observe.chat_formats import (
    SYSTEM_ROLES,
    RawMessage,
    TokenCounter,
    check_messages,
    group_messages,
    message_role,
    message_text,
    message_tokens,
)
from ...observe.chat_messages import CompactedBlock, ExactValue, PinnedLandmark, parse_block
from ...recall.views.exact_values import load_exact_values
from ...text.terms import query_terms
from ...text.tokens import count_tokens
from ..request import TRUST_MARKS

BATCH_SIZE = 50  # events whose landmarks are read in one query


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFacts:
    """Landmarks and exact values from memory, for the block that replaces messages."""

    landmarks: tuple[PinnedLandmark, ...] = ()
    facts: tuple[ExactValue, ...] = ()
    # Text of a recorded message → its landmarks. They are pinned if that message is removed.
    landmarks_by_text: Mapping[str, Sequence[PinnedLandmark]] = field(default_factory=dict)


NO_PINNED_FACTS = PinnedFacts()


def load_pinned_facts(
    store: Store, grant: Grant, home: Scope, event_ids: Iterable[str] = ()
) -> PinnedFacts:
    """Load the landmarks of these events and every exact value the grant may read, oldest first.

    Ids of events that were not recorded are ignored.
    """
    with store.snapshot():
        facts = load_exact_values(store, grant)
        landmarks = _landmarks_by_text(store, grant.narrow_to([home]), sorted(event_ids))
    return PinnedFacts(
        facts=tuple(map(_to_exact_value, reversed(facts))), landmarks_by_text=landmarks
    )


def _to_exact_value(memory: Memory) -> ExactValue:
    from ...text.secrets import mask_value  # loaded with the first context

    fact = memory.fact
    return ExactValue(fact.subject, fact.predicate, mask_value(fact.predicate, fact.value))


def _landmarks_by_text(
    store: Store, grant: Grant, ids: Sequence[str]
) -> dict[str, tuple[PinnedLandmark, ...]]:
    events = sorted(store.ledger.get(grant, ids), key=lambda event: event.at)
    pins: dict[str, tuple[PinnedLandmark, ...]] = {}
    for start in range(0, len(events), BATCH_SIZE):
        batch = events[start : start + BATCH_SIZE]
        landmarks = load_landmarks(store, grant, batch)
        pins |= {
            event.text: tuple(map(_to_landmark, landmarks.get(event.id, ()))) for event in batch
        }
    return pins


def _to_landmark(memory: Memory) -> PinnedLandmark:
    kind = str(memory.body.get("kind") or "landmark").replace("_", " ")
    label = f"{memory.at:%Y-%m-%d} | {kind} | {TRUST_MARKS[memory.trust]}"
    return _make_pin(label, memory.text)


def _make_pin(label: str, text: str) -> PinnedLandmark:
    from ...text.secrets import mask_text  # loaded with the first context

    return PinnedLandmark(label, mask_text(text))


def _is_decision(pin: PinnedLandmark) -> bool:
    return LandmarkKind.DECISION.value in pin.label.split(" | ")


PROMPT_SHARE = 0.7  # of a model's context window; a longer prompt is compacted
STEP_DIVISOR = 3  # a third of the limit is removed in one step, so that steps are many turns apart
BLOCK_DIVISOR = 5  # a block should take at most a fifth of the limit
MAX_BLOCK_TOKENS = 3_000
SUMMARY_DIVISOR = 4  # the summary has a quarter of the block, however many landmarks there are
REPETITION_WINDOW = 5  # previous messages among which a repeated sentence is recognized
BYTES_PER_TOKEN = 3  # of a summary; a low estimate
FIRST_EVENT_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # messages have an order, but no time
PLACEHOLDER_WORKSPACE = WorkspaceId("messages")
LINE_NUMBER_TOKENS = 4  # of a line's number and line break

SpokenTurn = tuple[str, str]  # (speaker, text)
# Returns the sentences of a summary that a model wrote of the turns. It may raise Unavailable.
Summarizer = Callable[[Sequence[SpokenTurn]], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedMessages:
    """The messages to send, and what was removed from them."""

    messages: list[RawMessage]
    tokens_before: int
    tokens_after: int
    limit: int
    removed: tuple[RawMessage, ...] = ()
    summary: str = ""  # the block in place of removed messages; empty if nothing was removed
    landmarks: tuple[str, ...] = ()  # in the block, word for word
    facts: tuple[ExactValue, ...] = ()
    left_out: int = 0  # landmarks and facts that did not fit; memory has them
    degraded: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Return True if the messages are within the limit.

        False means that the messages that must stay are longer than the limit.
        """
        return self.tokens_after <= self.limit

    @property
    def is_changed(self) -> bool:
        return bool(self.summary or self.removed)


def prompt_limit(window: int) -> int:
    """Return the longest prompt, in tokens, for a model with this context window."""
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise InvalidInput(f"context window must be a positive integer, got {window!r:.80}")
    return int(window * PROMPT_SHARE)


def compact_messages(
    messages: Sequence[RawMessage],
    *,
    limit: int,
    count: TokenCounter = count_tokens,
    other_tokens: int = 0,
    pinned: PinnedFacts | Callable[[], PinnedFacts] = NO_PINNED_FACTS,
    speakers: Mapping[str, str] | None = None,
    summarize: Summarizer | None = None,
) -> CompactedMessages:
    """Return the messages unchanged if they fit, else with a block in place of the oldest ones.

    `other_tokens` are sent with the messages (tools, a composed context). `speakers` maps roles to
    names. `pinned` is called only if something must be removed. Compacting the result again
    changes nothing.
    """
    compactor = _Compactor(
        check_messages(messages), limit, count, other_tokens, pinned, speakers or {}, summarize
    )
    if compactor.total_tokens <= limit:
        return compactor.keep_all()
    return compactor.remove_until_fits()


@dataclass(slots=True)
class _CompactionDraft:
    """One possible result: positions of removed messages, the block, and the total tokens."""

    removed: frozenset[int]
    block: CompactedBlock
    tokens: int


@dataclass
class _Compactor:
    messages: list[RawMessage]
    limit: int
    count: TokenCounter
    other_tokens: int
    pinned_source: PinnedFacts | Callable[[], PinnedFacts]
    speakers: Mapping[str, str]
    summarize: Summarizer | None
    degraded: list[str] = field(default_factory=list)

    @cached_property
    def pins(self) -> PinnedFacts:
        return self.pinned_source() if callable(self.pinned_source) else self.pinned_source

    @cached_property
    def token_counts(self) -> list[int]:
        return [message_tokens(message, self.count) for message in self.messages]

    @property
    def total_tokens(self) -> int:
        return self.other_tokens + sum(self.token_counts)

    @cached_property
    def blocks(self) -> dict[int, CompactedBlock]:
        """Return the blocks of earlier compactions, by position; the new block absorbs them."""
        parsed = ((position, _find_block(each)) for position, each in enumerate(self.messages))
        return {position: block for position, block in parsed if block}

    @cached_property
    def removable_groups(self) -> list[range]:
        """Return the groups that may be removed, oldest first.

        System messages, the newest group and blocks are never removed.
        """
        every = [
            each for each in group_messages(self.messages) if not self.blocks.keys() & set(each)
        ]
        return [each for each in every[:-1] if not self._is_system_group(each)]

    def _is_system_group(self, group: range) -> bool:
        return any(message_role(self.messages[position]) in SYSTEM_ROLES for position in group)

    @cached_property
    def question_group(self) -> range | None:
        """Return the group of the last user message if it may be removed; it is removed last."""
        for position in range(len(self.messages) - 1, -1, -1):
            message = self.messages[position]
            is_question = message_role(message) == "user" and message_text(message)
            if is_question and position not in self.blocks:
                return next((each for each in self.removable_groups if position in each), None)
        return None

    def keep_all(self) -> CompactedMessages:
        return CompactedMessages(
            messages=list(self.messages),
            tokens_before=self.total_tokens,
            tokens_after=self.total_tokens,
            limit=self.limit,
        )

    def remove_until_fits(self) -> CompactedMessages:
        """Remove as few steps as possible; if that is not enough, shrink the block as well."""
        for removed in self._removal_steps():
            draft = self._make_draft(removed)
            if draft.tokens <= self.limit:
                return self._build_result(self._add_model_summary(draft))
        everything = frozenset(position for each in self._oldest_groups() for position in each)
        for removed in (everything, everything | frozenset(self.question_group or ())):
            if removed or self.blocks:
                smaller = self._shrink_block(removed)
                if smaller.tokens <= self.limit:
                    return self._build_result(smaller)
        if not everything:
            return self.keep_all()
        return self._build_result(self._measure_draft(everything, self._minimal_block(everything)))

    def _oldest_groups(self) -> list[range]:
        return [each for each in self.removable_groups if each != self.question_group]

    def _removal_steps(self) -> Iterable[frozenset[int]]:
        """Yield prefixes of the removable groups, each about a third of the limit longer."""
        removed: set[int] = set()
        step, weight, reached = max(1, self.limit // STEP_DIVISOR), 0, 0
        for group in self._oldest_groups():
            removed.update(group)
            weight += sum(self.token_counts[position] for position in group)
            if weight // step > reached:
                reached = weight // step
                yield frozenset(removed)
        if removed and weight % step:
            yield frozenset(removed)

    def _make_draft(self, removed: frozenset[int]) -> _CompactionDraft:
        """Return the draft with a block of pinned facts and quoted sentences.

        The block depends on the removed messages only, or it would change at every turn.
        """
        block = self._minimal_block(removed)
        return self._measure_draft(
            removed,
            replace(block, summary=self._quote_sentences(removed, self._summary_room(block))),
        )

    def _summary_room(self, block: CompactedBlock) -> int:
        """Return the tokens for a summary in a block with these pinned facts."""
        room = min(MAX_BLOCK_TOKENS, self.limit // BLOCK_DIVISOR)
        return max(room - self._block_tokens(block), room // SUMMARY_DIVISOR)

    def _add_model_summary(self, draft: _CompactionDraft) -> _CompactionDraft:
        """Return the draft with a model's summary if the model writes one that fits."""
        events = self._events_at(draft.removed)
        if not self.summarize or not events:
            return draft
        try:
            sentences = self.summarize([(event.speaker, event.text) for event in events])
        except NexusError as error:
            self.degraded.append(f"summary: {error}")
            return draft
        bare = replace(draft.block, summary=())
        lines = [*self._earlier_summary, *sentences]
        summary = self._newest_lines(lines, self._summary_room(bare))
        longer = self._measure_draft(draft.removed, replace(bare, summary=summary))
        return longer if longer.tokens <= self.limit else draft

    def _shrink_block(self, removed: frozenset[int]) -> _CompactionDraft:
        """Return the draft without a summary and with the newest pinned facts that fit.

        Decisions stay longer than other landmarks.
        """
        complete = self._minimal_block(removed)
        draft = self._measure_draft(removed, complete)
        landmarks, facts = list(complete.landmarks), list(complete.facts)
        while draft.tokens > self.limit and (landmarks or facts):
            others = [pin for pin in landmarks if not _is_decision(pin)]
            dropped = set((others or landmarks)[: max(1, len(landmarks) // 8)])
            landmarks = [pin for pin in landmarks if pin not in dropped]
            if not landmarks:
                del facts[: max(1, len(facts) // 8)]
            draft = self._measure_draft(
                removed, replace(complete, landmarks=tuple(landmarks), facts=tuple(facts))
            )
        return draft

    def _measure_draft(self, removed: frozenset[int], block: CompactedBlock) -> _CompactionDraft:
        rest = sum(
            size
            for position, size in enumerate(self.token_counts)
            if position not in removed and position not in self.blocks
        )
        return _CompactionDraft(
            removed, block, self.other_tokens + rest + self._block_tokens(block)
        )

    def _block_tokens(self, block: CompactedBlock) -> int:
        return message_tokens(self._block_message(block), self.count)

    def _minimal_block(self, removed: frozenset[int]) -> CompactedBlock:
        """Return a block of landmarks and exact values, without a summary.

        They come from earlier blocks, from memory and from the removed messages.
        """
        earlier = list(self.blocks.values())
        pins = [pin for block in earlier for pin in block.landmarks]
        pins += self.pins.landmarks
        pinned_terms = [_term_set(pin.text) for pin in pins]
        for position in sorted(removed):
            landmarks = self._landmarks_at(position)
            pins += (pin for pin in landmarks if not _is_covered(pin.text, pinned_terms))
        facts = [fact for block in earlier for fact in block.facts] + list(self.pins.facts)
        return CompactedBlock(
            message_count=sum(block.message_count for block in earlier) + len(removed),
            landmarks=tuple({pin.text: pin for pin in pins}.values()),
            facts=tuple({(fact.scope, fact.key): fact for fact in facts}.values()),
        )

    def _landmarks_at(self, position: int) -> Sequence[PinnedLandmark]:
        if position not in self._landmark_cache:
            landmarks = self.pins.landmarks_by_text.get(message_text(self.messages[position]))
            self._landmark_cache[position] = (
                _extract_landmarks(self._event_at(position)) if landmarks is None else landmarks
            )
        return self._landmark_cache[position]

    @cached_property
    def _landmark_cache(self) -> dict[int, Sequence[PinnedLandmark]]:
        return {}

    def _event_at(self, position: int) -> Event:
        message = self.messages[position]
        role = message_role(message)
        name = message.get("speaker") or message.get("name")
        speaker = name if isinstance(name, str) else self.speakers.get(role, role)
        text = message_text(message).encode(errors="replace").decode()  # replaces lone surrogates
        return _make_event(position, speaker, text, role)

    @cached_property
    def _earlier_summary(self) -> list[str]:
        """Return the summary lines of earlier blocks."""
        return [line for block in self.blocks.values() for line in block.summary]

    def _events_at(self, removed: frozenset[int]) -> list[Event]:
        events = (self._event_at(position) for position in sorted(removed))
        return [event for event in events if event.text.strip()]

    def _quote_sentences(self, removed: frozenset[int], room: int) -> tuple[str, ...]:
        """Return the most important sentences of the removed messages, within `room` tokens."""
        earlier, events = self._earlier_summary, self._events_at(removed)
        summary_events = [
            _make_event(position - len(earlier), "", line, "user")
            for position, line in enumerate(earlier)
        ]
        pinned_terms = [_term_set(text) for text in self._landmark_texts(removed)]
        lines = [line for event in summary_events for line in event_lines(event)]
        for position, event in enumerate(events):
            lines += event_lines(event, events[max(0, position - REPETITION_WINDOW) : position])
        chosen = select_lines(
            (line for line in lines if not _is_covered(line.text, pinned_terms)),
            max_bytes=room * BYTES_PER_TOKEN,
        )
        return self._newest_lines(
            [line.text_with_speaker if line.speaker else line.text for line in chosen], room
        )

    def _landmark_texts(self, removed: frozenset[int]) -> list[str]:
        return [pin.text for pin in self._minimal_block(removed).landmarks]

    def _newest_lines(self, lines: Sequence[str], room: int) -> tuple[str, ...]:
        """Return the newest lines that fit in `room` tokens, in order."""
        from ...text.secrets import mask_text  # loaded with the first context

        chosen: list[str] = []
        for line in map(mask_text, reversed(lines)):
            room -= self.count(line) + LINE_NUMBER_TOKENS
            if room < 0:
                break
            chosen.append(line)
        return tuple(reversed(chosen))

    def _block_message(self, block: CompactedBlock) -> RawMessage:
        """Return the block as a user message: every provider accepts one at any position."""
        if any("speaker" in message for message in self.messages):
            return {"speaker": "nexus", "role": "user", "text": block.text}
        return {"role": "user", "content": block.text}

    def _build_result(self, draft: _CompactionDraft) -> CompactedMessages:
        if not draft.removed and len(self.blocks) == 1 and draft.block in self.blocks.values():
            return self.keep_all()
        complete = self._minimal_block(draft.removed)
        left_out = len(complete.landmarks) + len(complete.facts)
        left_out -= len(draft.block.landmarks) + len(draft.block.facts)
        return CompactedMessages(
            messages=self._assemble_messages(draft),
            tokens_before=self.total_tokens,
            tokens_after=draft.tokens,
            limit=self.limit,
            removed=tuple(self.messages[position] for position in sorted(draft.removed)),
            summary=draft.block.text,
            landmarks=tuple(pin.text for pin in draft.block.landmarks),
            facts=draft.block.facts,
            left_out=left_out,
            degraded=tuple(dict.fromkeys(self.degraded)),
        )

    def _assemble_messages(self, draft: _CompactionDraft) -> list[RawMessage]:
        """Return the messages with the block at the position of the first one it replaces."""
        first = min(draft.removed | self.blocks.keys())
        assembled: list[RawMessage] = []
        for position, message in enumerate(self.messages):
            if position == first:
                assembled.append(self._block_message(draft.block))
            if position not in draft.removed and position not in self.blocks:
                assembled.append(message)
        return assembled


def _term_set(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


def _is_covered(text: str, term_sets: Sequence[frozenset[str]]) -> bool:
    """Return True if one of these sets has every term of the text."""
    terms = _term_set(text)
    return any(terms <= each for each in term_sets)


def _find_block(message: RawMessage) -> CompactedBlock | None:
    return parse_block(message_text(message)) if message_role(message) == "user" else None


def _make_event(position: int, speaker: str, text: str, role: str) -> Event:
    at = FIRST_EVENT_TIME + timedelta(days=365, seconds=position)
    return Event(
        workspace=PLACEHOLDER_WORKSPACE,
        scope=Scope.workspace(),
        speaker=speaker,
        text=text,
        role=role,
        trust=Trust.DIRECT if role == "user" else Trust.INFERRED,
        at=at,
        recorded_at=at,
        key=f"{position}",
    )


def _extract_landmarks(event: Event) -> list[PinnedLandmark]:
    """Return the landmarks that the rules find in a message that memory does not have."""
    from ...learn.rules import MessageContext, SourceMessage, extract

    if not event.text.strip():
        return []
    landmarks = extract(SourceMessage.from_event(event), MessageContext()).landmarks
    return [_make_pin(each.kind.value, each.text) for each in landmarks]
