"""The leak test detects leaks: each seeded bug must be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nexusmem.core.access import Grant, administrator_grant
from nexusmem.core.errors import Conflict, NotFound
from nexusmem.core.records import Event, Memory
from nexusmem.observe import events as observe
from nexusmem.place.place import Place
from nexusmem.recall.views import profile
from nexusmem.stores.sqlite import connections
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.leaks.state_machine import run_leaktest
from nexusmem.testing.reference_store.ledger import ReferenceLedger
from nexusmem.testing.reference_store.memories import ReferenceMemories
from nexusmem.testing.reference_store.queue import ReferenceQueue
from nexusmem.testing.reference_store.state import StoreState
from nexusmem.testing.reference_store.store import ReferenceStore

PATIENCE = 400  # seconds: the number of runs decides, and is the same on a busy machine
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * PATIENCE)]

Patch = pytest.MonkeyPatch
MOST_RUNS = 100


def counts_before_filtering(patch: Patch) -> None:
    count = ReferenceStore.count_records
    patch.setattr(
        ReferenceStore,
        "count_records",
        lambda self, grant: {
            **count(self, grant),
            "events": count(self, administrator_grant(grant.workspace))["events"],
        },
    )


def counts_everybodys_work(patch: Patch) -> None:
    pending = ReferenceQueue.count_pending
    patch.setattr(
        ReferenceQueue,
        "count_pending",
        lambda self, grant: pending(self, administrator_grant(grant.workspace)),
    )


def statistics_over_everybody(patch: Patch) -> None:
    matching, describe = ReferenceMemories.search_keywords, ReferenceMemories.load_candidates

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        everything = administrator_grant(grant.workspace)
        visible = {memory.id for memory in self.find(grant, where=more["where"])}
        hits = matching(self, everything, terms, **{**more, "limit": 10**6})
        return [hit for hit in hits if hit.id in visible][: more["limit"]]

    def describing(self: Any, grant: Grant, ids: Any, terms: Any) -> Any:
        visible = {memory.id for memory in self.find(grant)}
        return describe(
            self, administrator_grant(grant.workspace), [i for i in ids if i in visible], terms
        )

    patch.setattr(ReferenceMemories, "search_keywords", leaking)
    patch.setattr(ReferenceMemories, "load_candidates", describing)


def filters_after_ranking(patch: Patch) -> None:
    matching = ReferenceMemories.search_keywords

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        visible = {hit.id for hit in matching(self, grant, terms, **more)}
        hits = matching(self, administrator_grant(grant.workspace), terms, **{**more, "limit": 3})
        scores = {hit.id: hit for hit in matching(self, grant, terms, **more)}
        return [scores[hit.id] for hit in hits if hit.id in visible]

    patch.setattr(ReferenceMemories, "search_keywords", leaking)


def checks_the_home_scope_only(patch: Patch) -> None:
    def visible(self: Any, grant: Grant, *, learned: bool = True) -> Iterator[Memory]:
        known = self.workspaces.get(grant.workspace)
        for memory in known.memories.values() if known else ():
            shown = grant.everything or memory.scope in grant.scopes
            if shown and (learned or not memory.learned):
                yield memory

    patch.setattr(StoreState, "visible_memories", visible)
    patch.setattr("nexusmem.recall.search._check_access", lambda *_: None)


def counts_what_everybody_learned(patch: Patch) -> None:
    matching = ReferenceMemories.search_keywords

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        if not more.get("learned"):
            return matching(self, grant, terms, **more)
        visible = {hit.id for hit in matching(self, grant, terms, **{**more, "limit": 10**6})}
        everything = administrator_grant(grant.workspace)
        hits = matching(self, everything, terms, **{**more, "limit": 10**6})
        return [hit for hit in hits if hit.id in visible][: more["limit"]]

    patch.setattr(ReferenceMemories, "search_keywords", leaking)


def finds_everybody_by_name(patch: Patch) -> None:
    named = ReferenceMemories.find_by_name
    patch.setattr(
        ReferenceMemories,
        "find_by_name",
        lambda self, grant, names, **more: named(
            self, administrator_grant(grant.workspace), names, **more
        ),
    )


def shows_everybodys_problems(patch: Patch) -> None:
    waiting = ReferenceQueue.list_pending
    patch.setattr(
        ReferenceQueue,
        "list_pending",
        lambda self, grant, *, limit: waiting(
            self, administrator_grant(grant.workspace), limit=limit
        ),
    )


def compares_dms_by_prefix(patch: Patch) -> None:
    events = StoreState.visible_events

    def visible(self: Any, grant: Grant) -> Iterator[Event]:
        own = tuple(f"dm:{s.ids[0]}" for s in grant.scopes if s.kind == "dm")
        everything = administrator_grant(grant.workspace)
        for event in events(self, everything):
            if grant.allows(frozenset({event.scope})) or (own and str(event.scope).startswith(own)):
                yield event

    patch.setattr(StoreState, "visible_events", visible)


def counts_ids(patch: Patch) -> None:
    append = ReferenceLedger.append

    def leaking(self: Any, workspace: Any, events: Any, **more: Any) -> Any:
        receipts = append(self, workspace, events, **more)
        length = len(self._state.get_workspace(workspace).entries)
        return [replace(receipt, event_id=f"{length}") for receipt in receipts]

    patch.setattr(ReferenceLedger, "append", leaking)


def caches_without_the_grant(patch: Patch) -> None:
    matching = ReferenceMemories.search_keywords

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        cache = self._state.__dict__.setdefault("cache", {})
        key = (grant.workspace, tuple(terms), repr(more))
        if key not in cache:
            cache[key] = matching(self, grant, terms, **more)
        return cache[key]

    patch.setattr(ReferenceMemories, "search_keywords", leaking)


def shares_keys_between_scopes(patch: Patch) -> None:
    repeated = ReferenceLedger._is_duplicate

    def leaking(self: Any, home: Any, fresh: Any, event: Any) -> bool:
        for known in home.iter_events():
            if known.key == event.key and known.scope != event.scope:
                raise Conflict(f"the key {event.key!r} was used before")
        return repeated(self, home, fresh, event)

    patch.setattr(ReferenceLedger, "_is_duplicate", leaking)


def says_that_it_exists(patch: Patch) -> None:
    get = Place.get

    def leaking(self: Any, id: str) -> Memory:
        everything = administrator_grant(self.viewer.workspace)
        if self._parts.store.memories.get(everything, [id]):
            try:
                return get(self, id)
            except NotFound:
                raise NotFound("you may not see this memory") from None
        return get(self, id)

    patch.setattr(Place, "get", leaking)


def counts_everybodys_messages(patch: Patch) -> None:
    patch.setattr(
        "nexusmem.recall.views.profile._load_messages", _for_everybody(profile._load_messages)
    )


def _for_everybody(read: Callable[..., Any]) -> Callable[..., Any]:
    """The same read, for whom may see everything."""
    return lambda store, grant, *rest, **more: read(
        store, administrator_grant(grant.workspace), *rest, **more
    )


def tells_what_it_was_shared_from(patch: Patch) -> None:
    along = observe.copy_content
    patch.setattr(observe, "copy_content", lambda memory: (along(memory)[0], {"was": memory.id}))


BUGS: list[Callable[[Patch], None]] = [
    tells_what_it_was_shared_from,
    counts_before_filtering,
    counts_everybodys_work,
    statistics_over_everybody,
    filters_after_ranking,
    checks_the_home_scope_only,
    counts_what_everybody_learned,
    finds_everybody_by_name,
    shows_everybodys_problems,
    compares_dms_by_prefix,
    counts_ids,
    caches_without_the_grant,
    shares_keys_between_scopes,
    says_that_it_exists,
    counts_everybodys_messages,
]


SEEDS = (3, 1)  # of random worlds: a bug may hide from one of them


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_seeded_bug_is_detected(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)

    for seed in SEEDS:
        report = run_leaktest(PATIENCE, ReferenceStore, seed=seed, max_runs=MOST_RUNS)
        if report.violations:
            break

    assert report.violations, f"{bug.__name__} went unnoticed: {report}"
    assert any(step.startswith("secretly") for step in report.violations[0].script)


SQL_BUGS = {
    "a label that is read with one of its scopes": (
        "readable_labels",
        lambda sql: sql.replace("HAVING count(*) = scope_count", ""),
    ),
    "a count of everybody's events": (
        "count_events",
        lambda _: "SELECT count(*) FROM events WHERE workspace = :workspace AND :labels <> ''",
    ),
    "events by id, without a look at the label": (
        "event_keys",
        lambda sql: sql.replace("label IN (SELECT value FROM json_each(:labels))", ":labels <> ''"),
    ),
    "names, without a look at the label": (
        "memories_by_name",
        lambda sql: sql.replace(
            "json_each(:labels) AS readable",
            "(SELECT label AS value FROM labels WHERE workspace = :workspace AND :labels <> '')"
            " AS readable",
        ),
    ),
}


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bug", SQL_BUGS)
def test_seeded_sql_bug_is_detected(bug: str, monkeypatch: Patch, tmp_path: Path) -> None:
    name, change = SQL_BUGS[bug]
    assert change(connections.SQL[name]) != connections.SQL[name]
    monkeypatch.setitem(connections.SQL, name, change(connections.SQL[name]))
    monkeypatch.setattr("nexusmem.recall.search._check_access", lambda *_: None)
    numbers = iter(range(10**6))

    report = run_leaktest(
        PATIENCE,
        lambda: SqliteStore(tmp_path / f"{next(numbers)}.db"),
        seed=1,
        max_runs=MOST_RUNS,
    )

    assert report.violations, f"{bug} went unnoticed: {report}"
