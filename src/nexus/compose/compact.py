"""A conversation that grows too long: its oldest part becomes a summary and landmarks.

Whole messages go, oldest first and in large steps, so that the prompt begins with the same bytes
for many turns. What was decided and promised and every exact value stand in a fenced block in
their place, byte for byte; the newest messages stay as they are, and so does what the system was
told. A tool call and its results stay or go together. Pure: what memory knows is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from ..core.errors import InvalidInput, NexusError
from ..core.ids import WorkspaceId
from ..core.records import Event, Trust
from ..core.scope import Scope
from ..core.text import query_terms
from ..core.tokens import count as count_tokens
from ..learn.telling import lines_of, telling
from .block import Block, ExactValue, Pin, read_block
from .turns import STANDING, Count, Message, checked, groups, role_of, size, text_of

SHARE = 0.7  # of an agent's context window: what is longer is compacted
STEP = 3  # a third of the limit goes at once, so that the next time is many turns away
BLOCK = 5  # a fifth of the limit is the most a block should take,
MOST_BLOCK = 3_000  # and this many tokens
LEAST_SUMMARY = 4  # a quarter of the block, however many landmarks there are
BEFORE = 5  # messages among which repetitions are looked for
BYTES_PER_TOKEN = 3  # of a summary; rather too few
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # messages have an order, but no time
NOWHERE = WorkspaceId("messages")

Said = tuple[str, str]  # who, what
Narrate = Callable[[Sequence[Said]], Sequence[str]]
"""A summary by a model: of what was said, beside its landmarks. It may raise Unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What memory knows of the place: it stands in the block, whatever the messages say."""

    landmarks: tuple[Pin, ...] = ()
    facts: tuple[ExactValue, ...] = ()
    heard: Mapping[str, Sequence[Pin]] = field(default_factory=dict)
    """Texts it has read, with their landmarks: these stand there if their messages go."""


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The messages to send, and what was done to them."""

    messages: list[Message]
    tokens_before: int
    tokens_after: int
    limit: int
    removed: tuple[Message, ...] = ()
    summary: str = ""  # the block that stands for them; empty if nothing was done
    landmarks: tuple[str, ...] = ()  # what stands in it, word for word
    facts: tuple[ExactValue, ...] = ()
    left_out: int = 0  # landmarks and facts for which there was no room; memory has them
    degraded: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it is below the limit. If not, what cannot be left out is longer than that."""
        return self.tokens_after <= self.limit

    @property
    def changed(self) -> bool:
        return bool(self.summary or self.removed)


def limit_of(window: int) -> int:
    """How long a prompt may be for an agent with this context window."""
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise InvalidInput(f"a context window is a number of tokens, not {window!r:.80}")
    return int(window * SHARE)


def compact(
    messages: Sequence[Message],
    *,
    limit: int,
    count: Count = count_tokens,
    beside: int = 0,
    kept: Kept | Callable[[], Kept] = NOTHING_KEPT,
    speakers: Mapping[str, str] | None = None,
    narrate: Narrate | None = None,
) -> Compacted:
    """The messages as they are, if they fit; else with a block in place of the oldest ones.

    `beside` are the tokens of what is sent besides (tools, a composed context). `speakers` names
    the people behind the roles. `kept` is asked for only if something has to go. Compacting what
    was compacted changes nothing.
    """
    cutting = _Cutting(checked(messages), limit, count, beside, kept, speakers or {}, narrate)
    if cutting.total <= limit:
        return cutting.unchanged()
    return cutting.shortest_that_fits()


@dataclass(slots=True)
class _Draft:
    """One way to compact: what goes, and the block that takes its place."""

    gone: frozenset[int]
    block: Block
    tokens: int


@dataclass
class _Cutting:
    messages: list[Message]
    limit: int
    count: Count
    beside: int
    given: Kept | Callable[[], Kept]
    speakers: Mapping[str, str]
    narrate: Narrate | None
    degraded: list[str] = field(default_factory=list)

    @cached_property
    def kept(self) -> Kept:
        return self.given() if callable(self.given) else self.given

    @cached_property
    def sizes(self) -> list[int]:
        return [size(message, self.count) for message in self.messages]

    @property
    def total(self) -> int:
        return self.beside + sum(self.sizes)

    @cached_property
    def blocks(self) -> dict[int, Block]:
        """Where an earlier compaction left its block: it becomes part of the new one."""
        found = ((place, _block_in(message)) for place, message in enumerate(self.messages))
        return {place: block for place, block in found if block}

    @cached_property
    def stretches(self) -> list[range]:
        """What may go, in order: neither what the system was told, nor the newest, nor a block."""
        every = [each for each in groups(self.messages) if not self.blocks.keys() & set(each)]
        return [each for each in every[:-1] if not self._stands(each)]

    def _stands(self, stretch: range) -> bool:
        return any(role_of(self.messages[place]) in STANDING for place in stretch)

    @cached_property
    def question(self) -> range | None:
        """What the newest messages are about, if it is not among them: it goes last of all."""
        for place in range(len(self.messages) - 1, -1, -1):
            asked = role_of(self.messages[place]) == "user" and text_of(self.messages[place])
            if asked and place not in self.blocks:
                return next((each for each in self.stretches if place in each), None)
        return None

    def unchanged(self) -> Compacted:
        return Compacted(
            messages=list(self.messages),
            tokens_before=self.total,
            tokens_after=self.total,
            limit=self.limit,
        )

    def shortest_that_fits(self) -> Compacted:
        """As little as possible goes, in steps; then more than one would like."""
        for gone in self._steps():
            draft = self._draft(gone)
            if draft.tokens <= self.limit:
                return self._done(self._narrated(draft))
        everything = frozenset(place for each in self._oldest() for place in each)
        for gone in (everything, everything | frozenset(self.question or ())):
            if gone or self.blocks:
                smaller = self._smaller(gone)
                if smaller.tokens <= self.limit:
                    return self._done(smaller)
        if not everything:
            return self.unchanged()
        return self._done(self._measured(everything, self._must_say(everything)))

    def _oldest(self) -> list[range]:
        return [each for each in self.stretches if each != self.question]

    def _steps(self) -> Iterable[frozenset[int]]:
        """Prefixes of what may go, each about a third of the limit longer than the one before."""
        gone: set[int] = set()
        step, weight, reached = max(1, self.limit // STEP), 0, 0
        for stretch in self._oldest():
            gone.update(stretch)
            weight += sum(self.sizes[place] for place in stretch)
            if weight // step > reached:
                reached = weight // step
                yield frozenset(gone)
        if gone and weight % step:
            yield frozenset(gone)

    def _draft(self, gone: frozenset[int]) -> _Draft:
        """These go; the block says what it must, and as much else as it should.

        It depends on what goes and on nothing that stays, or it would change with every turn.
        """
        block = self._must_say(gone)
        return self._measured(gone, replace(block, summary=self._quotes(gone, self._room(block))))

    def _room(self, block: Block) -> int:
        """For a summary beside what the block must say."""
        room = min(MOST_BLOCK, self.limit // BLOCK)
        return max(room - self._block_size(block), room // LEAST_SUMMARY)

    def _narrated(self, draft: _Draft) -> _Draft:
        """The same, told by a model if there is one, it answers, and its words fit."""
        said = self._said(draft.gone)
        if not self.narrate or not said:
            return draft
        try:
            told = self.narrate([(event.speaker, event.text) for event in said])
        except NexusError as error:
            self.degraded.append(f"summary: {error}")
            return draft
        bare = replace(draft.block, summary=())
        summary = self._fitting([*self._summed_up, *told], self._room(bare))
        made = self._measured(draft.gone, replace(bare, summary=summary))
        return made if made.tokens <= self.limit else draft

    def _smaller(self, gone: frozenset[int]) -> _Draft:
        """These go; of what the block must say, the newest that there is room for."""
        whole = self._must_say(gone)
        draft = self._measured(gone, whole)
        landmarks, facts = list(whole.landmarks), list(whole.facts)
        while draft.tokens > self.limit and (landmarks or facts):
            del landmarks[: max(1, len(landmarks) // 8)]
            if not landmarks:
                del facts[: max(1, len(facts) // 8)]
            draft = self._measured(
                gone, replace(whole, landmarks=tuple(landmarks), facts=tuple(facts))
            )
        return draft

    def _measured(self, gone: frozenset[int], block: Block) -> _Draft:
        rest = sum(
            size
            for place, size in enumerate(self.sizes)
            if place not in gone and place not in self.blocks
        )
        return _Draft(gone, block, self.beside + rest + self._block_size(block))

    def _block_size(self, block: Block) -> int:
        return size(self._message(block), self.count)

    def _must_say(self, gone: frozenset[int]) -> Block:
        """Landmarks and exact values: of earlier blocks, of memory, and of the messages."""
        before = list(self.blocks.values())
        pins = [pin for block in before for pin in block.landmarks]
        pins += self.kept.landmarks
        known = [_words(pin.text) for pin in pins]
        for place in sorted(gone):
            pins += (pin for pin in self._landmarks(place) if not _told(pin.text, known))
        facts = [fact for block in before for fact in block.facts] + list(self.kept.facts)
        return Block(
            messages=sum(block.messages for block in before) + len(gone),
            landmarks=tuple({pin.text: pin for pin in pins}.values()),
            facts=tuple({(fact.scope, fact.key): fact for fact in facts}.values()),
        )

    def _landmarks(self, place: int) -> Sequence[Pin]:
        if place not in self._read:
            known = self.kept.heard.get(text_of(self.messages[place]))
            self._read[place] = _landmarks_in(self._event(place)) if known is None else known
        return self._read[place]

    @cached_property
    def _read(self) -> dict[int, Sequence[Pin]]:
        return {}

    def _event(self, place: int) -> Event:
        message = self.messages[place]
        role = role_of(message)
        named = message.get("speaker") or message.get("name")
        speaker = named if isinstance(named, str) else self.speakers.get(role, role)
        text = text_of(message).encode(errors="replace").decode()  # half a character says nothing
        return _event(place, speaker, text, role)

    @cached_property
    def _summed_up(self) -> list[str]:
        """What earlier blocks say of messages before these."""
        return [line for block in self.blocks.values() for line in block.summary]

    def _said(self, gone: frozenset[int]) -> list[Event]:
        events = (self._event(place) for place in sorted(gone))
        return [event for event in events if event.text.strip()]

    def _quotes(self, gone: frozenset[int], room: int) -> tuple[str, ...]:
        """What was said, within so many tokens, in people's own words."""
        before, said = self._summed_up, self._said(gone)
        old = [_event(place - len(before), "", line, "user") for place, line in enumerate(before)]
        known = [_words(text) for text in self._texts(gone)]
        lines = [line for event in old for line in lines_of(event)]
        for place, event in enumerate(said):
            lines += lines_of(event, said[max(0, place - BEFORE) : place])
        chosen = telling(
            (line for line in lines if not _told(line.text, known)), room=room * BYTES_PER_TOKEN
        )
        return self._fitting([line.said if line.speaker else line.text for line in chosen], room)

    def _texts(self, gone: frozenset[int]) -> list[str]:
        return [pin.text for pin in self._must_say(gone).landmarks]

    def _fitting(self, lines: Sequence[str], room: int) -> tuple[str, ...]:
        """The newest that fit, in order."""
        chosen: list[str] = []
        for line in reversed(lines):
            room -= self.count(line) + 4  # its number and its end
            if room < 0:
                break
            chosen.append(line)
        return tuple(reversed(chosen))

    def _message(self, block: Block) -> Message:
        """A message a person could have sent: every provider takes one anywhere."""
        if any("speaker" in message for message in self.messages):
            return {"speaker": "nexus", "role": "user", "text": block.text}
        return {"role": "user", "content": block.text}

    def _done(self, draft: _Draft) -> Compacted:
        if not draft.gone and len(self.blocks) == 1 and draft.block in self.blocks.values():
            return self.unchanged()
        whole = self._must_say(draft.gone)
        left_out = len(whole.landmarks) + len(whole.facts)
        left_out -= len(draft.block.landmarks) + len(draft.block.facts)
        return Compacted(
            messages=self._put_together(draft),
            tokens_before=self.total,
            tokens_after=draft.tokens,
            limit=self.limit,
            removed=tuple(self.messages[place] for place in sorted(draft.gone)),
            summary=draft.block.text,
            landmarks=tuple(pin.text for pin in draft.block.landmarks),
            facts=draft.block.facts,
            left_out=left_out,
            degraded=tuple(dict.fromkeys(self.degraded)),
        )

    def _put_together(self, draft: _Draft) -> list[Message]:
        """The block stands where the first message stood that went, or the first block."""
        first = min(draft.gone | self.blocks.keys())
        made: list[Message] = []
        for place, message in enumerate(self.messages):
            if place == first:
                made.append(self._message(draft.block))
            if place not in draft.gone and place not in self.blocks:
                made.append(message)
        return made


def _words(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


def _told(text: str, known: Sequence[frozenset[str]]) -> bool:
    """Whether one of these says it already."""
    words = _words(text)
    return any(words <= each for each in known)


def _block_in(message: Message) -> Block | None:
    return read_block(text_of(message)) if role_of(message) == "user" else None


def _event(place: int, speaker: str, text: str, role: str) -> Event:
    at = BEGINNING + timedelta(days=365, seconds=place)
    return Event(
        workspace=NOWHERE,
        scope=Scope.workspace(),
        speaker=speaker,
        text=text,
        role=role,
        trust=Trust.DIRECT if role == "user" else Trust.INFERRED,
        at=at,
        recorded_at=at,
        key=f"{place}",
    )


def _landmarks_in(event: Event) -> list[Pin]:
    """What the rules read in a message, for whoever compacts without a memory of it."""
    from ..learn.rules import Context, extract  # noqa: PLC0415  # slow to load, seldom needed
    from ..learn.rules import Message as Heard  # noqa: PLC0415

    if not event.text.strip():
        return []
    found = extract(Heard.of(event), Context()).landmarks
    return [Pin(each.kind.value, each.text) for each in found]
