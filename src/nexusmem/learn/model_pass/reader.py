"""Model pass: extract entities, facts, landmarks and labels with a language model.

It runs after the rules, in batches of several messages per call. Events are indexed and learned
by the rules first, so a model that fails or is too expensive loses nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta

from ...core.canonical import canonical_json
from ...core.derive import normalize_name
from ...core.errors import BadOutput, BudgetSpent, NexusError
from ...core.flows import label_rule
from ...core.protocols.models import LanguageModel
from ...core.protocols.store import Store
from ...core.records import Draft, Event, Memory, MemoryKind
from ...prompts import PromptTemplate
from ...text.secrets import redact_secrets
from ..extract.event_context import EventBatch, EventContext
from ..model_budget import LEARN_PURPOSE, ModelBudget
from ..pipeline import EventPipeline
from ..rules.results import ExtractionResult
from ..scope_knowledge import ScopeKnowledge
from ..settings import ModelReadLimits
from .items import ANSWER_SCHEMA, REFUSAL_REASONS, AnswerParser
from .turns import Excerpt, content_terms, split_batches

MIN_WORD_OVERLAP = 0.6  # shared terms of two landmarks, relative to the shorter one


def merge_drafts(rule_drafts: Sequence[Draft], model_drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each item that both derived from one turn, and all other drafts.

    A joined draft is that of the rules with both makers and the higher confidence, so it replaces
    the stored memory. A joined label has the model's text and sources; if its id changes, the
    caller deletes the old label. After an interrupted deletion two labels of one turn exist; the
    second one is dropped.
    """
    merged: list[Draft] = []
    for draft in rule_drafts:
        if not any(_is_same_item(each, draft, _is_same_label) for each in merged):
            merged.append(draft)
    for draft in model_drafts:
        same = SAME_TESTS.get(draft.kind, _is_never_same)
        index = next((n for n, each in enumerate(merged) if _is_same_item(each, draft, same)), None)
        if index is None:
            merged.append(draft)
        else:
            merged[index] = _join_drafts(merged[index], draft)
    return merged


SameTest = Callable[[Draft, Draft], bool]


def _is_same_item(one: Draft, other: Draft, same_test: SameTest) -> bool:
    return (
        one.kind is other.kind
        and one.scope == other.scope
        and not set(one.sources).isdisjoint(other.sources)
        and same_test(one, other)
    )


def _join_drafts(one: Draft, other: Draft) -> Draft:
    """Return the first draft with confidence, validity and makers of both."""
    makers = list(dict.fromkeys([*draft_makers(one), *draft_makers(other)]))
    timeless = one.valid_from is None and one.valid_to is None
    joined = replace(
        one,
        confidence=max(one.confidence, other.confidence),
        valid_from=other.valid_from if timeless else one.valid_from,
        valid_to=other.valid_to if timeless else one.valid_to,
        metadata={**one.metadata, "made_by": makers},
    )
    if one.kind is MemoryKind.EPISODE:
        sources = tuple(dict.fromkeys([*one.sources, *other.sources]))
        return replace(joined, text=other.text, body=other.body, sources=sources)
    return joined


def draft_from_memory(memory: Memory) -> Draft:
    """Return the draft of a stored memory."""
    names = [field.name for field in fields(Draft) if field.name != "flow"]
    return Draft(**{name: getattr(memory, name) for name in names}, flow=label_rule(memory.label))


def mark_maker(drafts: Iterable[Draft], maker: str) -> list[Draft]:
    """Return the drafts with `maker` as their only maker."""
    return [replace(draft, metadata={**draft.metadata, "made_by": [maker]}) for draft in drafts]


def draft_makers(draft: Draft) -> list[str]:
    """Return the makers: "rules", an extractor, or a prompt's name, version and hash."""
    makers: list[str] = draft.metadata.get("made_by", [])
    return makers


# -- tests for equal items


def _is_same_fact(one: Draft, other: Draft) -> bool:
    return _fact_key(one) == _fact_key(other)


def _fact_key(draft: Draft) -> tuple[object, ...]:
    body = draft.body
    value = body.get("object") if body.get("object") is not None else body.get("value")
    return (
        normalize_name(body["subject"]),
        body["predicate"],
        normalize_name(value) if isinstance(value, str) else canonical_json(value),
        normalize_name(body.get("aspect") or ""),
        bool(body.get("negated")),
    )


def _is_same_landmark(one: Draft, other: Draft) -> bool:
    if one.body["kind"] != other.body["kind"]:
        return False
    left, right = content_terms(one.text), content_terms(other.text)
    return len(left & right) >= MIN_WORD_OVERLAP * min(len(left), len(right)) > 0


def _is_same_label(one: Draft, other: Draft) -> bool:
    return one.slot == other.slot == "turn" and one.sources[0] == other.sources[0]


def _is_never_same(_one: Draft, _other: Draft) -> bool:
    return False


SAME_TESTS: dict[MemoryKind, SameTest] = {
    MemoryKind.FACT: _is_same_fact,
    MemoryKind.LANDMARK: _is_same_landmark,
    MemoryKind.EPISODE: _is_same_label,
}


__all__ = [
    "ModelExtraction",
    "ModelReadLimits",
    "ModelReader",
    "draft_from_memory",
    "draft_makers",
    "mark_maker",
    "merge_drafts",
    "next_retry_time",
]

