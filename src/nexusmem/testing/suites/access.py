"""Access control: every read, by every viewer, in every scope."""

from __future__ import annotations

import copy
import pickle
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import Grant, Viewer, administrator_grant
from ...core.errors import InvalidInput
from ...core.filters import parse_filter
from ...core.flows import FLOW_SCOPES, NO_SHARING, FlowRule, Sharing, shared_scope
from ...core.ids import AgentId, UserId, WorkspaceId
from ...core.protocols.memories import ScoredId
from ...core.protocols.store import Store
from ...core.protocols.usage_counts import NewUsage
from ...core.records import Draft, Json, Memory, MemoryKind, Trust
from ...core.records.event import PARTICIPANTS_KEY, PROJECT_KEY
from ...core.scope import Scope, ScopeKind
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    BOB,
    IN_ROOM,
    LATER,
    NOON,
    OTHER,
    PROJECT,
    ROOM,
    TEST_PROFILE,
    add_memory,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)
from ..store_reads import (
    STORE_READS,
    SampleNames,
    build_expected_reads,
    fact_fields,
    fill_scopes,
    run_all_reads,
)

SESSION = replace(ALICE, session="monday")
PRIVATE_SESSION = replace(SESSION, private=True)
CAROL_IN_ROOM = replace(IN_ROOM, user=UserId("carol"))  # the viewer is not a participant there
VIEWERS = {
    "room": IN_ROOM,
    "carol": CAROL_IN_ROOM,
    "alice": ALICE,
    "bob": BOB,
    "session": SESSION,
    "private": PRIVATE_SESSION,
    "walled": replace(SESSION, sharing=NO_SHARING),
}

# The access tables of the specification, written by hand: every scope, and the viewers that may
# read it.
READABLE_FROM = {
    Scope.workspace(): "room carol alice bob session private walled",
    Scope.agent("scribe"): "room carol alice bob session private walled",
    Scope.agent("critic"): "",
    Scope.project("apollo"): "room carol alice bob session private walled",
    Scope.project("apollo 2"): "",
    Scope.room("design"): "room carol",
    Scope.room("design 2"): "",
    Scope.user("alice"): "room carol alice session private walled",
    Scope.user("bob"): "room carol bob",
    Scope.user("carol"): "",
    Scope.private("alice"): "alice session private walled",
    Scope.private("bob"): "bob",
    Scope.private("carol"): "",
    Scope.dm("alice", "scribe"): "alice session private",
    Scope.dm("alice", "critic"): "",
    Scope.dm("bob", "scribe"): "bob",
    Scope.dm("bob", "critic"): "",
    Scope.session("alice", "scribe", "monday"): "session walled",
    Scope.session("alice", "scribe", "tuesday"): "",
    Scope.session("alice", "critic", "monday"): "",
    Scope.session("bob", "scribe", "monday"): "",
    Scope.session("alice", "scribe", "monday", private=True): "private",
    Scope.session("alice", "scribe", "tuesday", private=True): "",
    Scope.session("alice", "critic", "monday", private=True): "",
    Scope.session("bob", "scribe", "monday", private=True): "",
    Scope(ScopeKind.SESSION, ("alice", "monday")): "",  # of an earlier version, without an agent
    Scope.worker(): "",
}

# Names that are easy to confuse with each other or with a pattern.
LOOKALIKES = (
    "ann anna Ann a:b a%3Ab a%253Ab % _ * a'b a\"b a\\b null 0"
    " \N{LATIN SMALL LETTER A WITH DIAERESIS} a\N{COMBINING DIAERESIS}"
).split()


def invalid_grants() -> dict[str, object]:
    changed = ALICE.grant()
    object.__setattr__(changed, "everything", True)
    widened = ALICE.grant()
    object.__setattr__(widened, "scopes", widened.scopes | {ROOM})
    return {
        "nothing": None,
        "a viewer": IN_ROOM,
        "a scope": ROOM,
        "an empty shell": object.__new__(Grant),
        "a grant for everything": changed,
        "a wider grant": widened,
        "text": "everything",
    }


