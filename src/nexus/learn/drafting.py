"""Everything events become without a model: passages, and what can be known from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.derive import known_as, part_of_name
from ..core.protocols import Embedder, Store
from ..core.records import Draft, Event, EventKind, Fact, MemoryKind
from ..core.secrets import answers, hidden, redacted
from ..core.sharing import is_copy
from .around import SMALL, WORD, Around, Stretch, stretches, words_of
from .decisions import decided
from .directory import Directory
from .entities import entity_drafts, grounded
from .explicit import explicit
from .immune import NOTHING_INJECTED, Injected, is_person, new_words, own_words
from .injected import injected_in
from .knowledge import Grounds, knowledge
from .known import PlaceFacts
from .label import label_draft
from .learning import Learning
from .linking import Resolved, resolved
from .passages import Indexing, passages
from .procedures import practised
from .reconcile import Policy, reconcile
from .resolve import Similar
from .rules import Extracted, Message, extract
from .rules.identities import identity_of
from .rules.lexicon import KIN
from .sharing import shared
from .versions import is_newest

READ = (EventKind.MESSAGE, EventKind.NOTE, EventKind.DOCUMENT)  # a tool's output is only kept
WHO_IS_WHO = (MemoryKind.ENTITY, MemoryKind.REVIEW)
MOST_RECORDS = 5_000  # of who is who, looked up for one batch
LONGEST_NAME = 3  # words
LONGEST_SEARCHED = 10_000  # characters of a message in which names are looked for
PHONE = r"\+?\d[\d ().-]{5,}\d"
NUMBER = re.compile(PHONE)
ADDRESS = re.compile(rf"[\w.+-]*@[\w.-]*\w|{PHONE}")

# An event nobody can read is put off alone; the others of its batch go on.
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)

Drafts = list[Draft] | Exception


class Drafter:
    """Reads events in the order they happened, each with what was said before it."""

    def __init__(
        self, store: Store, embedder: Embedder, indexing: Indexing, learning: Learning
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._indexing = indexing
        self._learning = learning

    def read(self, events: Sequence[Event]) -> Iterator[tuple[Event, Drafts]]:
        """What each becomes, or why it cannot be read."""
        for stretch in stretches(self._store, events):
            reader = self.reader(stretch)
            for around in stretch.events:
                try:
                    yield around.event, list(self._drafts(reader, around))
                except UNREADABLE as error:
                    yield around.event, error

    def _drafts(self, reader: PlaceReader, around: Around) -> Iterable[Draft]:
        if around.event.kind is EventKind.REVIEW:
            return decided(self._store, around.event)
        if around.event.kind is EventKind.OUTCOME:
            return practised(self._store, around.event)
        if around.event.kind is EventKind.SHARE:
            return shared(self._store, around.event)
        if not is_newest(self._store, around.event):
            return ()
        return reader.drafts(around)

    def reader(self, stretch: Stretch) -> PlaceReader:
        """Who reads these events, knowing what is known of those they name."""
        spellings = {each.event.id: _looked_up(each.event) for each in stretch.events}
        names = set[str]().union(*spellings.values())
        names |= {name for each in _earlier(stretch) for name in _capitalised(each)}
        known = self._store.memories.named(
            stretch.grant, sorted(names), kinds=WHO_IS_WHO, limit=MOST_RECORDS
        )
        facts = PlaceFacts.of(self._store, stretch.workspace, stretch.scope)
        return PlaceReader(
            known=Directory.of(
                known, lambda name: [(each.at, each.text) for each in facts.naming(name)]
            ),
            facts=facts,
            injected=self._injected(stretch),
            spellings=spellings,
            similar=self._similar if self._embedder.local else None,
            indexing=self._indexing,
            learning=self._learning,
        )

    def _injected(self, stretch: Stretch) -> Injected:
        """What models were given there lately; people may repeat it, so only others are asked."""
        others = [each.event for each in stretch.events if not is_person(each.event)]
        if not others:
            return NOTHING_INJECTED
        now = max(event.recorded_at for event in others)
        return injected_in(self._store, stretch.workspace, stretch.scope, now=now)

    def _similar(self, text: str, others: Sequence[str]) -> list[float]:
        asked, *rows = self._embedder.embed([text, *others])
        return [float(row @ asked) for row in rows]


@dataclass(frozen=True, slots=True)
class PlaceReader:
    """What is known in one place, and grows from message to message."""

    known: Directory
    facts: PlaceFacts
    injected: Injected
    spellings: Mapping[str, set[str]]  # event → under which somebody may be known it speaks of
    similar: Similar | None
    indexing: Indexing
    learning: Learning

    def drafts(self, around: Around) -> Iterator[Draft]:
        event = around.event
        told = list(explicit(event))
        self.facts.add(event, told)
        yield from told
        if event.kind is EventKind.FACT:
            yield from self._aliases(event)
        seen = redacted(own_words(event, self.injected), after=_before(around))
        yield from passages(_with_text(event, seen), self.indexing)
        if event.kind in READ and event.role != "tool" and not is_copy(event):
            yield from self._learned(around)

    def _aliases(self, event: Event) -> Iterator[Draft]:
        """What a fact that was told says about who is who."""
        if identity := identity_of(Fact(**event.metadata["fact"])):
            told = Extracted(identities=(identity,))
            yield from entity_drafts(event, told, self.known.until(event))

    def _learned(self, around: Around) -> Iterator[Draft]:
        text = new_words(around.event, around.recent, self.injected)
        text = hidden(text, answers(text, _before(around)))
        event = _with_text(around.event, text)
        if not event.text:
            return
        unchanged = event is around.event
        names = self.names(event, self.spellings.get(event.id) if unchanged else None)
        extracted = extract(Message.of(event), around.context(names, self.learning.type_of))
        found = resolved(extracted, self.known, around, self.similar)
        grounds = _grounds(around, found)
        if self.learning.facts:
            yield from self.reconciled(around, self._facts(around, found))
        if self.learning.labels and (label := label_draft(event, found.extracted)):
            earlier = grounds(label.body["entities"], label.text)
            yield replace(label, sources=(event.id, *earlier)) if earlier else label

    def understood(self, around: Around, extracted: Extracted) -> list[Draft]:
        """What somebody else read in a message, by the names of those it is about."""
        return self._facts(around, resolved(extracted, self.known, around, self.similar))

    def reconciled(self, around: Around, drafts: Sequence[Draft]) -> list[Draft]:
        """The same, beside what is known: corrections and contradictions are told."""
        recent = [each.id for each in around.recent]
        policy = Policy(self.learning.contradictions)
        return reconcile(around.event, drafts, self.facts, policy, recent)

    def _facts(self, around: Around, found: Resolved) -> list[Draft]:
        """Facts, landmarks, entities and questions about who is who."""
        grounds = _grounds(around, found)
        said = list(knowledge(around.event, found.extracted, grounds))
        self.known.with_(said)
        who = entity_drafts(around.event, found.extracted, self.known, grounds)
        return [*said, *who, *(grounded(review, grounds) for review in found.reviews)]

    def names(self, event: Event, spellings: Iterable[str] | None = None) -> Iterator[str]:
        """Those known names that this event may mean, some of them also in small letters."""
        entries = self.known.until(event).entries
        for name in _looked_up(event) if spellings is None else spellings:
            entry = entries.get(name)
            if entry and (entry.plain or entry.name in event.text):
                yield entry.name


def _grounds(around: Around, found: Resolved) -> Grounds:
    """Which earlier events names were taken from: said there, or known from there."""

    def grounds(names: Iterable[str | None], sentence: str) -> tuple[str, ...]:
        named = list(names)
        earlier = (*around.grounds(named, sentence), *found.rests_on(*named))
        return tuple(id for id in dict.fromkeys(earlier) if id != around.event.id)

    return grounds


def _earlier(stretch: Stretch) -> list[Event]:
    """What was said before these events, but for these: "she" may mean somebody named there."""
    recent = {each.id: each for around in stretch.events for each in around.recent}
    new = {around.event.id for around in stretch.events}
    return [event for id, event in recent.items() if id not in new]


def _before(around: Around) -> str:
    """The message before: a password may be the answer to it."""
    return around.recent[-1].text if around.recent else ""


def _with_text(event: Event, text: str) -> Event:
    return event if text == event.text else replace(event, text=text)


def _looked_up(event: Event) -> set[str]:
    """Spellings under which somebody may be known whom this event speaks of."""
    text, speaker = event.text[:LONGEST_SEARCHED], known_as(event.speaker)
    words = [word.casefold() for word in WORD.findall(text)]
    found = {" ".join(run) for run in _runs(words, 2)}
    addresses = ADDRESS if "@" in text else NUMBER  # looking for the former takes longer
    single = words_of(event) - SMALL
    single.add(speaker)
    single.update(map(known_as, addresses.findall(text)))
    found.update(single, map(part_of_name, single))
    found.update(f"{speaker}'s {word}" for word in KIN.keys() & words)
    return found


def _capitalised(event: Event) -> set[str]:
    """Names that stand in a message, as far as capitals tell."""
    words = WORD.findall(event.text[:LONGEST_SEARCHED])
    runs = (run for run in _runs(words, 1) if all(word[0].isupper() for word in run))
    return {" ".join(run).casefold() for run in runs} | {known_as(event.speaker)}


def _runs(words: Sequence[str], shortest: int) -> Iterator[Sequence[str]]:
    """Every few words in a row that neither begin nor end with a small one."""
    telling = [place for place, word in enumerate(words) if word not in SMALL]
    ends = set(telling)
    for start in telling:
        for last in range(start + shortest - 1, start + LONGEST_NAME):
            if last in ends:
                yield words[start : last + 1]
