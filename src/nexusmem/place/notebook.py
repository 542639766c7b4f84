"""Notebook: versioned documents by path, which can be synchronized with a folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.access import Grant, Viewer
from ..core.canonical import clean_text
from ..core.errors import Conflict, Forgotten, InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.ids import digest
from ..core.records import EventKind, event_id
from ..core.records.notebook import (
    Document,
    check_path,
    content_hash,
    load_history,
    parse_versions,
    version_key,
)
from ..core.scope import Scope
from ..observe.events import document_version_event
from ..wiring.parts import Parts
from .base import audit_read
from .dossiers import DOSSIER_FOLDER, Dossiers

if TYPE_CHECKING:
    from ..transfer.notebook_folder import SyncReport

DocumentList = list[Document]  # `list` is a method of the class
ANY_VERSION: Any = object()


class Notebook:
    """The documents of one scope; every viewer of the scope can read them.

    The notebook of a place also shows the dossiers of the viewer below `dossiers/`. They are read
    from the memory, so they are readable by the readers of the dossier only, and disappear when it
    is erased. They cannot be written here.
    """

    _audit_prefix: ClassVar[str] = "notebook_"

    def __init__(self, parts: Parts, viewer: Viewer, grant: Grant, scope: Scope) -> None:
        self._parts = parts
        self._viewer = viewer
        self._place_grant = grant
        self._grant = grant.narrow_to([scope])
        self.scope = scope

    def in_scope(self, scope: str) -> Notebook:
        """Return the notebook of another scope the viewer reaches, such as "project" or "agent".

        Raises NotFound if the viewer cannot reach the scope.
        """
        return Notebook(
            self._parts, self._viewer, self._place_grant, self._viewer.resolve_scope(scope)
        )

    def write(self, path: str, text: str, *, expected: str | None = ANY_VERSION) -> Document:
        """Write a new version of a document, and return it.

        `expected` is the hash of the newest version, or None if the document must not exist;
        raises Conflict if it differs. Writing the same text again makes no new version.
        """
        self._check_writable(path)
        cleaned = clean_text(text, "the document")
        return self._write_version(path, cleaned, expected, deleted=False)

    def delete(self, path: str, *, expected: str | None = ANY_VERSION) -> Document:
        """Delete a document; its versions stay in the history."""
        self._check_writable(path)
        self._find_version(path, None)
        return self._write_version(path, "", expected, deleted=True)

    def _check_writable(self, path: str) -> None:
        """Raise InvalidInput if the path is invalid or in the folder of the dossiers."""
        if check_path(path).startswith(DOSSIER_FOLDER):
            raise InvalidInput(
                f"{path!r} is in the folder of the dossiers, which change with the facts they"
                " state: choose another folder"
            )

    @audit_read
    def read(self, path: str, *, version: int | None = None) -> Document:
        """Return the newest version of a document, or one by its number."""
        return self._find_version(path, version)

    def _find_version(self, path: str, version: int | None) -> Document:
        history = self._load_history(path) or self._dossier_versions(path)
        if version is None:
            found = history[-1:] if history and not history[-1].deleted else []
        else:
            found = [each for each in history if each.version == version and not each.deleted]
        if not found:
            name = path if version is None else f"{path} version {version}"
            raise NotFound(f"no document {name!r} here")
        return found[0]

    @audit_read
    def history(self, path: str) -> DocumentList:
        """List every version of a document, oldest first."""
        return self._load_history(path) or self._dossier_versions(path)

    def _load_history(self, path: str) -> DocumentList:
        return parse_versions(
            load_history(self._parts.store, self._grant, self.scope, check_path(path))
        )

    @audit_read
    def list(self) -> DocumentList:
        """List the newest version of every document, by path, with the dossiers of this place."""
        own = {each.path: each for each in self._list_current()}
        dossiers = {path: each[-1] for path, each in self._dossier_documents().items()}
        every = {**dossiers, **own}
        return [every[path] for path in sorted(every)]

    def _dossier_versions(self, path: str) -> DocumentList:
        """Return the versions of the dossier at this path, oldest first; empty if there is none."""
        is_dossier = path.startswith(DOSSIER_FOLDER)
        return [*self._dossier_documents().get(path, ())] if is_dossier else []

    def _dossier_documents(self) -> Mapping[str, Sequence[Document]]:
        if self.scope != self._viewer.home:
            return {}
        dossiers = Dossiers(self._parts, self._viewer, self._place_grant, None)
        return dossiers._list_documents()  # noqa: SLF001

    def _list_current(self) -> DocumentList:
        return [each for each in self._newest_by_path().values() if not each.deleted]

    @audit_read
    def sync(self, folder: Path | str) -> SyncReport:
        """Synchronize the notebook with a folder, in both directions.

        If both sides changed a document, both versions are stored as separate files.
        """
        from ..transfer.notebook_folder import sync_folder  # loaded on first use

        owner_id = digest("notebook", self._viewer.workspace.value, str(self.scope))
        return sync_folder(self, Path(folder), owner_id=owner_id, had_path=self._has_existed)

    def _has_existed(self, path: str) -> bool:
        """Return whether the document exists, or existed and was deleted or forgotten.

        A file of a dossier that is gone must not be imported again.
        """
        if path.startswith(DOSSIER_FOLDER):
            return True
        first = event_id(self.scope, version_key(path, 1))
        erased = self._parts.store.eraser.any_erased(self._viewer.workspace, [first])
        return erased or bool(self._load_history(path))

    def _newest_by_path(self) -> dict[str, Document]:
        kind = Condition("kind", Op.EQ, EventKind.DOCUMENT)
        events = self._parts.store.ledger.find(self._grant, where=kind)
        by_path: dict[str, DocumentList] = defaultdict(list)
        for each in parse_versions(events):
            by_path[each.path].append(each)
        return {path: by_path[path][-1] for path in sorted(by_path)}

    def _write_version(
        self, path: str, text: str, expected: str | None, *, deleted: bool
    ) -> Document:
        history = self._load_history(path)
        newest = history[-1] if history else None
        current = newest.hash if newest and not newest.deleted else None
        if expected is not ANY_VERSION and expected != current:
            state = f"its hash is {current}" if current else "it does not exist"
            raise Conflict(f"{path!r} was changed meanwhile: {state}")
        if newest and not deleted and current == content_hash(text):
            return newest
        if newest is None or newest.deleted:
            self._check_case(path)
        self._append_event(path, text, 1 + (newest.version if newest else 0), deleted=deleted)
        return self._load_history(path)[-1]

    def _check_case(self, path: str) -> None:
        """Raise Conflict if another path differs only in case: many file systems ignore case."""
        for other in self._list_current():
            if other.path != path and other.path.casefold() == path.casefold():
                raise Conflict(f"{path!r} differs from {other.path!r} only in case")

    def _append_event(self, path: str, text: str, version: int, *, deleted: bool) -> None:
        """Write the version; if two writers write the same version, one gets Conflict."""
        now = self._parts.now()
        while True:
            fields = {"path": path, "version": version, "hash": content_hash(text)}
            flags = {"deleted": deleted, "empty": not text.strip()}
            body = {**fields, **{name: True for name, on in flags.items() if on}}
            key = version_key(path, version)
            event = document_version_event(self._viewer, self.scope, text, body, now=now, key=key)
            try:
                self._parts.recorder.append(self._viewer.workspace, [event], now)
            except Forgotten:  # the number of a forgotten version is not used again
                version += 1
            except Conflict:
                raise Conflict(f"{path!r} was changed meanwhile: read it again") from None
            else:
                return
