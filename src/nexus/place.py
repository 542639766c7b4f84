"""A place where people and agents talk: a room, a DM, a session.

A place is bound to its viewer, so nobody can forget to say who asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from . import observe as tell
from .books import Books
from .contexts import Contexts
from .core.access import Grant
from .core.canonical import clean_list, clean_text, clean_time
from .core.errors import InvalidInput, NotFound
from .core.filters import Condition, Every, Filter, Op, parse_filter
from .core.ids import str_only
from .core.records import (
    Attachment,
    Event,
    Fact,
    Found,
    Json,
    Memory,
    MemoryKind,
    NewEvent,
    Progress,
    Receipt,
)
from .core.scope import Scope
from .desk import Desk
from .knowing import Knowing
from .observe import Told
from .reading import audited, check_receipt
from .recall.query import check_limit, make_query
from .sharing import Sharing

if TYPE_CHECKING:
    from .core.strength import Strength

BATCH = 500  # messages in one commit
MOST_LISTED = 100_000
RAISE = object()


class Place(Contexts, Desk, Knowing, Books, Sharing):
    """What can be told, found and looked up from here."""

    # Telling

    def observe(
        self,
        speaker: str,
        text: str,
        *,
        role: str | None = None,
        attachments: Iterable[Attachment | Mapping[str, Any]] = (),
        **told: Unpack[Told],
    ) -> Receipt:
        """Write down what somebody said. Returns when it is safely on disk.

        The same `key` again is the same event; `at` is when it was said, if not now.
        """
        now = self._parts.now()
        event = tell.message(
            self.viewer, speaker, text, now=now, role=role, attachments=attachments, told=told
        )
        return self._parts.append(self.viewer.workspace, [event], now)[0]

    def observe_many(self, messages: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Write down many messages: each a mapping of what `observe` takes.

        Where there are quotas, all of them find room or none is written.
        """
        events = [self._message(each) for each in clean_list(messages, "messages")]
        most = BATCH if self._parts.quotas.unlimited else max(1, len(events))
        batches = (events[start : start + most] for start in range(0, len(events), most))
        return [receipt for batch in batches for receipt in self._append(batch)]

    def _message(self, given: Mapping[str, Any]) -> NewEvent:
        if not isinstance(given, Mapping) or not {"speaker", "text"} <= given.keys():
            raise InvalidInput("a message is a mapping with speaker, text and what else is known")
        rest = {str(name): value for name, value in given.items()}
        speaker, text = rest.pop("speaker"), rest.pop("text")
        extra = {name: rest.pop(name) for name in ("role", "attachments") if name in rest}
        told = cast("Told", rest)
        return tell.message(self.viewer, speaker, text, now=self._parts.now(), told=told, **extra)

    def remember(self, text: str, *, scope: str | None = None, **told: Unpack[Told]) -> Receipt:
        """Keep exactly this, here or in a wider `scope` such as "project" or "user:alice"."""
        home = self.scope(scope)
        return self._append([tell.note(self.viewer, home, text, now=self._parts.now(), told=told)])[
            0
        ]

    def index(self, text: str, *, scope: str | None = None, **told: Unpack[Told]) -> Receipt:
        """Take in a document; it is found in pieces."""
        speaker = self.viewer.agent.value
        now = self._parts.now()
        return self._append([tell.document(self.scope(scope), speaker, text, now=now, told=told)])[
            0
        ]

    def set_fact(
        self,
        scope: str,
        key: str,
        value: Json,
        *,
        at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Keep an exact value under a key of a scope. Earlier values stay in the history."""
        home = self.scope(scope)
        stated = Fact(subject=str(home), predicate=key, value=value, exact=True)
        told: Told = {"at": at, "metadata": metadata}
        now = self._parts.now()
        return self._append([tell.fact(self.viewer, home, stated, now=now, told=told)])[0]

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
        aspect: str | None = None,  # of what: PREFERS of a color
        tense: str = "current",  # as it is, was (past) or will be (future)
        negated: bool = False,  # it is not so, or no more
        scope: str | None = None,
        **told: Unpack[Told],
    ) -> Receipt:
        """Append an observation: `add_fact("Tyler", "WORKS_AT", "Anthropic")`."""
        said = Fact(
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
        event = tell.fact(
            self.viewer,
            home,
            said,
            now=now,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            told=told,
        )
        return self._append([event], now)[0]

    # Finding

    @audited
    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        threshold: float | None = None,
        where: Mapping[str, Any] | Filter | None = None,
        kinds: Sequence[str | MemoryKind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        scope: str | None = None,
        as_of: datetime | None = None,
        per_conversation: int | None = None,
        explain: bool = False,
    ) -> Found:
        """Find what answers the question, best first, among what may be seen from here.

        Everything acknowledged before the call is taken into account; with `as_of`, only what
        had been told by then. Of one conversation come at most `per_conversation`, if that is not
        0. `explain` says of each hit how it came to its place.
        """
        defaults, now = self._parts.settings.search, self._parts.now()
        query = make_query(
            question,
            limit=_given(limit, defaults.default_limit),
            threshold=_given(threshold, defaults.default_threshold),
            where=where,
            kinds=kinds,
            since=since,
            until=until,
            per_conversation=_given(per_conversation, defaults.per_conversation),
            people=[person.value for person in self.viewer.people],
            now=now,
            as_of=as_of,
            explain=explain,
        )
        found = self._answered(self._narrowed(scope), query)
        if as_of is None:
            self._parts.used(self.viewer, (hit.memory.id for hit in found), now)
        return found

    @audited
    def recent(
        self,
        limit: int = 50,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Event]:
        """The newest things said here, newest first, from a stretch of time if given."""
        here = self.grant.within([self.viewer.home])
        return self._parts.store.ledger.find(
            here,
            where=parse_filter(where),
            since=None if since is None else clean_time(since, "since"),
            until=None if until is None else clean_time(until, "until"),
            limit=check_limit(limit, MOST_LISTED),
        )

    @audited
    def fact(self, scope: str, key: str, default: Any = RAISE) -> Any:
        """The newest exact value under this key, or NotFound if there is none and no default."""
        home = self.scope(scope)
        named = clean_text(key, "a key")
        known = self.facts(str(home), named, scope=scope, exact=True, limit=1)
        if known:
            return known[0].fact.value
        if default is RAISE:
            raise NotFound(f"no fact {key!r} in {home}")
        return default

    @audited
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
        """The log of observations, newest first: nothing is overwritten."""
        most = None if limit is None else check_limit(limit, MOST_LISTED)
        grant = self._narrowed(scope)
        wanted = {"subject": subject, "predicate": predicate, "object": object}
        given = {
            name: clean_text(value, f"the {name}")
            for name, value in wanted.items()
            if value is not None
        }
        self._parts.learner.catch_up(grant)
        conditions = [Condition(name, Op.EQ, value) for name, value in given.items()]
        where = Every((Condition("kind", Op.EQ, MemoryKind.FACT), *conditions))
        found = self._parts.store.memories.find(grant, where=where)
        return [m for m in found if exact is None or m.fact.exact == exact][:most]

    @audited
    def get(self, id: str) -> Memory:
        """One memory by its id."""
        wanted = str_only(id, "an id")
        with self._parts.telemetry.doing("get", workspace=self.viewer.workspace, record=wanted):
            found = self._parts.store.memories.get(self.grant, [wanted])
        if not found:
            raise NotFound(f"no memory {id!r} here")
        return found[0]

    @audited
    def strength(self, id: str) -> Strength:
        """How strong a memory is now, and why: its importance, its age and its uses seen here."""
        from .maintain.strengths import strength_of  # noqa: PLC0415

        memory, parts = self.get(id), self._parts
        parts.using.write()
        curve = parts.settings.maintain.strength.curve
        return strength_of(parts.store, self.grant, memory, now=parts.now(), curve=curve)

    @audited
    def sources(self, id: str) -> list[Event]:
        """The events a memory rests on: how we know."""
        return self._parts.store.ledger.get(self.grant, self.get(id).sources)

    # Waiting

    def flush(self) -> int:
        """Index and learn all that was acknowledged here; returns how much is still stuck."""
        return self._parts.learner.flush(self.grant)

    def progress(self, receipt: Receipt) -> Progress:
        """How far an event has come, and what holds it up."""
        check_receipt(receipt)
        known = self._parts.store.ledger.progress(self.grant, [receipt.event_id])
        if receipt.event_id not in known:
            raise NotFound(f"no event {receipt.event_id!r} here")
        return known[receipt.event_id]

    # Where

    def scope(self, name: str | None) -> Scope:
        """The scope meant from here: this place itself, a kind ("project"), or `kind:id`."""
        return self.viewer.home if name is None else self.viewer.scope(name)

    def _narrowed(self, scope: str | None) -> Grant:
        return self.grant if scope is None else self.grant.within([self.viewer.scope(scope)])


Value = TypeVar("Value")


def _given(value: Value | None, default: Value) -> Value:
    return default if value is None else value
