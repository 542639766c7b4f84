"""What a place knows of people and things: facts, entities, profiles, conversations, episodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from .core.access import Grant, Viewer
from .core.canonical import clean_list, clean_text, clean_time
from .core.errors import NotFound
from .core.ids import check_name
from .core.records import Memory, MemoryKind
from .reading import audited
from .recall.query import check_limit

if TYPE_CHECKING:
    from .core.scope import Scope
    from .recall.entities import EntityView
    from .recall.interpret import Interpretation
    from .recall.profile import Profile
    from .recall.sessions import Session, SessionScore, Stale
    from .wiring import Parts

MOST_LISTED = 100_000


class Knowing:
    """The part of a place that looks things up by name and by time."""

    _parts: Parts
    viewer: Viewer
    grant: Grant

    if TYPE_CHECKING:

        def scope(self, name: str | None) -> Scope: ...

    @audited
    def interpret(
        self,
        subject: str,
        predicate: str,
        *,
        at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> Interpretation:
        """What is true of somebody or something: now, before, and since when.

        `interpret("Tyler", "WORKS_AT").now.fact.object`; with `at`, how it was then by all that
        is known today; with `as_of`, as it was known then; with both, how it was at the one by
        what was known at the other.
        """
        from .recall.entities import names_of  # noqa: PLC0415
        from .recall.interpret import about, interpret  # noqa: PLC0415

        subject, predicate = clean_text(subject, "a name"), clean_text(predicate, "a predicate")
        self._parts.learner.catch_up(self.grant)
        known_by = self._parts.now() if as_of is None else clean_time(as_of, "as_of")
        asked = known_by if at is None else clean_time(at, "at")
        store = self._parts.store
        with store.moment():
            for name in self._meanings(subject):
                names = sorted(names_of(store, self.grant, name, known_by))
                named = store.memories.named(
                    self.grant, names, limit=MOST_LISTED, kinds=[MemoryKind.FACT]
                )
                if facts := about(named, names, predicate):
                    return interpret(facts, asked, predicate, known_by=known_by)
        return interpret([], asked)

    def _meanings(self, name: str) -> Iterator[str]:
        """Whom a name may mean: "Mom" is the mother of the one person who is here."""
        yield name
        if len(self.viewer.people) == 1:
            yield f"{self.viewer.people[0].value}'s {name}"

    @audited
    def entity(self, name: str) -> EntityView:
        """Somebody or something by name, alias or address, with the facts about them."""
        from .recall.entities import entity, meant  # noqa: PLC0415  # importing does not wait for it

        check_name(name, "the name")
        self._parts.learner.catch_up(self.grant)
        store, people = self._parts.store, [each.value for each in self.viewer.people]
        with store.moment():
            found = entity(store, self.grant, meant(store, self.grant, name, people))
        if found is None:
            raise NotFound(f"nobody and nothing called {name!r} here")
        return found

    @audited
    def entities(self, type: str | None = None, *, limit: int = 100) -> list[EntityView]:
        """Who and what is known here, by name; `type` is person, company, project, …"""
        from .recall.entities import entities  # noqa: PLC0415

        most = check_limit(limit, MOST_LISTED)
        self._parts.learner.catch_up(self.grant)
        return entities(self._parts.store, self.grant, type=type, limit=most)

    @audited
    def profile(self, person: str) -> Profile:
        """Who somebody is, as far as one may know here: a view over facts, and nothing stored."""
        from .recall.profile import profile  # noqa: PLC0415

        check_name(person, "the person")
        self._parts.learner.catch_up(self.grant)
        return profile(self._parts.store, self.grant, person, now=self._parts.now())

    @audited
    def sessions_knowing(self, names: str | Iterable[str], *, limit: int = 5) -> list[SessionScore]:
        """The sessions and threads that know somebody best: a question, or a list of names."""
        from .recall.sessions import route  # noqa: PLC0415

        asked = names if isinstance(names, str) else clean_list(names, "names")
        check_limit(limit, MOST_LISTED)
        self._parts.learner.catch_up(self.grant)
        return route(self._parts.store, self.grant, asked, now=self._parts.now(), limit=limit)

    @audited
    def stale(self, session: Session | str | None = None, thread: str | None = None) -> list[Stale]:
        """What a session or thread knew that is no longer so; this place, if none is named."""
        from .recall.sessions import Session, stale  # noqa: PLC0415

        if isinstance(session, Session):
            where = replace(session, scope=self.scope(str(session.scope)))
        else:
            where = Session(scope=self.scope(session), thread=thread)
        self._parts.learner.catch_up(self.grant)
        return stale(self._parts.store, self.grant, where, now=self._parts.now())

    @audited
    def episodes(
        self,
        span: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """What happened here in a few sentences, newest first: by thread, session, day or week."""
        from .recall.episodes import listed  # noqa: PLC0415

        return listed(
            self._parts.store,
            self.grant,
            span=span,
            since=None if since is None else clean_time(since, "since"),
            until=None if until is None else clean_time(until, "until"),
            limit=check_limit(limit, MOST_LISTED),
        )