class AccessSuite:
    """Needs a fixture `store` that yields an empty store."""

    @pytest.mark.parametrize("learned", [False, True], ids=["explicit", "learned"])
    @pytest.mark.parametrize("viewer", VIEWERS)
    def test_scope_is_readable_only_by_allowed_viewers(
        self, store: Store, viewer: str, learned: bool
    ) -> None:
        samples = fill_scopes(store, READABLE_FROM, learned=learned)
        fill_scopes(store, [Scope.room("design"), Scope.workspace()], workspace=OTHER)

        shown = run_all_reads(store, VIEWERS[viewer].grant(), samples)

        allowed = {
            str(scope) for scope, places in READABLE_FROM.items() if viewer in places.split()
        }
        assert shown == build_expected_reads(allowed, learned=learned)

    @pytest.mark.parametrize(
        "viewer",
        [
            lambda name: replace(IN_ROOM, room=name, participants=()),
            lambda name: replace(IN_ROOM, room="?", participants=(UserId(name),)),
            lambda name: replace(IN_ROOM, room="?", participants=(), project=name),
            lambda name: replace(ALICE, user=UserId(name)),
            lambda name: replace(ALICE, agent=AgentId(name)),
            lambda name: replace(ALICE, session=name),
            lambda name: replace(ALICE, session=name, private=True),
        ],
        ids="room participant project user agent session private_session".split(),
    )
    def test_lookalike_names_are_distinct(
        self, store: Store, viewer: Callable[[str], Viewer]
    ) -> None:
        samples = fill_scopes(
            store, {scope for name in LOOKALIKES for scope in viewer(name).grant().places}
        )

        for name in LOOKALIKES:
            grant = viewer(name).grant()
            allowed = {str(scope) for scope in grant.places}
            assert run_all_reads(store, grant, samples) == build_expected_reads(allowed)

    def test_colon_in_name_keeps_scopes_apart(self, store: Store) -> None:
        one, other = Scope.dm("a:b", "c"), Scope.dm("a", "b:c")
        samples = fill_scopes(store, [one, other])

        shown = STORE_READS["memories.find"](store, ADMIN.narrow_to([one]), samples)

        assert shown == {str(one)}

    def test_empty_grant_reads_nothing(self, store: Store) -> None:
        samples = fill_scopes(store, [ROOM, Scope.workspace()])

        for grant in (ADMIN.narrow_to([]), ALICE.grant().narrow_to([ROOM])):
            assert run_all_reads(store, grant, samples) == build_expected_reads(set())

    def test_grant_does_not_cross_workspaces(self, store: Store) -> None:
        samples = fill_scopes(store, [ROOM, Scope.workspace()])
        unknown = administrator_grant(OTHER)
        assert run_all_reads(store, unknown, samples) == build_expected_reads(set())

        fill_scopes(store, [Scope.project("theirs")], workspace=OTHER)

        inside = replace(IN_ROOM, workspace=OTHER).grant()
        assert run_all_reads(store, inside, samples) == build_expected_reads(set())
        ours = {str(ROOM), str(Scope.workspace())}
        assert run_all_reads(store, ADMIN, samples) == build_expected_reads(ours)

    @pytest.mark.parametrize("forgery", invalid_grants())
    def test_invalid_grant_is_rejected(self, store: Store, forgery: str) -> None:
        samples = fill_scopes(store, [ROOM, Scope.workspace()])
        forged: Any = invalid_grants()[forgery]
        allowed = {"queue.claim"} if forged is None else set()  # None: the call of a worker

        for way in STORE_READS.keys() - allowed:
            with pytest.raises(TypeError):
                STORE_READS[way](store, forged, samples)

    def test_grant_cannot_be_forged(self) -> None:
        grant = ALICE.grant()

        for forge in (
            Grant,
            lambda: copy.copy(grant),
            lambda: copy.deepcopy(grant),
            lambda: pickle.dumps(grant),
            lambda: type("Wider", (Grant,), {}),
        ):
            with pytest.raises(TypeError):
                forge()
        with pytest.raises(AttributeError):
            grant.everything = True

    def test_grant_can_only_be_narrowed(self, store: Store) -> None:
        samples = fill_scopes(store, READABLE_FROM)

        narrowed = ALICE.grant().narrow_to([Scope.user("alice"), Scope.user("bob"), ROOM])

        assert STORE_READS["memories.find"](store, narrowed, samples) == {"user:alice"}
        assert STORE_READS["memories.find"](store, narrowed.narrow_to(READABLE_FROM), samples) == {
            "user:alice"
        }


