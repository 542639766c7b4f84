"""Learning pipeline: the steps between an event in the ledger and the memories derived from it.

`Learner` claims tasks from the queue and runs BATCH_STEPS on each batch. Its `derive_drafts` runs
EVENT_STEPS on every event, in the order in which the events happened: names and facts of one event
are known to the next. With a language model, each event has a second task; the learner reads it
with `model_pass` and runs MODEL_STEPS on the result. The lists are at the end of this module.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from ..core.derive import text_to_embed
from ..core.errors import ConfigError, Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Embedder, Floats
from ..core.protocols.queue import BatchWait
from ..core.protocols.store import Store
from ..core.records import Draft, Event, EventKind, Fact, Memory, Stage, Task
from ..core.records.links import is_shared_copy
from ..runtime.backoff import Backoff, redact_error
from ..runtime.leases import LEASE_LOST_ERROR, MAX_LOST_LEASES
from ..text.secrets import find_password_answer, mask_secrets, redact_secrets
from .closings.scope_landmarks import put_with_closings
from .extract.echo_filter import new_text, own_text
from .extract.event_context import EventBatch, EventContext, batch_by_scope
from .extract.explicit_events import explicit_drafts, procedure_drafts, share_link_drafts
from .extract.passages import IndexingSettings, keep_newest_version, passage_drafts
from .extract.tool_sequences import sequence_drafts
from .extract.turn_labels import label_draft
from .facts.reconcile import apply_review_decision
from .flows import FlowStep, flow_audit_entry, withdraw_marked
from .importance import set_salience
from .names.entities import entity_drafts, fact_name_drafts, stated_entity_drafts
from .names.resolve import ResolvedExtraction
from .rules import ExtractionResult, ParsedTexts, SourceMessage, extract
from .rules.instructions import SpeakerPolicy
from .rules.noise import mask_spans, secret_spans
from .rules.relations import identity_from_fact
from .rules.results import Entity, Identity, Landmark, MessageContext, Statement, TextSpan
from .scope_knowledge import ScopeKnowledge, make_source_lookup
from .settings import LearnSettings

RETRY_BACKOFF = Backoff(timedelta(seconds=1), timedelta(minutes=5))
MAX_ATTEMPTS = 8  # for events that cannot be read; then `nexus jobs retry` has to release them
READABLE_KINDS = (EventKind.MESSAGE, EventKind.NOTE, EventKind.DOCUMENT)  # not tool output
CONTROL_DRAFTS: dict[EventKind, Callable[[Store, Event], Sequence[Draft]]] = {
    EventKind.REVIEW: apply_review_decision,
    EventKind.OUTCOME: procedure_drafts,
    EventKind.SHARE: share_link_drafts,
    EventKind.CONFIDENTIAL: withdraw_marked,
}
# Errors of one event: its task is retried alone, and the other events of the batch continue.
UNREADABLE_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)

DraftsOrError = list[Draft] | Exception
Located = TypeVar("Located", Statement, Landmark, Identity)

log = logging.getLogger(__name__)


# -- one event


@dataclass(frozen=True, slots=True)
class EventPipeline:
    """Runs EVENT_STEPS: turns events of one store into drafts of memories."""

    store: Store
    embedder: Embedder
    indexing: IndexingSettings
    settings: LearnSettings
    extractors: Sequence[Extractor] = ()
    flows: FlowStep | None = None  # None: memories stay where they were said

    def derive_drafts(self, events: Sequence[Event]) -> Iterator[tuple[Event, DraftsOrError]]:
        """Yield each event with its drafts, or with the error that its text caused."""
        for batch in self.batch_by_scope(events):
            knowledge = self.load_knowledge(batch)
            readable = [each.event for each in batch.events if _is_readable(each.event)]
            parsed = ParsedTexts(map(SourceMessage.from_event, readable))
            for context in batch.events:
                work = EventWork(self, context, knowledge, context.event, parsed)
                try:
                    work.run()
                except UNREADABLE_ERRORS as error:
                    yield context.event, error
                else:
                    yield context.event, work.drafts

    def batch_by_scope(self, events: Iterable[Event]) -> Iterator[EventBatch]:
        """Group events by scope; separate sessions know nothing of each other."""
        if self.flows is None:
            return batch_by_scope(self.store, events)
        return batch_by_scope(self.store, events, self.flows.sharing)

    def add_flows(
        self, context: EventContext, drafts: Sequence[Draft], text: str, people: Iterable[str] = ()
    ) -> list[Draft]:
        """Return the drafts with the copies that the flows of the workspace allow."""
        return self.flows.apply(context, drafts, text, people) if self.flows else list(drafts)

    def mark_session(self, event: Event, drafts: Sequence[Draft]) -> list[Draft]:
        """Return the drafts, marked as shared if the event belongs to a shared session."""
        return self.flows.mark_session(event, drafts) if self.flows else list(drafts)

    def load_knowledge(self, batch: EventBatch) -> ScopeKnowledge:
        """Load the names and facts that the batch's scope has for its events."""
        return ScopeKnowledge.load(self.store, self.embedder, self.settings, batch)


