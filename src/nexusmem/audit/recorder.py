"""Audit recorder: writes audit entries for writes and, depending on the level, for reads."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from ..core.access import Viewer, administrator_grant
from ..core.canonical import canonical_json, clean_text
from ..core.errors import NexusError, Unavailable
from ..core.ids import WorkspaceId, digest, is_digest
from ..core.protocols.store import Store
from ..core.records import Hits, Json
from ..core.scope import Scope, parse_scope
from .records import ADMINISTRATOR, AuditEntry, AuditLevel

if TYPE_CHECKING:
    from ..core.records.context import Context


MAX_WAITING_READS = 500  # queued reads; the next read writes them all


MAX_QUESTION_LENGTH = 4_000  # recorded characters


SETTINGS = "settings"


R = TypeVar("R")


log = logging.getLogger(__name__)


class AuditRecorder:
    """Records writes and, depending on the level, reads.

    `snapshot` returns the current settings. They are recorded once, if the newest recorded settings
    differ. Entries refer to them by a digest.
    """

    def __init__(
        self,
        store: Store,
        level: AuditLevel,
        clock: Callable[[], datetime],
        submit: Callable[[Callable[[], None]], None] | None,
        snapshot: Callable[[], Mapping[str, Json]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._submit = submit
        self._snapshot = snapshot
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._waiting: list[tuple[WorkspaceId, AuditEntry]] = []
        self._settings_seen: dict[WorkspaceId, date] = {}  # workspace → day of the last check
        self._depth = threading.local()
        self.level = level
        self.records_reads = level.records_reads

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        return dict(self._snapshot())

    @cached_property
    def _settings_digest(self) -> str:
        """Short digest of the current settings."""
        return digest("settings", canonical_json(self._settings))[:8]

    # Writes

    def record_write(
        self,
        workspace: WorkspaceId,
        action: str,
        *,
        by: Viewer | str = ADMINISTRATOR,
        people: Iterable[str] = (),
        outcome: str | None = None,
        **detail: Json,
    ) -> AbstractContextManager[None]:
        """Return a context manager that records this thread's next write in its transaction.

        The return value of the write is recorded as `outcome`, if that is a name. A return value of
        0 records nothing.
        """
        if not self.level.records_writes:
            return nullcontext()
        entry = self._make_entry(workspace, action, by, people, detail)
        return self._store.with_audit_entry(workspace, entry, outcome=outcome)

    def record_action(
        self,
        workspace: WorkspaceId,
        action: str,
        *,
        by: Viewer | str = ADMINISTRATOR,
        people: Iterable[str] = (),
        **detail: Json,
    ) -> None:
        """Record an action that is not a single write of the store."""
        if self.level.records_writes:
            entry = self._make_entry(workspace, action, by, people, detail)
            self._store.audit.append(workspace, [entry])

    def _make_entry(
        self,
        workspace: WorkspaceId,
        action: str,
        by: Viewer | str,
        people: Iterable[str],
        detail: Mapping[str, Json],
    ) -> AuditEntry:
        self._ensure_settings_entry(workspace)
        detail = {**detail, SETTINGS: self._settings_digest}
        if isinstance(by, str):
            names = tuple(people)
            return AuditEntry(
                at=self._clock(), action=action, actor=by, people=names, detail=detail
            )
        return AuditEntry(
            at=self._clock(),
            action=action,
            actor=by.agent.value,
            place=str(by.home),
            people=(*_viewer_names(by), *people),
            detail=detail,
        )

    def _ensure_settings_entry(self, workspace: WorkspaceId) -> None:
        """Record the current settings unless they are the newest ones; once per day.

        Retention may have dropped the entry, so it is checked again each day.
        """
        today = self._clock().date()
        if self._settings_seen.get(workspace) == today:
            return
        snapshot = self._settings
        everything = administrator_grant(workspace)
        newest = self._store.audit.find(everything, action=SETTINGS, limit=1)
        if not (newest and newest[0].entry and newest[0].entry.detail == snapshot):
            entry = AuditEntry(
                at=self._clock(), action=SETTINGS, actor=ADMINISTRATOR, detail=snapshot
            )
            self._store.audit.append(workspace, [entry])
        self._settings_seen[workspace] = today

    # Reads

    def record_read(
        self,
        viewer: Viewer,
        action: str,
        *,
        question: str | None = None,
        result: object = None,
        seconds: float = 0.0,
        error: str | None = None,
    ) -> None:
        """Record a read in the background, if the level requires it."""
        if not self.records_reads:
            return
        if _is_context(result):
            question = result.receipt.question
        detail = {
            **_describe_question(viewer, question, self.level),
            **_describe_result(result, viewer),
        }
        detail |= {"ms": round(seconds * 1000, 3), SETTINGS: self._settings_digest}
        detail |= {"error": error} if error else {}
        if (isinstance(result, Hits) or _is_context(result)) and (
            prompts := self._rewrite_prompts()
        ):
            detail["prompts"] = prompts
        owners = {scope_owner for scope_owner in _result_owners(result) if scope_owner}
        entry = AuditEntry(
            at=self._clock(),
            action=action,
            actor=viewer.agent.value,
            place=str(viewer.home),
            people=(*_viewer_names(viewer), *sorted(owners)),
            detail=detail,
        )
        self._enqueue_entry(viewer.workspace, entry)

    def _rewrite_prompts(self) -> dict[str, Json]:
        """Return the hashes of the prompts that rewrite questions."""
        prompts = self._settings["prompts"]
        return {
            name: prompts[name] for name in self._settings["search"]["query_rewrites"] if prompts
        }

    def _enqueue_entry(self, workspace: WorkspaceId, entry: AuditEntry) -> None:
        with self._lock:
            is_first = not self._waiting
            self._waiting.append((workspace, entry))
            is_full = len(self._waiting) >= MAX_WAITING_READS
        if is_full:
            self.flush()
        elif is_first and self._submit:
            self._submit(self.flush)

    def flush(self) -> None:
        """Write the queued reads; they stay queued if the store is unavailable."""
        with self._flushing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            by_workspace: dict[WorkspaceId, list[AuditEntry]] = defaultdict(list)
            for workspace, entry in waiting:
                by_workspace[workspace].append(entry)
            while by_workspace:
                workspace, entries = next(iter(by_workspace.items()))
                try:
                    self._ensure_settings_entry(workspace)
                    self._store.audit.append(workspace, entries)
                except Unavailable as error:
                    self._put_back(by_workspace, error)
                    return
                del by_workspace[workspace]

    def _put_back(
        self, by_workspace: Mapping[WorkspaceId, Sequence[AuditEntry]], error: Unavailable
    ) -> None:
        late = [
            (workspace, entry) for workspace, entries in by_workspace.items() for entry in entries
        ]
        with self._lock:
            room = MAX_WAITING_READS - 1 - len(self._waiting)
            self._waiting[:0] = late[: max(room, 0)]
        lost = max(len(late) - room, 0)
        log.warning("reads not recorded in the audit log yet (%s); %d discarded", error, lost)

    def record_call(
        self,
        viewer: Viewer,
        action: str,
        question: str | None,
        call: Callable[[], R],
        *,
        first: Callable[[], None],
    ) -> R:
        """Run `first`, then `call`, and record one read; nested calls are not recorded."""
        if getattr(self._depth, "within", False):
            return call()
        self._depth.within = True
        started = time.perf_counter()
        try:
            first()
            result = call()
        except NexusError as error:
            seconds = time.perf_counter() - started
            self.record_read(
                viewer, action, question=question, seconds=seconds, error=type(error).__name__
            )
            raise
        finally:
            self._depth.within = False
        seconds = time.perf_counter() - started
        self.record_read(viewer, action, question=question, result=result, seconds=seconds)
        return result


# Attributes of results that hold records with a scope. By name, so that no class must be loaded.
PART_ATTRIBUTES = (
    *("citations", "facts", "memory", "goal", "children"),
    *("about", "preferences", "expertise", "patterns"),
)


def _viewer_names(viewer: Viewer) -> tuple[str, ...]:
    """Return the names that an entry contains: the people present and the owner of the scope."""
    names = {person.value for person in viewer.people} | {viewer.home.owner}
    return tuple(sorted(name for name in names if name))


def _describe_question(viewer: Viewer, question: str | None, level: AuditLevel) -> dict[str, Json]:
    """Return an id unchanged, and a question as text (level verbose) or as a digest."""
    if question is None:
        return {}
    if is_digest(question):
        return {"id": question}
    if level is AuditLevel.VERBOSE:
        from ..text.secrets import redact_secrets  # compiling its patterns is slow

        return {"question": redact_secrets(clean_text(question[:MAX_QUESTION_LENGTH]))}
    return {"question_digest": digest("question", viewer.workspace.value, question)}


def _is_context(result: object) -> TypeGuard[Context]:
    from ..core.records.context import Context  # loaded already if the result is one

    return isinstance(result, Context)


def _describe_result(result: object, viewer: Viewer) -> dict[str, Json]:
    """Return the number of results, their scopes, and how many come from other scopes."""
    scopes = Counter(_result_scopes(result))
    detail: dict[str, Json] = {}
    if _is_context(result):
        detail = {
            "context": result.id,
            "tokens": result.tokens,
            "results": len(result.receipt.shown),
        }
    elif isinstance(result, Sequence | Mapping):
        detail = {"results": len(result)}
    elif result is not None:
        detail = {"results": 1}
    if scopes:
        detail["scopes"] = [[scope, count] for scope, count in sorted(scopes.items())]
        detail["elsewhere"] = scopes.total() - scopes[str(viewer.home)]
    return detail


def _result_scopes(result: object) -> Iterator[str]:
    """Yield the scope of each result, as far as it has one."""
    if _is_context(result):
        yield from (shown.scope for shown in result.receipt.shown if shown.scope)
    elif isinstance(result, Hits):
        yield from (str(hit.memory.scope) for hit in result)
    elif isinstance(result, list | tuple):
        yield from (scope for each in result for scope in _result_scopes(each))
    elif isinstance(scope := getattr(result, "scope", None), Scope):
        yield str(scope)
    elif result is not None:  # a dossier, an entity, a profile: their parts have scopes
        yield from (
            scope
            for name in PART_ATTRIBUTES
            for scope in _result_scopes(getattr(result, name, None))
        )


def _result_owners(result: object) -> set[str | None]:
    return {parse_scope(scope).owner for scope in set(_result_scopes(result))}
