"""Workspace: the memory of one team or tenant, its places, and its administration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .audit.records import ADMINISTRATOR, AuditCursor, AuditReport, RecordedEntry
from .core.access import Grant, Viewer, administrator_grant
from .core.canonical import clean_list, clean_time
from .core.errors import InvalidInput
from .core.flows import Sharing
from .core.ids import AgentId, UserId, WorkspaceId, check_name, is_digest, require_str
from .core.records import LedgerReport, PendingTask, Receipt
from .core.scope import Scope
from .learn.model_budget import Usage
from .maintain.schedule import FLOWS_JOB
from .place.place import MAX_LISTED, Place
from .recall.query import check_limit
from .runtime.progress import ProgressCallback
from .runtime.quotas import QuotaUse
from .wiring.parts import Parts

if TYPE_CHECKING:
    from .compose.receipts import ContextExplanation
    from .core.protocols.index_repair import IndexDamage
    from .core.protocols.jobs import JobState
    from .maintain.forget import ForgetReport
    from .place.reviews import Reviews
    from .recall.views.sessions import SessionScore
    from .transfer.archive import ExportReport, ImportReport

DEFAULT_AGENT = "assistant"


class Workspace:
    """The memory of one team or tenant. Nothing is shared between two workspaces.

    `user`, `room`, `dm` and `session` return places; a place only reads what its viewer may see.
    The other methods are for the administrator: they read and change the workspace as a unit.
    """

    def __init__(self, parts: Parts, id: WorkspaceId) -> None:
        self._parts = parts
        self.id = id

    def __repr__(self) -> str:
        return f"Workspace({self.id.value!r})"

    def user(
        self,
        name: str,
        *,
        session: str | None = None,
        agent: str = DEFAULT_AGENT,
        project: str | None = None,
    ) -> Place:
        """Return the private place of one user with one agent.

        Without `session` it is the user's DM. `session` names one conversation: recent messages,
        notes and the active goal belong to it, and everything that is learned is shared by the DM
        and all sessions of the user with this agent.
        """
        if session is None:
            return self.dm(name, agent=agent, project=project)
        return self.session(session, user=name, agent=agent, project=project)

    def room(
        self,
        name: str,
        *,
        agent: str = DEFAULT_AGENT,
        participants: Iterable[str] = (),
        project: str | None = None,
    ) -> Place:
        """Return a room: a chat of several people with an agent.

        Everyone in the room reads what is said there. The room also shows the profiles of its
        `participants`, and never a DM.
        """
        people = tuple(map(UserId, clean_list(participants, "participants")))
        return self._make_place(agent, room=name, participants=people, project=project)

    def dm(self, user: str, *, agent: str = DEFAULT_AGENT, project: str | None = None) -> Place:
        """Return the DM of one user with one agent; no other viewer can read it."""
        return self._make_place(agent, user=UserId(user), project=project)

    def session(
        self,
        name: str,
        *,
        user: str,
        agent: str = DEFAULT_AGENT,
        project: str | None = None,
        private: bool = False,
    ) -> Place:
        """Return a session: one conversation of a user with an agent.

        What is learned in it is known in the user's other sessions and DM with this agent. A
        `private` session reads that knowledge and keeps its own inside.
        """
        check_name(name, "the session")
        if private is not True and private is not False:
            raise InvalidInput(f"private must be true or false, got {private!r:.80}")
        return self._make_place(
            agent, user=UserId(user), session=name, project=project, private=private
        )

    def _make_place(self, agent: str, **viewer_fields: object) -> Place:
        viewer = Viewer(workspace=self.id, agent=AgentId(agent), **viewer_fields)  # type: ignore[arg-type]
        return self.place(viewer)

    def place(self, viewer: Viewer) -> Place:
        """Return the place of a Viewer object; raise InvalidInput if it is of another workspace."""
        if viewer.workspace != self.id:
            raise InvalidInput("this viewer belongs to another workspace")
        return Place(self._parts, replace(viewer, sharing=self.sharing))

    @property
    def sharing(self) -> Sharing:
        """The flows of this workspace: `memory.sharing` in the settings."""
        return self._parts.settings.sharing.for_workspace(self.id.value)

    # Administration

    @property
    def admin_grant(self) -> Grant:
        """The grant that reads everything in this workspace. Never use it to answer a user."""
        return administrator_grant(self.id)

    def forget(
        self,
        *,
        user: str | None = None,
        room: str | None = None,
        event: str | Receipt | None = None,
        memory: str | None = None,
    ) -> ForgetReport:
        """Erase one of these with everything derived from it, and search all files for residue.

        `user` erases what the user said anywhere and all their private places. `room` erases a
        room. `event` erases one message, by its id or receipt. `memory` erases one memory; the
        message it was learned from stays. The report counts what was erased; `report.residue` is
        the number of traces left in the files, normally 0.
        """
        from .maintain.forget import choose_target  # loaded on first use
        from .place.memories import erase_target  # loaded on first use

        selectors: dict[str, str | Scope | None] = {
            "user": user,
            "room": Scope.room(room) if room is not None else None,
            "event": event.event_id if isinstance(event, Receipt) else event,
            "memory": memory,
        }
        return erase_target(
            self._parts, self.id, lambda: choose_target(self._parts.store, self.id, selectors)
        )

    @property
    def reviews(self) -> Reviews:
        """All proposed merges and contradictions of this workspace."""
        from .place.reviews import Reviews  # loaded on first use

        return Reviews(self._parts, self.admin_grant, ADMINISTRATOR, role="system")

    def explain(self, id: str) -> ContextExplanation:
        """Return why any composed context of this workspace has its content, by the context's id.

        `hidden_hits` is the number of top hits that its viewer was not allowed to see.
        """
        from .compose.receipts import explain_context, with_hidden_hits  # loaded on first use

        parts, grant = self._parts, self.admin_grant
        parts.worker.drain()
        explanation = explain_context(parts.store, grant, id, parts.now())
        return with_hidden_hits(explanation, parts.store, parts.ranking, grant)

    def refresh_habits(self) -> int:
        """Derive people's habits again in every scope; return the number that changed."""
        from .learn.habits import refresh_habits  # loaded on first use

        return refresh_habits(self._parts.store, self.id, self._parts.now())

    def refresh_episodes(self, *, rewrite: bool = False) -> int:
        """Summarize every finished thread, session, day and week; return the number of new ones.

        Repeating the call is harmless. `rewrite=True` also replaces existing summaries.
        """
        self.flush()
        return self._parts.get_episodes().refresh_episodes(
            self.id, self._parts.now(), rewrite=rewrite
        )

    def find_sessions(
        self, about: str | Iterable[str], *, user: str, limit: int = 5
    ) -> list[SessionScore]:
        """Rank one user's own sessions and DMs by their mentions of the names in `about`.

        `about` is a question or a list of names. Use it to route a message to the best session.
        """
        from .recall.views.sessions import find_own_conversations, find_sessions

        query = about if isinstance(about, str) else clean_list(about, "names")
        self.flush()
        store, grant = self._parts.store, self.admin_grant
        now, most = self._parts.now(), check_limit(limit, MAX_LISTED)
        scopes = find_own_conversations(store, grant, query, UserId(user).value)
        return find_sessions(store, grant.narrow_to(scopes), query, now=now, limit=most)

    def rebuild(
        self,
        layer: str = "all",
        *,
        rewrite_episodes: bool = False,
        report: ProgressCallback | None = None,
    ) -> dict[str, dict[str, int]]:
        """Derive a layer again from the ledger, and return counts per layer.

        `layer` is "knowledge", "episodes", "keywords", "graph", "vectors" or "all". Reads and
        writes continue meanwhile. Episodes written by a model stay unless `rewrite_episodes` is
        set. `report(done, total)` is called with the progress.
        """
        from .wiring.rebuild import rebuild_layers  # loaded on first use

        self.flush()
        made = rebuild_layers(
            self._parts, self.id, layer, rewrite_episodes=rewrite_episodes, report=report
        )
        counts: dict[str, Any] = {name: dict(each) for name, each in made.items()}
        self._parts.audit.record_action(self.id, "rebuild", layers=counts)
        self.flush()
        return made

    def check_indexes(self) -> list[IndexDamage]:
        """Return where derived indexes differ from the records; `rebuild` repairs them."""
        from .maintain.rebuild import find_missing_vectors  # loaded on first use

        store = self._parts.store
        lacking = find_missing_vectors(store, self._parts.embedder, self.id)
        return [*store.indexes.find_damage(self.id), *lacking]

    def verify(self) -> LedgerReport:
        """Check the hash chain of the ledger; `report.problems` lists changed or missing events."""
        return self._parts.store.ledger.verify(self.id)

    def audit(
        self,
        *,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        events: bool = False,
        limit: int = 100,
    ) -> list[RecordedEntry]:
        """Return entries of the audit log, newest first; `events` includes ledger events.

        `action` keeps one action such as "forget" or "recall". The setting `memory.audit.level`
        chooses what is recorded, `memory.audit.retention_days` for how long.
        """
        from .audit.chain import list_history  # loaded on first use

        self._parts.audit.flush()
        filters: dict[str, Any] = {
            "action": None if action is None else require_str(action, "an action"),
            "since": None if since is None else clean_time(since, "since"),
            "until": None if until is None else clean_time(until, "until"),
            "limit": check_limit(limit, MAX_LISTED),
        }
        store = self._parts.store
        if events:
            return list_history(store, self.admin_grant, **filters)
        return store.audit.find(self.admin_grant, **filters)

    def audit_since(
        self, cursor: AuditCursor | None = None, *, action: str | None = None, events: bool = False
    ) -> tuple[list[RecordedEntry], AuditCursor]:
        """Return entries written after a cursor, oldest first, and the next cursor.

        Without a cursor it returns no entries and the cursor of the end. A batch may hold only
        some of the new entries; an unchanged cursor means that there are no more.
        """
        from .audit.chain import read_since  # loaded on first use

        self._parts.audit.flush()
        wanted = None if action is None else require_str(action, "an action")
        return read_since(self._parts.store, self.admin_grant, cursor, action=wanted, events=events)

    def verify_audit(self, *, anchor: str | None = None) -> AuditReport:
        """Check the hash chain of the audit log.

        Store `report.head` outside the database. As `anchor` of a later call it proves that no
        earlier entry was changed since, even by an administrator of the database.
        """
        self._parts.audit.flush()
        return self._parts.store.audit.verify(self.id, anchor=anchor)

    def export_audit(self, to: Path | str) -> int:
        """Write the audit log to a file as JSON lines, oldest first; return the number of lines."""
        from .audit.chain import export_lines  # loaded on first use
        from .transfer.archive import atomic_writer  # loaded on first use

        with atomic_writer(to) as file:  # opened first: only a possible export is recorded
            self._parts.audit.record_action(self.id, "export", what="audit")
            self._parts.audit.flush()
            lines = export_lines(self._parts.store, self.admin_grant)
            return sum(file.write(line + "\n") > 0 for line in lines)

    def stats(self, *, grant: Grant | None = None) -> dict[str, int]:
        """Return counts of events, memories by kind, and vectors that a grant can see.

        The default is the administrator's grant.
        """
        return self._parts.store.count_records(grant or self.admin_grant)

    def pending_work(self, *, limit: int = MAX_LISTED) -> list[PendingTask]:
        """Return the events that are not fully learned, with their errors; failed ones first."""
        most = check_limit(limit, MAX_LISTED)
        return self._parts.store.queue.list_pending(self.admin_grant, limit=most)

    def retry(self, names: Sequence[str] | None = None) -> int:
        """Make failed events and jobs due now; return their number.

        `names` are event ids and names of jobs; None retries all. Events that failed too often
        for an automatic retry are included.
        """
        store, now = self._parts.store, self._parts.now()
        named = None if names is None else clean_list(names, "names")
        self._check_job_names(
            each for each in named or () if not is_digest(require_str(each, "a name"))
        )
        with self._parts.audit.record_write(self.id, "retry", outcome="retried", which=named or []):
            return store.queue.retry(self.id, named, now=now)

    def _check_job_names(self, names: Iterable[str]) -> None:
        """Raise InvalidInput for a job that neither is scheduled here nor ever ran here."""
        existing = {each.name for each in self.jobs()}
        self._parts.job_runner.check_names(name for name in names if name not in existing)

    def apply_flows(self, *, report: ProgressCallback | None = None) -> dict[str, int]:
        """Apply the current flows to memories that were learned before; return the counts.

        Call it after `memory.sharing` was changed, or for a store of an earlier version. Reads and
        writes continue meanwhile, and an interrupted call continues where it was. Switching a flow
        off hides immediately what it let through. After `sessions` was switched off, this call
        also gives each session its own memories back.
        """
        self.flush()
        total = self.stats()["events"]

        def report_counts(counts: Mapping[str, int]) -> None:
            if report:
                report(counts["looked"], max(total, counts["looked"]))

        made = self._parts.job_runner.run_now(self.id, FLOWS_JOB, report_counts)
        self._parts.audit.record_action(self.id, "apply_flows", counts=dict(made))
        self._parts.evict_caches(self.id)
        return made

    def run_job(self, name: str) -> dict[str, int]:
        """Run one background job of this workspace now, and return its counts."""
        self._parts.usage_counter.flush()  # the job sees all uses up to now
        return self._parts.job_runner.run_now(self.id, name)

    def jobs(self) -> list[JobState]:
        """Return the background jobs: last run, result, next due time and error of each."""
        return self._parts.job_runner.job_states(self.admin_grant)

    def usage(self, *, since: datetime | None = None) -> Usage:
        """Return the cost of language models per day, and what is left of today's budget."""
        return self._parts.model_budget.get_usage(self.id, since=since)

    def quota(self) -> list[QuotaUse]:
        """Return each quota of this workspace with its limit and current use."""
        stored = self._parts.store.ledger.measure_usage(self.id, now=self._parts.now())
        return self._parts.quotas.list_usage(self.id, stored)

    def flush(self) -> int:
        """Learn all pending events now; return the number of events that are stuck."""
        from .place.memories import flush_workspace  # loaded on first use

        return flush_workspace(self._parts, self.id)

    def export(
        self,
        to: Path | str | TextIO,
        *,
        grant: Grant | None = None,
        scope: Scope | None = None,
        vectors: bool = False,
    ) -> ExportReport:
        """Write everything a grant can see to a file, as JSON lines with provenance.

        The default is the administrator's grant. `scope` selects what was said and learned in one
        scope. `vectors` includes the embeddings.
        """
        from .transfer.archive import export_archive  # loaded on first use

        chosen = grant or self.admin_grant
        if not chosen.everything:
            self._parts.quotas.check_recall(self.id)
        self.flush()
        exported = export_archive(self._parts.store, chosen, to, scope=scope, vectors=vectors)
        counts = asdict(exported)
        self._parts.audit.record_action(self.id, "export", everything=chosen.everything, **counts)
        return exported

    def import_(
        self,
        source: Path | str | TextIO,
        *,
        grant: Grant | None = None,
        scope: Scope | None = None,
        report: ProgressCallback | None = None,
    ) -> ImportReport:
        """Read an archive made by `export`; records outside the grant are refused and counted.

        With `scope` everything is written to that scope, else each record to its own. Importing
        an archive twice changes nothing.
        """
        from .transfer.archive import import_archive  # loaded on first use

        imported = import_archive(
            self._parts.store,
            grant or self.admin_grant,
            source,
            now=self._parts.now,
            scope=scope,
            profile=lambda: self._parts.embedder.profile,
            report=report,
            record_counts=self._audit_import,
        )
        self.flush()
        return imported

    def _audit_import(self, counts: Mapping[str, Any]) -> None:
        self._parts.audit.record_action(self.id, "import", **counts)