EVENT_READS = ("ledger", "queue", "count events", "window")
ROOM_METADATA: dict[str, Json] = {PROJECT_KEY: "apollo", PARTICIPANTS_KEY: ["alice", "bob"]}


def derive_fact(
    store: Store,
    target_scope: Scope,
    sources: Sequence[Scope],
    *,
    learned: bool = False,
    flow: FlowRule | None = None,
    **event_fields: Any,
) -> Memory:
    """Store a fact about tea in one scope, derived from one event in each of the other
    scopes.
    """
    fields = {"metadata": ROOM_METADATA, **event_fields}
    events = [make_event(f"in {scope}", scope=scope, **fields) for scope in sources]
    drafted = make_draft(
        *append_events(store, *events),
        scope=target_scope,
        text="tea",
        learned=learned,
        flow=flow,
        speaker="alice" if flow else None,
        **fact_fields("IS"),
    )
    (memory,) = store.memories.put(ACME, [drafted])
    put_vectors(store, {memory.id: unit_vector(1)})
    place = shared_scope(target_scope) if flow is FlowRule.SESSIONS else target_scope
    shown = NewUsage(scope=place, conversation="", ids=(memory.id,), at=memory.at)
    store.usage_counts.add(ACME, [shown])
    return memory


def count_reads(store: Store, grant: Grant, memory: Memory) -> set[int]:
    """Return how many reads return this memory, which is the only one in the store."""
    shown = run_all_reads(
        store, grant, SampleNames(events=IdentityMapping(), memories={memory.id: "it"})
    )
    could = build_expected_reads({"it"}, learned=memory.learned)
    return {
        amount if isinstance(amount, int) else len(amount)
        for way, amount in shown.items()
        if could[way] and not way.startswith(EVENT_READS)
    }


class IdentityMapping(dict[str, str]):
    def __missing__(self, id: str) -> str:
        return id


ALICE_PRIVATE = Scope.private("alice")
MONDAY = Scope.session("alice", "scribe", "monday")
SECRET_MONDAY = Scope.session("alice", "scribe", "monday", private=True)
OTHER_AGENT = replace(ALICE, agent=AgentId("critic"))
OTHER_ROOM = replace(IN_ROOM, room="kitchen", project=None)
FLOW_READERS: dict[str, Viewer] = {
    "dm": ALICE,
    "session": replace(ALICE, session="tuesday"),
    "private session": PRIVATE_SESSION,
    "other agent": OTHER_AGENT,
    "other session": replace(OTHER_AGENT, session="monday"),
    "room": IN_ROOM,
    "other room": OTHER_ROOM,
    "strangers": replace(OTHER_ROOM, participants=(UserId("carol"),)),
    "bob": BOB,
    "bob elsewhere": replace(BOB, project=None),
}
PRIVATE_READERS = {"dm", "session", "private session", "other agent", "other session"}
PROJECT_READERS = FLOW_READERS.keys() - {"other room", "strangers", "bob elsewhere"}


# The table of flows, written by hand: rule, place of the message, scope of the copy, its readers.
COPIES: list[tuple[FlowRule, Scope, Scope, Set[str]]] = [
    (FlowRule.SESSIONS, MONDAY, MONDAY, {"dm", "session", "private session"}),
    (FlowRule.AGENTS, ALICE_DM, ALICE_PRIVATE, PRIVATE_READERS),
    (FlowRule.AGENTS, MONDAY, ALICE_PRIVATE, PRIVATE_READERS),
    (FlowRule.EVERYTHING, ALICE_DM, ALICE_PRIVATE, PRIVATE_READERS),
    (FlowRule.PROFILE, ROOM, ALICE_PROFILE, PRIVATE_READERS | {"room", "other room"}),
    (FlowRule.PROJECT, ROOM, PROJECT, PROJECT_READERS),
    (FlowRule.ROOMS, ROOM, ALICE_PRIVATE, PRIVATE_READERS),
]
COPY_NAMES = [f"{rule.value} from {source}" for rule, source, _, _ in COPIES]
ALL_FLOWS = Sharing(agents="everything", rooms=True)
WITHOUT = {
    FlowRule.SESSIONS: replace(ALL_FLOWS, sessions=False),
    FlowRule.AGENTS: replace(ALL_FLOWS, agents="none"),
    FlowRule.EVERYTHING: replace(ALL_FLOWS, agents="profile"),
    FlowRule.PROFILE: replace(ALL_FLOWS, profile=False),
    FlowRule.PROJECT: replace(ALL_FLOWS, project=False),
    FlowRule.ROOMS: replace(ALL_FLOWS, rooms=False),
}

