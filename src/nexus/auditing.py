"""The trail as the facades write it: with each write, and of reads in the background."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from .config import AuditSettings, Settings, in_use_if_given
from .core.access import Viewer, administrator_grant
from .core.audit import ADMINISTRATOR, Entry, Level
from .core.canonical import canonical_json, clean_text
from .core.errors import ConfigError, NexusError, Unavailable
from .core.ids import WorkspaceId, digest, is_digest
from .core.protocols import Store
from .core.records import Found, Json
from .core.scope import Scope, parse_scope

if TYPE_CHECKING:
    from .core.context import Context

MOST_WAITING = 500  # reads that are not written down yet; whoever makes one more writes them
LONGEST_QUESTION = 4_000  # characters of it that are kept
SETTINGS = "settings"
TOLD = ("search", "learning", "indexing", "compose", "audit")  # sections that decide something
SECRET = re.compile(r"(?:^|_)(?:key|url|command|password|token)(?:_|$)")

R = TypeVar("R")

log = logging.getLogger(__name__)


def make_auditor(
    settings: Settings,
    store: Store,
    clock: Callable[[], datetime],
    later: Callable[[Callable[[], None]], None] | None,
) -> Auditor:
    """Who records, as these settings say; the store is told about it, too."""
    try:
        level = Level(settings.audit.level)
    except ValueError:
        known = ", ".join(Level)
        raise ConfigError(f"unknown memory.audit.level; known are {known}") from None
    key = audit_key(settings.audit)
    store.audit.configure(writes=level.writes, key=key)
    return Auditor(store, level, clock, later, lambda: in_force(settings))


def record_everywhere(
    store: Store, settings: AuditSettings, action: str, workspaces: Sequence[str], **detail: Json
) -> None:
    """Record what is done to the whole of these workspaces, from outside.

    Where the newest entry says just that, it is the same thing gone on with.
    """
    if not Level(settings.level).writes:
        return
    store.audit.configure(writes=True, key=audit_key(settings))
    for name in map(WorkspaceId, workspaces):
        newest = store.audit.find(administrator_grant(name), limit=1)
        known = [each.entry.detail for each in newest if each.action == action and each.entry]
        if detail not in known:
            now = datetime.now(UTC)
            entry = Entry(at=now, action=action, actor=ADMINISTRATOR, detail=detail)
            store.audit.append(name, [entry])


def audit_key(settings: AuditSettings) -> bytes | None:
    """The key that links are sealed with, if one is configured."""
    if settings.key is None and settings.key_command is None:
        return None
    from .providers.keys import read_key  # noqa: PLC0415  # it can run commands

    found = read_key(
        in_use_if_given(settings.key, "memory.audit.key"),
        in_use_if_given(settings.key_command, "memory.audit.key_command"),
        variable="NEXUS_AUDIT_KEY",
        setting="memory.audit.key_command",
    )
    return None if found is None else found.encode()


def in_force(settings: Settings) -> dict[str, Json]:
    """What decides how things are found, learned and kept: no address and no secret."""
    from .prompts import hashes  # noqa: PLC0415

    told: dict[str, Any] = {name: _open(getattr(settings, name)) for name in TOLD}
    told["strength"] = asdict(settings.maintain.strength)
    for name in ("embeddings", "llm"):
        section = getattr(settings, name)
        told[name] = {"provider": section.provider, "model": section.model}
    told["prompts"] = hashes() if settings.llm.provider != "none" else {}
    return json.loads(canonical_json(told))  # type: ignore[no-any-return]  # as it is read back


def _open(section: Any) -> dict[str, Any]:
    """What may be told of a section."""
    kept = asdict(section).items()
    return {name: value for name, value in kept if not SECRET.search(name)}


class Auditor:
    """Records what is done and, if the level says so, what is read.

    `snapshot` says which settings are in force. It is recorded once, where the newest of the
    trail is another one; entries name it by its digest.
    """

    def __init__(
        self,
        store: Store,
        level: Level,
        clock: Callable[[], datetime],
        later: Callable[[Callable[[], None]], None] | None,
        snapshot: Callable[[], Mapping[str, Json]],
    ) -> None:
        self._store = store
        self._clock = clock
        self._later = later
        self._snapshot = snapshot
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._waiting: list[tuple[WorkspaceId, Entry]] = []
        self._known: dict[WorkspaceId, date] = {}  # trails that have these settings: when seen
        self._depth = threading.local()
        self.level = level
        self.reads = level.reads

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        return dict(self._snapshot())

    @cached_property
    def _digest(self) -> str:
        """What the settings in force are known by."""
        return digest("settings", canonical_json(self._settings))[:8]

    # What is written

    def writing(
        self,
        workspace: WorkspaceId,
        action: str,
        *,
        by: Viewer | str = ADMINISTRATOR,
        people: Iterable[str] = (),
        outcome: str | None = None,
        **detail: Json,
    ) -> AbstractContextManager[None]:
        """The next write of this thread inside is recorded in its own transaction.

        What it returns is told as `outcome`, if that is a name; 0 is nothing to record.
        """
        if not self.level.writes:
            return nullcontext()
        entry = self._entry(workspace, action, by, people, detail)
        return self._store.recording(workspace, entry, outcome=outcome)

    def wrote(
        self,
        workspace: WorkspaceId,
        action: str,
        *,
        by: Viewer | str = ADMINISTRATOR,
        people: Iterable[str] = (),
        **detail: Json,
    ) -> None:
        """Record something that was done and is no write of its own, or many."""
        if self.level.writes:
            entry = self._entry(workspace, action, by, people, detail)
            self._store.audit.append(workspace, [entry])

    def _entry(
        self,
        workspace: WorkspaceId,
        action: str,
        by: Viewer | str,
        people: Iterable[str],
        detail: Mapping[str, Json],
    ) -> Entry:
        self._settle(workspace)
        told = {**detail, SETTINGS: self._digest}
        if isinstance(by, str):
            names = tuple(people)
            return Entry(at=self._clock(), action=action, actor=by, people=names, detail=told)
        return Entry(
            at=self._clock(),
            action=action,
            actor=by.agent.value,
            place=str(by.home),
            people=(*_people(by), *people),
            detail=told,
        )

    def _settle(self, workspace: WorkspaceId) -> None:
        """See to it that the trail says which settings are in force; old days may have gone."""
        today = self._clock().date()
        if self._known.get(workspace) == today:
            return
        snapshot = self._settings
        everything = administrator_grant(workspace)
        newest = self._store.audit.find(everything, action=SETTINGS, limit=1)
        if not (newest and newest[0].entry and newest[0].entry.detail == snapshot):
            entry = Entry(at=self._clock(), action=SETTINGS, actor=ADMINISTRATOR, detail=snapshot)
            self._store.audit.append(workspace, [entry])
        self._known[workspace] = today

    # What is read

    def read(
        self,
        viewer: Viewer,
        action: str,
        *,
        asked: str | None = None,
        found: object = None,
        seconds: float = 0.0,
        error: str | None = None,
    ) -> None:
        """Record a read, if the level says so; nobody waits for it."""
        if not self.reads:
            return
        if _is_context(found):
            asked = found.receipt.question
        detail = {**_asked(viewer, asked, self.level), **_found(found, viewer)}
        detail |= {"ms": round(seconds * 1000, 3), SETTINGS: self._digest}
        detail |= {"error": error} if error else {}
        if (isinstance(found, Found) or _is_context(found)) and (asked_model := self._rewriting()):
            detail["prompts"] = asked_model
        owners = {scope_owner for scope_owner in _owners(found) if scope_owner}
        entry = Entry(
            at=self._clock(),
            action=action,
            actor=viewer.agent.value,
            place=str(viewer.home),
            people=(*_people(viewer), *sorted(owners)),
            detail=detail,
        )
        self._wait(viewer.workspace, entry)

    def _rewriting(self) -> dict[str, Json]:
        """Which prompts put a question in other words here, by their hashes."""
        prompts = self._settings["prompts"]
        return {name: prompts[name] for name in self._settings["search"]["rewrite"] if prompts}

    def _wait(self, workspace: WorkspaceId, entry: Entry) -> None:
        with self._lock:
            first = not self._waiting
            self._waiting.append((workspace, entry))
            full = len(self._waiting) >= MOST_WAITING
        if full:
            self.flush()
        elif first and self._later:
            self._later(self.flush)

    def flush(self) -> None:
        """Write down the reads that are waiting. What cannot be written now waits on."""
        with self._flushing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            spaces: dict[WorkspaceId, list[Entry]] = defaultdict(list)
            for workspace, entry in waiting:
                spaces[workspace].append(entry)
            while spaces:
                workspace, entries = next(iter(spaces.items()))
                try:
                    self._settle(workspace)
                    self._store.audit.append(workspace, entries)
                except Unavailable as error:
                    self._keep(spaces, error)
                    return
                del spaces[workspace]

    def _keep(self, spaces: Mapping[WorkspaceId, Sequence[Entry]], error: Unavailable) -> None:
        late = [(workspace, entry) for workspace, some in spaces.items() for entry in some]
        with self._lock:
            room = MOST_WAITING - 1 - len(self._waiting)
            self._waiting[:0] = late[: max(room, 0)]
        lost = max(len(late) - room, 0)
        log.warning("reads are not in the audit yet (%s); %d were given up", error, lost)

    def watch(
        self,
        viewer: Viewer,
        action: str,
        asked: str | None,
        call: Callable[[], R],
        *,
        first: Callable[[], None],
    ) -> R:
        """Do what is first, make this call and record it; calls inside it are a part of it."""
        if getattr(self._depth, "within", False):
            return call()
        self._depth.within = True
        started = time.perf_counter()
        try:
            first()
            found = call()
        except NexusError as error:
            seconds = time.perf_counter() - started
            self.read(viewer, action, asked=asked, seconds=seconds, error=type(error).__name__)
            raise
        finally:
            self._depth.within = False
        seconds = time.perf_counter() - started
        self.read(viewer, action, asked=asked, found=found, seconds=seconds)
        return found


# The parts of what is read that have a place themselves; as attributes, no class has to be loaded.
MADE_OF = (
    *("citations", "facts", "memory", "goal", "parts"),
    *("about", "preferences", "expertise", "patterns"),
)


def _people(viewer: Viewer) -> tuple[str, ...]:
    """Whose names the entry holds: who is there, and whose place it is."""
    names = {person.value for person in viewer.people} | {viewer.home.owner}
    return tuple(sorted(name for name in names if name))


def _asked(viewer: Viewer, asked: str | None, level: Level) -> dict[str, Json]:
    """An id as it is; a question in its words or, unless all is to be told, as a digest."""
    if asked is None:
        return {}
    if is_digest(asked):
        return {"id": asked}
    if level is Level.VERBOSE:
        from .core.secrets import redacted  # noqa: PLC0415  # it takes its time to load

        return {"question": redacted(clean_text(asked[:LONGEST_QUESTION]))}
    return {"question_digest": digest("question", viewer.workspace.value, asked)}


def _is_context(found: object) -> TypeGuard[Context]:
    from .core.context import Context  # noqa: PLC0415  # whoever has one has loaded it

    return isinstance(found, Context)


def _found(found: object, viewer: Viewer) -> dict[str, Json]:
    """How much was found, from which scopes, and how much of it from elsewhere."""
    scopes = Counter(_scopes(found))
    told: dict[str, Json] = {}
    if _is_context(found):
        told = {"context": found.id, "tokens": found.tokens, "results": len(found.receipt.shown)}
    elif isinstance(found, Sequence | Mapping):
        told = {"results": len(found)}
    elif found is not None:
        told = {"results": 1}
    if scopes:
        told["scopes"] = [[scope, count] for scope, count in sorted(scopes.items())]
        told["elsewhere"] = scopes.total() - scopes[str(viewer.home)]
    return told


def _scopes(found: object) -> Iterator[str]:
    """Where each thing that was found lies, as far as it says so."""
    if _is_context(found):
        yield from (shown.scope for shown in found.receipt.shown if shown.scope)
    elif isinstance(found, Found):
        yield from (str(hit.memory.scope) for hit in found)
    elif isinstance(found, list | tuple):
        yield from (scope for each in found for scope in _scopes(each))
    elif isinstance(scope := getattr(found, "scope", None), Scope):
        yield str(scope)
    elif found is not None:  # a dossier, an entity, a profile: what they are made of lies somewhere
        yield from (scope for name in MADE_OF for scope in _scopes(getattr(found, name, None)))


def _owners(found: object) -> set[str | None]:
    return {parse_scope(scope).owner for scope in set(_scopes(found))}
