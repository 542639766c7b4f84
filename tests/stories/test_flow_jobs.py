"""Flows and what happens meanwhile: withdrawals, pending messages, jobs and interruptions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from tests.conftest import Open

from nexusmem import Nexus, Place, Workspace
from nexusmem.audit.records import AuditEntry
from nexusmem.config.settings import Settings, SharingSettings
from nexusmem.core.access import administrator_grant
from nexusmem.core.flows import FLOW_SCOPES, NO_SHARING, FlowRule, Sharing, feeds, memory_scopes
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Draft, EventKind, Memory, MemoryKind
from nexusmem.core.records.memory import is_copy
from nexusmem.core.scope import Scope
from nexusmem.learn import pipeline
from nexusmem.learn.extract.event_context import batch_by_scope
from nexusmem.learn.facts.scope_facts import ScopeFacts
from nexusmem.learn.learner import MAX_SOURCE_TASKS
from nexusmem.maintain import rebuild

DATE = "The launch date is May 12."
BETA = "The beta starts on June 3."
PARSER = "The parser needs a rewrite."
SEPARATE = SharingSettings(sessions=False, agents="none")
Reopen = Callable[[SharingSettings], Workspace]


@pytest.fixture
def acme(nexus: Nexus) -> Workspace:
    return nexus.workspace("acme")


def room(acme: Workspace, name: str, person: str, project: str = "apollo") -> Place:
    return acme.room(name, agent="scribe", participants=[person], project=project)


def texts(place: Place, question: str, scope: str | None = None) -> list[str]:
    return [hit.text for hit in place.recall(question, scope=scope)]


def stored(acme: Workspace) -> list[Memory]:
    return acme._parts.store.memories.find(acme.admin_grant)


def stored_copies(acme: Workspace) -> list[Memory]:
    return [each for each in stored(acme) if is_copy(each)]


def flow_entries(acme: Workspace) -> list[AuditEntry]:
    return [each.entry for each in acme.audit() if each.action == "flow" and each.entry]


def run_before_put(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Run `act` once, after the drafts of a message are made and before they are stored."""
    original, waiting = pipeline.flow_audit_entry, [act]

    def act_first(*arguments: object) -> AuditEntry | None:
        entry = original(*arguments)  # type: ignore[arg-type]
        if waiting:
            waiting.pop()()
        return entry

    monkeypatch.setattr(pipeline, "flow_audit_entry", act_first)