# Copies that no row of the table allows: the label keeps the place of the message.
FORBIDDEN_COPIES = [
    (FlowRule.PROFILE, ALICE_DM, ALICE_PROFILE),
    (FlowRule.PROJECT, ALICE_DM, PROJECT),
    (FlowRule.PROJECT, MONDAY, PROJECT),
    (FlowRule.PROJECT, ROOM, Scope.workspace()),
    (FlowRule.ROOMS, ALICE_DM, Scope.private("bob")),
    (FlowRule.ROOMS, ROOM, Scope.user("alice")),
    (FlowRule.AGENTS, ALICE_DM, Scope.private("bob")),
    (FlowRule.AGENTS, ALICE_DM, ALICE_PROFILE),
    (FlowRule.AGENTS, ALICE_DM, ROOM),
    (FlowRule.AGENTS, ROOM, ALICE_PRIVATE),
    (FlowRule.AGENTS, SECRET_MONDAY, ALICE_PRIVATE),
    (FlowRule.EVERYTHING, SECRET_MONDAY, ALICE_PRIVATE),
    (FlowRule.SESSIONS, SECRET_MONDAY, MONDAY),
    (FlowRule.SESSIONS, Scope.session("alice", "critic", "monday"), MONDAY),
    (FlowRule.SESSIONS, Scope.session("bob", "scribe", "monday"), MONDAY),
    (FlowRule.SESSIONS, ROOM, MONDAY),
]


