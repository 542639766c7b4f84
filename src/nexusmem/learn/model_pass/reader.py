"""Model pass: extract entities, facts, landmarks and labels with a language model.

It runs after the rules, in batches of several messages per call. Events are indexed and learned
by the rules first, so a model that fails or is too expensive loses nothing. The model also checks
the facts of the rules: what it rejects becomes a review.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ...core.errors import BadOutput, BudgetSpent, NexusError
from ...core.protocols.models import Completion, LanguageModel, Prompt
from ...core.protocols.store import Store
from ...core.records import Draft, Event, Memory, MemoryKind
from ...core.records.memory import is_copy
from ...prompts import PromptTemplate
from ...text.secrets import redact_secrets
from ..extract.event_context import EventBatch, EventContext
from ..extract.fact_drafts import RULES
from ..importance import set_salience
from ..model_budget import LEARN_PURPOSE, ModelBudget
from ..pipeline import EventPipeline
from ..rules.results import ExtractionResult
from ..scope_knowledge import ScopeKnowledge
from ..settings import ModelReadLimits
from .answer_cache import AnswerCache
from .answer_schema import answer_schema
from .items import REFUSAL_REASONS, AnswerParser
from .merge import draft_from_memory, draft_makers, mark_maker, merge_drafts
from .turns import Claim, Excerpt, content_terms, split_batches
from .verdicts import Verdicts, make_claim

CORRECTION_PROMPT = (
    "Your last answer could not be used: {why}. Answer again with the JSON object only; write less"
    " if it was too long."
)
MAX_NAMED_FAULTS = 3  # in a correction
UNAVAILABLE_DELAYS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
# Longer, because each attempt costs two calls
BAD_OUTPUT_DELAYS = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1))


@dataclass(frozen=True, slots=True)
class ModelExtraction:
    """Results of a model for some messages, in two forms.

    `extracted` has the form of the rules' results by event id; its names are not resolved yet.
    `drafts` are the same facts and landmarks, and the labels, as drafts. The first source of a
    draft is its newest event. Both forms have the same order for each event and kind.
    """

    drafts: tuple[Draft, ...]
    extracted: Mapping[str, ExtractionResult] = field(default_factory=dict)  # by event id
    dropped: Mapping[str, int] = field(default_factory=dict)  # reason → number of items
    model: str = ""  # the provider's name of the model
    confirmed: frozenset[str] = frozenset()  # ids of claims
    rejected: frozenset[str] = frozenset()

    def join(self, other: ModelExtraction) -> ModelExtraction:
        """Return the results of both; the messages differ."""
        return ModelExtraction(
            (*self.drafts, *other.drafts),
            {**self.extracted, **other.extracted},
            Counter(self.dropped) + Counter(other.dropped),
            other.model or self.model,
            self.confirmed | other.confirmed,
            self.rejected | other.rejected,
        )


@dataclass(frozen=True, slots=True)
class ModelReader:
    """Reads batches of messages with one model and one prompt."""

    model: LanguageModel
    name: str  # configured name of the model
    prompt: PromptTemplate
    limits: ModelReadLimits
    model_budget: ModelBudget
    label_prompt: PromptTemplate | None = None  # None: the rules alone label messages
    answers: AnswerCache = field(default_factory=AnswerCache, compare=False)

    @property
    def maker(self) -> str:
        """The `made_by` mark of its memories."""
        return f"{self.prompt.name}@{self.prompt.version}:{self.prompt.hash}"

    def split_batches(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """Yield batches for `read_turns`; events without readable text are in none."""
        return split_batches(events, self.limits)

    def read_turns(
        self,
        turns: Sequence[Event],
        before: Sequence[Event] = (),
        known_names: Iterable[str] = (),
        claims: Sequence[Claim] = (),
    ) -> ModelExtraction:
        """Return the model's results for one batch. Call it outside of any transaction.

        `before` are the preceding events, oldest first. `known_names` may appear in the answer
        although no message has them. `claims` are facts of the rules, which the model checks.
        After bad output the model is called once more with the fault; after an answer that was cut
        off, once for each half of the batch. Raise BadOutput if that fails, ModelUnavailable if
        the model does not answer, and BudgetSpent if the budget is exhausted. Nothing is written
        in these cases.
        """
        names = tuple(known_names)
        excerpt = Excerpt.from_events(turns, before, self.limits, claims)
        try:
            return self._read_excerpt(excerpt, names)
        except BadOutput as error:
            if error.problem != "cut off":
                correction = CORRECTION_PROMPT.format(why=error)
                return self._read_excerpt(excerpt, names, correction)
            self.answers.needs_full_limit = True
        if len(turns) == 1:
            return self._read_excerpt(excerpt, names)
        middle = len(turns) // 2
        first = Excerpt.from_events(turns[:middle], before, self.limits, claims)
        rest = Excerpt.from_events(turns[middle:], [*before, *turns[:middle]], self.limits, claims)
        return self._read_excerpt(first, names).join(self._read_excerpt(rest, names))

    def _read_excerpt(
        self, excerpt: Excerpt, known_names: Sequence[str], correction: str = ""
    ) -> ModelExtraction:
        if not excerpt.turns:
            return ModelExtraction(())
        prompt = self._make_prompt(excerpt, correction)
        completion = self._ask_model(excerpt, prompt)
        names = content_terms(
            " ".join([*known_names, *(turn.event.speaker for turn in excerpt.all_turns)])
        )
        max_items = self.limits.items_per_turn * len(excerpt.turns)
        parser = AnswerParser(
            excerpt, self.maker, self.prompt.name, completion.model, names, max_items
        )
        drafts = parser.parse_drafts(completion.data)
        right, wrong = parser.parse_verdicts(completion.data)
        faults = [*completion.dropped, *sorted(parser.dropped.keys() - REFUSAL_REASONS)]
        if faults and not (drafts or parser.extracted or right or wrong):
            reasons = "; ".join(faults[:MAX_NAMED_FAULTS])
            self.answers.remove(prompt)  # a later attempt asks again
            raise BadOutput(f"no item of the answer is usable: {reasons}", problem="nothing usable")
        if completion.dropped:
            parser.dropped["another form than asked for"] += len(completion.dropped)
        return ModelExtraction(
            tuple(drafts),
            parser.extracted,
            dict(parser.dropped),
            completion.model,
            frozenset(excerpt.claims[number - 1].memory_id for number in right),
            frozenset(excerpt.claims[number - 1].memory_id for number in wrong),
        )

    def _make_prompt(self, excerpt: Excerpt, correction: str) -> Prompt:
        prompt = self.prompt.render(asked=excerpt.to_prompt_text(), correction=correction)
        if self.label_prompt:
            labels = self.label_prompt.system
            prompt = Prompt(system=f"{prompt.system}\n\n{labels}", user=prompt.user)
        return prompt

    def _ask_model(self, excerpt: Excerpt, prompt: Prompt) -> Completion:
        """Return the answer to a prompt, without a call if it was answered before."""
        if answer := self.answers.get(prompt):
            return answer
        count = len(excerpt.turns)
        limits, full = self.limits, self.answers.needs_full_limit
        workspace = excerpt.turns[0].event.workspace
        model = self.model_budget.make_model_factory(self.model, self.name, LEARN_PURPOSE)(
            workspace
        )
        completion = model.complete(
            prompt,
            schema=answer_schema(
                count, limits.items_per_turn, labels=self.label_prompt is not None
            ),
            max_tokens=None if full else limits.count_answer_tokens(count),
        )
        self.answers.put(prompt, completion)
        return completion


def next_retry_time(error: NexusError, attempts: int, now: datetime) -> datetime | None:
    """Return the time of the next model call after a failure; None: only `nexus jobs retry`.

    Bad output is retried three times, because each call costs money. `flush` does not call the
    model earlier.
    """
    if isinstance(error, BudgetSpent) and error.until:
        return error.until
    delays = BAD_OUTPUT_DELAYS if isinstance(error, BadOutput) else UNAVAILABLE_DELAYS
    if attempts < len(delays):
        return now + delays[attempts]
    return None if isinstance(error, BadOutput) else now + delays[-1]


MERGED_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.EPISODE)


@dataclass(frozen=True, slots=True)
class ModelPassResult:
    """Events of one model call with drafts to store and ids to delete, or with an error."""

    events: Sequence[Event]
    drafts: Sequence[Draft] = ()
    replaced_ids: Sequence[str] = ()
    error: NexusError | None = None


@dataclass(frozen=True, slots=True)
class ModelPass:
    """Reads events with a model and merges the results with those of the rules."""

    store: Store
    pipeline: EventPipeline
    model_reader: ModelReader

    def process_events(self, events: Sequence[Event]) -> Iterator[ModelPassResult]:
        """Yield a result for each batch; the error of one batch does not stop the others."""
        for scope_batch in self.pipeline.batch_by_scope(events):
            knowledge = self.pipeline.load_knowledge(scope_batch)
            left = {context.event.id: context for context in scope_batch.events}
            for batch in self.model_reader.split_batches(each.event for each in scope_batch.events):
                yield self._process_batch(
                    scope_batch, knowledge, [left.pop(event.id) for event in batch]
                )
            if left:  # events without readable text
                yield ModelPassResult([context.event for context in left.values()])

    def _process_batch(
        self, scope_batch: EventBatch, knowledge: ScopeKnowledge, batch: Sequence[EventContext]
    ) -> ModelPassResult:
        events = [context.event for context in batch]
        names = {name for event in events for name in knowledge.find_known_names(event)}
        derived = self._list_derived(scope_batch, events)
        here = [each for each in derived if each.scope == scope_batch.scope and not is_copy(each)]
        claims = [claim for each in here if (claim := make_claim(each))]
        try:
            extraction = self.model_reader.read_turns(
                events, batch[0].recent, sorted(names), claims
            )
        except NexusError as error:
            return ModelPassResult(events, error=error)
        drafts = [
            draft
            for context in batch
            for draft in self._event_drafts(knowledge, context, extraction)
        ]
        verdicts = Verdicts(
            self.model_reader.maker, extraction.model, extraction.confirmed, extraction.rejected
        )
        merged = self._merge_with_rules(events, verdicts.apply(here), drafts)
        retracted = verdicts.find_retracted(derived)
        reviews = verdicts.make_reviews(derived)
        return replace(
            merged,
            drafts=[*self._with_flows(knowledge, batch, merged.drafts), *reviews],
            replaced_ids=[*merged.replaced_ids, *retracted],
        )

    def _list_derived(self, scope_batch: EventBatch, events: Sequence[Event]) -> list[Memory]:
        """Return the facts, landmarks and labels of these events, and copies of them."""
        ids = [event.id for event in events]
        return [
            memory
            for memory in self.store.eraser.list_derived(scope_batch.workspace, ids)
            if memory.learned and memory.kind in MERGED_KINDS
        ]

    def _with_flows(
        self, knowledge: ScopeKnowledge, batch: Sequence[EventContext], drafts: Sequence[Draft]
    ) -> list[Draft]:
        """Return the drafts with the copies that the flows allow, as for drafts of the rules."""
        by_event: defaultdict[str, list[Draft]] = defaultdict(list)
        for draft in drafts:
            by_event[draft.sources[0]].append(draft)
        contexts = {context.event.id: context for context in batch}
        added: list[Draft] = []
        for id, own in by_event.items():
            if context := contexts.get(id):
                previous = context.recent[-1].text if context.recent else ""
                text = redact_secrets(context.event.text, previous=previous)
                with_copies = self.pipeline.add_flows(context, own, text)
                closings = knowledge.landmarks.copy_closings(context.event, with_copies)
                added += [*with_copies, *closings]
            else:
                added += own
        return list({draft.id: draft for draft in added}.values())

    def _event_drafts(
        self, knowledge: ScopeKnowledge, context: EventContext, extraction: ModelExtraction
    ) -> list[Draft]:
        extracted = extraction.extracted.get(context.event.id)
        own = [draft for draft in extraction.drafts if draft.sources[0] == context.event.id]
        labels = [draft for draft in own if draft.kind is MemoryKind.EPISODE]
        model_drafts = [draft for draft in own if draft.kind is not MemoryKind.EPISODE]
        drafts = (
            knowledge.make_drafts(context, knowledge.resolve(context, extracted))
            if extracted
            else []
        )
        # `make_drafts` returns facts and landmarks first, in the order of `model_drafts`.
        drafts[: len(model_drafts)] = map(_add_model_sources, drafts, model_drafts)
        drafts = knowledge.reconcile(context, mark_maker(drafts, self.model_reader.maker))
        drafts += knowledge.landmarks.close(context, context.event, drafts)
        every = [*drafts, *(labels if knowledge.settings.label_messages else ())]
        return set_salience(self.pipeline.mark_session(context.event, every))

    def _merge_with_rules(
        self,
        events: Sequence[Event],
        rules: Sequence[tuple[Memory, Draft]],
        drafts: Sequence[Draft],
    ) -> ModelPassResult:
        """Return the drafts that change a stored memory or are new."""
        stored = [draft_from_memory(memory) for memory, _ in rules]
        merged = merge_drafts([draft for _, draft in rules], drafts)
        changed = [self._cap_confidence(draft) for draft in merged if draft not in stored]
        merged_ids = {draft.id for draft in merged}
        return ModelPassResult(
            events, changed, [draft.id for draft in stored if draft.id not in merged_ids]
        )

    def _cap_confidence(self, draft: Draft) -> Draft:
        """Return the draft with less confidence if only the model read it."""
        if RULES in draft_makers(draft) or draft.kind not in (MemoryKind.FACT, MemoryKind.LANDMARK):
            return draft
        most = self.model_reader.limits.max_confidence
        return replace(draft, confidence=min(draft.confidence, most))


def _add_model_sources(draft: Draft, model_draft: Draft) -> Draft:
    """Return the draft with the sources, the confidence and the words of the model's draft."""
    sources = tuple(dict.fromkeys([*draft.sources, *model_draft.sources]))
    metadata = {**draft.metadata, **model_draft.metadata}
    return replace(draft, sources=sources, confidence=model_draft.confidence, metadata=metadata)