# Withdrawing a message while it is learned


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("how", ["mark", "ask"])
def test_message_withdrawn_while_a_reader_learns_it_is_not_copied(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    design, billing = room(acme, "design", "alice"), room(acme, "billing", "bob")
    receipt = design.observe("alice", DATE)

    def withdraw() -> None:
        if how == "mark":
            design.mark_confidential(receipt)
        else:
            design.observe("alice", "Please keep that between us.")
            acme.flush()

    run_before_put(monkeypatch, withdraw)

    assert texts(billing, "launch date") == []
    acme.flush()
    assert texts(billing, "launch date") == []
    assert stored_copies(acme) == []
    assert texts(design, "launch date") == [DATE]


def test_other_messages_of_the_batch_keep_their_copies(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    design, billing = room(acme, "design", "alice"), room(acme, "billing", "bob")
    receipt = design.observe("alice", DATE)
    design.observe("alice", BETA)
    run_before_put(monkeypatch, lambda: design.mark_confidential(receipt))

    assert texts(billing, "launch date, beta") == [BETA]
    known = acme._parts.store.memories.get(acme.admin_grant, [each.id for each in stored(acme)])
    profile = acme._parts.embedder.profile
    vectors = acme._parts.store.vectors.get(acme.admin_grant, profile, [each.id for each in known])
    assert {each.id for each in stored_copies(acme) if each.text == BETA} & vectors.keys()


def test_copy_left_by_a_crash_is_withdrawn_when_the_message_is_learned_again(
    acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    design, billing = room(acme, "design", "alice"), room(acme, "billing", "bob")
    receipt = design.observe("alice", DATE)
    run_before_put(monkeypatch, lambda: design.mark_confidential(receipt))

    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as dying:
        dying.setattr("nexusmem.learn.learner.withdraw_late_copies", crash)
        with pytest.raises(Crash):
            billing.recall("launch date")
    acme._parts.store.queue.reset_events(acme.id, [receipt.event_id], now=acme._parts.now())

    assert texts(billing, "launch date") == []
    assert stored_copies(acme) == []


@pytest.mark.requirement("X2")
def test_message_withdrawn_while_the_flows_are_applied_is_not_copied(
    reopen: Reopen, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = reopen(SharingSettings(project=False))
    receipt = room(acme, "design", "alice").observe("alice", DATE)
    acme.flush()
    acme = reopen(SharingSettings())
    design = room(acme, "design", "alice")
    from nexusmem.learn import relearn

    original = relearn.flow_audit_entry

    def mark_first(*arguments: object) -> AuditEntry | None:
        entry = original(*arguments)  # type: ignore[arg-type]
        design.mark_confidential(receipt)
        return entry

    monkeypatch.setattr(relearn, "flow_audit_entry", mark_first)
    acme.apply_flows()

    assert texts(room(acme, "billing", "bob"), "launch date") == []
    assert stored_copies(acme) == []


# Applying the flows to what was learned before


def learn_in_monday(acme: Workspace) -> Place:
    monday = acme.session("monday", user="alice")
    monday.observe("alice", "I live in Lisbon.")
    monday.observe("alice", "The parser uses Lark.")
    acme.flush()
    return monday


def promote_facts(acme: Workspace) -> dict[str, int]:
    for _ in range(8):
        for name in ("monday", "other"):
            acme.session(name, user="alice").recall("Lisbon Lark", kind="fact")
    return acme.run_job("promote")


@pytest.mark.requirement("X3")
def test_promoted_fact_does_not_keep_flows_from_being_applied(reopen: Reopen) -> None:
    acme = reopen(SharingSettings())
    learn_in_monday(acme)
    assert promote_facts(acme)["user_wide"]

    acme = reopen(SEPARATE)
    assert acme.apply_flows()["changed"]
    monday = acme.session("monday", user="alice")

    assert texts(monday, "Lisbon") == ["I live in Lisbon."]
    assert "The parser uses Lark." in [fact.text for fact in monday.facts()]
    assert texts(acme.session("other", user="alice"), "Lisbon") == []


def test_applying_the_flows_keeps_promoted_facts(reopen: Reopen) -> None:
    acme = reopen(SharingSettings())
    learn_in_monday(acme)
    promote_facts(acme)
    promoted = {each.id for each in stored_copies(acme) if each.slot.startswith("promoted:")}

    acme.apply_flows()

    assert promoted
    assert promoted <= {each.id for each in stored_copies(acme)}


def add_memory_of_a_model(acme: Workspace, monday: Place) -> str:
    """Add a fact that only a model finds, in a shared session."""
    store = acme._parts.store
    (event,) = store.ledger.find(monday.grant.narrow_to([monday.viewer.home]), limit=1)
    body = {"subject": "lark", "predicate": "IS_A", "object": "parser generator"}
    draft = Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text="Lark is a parser generator.",
        sources=(event.id,),
        slot="lark",
        learned=True,
        metadata={"made_by": ["one_pass@1"]},
        body=body,
        flow=FlowRule.SESSIONS if acme.sharing.sessions else None,
    )
    (memory,) = store.memories.put(acme.id, [draft])
    return memory.text


@pytest.mark.requirement("X3")
def test_memories_of_a_model_change_only_their_label(reopen: Reopen) -> None:
    acme = reopen(SharingSettings())
    monday = learn_in_monday(acme)
    monday.observe("assistant", "Lark reads EBNF grammars.", role="assistant")
    acme.flush()
    text = add_memory_of_a_model(acme, monday)
    before = {each.id: (each.text, each.metadata, each.body) for each in stored(acme)}

    acme = reopen(SEPARATE)
    acme.apply_flows()
    monday, other = (acme.session(name, user="alice") for name in ("monday", "other"))
    assert text in [fact.text for fact in monday.facts()]
    assert texts(monday, "EBNF grammars") == ["Lark reads EBNF grammars."]
    assert texts(monday, "Lisbon") == ["I live in Lisbon."]
    assert not other.facts()
    assert texts(other, "EBNF grammars") == []

    acme = reopen(SharingSettings())
    acme.apply_flows()
    other = acme.session("other", user="alice")
    assert text in [fact.text for fact in other.facts()]
    assert texts(other, "EBNF grammars") == ["Lark reads EBNF grammars."]
    after = {each.id: (each.text, each.metadata, each.body) for each in stored(acme)}
    assert {id: after.get(id) for id in before} == before


def test_habits_stay_in_their_session_when_sessions_are_shared(reopen: Reopen) -> None:
    acme = reopen(SEPARATE)
    monday = learn_in_monday(acme)
    store = acme._parts.store
    (event,) = store.ledger.find(monday.grant.narrow_to([monday.viewer.home]), limit=1)
    habit = Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text="Alice usually writes on Mondays.",
        sources=(event.id,),
        slot="pattern:WRITES:alice",
        source="pattern",
        learned=True,
        metadata={"made_by": ["patterns@1"]},
        body={"subject": "alice", "predicate": "WRITES", "object": "Monday"},
    )
    store.memories.put(acme.id, [habit])

    acme = reopen(SharingSettings())
    acme.apply_flows()

    (kept,) = [each for each in stored(acme) if each.id == habit.id]
    assert kept.label == {event.scope}
    assert texts(acme.session("other", user="alice"), "Lark") == ["The parser uses Lark."]


def test_applying_the_flows_is_audited(reopen: Reopen) -> None:
    acme = reopen(SharingSettings(project=False, profile=False))
    room(acme, "design", "alice").observe("alice", DATE)
    acme.flush()
    acme = reopen(SharingSettings())
    assert flow_entries(acme) == []

    acme.apply_flows()

    (entry,) = flow_entries(acme)
    copies = {each.id: each for each in stored_copies(acme)}
    assert {each["memory"] for each in entry.detail["copies"]} == copies.keys()
    assert {each["rule"] for each in entry.detail["copies"]} == {"project"}
    acme.apply_flows()
    assert len(flow_entries(acme)) == 1  # nothing new


# Interrupting the job


class Interrupted(Exception):
    pass


def apply_partly(acme: Workspace, steps: int) -> None:
    """Apply the flows and stop after some steps."""
    seen: list[int] = []

    def stop(looked: int, _total: int) -> None:
        seen.append(looked)
        if len(seen) == steps:
            raise Interrupted

    with pytest.raises(Interrupted):
        acme.apply_flows(report=stop)


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each step of a rebuild work on one scope."""
    monkeypatch.setattr(rebuild, "rebuild_step", partial(rebuild.rebuild_step, seconds=0))


@pytest.mark.usefixtures("short_steps")
def test_interrupted_job_starts_again_with_other_flows(reopen: Reopen) -> None:
    off = SharingSettings(project=False, profile=False)
    acme = reopen(off)
    for number in range(6):
        room(acme, f"room{number}", "alice", f"project{number}").observe("alice", DATE)
    acme.flush()
    apply_partly(reopen(off), 3)

    acme = reopen(SharingSettings())
    acme.apply_flows()

    readers = [room(acme, "other", "bob", f"project{number}") for number in range(6)]
    assert [texts(reader, "launch date") for reader in readers] == [[DATE]] * 6


@pytest.mark.usefixtures("short_steps")
def test_interrupted_job_continues_with_the_same_flows(
    reopen: Reopen, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = reopen(SharingSettings())
    for number in range(6):
        room(acme, f"room{number}", "alice").observe("alice", DATE)
    acme.flush()
    apply_partly(reopen(SharingSettings()), 3)

    from nexusmem.learn.relearn import Relearner, RelearnReport

    relearned: list[Scope] = []
    original = Relearner.relearn_scope

    def count(self: Relearner, workspace: WorkspaceId, scope: Scope) -> RelearnReport:
        relearned.append(scope)
        return original(self, workspace, scope)

    monkeypatch.setattr(Relearner, "relearn_scope", count)
    reopen(SharingSettings()).apply_flows()

    assert [str(scope) for scope in relearned] == ["room:room3", "room:room4", "room:room5"]


# Pending messages


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("where", ["dm", "session", "room"])
def test_pending_messages_elsewhere_do_not_delay_a_flow(acme: Workspace, where: str) -> None:
    unrelated = {
        "dm": acme.dm("zoe", agent="critic"),
        "session": acme.session("monday", user="zoe", agent="critic"),
        "room": room(acme, "attic", "zoe", "zeus"),
    }[where]
    for number in range(MAX_SOURCE_TASKS + 20):
        unrelated.observe("zoe", f"Message number {number} about nothing.")
    room(acme, "design", "bob").observe("bob", BETA)

    assert texts(room(acme, "billing", "carol"), "beta") == [BETA]
    pending = acme._parts.store.queue.count_pending(unrelated.grant)
    assert pending == MAX_SOURCE_TASKS + 20  # a query does not learn them either


def test_query_waits_for_a_limited_number_of_messages(acme: Workspace) -> None:
    design = room(acme, "design", "bob")
    for number in range(MAX_SOURCE_TASKS + 5):
        design.observe("bob", f"Message number {number} about nothing.")

    room(acme, "billing", "carol").recall("nothing")

    assert acme._parts.store.queue.count_pending(design.grant) == 5


def test_queue_selects_scopes_before_the_limit(acme: Workspace) -> None:
    for number in range(5):
        acme.dm("zoe").observe("zoe", f"Message number {number}.")
    wanted = acme.dm("alice").observe("alice", PARSER)
    queue, now = acme._parts.store.queue, acme._parts.now()

    def is_alices(scope: Scope) -> bool:
        return scope.owner == "alice"

    everything = administrator_grant(acme.id)
    for leased in (True, False):
        tasks = queue.claim(everything, now=now, limit=2, leased=leased, in_scope=is_alices)
        assert [task.event.id for task in tasks] == [wanted.event_id]
    zoes = acme.dm("zoe").grant
    assert queue.claim(zoes, now=now, limit=9, leased=True, in_scope=is_alices) == []


@pytest.mark.parametrize("agents", ["none", "profile"])
def test_dm_alone_knows_what_a_session_said_a_moment_ago(open_nexus: Open, agents: str) -> None:
    settings = Settings(sharing=SharingSettings(agents=agents))
    acme = open_nexus(settings=settings).workspace("acme")
    acme.session("monday", user="alice").observe("alice", PARSER)
    assert texts(acme.dm("alice"), "parser", scope="dm") == [PARSER]

    acme.session("monday", user="alice").observe("alice", "The lexer needs a rewrite.")
    found = texts(acme.session("friday", user="alice"), "lexer", scope="dm")
    assert "The lexer needs a rewrite." in found


def test_session_feeds_the_dm_with_its_agent_while_sessions_are_shared() -> None:
    session, dm = Scope.session("alice", "scribe", "monday"), Scope.dm("alice", "scribe")
    shared = FLOW_SCOPES[FlowRule.SESSIONS]

    assert feeds(session, frozenset({dm, shared}))
    assert not feeds(session, frozenset({dm}))
    assert not feeds(session, frozenset({Scope.dm("alice", "critic"), shared}))
    assert not feeds(session, frozenset({Scope.dm("bob", "scribe"), shared}))


# Learning in separate sessions


def test_separate_sessions_know_only_themselves() -> None:
    session, dm = Scope.session("alice", "scribe", "monday"), Scope.dm("alice", "scribe")

    for scope in (session, dm, Scope.room("design")):
        assert memory_scopes(scope, Sharing(sessions=False)) == [scope]
    assert dm in memory_scopes(session, Sharing())


def test_lookups_for_learning_use_the_flows_of_the_workspace(acme: Workspace) -> None:
    acme.dm("alice").observe("alice", "My colleague Robert Miller lives in Oslo.")
    acme.flush()
    session = acme.session("monday", user="alice")
    session.observe("alice", "Robert likes sushi.")
    store, home = acme._parts.store, session.viewer.home
    events = store.ledger.find(administrator_grant(acme.id).narrow_to([home]))
    assert [event.kind for event in events] == [EventKind.MESSAGE]

    def known_names(sharing: Sharing) -> tuple[int, int]:
        (batch,) = batch_by_scope(store, events, lambda _: sharing)
        facts = ScopeFacts.from_store(store, batch.workspace, batch.scope, batch.sharing)
        entities = store.memories.find_by_name(batch.grant, ["robert miller"], limit=9)
        return len(entities), len(facts.find_by_name("robert miller"))

    assert min(known_names(Sharing())) > 0
    assert known_names(NO_SHARING) == (0, 0)


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("own", [False, True], ids=["all workspaces", "one workspace"])
def test_separate_session_learns_nothing_from_the_dm(open_nexus: Open, own: bool) -> None:
    quiet = SEPARATE.for_workspace("acme")
    sharing = SharingSettings(workspaces={"acme": quiet}) if own else SEPARATE

    def learn(in_dm: str | None) -> list[tuple[str, frozenset[Scope]]]:
        acme = open_nexus(settings=Settings(sharing=sharing)).workspace("acme")
        if in_dm:
            acme.dm("alice").observe("alice", in_dm)
            acme.flush()
        session = acme.session("monday", user="alice")
        session.observe("alice", "Robert likes sushi.")
        acme.flush()
        return sorted((each.text, each.label) for each in session.memories().items)

    alone = learn(None)
    assert "Robert likes sushi." in [text for text, _ in alone]
    assert learn("My colleague Robert Miller lives in Oslo.") == alone