class AccessLabelSuite:
    """Needs a fixture `store` that yields an empty store."""

    @pytest.mark.parametrize("learned", [False, True], ids=["explicit", "learned"])
    def test_memory_of_two_scopes_needs_both(self, store: Store, learned: bool) -> None:
        memory = derive_fact(store, ROOM, [ROOM, ALICE_DM], learned=learned)

        assert memory.label == {ROOM, ALICE_DM}
        assert count_reads(store, ADMIN.narrow_to([ROOM, ALICE_DM]), memory) == {1}
        for grant in (ADMIN.narrow_to([ROOM]), ADMIN.narrow_to([ALICE_DM]), IN_ROOM.grant()):
            assert count_reads(store, grant, memory) == {0}

    def test_profile_fact_from_dm_is_hidden_in_room(self, store: Store) -> None:
        memory = derive_fact(store, ALICE_PROFILE, [ALICE_DM])

        assert count_reads(store, ALICE.grant(), memory) == {1}
        assert count_reads(store, IN_ROOM.grant(), memory) == {0}

    @pytest.mark.parametrize("into", [Scope.workspace(), PROJECT, Scope.agent("scribe")], ids=str)
    def test_promotion_does_not_widen_access(self, store: Store, into: Scope) -> None:
        memory = derive_fact(store, into, [ALICE_DM])

        assert count_reads(store, ALICE.grant(), memory) == {1}
        assert count_reads(store, IN_ROOM.grant(), memory) == {0}

    def test_labels_are_inherited_by_derived_memories(self, store: Store) -> None:
        first = derive_fact(store, ALICE_PROFILE, [ALICE_DM])
        (second,) = store.memories.put(
            ACME, [make_draft(first.id, scope=Scope.workspace(), slot="2")]
        )
        (third,) = store.memories.put(ACME, [make_draft(second.id, scope=PROJECT, slot="3")])

        assert third.label == {ALICE_DM, ALICE_PROFILE, Scope.workspace(), PROJECT}
        assert store.memories.get(IN_ROOM.grant(), [first.id, second.id, third.id]) == []
        assert store.memories.get(ALICE.grant(), [third.id]) == [third]

    @pytest.mark.parametrize(("rule", "source", "target", "readers"), COPIES, ids=COPY_NAMES)
    def test_copy_is_readable_where_its_flow_says(
        self, store: Store, rule: FlowRule, source: Scope, target: Scope, readers: Set[str]
    ) -> None:
        memory = derive_fact(store, target, [source], flow=rule)

        for name, viewer in FLOW_READERS.items():
            grant = replace(viewer, sharing=ALL_FLOWS).grant()
            assert count_reads(store, grant, memory) == {int(name in readers)}, name

    @pytest.mark.parametrize(
        ("rule", "source", "target"), [copy[:3] for copy in COPIES], ids=COPY_NAMES
    )
    def test_flow_that_is_off_hides_its_copies(
        self, store: Store, rule: FlowRule, source: Scope, target: Scope
    ) -> None:
        memory = derive_fact(store, target, [source], flow=rule)

        for name, viewer in FLOW_READERS.items():
            grant = replace(viewer, sharing=WITHOUT[rule]).grant()
            assert count_reads(store, grant, memory) == {0}, name
            assert count_reads(store, grant.narrow_to(READABLE_FROM), memory) == {0}, name

    @pytest.mark.parametrize(("rule", "source", "target"), FORBIDDEN_COPIES, ids=str)
    def test_copy_outside_the_table_keeps_the_label_of_its_source(
        self, store: Store, rule: FlowRule, source: Scope, target: Scope
    ) -> None:
        memory = derive_fact(store, target, [source], flow=rule)

        assert source in memory.label
        for name, viewer in FLOW_READERS.items():
            shared = replace(viewer, sharing=ALL_FLOWS).grant()
            if source not in shared.scopes:
                assert count_reads(store, shared, memory) == {0}, name

    @pytest.mark.parametrize(
        ("rule", "target", "event_fields"),
        [
            (FlowRule.PROFILE, ALICE_PROFILE, {"speaker": "bob"}),
            (FlowRule.PROJECT, PROJECT, {"metadata": {PROJECT_KEY: "zeus"}}),
            (FlowRule.PROJECT, PROJECT, {"metadata": {}}),
            (FlowRule.ROOMS, ALICE_PRIVATE, {"metadata": {PARTICIPANTS_KEY: ["bob"]}}),
            (FlowRule.ROOMS, ALICE_PRIVATE, {"metadata": {PARTICIPANTS_KEY: "alice"}}),
            (FlowRule.ROOMS, ALICE_PRIVATE, {"metadata": {}}),
        ],
        ids=str,
    )
    def test_copy_of_another_speaker_project_or_participant_keeps_the_label(
        self, store: Store, rule: FlowRule, target: Scope, event_fields: dict[str, Any]
    ) -> None:
        memory = derive_fact(store, target, [ROOM], flow=rule, **event_fields)

        assert memory.label == {ROOM, target}

    def test_copy_of_two_places_needs_the_place_that_its_flow_does_not_cover(
        self, store: Store
    ) -> None:
        memory = derive_fact(store, ALICE_PROFILE, [ROOM, ALICE_DM], flow=FlowRule.PROFILE)

        assert memory.label == {ALICE_PROFILE, ALICE_DM, FLOW_SCOPES[FlowRule.PROFILE]}
        assert count_reads(store, ALICE.grant(), memory) == {1}
        assert count_reads(store, IN_ROOM.grant(), memory) == {0}

    def test_memory_of_private_session_stays_inside(self, store: Store) -> None:
        memory = derive_fact(store, SECRET_MONDAY, [SECRET_MONDAY])

        assert memory.label == {SECRET_MONDAY}
        assert count_reads(store, PRIVATE_SESSION.grant(), memory) == {1}
        for name in FLOW_READERS.keys() - {"private session"}:
            assert count_reads(store, FLOW_READERS[name].grant(), memory) == {0}, name

    def test_memory_made_of_shared_memories_is_shared(self, store: Store) -> None:
        first = derive_fact(store, MONDAY, [MONDAY], flow=FlowRule.SESSIONS)
        (second,) = store.memories.put(ACME, [make_draft(first.id, scope=MONDAY, slot="2")])

        assert first.label == second.label == {ALICE_DM, FLOW_SCOPES[FlowRule.SESSIONS]}

    def test_dossier_needs_all_scopes_of_its_reach(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))
        made = make_draft(
            source, kind=MemoryKind.DOSSIER, body={"reach": ["room:design", "user:bob"]}
        )
        (memory,) = store.memories.put(ACME, [made])

        assert memory.label == {ROOM, Scope.user("bob")}
        assert store.memories.get(IN_ROOM.grant(), [memory.id]) == [memory]
        assert store.memories.find(ADMIN.narrow_to([ROOM])) == []
        with pytest.raises(InvalidInput, match="reach"):
            store.memories.put(ACME, [replace(made, body={"reach": "room:design"})])

    def test_trust_is_lowest_of_sources(self, store: Store) -> None:
        direct, outside, model = append_events(
            store,
            make_event("1", trust=Trust.DIRECT),
            make_event("2", trust=Trust.EXTERNAL),
            make_event("3", trust=Trust.INFERRED),
        )

        mixed, clean = store.memories.put(ACME, [make_draft(direct, outside), make_draft(direct)])
        (deeper,) = store.memories.put(ACME, [make_draft(mixed.id, model)])

        assert clean.trust is Trust.DIRECT
        assert mixed.trust is Trust.EXTERNAL
        assert deeper.trust is Trust.EXTERNAL

    def test_unreadable_rows_do_not_change_scores(self, store: Store) -> None:
        sources = append_events(store, *(make_event(str(n)) for n in range(6)))
        drafts = [make_draft(id, text="tea " * n + "milk") for n, id in enumerate(sources)]
        put = store.memories.put(ACME, drafts)
        put_vectors(store, {memory.id: unit_vector(1, n) for n, memory in enumerate(put)})
        before = self._rank_hits(store, IN_ROOM.grant())

        hidden = append_events(store, *(make_event(f"x{n}", scope=ALICE_DM) for n in range(40)))
        secret = [make_draft(id, scope=ALICE_DM, text="tea milk sugar " * 9) for id in hidden]
        mixed = [make_draft(id, sources[0], text="tea") for id in hidden]
        for memory in store.memories.put(ACME, [*secret, *mixed]):
            put_vectors(store, {memory.id: unit_vector(1)})

        assert self._rank_hits(store, IN_ROOM.grant()) == before
        assert len(before[0]) == 5

    def test_other_workspaces_do_not_change_scores(self, store: Store) -> None:
        for n in range(3):
            memory = add_memory(store, str(n), "tea " * n + "milk")
            put_vectors(store, {memory.id: unit_vector(1, n)})
        before = self._rank_hits(store, ADMIN)

        for n in range(9):
            memory = add_memory(store, f"x{n}", "tea milk sugar " * 9, workspace=OTHER)
            put_vectors(store, {memory.id: unit_vector(1)}, OTHER)

        assert self._rank_hits(store, ADMIN) == before
        assert len(before[0]) == 2

    def _rank_hits(self, store: Store, grant: Grant) -> tuple[list[ScoredId], list[ScoredId]]:
        return (
            store.memories.search_keywords(grant, ["tea", "sugar"], limit=5),
            store.vectors.find_nearest(grant, TEST_PROFILE, unit_vector(1), limit=5),
        )