@dataclass(slots=True)
class EventWork:
    """One event on its way through EVENT_STEPS."""

    pipeline: EventPipeline
    context: EventContext
    knowledge: ScopeKnowledge
    event: Event  # after `redact_text`: with only the text that may be read
    parsed: ParsedTexts  # of the batch
    drafts: list[Draft] = field(default_factory=list)
    extracted: ExtractionResult = field(default_factory=ExtractionResult)
    plugin_results: list[tuple[str, ExtractionResult]] = field(default_factory=list)
    resolved: ResolvedExtraction | None = None

    def run(self) -> None:
        """Run the steps until one of them returns False; then apply the flows, then rate all."""
        for step in EVENT_STEPS:
            if not step(self):
                break
        people = [each.name for each in self.extracted.entities if each.type == "person"]
        text = redact_secrets(self.event.text, previous=self.previous_text)
        drafts = self.pipeline.add_flows(self.context, self.drafts, text, people)
        drafts += self.knowledge.landmarks.copy_closings(self.event, drafts)
        self.drafts = set_salience(drafts)

    @property
    def previous_text(self) -> str:
        """The text of the message before: a password may be the answer to it."""
        return self.context.recent[-1].text if self.context.recent else ""


def select_event(work: EventWork) -> bool:
    """End the work for reviews, outcomes, shares and superseded document versions."""
    store, event = work.pipeline.store, work.event
    if control := CONTROL_DRAFTS.get(event.kind):
        work.drafts += control(store, event)
        return False
    return keep_newest_version(store, event)


def add_tool_sequence(work: EventWork) -> bool:
    """Add the procedure of a request whose tools were used, when a message closes it."""
    if work.context.closes_tools:
        work.drafts += sequence_drafts(work.pipeline.store, work.context)
    return True


def add_explicit(work: EventWork) -> bool:
    """Add notes, facts, entities, goals and questions exactly as the caller wrote them."""
    event, knowledge = work.event, work.knowledge
    explicit = list(explicit_drafts(event))
    knowledge.known_facts.add(event, explicit)
    work.drafts += explicit
    if event.kind is EventKind.ENTITY:
        work.drafts += stated_entity_drafts(event, knowledge.directory.advance_to(event))
    if event.kind is EventKind.FACT:
        fact, directory = Fact(**event.metadata["fact"]), knowledge.directory.advance_to(event)
        if identity := identity_from_fact(fact):
            aliases = ExtractionResult(identities=(identity,))
            work.drafts += entity_drafts(event, aliases, directory)
        else:
            work.drafts += fact_name_drafts(event, fact, directory)
    return True


def add_passages(work: EventWork) -> bool:
    """Add the text in passages for search, without secrets and injected context."""
    event = work.event
    text = redact_secrets(own_text(event, work.knowledge.injected), previous=work.previous_text)
    work.drafts += passage_drafts(_with_text(event, text), work.pipeline.indexing)
    return _is_readable(event)


