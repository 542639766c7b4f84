"""A place's notebook: documents with a path, every version kept, people may edit them as files."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import observe as tell
from .core.access import Grant, Viewer
from .core.canonical import clean_text
from .core.errors import Conflict, Forgotten, NotFound
from .core.filters import Condition, Op
from .core.ids import digest
from .core.notebook import (
    Document,
    check_path,
    content_hash,
    history_of,
    version_key,
    versions_of,
)
from .core.records import EventKind, event_id
from .core.scope import Scope
from .reading import audited
from .wiring import Parts

if TYPE_CHECKING:
    from .transfer.folder import Synced

Listed = list[Document]  # inside the class, `list` is its method
ANY: Any = object()


class Notebook:
    """The documents of one scope. Whoever reads the scope reads them."""

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, scope: Scope) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant.within([scope])
        self.scope = scope

    def write(self, path: str, text: str, *, expected: str | None = ANY) -> Document:
        """A new version of a document.

        With `expected`, only if the newest one has this hash; None: only if there is none. The
        same text again is no new version.
        """
        check_path(path)
        cleaned = clean_text(text, "the document")
        return self._write(path, cleaned, expected, deleted=False)

    def delete(self, path: str, *, expected: str | None = ANY) -> Document:
        """From now on it is not there; its versions stay in the history."""
        self._read(path, None)
        return self._write(path, "", expected, deleted=True)

    @audited
    def read(self, path: str, *, version: int | None = None) -> Document:
        """The newest version, or an earlier one by its number."""
        return self._read(path, version)

    def _read(self, path: str, version: int | None) -> Document:
        history = self._history(path)
        if version is None:
            found = history[-1:] if history and not history[-1].deleted else []
        else:
            found = [each for each in history if each.version == version and not each.deleted]
        if not found:
            which = path if version is None else f"{path} version {version}"
            raise NotFound(f"no document {which!r} here")
        return found[0]

    @audited
    def history(self, path: str) -> Listed:
        """Every version, oldest first."""
        return self._history(path)

    def _history(self, path: str) -> Listed:
        return versions_of(history_of(self._parts.store, self._grant, self.scope, check_path(path)))

    @audited
    def list(self) -> Listed:
        """The newest version of every document that is there, by path."""
        return self._list()

    def _list(self) -> Listed:
        return [each for each in self._newest().values() if not each.deleted]

    @audited
    def sync(self, folder: Path | str) -> Synced:
        """Make the notebook and a folder of files the same, in both directions; nothing is lost."""
        from .transfer.folder import sync  # noqa: PLC0415

        whose = digest("notebook", self._viewer.workspace.value, str(self.scope))
        return sync(self, Path(folder), of=whose, had=self._had)

    def _had(self, path: str) -> bool:
        """Whether there ever was such a document here, deleted or forgotten since."""
        first = event_id(self.scope, version_key(path, 1))
        known = self._parts.store.eraser.gone(self._viewer.workspace, [first])
        return known or bool(self._history(path))

    def _newest(self) -> dict[str, Document]:
        kind = Condition("kind", Op.EQ, EventKind.DOCUMENT)
        events = self._parts.store.ledger.find(self._grant, where=kind)
        by_path: dict[str, Listed] = defaultdict(list)
        for each in versions_of(events):
            by_path[each.path].append(each)
        return {path: by_path[path][-1] for path in sorted(by_path)}

    def _write(self, path: str, text: str, expected: str | None, *, deleted: bool) -> Document:
        history = self._history(path)
        newest = history[-1] if history else None
        known = newest.hash if newest and not newest.deleted else None
        if expected is not ANY and expected != known:
            now = f"its hash is {known}" if known else "it is not there"
            raise Conflict(f"{path!r} was changed meanwhile: {now}")
        if newest and not deleted and known == content_hash(text):
            return newest
        if newest is None or newest.deleted:
            self._check_case(path)
        self._append(path, text, 1 + (newest.version if newest else 0), deleted=deleted)
        return self._history(path)[-1]

    def _check_case(self, path: str) -> None:
        """Two paths that differ in capitals alone are one file in many folders."""
        for other in self._list():
            if other.path != path and other.path.casefold() == path.casefold():
                raise Conflict(f"{path!r} would be the same file as {other.path!r} in many folders")

    def _append(self, path: str, text: str, version: int, *, deleted: bool) -> None:
        """The ledger takes one event of a key: of two who write this version, one is refused."""
        now = self._parts.now()
        while True:
            told = {"path": path, "version": version, "hash": content_hash(text)}
            flags = {"deleted": deleted, "empty": not text.strip()}
            body = {**told, **{name: True for name, on in flags.items() if on}}
            key = version_key(path, version)
            event = tell.version(self._viewer, self.scope, text, body, now=now, key=key)
            try:
                self._parts.append(self._viewer.workspace, [event], now)
            except Forgotten:  # a version that was: its number is not used again
                version += 1
            except Conflict:
                raise Conflict(f"{path!r} was changed meanwhile: read it again") from None
            else:
                return