MINUTE = timedelta(minutes=1)
WORDS = "tea milk sugar cake jam toast".split()
QUERY_TERMS = ["tea", "sugar", "jam"]
FACT_BODY = {"subject": "Ada", "predicate": "LIKES", "object": "tea"}


def passage_drafts(sources: list[str]) -> list[Draft]:
    """Return passages of two conversations in two scopes."""
    return [
        make_draft(
            source,
            text=" ".join(WORDS[n % 6 :] * (1 + n % 3)),
            at=NOON + n * MINUTE,
            thread="t" if n % 2 else None,
            scope=ALICE_DM if n % 5 == 0 else ROOM,
        )
        for n, source in enumerate(sources)
    ]


def fact_drafts(sources: list[str]) -> list[Draft]:
    """Return several facts derived from each passage, with the same words."""
    return [
        replace(
            event,
            kind=MemoryKind.FACT,
            slot=str(number),
            text=f"{event.text} tea " * (1 + number),
            learned=True,
            body=FACT_BODY,
        )
        for event in passage_drafts(sources)
        for number in range(3)
    ]


def put_with_vectors(store: Store, drafts: list[Draft], workspace: WorkspaceId) -> list[str]:
    """Store drafts, each with a distinct vector, and return their ids."""
    kept = store.memories.put(workspace, drafts)
    directions = {
        memory.id: unit_vector(1 + len(memory.text) % 7, n) for n, memory in enumerate(kept)
    }
    put_vectors(store, directions, workspace)
    return list(directions)


def append_sources(store: Store, workspace: WorkspaceId, count: int = 12) -> list[str]:
    events = [make_event(str(n), scope=ALICE_DM if n % 5 == 0 else ROOM) for n in range(count)]
    return append_events(store, *events, workspace=workspace)


