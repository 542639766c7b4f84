"""Before and after every answer: what a place puts before a model, and what it takes down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from . import observe as tell
from .compose.wish import Wish, checked
from .core.access import Grant, Viewer
from .core.canonical import clean_list
from .core.errors import ModelUnavailable, Unavailable
from .core.ids import check_name
from .core.records import Found, NewEvent, Receipt, event_id
from .reading import audited
from .recall.answer import answer
from .wiring import Parts

if TYPE_CHECKING:
    from .compose.compact import Compacted, Kept
    from .compose.explain import Explained
    from .core.context import Context
    from .learn.episodes.narrating import Narrated
    from .recall.query import Query

WINDOW = 128_000  # tokens an agent's model reads at once, if nobody says otherwise
Chat = Iterable[Mapping[str, Any] | NewEvent]  # OpenAI's or Anthropic's messages, or our events


class Contexts:
    """A place as the agent that answers there uses it."""

    def __init__(self, parts: Parts, viewer: Viewer) -> None:
        self._parts = parts
        self.viewer = viewer
        self.grant = viewer.grant()

    @audited
    def compose(
        self,
        question: str,
        *,
        budget: int | None = None,
        window: int | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> Context:
        """What a model should know before it answers, within a budget of tokens.

        `model` says whose tokens are counted, `window` how many of the last messages are looked
        at. With `as_of` it is what would have been given at that time. `context.receipt` tells
        why each thing is there and what was cut; `explain` adds how hits came to their places.
        """
        wish = Wish(
            question=question,
            budget=budget,
            window=window,
            model=model,
            as_of=as_of,
            explain=explain,
        )
        return self._composed(wish)

    @audited
    def before(
        self,
        messages: Chat,
        *,
        budget: int | None = None,
        window: int | None = None,
        model: str | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
        thread: str | None = None,
        context_window: int | None = None,
    ) -> Context:
        """The context for messages that are about to be sent; what they show is not repeated.

        The question is the last thing a person says in them. With the `context_window` of the
        model, `context.chat` are the messages to send: compacted, if they are too long; and the
        context takes a third of the room at most, unless a `budget` is given.
        """
        from .compose.messages import question_in, shown_in  # noqa: PLC0415

        listed = clean_list(messages, "messages")
        said = shown_in(listed)
        wish = Wish(
            question=question_in(said),
            budget=budget,
            window=window,
            model=model,
            as_of=as_of,
            explain=explain,
            said=said,
            thread=thread,
        )
        if context_window is None:
            return self._composed(wish)
        return self._beside(listed, checked(wish), context_window)

    def _beside(self, messages: list[Any], wish: Wish, window: int) -> Context:
        """The messages are compacted first: what they no longer show may be in the context."""
        from .compose.compact import limit_of  # noqa: PLC0415
        from .compose.messages import shown_in  # noqa: PLC0415
        from .compose.settings import budget_within  # noqa: PLC0415
        from .core.context import Compaction  # noqa: PLC0415

        limit, usual = limit_of(window), self._parts.settings.compose.budget
        budget = budget_within(limit, wish.budget, usual)
        done = self.compact(
            messages, window=window, beside=budget, model=wish.model, thread=wish.thread
        )
        context = self._composed(replace(wish, budget=budget, said=shown_in(done.messages)))
        told = Compaction(
            fits=done.tokens_after - budget + context.tokens <= limit,
            removed=len(done.removed),
            left_out=done.left_out,
            degraded=done.degraded,
        )
        return replace(context, chat=tuple(done.messages), compaction=told)

    def after(self, messages: Chat, *, thread: str | None = None) -> list[Receipt]:
        """Write down what was said in these messages and is not written down yet.

        Call it with the list after every answer, whole or what is left of it: what leads up to
        where this place ended is the same talk, and what follows is new. System messages and what
        Nexus itself had put there are left out.
        """
        from .compose.messages import KEPT, read_messages  # noqa: PLC0415
        from .compose.written import known  # noqa: PLC0415

        said = [each for each in read_messages(messages) if each.role in KEPT]
        if thread is not None:
            check_name(thread, "the thread")
        keys = known(self._parts.store, self.viewer, said, thread) if said else []
        new = [
            tell.message(
                self.viewer,
                each.speaker(self.viewer),
                each.text,
                now=self._parts.now(),  # each its own: they were said one after the other
                role=each.role,
                told={"key": key.key, "thread": thread, "metadata": each.call or None},
            )
            for each, key in zip(said, keys, strict=True)
            if not key.repeated
        ]
        written = iter(self._append(new) if new else [])
        return [self._had(key.key) if key.repeated else next(written) for key in keys]

    def _had(self, key: str) -> Receipt:
        """The receipt of what lies here already."""
        workspace, home = self.viewer.workspace, self.viewer.home
        id = event_id(home, key)
        return Receipt(workspace=workspace, scope=home, event_id=id, key=key, repeated=True)

    @audited
    def compact(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        window: int = WINDOW,
        beside: int = 0,
        model: str | None = None,
        thread: str | None = None,
    ) -> Compacted:
        """The messages, with a summary and landmarks in place of the oldest if they are too long.

        They are when they, and the `beside` tokens that are sent with them (a context, tools),
        pass 70 % of the model's context `window`. `compacted.messages` are to be sent; a tool
        call keeps its result, and doing it again changes nothing.
        """
        from .compose.compact import compact, limit_of  # noqa: PLC0415  # importing nexus does not wait for it
        from .core.tokens import count, family_of  # noqa: PLC0415

        family = family_of(model)
        agent, people = self.viewer.agent.value, self.viewer.people
        return compact(
            messages,
            limit=limit_of(window),
            count=lambda text: count(text, family),
            beside=beside,
            kept=lambda: self._remembered(messages, thread),
            speakers={
                "assistant": agent,
                **({"user": people[0].value} if len(people) == 1 else {}),
            },
            narrate=self._told if self._parts.settings.learning.episodes == "model" else None,
        )

    def _remembered(self, messages: Sequence[Mapping[str, Any]], thread: str | None) -> Kept:
        from .compose.kept import remembered  # noqa: PLC0415
        from .compose.messages import events_of, read_messages  # noqa: PLC0415

        told = events_of(read_messages(messages, lenient=True), self.viewer, thread)
        self._parts.learner.catch_up(self.grant)
        return remembered(self._parts.store, self.grant, self.viewer.home, told)

    def _told(self, said: Sequence[tuple[str, str]]) -> Sequence[str]:
        """By a model, of messages that go: once, so that they leave the same words behind."""
        narrations = self._parts.contexts.narrations
        return _sentences(narrations.once(self.viewer, said, lambda: self._narrated(said, ())))

    def _narrate(self, said: Sequence[tuple[str, str]], keep: Sequence[str]) -> Sequence[str]:
        return _sentences(self._narrated(said, keep))

    def _narrated(self, said: Sequence[tuple[str, str]], keep: Sequence[str]) -> Narrated:
        """By the model that tells episodes, if it answers in time and says what was said."""
        from .learn.episodes.narrating import Said  # noqa: PLC0415  # the rules load with it

        narrator = self._parts.episodes().narrator
        if narrator is None:
            raise ModelUnavailable
        now = self._parts.now()
        turns = [Said(now, speaker, text) for speaker, text in said]
        return self._parts.breakers.model.call(
            lambda: narrator.narrate(self.viewer.workspace, "session", turns, keep),
            seconds=self._parts.settings.search.model_wait_seconds,
            error=ModelUnavailable,
        )

    @audited
    def explain(self, id: str) -> Explained:
        """Why a context of this place was as it was: each item with its reasons, and what was cut.

        The last 64 receipts of a place are kept, for a day.
        """
        from .compose.explain import explained  # noqa: PLC0415

        self._parts.worker.finish_calls()
        return explained(self._parts.store, self.grant, id, self._parts.now())

    def _composed(self, wish: Wish) -> Context:
        """From the cache, if nothing was told since the same was asked."""
        asked, parts = checked(wish), self._parts
        told = {"workspace": self.viewer.workspace, "question": asked.question}
        with parts.telemetry.doing("compose", **told) as deed:
            context = parts.contexts.composed(
                self.viewer,
                asked,
                lambda: self._epoch(self.grant),
                lambda epoch: self._fresh(asked, epoch),
            )
            deed.tell(context=context)
        return context

    def _epoch(self, grant: Grant) -> int:
        """Of all that a context is made of; Unavailable, while a window elsewhere is away."""
        store = self._parts.store
        return store.epoch(grant) + store.window.epoch(grant)

    def _fresh(self, wish: Wish, epoch: int | None) -> tuple[Context, int | None]:
        """A new context, and the epoch before it was begun to be read.

        That is the one given, unless something is learned first.
        """
        from .compose.compose import Composer  # noqa: PLC0415  # importing nexus does not wait for it

        parts = self._parts
        epochs: list[int] = []

        def catch_up(grant: Grant) -> None:
            learned = parts.learner.catch_up(grant)
            with suppress(Unavailable):  # then this context is for once
                epochs.append(self._epoch(grant) if learned or epoch is None else epoch)

        composer = Composer(
            store=parts.store,
            ranking=parts.ranking,
            catch_up=catch_up,
            clock=parts.now,
            settings=parts.settings.compose,
            threshold=parts.settings.search.default_threshold,
            steady=parts.contexts.steady,
            lines=parts.contexts.lines,
            questions=parts.embedder,
        )
        context = composer.compose(self.viewer, wish)
        for section, seconds in context.receipt.seconds.items():
            parts.telemetry.metrics.took("section_seconds", section, seconds)
        for remark in context.receipt.degraded:
            parts.telemetry.metrics.missed(remark)
        now = context.receipt.at if wish.as_of is None else parts.now()
        if wish.as_of is None:
            shown = (each.id for each in context.receipt.shown)
            parts.used(self.viewer, shown, now, wish.thread)
        parts.afterwards(lambda: self._keep(context, now))
        return context, epochs[0] if epochs else None

    def _keep(self, context: Context, now: datetime) -> None:
        """Nobody waits for this, and a window that is away keeps nothing."""
        from .compose.receipts import kept  # noqa: PLC0415

        items = kept(context, self.viewer, now)
        window, workspace = self._parts.store.window, self.viewer.workspace
        with suppress(Unavailable):
            window.put(workspace, items, idle=self._parts.settings.compose.idle)

    def _answered(self, grant: Grant, query: Query) -> Found:
        parts, told = self._parts, {"workspace": grant.workspace, "question": query.question}
        with parts.telemetry.doing("recall", **told) as deed:
            parts.learner.catch_up(grant)
            found = answer(parts.store, parts.ranking, grant, query)
            deed.tell(found=found)
        for remark in found.degraded:
            parts.telemetry.metrics.missed(remark)
        return found

    def _append(self, events: Sequence[NewEvent], now: datetime | None = None) -> list[Receipt]:
        return self._parts.append(self.viewer.workspace, events, now or self._parts.now())


def _sentences(told: Narrated) -> Sequence[str]:
    if told.refused is not None:
        raise ModelUnavailable(told.refused)
    return told.sentences
