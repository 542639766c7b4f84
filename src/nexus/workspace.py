"""A workspace: the wall around one team's memory, and what its administrator may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .core.access import Grant, Viewer, administrator_grant
from .core.audit import ADMINISTRATOR, Mark, Recorded, TrailReport
from .core.canonical import clean_list, clean_time
from .core.errors import InvalidInput
from .core.ids import AgentId, UserId, WorkspaceId, is_digest, str_only
from .core.quotas import QuotaUse
from .core.records import LedgerReport, Receipt, Waiting
from .core.report import Report
from .core.scope import Scope
from .learn.spending import Usage
from .place import MOST_LISTED, Place
from .recall.query import check_limit
from .recall.understand import forget_questions
from .wiring import Parts

if TYPE_CHECKING:
    from .compose.explain import Explained
    from .core.jobs import JobState
    from .core.layers import Damage
    from .maintain.forget import ForgetReport
    from .recall.sessions import SessionScore
    from .reviews import Reviews
    from .transfer.archive import Exported, Imported

AGENT = "assistant"


class Workspace:
    """Everything inside one wall."""

    def __init__(self, parts: Parts, id: WorkspaceId) -> None:
        self._parts = parts
        self.id = id

    def room(
        self,
        name: str,
        *,
        agent: str = AGENT,
        participants: Iterable[str] = (),
        project: str | None = None,
    ) -> Place:
        """Where several people talk. It shows its participants' profiles, and never a DM."""
        people = tuple(map(UserId, clean_list(participants, "participants")))
        return self._place(agent, room=name, participants=people, project=project)

    def dm(self, user: str, *, agent: str = AGENT, project: str | None = None) -> Place:
        """Where one person talks with one agent. Nobody else ever sees it."""
        return self._place(agent, user=UserId(user), project=project)

    def session(
        self, name: str, *, user: str, agent: str = AGENT, project: str | None = None
    ) -> Place:
        """One run of an agent for one person."""
        return self._place(agent, user=UserId(user), session=name, project=project)

    def _place(self, agent: str, **where: object) -> Place:
        viewer = Viewer(workspace=self.id, agent=AgentId(agent), **where)  # type: ignore[arg-type]
        return Place(self._parts, viewer)

    def place(self, viewer: Viewer) -> Place:
        """The place of a viewer you made yourself; it stays inside this workspace."""
        if viewer.workspace != self.id:
            raise InvalidInput("this viewer belongs to another workspace")
        return Place(self._parts, viewer)

    # For its administrator

    @property
    def administrator(self) -> Grant:
        """May read everything inside this wall. Not for answering anybody."""
        return administrator_grant(self.id)

    def forget(
        self,
        *,
        user: str | None = None,
        room: str | None = None,
        event: str | Receipt | None = None,
        memory: str | None = None,
    ) -> ForgetReport:
        """Erase, with everything that was derived from it, and prove it."""
        from .maintain.forget import choose_target, forget  # noqa: PLC0415  # only then

        wanted: dict[str, str | Scope | None] = {
            "user": user,
            "room": Scope.room(room) if room is not None else None,
            "event": event.event_id if isinstance(event, Receipt) else event,
            "memory": memory,
        }
        store = self._parts.store
        self._parts.worker.finish_calls()  # what was asked a moment ago is looked at, too
        self._parts.audit.flush()
        with self._parts.telemetry.doing("forget", workspace=self.id) as deed:
            target = choose_target(store, self.id, wanted)
            report = forget(store, self.id, target, now=self._parts.now())
            deed.tell(forgotten=report)
        self._parts.embedder.forget(self.id)
        self._parts.contexts.forget(self.id)
        forget_questions()
        self.flush()
        return report

    def reviews(self) -> Reviews:
        """Everything that is proposed to a person inside this wall."""
        from .reviews import Reviews  # noqa: PLC0415

        return Reviews(self._parts, self.administrator, ADMINISTRATOR, role="system")

    def explain(self, id: str) -> Explained:
        """Any context of this workspace, and how many of the best hits its viewer may not see."""
        from .compose.explain import explained, with_withheld  # noqa: PLC0415

        parts, everything = self._parts, self.administrator
        parts.worker.finish_calls()
        found = explained(parts.store, everything, id, parts.now())
        return with_withheld(found, parts.store, parts.ranking, everything)

    def learn_patterns(self) -> int:
        """Work out people's habits again, scope by scope; returns how many are new or different."""
        from .learn.patterns import learn_patterns  # noqa: PLC0415

        return learn_patterns(self._parts.store, self.id, self._parts.now())

    def learn_episodes(self, *, again: bool = False) -> int:
        """Tell what is over by now: threads, sessions, days, weeks; returns how many are new.

        Harmless to repeat. With `again`, those that are there are told once more.
        """
        self.flush()
        return self._parts.episodes().learn(self.id, self._parts.now(), again=again)

    def sessions_knowing(
        self, names: str | Iterable[str], *, user: str, limit: int = 5
    ) -> list[SessionScore]:
        """The sessions and DMs of one user that know somebody best: where to send a message."""
        from .recall.sessions import own_conversations, route  # noqa: PLC0415

        asked = names if isinstance(names, str) else clean_list(names, "names")
        self.flush()
        store, everything = self._parts.store, self.administrator
        now, most = self._parts.now(), check_limit(limit, MOST_LISTED)
        theirs = own_conversations(store, everything, asked, UserId(user).value)
        return route(store, everything.within(theirs), asked, now=now, limit=most)

    def rebuild(
        self, layer: str = "all", *, again: bool = False, report: Report | None = None
    ) -> dict[str, dict[str, int]]:
        """Make a derived layer again from what it rests on; what was looked at, and put right.

        Everybody may read and write meanwhile. Episodes that a model told stay as they are,
        unless `again` says otherwise.
        """
        from .rebuilding import rebuild_layers  # noqa: PLC0415  # only then

        self.flush()
        made = rebuild_layers(self._parts, self.id, layer, again=again, report=report)
        counts: dict[str, Any] = {name: dict(each) for name, each in made.items()}
        self._parts.audit.wrote(self.id, "rebuild", layers=counts)
        self.flush()
        return made

    def damage(self) -> list[Damage]:
        """What of the derived layers does not fit what it rests on; `rebuild` mends it."""
        from .maintain.rebuild import lacking_vectors  # noqa: PLC0415  # only then

        store = self._parts.store
        lacking = lacking_vectors(store, self._parts.embedder, self.id)
        return [*store.layers.damage(self.id), *lacking]

    def verify(self) -> LedgerReport:
        """Walk the hash chain of the ledger."""
        return self._parts.store.ledger.verify(self.id)

    def audit(
        self,
        *,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        events: bool = False,
        limit: int = 100,
    ) -> list[Recorded]:
        """What was done here, newest first; with `events`, what was told stands between it.

        `memory.audit.level` says what is recorded, and `memory.audit.retention_days` how long it
        is kept.
        """
        from .maintain.trail import happened  # noqa: PLC0415

        self._parts.audit.flush()
        asked: dict[str, Any] = {
            "action": None if action is None else str_only(action, "an action"),
            "since": None if since is None else clean_time(since, "since"),
            "until": None if until is None else clean_time(until, "until"),
            "limit": check_limit(limit, MOST_LISTED),
        }
        store = self._parts.store
        if events:
            return happened(store, self.administrator, **asked)
        return store.audit.find(self.administrator, **asked)

    def audit_after(
        self, mark: Mark | None = None, *, action: str | None = None, events: bool = False
    ) -> tuple[list[Recorded], Mark]:
        """What was recorded since a mark, oldest first, and the next one; first only a mark.

        By the order of writing, whatever time it tells of; if it is much, some of it at a time.
        When the mark stays the same, that was all.
        """
        from .maintain.trail import come  # noqa: PLC0415

        self._parts.audit.flush()
        wanted = None if action is None else str_only(action, "an action")
        return come(self._parts.store, self.administrator, mark, action=wanted, events=events)

    def verify_audit(self, *, anchor: str | None = None) -> TrailReport:
        """Walk the hash chain of the audit.

        Keep the `head` of the report elsewhere: given as `anchor` later, it shows whether
        anything before it was changed since, whoever did it.
        """
        self._parts.audit.flush()
        return self._parts.store.audit.verify(self.id, anchor=anchor)

    def export_audit(self, to: Path | str) -> int:
        """Write the whole trail as lines of JSON, oldest first; returns how many."""
        from .maintain.trail import lines  # noqa: PLC0415
        from .transfer.archive import written  # noqa: PLC0415

        with written(to) as file:  # it can be: then it is recorded, and that is in it, too
            self._parts.audit.wrote(self.id, "export", what="audit")
            self._parts.audit.flush()
            trail = lines(self._parts.store, self.administrator)
            return sum(file.write(line + "\n") > 0 for line in trail)

    def stats(self, *, grant: Grant | None = None) -> dict[str, int]:
        """How much a grant (the administrator's, if not said otherwise) may see."""
        return self._parts.store.count(grant or self.administrator)

    def waiting(self, *, limit: int = MOST_LISTED) -> list[Waiting]:
        """Events that are not learned yet, and why not; what failed comes first."""
        most = check_limit(limit, MOST_LISTED)
        return self._parts.store.queue.waiting(self.administrator, limit=most)

    def retry(self, which: Sequence[str] | None = None) -> int:
        """Make what failed due now: these events and jobs, or all; returns how much that was.

        Also what failed too often to be tried by itself.
        """
        store, now = self._parts.store, self._parts.now()
        named = None if which is None else clean_list(which, "which")
        self._check_jobs(each for each in named or () if not is_digest(str_only(each, "a name")))
        with self._parts.audit.writing(self.id, "retry", outcome="retried", which=named or []):
            return store.queue.retry(self.id, named, now=now)

    def _check_jobs(self, names: Iterable[str]) -> None:
        """Refuse the name of a job that is not done here, and was not."""
        known = {each.name for each in self.jobs()}
        self._parts.jobs.check_names(name for name in names if name not in known)

    def run_job(self, name: str) -> dict[str, int]:
        """Do one of the jobs of this workspace now, to its end; what it did."""
        self._parts.using.write()  # a job shall know of what was shown until now
        return self._parts.jobs.run_now(self.id, name)

    def jobs(self) -> list[JobState]:
        """The jobs of this workspace: when each ran last, what it did and when it is due."""
        return self._parts.jobs.states(self.administrator)

    def usage(self, *, since: datetime | None = None) -> Usage:
        """What language models cost from a day on, and what is left of today's budget."""
        return self._parts.spending.usage(self.id, since=since)

    def quota(self) -> list[QuotaUse]:
        """How much this workspace may keep and do, and how much of that is used."""
        kept = self._parts.store.ledger.used(self.id, now=self._parts.now())
        return self._parts.quotas.used(self.id, kept)

    def flush(self) -> int:
        """Index and learn everything; returns how much is still stuck."""
        stuck = self._parts.learner.flush(self.administrator)
        while self._parts.store.follow():  # what lies beside the records, too
            pass
        return stuck

    def export(
        self, to: Path | str | TextIO, *, grant: Grant | None = None, vectors: bool = False
    ) -> Exported:
        """Write everything a grant (the administrator's, if not said otherwise) may see."""
        from .transfer.archive import export_archive  # noqa: PLC0415

        chosen = grant or self.administrator
        if not chosen.everything:
            self._parts.quotas.asking(self.id)
        self.flush()
        exported = export_archive(self._parts.store, chosen, to, vectors=vectors)
        counts = asdict(exported)
        self._parts.audit.wrote(self.id, "export", everything=chosen.everything, **counts)
        return exported

    def import_(
        self,
        source: Path | str | TextIO,
        *,
        grant: Grant | None = None,
        scope: Scope | None = None,
        report: Report | None = None,
    ) -> Imported:
        """Take in an archive; what the grant does not cover is refused and counted."""
        from .transfer.archive import import_archive  # noqa: PLC0415

        imported = import_archive(
            self._parts.store,
            grant or self.administrator,
            source,
            now=self._parts.now,
            scope=scope,
            profile=lambda: self._parts.embedder.profile,
            report=report,
            recorded=self._took_in,
        )
        self.flush()
        return imported

    def _took_in(self, counts: Mapping[str, Any]) -> None:
        self._parts.audit.wrote(self.id, "import", **counts)
