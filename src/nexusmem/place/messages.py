"""Chat messages of a place: compose a context, record messages, compact a long chat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..compose.request import ContextRequest, Tool, validate_request
from ..core.access import Grant
from ..core.canonical import clean_list
from ..core.errors import ModelUnavailable, Unavailable
from ..core.ids import check_name
from ..core.records import Hits, NewEvent, Receipt, event_id
from ..observe.events import message_event
from ..recall.search import search_memories
from .base import PlaceBase, audit_read

if TYPE_CHECKING:
    from ..compose.compaction.compact import CompactedMessages, PinnedFacts
    from ..compose.receipts import ContextExplanation
    from ..compose.templates import ContextTemplate
    from ..core.records.context import Context
    from ..learn.episodes.model_written import ModelSummary
    from ..recall.query import Query

DEFAULT_WINDOW_TOKENS = 128_000  # context window of a model
ChatMessages = Iterable[Mapping[str, Any] | NewEvent]  # messages of OpenAI or Anthropic, or events


class ContextMethods(PlaceBase):
    """The methods of a place that read and write chat messages."""

    @audit_read
    def compose(
        self,
        question: str,
        *,
        budget: int | None = None,
        recent_messages: int | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
        template: str | ContextTemplate | None = None,
        tools: Iterable[Tool] = (),
    ) -> Context:
        """Compose the context for a model's next answer, within a token budget.

        It contains recent messages, profiles, landmarks, goals, facts and search hits for the
        question. `context.text` is the prompt text, `context.messages("openai")` the same as
        messages. `model` chooses the tokenizer. `recent_messages` is the number of messages to
        consider. `as_of` composes the context of an earlier time. `context.receipt` lists every
        item with its reason and what was cut; `explain` adds how hits were ranked. `template` is
        "markdown", "compact", "xml", "json", the name of a plug-in, or a ContextTemplate. `tools`
        are the names or definitions of the tools by which the agent can look up more; the context
        names them, and the documents there are.
        """
        request = ContextRequest(
            question=question,
            budget=budget,
            recent_messages=recent_messages,
            model=model,
            as_of=as_of,
            explain=explain,
            template=self._parts.templates.find(template),
            tools=clean_list(tools, "tools"),
        )
        return self._compose_with_cache(request)

    @audit_read
    def context_for(
        self,
        messages: ChatMessages,
        *,
        budget: int | None = None,
        recent_messages: int | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
        thread: str | None = None,
        context_window: int | None = None,
        template: str | ContextTemplate | None = None,
        tools: Iterable[Tool] = (),
    ) -> Context:
        """Compose the context for chat messages; what they contain is not repeated.

        `messages` are in the format of OpenAI or Anthropic. The question is the last message of a
        user. With `context_window` (tokens of the model), `context.messages_to_send` are the
        messages to send, compacted if they are too long. Without a `budget`, the context then takes
        at most a third of the window. `template` and `tools` are as in `compose`.
        """
        from ..observe.chat_messages import last_question, parse_with_blocks  # loaded on first use

        listed = clean_list(messages, "messages")
        parsed = parse_with_blocks(listed)
        request = ContextRequest(
            question=last_question(parsed),
            budget=budget,
            recent_messages=recent_messages,
            model=model,
            as_of=as_of,
            explain=explain,
            messages=parsed,
            thread=thread,
            template=self._parts.templates.find(template),
            tools=clean_list(tools, "tools"),
        )
        if context_window is None:
            return self._compose_with_cache(request)
        return self._compose_and_compact(listed, validate_request(request), context_window)

    def _compose_and_compact(
        self, messages: list[Any], request: ContextRequest, window: int
    ) -> Context:
        """Compact the messages first, so that the context can contain what they no longer show."""
        from ..compose.compaction.compact import prompt_limit  # loaded on first use
        from ..compose.settings import context_budget  # loaded on first use
        from ..core.records.context import Compaction  # loaded on first use
        from ..observe.chat_messages import parse_with_blocks  # loaded on first use

        limit, default = prompt_limit(window), self._parts.settings.compose.budget_tokens
        budget = context_budget(limit, request.budget, default)
        done = self.compact(
            messages,
            context_window=window,
            reserved_tokens=budget,
            model=request.model,
            thread=request.thread,
        )
        context = self._compose_with_cache(
            replace(request, budget=budget, messages=parse_with_blocks(done.messages))
        )
        compaction = Compaction(
            fits=done.tokens_after - budget + context.tokens <= limit,
            removed=len(done.removed),
            left_out=done.left_out,
            degraded=done.degraded,
        )
        return replace(context, messages_to_send=tuple(done.messages), compaction=compaction)

    def record(self, messages: ChatMessages, *, thread: str | None = None) -> list[Receipt]:
        """Record the new messages of a chat; messages recorded before are skipped.

        Call it after every answer with the complete message list, or with its end. The list is
        aligned with what was recorded before. System messages and contexts composed by Nexus are
        not recorded. Returns one receipt per recorded message.
        """
        from ..observe.chat_messages import RECORDED_ROLES, parse_messages  # loaded on first use
        from ..observe.message_dedup import match_recorded  # loaded on first use

        parsed = [each for each in parse_messages(messages) if each.role in RECORDED_ROLES]
        if thread is not None:
            check_name(thread, "the thread")
        keys = match_recorded(self._parts.store, self.viewer, parsed, thread) if parsed else []
        new = [
            message_event(
                self.viewer,
                each.speaker_for(self.viewer),
                each.text,
                now=self._parts.now(),  # one time each keeps their order
                role=each.role,
                options={"key": key.key, "thread": thread, "metadata": each.call or None},
            )
            for each, key in zip(parsed, keys, strict=True)
            if not key.is_recorded
        ]
        written = iter(self._append_events(new) if new else [])
        return [self._find_receipt(key.key) if key.is_recorded else next(written) for key in keys]

    def _find_receipt(self, key: str) -> Receipt:
        """Return the receipt of an event that was recorded before."""
        workspace, home = self.viewer.workspace, self.viewer.home
        id = event_id(home, key)
        return Receipt(workspace=workspace, scope=home, event_id=id, key=key, duplicate=True)

    @audit_read
    def compact(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        context_window: int = DEFAULT_WINDOW_TOKENS,
        reserved_tokens: int = 0,
        model: str | None = None,
        thread: str | None = None,
    ) -> CompactedMessages:
        """Replace the oldest messages by a summary and landmarks, if the chat is too long.

        It is too long when the messages and `reserved_tokens` (for a context, tools …) exceed 70 %
        of `context_window`. Send `compacted.messages`. A tool call and its result stay together.
        Compacting the result again changes nothing.
        """
        from ..compose.compaction.compact import compact_messages, prompt_limit
        from ..text.tokens import count_tokens, tokenizer_family  # loaded on first use

        family = tokenizer_family(model)
        agent, people = self.viewer.agent.value, self.viewer.people
        return compact_messages(
            messages,
            limit=prompt_limit(context_window),
            count=lambda text: count_tokens(text, family),
            other_tokens=reserved_tokens,
            pinned=lambda: self._load_pinned_facts(messages, thread),
            speakers={
                "assistant": agent,
                **({"user": people[0].value} if len(people) == 1 else {}),
            },
            summarize=self._summarize_with_cache
            if self._parts.settings.learning.episodes == "model"
            else None,
        )

    def _load_pinned_facts(
        self, messages: Sequence[Mapping[str, Any]], thread: str | None
    ) -> PinnedFacts:
        from ..compose.compaction.compact import load_pinned_facts  # loaded on first use
        from ..observe.chat_messages import derive_event_ids, parse_messages  # loaded on first use

        event_ids = derive_event_ids(parse_messages(messages, lenient=True), self.viewer, thread)
        self._parts.learner.catch_up(self.grant)
        return load_pinned_facts(self._parts.store, self.grant, self.viewer.home, event_ids)

    def _summarize_with_cache(self, turns: Sequence[tuple[str, str]]) -> Sequence[str]:
        """Summarize removed messages with a model; the cache returns the same summary again."""
        summaries = self._parts.context_cache.summaries
        return _require_sentences(
            summaries.get_or_create(self.viewer, turns, lambda: self._summarize_by_model(turns, ()))
        )

    def _summarize_turns(
        self, turns: Sequence[tuple[str, str]], keep: Sequence[str]
    ) -> Sequence[str]:
        return _require_sentences(self._summarize_by_model(turns, keep))

    def _summarize_by_model(
        self, messages: Sequence[tuple[str, str]], keep: Sequence[str]
    ) -> ModelSummary:
        """Summarize with the model of episodes; raise ModelUnavailable if it does not answer."""
        from ..learn.episodes.model_written import SummaryTurn  # loads the rules

        summarizer = self._parts.get_episodes().summarizer
        if summarizer is None:
            raise ModelUnavailable
        now = self._parts.now()
        turns = [SummaryTurn(now, speaker, text) for speaker, text in messages]
        return self._parts.breakers.model.call(
            lambda: summarizer.summarize(self.viewer.workspace, "session", turns, keep),
            seconds=self._parts.settings.search.model_timeout_seconds,
            error=ModelUnavailable,
        )

    @audit_read
    def explain(self, id: str) -> ContextExplanation:
        """Return why a composed context has its content, by the id of the context.

        The last 64 receipts of a place are stored, for a day.
        """
        from ..compose.receipts import explain_context  # loaded on first use

        self._parts.worker.drain()
        return explain_context(self._parts.store, self.grant, id, self._parts.now())

    def _compose_with_cache(self, request: ContextRequest) -> Context:
        """Return the cached context if nothing was written since, else compose it."""
        checked, parts = validate_request(request), self._parts
        attributes = {"workspace": self.viewer.workspace, "question": checked.question}
        with parts.telemetry.operation("compose", **attributes) as operation:
            context = parts.context_cache.get_or_compose(
                self.viewer,
                checked,
                lambda: self._read_epoch(self.grant),
                lambda epoch: self._compose_fresh(checked, epoch),
            )
            operation.set_attributes(context=context)
        return context

    def _read_epoch(self, grant: Grant) -> int:
        """Return the epoch of all data a context depends on; raises Unavailable without Redis."""
        store = self._parts.store
        return store.epoch(grant) + store.window.epoch(grant)

    def _compose_fresh(
        self, request: ContextRequest, epoch: int | None
    ) -> tuple[Context, int | None]:
        """Compose a context; return it with the epoch of the data it was read from.

        That is the given epoch, unless events were learned first.
        """
        from ..compose.composer import Composer  # loaded on first use

        parts = self._parts
        epochs: list[int] = []

        def catch_up(grant: Grant) -> None:
            learned = parts.learner.catch_up(grant)
            with suppress(Unavailable):  # then the context is not cached
                epochs.append(self._read_epoch(grant) if learned or epoch is None else epoch)

        composer = Composer(
            store=parts.store,
            ranking=parts.ranking,
            catch_up=catch_up,
            clock=parts.now,
            settings=parts.settings.compose,
            threshold=parts.settings.search.default_threshold,
            section_cache=parts.context_cache.sections,
            line_cache=parts.context_cache.lines,
            questions=parts.embedder,
        )
        context = composer.compose(self.viewer, request)
        for section, seconds in context.receipt.seconds.items():
            parts.telemetry.metrics.observe_seconds("section_seconds", section, seconds)
        for remark in context.receipt.degraded:
            parts.telemetry.metrics.count_degraded(remark, context.receipt.plan)
        now = context.receipt.at if request.as_of is None else parts.now()
        if request.as_of is None:
            shown = (each.id for each in context.receipt.shown)
            parts.count_uses(self.viewer, shown, now, request.thread)
        parts.run_later(lambda: self._save_receipt(context, now))
        return context, epochs[0] if epochs else None

    def _save_receipt(self, context: Context, now: datetime) -> None:
        """Store the receipt of a context in the window; without Redis it is not stored."""
        from ..compose.receipts import receipt_items  # loaded on first use

        items = receipt_items(context, self.viewer, now)
        window, workspace = self._parts.store.window, self.viewer.workspace
        with suppress(Unavailable):
            window.put(workspace, items, idle=self._parts.settings.compose.idle_timeout)

    def _run_query(self, grant: Grant, query: Query) -> Hits:
        parts = self._parts
        attributes = {"workspace": grant.workspace, "question": query.question}
        with parts.telemetry.operation("recall", **attributes) as operation:
            parts.learner.catch_up(grant)
            found = search_memories(parts.store, parts.ranking, grant, query)
            operation.set_attributes(found=found)
        for remark in found.degraded:
            parts.telemetry.metrics.count_degraded(remark)
        return found


def _require_sentences(summary: ModelSummary) -> Sequence[str]:
    """Return the sentences; raise ModelUnavailable if the summary was rejected."""
    if summary.refusal is not None:
        raise ModelUnavailable(summary.refusal)
    return summary.sentences