def run_searches(store: Store, grant: Grant, ids: list[str], **more: Any) -> list[Any]:
    """Return everything that searches and ranking reveal about these ids and words."""
    where = parse_filter({"role": {"ne": "assistant"}})
    memories, vectors = store.memories, store.vectors
    described = memories.load_candidates(grant, ids, QUERY_TERMS)
    talks = defaultdict(set)
    for id, candidate in described.items():
        talks[candidate.thread].add(id)
    return [
        *(memories.search_keywords(grant, QUERY_TERMS, limit=limit, **more) for limit in (3, 99)),
        memories.search_keywords(grant, QUERY_TERMS, where=where, limit=9, **more),
        memories.count_matching(grant, QUERY_TERMS, **more),
        memories.ids_between(grant, NOON, LATER, limit=5, **more),
        memories.ids_between(grant, NOON, LATER, limit=99, **more),
        *(
            vectors.find_nearest(grant, TEST_PROFILE, unit_vector(1, 2), limit=n, **more)
            for n in (3, 99)
        ),
        vectors.find_nearest(grant, TEST_PROFILE, unit_vector(1, 2), where=where, limit=9, **more),
        vectors.score_ids(grant, TEST_PROFILE, unit_vector(1, 2), ids),
        memories.find_neighbours(grant, ids, reach=3),
        {id: candidate._replace(thread="") for id, candidate in described.items()},
        sorted(map(sorted, talks.values())),
    ]