CORRECTION_PROMPT = (
    "Your last answer to this could not be used: {why}. Answer again with the JSON object that was"
    " asked for and nothing else; say less if it was too long."
)
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


@dataclass(frozen=True, slots=True)
class ModelReader:
    """Reads batches of messages with one model and one prompt."""

    model: LanguageModel
    name: str  # configured name of the model
    prompt: PromptTemplate
    limits: ModelReadLimits
    model_budget: ModelBudget

    @property
    def maker(self) -> str:
        """The `made_by` mark of its memories."""
        return f"{self.prompt.name}@{self.prompt.version}:{self.prompt.hash}"

    def split_batches(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """Yield batches for `read_turns`; events without readable text are in none."""
        return split_batches(events, self.limits)

    def read_turns(
        self, turns: Sequence[Event], before: Sequence[Event] = (), known_names: Iterable[str] = ()
    ) -> ModelExtraction:
        """Return the model's results for one batch. Call it outside of any transaction.

        `before` are the preceding events, oldest first. `known_names` may appear in the answer
        although no message has them. After bad output the model is called once more with the
        reason. Raise BadOutput if that fails, ModelUnavailable if the model does not answer, and
        BudgetSpent if the budget is exhausted. Nothing is written in these cases.
        """
        known_names = tuple(known_names)
        try:
            return self._ask_model(turns, before, known_names)
        except BadOutput as error:
            if error.problem == "cut off" and len(turns) > 1:
                return self._ask_in_halves(turns, before, known_names)
            return self._ask_model(turns, before, known_names, CORRECTION_PROMPT.format(why=error))

    def _ask_in_halves(
        self, turns: Sequence[Event], before: Sequence[Event], known_names: Sequence[str]
    ) -> ModelExtraction:
        """Call the model for each half of the batch, after an answer that was cut off."""
        middle = len(turns) // 2
        first = self._ask_model(turns[:middle], before, known_names)
        second = self._ask_model(turns[middle:], [*before, *turns[:middle]], known_names)
        dropped = Counter(first.dropped) + Counter(second.dropped)
        extracted = {**first.extracted, **second.extracted}
        return ModelExtraction((*first.drafts, *second.drafts), extracted, dropped)

    def _ask_model(
        self,
        turns: Sequence[Event],
        before: Sequence[Event],
        known_names: Sequence[str],
        correction: str = "",
    ) -> ModelExtraction:
        excerpt = Excerpt.from_events(turns, before, self.limits)
        if not excerpt.turns:
            return ModelExtraction(())
        model = self.model_budget.make_model_factory(self.model, self.name, LEARN_PURPOSE)(
            turns[0].workspace
        )
        prompt = self.prompt.render(asked=excerpt.to_prompt_text(), correction=correction)
        completion = model.complete(prompt, schema=ANSWER_SCHEMA)
        names = content_terms(
            " ".join([*known_names, *(turn.event.speaker for turn in excerpt.all_turns)])
        )
        max_items = self.limits.items_per_turn * len(excerpt.turns)
        parser = AnswerParser(excerpt, self.maker, self.prompt.name, names, max_items)
        drafts = parser.parse_drafts(completion.data)
        if parser.dropped.keys() - REFUSAL_REASONS and not drafts and not parser.extracted:
            reasons = ", ".join(sorted(parser.dropped))
            raise BadOutput(f"no item of the answer is usable: {reasons}", problem="nothing usable")
        return ModelExtraction(tuple(drafts), parser.extracted, dict(parser.dropped))


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
        try:
            extraction = self.model_reader.read_turns(events, batch[0].recent, sorted(names))
        except NexusError as error:
            return ModelPassResult(events, error=error)
        drafts = [
            draft
            for context in batch
            for draft in self._event_drafts(knowledge, context, extraction)
        ]
        merged = self._merge_with_rules(scope_batch, events, drafts)
        return replace(merged, drafts=self._with_flows(batch, merged.drafts))

    def _with_flows(self, batch: Sequence[EventContext], drafts: Sequence[Draft]) -> list[Draft]:
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
                added += self.pipeline.add_flows(context, own, text)
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
        every = [*drafts, *(labels if knowledge.settings.label_messages else ())]
        return self.pipeline.mark_session(context.event, every)

    def _merge_with_rules(
        self, scope_batch: EventBatch, events: Sequence[Event], drafts: Sequence[Draft]
    ) -> ModelPassResult:
        ids = [event.id for event in events]
        rules = [
            draft_from_memory(memory)
            for memory in self.store.eraser.list_derived(scope_batch.workspace, ids)
            if memory.learned and memory.kind in MERGED_KINDS and memory.scope == scope_batch.scope
        ]
        merged = merge_drafts(rules, drafts)
        changed = [draft for draft in merged if draft not in rules]
        merged_ids = {draft.id for draft in merged}
        return ModelPassResult(
            events, changed, [draft.id for draft in rules if draft.id not in merged_ids]
        )


def _add_model_sources(draft: Draft, model_draft: Draft) -> Draft:
    """Return the draft with the sources and the confidence of the model's draft."""
    sources = tuple(dict.fromkeys([*draft.sources, *model_draft.sources]))
    return replace(draft, sources=sources, confidence=model_draft.confidence)
