"""Place: everything one viewer can do in one room, DM or session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from ..core.canonical import clean_list, clean_text, clean_time
from ..core.errors import Conflict, Forgotten, InvalidInput, ModelUnavailable, NotFound
from ..core.filters import And, Condition, Filter, Op, combine_filters, parse_filter
from ..core.records import (
    Attachment,
    Event,
    EventKind,
    Fact,
    Hits,
    Json,
    Memory,
    MemoryKind,
    NewEvent,
    Progress,
    Receipt,
)
from ..core.records.links import SHARE, UNSHAREABLE_KINDS
from ..core.records.memory import drop_copies
from ..core.scope import Scope
from ..observe.events import (
    EventOptions,
    document_event,
    entity_event,
    fact_event,
    message_event,
    note_event,
    share_events,
)
from ..recall.query import check_limit, make_query
from .base import PlaceBase, audit_read, check_receipt
from .knowledge import KnowledgeMethods
from .memories import MemoryMethods
from .messages import ContextMethods
from .window import WindowMethods

if TYPE_CHECKING:
    from .dossiers import Dossiers
    from .goals import Goals
    from .notebook import Notebook
    from .procedures import Procedures
    from .reviews import Reviews


class ShareMethods(MemoryMethods):
    """The method of a place that shares memories with other places."""

    def share(self, id: str, *, to: str | PlaceBase, key: str | None = None) -> Receipt:
        """Copy a memory's text to a scope with more readers; return the receipt of the copy.

        `to` is a scope the viewer reaches, such as "project" or "user", or another place of the
        same user: `dm.share(id, to=room)`. Readers see the text and who shared it, not its
        source. Sharing again returns the same receipt. When the memory or its events are
        forgotten, the copy is erased, too; `forget(receipt)` erases the copy alone.
        """
        memory = self._find_memory(id)
        home = self._target_scope(to)
        if memory.kind in UNSHAREABLE_KINDS:
            raise InvalidInput(f"memories of kind {memory.kind.value} cannot be shared")
        if memory.label == {home}:
            raise InvalidInput(f"this memory is already in {home}")
        sources = self._source_event_ids(memory)
        now = self._parts.now()
        act, copy = share_events(self.viewer, memory, sources, to=home, now=now, key=key)
        if earlier := self._find_earlier_share(memory, act.id, home):
            return earlier
        try:
            with self._audit_share(memory, home, copy.id):
                receipt = self._parts.recorder.append(self.viewer.workspace, [act, copy], now)[1]
        except Conflict:  # shared concurrently, or the key is used by another event
            if earlier := self._find_earlier_share(memory, act.id, home):
                return earlier
            raise
        self._link_copy(memory, act.id)
        return receipt

    def _audit_share(self, memory: Memory, home: Scope, copy: str) -> AbstractContextManager[None]:
        """Record the share in the audit log, in the same transaction."""
        owners = [scope.owner for scope in (*sorted(memory.label), home) if scope.owner]
        return self._parts.audit.record_write(
            self.viewer.workspace,
            SHARE,
            by=self.viewer,
            people=dict.fromkeys([*owners, *([memory.speaker] if memory.speaker else [])]),
            memory=memory.id,
            readable_in=[str(scope) for scope in sorted(memory.label)],
            to=str(home),
            event=copy,
        )

    def _target_scope(self, to: str | PlaceBase) -> Scope:
        """Return the scope of the copy; raise NotFound if the viewer cannot reach it."""
        if isinstance(to, str):
            return self.viewer.resolve_scope(to)
        other, user = to.viewer, self.viewer.user
        same_store = other.workspace == self.viewer.workspace and to._parts is self._parts  # noqa: SLF001
        is_member = (
            user in (*other.people, other.user) if user else other.agent == self.viewer.agent
        )
        if not same_store or not is_member:
            raise NotFound("the viewer is not in that place")
        return other.home

    def _find_earlier_share(self, memory: Memory, share_id: str, home: Scope) -> Receipt | None:
        """Return the receipt of the copy if this memory was shared there before."""
        found = self._parts.store.ledger.get(self._source_grant([memory]), [share_id])
        if not found:
            return None
        if found[0].kind is not EventKind.SHARE:
            raise Conflict("share key already used for a different memory")
        share = found[0].metadata[SHARE]
        if self._parts.store.eraser.any_erased(self.viewer.workspace, [share["copy"]]):
            raise Forgotten("this memory was shared there, and the copy was forgotten")
        return Receipt(
            workspace=self.viewer.workspace,
            scope=home,
            event_id=share["copy"],
            key=share["key"],
            duplicate=True,
        )

    def _link_copy(self, memory: Memory, share_id: str) -> None:
        """Link the copy to its source now, so that forgetting the source erases the copy."""
        from ..learn.extract.explicit_events import share_link_drafts  # loaded on first use

        store, workspace = self._parts.store, self.viewer.workspace
        here = self._source_grant([memory])  # the memory may belong to another session
        written: list[Event] = store.ledger.get(here, [share_id])
        drafts = [draft for event in written for draft in share_link_drafts(store, event)]
        if not drafts or not store.memories.put(workspace, drafts):
            for event in written:  # the source was forgotten meanwhile: erase the copy
                share_link_drafts(store, event)
            raise NotFound(f"no memory {memory.id!r} here")


BATCH_SIZE = 500  # messages per transaction
MAX_LISTED = 100_000
NO_DEFAULT = object()


class Place(ContextMethods, WindowMethods, KnowledgeMethods, ShareMethods):
    """One viewer in one room, DM or session.

    Writes: observe, record, remember, add_document, add_fact, set_value, upsert_entity. Reads:
    recall, compose, context_for, memories, facts, entity, find_entities, neighbourhood, profile,
    episodes. Collections: goals, notebook, procedures, dossiers, reviews. Every read returns only
    what the viewer may see.
    """

    def __repr__(self) -> str:
        viewer = self.viewer
        fields = {
            "workspace": viewer.workspace.value,
            "room": viewer.room,
            "user": viewer.user and viewer.user.value,
            "session": viewer.session,
            "agent": viewer.agent.value,
            "project": viewer.project,
        }
        given = (f"{name}={value!r}" for name, value in fields.items() if value is not None)
        return f"Place({', '.join(given)})"

    # Writing

    def observe(
        self,
        speaker: str,
        text: str,
        *,
        role: str | None = None,
        attachments: Iterable[Attachment | Mapping[str, Any]] = (),
        **options: Unpack[EventOptions],
    ) -> Receipt:
        """Record a message, and return when it is durable on disk.

        `speaker` is the name of a user or agent, `role` is "user", "assistant", "tool" or
        "system" (by default decided by the speaker). `key` is an idempotency key: the same key
        again has no effect. `at` is the time of the message, by default now. `thread`, `tags` and
        `metadata` are stored with it and can be used in filters. Facts are extracted in the
        background.
        """
        now = self._parts.now()
        event = message_event(
            self.viewer,
            speaker,
            text,
            now=now,
            role=role,
            attachments=attachments,
            options=options,
        )
        return self._parts.recorder.append(self.viewer.workspace, [event], now)[0]

    def observe_many(self, messages: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Record many messages, each a mapping with the arguments of `observe`.

        If the workspace has quotas, either all messages are written or none.
        """
        events = [self._make_message_event(each) for each in clean_list(messages, "messages")]
        most = BATCH_SIZE if self._parts.quotas.unlimited else max(1, len(events))
        batches = (events[start : start + most] for start in range(0, len(events), most))
        return [receipt for batch in batches for receipt in self._append_events(batch)]

    def _make_message_event(self, fields: Mapping[str, Any]) -> NewEvent:
        if not isinstance(fields, Mapping) or not {"speaker", "text"} <= fields.keys():
            raise InvalidInput("a message must be a mapping with at least speaker and text")
        rest = {str(name): value for name, value in fields.items()}
        speaker, text = rest.pop("speaker"), rest.pop("text")
        extra = {name: rest.pop(name) for name in ("role", "attachments") if name in rest}
        options = cast("EventOptions", rest)
        return message_event(
            self.viewer,
            speaker,
            text,
            now=self._parts.now(),
            options=options,
            **extra,
        )

    def remember(
        self, text: str, *, scope: str | None = None, **options: Unpack[EventOptions]
    ) -> Receipt:
        """Store a note, word for word, in this place or in a wider `scope`.

        `scope` is for example "user" (all places of the user), "project", "agent" or "workspace".
        Unlike a message, a note is never archived.
        """
        home = self.scope(scope)
        return self._append_events(
            [note_event(self.viewer, home, text, now=self._parts.now(), options=options)]
        )[0]

    def add_document(
        self, text: str, *, scope: str | None = None, **options: Unpack[EventOptions]
    ) -> Receipt:
        """Store a document; it is split into passages for search.

        With the same `key` and text it is stored once. Use `notebook.write` for documents that
        change.
        """
        speaker = self.viewer.agent.value
        now = self._parts.now()
        return self._append_events(
            [document_event(self.scope(scope), speaker, text, now=now, options=options)]
        )[0]

    def set_value(
        self,
        scope: str,
        key: str,
        value: Json,
        *,
        at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Set a value under a key of a scope, like a key-value store with history.

        `scope` is for example "user" or "room"; `value` is any JSON value. `get_value` returns the
        newest value, `facts` and `history` the earlier ones.
        """
        home = self.scope(scope)
        stated = Fact(subject=str(home), predicate=key, value=value, exact=True)
        options: EventOptions = {"at": at, "metadata": metadata}
        now = self._parts.now()
        return self._append_events(
            [fact_event(self.viewer, home, stated, now=now, options=options)]
        )[0]

    def add_fact(
        self,
        subject: str,
        predicate: str,
        object: str | None = None,
        *,
        value: Json = None,
        confidence: float = 1.0,
        stated: bool = True,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        aspect: str | None = None,  # what it is about: "color" of PREFERS
        tense: str = "current",  # current, past or future
        negated: bool = False,  # the fact is denied
        scope: str | None = None,
        **options: Unpack[EventOptions],
    ) -> Receipt:
        """Add a fact: `add_fact("Tyler", "WORKS_AT", "Anthropic")`.

        The fact points to another entity (`object`) or has a JSON `value`. `stated=False` marks an
        inferred fact. `valid_from` and `valid_to` limit the time it holds. Facts are never
        overwritten: `fact_timeline` shows which one is current.
        """
        if object is None and value is None:
            raise InvalidInput("a fact needs an object or a value")
        fact = Fact(
            subject=subject,
            predicate=predicate,
            object=object,
            value=value,
            stated=stated,
            aspect=aspect,
            tense=tense,
            negated=negated,
        )
        home, now = self.scope(scope), self._parts.now()
        event = fact_event(
            self.viewer,
            home,
            fact,
            now=now,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            options=options,
        )
        return self._append_events([event], now)[0]

    def upsert_entity(
        self,
        name: str,
        *,
        type: str | None = None,
        aliases: Iterable[str] = (),
        description: str | None = None,
        properties: Mapping[str, Json] | None = None,
        scope: str | None = None,
        **options: Unpack[EventOptions],
    ) -> Receipt:
        """State what is known of a person or thing: type, aliases, description and properties.

        Nothing is overwritten: `entity(name)` shows the newest description and the newest value
        of each property, and `history` the earlier ones. A property with the value None is
        removed. An e-mail address, phone number or "@handle" among the aliases becomes an
        identifier. An alias that is the name of another entity merges nothing: a review asks.
        """
        stated = {
            "name": name,
            "type": type,
            "aliases": aliases,
            "description": description,
            "properties": properties,
        }
        home, now = self.scope(scope), self._parts.now()
        event = entity_event(self.viewer, home, stated, now=now, options=options)
        return self._append_events([event], now)[0]

    # Reading

    @audit_read
    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        threshold: float | None = None,
        where: Mapping[str, Any] | Filter | None = None,
        kind: str | MemoryKind | Sequence[str | MemoryKind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        scope: str | None = None,
        as_of: datetime | None = None,
        max_per_conversation: int | None = None,
        min_relevance: float | None = None,
        explain: bool = False,
    ) -> Hits:
        """Search memories by meaning and keyword, best first.

        Everything written before the call is searched. `threshold` is the minimum score, from 0
        to 1. `where` is a filter such as {"speaker": "alice"} or {"metadata.stars": {"gte": 4}}.
        `kind` is one kind or several, also of derived memories: "fact", ["fact", "episode"].
        `since` and `until` limit the time of the memory, `as_of` the time it was recorded. `scope`
        searches only one scope. `max_per_conversation` limits the hits of one conversation; 0
        means no limit. `min_relevance` withholds hits that help to answer with a smaller
        probability; `hits.withheld` counts them. `explain` adds how each hit was ranked.
        """
        defaults, now = self._parts.settings.search, self._parts.now()
        grant, only = self._narrow(scope)
        query = make_query(
            question,
            limit=_or_default(limit, defaults.default_limit),
            threshold=_or_default(threshold, defaults.default_threshold),
            where=combine_filters([parse_filter(where), only]) if only else where,
            kind=kind,
            since=since,
            until=until,
            max_per_conversation=_or_default(max_per_conversation, defaults.max_per_conversation),
            people=[person.value for person in self.viewer.people],
            now=now,
            as_of=as_of,
            min_relevance=_or_default(min_relevance, defaults.min_relevance),
            explain=explain,
        )
        found = self._with_event_keys(self._run_query(grant, query))
        if as_of is None:
            self._parts.count_uses(self.viewer, (hit.memory.id for hit in found), now)
        return found

    @audit_read
    def recent(
        self,
        limit: int = 50,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Event]:
        """Return the newest events of this place, newest first, without search."""
        here = self.grant.narrow_to([self.viewer.home])
        return self._parts.store.ledger.find(
            here,
            where=parse_filter(where),
            since=None if since is None else clean_time(since, "since"),
            until=None if until is None else clean_time(until, "until"),
            limit=check_limit(limit, MAX_LISTED),
        )

    @audit_read
    def get_value(self, scope: str, key: str, default: Any = NO_DEFAULT) -> Any:
        """Return the newest value of a key; raise NotFound if there is none and no default."""
        home = self.scope(scope)
        name = clean_text(key, "a key")
        found = self.facts(str(home), name, scope=scope, exact=True, limit=1)
        if found:
            return found[0].fact.value
        if default is NO_DEFAULT:
            raise NotFound(f"no value {key!r} in {home}")
        return default

    @audit_read
    def facts(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        *,
        object: str | None = None,
        exact: bool | None = None,
        scope: str | None = None,
        limit: int | None = 100,
    ) -> list[Memory]:
        """List facts, newest first, including outdated ones.

        `exact=True` lists only values of `set_value`, `exact=False` only other facts. `limit=None`
        lists all. `fact_timeline` shows which facts are current.
        """
        most = None if limit is None else check_limit(limit, MAX_LISTED)
        grant, only = self._narrow(scope)
        wanted = {"subject": subject, "predicate": predicate, "object": object}
        given = {
            name: clean_text(value, f"the {name}")
            for name, value in wanted.items()
            if value is not None
        }
        self._parts.learner.catch_up(grant)
        conditions: list[Filter] = [Condition(name, Op.EQ, value) for name, value in given.items()]
        conditions += [only] if only else []
        where = And((Condition("kind", Op.EQ, MemoryKind.FACT), *conditions))
        found = drop_copies(self._parts.store.memories.find(grant, where=where))
        return [m for m in found if exact is None or m.fact.exact == exact][:most]

    # Progress

    def flush(self) -> int:
        """Learn all pending events the viewer can see; return the number of stuck events."""
        return self._parts.learner.flush(self.grant)

    def progress(self, receipt: Receipt) -> Progress:
        """Return the processing stage of an event, and the error if it is stuck.

        Raises NotFound if the viewer cannot see the event.
        """
        check_receipt(receipt)
        found = self._parts.store.ledger.load_progress(self.grant, [receipt.event_id])
        if receipt.event_id not in found:
            raise NotFound(f"no event {receipt.event_id!r} here")
        return found[receipt.event_id]

    # Collections

    @cached_property
    def goals(self) -> Goals:
        """The goals the viewer can see: add, update, block, complete, list."""
        from .goals import Goals  # loaded on first use

        return Goals(self._parts, self.viewer, self.grant)

    @cached_property
    def notebook(self) -> Notebook:
        """Versioned documents of this place, by path; `notebook.in_scope("project")` for others."""
        from .notebook import Notebook  # loaded on first use

        viewer = self.viewer.shared_viewer
        return Notebook(self._parts, viewer, viewer.grant(), viewer.home)

    @cached_property
    def procedures(self) -> Procedures:
        """Tool calls and task outcomes, and the steps that worked for similar tasks."""
        from .procedures import Procedures  # loaded on first use

        return Procedures(self._parts, self.viewer, self.grant)

    @cached_property
    def dossiers(self) -> Dossiers:
        """Documents about one person or thing, rewritten when the memories behind them change."""
        from .dossiers import Dossiers  # loaded on first use

        by_model = self._parts.settings.learning.episodes == "model"
        viewer = self.viewer.shared_viewer
        return Dossiers(
            self._parts, viewer, viewer.grant(), self._summarize_memories if by_model else None
        )

    def _summarize_memories(self, _name: str, memories: Sequence[Memory]) -> tuple[str, ...] | None:
        """Return a model's summary of the memories, or None if no verified summary is available."""
        from ..maintain.dossiers import model_input  # loaded on first use

        try:
            return tuple(self._summarize_turns(*model_input(memories)))
        except ModelUnavailable:
            return None

    @cached_property
    def reviews(self) -> Reviews:
        """Proposed merges and contradictions that the viewer can accept or reject."""
        from .reviews import Reviews  # loaded on first use

        user = self.viewer.user
        by, role = (user.value, "user") if user else (self.viewer.agent.value, "system")
        return Reviews(self._parts, self.grant, by, role=role, viewer=self.viewer)


Value = TypeVar("Value")


def _or_default(value: Value | None, default: Value) -> Value:
    return default if value is None else value
