"""Scope knowledge: the names and facts of one scope that help to understand its new events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core.derive import name_part_key, normalize_name
from ..core.protocols.embedder import Embedder
from ..core.protocols.store import Store
from ..core.records import Draft, Event, EventKind, MemoryKind
from ..core.records.entities import ENTITY, check_entity
from ..text.identifiers import format_identifier, possible_identifiers
from ..text.nicknames import first_name_variants
from .closings.scope_landmarks import ScopeLandmarks
from .extract.echo_filter import NOTHING_INJECTED, InjectedContexts, is_from_person, load_injected
from .extract.event_context import IGNORED_WORDS, WORD, EventBatch, EventContext, event_words
from .extract.fact_drafts import RULES, SourceLookup, knowledge_drafts
from .facts.reconcile import ContradictionPolicy, reconcile_facts
from .facts.scope_facts import ScopeFacts
from .names.entities import add_name_sources, entity_drafts
from .names.name_directory import NameDirectory
from .names.resolve import ResolvedExtraction, SimilarityFunction, resolve_names
from .rules.lexicon import KIN
from .rules.results import ExtractionResult, FollowUp
from .settings import LearnSettings

MAX_NAME_WORDS = 3
MAX_SEARCHED_CHARS = 10_000  # of a message's text
PHONE = r"\+?\d[\d ().-]{5,}\d"
PHONE_NUMBER = re.compile(PHONE)
ADDRESS = re.compile(rf"[\w.+-]*@[\w.-]*\w|{PHONE}")


def candidate_names(event: Event) -> set[str]:
    """Return the case-folded spellings under which the event may mention a known entity."""
    text, speaker = event.text[:MAX_SEARCHED_CHARS], normalize_name(event.speaker)
    words = [word.casefold() for word in WORD.findall(text)]
    names = {" ".join(run) for run in _word_runs(words, 2)}
    addresses = ADDRESS if "@" in text else PHONE_NUMBER  # the e-mail pattern is slower
    single = event_words(event) - IGNORED_WORDS
    single.add(speaker)
    single.update(map(normalize_name, addresses.findall(text)))
    single |= {variant for word in single for variant in first_name_variants(word)}
    names.update(single, map(name_part_key, single))
    names.update(f"{speaker}'s {word}" for word in KIN.keys() & words)
    if event.kind is EventKind.ENTITY:
        names.update(_stated_names(event))
    return names


def _stated_names(event: Event) -> Iterator[str]:
    """Yield the name and the aliases of a stated entity, of any length."""
    entity = check_entity(event.metadata[ENTITY])
    for name in (entity.name, *entity.aliases):
        yield normalize_name(name)
        yield from (format_identifier(*each) for each in possible_identifiers(name))


def capitalized_names(event: Event) -> set[str]:
    """Return the speaker and the runs of capitalized words, case-folded."""
    words = WORD.findall(event.text[:MAX_SEARCHED_CHARS])
    runs = (run for run in _word_runs(words, 1) if all(word[0].isupper() for word in run))
    return {" ".join(run).casefold() for run in runs} | {normalize_name(event.speaker)}


def _word_runs(words: Sequence[str], min_words: int) -> Iterator[Sequence[str]]:
    """Yield runs of up to MAX_NAME_WORDS words that neither begin nor end with a stop word."""
    content = [index for index, word in enumerate(words) if word not in IGNORED_WORDS]
    ends = set(content)
    for start in content:
        for last in range(start + min_words - 1, start + MAX_NAME_WORDS):
            if last in ends:
                yield words[start : last + 1]


ENTITY_KINDS = (MemoryKind.ENTITY, MemoryKind.REVIEW)
MAX_RECORDS = 5_000  # entity and review memories that are loaded for one batch


@dataclass(frozen=True, slots=True)
class ScopeKnowledge:
    """Names, facts and landmarks of one scope; they grow with every event of the batch."""

    directory: NameDirectory
    known_facts: ScopeFacts
    landmarks: ScopeLandmarks
    injected: InjectedContexts
    candidates: Mapping[str, set[str]]  # event id → spellings that may name a known entity
    similarity: SimilarityFunction | None
    settings: LearnSettings

    @classmethod
    def load(
        cls, store: Store, embedder: Embedder, settings: LearnSettings, batch: EventBatch
    ) -> ScopeKnowledge:
        """Load the entities, facts and injected contexts that concern a batch of events."""
        candidates = {each.event.id: candidate_names(each.event) for each in batch.events}
        names = set[str]().union(*candidates.values())
        names |= {name for each in _earlier_events(batch) for name in capitalized_names(each)}
        entities = store.memories.find_by_name(
            batch.grant, sorted(names), kinds=ENTITY_KINDS, limit=MAX_RECORDS
        )
        facts = ScopeFacts.from_store(store, batch.workspace, batch.scope, batch.sharing)
        return cls(
            directory=NameDirectory.from_memories(
                entities, lambda name: [(each.at, each.text) for each in facts.find_by_name(name)]
            ),
            known_facts=facts,
            landmarks=ScopeLandmarks(store, batch.grant, RULES),
            injected=_load_injected(store, batch),
            candidates=candidates,
            similarity=_make_similarity(embedder) if embedder.is_local else None,
            settings=settings,
        )

    def find_known_names(
        self, event: Event, candidates: Iterable[str] | None = None
    ) -> Iterator[str]:
        """Yield the known names that the event may mention.

        A name in small letters counts only if its entry allows that.
        """
        entries = self.directory.advance_to(event).entries
        for name in candidate_names(event) if candidates is None else candidates:
            entry = entries.get(name)
            if entry and (entry.can_be_lowercase or entry.name in event.text):
                yield entry.name

    def resolve(self, context: EventContext, extracted: ExtractionResult) -> ResolvedExtraction:
        """Replace names in the extraction by the entities they mean."""
        return resolve_names(extracted, self.directory, context, self.similarity)

    def make_drafts(self, context: EventContext, resolved: ResolvedExtraction) -> list[Draft]:
        """Return drafts of facts and landmarks, then of entities, then of name reviews."""
        find_sources = make_source_lookup(context, resolved)
        knowledge = list(knowledge_drafts(context.event, resolved.extracted, find_sources))
        self.directory.add_records(knowledge)
        entities = entity_drafts(context.event, resolved.extracted, self.directory, find_sources)
        reviews = (add_name_sources(review, find_sources) for review in resolved.reviews)
        return [*knowledge, *entities, *reviews]

    def reconcile(
        self,
        context: EventContext,
        drafts: Sequence[Draft],
        follow_ups: Sequence[FollowUp] = (),
    ) -> list[Draft]:
        """Compare fact drafts with known facts: mark corrections and contradictions."""
        recent = [each.id for each in context.recent]
        policy = ContradictionPolicy(self.settings.on_contradiction)
        return reconcile_facts(
            context.event, drafts, self.known_facts, policy, recent, follow_ups=follow_ups
        )


def make_source_lookup(context: EventContext, resolved: ResolvedExtraction) -> SourceLookup:
    """Return a function that finds the earlier events from which names were taken."""

    def find_sources(names: Iterable[str | None], sentence: str) -> tuple[str, ...]:
        named = list(names)
        earlier = (
            *context.find_name_sources(named, sentence),
            *resolved.find_name_sources(*named),
        )
        return tuple(id for id in dict.fromkeys(earlier) if id != context.event.id)

    return find_sources


def _make_similarity(embedder: Embedder) -> SimilarityFunction:
    def similarities(text: str, others: Sequence[str]) -> list[float]:
        query, *rows = embedder.embed([text, *others])
        return [embedder.profile.calibrate(float(row @ query)) for row in rows]

    return similarities


def _load_injected(store: Store, batch: EventBatch) -> InjectedContexts:
    """Load contexts recently given to models; skipped if only people speak, who may repeat them."""
    others = [each.event for each in batch.events if not is_from_person(each.event)]
    if not others:
        return NOTHING_INJECTED
    now = max(event.recorded_at for event in others)
    return load_injected(store, batch.workspace, batch.scope, now=now)


def _earlier_events(batch: EventBatch) -> list[Event]:
    """Return events before the batch: "she" may mean a person named in one of them."""
    recent = {each.id: each for around in batch.events for each in around.recent}
    new = {around.event.id for around in batch.events}
    return [event for id, event in recent.items() if id not in new]