def _is_readable(event: Event) -> bool:
    """Return whether the rules read the event: not tool output and not a shared copy."""
    return event.kind in READABLE_KINDS and event.role != "tool" and not is_shared_copy(event)


def redact_text(work: EventWork) -> bool:
    """Reduce the text to new words of its author, without secrets; end if none are left."""
    text = new_text(work.event, work.context.recent, work.knowledge.injected)
    text = mask_secrets(text, find_password_answer(text, work.previous_text))
    work.event = _with_text(work.event, text)
    return bool(work.event.text)


def extract_statements(work: EventWork) -> bool:
    """Read facts, landmarks, identities and entities by the rules and by plug-in extractors."""
    event, knowledge = work.event, work.knowledge
    unchanged = event is work.context.event
    candidates = knowledge.candidates.get(event.id) if unchanged else None
    names = knowledge.find_known_names(event, candidates)
    message = SourceMessage.from_event(event)
    context = work.context.extraction_context(names, knowledge.settings.types_by_word)
    work.extracted = extract(message, context, work.parsed)
    if work.pipeline.extractors:
        work.plugin_results = list(run_extractors(work.pipeline.extractors, message, context))
    return True


def resolve_entities(work: EventWork) -> bool:
    """Replace names by the entities of the scope that they mean."""
    work.resolved = work.knowledge.resolve(work.context, work.extracted)
    return True


def reconcile_drafts(work: EventWork) -> bool:
    """Add drafts of facts, landmarks, entities and reviews, reconciled with known facts."""
    knowledge = work.knowledge
    if knowledge.settings.extract_facts and work.resolved:
        drafts = knowledge.make_drafts(work.context, work.resolved)
        for name, result in work.plugin_results:
            drafts = _add_plugin_drafts(work, drafts, name, result)
        follow_ups = work.extracted.follow_ups
        work.drafts += knowledge.reconcile(work.context, drafts, follow_ups)
    return True


def _add_plugin_drafts(
    work: EventWork, drafts: list[Draft], maker: str, result: ExtractionResult
) -> list[Draft]:
    """Merge the drafts of a plug-in extractor into those of the rules, which win."""
    from .model_pass.merge import mark_maker, merge_drafts  # without plug-ins unused

    knowledge = work.knowledge
    plugin = knowledge.make_drafts(work.context, knowledge.resolve(work.context, result))
    merged = merge_drafts(drafts, mark_maker(plugin, maker))
    return list({draft.id: draft for draft in reversed(merged)}.values())[::-1]


def close_landmarks(work: EventWork) -> bool:
    """Add links to the open landmarks that the message says are done or cancelled."""
    if work.knowledge.settings.extract_facts:
        work.drafts += work.knowledge.landmarks.close(work.context, work.event, work.drafts)
    return True


def add_label(work: EventWork) -> bool:
    """Add the message's label: headline, topics and names."""
    if not (work.knowledge.settings.label_messages and work.resolved):
        return True
    if label := label_draft(work.event, work.resolved.extracted):
        find_sources = make_source_lookup(work.context, work.resolved)
        earlier = find_sources(label.body["entities"], label.text)
        work.drafts.append(replace(label, sources=(work.event.id, *earlier)) if earlier else label)
    return True


def _with_text(event: Event, text: str) -> Event:
    return event if text == event.text else replace(event, text=text)


# -- plug-in extractors


class Extractor(Protocol):
    """Reads one message and returns entities, facts, identities and landmarks.

    `name` marks the memories (`made_by`). `extract` runs in the worker's thread for every message;
    secrets in its text and in the context are masked. The same message must give the same result:
    events are read again after a crash and by `nexus rebuild`.
    """

    @property
    def name(self) -> str: ...

    def extract(self, message: SourceMessage, context: MessageContext) -> ExtractionResult: ...


