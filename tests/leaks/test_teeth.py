"""The leak test finds leaks: each of these bugs is put in on purpose, and must be noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nexus import observe
from nexus.core.access import Grant, administrator_grant
from nexus.core.errors import NotFound
from nexus.core.records import Event, Memory
from nexus.place import Place
from nexus.recall import profile
from nexus.stores import inprocess
from nexus.stores.inprocess import (
    InProcessLedger,
    InProcessMemories,
    InProcessQueue,
    InProcessStore,
    _State,
)
from nexus.stores.sqlite import connections
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.leaks import run_leaktest

PATIENCE = 400  # seconds: the number of runs decides, and is the same on a busy machine
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3 * PATIENCE)]

Patch = pytest.MonkeyPatch
MOST_RUNS = 100


def counts_before_filtering(patch: Patch) -> None:
    count = InProcessStore.count
    patch.setattr(
        InProcessStore,
        "count",
        lambda self, grant: {
            **count(self, grant),
            "events": count(self, administrator_grant(grant.workspace))["events"],
        },
    )


def counts_everybodys_work(patch: Patch) -> None:
    pending = InProcessQueue.pending
    patch.setattr(
        InProcessQueue,
        "pending",
        lambda self, grant: pending(self, administrator_grant(grant.workspace)),
    )


def statistics_over_everybody(patch: Patch) -> None:
    matching, describe = InProcessMemories.matching, InProcessMemories.describe

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

    patch.setattr(InProcessMemories, "matching", leaking)
    patch.setattr(InProcessMemories, "describe", describing)


def filters_after_ranking(patch: Patch) -> None:
    matching = InProcessMemories.matching

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        visible = {hit.id for hit in matching(self, grant, terms, **more)}
        hits = matching(self, administrator_grant(grant.workspace), terms, **{**more, "limit": 3})
        scores = {hit.id: hit for hit in matching(self, grant, terms, **more)}
        return [scores[hit.id] for hit in hits if hit.id in visible]

    patch.setattr(InProcessMemories, "matching", leaking)


def checks_the_home_scope_only(patch: Patch) -> None:
    def visible(self: Any, grant: Grant, *, learned: bool = True) -> Iterator[Memory]:
        known = self.workspaces.get(grant.workspace)
        for memory in known.memories.values() if known else ():
            shown = grant.everything or memory.scope in grant.scopes
            if shown and (learned or not memory.learned):
                yield memory

    patch.setattr(_State, "visible_memories", visible)
    patch.setattr("nexus.recall.answer._check_again", lambda *_: None)


def counts_what_everybody_learned(patch: Patch) -> None:
    matching = InProcessMemories.matching

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        if not more.get("learned"):
            return matching(self, grant, terms, **more)
        visible = {hit.id for hit in matching(self, grant, terms, **{**more, "limit": 10**6})}
        everything = administrator_grant(grant.workspace)
        hits = matching(self, everything, terms, **{**more, "limit": 10**6})
        return [hit for hit in hits if hit.id in visible][: more["limit"]]

    patch.setattr(InProcessMemories, "matching", leaking)


def finds_everybody_by_name(patch: Patch) -> None:
    named = InProcessMemories.named
    patch.setattr(
        InProcessMemories,
        "named",
        lambda self, grant, names, **more: named(
            self, administrator_grant(grant.workspace), names, **more
        ),
    )


def shows_everybodys_problems(patch: Patch) -> None:
    waiting = InProcessQueue.waiting
    patch.setattr(
        InProcessQueue,
        "waiting",
        lambda self, grant, *, limit: waiting(
            self, administrator_grant(grant.workspace), limit=limit
        ),
    )


def compares_dms_by_prefix(patch: Patch) -> None:
    events = _State.visible_events

    def visible(self: Any, grant: Grant) -> Iterator[Event]:
        own = tuple(f"dm:{s.ids[0]}" for s in grant.scopes if s.kind == "dm")
        everything = administrator_grant(grant.workspace)
        for event in events(self, everything):
            if grant.allows(frozenset({event.scope})) or (own and str(event.scope).startswith(own)):
                yield event

    patch.setattr(_State, "visible_events", visible)


def counts_ids(patch: Patch) -> None:
    append = InProcessLedger.append

    def leaking(self: Any, workspace: Any, events: Any, **more: Any) -> Any:
        receipts = append(self, workspace, events, **more)
        length = len(self._state.of(workspace).entries)
        return [replace(receipt, event_id=f"{length}") for receipt in receipts]

    patch.setattr(InProcessLedger, "append", leaking)


def caches_without_the_grant(patch: Patch) -> None:
    matching = InProcessMemories.matching

    def leaking(self: Any, grant: Grant, terms: Any, **more: Any) -> Any:
        cache = self._state.__dict__.setdefault("cache", {})
        key = (grant.workspace, tuple(terms), repr(more))
        if key not in cache:
            cache[key] = matching(self, grant, terms, **more)
        return cache[key]

    patch.setattr(InProcessMemories, "matching", leaking)


def shares_keys_between_scopes(patch: Patch) -> None:
    repeated = InProcessLedger._repeated

    def leaking(self: Any, home: Any, fresh: Any, event: Any) -> bool:
        for known in home.events():
            if known.key == event.key and known.scope != event.scope:
                raise inprocess.Conflict(f"the key {event.key!r} was used before")
        return repeated(self, home, fresh, event)

    patch.setattr(InProcessLedger, "_repeated", leaking)


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
    patch.setattr("nexus.recall.profile._messages", _for_everybody(profile._messages))


def _for_everybody(read: Callable[..., Any]) -> Callable[..., Any]:
    """The same read, for whom may see everything."""
    return lambda store, grant, *rest, **more: read(
        store, administrator_grant(grant.workspace), *rest, **more
    )


def tells_what_it_was_shared_from(patch: Patch) -> None:
    along = observe.told_along
    patch.setattr(observe, "told_along", lambda memory: (along(memory)[0], {"was": memory.id}))


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
def test_a_seeded_bug_is_noticed(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)

    for seed in SEEDS:
        report = run_leaktest(PATIENCE, InProcessStore, seed=seed, most_runs=MOST_RUNS)
        if report.violations:
            break

    assert report.violations, f"{bug.__name__} went unnoticed: {report}"
    assert any(step.startswith("secretly") for step in report.violations[0].script)


SQL_BUGS = {
    "a label that is read with one of its scopes": (
        "readable_labels",
        lambda sql: sql.replace("HAVING count(*) = size", ""),
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
        "named",
        lambda sql: sql.replace(
            "json_each(:labels) AS readable",
            "(SELECT label AS value FROM labels WHERE workspace = :workspace AND :labels <> '')"
            " AS readable",
        ),
    ),
}


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bug", SQL_BUGS)
def test_a_seeded_bug_in_the_sql_is_noticed(bug: str, monkeypatch: Patch, tmp_path: Path) -> None:
    name, change = SQL_BUGS[bug]
    assert change(connections.SQL[name]) != connections.SQL[name]
    monkeypatch.setitem(connections.SQL, name, change(connections.SQL[name]))
    monkeypatch.setattr("nexus.recall.answer._check_again", lambda *_: None)
    numbers = iter(range(10**6))

    report = run_leaktest(
        PATIENCE,
        lambda: SqliteStore(tmp_path / f"{next(numbers)}.db"),
        seed=1,
        most_runs=MOST_RUNS,
    )

    assert report.violations, f"{bug} went unnoticed: {report}"
