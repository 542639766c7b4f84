"""Knowledge of a place: entities, profiles, fact timelines, episodes and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..core.canonical import clean_list, clean_text, clean_time
from ..core.errors import NotFound
from ..core.ids import check_name
from ..core.records import Memory, MemoryKind
from ..core.records.memory import drop_copies
from ..recall.query import check_limit
from .base import PlaceBase, audit_read

if TYPE_CHECKING:
    from ..recall.views.entities import EntityView
    from ..recall.views.fact_timeline import FactTimeline
    from ..recall.views.profile import Profile
    from ..recall.views.sessions import OutdatedFact, Session, SessionScore

MAX_LISTED = 100_000


class KnowledgeMethods(PlaceBase):
    """The methods of a place that look up people, things and times."""

    @audit_read
    def fact_timeline(
        self,
        subject: str,
        predicate: str,
        *,
        at: datetime | None = None,
        as_of: datetime | None = None,
    ) -> FactTimeline:
        """Return the current and earlier values of a fact, with their times.

        `fact_timeline("Tyler", "WORKS_AT").now.fact.object` is the current employer. `at` returns
        the state at that time, as known today. `as_of` uses only facts recorded until then.
        """
        from ..recall.views.entities import find_spellings  # loaded on first use
        from ..recall.views.fact_timeline import build_timeline, facts_about  # loaded on first use

        subject, predicate = clean_text(subject, "a name"), clean_text(predicate, "a predicate")
        self._parts.learner.catch_up(self.grant)
        recorded_until = self._parts.now() if as_of is None else clean_time(as_of, "as_of")
        time = recorded_until if at is None else clean_time(at, "at")
        store = self._parts.store
        with store.snapshot():
            for name in self._possible_names(subject):
                names = sorted(find_spellings(store, self.grant, name, recorded_until))
                named = store.memories.find_by_name(
                    self.grant, names, limit=MAX_LISTED, kinds=[MemoryKind.FACT]
                )
                if facts := facts_about(drop_copies(named), names, predicate):
                    return build_timeline(facts, time, predicate, as_of=recorded_until)
        return build_timeline([], time)

    def _possible_names(self, name: str) -> Iterator[str]:
        """Yield the name, and "alice's NAME" if one user is here: "Mom" is that user's mother."""
        yield name
        if len(self.viewer.people) == 1:
            yield f"{self.viewer.people[0].value}'s {name}"

    @audit_read
    def entity(self, name: str) -> EntityView:
        """Return a person or thing by name, alias or address, with current facts.

        Raises NotFound if the viewer has no memory of that name.
        """
        from ..recall.views.entities import get_entity, resolve_name  # loaded on first use

        check_name(name, "the name")
        self._parts.learner.catch_up(self.grant)
        store, people = self._parts.store, [each.value for each in self.viewer.people]
        with store.snapshot():
            found = get_entity(store, self.grant, resolve_name(store, self.grant, name, people))
        if found is None:
            raise NotFound(f"no entity {name!r} here")
        return found

    @audit_read
    def entities(self, type: str | None = None, *, limit: int = 100) -> list[EntityView]:
        """List entities by name; `type` is "person", "company", "project" …"""
        from ..recall.views.entities import list_entities  # loaded on first use

        most = check_limit(limit, MAX_LISTED)
        self._parts.learner.catch_up(self.grant)
        return list_entities(self._parts.store, self.grant, type=type, limit=most)

    @audit_read
    def profile(self, person: str) -> Profile:
        """Return the profile of a person: facts, preferences, expertise, habits, writing style."""
        from ..recall.views.profile import get_profile  # loaded on first use

        check_name(person, "the person")
        self._parts.learner.catch_up(self.grant)
        return get_profile(self._parts.store, self.grant, person, now=self._parts.now())

    @audit_read
    def find_sessions(self, about: str | Iterable[str], *, limit: int = 5) -> list[SessionScore]:
        """Rank sessions and threads by their mentions of `about`: a question or names."""
        from ..recall.views.sessions import find_sessions  # loaded on first use

        query = about if isinstance(about, str) else clean_list(about, "names")
        check_limit(limit, MAX_LISTED)
        self._parts.learner.catch_up(self.grant)
        return find_sessions(
            self._parts.store, self.grant, query, now=self._parts.now(), limit=limit
        )

    @audit_read
    def outdated_facts(
        self, session: Session | str | None = None, thread: str | None = None
    ) -> list[OutdatedFact]:
        """Return facts of a session or thread that have changed since.

        `session` is a Session of `find_sessions` or a scope name; None is this place.
        """
        from ..recall.views.sessions import Session, find_outdated_facts  # loaded on first use

        if isinstance(session, Session):
            where = replace(session, scope=self.scope(str(session.scope)))
        else:
            where = Session(scope=self.scope(session), thread=thread)
        self._parts.learner.catch_up(self.grant)
        return find_outdated_facts(self._parts.store, self.grant, where, now=self._parts.now())

    @audit_read
    def episodes(
        self,
        span: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """List summaries of past conversations, newest first.

        `span` is "thread", "session", "day" or "week"; None lists all. `since` and `until` keep
        episodes that overlap this time.
        """
        from ..recall.views.episodes import list_episodes  # loaded on first use

        return list_episodes(
            self._parts.store,
            self.grant,
            span=span,
            since=None if since is None else clean_time(since, "since"),
            until=None if until is None else clean_time(until, "until"),
            limit=check_limit(limit, MAX_LISTED),
        )