class LearnedPartitionSuite:
    """Needs a fixture `store` that yields an empty store."""

    @pytest.mark.parametrize("viewer", ["everybody", "room"])
    def test_learned_memories_do_not_change_searches(self, store: Store, viewer: str) -> None:
        grant = ADMIN if viewer == "everybody" else IN_ROOM.grant()
        sources = append_sources(store, ACME)
        ids = put_with_vectors(store, passage_drafts(sources), ACME)
        before = run_searches(store, grant, ids)

        put_with_vectors(store, fact_drafts(sources), ACME)

        assert run_searches(store, grant, ids) == before
        assert len(before[1]) > 5

    def test_write_order_does_not_change_searches(self, store: Store) -> None:
        plain, full = append_sources(store, ACME), append_sources(store, OTHER)
        ids = put_with_vectors(store, passage_drafts(plain), ACME)
        learned = fact_drafts(full)
        for place, each in enumerate(passage_drafts(full)):
            put_with_vectors(store, learned[3 * place : 3 * place + 2], OTHER)
            put_with_vectors(store, [each], OTHER)
            put_with_vectors(store, learned[3 * place + 2 : 3 * place + 3], OTHER)
        vectors = store.vectors.get(ADMIN, TEST_PROFILE, ids)
        put_vectors(store, vectors, OTHER)

        expected = run_searches(store, ADMIN, ids)

        assert run_searches(store, administrator_grant(OTHER), ids) == expected
        assert store.count_records(administrator_grant(OTHER))["fact"] == len(learned)

    def test_learned_memories_are_searched_on_request(self, store: Store) -> None:
        """Scores and statistics equal those of a search over explicit memories only."""
        ours, theirs = append_sources(store, ACME), append_sources(store, OTHER)
        drafts = [*passage_drafts(ours), *fact_drafts(ours)]
        all_told = [replace(each, learned=False) for each in drafts]
        put_with_vectors(store, drafts, ACME)
        put_with_vectors(store, all_told, OTHER)
        elsewhere = administrator_grant(OTHER)
        assert ours == theirs

        for ask in (
            lambda grant, **more: store.memories.search_keywords(
                grant, QUERY_TERMS, limit=30, **more
            ),
            lambda grant, **more: store.memories.count_matching(grant, QUERY_TERMS, **more),
            lambda grant, **more: store.memories.ids_between(grant, NOON, LATER, limit=30, **more),
            lambda grant, **more: store.vectors.find_nearest(
                grant, TEST_PROFILE, unit_vector(1, 2), limit=30, **more
            ),
        ):
            both = ask(ADMIN, learned=True)
            assert both == ask(elsewhere)
            assert both != ask(ADMIN)

    def test_description_of_learned_matches_search_score(self, store: Store) -> None:
        sources = append_sources(store, ACME)
        put_with_vectors(store, passage_drafts(sources), ACME)
        ids = put_with_vectors(store, fact_drafts(sources), ACME)

        described = store.memories.load_candidates(ADMIN, ids, QUERY_TERMS)
        found = store.memories.search_keywords(ADMIN, QUERY_TERMS, limit=99, learned=True)

        scores = {hit.id: hit.score for hit in found if hit.id in ids}
        assert {id: candidate.keyword for id, candidate in described.items()} == scores
        assert len(scores) == len(ids)

    def test_neighbours_stay_in_one_partition(self, store: Store) -> None:
        (source,) = append_events(store, make_event("1"))
        texts = [
            make_draft(source, slot=str(n), at=NOON + n * MINUTE, thread="t") for n in range(4)
        ]
        mixed = [replace(each, learned=bool(n % 2)) for n, each in enumerate(texts)]
        one, two, three, four = (memory.id for memory in store.memories.put(ACME, mixed))

        around = store.memories.find_neighbours(ADMIN, [one, two], reach=5)
        threads = {
            id: each.thread
            for id, each in store.memories.load_candidates(ADMIN, [one, two], ()).items()
        }

        assert around == {one: ((), (three,)), two: ((), (four,))}
        assert threads[one] != threads[two]

    def test_reads_by_id_cover_both_partitions(self, store: Store) -> None:
        event = add_memory(store, "1", "tea", kind=MemoryKind.FACT, body=FACT_BODY)
        learned = add_memory(store, "2", "tea", kind=MemoryKind.FACT, body=FACT_BODY, learned=True)
        both = [event, learned]
        ids = [memory.id for memory in both]

        assert [memory.learned for memory in store.memories.get(ADMIN, ids)] == [False, True]
        assert store.memories.get(ADMIN, ids) == both
        assert sorted(ids) == [memory.id for memory in store.memories.find(ADMIN)]
        assert store.memories.load_texts(ADMIN, ids).keys() == set(ids)
        assert {
            memory.id for memory in store.memories.find_by_name(ADMIN, ["ada"], limit=9)
        } == set(ids)
        assert {m.id for m in store.vectors.list_missing(ADMIN, TEST_PROFILE, limit=9)} == set(ids)
        assert store.count_records(ADMIN)["fact"] == 2
        assert store.memories.find(ADMIN, where=parse_filter({"subject": "Ada"}), limit=9)

    def test_put_can_move_memory_between_partitions(self, store: Store) -> None:
        memory = add_memory(store, "1", "tea")
        put_vectors(store, {memory.id: unit_vector(1)})
        assert self._search_ids(store) == ([memory.id], [memory.id])

        store.memories.put(ACME, [make_draft(*memory.sources, text="tea", learned=True)])
        put_vectors(store, {memory.id: unit_vector(1)})
        assert self._search_ids(store) == ([], [])
        assert self._search_ids(store, learned=True) == ([memory.id], [memory.id])

        store.memories.put(ACME, [make_draft(*memory.sources, text="tea")])
        put_vectors(store, {memory.id: unit_vector(1)})
        assert self._search_ids(store) == ([memory.id], [memory.id])

    def test_erasing_learned_keeps_other_partition_unchanged(self, store: Store) -> None:
        sources = append_sources(store, ACME)
        ids = put_with_vectors(store, passage_drafts(sources), ACME)
        before = run_searches(store, ADMIN, ids)
        gone = put_with_vectors(store, fact_drafts(sources), ACME)

        store.memories.delete(ACME, gone[:5])
        store.eraser.erase(ACME, events=[], memories=gone[5:9], tombstones=[])

        assert run_searches(store, ADMIN, ids) == before
        assert store.memories.get(ADMIN, gone[:9]) == []
        assert store.memories.find_by_name(ADMIN, ["Ada"], limit=99)

        store.eraser.erase(ACME, events=sources, memories=[], tombstones=[])
        assert (
            store.memories.find(ADMIN) == store.memories.find_by_name(ADMIN, ["Ada"], limit=9) == []
        )

    def _search_ids(self, store: Store, **more: Any) -> tuple[list[str], list[str]]:
        def hit_ids(hits: list[ScoredId]) -> list[str]:
            return [hit.id for hit in hits]

        return (
            hit_ids(store.memories.search_keywords(ADMIN, ["tea"], limit=9, **more)),
            hit_ids(
                store.vectors.find_nearest(ADMIN, TEST_PROFILE, unit_vector(1), limit=9, **more)
            ),
        )
