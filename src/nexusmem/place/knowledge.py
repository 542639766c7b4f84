"""Knowledge of a place: entities, profiles, fact timelines, episodes and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..core.canonical import clean_list, clean_text, clean_time
from ..core.derive import normalize_name
from ..core.errors import NotFound
from ..core.ids import check_name
from ..core.records import Memory, MemoryKind
from ..core.records.memory import drop_copies
from ..recall.query import check_limit, make_query
from ..recall.search import search_memories
from ..text.predicates import WE, normalize_predicate
from .base import PlaceBase, audit_read

if TYPE_CHECKING:
    from ..recall.views.entities import EntityView
    from ..recall.views.entity_search import EntityMatch
    from ..recall.views.fact_timeline import FactTimeline
    from ..recall.views.neighbourhood import Neighbourhood
    from ..recall.views.profile import Profile
    from ..recall.views.sessions import OutdatedFact, Session, SessionScore

MAX_LISTED = 100_000
MAX_SHARED_FACTS = 2_000  # newest facts about "we"
MAX_NEIGHBOURS = 1_000


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
        A derived fact with a confidence below 0.9 replaces no sure one; `unsure` lists such facts.
        The predicate may be spelled "works at".
        """
        from ..recall.views.fact_timeline import build_timeline, facts_about  # loaded on first use

        subject, predicate = clean_text(subject, "a name"), clean_text(predicate, "a predicate")
        recorded_until, time = self._clean_times(at, as_of)
        with self._parts.store.snapshot():
            for spelling in dict.fromkeys((predicate, normalize_predicate(predicate))):
                for names, named in self._facts_by_name(subject, as_of, recorded_until):
                    if facts := facts_about(named, names, spelling):
                        return build_timeline(facts, time, spelling, as_of=recorded_until)
        return build_timeline([], time)

    @audit_read
    def fact_timelines(
        self, subject: str, *, at: datetime | None = None, as_of: datetime | None = None
    ) -> dict[str, FactTimeline]:
        """Return the timeline of each relation of a person or thing, by predicate.

        `at` and `as_of` are those of `fact_timeline`. An unknown name has no timelines.
        """
        from ..recall.views.fact_timeline import build_timeline, facts_about  # loaded on first use

        subject = clean_text(subject, "a name")
        recorded_until, time = self._clean_times(at, as_of)
        with self._parts.store.snapshot():
            for names, named in self._facts_by_name(subject, as_of, recorded_until):
                stated = sorted({str(each.body["predicate"]) for each in named})
                found = {each: facts_about(named, names, each) for each in stated}
                if any(found.values()):
                    return {
                        predicate: build_timeline(facts, time, predicate, as_of=recorded_until)
                        for predicate, facts in found.items()
                        if facts
                    }
        return {}

    def _clean_times(
        self, at: datetime | None, as_of: datetime | None
    ) -> tuple[datetime, datetime]:
        """Return until when facts were recorded, and the time of the timeline; learn first."""
        self._parts.learner.catch_up(self.grant)
        recorded_until = self._parts.now() if as_of is None else clean_time(as_of, "as_of")
        return recorded_until, recorded_until if at is None else clean_time(at, "at")

    def _facts_by_name(
        self, subject: str, as_of: datetime | None, recorded_until: datetime
    ) -> Iterator[tuple[list[str], list[Memory]]]:
        """Yield the names that a subject may have, with the facts that name one of them."""
        from ..recall.views.entities import find_person_names  # loaded on first use

        store = self._parts.store
        for name in self._possible_names(subject, is_today=as_of is None):
            names = sorted(find_person_names(store, self.grant, name, recorded_until))
            named = store.memories.find_by_name(
                self.grant, names, limit=MAX_LISTED, kinds=[MemoryKind.FACT]
            )
            yield names, drop_copies([*named, *self._facts_about_us(names)])

    def _facts_about_us(self, names: Sequence[str]) -> list[Memory]:
        """Return the facts about "we", if one of the people here has one of these names."""
        if not any(normalize_name(each.value) in names for each in self.viewer.people):
            return []
        return self._parts.store.memories.find_by_name(
            self.grant, [WE], limit=MAX_SHARED_FACTS, kinds=[MemoryKind.FACT]
        )

    def _possible_names(self, name: str, *, is_today: bool) -> Iterator[str]:
        """Yield the name, "alice's NAME" if one user is here, and the full name that it means.

        The full name is that of today: a person of the same name may have been unknown before.
        """
        yield name
        people = [person.value for person in self.viewer.people]
        if len(people) == 1:
            yield f"{people[0]}'s {name}"
        if is_today:
            yield self._resolve_name(name)

    def _resolve_name(self, name: str) -> str:
        """Return the entity's name that a part of a name, a username or "mom" means here."""
        from ..recall.views.name_lookup import resolve_name  # loaded on first use

        people = [person.value for person in self.viewer.people]
        return resolve_name(self._parts.store, self.grant, name, people)

    @audit_read
    def entity(self, name: str) -> EntityView:
        """Return a person or thing by name, alias, username or address, with sure facts.

        A part of a name is enough if only one person here has it. Raises NotFound if the viewer
        has no memory of that name; the error lists people that the name may mean.
        """
        from ..recall.views.entities import get_entity  # loaded on first use

        check_name(name, "the name")
        self._parts.learner.catch_up(self.grant)
        store = self._parts.store
        with store.snapshot():
            known_name = self._resolve_name(name)
            found = get_entity(store, self.grant, known_name, now=self._parts.now())
            if found is None:
                raise self._entity_not_found(name)
        return found

    def _entity_not_found(self, name: str) -> NotFound:
        from ..recall.views.name_lookup import suggest_names  # loaded on first use

        similar = suggest_names(self._parts.store, self.grant, name)
        hint = f"; it may mean {' or '.join(similar)}" if similar else ""
        return NotFound(f"no entity {name!r} here{hint}")

    @audit_read
    def find_entities(
        self, query: str, *, type: str | None = None, limit: int = 10
    ) -> list[EntityMatch]:
        """Search people and things by words and by meaning, best first.

        `query` is compared with names, aliases, types, descriptions and the texts of facts:
        `find_entities("the vet")`. Each match has its score and the facts that match. `type` keeps
        only "person", "company", "project" …
        """
        from ..recall.views.entity_search import (  # loaded on first use
            MAX_HITS,
            SEARCHED_KINDS,
            find_entities,
        )

        most = check_limit(limit, MAX_LISTED)
        now = self._parts.now()
        search = make_query(query, limit=MAX_HITS, threshold=0.0, kind=SEARCHED_KINDS, now=now)
        self._parts.learner.catch_up(self.grant)
        hits = search_memories(self._parts.store, self._parts.ranking, self.grant, search)
        return find_entities(
            self._parts.store, self.grant, search.question, hits, type=type, limit=most
        )

    @audit_read
    def neighbourhood(self, name: str, *, depth: int = 2, limit: int = 100) -> Neighbourhood:
        """Return the entities that facts connect with a person or thing, nearest first.

        `depth` is the number of facts between them, from 1 to 4. At most `limit` neighbours are
        returned; `is_complete` is False if there may be more. Raises NotFound as `entity` does.
        """
        from ..recall.views.neighbourhood import get_neighbourhood  # loaded on first use

        check_name(name, "the name")
        most = check_limit(limit, MAX_NEIGHBOURS)
        self._parts.learner.catch_up(self.grant)
        store, now = self._parts.store, self._parts.now()
        resolved = self._resolve_name(name)
        found = get_neighbourhood(store, self.grant, resolved, depth=depth, limit=most, now=now)
        if found is None:
            raise self._entity_not_found(name)
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
        name = self._resolve_name(person)
        return get_profile(self._parts.store, self.grant, name, now=self._parts.now())

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
        about: str | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        """List summaries of past conversations, newest first.

        `span` is "thread", "session", "day" or "week"; None lists all. `since` and `until` keep
        episodes that overlap this time. `about` keeps episodes that mention a person or thing,
        under any of its names.
        """
        from ..recall.views.episodes import list_episodes  # loaded on first use

        return list_episodes(
            self._parts.store,
            self.grant,
            span=span,
            since=None if since is None else clean_time(since, "since"),
            until=None if until is None else clean_time(until, "until"),
            about=None if about is None else self._find_spellings(about),
            limit=check_limit(limit, MAX_LISTED),
        )

    def _find_spellings(self, name: str) -> list[str]:
        from ..recall.views.entities import find_spellings  # loaded on first use

        check_name(name, "the name")
        self._parts.learner.catch_up(self.grant)
        with self._parts.store.snapshot():
            resolved = self._resolve_name(name)
            return sorted(find_spellings(self._parts.store, self.grant, resolved))