def run_extractors(
    extractors: Sequence[Extractor], message: SourceMessage, context: MessageContext
) -> Iterator[tuple[str, ExtractionResult]]:
    """Yield the name and the permitted results of each extractor.

    An extractor that raises is logged and skipped: the rules have read the message already.
    """
    if not extractors:
        return
    policy = SpeakerPolicy.for_message(message, context)
    if policy.is_hostile(message.text):
        return
    message = _mask_message(message)
    context = replace(context, recent=tuple(map(_mask_message, context.recent)))
    for extractor in extractors:
        try:
            result = extractor.extract(message, policy.restrict_context(context))
            permitted = _filter_result(policy, message, result)
        except Exception:  # third-party code
            log.exception(
                "extractor %s failed on a message; its results are skipped", extractor.name
            )
        else:
            yield extractor.name, permitted


def _mask_message(message: SourceMessage) -> SourceMessage:
    """Replace secrets by spaces, so that spans stay valid."""
    return replace(message, text=mask_spans(message.text, tuple(secret_spans(message.text))))


def _filter_result(
    policy: SpeakerPolicy, message: SourceMessage, result: ExtractionResult
) -> ExtractionResult:
    """Drop instructions and what this speaker may not state, as the rules do."""
    orders = policy.instruction_spans(message.text)
    facts = policy.filter_facts(_outside(result.facts, orders))
    landmarks = policy.filter_landmarks(_outside(result.landmarks, orders))
    return replace(
        result,
        entities=_named_in(result.entities, message.text),
        facts=tuple(facts),
        landmarks=() if policy.is_external else tuple(landmarks),
        identities=tuple(_outside(result.identities, orders)) if policy.is_person else (),
    )


def _outside(items: Iterable[Located], spans: Sequence[TextSpan]) -> list[Located]:
    return [
        item
        for item in items
        if not any(span.start < item.source.end and item.source.start < span.end for span in spans)
    ]


def _named_in(entities: Iterable[Entity], text: str) -> tuple[Entity, ...]:
    """Keep entities with a name in the text: other names would have no source."""
    lower = text.casefold()
    return tuple(entity for entity in entities if entity.name.casefold() in lower)


# -- a batch of tasks


@dataclass(frozen=True, slots=True)
class TaskRetries:
    """Reports failed tasks of one store."""

    store: Store
    clock: Callable[[], datetime]

    def retry_later(
        self, tasks: Sequence[Task], error: str, *, max_attempts: int | None = None
    ) -> None:
        """Schedule the next attempt with backoff; after `max_attempts` the tasks are dead."""
        if not tasks:
            return
        attempts = max(task.attempts for task in tasks)
        dead = max_attempts is not None and attempts + 1 >= max_attempts
        self.fail(
            tasks, error, None if dead else self.clock() + RETRY_BACKOFF.delay_after(attempts)
        )

    def fail(self, tasks: Sequence[Task], error: str, retry_at: datetime | None) -> None:
        """Store the redacted error; `retry_at=None` makes the tasks dead."""
        self.store.queue.fail(tasks, error=redact_error(error), retry_at=retry_at)


@dataclass(slots=True)
class BatchWork:
    """Tasks on their way through BATCH_STEPS or MODEL_STEPS; failed tasks leave `tasks`."""

    pipeline: EventPipeline
    clock: Callable[[], datetime]
    tasks: Sequence[Task]
    reached: Stage  # what `finish_tasks` reports
    wait: BatchWait | None = None  # of the next stage, for further tasks
    drafts: dict[WorkspaceId, list[Draft]] = field(default_factory=lambda: defaultdict(list))
    replaced_ids: dict[WorkspaceId, Sequence[str]] = field(default_factory=dict)
    memories: list[Memory] = field(default_factory=list)

    @property
    def retries(self) -> TaskRetries:
        return TaskRetries(self.pipeline.store, self.clock)

    def run(self, steps: Sequence[BatchStep]) -> None:
        """Run the steps while tasks are left."""
        for step in steps:
            if self.tasks:
                step(self)


def drop_dead_tasks(work: BatchWork) -> None:
    """Give up tasks whose workers died too often: the event itself may kill them."""
    dead = [
        task
        for task in work.tasks
        if task.error == LEASE_LOST_ERROR and task.attempts >= MAX_LOST_LEASES
    ]
    if dead:
        work.retries.fail(dead, LEASE_LOST_ERROR, None)
        work.tasks = [task for task in work.tasks if task not in dead]


