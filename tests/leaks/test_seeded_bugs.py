"""The leak test detects leaks: each seeded bug must be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nexusmem.core import access
from nexusmem.core.access import Grant, Viewer, administrator_grant
from nexusmem.core.errors import Conflict, NotFound
from nexusmem.core.flows import FLOW_SCOPES, FlowRule
from nexusmem.core.records import Event, Memory, MemoryKind
from nexusmem.core.scope import Scope, ScopeKind
from nexusmem.learn import flows
from nexusmem.learn.flows.decide import decide_topics
from nexusmem.observe import events as observe
from nexusmem.place.place import Place
from nexusmem.recall.views import profile
from nexusmem.stores.sqlite import connections
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.leaks.flow_worlds import AGENTS, USERS, run_flow_world
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
    patch.setattr(
        observe, "copy_content", lambda memory, by: (along(memory, by)[0], {"was": memory.id})
    )


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


# Bugs in the flows: something leaves its place, comes back, or does not arrive.


def _accept_every_copy(patch: Patch) -> None:
    """Turn off the checks of the store, which keep a wrong copy in its place."""
    patch.setattr("nexusmem.core.flows.is_covered", lambda *_: True)
    patch.setattr("nexusmem.core.derive._may_widen", lambda *_: True)


def _copy_more(patch: Patch, kind: ScopeKind, target: Callable[[Event], Scope]) -> None:
    """Copy what a person says about themselves in such a place to another scope, too."""
    copies = flows._EventFlows.all_copies

    def leaking(self: Any) -> Iterator[Any]:
        yield from copies(self)
        event = self.context.event
        if event.scope.kind is kind and self._is_by_person(event.scope.owner or event.speaker):
            rule = FlowRule.PROFILE if target(event).kind is ScopeKind.USER else FlowRule.AGENTS
            yield from self._self_copies(target(event), rule)

    patch.setattr(flows._EventFlows, "all_copies", leaking)


def copies_a_dm_to_the_shared_profile(patch: Patch) -> None:
    _accept_every_copy(patch)
    _copy_more(patch, ScopeKind.DM, lambda event: Scope.user(event.speaker))


def copies_a_private_session(patch: Patch) -> None:
    drop = lambda rule, target, _: frozenset({target, FLOW_SCOPES[rule]})  # noqa: E731
    patch.setattr("nexusmem.core.derive.widen_label", drop)
    _copy_more(patch, ScopeKind.PRIVATE_SESSION, lambda event: Scope.private(event.speaker))


def takes_a_private_session_for_a_shared_one(patch: Patch) -> None:
    home = access._home_scope
    patch.setattr(access, "_home_scope", lambda *given: home(*given[:4], False))


def copies_a_dm_to_everybody(patch: Patch) -> None:
    _accept_every_copy(patch)
    _copy_more(patch, ScopeKind.DM, lambda _: Scope.private(USERS[2]))


def overlooks_confidential_words(patch: Patch) -> None:
    patch.setattr("nexusmem.learn.flows.decide.is_confidential", lambda _: False)


def overlooks_sensitive_words(patch: Patch) -> None:
    patch.setattr("nexusmem.learn.flows.decide.sensitive_topic", lambda _: None)


def reads_only_a_part_of_the_message(patch: Patch) -> None:
    patch.setattr(flows._EventFlows, "_must_stay", lambda *_: False)


def ignores_the_confidential_option(patch: Patch) -> None:
    patch.setattr(flows, "CONFIDENTIAL_KEY", "nothing")


def ignores_what_is_asked_back(patch: Patch) -> None:
    patch.setattr(flows, "calls_back", lambda *_: False)


def keeps_copies_of_a_marked_message(patch: Patch) -> None:
    patch.setattr(flows, "withdraw_copies", lambda *_: 0)


def lets_a_correction_of_something_confidential_out(patch: Patch) -> None:
    patch.setattr(flows, "_replaced_events", lambda *_: [])


def keeps_copies_of_a_forgotten_memory(patch: Patch) -> None:
    patch.setattr("nexusmem.maintain.forget.find_copies", lambda *_: [])


def brings_back_what_was_corrected(patch: Patch) -> None:
    for module in ("flows", "relearn"):
        patch.setattr(
            f"nexusmem.learn.{module}.drop_erased_copies", lambda _store, _name, drafts: drafts
        )


def shows_copies_of_flows_that_are_off(patch: Patch) -> None:
    patch.setattr(access, "_flow_scopes", lambda _: tuple(FLOW_SCOPES.values()))


def copies_although_agents_share_nothing(patch: Patch) -> None:
    shows_copies_of_flows_that_are_off(patch)
    sharing = flows.FlowStep.apply

    def leaking(self: Any, *given: Any) -> Any:
        chosen = self.sharing
        step = replace(self, sharing=lambda name: replace(chosen(name), agents="profile"))
        return sharing(step, *given)

    patch.setattr(flows.FlowStep, "apply", leaking)


def copies_an_agents_words(patch: Patch) -> None:
    patch.setattr(flows._EventFlows, "_is_by_person", lambda *_: True)


def ignores_who_was_in_the_room(patch: Patch) -> None:
    _accept_every_copy(patch)
    patch.setattr(flows, "participants_of", lambda _: list(USERS))


def copies_to_another_project(patch: Patch) -> None:
    _accept_every_copy(patch)
    copies = flows._EventFlows._project_copies
    patch.setattr(
        flows._EventFlows, "_project_copies", lambda self, _: copies(self, Scope.project("q"))
    )


def copies_personal_things_of_a_room(patch: Patch) -> None:
    decide = decide_topics
    patch.setattr(
        flows,
        "decide_topics",
        lambda *given, **more: decide(*given, in_room=False, project=more["project"]),
    )


def copies_the_whole_message(patch: Patch) -> None:
    topics = flows._EventFlows._topics_of

    def leaking(self: Any, event: Event) -> Any:
        found = topics(self, event)
        return replace(found, self_text=event.text) if found.self_text else found

    patch.setattr(flows._EventFlows, "_topics_of", leaking)


def _show_more(patch: Patch, more: Callable[[Viewer], list[Scope]]) -> None:
    visible = Viewer._visible_scopes
    patch.setattr(Viewer, "_visible_scopes", lambda self: [*visible(self), *more(self)])


def shows_private_profiles_in_a_room(patch: Patch) -> None:
    _show_more(patch, lambda viewer: [Scope.private(each.value) for each in viewer.participants])


def shows_sessions_of_other_agents(patch: Patch) -> None:
    def more(viewer: Viewer) -> list[Scope]:
        if viewer.room or not viewer.user:
            return []
        return [Scope.dm(viewer.user.value, each) for each in AGENTS]

    _show_more(patch, more)


def shows_the_shared_profile_of_everybody(patch: Patch) -> None:
    _show_more(patch, lambda viewer: [Scope.user(name) for name in USERS])


def shares_no_session(patch: Patch) -> None:
    patch.setattr(flows.FlowStep, "mark_session", lambda _self, _event, drafts: list(drafts))


def forgets_the_second_participant(patch: Patch) -> None:
    people = flows.participants_of
    patch.setattr(flows, "participants_of", lambda event: people(event)[:1])


def copies_no_notes(patch: Patch) -> None:
    patch.setattr(flows, "COPIED_EVENTS", flows.COPIED_EVENTS[:1])


def copies_no_passages(patch: Patch) -> None:
    kinds = [kind for kind in flows.COPIED_KINDS if kind is not MemoryKind.PASSAGE]
    patch.setattr(flows, "COPIED_KINDS", kinds)


FLOW_BUGS: list[Callable[[Patch], None]] = [
    copies_a_dm_to_the_shared_profile,
    copies_a_private_session,
    takes_a_private_session_for_a_shared_one,
    copies_a_dm_to_everybody,
    overlooks_confidential_words,
    overlooks_sensitive_words,
    reads_only_a_part_of_the_message,
    ignores_the_confidential_option,
    ignores_what_is_asked_back,
    keeps_copies_of_a_marked_message,
    lets_a_correction_of_something_confidential_out,
    keeps_copies_of_a_forgotten_memory,
    brings_back_what_was_corrected,
    shows_copies_of_flows_that_are_off,
    copies_although_agents_share_nothing,
    copies_an_agents_words,
    ignores_who_was_in_the_room,
    copies_to_another_project,
    copies_personal_things_of_a_room,
    copies_the_whole_message,
    shows_private_profiles_in_a_room,
    shows_sessions_of_other_agents,
    shows_the_shared_profile_of_everybody,
    shares_no_session,
    forgets_the_second_participant,
    copies_no_notes,
    copies_no_passages,
]
MOST_WORLDS = 40


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bug", FLOW_BUGS, ids=lambda bug: bug.__name__)
def test_seeded_flow_bug_is_detected(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)

    found = next(filter(None, (run_flow_world(ReferenceStore, n) for n in range(MOST_WORLDS))), [])

    assert found, f"{bug.__name__} went unnoticed"


TWO_WORLD_BUGS: list[Callable[[Patch], None]] = [
    shows_sessions_of_other_agents,
    shows_private_profiles_in_a_room,
    copies_although_agents_share_nothing,
]


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bug", TWO_WORLD_BUGS, ids=lambda bug: bug.__name__)
def test_flow_bug_differs_between_two_worlds(
    bug: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    test_seeded_bug_is_detected(bug, monkeypatch)