def derive_drafts(work: BatchWork) -> None:
    """Run EVENT_STEPS on each event; events that cannot be read are retried alone."""
    by_event = {(task.event.workspace, task.event.id): task for task in work.tasks}
    derived: list[Task] = []
    for event, drafts in work.pipeline.derive_drafts([task.event for task in work.tasks]):
        task = by_event[event.workspace, event.id]
        if isinstance(drafts, Exception):
            error = f"cannot be read: {drafts!r}"
            work.retries.retry_later([task], error, max_attempts=MAX_ATTEMPTS)
        else:
            work.drafts[event.workspace] += drafts
            derived.append(task)
    work.tasks = derived


def store_drafts(work: BatchWork) -> None:
    """Write the memories; keyword search finds them even if no embedder answers."""
    store = work.pipeline.store
    memories = store.memories
    for workspace, drafts in work.drafts.items():
        entry = flow_audit_entry(store, workspace, drafts, work.clock())
        with store.with_audit_entry(workspace, entry) if entry else nullcontext():
            work.memories += put_with_closings(memories, workspace, drafts) if drafts else []
    for workspace, ids in work.replaced_ids.items():
        memories.delete(workspace, ids)


def embed_memories(work: BatchWork) -> None:
    """Write the vectors; if the embedder does not answer, all tasks are retried later."""
    try:
        write_vectors(work.pipeline.store, work.pipeline.embedder, work.memories)
    except (Unavailable, ConfigError) as error:
        if isinstance(error, ConfigError):
            log.warning("events wait for a working embedder: %s", error)
        work.retries.retry_later(work.tasks, str(error))
        work.tasks = ()


def write_vectors(store: Store, embedder: Embedder, memories: Sequence[Memory]) -> None:
    """Embed the memories that have searchable text and write their vectors."""
    memories = [memory for memory in memories if memory.indexed_text != ""]
    if not memories:
        return
    rows = embedder.embed([text_to_embed(memory) for memory in memories])
    by_workspace: dict[WorkspaceId, dict[str, Floats]] = defaultdict(dict)
    for memory, row in zip(memories, rows, strict=True):
        if row.any():  # zeros: the embedder knows no word of the text
            by_workspace[memory.workspace][memory.id] = row
    for workspace, vectors in by_workspace.items():
        store.vectors.put(workspace, embedder.profile, vectors)


def finish_tasks(work: BatchWork) -> None:
    """Mark the tasks as done in the queue."""
    queue = work.pipeline.store.queue
    queue.finish(work.tasks, reached=work.reached, now=work.clock(), wait=work.wait)


# -- the steps, in order

EventStep = Callable[[EventWork], bool]
BatchStep = Callable[[BatchWork], None]

EVENT_STEPS: tuple[EventStep, ...] = (
    select_event,  # reviews, outcomes, shares and old document versions end here
    add_explicit,  # what the caller stated exactly: notes, facts, goals, questions
    add_tool_sequence,  # the tools that solved a request, when it is closed
    add_passages,  # searchable text; tool output and shared copies end here
    redact_text,  # without secrets, injected context and repeated text
    extract_statements,  # text → facts, landmarks, identities, entities
    resolve_entities,  # names → entities of the scope
    reconcile_drafts,  # facts ↔ known facts: corrections, contradictions, reviews
    close_landmarks,  # "done", "never mind": links to what they answer
    add_label,  # headline, topics and names of the message
)
BATCH_STEPS: tuple[BatchStep, ...] = (
    drop_dead_tasks,
    derive_drafts,  # runs EVENT_STEPS
    store_drafts,
    embed_memories,
    finish_tasks,
)
KEYWORD_STEPS: tuple[BatchStep, ...] = (derive_drafts, store_drafts)  # vectors follow later
MODEL_STEPS: tuple[BatchStep, ...] = (store_drafts, embed_memories, finish_tasks)
